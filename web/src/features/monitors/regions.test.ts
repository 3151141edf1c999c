import { expect, test } from "vitest";
import { hasRemoteRegions, missing } from "./regions";

test("only monitors checked from other regions are split by region", () => {
  expect(hasRemoteRegions({ type: "http", regions: ["local"] })).toBe(false);
  expect(hasRemoteRegions({ type: "http", regions: ["local", "eu"] })).toBe(true);
  expect(hasRemoteRegions({ type: "http", regions: ["eu"] })).toBe(true);
  expect(hasRemoteRegions({ type: "api", regions: ["eu"] })).toBe(false);
});

test("a region is missing if monitors use it and no probe is online", () => {
  const region = { region: "eu", live: 0, probes: [], monitors: 2, problem: "no probe is connected" };
  const idle = { ...region, region: "us", monitors: 0 };
  const fine = { ...region, region: "ap", live: 1, problem: null };
  expect(missing([region, idle, fine])).toEqual([region]);
});
