import { expect, test } from "vitest";
import { covers } from "./selector";

const nothing = { everything: false, monitors: [], tags: [], all_tags: [] };
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
