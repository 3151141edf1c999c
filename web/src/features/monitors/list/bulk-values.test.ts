import { expect, test } from "vitest";
import { changeOf, unchanged } from "./bulk-values";

test("a form that is not filled in changes nothing", () => {
  expect(changeOf(unchanged)).toBeNull();
  expect(changeOf({ ...unchanged, notifiers: { a: "keep" } })).toBeNull();
});

test("only the fields that are filled in are sent", () => {
  expect(changeOf({ ...unchanged, interval: "300", retries: 0 })).toEqual({ heartbeat_interval: 300, retries: 0 });
  expect(changeOf({ ...unchanged, tagsAdd: ["eu"], tagsRemove: ["us"] })).toEqual({ tags_add: ["eu"], tags_remove: ["us"] });
  expect(changeOf({ ...unchanged, notifiers: { a: "add", b: "remove", c: "keep" } })).toEqual({
    notifiers_add: ["a"],
    notifiers_remove: ["b"],
  });
});
