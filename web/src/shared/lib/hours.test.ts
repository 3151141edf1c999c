import { expect, test } from "vitest";
import { hoursBody, hoursText, incompleteHours } from "./hours";

const name = (place: number) => ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"][place] ?? "";
const night = { from: "22:00", to: "06:00" };

test("hours are written with ranges of days", () => {
  expect(hoursText({ days: [], ...night }, name)).toBe("22:00–06:00");
  expect(hoursText({ days: ["fri", "mon", "tue", "wed", "thu"], ...night }, name)).toBe("Mo–Fr 22:00–06:00");
  expect(hoursText({ days: ["sat", "sun"], ...night }, name)).toBe("Sa, Su 22:00–06:00");
  expect(hoursText({ days: ["mon", "wed", "thu", "fri", "sun"], ...night }, name)).toBe("Mo, We–Fr, Su 22:00–06:00");
});

test("the end of a day is 24:00 for the service, and a time that is missing is named", () => {
  expect(hoursBody([{ days: ["sat"], from: "00:00", to: "00:00" }])).toEqual([{ days: ["sat"], from: "00:00", to: "24:00" }]);
  expect(
    incompleteHours(
      [
        { days: [], ...night },
        { days: [], from: "", to: "06:00" },
      ],
      "hours",
      "?",
    ),
  ).toEqual({ "hours.1.from": "?" });
});
