import { expect, test } from "vitest";
import { covers, isSelected, selectorBody } from "./selector";

const nothing = { everything: false, monitors: [], groups: [], tags: [], all_tags: [] };
const monitor = { monitorid: "a", tags: ["env:prod", "shop"] };

test("any part of a selector is enough, and a star is the rest of a tag", () => {
  for (const part of [
    { everything: true },
    { monitors: ["a"] },
    { tags: ["x", "shop"] },
    { tags: ["env:*"] },
    { all_tags: ["shop", "env:*"] },
  ])
    expect(covers({ ...nothing, ...part }, monitor), JSON.stringify(part)).toBe(true);
  for (const part of [{}, { monitors: ["b"] }, { tags: ["sho"] }, { tags: ["test:*"] }, { all_tags: ["shop", "blog"] }])
    expect(covers({ ...nothing, ...part }, monitor), JSON.stringify(part)).toBe(false);
});

test("groups are a part of a selection, unless everything is selected", () => {
  expect(isSelected(nothing)).toBe(false);
  expect(isSelected({ ...nothing, groups: ["g"] })).toBe(true);
  expect(selectorBody({ ...nothing, groups: ["g"] }).groups).toEqual(["g"]);
  expect(selectorBody({ ...nothing, everything: true, groups: ["g"] }).groups).toEqual([]);
});
