import { expect, test } from "vitest";
import type { Notifier } from "../../shared/api/notifiers";
import { isAnyoneNotified } from "./notified";

test("someone is notified if one of the linked notifiers is on", () => {
  const known = [
    { notifierid: "on", isactive: true },
    { notifierid: "off", isactive: false },
  ] as Notifier[];
  expect(isAnyoneNotified([], known)).toBe(false);
  expect(isAnyoneNotified(["off"], known)).toBe(false);
  expect(isAnyoneNotified(["off", "on"], known)).toBe(true);
  expect(isAnyoneNotified(["off"], undefined), "not loaded yet").toBe(true);
});
