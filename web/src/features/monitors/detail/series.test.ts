import { expect, test } from "vitest";
import type { Heartbeat } from "../data";
import { outages, seriesOf } from "./series";

const beats = (text: string): Heartbeat[] =>
  Array.from(text, (letter, second) => ({
    at: new Date(second * 1000).toISOString(),
    status: letter === "u" ? "up" : letter === "d" ? "down" : "unknown",
    message: "",
    load_time: letter === "u" ? 10 : null,
    phases: {},
  }));

test("an outage lasts from its first failed heartbeat to the next good one", () => {
  expect(outages(beats("uudduudu"))).toEqual([[2, 4], [6, 7]]);
});

test("an outage that lasts has no end, and what could not be checked ends none", () => {
  expect(outages(beats("ud?d"))).toEqual([[1, null]]);
  expect(outages(beats("u??u"))).toEqual([]);
});

test("a failed heartbeat leaves a gap in the line", () => {
  expect(seriesOf(beats("udu"))[1]).toEqual([10, null, 10]);
});
