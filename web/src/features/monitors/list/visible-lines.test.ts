import { expect, test } from "vitest";
import { lineAt, topsOf } from "./visible-lines";

const tops = topsOf([30, 50, 50, 30]);

test("each line begins where the previous one ends", () => {
  expect(tops).toEqual([0, 30, 80, 130, 160]);
  expect(topsOf([])).toEqual([0]);
});

test.each([
  [-10, 0],
  [0, 0],
  [29, 0],
  [30, 1],
  [129, 2],
  [130, 3],
  [1000, 3],
])("at %i is line %i", (y, line) => {
  expect(lineAt(tops, y)).toBe(line);
});

test("in an empty list, it is the first", () => {
  expect(lineAt([0], 100)).toBe(0);
});
