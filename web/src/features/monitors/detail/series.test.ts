import { expect, test } from "vitest";
import type { Point } from "../data";
import { byRegion, firstCheck, maintenanceIn, outages, percentiles, regionColor, stacked, unknownIn, withGaps, without } from "./series";

const time = (second: number) => new Date(second * 1000).toISOString();
const none = { resolve: null, connect: null, tls: null, first_byte: null, transfer: null };

function point(second: number, extra: Partial<Point> = {}): Point {
  return {
    at: time(second),
    up: 1,
    degraded: 0,
    down: 0,
    pending: 0,
    unknown: 0,
    maintenance: 0,
    uptime: 100,
    mean: 10,
    min: 10,
    max: 10,
    p50: 10,
    p95: 20,
    p99: 30,
    phases: none,
    ...extra,
  };
}

test("missing checks are a gap, but steps shorter than the interval are not", () => {
  const points = [0, 60, 120, 600].map((second) => point(second));
  const series = { points, step: 12, to: time(606) };
  expect(withGaps(series, 60).at).toEqual([6, 66, 126, 201, 606]);
  expect(withGaps(series, 60).points[3]).toBeNull();
  expect(withGaps({ ...series, step: 3600 }, 60).points).not.toContain(null);
});

test("the last point is held until the end, unless more than the next check is missing", () => {
  const points = [point(0), point(60)];
  expect(withGaps({ points, step: 10, to: time(110) }, 60)).toEqual({ at: [5, 65, 110], points: [...points, points[1]] });
  expect(withGaps({ points, step: 10, to: time(600) }, 60).at).toEqual([5, 65]);
  // A step that has only begun does not extend beyond the end.
  expect(withGaps({ points, step: 60, to: time(70) }, 60).at).toEqual([30, 70]);
});

test("time before the first check is known for a monitor that was created within the range", () => {
  const hour = { points: [point(1200)], step: 12, from: time(0), to: time(3600) };
  expect(firstCheck(hour, time(1190))).toBe(1200);
  expect(firstCheck({ ...hour, points: [] }, time(1190))).toBe(3600);
  expect(firstCheck(hour, time(-60))).toBeNull();
  expect(firstCheck({ ...hour, points: [point(6)] }, time(1)), "a step that has only begun").toBeNull();
});

test("bands are drawn between the percentiles, highest first", () => {
  expect(percentiles([point(0), null])).toEqual([
    [30, null],
    [20, null],
    [10, null],
  ]);
});

test("phases are stacked, and a phase that was not reached adds nothing", () => {
  const some = point(0, { phases: { ...none, resolve: 1, connect: 2, first_byte: 4 } });
  expect(stacked([some, point(1), null])).toEqual([
    [7, null, null],
    [7, null, null],
    [3, null, null],
    [3, null, null],
    [1, null, null],
  ]);
});

const outage = (started: number, ended: number | null) => ({
  kind: "outage" as const,
  started: time(started),
  ended: ended === null ? null : time(ended),
});

test("an outage is one range, however many checks failed", () => {
  const hour = { from: time(0), to: time(3600) };
  expect(outages([outage(600, 831)], hour)).toEqual([{ from: 600, to: 831 }]);
  expect(outages([outage(900, 960), outage(600, 831)], hour)).toHaveLength(2);
});

test("an ongoing outage extends to the end, and an earlier one starts with the chart", () => {
  const hour = { from: time(3600), to: time(7200) };
  expect(outages([outage(5000, null)], hour)).toEqual([{ from: 5000, to: 7200 }]);
  expect(outages([outage(60, 4000)], hour)).toEqual([{ from: 3600, to: 4000 }]);
});

test("outages outside the range and warnings are not in the chart", () => {
  const hour = { from: time(3600), to: time(7200) };
  const warning = { kind: "certificate" as const, started: time(4000), ended: null };
  expect(outages([outage(60, 120), outage(8000, null), warning], hour)).toEqual([]);
});

test("each region has a line, with a gap where it has no successful check", () => {
  const points = [point(0), null, point(60), point(120)];
  const seen = (second: number, p50: number | null) => ({ at: point(second).at, up: 1, down: 0, unknown: 0, p50, max: p50 });
  const lines = [
    { region: "eu", points: [seen(0, 5), seen(60, 6), seen(120, 7)] },
    { region: "us", points: [seen(0, 90), seen(60, null)] },
  ];
  expect(byRegion(points, lines)).toEqual([
    [5, null, 6, 7],
    [90, null, null, null],
  ]);
  expect([0, 5, 6].map(regionColor)).toEqual(["place-0", "place-5", "place-0"]);
});

test("maintenance is where all heartbeats are in maintenance, and unknown where only unknown ones count", () => {
  const nothing = { up: 0, uptime: null, p50: null };
  const planned = { ...nothing, maintenance: 1 };
  const points = [
    point(0),
    point(60, planned),
    point(120, planned),
    point(180, { ...nothing, unknown: 1 }),
    point(240),
    point(300, planned),
  ];
  const series = { points, step: 12, from: time(0), to: time(900) };
  expect(maintenanceIn(series, 60)).toEqual([
    { from: 60, to: 180 },
    // Not longer than until the next check is due.
    { from: 300, to: 450 },
  ]);
  expect(unknownIn(series, 60)).toEqual([{ from: 180, to: 240 }]);
});

test("within a longer step, maintenance is as long as its heartbeats say", () => {
  const beat = (second: number, standing: "up" | "maintenance") => ({ at: time(second), status: "up" as const, message: "", standing });
  const series = { points: [point(0)], step: 600, from: time(100), to: time(900) };
  const beats = [beat(60, "maintenance"), beat(120, "maintenance"), beat(180, "up"), beat(300, "maintenance")];
  expect(maintenanceIn(series, 60, beats)).toEqual([
    { from: 100, to: 180 },
    { from: 300, to: 450 },
  ]);
});

test("an outage is not shaded where maintenance covers it", () => {
  const planned = [
    { from: 10, to: 20 },
    { from: 40, to: 60 },
  ];
  expect(without([{ from: 0, to: 50 }], planned)).toEqual([
    { from: 0, to: 10 },
    { from: 20, to: 40 },
  ]);
  expect(without([{ from: 12, to: 18 }], planned)).toEqual([]);
  expect(without([{ from: 60, to: 70 }], planned)).toEqual([{ from: 60, to: 70 }]);
});
