/** The types of events that notifiers send, as `crates/wakeful-core` defines them. */
export const eventTypes = ["monitor.down", "monitor.reminder", "monitor.up", "monitor.certificate_expiring", "notifier.test"] as const;

export type EventType = (typeof eventTypes)[number];

/** A newer service may send a type that this page does not know. */
export function isEventType(type: string): type is EventType {
  return eventTypes.some((known) => known === type);
}
