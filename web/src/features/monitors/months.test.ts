import { expect, test } from "vitest";
import { lastMonths } from "./months";

test("months go back across the turn of the year, on any day", () => {
  expect(lastMonths(new Date("2027-01-31T23:00:00Z"), 3)).toEqual(["2027-01", "2026-12", "2026-11"]);
});
