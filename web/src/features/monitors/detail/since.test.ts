import { expect, test } from "vitest";
import { earlierRange, pausedSince, statusSince } from "./since";

const time = (second: number) => new Date(second * 1000).toISOString();
const monitor = (modified: number, last_check: number | null) => ({
  created: time(0),
  modified: time(modified),
  last_check: last_check === null ? null : time(last_check),
  status_since: time(60),
  heartbeat_interval: 60,
  grace: null,
});
const ms = (...seconds: number[]) => seconds.map((second) => second * 1000);

test("a monitor is paused since it was saved, at least: it may have been edited later", () => {
  expect(pausedSince(monitor(630, 600), 700_000)).toEqual({ at: 630_000, exact: true });
  expect(pausedSince(monitor(9000, 600), 9_001_000)).toEqual({ at: 9_000_000, exact: false });
  expect(pausedSince(monitor(900, 600), 86_400_000), "five minutes do not matter after a day").toEqual({ at: 900_000, exact: true });
  expect(pausedSince(monitor(0, null), 1000)).toEqual({ at: 0, exact: true });
});

test("a resumed monitor is up since the first check after the pause", () => {
  const checks = ms(480, 540, 600, 3000, 3060);
  expect(statusSince(monitor(2999, 3060), checks, 3_070_000)).toBe(3_000_000);
  expect(statusSince(monitor(9, 3060), checks, 3_070_000), "not saved: the service was down").toBe(60_000);
  expect(statusSince(monitor(3030, 3060), ms(2940, 3000, 3060), 3_070_000), "edited without a pause").toBe(60_000);
});

test("until the first check after a pause, it is up since it was resumed", () => {
  expect(statusSince(monitor(2999, 600), ms(540, 600), 3_010_000)).toBe(2_999_000);
});

test("a status that changed after the pause counts", () => {
  const changed = { ...monitor(2999, 3060), status_since: time(3060) };
  expect(statusSince(changed, ms(600, 3000, 3060), 3_070_000)).toBe(3_060_000);
});

test("if the latest checks do not reach back to the last save, an earlier pause is searched in steps", () => {
  const old = monitor(2999, 90_000);
  const range = earlierRange(old, ms(89_940, 90_000));
  expect(range).toEqual({ from: 60_000, to: 3_149_000 });
  expect(statusSince(old, ms(60, 360, 600, 3000), range?.to ?? 0, 300)).toBe(3_000_000);
  expect(earlierRange(old, ms(2900, 3000)), "the checks reach back").toBeNull();
  expect(earlierRange(monitor(30, 90_000), ms(89_940)), "not saved since the status changed").toBeNull();
});
