import { expect, test } from "vitest";
import { parseRule, ruleText, usedWeights } from "./group-rule";

test("a rule is read and written unchanged", () => {
  for (const rule of ["any", "all", "at_least:2", "percent:50", "weight:12"]) {
    const { kind, number } = parseRule(rule);
    expect(ruleText(kind, number)).toBe(rule);
  }
  expect(parseRule("at_least:")).toEqual({ kind: "at_least", number: "" });
  expect(parseRule("new")).toEqual({ kind: "any", number: "" });
});

test("weights are sent for a rule that uses them, without those that are 1", () => {
  expect(usedWeights("weight:3", { a: 2, b: 1 })).toEqual({ a: 2 });
  expect(usedWeights("any", { a: 2 })).toEqual({});
});
