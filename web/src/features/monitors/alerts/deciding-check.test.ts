import { expect, test } from "vitest";
import type { Heartbeat } from "../data";
import { closest, decidedAt } from "./deciding-check";
import type { Detail } from "./data";

test("an alert was opened by the check that confirmed it, or else by its first one", () => {
  const alert = { started: "2026-11-17T19:40:00.000Z" } as Detail["alert"];
  const record = (of: string, at: string) => ({ of, at }) as Detail["evidence"][number];
  const first = record("first", "2026-11-17T19:40:00.000Z");
  const confirming = record("confirming", "2026-11-17T19:40:20.000Z");
  expect(decidedAt({ alert, evidence: [first, confirming] })).toBe(confirming.at);
  expect(decidedAt({ alert, evidence: [first] })).toBe(first.at);
  expect(decidedAt({ alert, evidence: [] })).toBe(alert.started);
});

test("what the regions saw is that of the closest check that has it", () => {
  const beat = (at: string, regions: number) => ({ at, regions: Array<object>(regions).fill({}) }) as unknown as Heartbeat;
  const at = "2026-11-17T19:40:00.000Z";
  const [before, after, own] = [beat("2026-11-17T19:39:59.500Z", 2), beat("2026-11-17T19:40:00.100Z", 2), beat(at, 0)];
  expect(closest([after, own, before], at)).toBe(after);
  expect(closest([own], at)).toBeUndefined();
});
