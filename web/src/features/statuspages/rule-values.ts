/** The values of a rule's form, and the request they become. */
import type { Impact, OnRecovery, RuleMode } from "../../shared/api/closed-sets";
import type { SaveStatuspageRule, StatuspageRule } from "../../shared/api/statuspages";
import type { Texts } from "../../shared/i18n";
import { formatDuration, parseDuration } from "../../shared/lib/duration";

export interface RuleValues {
  /** Stays the same while the rule is moved. */
  key: string;
  ruleid: string | undefined;
  name: string;
  isactive: boolean;
  /** Empty: all components of the page. */
  components: string[];
  /** A duration, as the other times. */
  after: string;
  mode: RuleMode;
  /** Empty: the built-in text. */
  templateid: string;
  /** Empty: derived from the components. */
  impact: Impact | "";
  group: string;
  on_recovery: OnRecovery;
  resolve_after: string;
  notify: boolean;
  show_cause: boolean;
}

/** What the service allows. */
export const MAX_RULES = 50;
const AFTER = { min: 30, max: 86_400 };
const DAY = 86_400;

let created = 0;

/** Seconds as the fields show them. */
const shown = (seconds: number) => (seconds === 0 ? "0 s" : formatDuration(seconds));

export function newRule(name: string): RuleValues {
  return {
    key: `new rule ${(created += 1)}`,
    ruleid: undefined,
    name,
    isactive: true,
    components: [],
    after: formatDuration(120),
    mode: "draft",
    templateid: "",
    impact: "",
    group: formatDuration(600),
    on_recovery: "monitor",
    resolve_after: formatDuration(300),
    notify: true,
    show_cause: false,
  };
}

export function rulesOf(rules: readonly StatuspageRule[]): RuleValues[] {
  return rules.map((rule) => ({
    ...rule,
    key: rule.ruleid,
    templateid: rule.templateid ?? "",
    impact: rule.impact ?? "",
    after: shown(rule.after),
    group: shown(rule.group),
    resolve_after: shown(rule.resolve_after),
  }));
}

/** `stored` are the components that the page has. One that was removed is left out, unless the rule would then name all. */
export function ruleBody(rule: RuleValues, stored: readonly string[]): SaveStatuspageRule {
  const left = rule.components.filter((id) => stored.includes(id));
  return {
    ...rule,
    ...{ key: undefined },
    name: rule.name.trim(),
    components: left.length > 0 ? left : rule.components,
    after: parseDuration(rule.after) ?? 0,
    group: parseDuration(rule.group) ?? 0,
    resolve_after: parseDuration(rule.resolve_after) ?? 0,
    // An empty text clears it.
    impact: rule.impact as Impact,
  };
}

export function checkRule(rule: RuleValues, { form, maintenance, statuspages }: Texts): Record<string, string | undefined> {
  const within = (text: string, min: number, max: number) => {
    const seconds = parseDuration(text);
    if (seconds === null) return form.durationInvalid;
    return seconds < min || seconds > max ? statuspages.rules.between(shown(min), shown(max)) : undefined;
  };
  return {
    name: rule.name.trim() === "" ? maintenance.form.required : undefined,
    after: within(rule.after, AFTER.min, AFTER.max),
    group: within(rule.group, 0, DAY),
    resolve_after: rule.on_recovery === "monitor" ? within(rule.resolve_after, 0, DAY) : undefined,
  };
}
