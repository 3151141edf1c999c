import { expect, test } from "vitest";
import { chunks } from "./bulk-changes";

test("a list is split into chunks of at most the given size", () => {
  expect(chunks([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(chunks([1, 2], 2)).toEqual([[1, 2]]);
  expect(chunks([], 2)).toEqual([]);
});
