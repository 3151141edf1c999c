/** The values of a routing rule's form. */
import type { AlertKind, Severity } from "../../../shared/api/closed-sets";
import { hoursBody, incompleteHours } from "../../../shared/lib/hours";
import { isSelected, selectorBody, type Selector } from "../../../shared/lib/selector";
import type { Texts } from "../../../shared/i18n";
import type { Hours } from "../../../shared/ui/hours-field";
import type { Rule } from "./data";

export interface RuleValues extends Selector {
  name: string;
  severities: Severity[];
  kinds: AlertKind[];
  hours: Hours[];
  time_zone: string;
  /** IDs. */
  notifiers: string[];
  /** An ID, or empty for that of the monitor. */
  policyid: string;
  /** Empty for that of the monitor. */
  severity: Severity | "";
  stop: boolean;
}

/** A rule in the list, which identifies it while its place changes. */
export interface Listed {
  key: string;
  rule: Rule;
}

let made = 0;

export function listed(rule: Rule): Listed {
  return { key: String(made++), rule };
}

export function initial(time_zone: string): RuleValues {
  return {
    name: "",
    everything: false,
    monitors: [],
    groups: [],
    tags: [],
    all_tags: [],
    severities: [],
    kinds: [],
    hours: [],
    time_zone,
    notifiers: [],
    policyid: "",
    severity: "",
    stop: false,
  };
}

/** Without hours, the zone of a stored rule has no meaning: `zone` is a better start. */
export function valuesOf(rule: Rule, zone: string): RuleValues {
  const { name, everything, monitors, groups, tags, all_tags, severities, kinds, hours, notifiers, stop } = rule;
  return {
    ...{ name, everything, monitors, groups, tags, all_tags, severities, kinds, hours, notifiers, stop },
    time_zone: hours.length === 0 ? zone : rule.time_zone,
    policyid: rule.policyid ?? "",
    severity: rule.severity ?? "",
  };
}

export function check(values: RuleValues, t: Texts): Record<string, string> {
  const found: Record<string, string> = {};
  const { required, chooseMonitors } = t.maintenance.form;
  if (values.name.trim() === "") found.name = required;
  if (!isSelected(values)) found.monitors = chooseMonitors;
  return { ...found, ...incompleteHours(values.hours, "hours", required) };
}

export function ruleOf(values: RuleValues): Rule {
  return {
    ...selectorBody(values),
    name: values.name.trim(),
    severities: values.severities,
    kinds: values.kinds,
    hours: hoursBody(values.hours),
    time_zone: values.hours.length === 0 ? "UTC" : values.time_zone,
    notifiers: values.notifiers,
    policyid: values.policyid === "" ? null : values.policyid,
    severity: values.severity === "" ? null : values.severity,
    stop: values.stop,
  };
}

/** The rules in one form, whatever the order of their fields. */
const textOf = (rules: readonly Rule[]) => JSON.stringify(rules.map((rule) => ruleOf(valuesOf(rule, "UTC"))));

/** Whether the rules differ from those that are stored. */
export function isChanged(stored: readonly Rule[], list: readonly Listed[]): boolean {
  return textOf(stored) !== textOf(list.map(({ rule }) => rule));
}

/** The place of the rule that an error is about: `rules.3.tags`; null if it is about all of them. */
export function placeOfError(field: string): number | null {
  const place = /^rules\.(\d+)\./.exec(field)?.[1];
  return place === undefined ? null : Number(place);
}
