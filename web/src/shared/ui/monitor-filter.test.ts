import { expect, test } from "vitest";
import { filterChange, filterFields, filterValues } from "./monitor-filter";

const [web, none] = [filterValues({ tags: ["web"] }), filterValues(null)];
const named = filterValues({ monitors: ["m1"] });

test("a limit has the chosen kind only, and none without a choice", () => {
  expect(filterFields({ ...web, monitors: ["m1"] })).toEqual({ tags: ["web"] });
  expect(filterFields({ ...named, tags: ["web"] })).toEqual({ monitors: ["m1"] });
  expect(filterFields(none)).toEqual({});
  expect(filterFields({ ...web, limitBy: "monitors" })).toEqual({});
});

test("a limit is sent only if it changes, and removed explicitly", () => {
  expect(filterChange({ monitors: ["m1"] }, named)).toEqual({});
  expect(filterChange({ tags: ["web"] }, { ...web, limitBy: "monitors", monitors: ["m1"] })).toEqual({ monitors: ["m1"] });
  expect(filterChange({ tags: ["web"] }, { ...web, tags: [] })).toEqual({ monitor_filter: null });
  expect(filterChange(null, none)).toEqual({});
});

test("a limit whose monitors have all been deleted is not lifted by saving something else", () => {
  expect(filterChange({ monitors: [] }, filterValues({ monitors: [] }))).toEqual({});
});
