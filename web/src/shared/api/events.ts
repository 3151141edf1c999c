/** The types of events that notifiers send. */
import { find, valuesOfSet, type EventType } from "./closed-sets";

export type { EventType };

export const eventTypes = valuesOfSet<EventType>({
  "monitor.down": true,
  "monitor.reminder": true,
  "monitor.up": true,
  "monitor.certificate_expiring": true,
  "monitor.domain_expiring": true,
  "monitor.flapping": true,
  "monitor.steady": true,
  "monitor.degraded": true,
  "monitor.restored": true,
  "monitor.changed": true,
  "alert.acknowledged": true,
  "alert.assigned": true,
  "alert.commented": true,
  "alert.escalated": true,
  "alert.resolved": true,
  "maintenance.scheduled": true,
  "maintenance.started": true,
  "maintenance.ended": true,
  "oncall.handover": true,
  "notifier.test": true,
});

/** A newer service may send a type that this page does not know. */
export function isEventType(type: string): type is EventType {
  return find(eventTypes, type) !== undefined;
}
