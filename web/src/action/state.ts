/** What the page shows about an alert, and what it offers. */
import type { AlertStatus } from "../shared/api/closed-sets";
import type { components } from "../shared/api/schema";
import { clock, span } from "../shared/lib/time";
import type { ActionTexts } from "./texts";

export type LinkedAlert = components["schemas"]["ActionLinkBody"];

/** The status; a certificate warning has none that matters here. */
export type State = AlertStatus | "warning";

export function stateOf({ kind, status }: Pick<LinkedAlert, "kind" | "status">): State {
  return kind === "certificate" ? "warning" : status;
}

/** Whether it can be acknowledged, and therefore snoozed and resolved. */
export function isLasting(state: State): boolean {
  return state !== "over" && state !== "resolved" && state !== "warning";
}

/** Whether the large button is shown. */
export function isUnacknowledged(state: State): boolean {
  return isLasting(state) && state !== "acknowledged";
}

/** Since when, and for how long. */
export function durationOf(alert: LinkedAlert, t: ActionTexts, now: number, locale: string): string {
  const from = Date.parse(alert.started);
  const to = alert.ended ? Date.parse(alert.ended) : now;
  if (stateOf(alert) === "warning") return t.warned(clock(from, now, locale));
  const lasted = span(to - from);
  // A monitor that flaps or is degraded is not down, or not all the time.
  const [since, wasDown] = alert.kind === "outage" ? [t.since, t.wasDown] : [t.lasts, t.lasted];
  return alert.ended ? wasDown(clock(from, now, locale), clock(to, now, locale), lasted) : since(clock(from, now, locale), lasted);
}

/** Who has responded; empty if nobody has. */
export function responseOf(alert: LinkedAlert, t: ActionTexts, now: number, locale: string): string {
  const { acknowledged_by, snoozed_until } = alert;
  const state = stateOf(alert);
  if (state === "over") return t.over;
  if (state === "resolved") return t.resolved;
  if (snoozed_until) return t.snoozedUntil(clock(Date.parse(snoozed_until), now, locale));
  return acknowledged_by ? t.acknowledgedBy(acknowledged_by) : "";
}
