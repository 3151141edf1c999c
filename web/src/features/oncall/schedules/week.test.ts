import { expect, test } from "vitest";
import { daysOf, mondayOf, placeOf, rangeOf, shifted, weekOf } from "./week";

const HOUR = 3_600_000;

test("a week begins on Monday at midnight of the schedule, also when the clocks change", () => {
  expect(mondayOf(Date.parse("2026-11-22T23:30:00Z"), "UTC")).toBe("2026-11-16");
  expect(mondayOf(Date.parse("2026-11-22T23:30:00Z"), "Europe/Berlin")).toBe("2026-11-23");
  const { from, to } = rangeOf("2026-03-23", "Europe/Berlin");
  expect((to - from) / HOUR).toBe(167);
  expect(daysOf("2026-03-23", "Europe/Berlin")).toHaveLength(8);
});

test("a link may name any day of a week, and nonsense means this week", () => {
  const now = Date.parse("2026-11-18T12:00:00Z");
  expect(weekOf("2026-12-31", now, "UTC")).toBe("2026-12-28");
  for (const text of [null, "x", "2026-13-45"]) expect(weekOf(text, now, "UTC")).toBe("2026-11-16");
  expect(shifted("2026-12-28", 1)).toBe("2027-01-04");
});

test("a span has its place in percent", () => {
  expect(placeOf({ from: 25, to: 75 }, { from: 0, to: 200 })).toEqual({ left: "12.5%", width: "25%" });
});
