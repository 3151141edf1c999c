import { expect, test } from "vitest";
import type { Schedule } from "../../../shared/api/schedules";
import { en } from "../../../shared/i18n/en";
import { bodyOf, check, initial, valuesOf } from "./values";

const schedule: Schedule = {
  scheduleid: "s1",
  name: "Ops",
  time_zone: "Europe/Berlin",
  layers: [
    { name: "week", users: ["u1", "u2"], starts: "2026-01-05T09:00", every: 1, unit: "week", hours: [] },
    { name: "", users: ["u3"], starts: "2026-01-05T09:00", every: 3, unit: "day", hours: [{ days: ["sat"], from: "00:00", to: "24:00" }] },
  ],
  announce: { notifiers: [], people: false },
  feed: false,
  created: "",
  modified: "",
};

test("a schedule that is opened and saved unchanged stays the same", () => {
  const { scheduleid, name, time_zone, layers } = schedule;
  expect(bodyOf(valuesOf(schedule), scheduleid)).toEqual({ scheduleid, name, time_zone, layers });
  expect(check(valuesOf(schedule), en)).toEqual({});
});

test("a new one begins on the Monday of this week, and says what is missing", () => {
  const values = initial(Date.parse("2026-11-22T12:00:00Z"), "UTC");
  expect(values.layers[0]?.starts).toBe("2026-11-16T09:00");
  expect(Object.keys(check(values, en))).toEqual(["name", "layers.0.users"]);
});
