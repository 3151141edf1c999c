import { expect, test } from "vitest";
import { muteOf } from "./mute";

test("a mute may leave out the monitors that depend on the muted one", () => {
  const now = Date.parse("2026-11-17T19:40:00.500Z");
  const mute = (dependents: boolean) => muteOf("m", "Mute: shop", now, "2026-11-17T20:40:00Z", dependents);
  expect(mute(false)).toMatchObject({ monitors: ["m"], starts: "2026-11-17T19:40:00.000Z", alerts: "suppress", dependents: false });
  expect(mute(true)).toMatchObject({ dependents: true });
});
