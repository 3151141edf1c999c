import { expect, test } from "vitest";
import { shiftsOf, stintsOf, turnsOf } from "./shifts";

const at = (text: string) => Date.parse(text);
const week = { users: ["ann", "bob"], starts: "2026-01-05T09:00", every: 1, unit: "week" as const, hours: [] };
const text = (list: readonly { from: number; to: number; userid: string | null }[]) =>
  list.map(
    ({ from, to, userid }) => `${new Date(from).toISOString().slice(5, 16)} ${new Date(to).toISOString().slice(5, 16)} ${userid ?? "-"}`,
  );

test("handovers are at local times, so that a week with a clock change has 167 hours", () => {
  const range = { from: at("2026-03-24T00:00:00Z"), to: at("2026-04-07T00:00:00Z") };
  const turns = turnsOf(week, "Europe/Berlin", range);
  expect(text(turns)).toEqual(["03-24T00:00 03-30T07:00 bob", "03-30T07:00 04-06T07:00 ann", "04-06T07:00 04-07T00:00 bob"]);
  expect(turnsOf(week, "Europe/Berlin", { from: at("2026-01-01T00:00:00Z"), to: at("2026-01-04T00:00:00Z") })).toEqual([]);
});

test("later layers take precedence within their hours, and gaps are shifts without a user", () => {
  const night = { ...week, users: ["eve"], hours: [{ days: ["mon" as const, "tue" as const], from: "22:00", to: "06:00" }] };
  const day = { ...week, hours: [{ days: [], from: "06:00", to: "20:00" }] };
  const range = { from: at("2026-06-01T18:00:00Z"), to: at("2026-06-03T12:00:00Z") };
  expect(text(shiftsOf([day, night], "UTC", range))).toEqual([
    "06-01T18:00 06-01T20:00 bob",
    "06-01T20:00 06-01T22:00 -",
    "06-01T22:00 06-02T06:00 eve",
    "06-02T06:00 06-02T20:00 bob",
    "06-02T20:00 06-02T22:00 -",
    "06-02T22:00 06-03T06:00 eve",
    "06-03T06:00 06-03T12:00 bob",
  ]);
  expect(text(shiftsOf([], "UTC", range))).toEqual(["06-01T18:00 06-03T12:00 -"]);
});

test("shifts of one user that follow each other are one, except for overrides", () => {
  const shift = (hour: number, userid: string | null, by: object = {}) => ({
    from: `2026-06-01T0${hour}:00:00Z`,
    to: `2026-06-01T0${hour + 1}:00:00Z`,
    userid,
    ...by,
  });
  const shifts = [
    shift(0, "ann", { layer: 0 }),
    shift(1, "ann", { layer: 1 }),
    shift(2, "ann", { override: "o1" }),
    shift(3, "ann", { layer: 0 }),
    shift(4, null),
    shift(5, "bob", { layer: 0 }),
  ];
  const found = stintsOf(shifts);
  expect(text(found)).toEqual([
    "06-01T00:00 06-01T02:00 ann",
    "06-01T02:00 06-01T03:00 ann",
    "06-01T03:00 06-01T04:00 ann",
    "06-01T04:00 06-01T05:00 -",
    "06-01T05:00 06-01T06:00 bob",
  ]);
  expect(found.map(({ layers, override }) => [layers, override])).toEqual([
    [[0, 1], null],
    [[], "o1"],
    [[0], null],
    [[], null],
    [[0], null],
  ]);
});
