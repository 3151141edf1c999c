import { expect, test } from "vitest";
import type { Maintenance } from "../../shared/api/maintenances";
import { barsOf, monthOf, onDay, shifted, weeksOf, weekStartOf } from "./month";

const window = (name: string, from: Date, hours: number) =>
  ({
    name,
    isactive: true,
    starts: from.toISOString(),
    time_zone: "UTC",
    ends: new Date(from.getTime() + hours * 3_600_000).toISOString(),
    except: [],
    status: "scheduled",
    modified: "2026-01-01T00:00:00Z",
  }) as unknown as Maintenance;

test("a month is that of the URL, or the current one", () => {
  const now = new Date(2026, 10, 17);
  expect([monthOf("2027-01", now), monthOf("2027-13", now), monthOf(null, now)]).toEqual(["2027-01", "2026-11", "2026-11"]);
  expect([shifted("2026-12", 1), shifted("2026-01", -1)]).toEqual(["2027-01", "2025-12"]);
});

test("weeks are complete and begin as in the reader's region", () => {
  const days = (start: number) => weeksOf("2026-11", start).map((week) => week[0]?.getDate());
  expect(days(1)).toEqual([26, 2, 9, 16, 23, 30]);
  expect(days(0)).toEqual([1, 8, 15, 22, 29]);
  expect([weekStartOf("de-DE"), weekStartOf("en-US")]).toEqual([1, 0]);
});

test("bars that share a day are below each other, and continue in the next week", () => {
  const [, , , week = [], next = []] = weeksOf("2026-11", 1);
  const long = window("long", new Date(2026, 10, 18, 12), 24 * 6);
  const short = window("short", new Date(2026, 10, 18, 14), 10);
  const after = window("after", new Date(2026, 10, 19, 1), 1);
  const bars = barsOf([short, after, long], week, 0);
  expect(bars.map(({ window: { name }, first, last, lane, after }) => [name, first, last, lane, after])).toEqual([
    ["long", 2, 6, 0, true],
    // It ends at midnight, so the next day is free.
    ["short", 2, 2, 1, false],
    ["after", 3, 3, 1, false],
  ]);
  expect(barsOf([long], next, 0)[0]).toMatchObject({ first: 0, last: 1, before: true });
  expect(onDay([short, after, long], new Date(2026, 10, 19), 0).map((one) => one.window.name)).toEqual(["long", "after"]);
});
