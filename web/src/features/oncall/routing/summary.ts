/** A rule in words: which alerts it is about, and what it does. */
import { useQuery } from "@tanstack/react-query";
import { monitorsQuery } from "../../../shared/api/monitors";
import { notifierSummariesQuery } from "../../../shared/api/notifiers";
import { policiesQuery } from "../../../shared/api/policies";
import { hoursText } from "../../../shared/lib/hours";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { weekdayName } from "../../../shared/ui/toggles";
import type { Rule } from "./data";

/** How many monitors are named. */
const MAX_NAMES = 3;

export function useSummary(): (rule: Rule) => { when: string; then: string } {
  const t = useTexts();
  const { routing, alerts, maintenance } = t;
  const { locale } = useLanguage();
  const { data: monitors = [] } = useQuery(monitorsQuery);
  const { data: notifiers = [] } = useQuery(notifierSummariesQuery);
  const { data: policies = [] } = useQuery(policiesQuery);
  const list = (words: string[], type: "conjunction" | "disjunction" = "conjunction") =>
    new Intl.ListFormat(locale, { type }).format(words);
  const named = (ids: string[]) => {
    const names = ids.map((id) => monitors.find(({ monitorid }) => monitorid === id)?.name ?? id);
    const more = names.length - MAX_NAMES;
    return list(more > 0 ? [...names.slice(0, MAX_NAMES), routing.more(more)] : names);
  };
  const selected = (rule: Rule) => {
    if (rule.everything) return maintenance.coversAll;
    const parts = [
      ...(rule.monitors.length > 0 ? [named(rule.monitors)] : []),
      ...(rule.groups.length > 0 ? [maintenance.membersOf(named(rule.groups))] : []),
      ...(rule.tags.length > 0 ? [routing.tagged(list(rule.tags, "disjunction"))] : []),
      ...(rule.all_tags.length > 0 ? [routing.tagged(list(rule.all_tags))] : []),
    ];
    // Somebody who is limited to some monitors does not see the ids of others.
    return parts.length > 0 ? list(parts, "disjunction") : routing.inHiddenGroups;
  };
  return (rule) => {
    const hours = rule.hours.map((span) => hoursText(span, (place) => weekdayName(place, locale, "short")));
    const when = [
      selected(rule),
      ...(rule.severities.length > 0 ? [list(rule.severities.map((one) => alerts.severities[one]))] : []),
      ...(rule.kinds.length > 0 ? [list(rule.kinds.map((one) => routing.kinds[one]))] : []),
      ...(hours.length > 0 ? [`${hours.join(", ")} (${rule.time_zone})`] : []),
    ];
    const receivers = rule.notifiers.map((id) => notifiers.find(({ notifierid }) => notifierid === id)?.name ?? id);
    const policy = policies.find(({ policyid }) => policyid === rule.policyid)?.name ?? rule.policyid;
    const then = [
      ...(receivers.length > 0 ? [routing.notifies(list(receivers))] : []),
      ...(policy ? [routing.escalates(policy)] : []),
      ...(rule.severity ? [routing.rates(alerts.severities[rule.severity])] : []),
      ...(rule.stop ? [routing.stops] : []),
    ];
    return { when: when.join(" · "), then: then.length > 0 ? then.join(" · ") : routing.nothing };
  };
}
