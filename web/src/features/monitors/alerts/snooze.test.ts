import { expect, test } from "vitest";
import { parseEnd, suggestedEnd, toField } from "./snooze";

const now = new Date(2026, 10, 17, 23, 50);

test("the suggested end is the next morning", () => {
  expect(toField(suggestedEnd(now))).toBe("2026-11-18T09:00");
  expect(toField(suggestedEnd(new Date(2026, 11, 31, 1, 5)))).toBe("2027-01-01T09:00");
});

test("an end is a minute to 30 days from now", () => {
  expect(parseEnd("2026-11-18T09:00", now.getTime())).toBe(new Date(2026, 10, 18, 9).toISOString());
  for (const field of ["", "2026-11-17T23:50", "2026-11-17T20:00", "2026-12-18T00:00"])
    expect(parseEnd(field, now.getTime()), field).toBeNull();
});
