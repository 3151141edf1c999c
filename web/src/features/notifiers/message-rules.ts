/** Which messages a notifier gets, and when, as the form has it. */
import { valuesOfSet, type EventType, type QuietThen, type Severity } from "../../shared/api/closed-sets";
import { hoursBody, incompleteHours } from "../../shared/lib/hours";
import type { Hours } from "../../shared/ui/hours-field";
import type { Texts } from "../../shared/i18n";
import type { Notifier, SaveNotifier } from "./data";

export interface MessageRules {
  min_severity: Severity;
  /** Null: those that the service has for a new notifier of the kind. */
  events: EventType[] | null;
  "quiet.hours": Hours[];
  "quiet.time_zone": string;
  "quiet.except": Severity;
  "quiet.then": QuietThen;
  /** Seconds, as a number or what was typed. */
  group_wait: number | string;
}

/** Kinds that programs read: each event is sent separately. */
const separately = new Set<string>(["webhook", "pagerduty", "opsgenie"]);

/** Whether messages of this type can be combined. */
export function isCombined(type: string): boolean {
  return !separately.has(type);
}

/** A test is sent in any case. */
export type SelectableEvent = Exclude<EventType, "notifier.test">;

export const selectable = valuesOfSet<SelectableEvent>({
  "monitor.down": true,
  "monitor.up": true,
  "monitor.reminder": true,
  "monitor.certificate_expiring": true,
  "monitor.domain_expiring": true,
  "monitor.flapping": true,
  "monitor.steady": true,
  "monitor.degraded": true,
  "monitor.restored": true,
  "monitor.changed": true,
  "alert.escalated": true,
  "alert.assigned": true,
  "alert.acknowledged": true,
  "alert.commented": true,
  "alert.resolved": true,
  "maintenance.scheduled": true,
  "maintenance.started": true,
  "maintenance.ended": true,
  "oncall.handover": true,
});

/** Without those that are rarely wanted. */
export const suggested = selectable.filter((event) => event !== "alert.commented");

export function initialRules(zone: string): MessageRules {
  return {
    min_severity: "info",
    events: null,
    "quiet.hours": [],
    "quiet.time_zone": zone,
    "quiet.except": "critical",
    "quiet.then": "hold",
    group_wait: 0,
  };
}

export function rulesOf({ min_severity, events, quiet, group_wait }: Notifier, zone: string): MessageRules {
  return {
    min_severity,
    events: events as EventType[],
    "quiet.hours": quiet?.hours ?? [],
    "quiet.time_zone": quiet?.time_zone ?? zone,
    "quiet.except": quiet?.except ?? "critical",
    "quiet.then": quiet?.then ?? "hold",
    group_wait,
  };
}

/** The fields of a request. Without hours, there are no quiet hours. Events that stay as they are stored are not sent. */
export function rulesBody(
  rules: MessageRules,
  type: string,
  was?: Notifier,
): Pick<SaveNotifier, "min_severity" | "events" | "quiet" | "group_wait"> {
  const hours = hoursBody(rules["quiet.hours"]);
  const quiet =
    hours.length === 0
      ? { hours }
      : { hours, time_zone: rules["quiet.time_zone"], except: rules["quiet.except"], then: rules["quiet.then"] };
  return {
    min_severity: rules.min_severity,
    ...(rules.events && !isSame(rules.events, was?.events) && { events: rules.events }),
    quiet,
    ...(isCombined(type) && { group_wait: Number(rules.group_wait) }),
  };
}

function isSame(events: readonly string[], others: readonly string[] = []): boolean {
  return events.length === others.length && events.every((event) => others.includes(event));
}

export function checkRules(rules: MessageRules, t: Texts): Record<string, string> {
  const none = rules.events?.length === 0 && { events: t.messageRules.chooseEvents };
  return { ...none, ...incompleteHours(rules["quiet.hours"], "quiet.hours", t.maintenance.form.required) };
}
