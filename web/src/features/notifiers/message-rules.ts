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
}

/** A test is sent in any case. */
export type SelectableEvent = Exclude<EventType, "notifier.test">;

export const selectable = valuesOfSet<SelectableEvent>({
  "monitor.down": true,
  "monitor.up": true,
  "monitor.reminder": true,
  "monitor.certificate_expiring": true,
  "monitor.flapping": true,
  "monitor.steady": true,
  "alert.escalated": true,
  "alert.assigned": true,
  "alert.acknowledged": true,
  "alert.resolved": true,
  "maintenance.scheduled": true,
  "maintenance.started": true,
  "maintenance.ended": true,
  "oncall.handover": true,
});

export function initialRules(zone: string): MessageRules {
  return {
    min_severity: "info",
    events: null,
    "quiet.hours": [],
    "quiet.time_zone": zone,
    "quiet.except": "critical",
    "quiet.then": "hold",
  };
}

export function rulesOf({ min_severity, events, quiet }: Notifier, zone: string): MessageRules {
  return {
    min_severity,
    events: events as EventType[],
    "quiet.hours": quiet?.hours ?? [],
    "quiet.time_zone": quiet?.time_zone ?? zone,
    "quiet.except": quiet?.except ?? "critical",
    "quiet.then": quiet?.then ?? "hold",
  };
}

/** The fields of a request. Without hours, there are no quiet hours. Events that stay as they are stored are not sent. */
export function rulesBody(rules: MessageRules, was?: Notifier): Pick<SaveNotifier, "min_severity" | "events" | "quiet"> {
  const hours = hoursBody(rules["quiet.hours"]);
  const quiet =
    hours.length === 0
      ? { hours }
      : { hours, time_zone: rules["quiet.time_zone"], except: rules["quiet.except"], then: rules["quiet.then"] };
  return { min_severity: rules.min_severity, ...(rules.events && !isSame(rules.events, was?.events) && { events: rules.events }), quiet };
}

function isSame(events: readonly string[], others: readonly string[] = []): boolean {
  return events.length === others.length && events.every((event) => others.includes(event));
}

export function checkRules(rules: MessageRules, t: Texts): Record<string, string> {
  const none = rules.events?.length === 0 && { events: t.messageRules.chooseEvents };
  return { ...none, ...incompleteHours(rules["quiet.hours"], "quiet.hours", t.maintenance.form.required) };
}
