import { expect, test } from "vitest";
import { linked } from "./notifier-picker";

const before = ["a", "b"];

test("notifiers are added once, removed, or replaced", () => {
  expect(linked(before, "add", ["b", "c"])).toEqual(["a", "b", "c"]);
  expect(linked(before, "remove", ["b", "c"])).toEqual(["a"]);
  expect(linked(before, "set", ["c"])).toEqual(["c"]);
  expect(linked(before, "set", [])).toEqual([]);
});
