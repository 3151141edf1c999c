import { expect, test } from "vitest";
import type { Point } from "../data";
import { byRegion, outages, percentiles, placeOf, stacked, withGaps } from "./series";

const none = { resolve: null, connect: null, tls: null, first_byte: null, transfer: null };

function point(second: number, extra: Partial<Point> = {}): Point {
  return {
    at: new Date(second * 1000).toISOString(),
    up: 1,
    down: 0,
    pending: 0,
    unknown: 0,
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

test("a pause in the checks is a gap, and steps shorter than the interval are none", () => {
  const points = [0, 60, 120, 600].map((second) => point(second));
  expect(withGaps({ points, step: 12 }, 60).at).toEqual([0, 60, 120, 195, 600]);
  expect(withGaps({ points, step: 12 }, 60).points[3]).toBeNull();
  expect(withGaps({ points, step: 3600 }, 60).points).not.toContain(null);
});

test("bands are laid between the percentiles, highest first", () => {
  expect(percentiles([point(0), null])).toEqual([[30, null], [20, null], [10, null]]);
});

test("phases stand on each other, and one that was not reached adds nothing", () => {
  const some = point(0, { phases: { ...none, resolve: 1, connect: 2, first_byte: 4 } });
  expect(stacked([some, point(1), null])).toEqual([
    [7, null, null],
    [7, null, null],
    [3, null, null],
    [3, null, null],
    [1, null, null],
  ]);
});

test("neighbouring steps with failures are one outage, as dark as its worst step", () => {
  const points = [point(0), point(60, { down: 1, up: 3 }), point(120, { down: 1, up: 0 }), point(180), point(240, { down: 2, up: 2 })];
  expect(outages({ points, step: 60 })).toEqual([
    { from: 60, to: 180, share: 1 },
    { from: 240, to: 300, share: 0.5 },
  ]);
});

test("each region has a line, with a gap where it was not asked or saw nothing up", () => {
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
  expect([0, 5, 6].map(placeOf)).toEqual(["place-0", "place-5", "place-0"]);
});
