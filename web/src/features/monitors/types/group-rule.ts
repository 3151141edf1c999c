/** The rule of a group: `any`, `all`, or a word with a number such as `at_least:2`. */
import { find } from "../../../shared/api/closed-sets";

export const ruleKinds = ["any", "all", "at_least", "percent", "weight"] as const;
export type RuleKind = (typeof ruleKinds)[number];
type CountedKind = Exclude<RuleKind, "any" | "all">;

/** The weights of members by ID; others weigh 1. */
export type Weights = Record<string, number>;

export function isCounted(kind: RuleKind): kind is CountedKind {
  return kind !== "any" && kind !== "all";
}

export function parseRule(rule: string): { kind: RuleKind; number: number | "" } {
  const [word = "", count = ""] = rule.split(":");
  const kind = find(ruleKinds, word) ?? "any";
  return { kind, number: isCounted(kind) && /^\d+$/.test(count) ? Number(count) : "" };
}

export function ruleText(kind: RuleKind, number: number | ""): string {
  return isCounted(kind) ? `${kind}:${number}` : kind;
}

/** Those that the rule uses; a weight of 1 is the default. */
export function usedWeights(rule: string, weights: Weights): Weights {
  if (parseRule(rule).kind !== "weight") return {};
  return Object.fromEntries(Object.entries(weights).filter(([, weight]) => weight !== 1));
}
