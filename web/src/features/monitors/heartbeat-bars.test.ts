import { expect, test } from "vitest";
import type { HeartbeatStatus } from "../../shared/api/closed-sets";
import { outlines } from "./heartbeat-bars";
import type { Heartbeat } from "./data";

const beat = (status: HeartbeatStatus): Heartbeat => ({ at: "", status, health: status, message: "", phases: {}, regions: [] });
const count = (path: string) => path.split("M").length - 1;

test("each status has its own path, and unknown is neither up nor down", () => {
  const paths = outlines([beat("up"), beat("down"), beat("up"), beat("unknown")], 30, 20);
  expect([paths.up, paths.down, paths.unknown].map(count)).toEqual([2, 1, 1]);
});

test("the newest heartbeat is at the right edge, however few there are", () => {
  expect(outlines([beat("up")], 30, 20).up).toMatch(/^M174 /);
});

test("a failed heartbeat is taller, so that color is not the only difference", () => {
  const { up, down } = outlines([beat("up"), beat("down")], 2, 20);
  const height = (path: string) => Number(/v(\d+)/.exec(path)?.[1]);
  expect(height(down)).toBeGreaterThan(height(up));
});

test("maintenance and unreachable differ from failures in color and shape", () => {
  const planned: Heartbeat = { ...beat("down"), standing: "maintenance" };
  const unreachable: Heartbeat = { ...beat("down"), standing: "unknown" };
  const paths = outlines([planned, unreachable, beat("down")], 3, 20);
  expect([paths.maintenance, paths.down].map(count)).toEqual([1, 1]);
  expect(count(paths.unreachable)).toBe(5);
  expect(paths.maintenance).toMatch(/^M0 .*v5q/);
  expect(paths.up).toBe("");
});

test("at most the maximum number of bars is drawn", () => {
  expect(
    count(
      outlines(
        Array.from({ length: 50 }, () => beat("up")),
        30,
        20,
      ).up,
    ),
  ).toBe(30);
});

test("a degraded check is up, but has its own path", () => {
  const paths = outlines([beat("up"), { ...beat("up"), health: "degraded" }], 30, 20);
  expect([count(paths.up), count(paths.degraded)]).toEqual([1, 1]);
});
