import { expect, test } from "vitest";
import { formatDuration, parseDuration } from "./duration";

test.each([
  ["60", 60],
  ["30s", 30],
  ["5m", 300],
  [" 5 min ", 300],
  ["1h", 3600],
  ["1h 30m", 5400],
  ["1.5 h", 5400],
  ["1,5 Std.", 5400],
  ["2 days", 172_800],
  ["2 Tage", 172_800],
  ["0", 0],
])("%s is %i seconds", (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

test.each(["", "soon", "5x", "5 5", "-5", "0.5s", "m", "1e9", "5m!"])("“%s” is not a duration", (text) => {
  expect(parseDuration(text)).toBeNull();
});

test("a duration is shown in the largest unit that needs no fraction, and reads back unchanged", () => {
  expect([1, 60, 90, 120, 300, 3600, 5400, 86_400, 172_800].map(formatDuration)).toEqual([
    "1 s",
    "60 s",
    "90 s",
    "2 min",
    "5 min",
    "1 h",
    "90 min",
    "1 d",
    "2 d",
  ]);
  for (const seconds of [1, 59, 61, 120, 3660, 604_800]) expect(parseDuration(formatDuration(seconds))).toBe(seconds);
});
