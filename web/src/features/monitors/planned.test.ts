import { expect, test } from "vitest";
import { kindOf, type Shown } from "./data";
import { untilText, withStandings } from "./planned";

const beat = (second: number, part: Partial<Shown> = {}): Shown => ({
  at: `2026-11-15T09:30:0${second}.000Z`,
  status: "up",
  message: "",
  ...part,
});
const window = (counts: "excluded" | "counted") => ({ counts, current: { from: "2026-11-15T09:30:02Z", to: null } });

test("what was checked since a window began is shown as maintenance, unless it counts", () => {
  const beats = [beat(1), beat(2, { status: "down" }), beat(3, { standing: "up" })];
  const kinds = (counts: "excluded" | "counted") => withStandings(beats, window(counts)).map(kindOf);
  expect(kinds("excluded")).toEqual(["up", "maintenance", "up"]);
  expect(kinds("counted")).toEqual(["up", "down", "up"]);
  expect(withStandings(beats, undefined)).toBe(beats);
});

test("paused checks are maintenance, and failures that do not count are unreachable", () => {
  expect(kindOf(beat(1, { status: "unknown", message: "maintenance: Backups" }))).toBe("maintenance");
  expect(kindOf(beat(1, { status: "unknown", message: "blocked" }))).toBe("unknown");
  expect(kindOf(beat(1, { status: "down", standing: "unknown" }))).toBe("unreachable");
  expect(kindOf(beat(1, { status: "down", standing: "pending" }))).toBe("down");
});

test("an end today is a time, and another one has its date", () => {
  const now = new Date(2026, 10, 17, 8).getTime();
  expect(untilText(new Date(2026, 10, 17, 14).toISOString(), now, "en-GB")).toBe("14:00");
  expect(untilText(new Date(2026, 10, 18, 9, 30).toISOString(), now, "en-GB")).toContain("18 Nov");
});
