import { expect, test } from "vitest";
import { hasRemoteRegions, missing } from "./regions";

test("only what is checked from other places is split by region", () => {
  expect(hasRemoteRegions({ type: "http", regions: ["local"] })).toBe(false);
  expect(hasRemoteRegions({ type: "http", regions: ["local", "eu"] })).toBe(true);
  expect(hasRemoteRegions({ type: "http", regions: ["eu"] })).toBe(true);
  expect(hasRemoteRegions({ type: "api", regions: ["eu"] })).toBe(false);
});

test("a region is missing when monitors name it and nobody is there", () => {
  const region = { region: "eu", live: 0, probes: [], monitors: 2, problem: "no probe is connected" };
  const idle = { ...region, region: "us", monitors: 0 };
  const fine = { ...region, region: "ap", live: 1, problem: null };
  expect(missing([region, idle, fine])).toEqual([region]);
});
