import { expect, test } from "vitest";
import { onlyNames } from "./limited";

test("a window that those who are limited may change names its monitors", () => {
  const named = { everything: false, groups: [], tags: [], all_tags: [] };
  expect(onlyNames(named)).toBe(true);
  for (const part of [{ everything: true }, { groups: ["g"] }, { tags: ["x"] }, { all_tags: ["x"] }])
    expect(onlyNames({ ...named, ...part }), JSON.stringify(part)).toBe(false);
});
