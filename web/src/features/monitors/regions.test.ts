import { expect, test } from "vitest";
import { isElsewhere, missing } from "./regions";

test("only what is checked from other places is split by region", () => {
  expect(isElsewhere({ type: "http", regions: ["local"] })).toBe(false);
  expect(isElsewhere({ type: "http", regions: ["local", "eu"] })).toBe(true);
  expect(isElsewhere({ type: "http", regions: ["eu"] })).toBe(true);
  expect(isElsewhere({ type: "api", regions: ["eu"] })).toBe(false);
});

test("a region is missing when monitors name it and nobody is there", () => {
  const region = { region: "eu", live: 0, probes: [], monitors: 2, problem: "no probe is connected" };
  const idle = { ...region, region: "us", monitors: 0 };
  const fine = { ...region, region: "ap", live: 1, problem: null };
  expect(missing([region, idle, fine])).toEqual([region]);
});
