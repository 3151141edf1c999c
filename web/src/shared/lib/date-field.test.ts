import { expect, test } from "vitest";
import { parseField, toField, tomorrowMorning } from "./date-field";

const now = new Date(2026, 10, 17, 23, 50);

test("the suggested end is the next morning", () => {
  expect(toField(tomorrowMorning(now))).toBe("2026-11-18T09:00");
  expect(toField(tomorrowMorning(new Date(2026, 11, 31, 1, 5)))).toBe("2027-01-01T09:00");
});

test("an end is a minute to the given number of days from now", () => {
  expect(parseField("2026-11-18T09:00", now.getTime(), 30)).toBe(new Date(2026, 10, 18, 9).toISOString());
  for (const field of ["", "2026-11-17T23:50", "2026-11-17T20:00", "2026-12-18T00:00"])
    expect(parseField(field, now.getTime(), 30), field).toBeNull();
  expect(parseField("2026-12-18T00:00", now.getTime(), 366)).not.toBeNull();
});
