/** Which alerts are shown: a tab and filters, all of them in the URL. */
import { severities } from "../../../shared/api/alerting-sets";
import { find, valuesOfSet, type AlertKind, type AlertStatus, type Severity } from "../../../shared/api/closed-sets";

/** The statuses of each tab. */
export const tabs = {
  open: ["open"],
  acknowledged: ["acknowledged", "snoozed"],
  suppressed: ["suppressed"],
  over: ["over", "resolved"],
} as const satisfies Record<string, readonly AlertStatus[]>;
export type Tab = keyof typeof tabs;
export const tabNames = valuesOfSet<Tab>({ open: true, acknowledged: true, suppressed: true, over: true });

export interface AlertView {
  tab: Tab;
  severity: Severity | null;
  tag: string | null;
  /** Whether only alerts that are assigned to the reader are shown. */
  mine: boolean;
  q: string;
  /** The message whose alerts are shown, whatever their status. */
  digest: string | null;
}

export function viewOf(search: URLSearchParams): AlertView {
  return {
    tab: find(tabNames, search.get("tab")) ?? "open",
    severity: find(severities, search.get("severity")) ?? null,
    tag: search.get("tag"),
    mine: search.get("assignee") === "me",
    q: search.get("q") ?? "",
    digest: search.get("digest"),
  };
}

export function searchOf({ tab, severity, tag, mine, q, digest }: AlertView): URLSearchParams {
  const search = new URLSearchParams();
  if (tab !== "open") search.set("tab", tab);
  if (severity) search.set("severity", severity);
  if (tag) search.set("tag", tag);
  if (mine) search.set("assignee", "me");
  if (q !== "") search.set("q", q);
  if (digest) search.set("digest", digest);
  return search;
}

export function isFiltered({ severity, tag, mine, q, digest }: AlertView): boolean {
  return severity !== null || tag !== null || mine || q.trim() !== "" || digest !== null;
}

/** The kinds that last until something changes. The others are warnings, which are over once they were sent. */
const lasting: Record<AlertKind, boolean> = {
  outage: true,
  flapping: true,
  degraded: true,
  certificate: false,
  domain: false,
  change: false,
};

/** Whether it has a duration. */
export function hasDuration(kind: AlertKind): boolean {
  return lasting[kind];
}

/** Whether it can be acknowledged, snoozed, assigned and resolved, and not only commented on. */
export function isActionable({ kind, status }: { kind: AlertKind; status: AlertStatus }): boolean {
  return hasDuration(kind) && isLasting(status);
}

/** Whether an alert of this status is not over. */
export function isLasting(status: AlertStatus): boolean {
  return status !== "over" && status !== "resolved";
}

/** The newest of several lists, newest first: ids begin with the time. */
export function newestOf<A extends { alertid: string }>(lists: readonly (readonly A[])[], limit: number): A[] {
  return lists
    .flat()
    .sort((a, b) => (a.alertid < b.alertid ? 1 : -1))
    .slice(0, limit);
}
