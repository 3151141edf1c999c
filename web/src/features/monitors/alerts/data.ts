/** Queries of alerts, and what users do with them. */
import { keepPreviousData, queryOptions, type QueryClient } from "@tanstack/react-query";
import { GET, POST, unwrap } from "../../../shared/api/client";
import type { Severity } from "../../../shared/api/closed-sets";
import type { components } from "../../../shared/api/schema";
import { ALERTS, type Alert, type Window } from "../data";
import { chunks } from "../list/bulk-changes";
import { newestOf, tabs, type AlertView } from "./view";

export type Detail = components["schemas"]["AlertDetail"];
export type TimelineEntry = components["schemas"]["TimelineEntry"];
type Skipped = components["schemas"]["SkippedAlert"];

/** The refetch interval in ms while deliveries are pending; there are no events for them. */
const whilePending = (shown: Alert[] | undefined) =>
  shown?.some((alert) => alert.deliveries.some((delivery) => delivery.state === "waiting")) ? 2_000 : false;

/** The newest alerts of a view; a tab may have several statuses, and the service filters by one. */
export function alertsQuery(view: AlertView, limit: number) {
  return queryOptions({
    queryKey: [...ALERTS, "list", view, limit],
    queryFn: async ({ signal }): Promise<Alert[]> => {
      const { severity, tag, mine, q, digest } = view;
      const filter = {
        limit,
        ...(severity && { severity }),
        ...(tag && { tag }),
        ...(mine && { assignee: "me" }),
        ...(q.trim() !== "" && { q: q.trim() }),
        ...(digest && { digest }),
      };
      if (digest) return (await unwrap(GET("/api/v1/alerts", { params: { query: filter }, signal }))).alerts;
      const lists = tabs[view.tab].map(async (status) => {
        const params = { query: { ...filter, status } };
        return (await unwrap(GET("/api/v1/alerts", { params, signal }))).alerts;
      });
      return newestOf(await Promise.all(lists), limit);
    },
    refetchInterval: ({ state }) => whilePending(state.data),
    placeholderData: keepPreviousData,
  });
}

/** The newest alerts of a monitor. */
export function alertsOfQuery(id: string) {
  return queryOptions({
    queryKey: [...ALERTS, id],
    queryFn: ({ signal }) => {
      const params = { path: { monitorid: id }, query: { limit: 50 } };
      return unwrap(GET("/api/v1/monitor/{monitorid}/alerts", { params, signal })).then((answer) => answer.alerts);
    },
    refetchInterval: ({ state }) => whilePending(state.data),
  });
}

/** Page sizes: the first page is enough for most ranges. */
const PAGE_SIZES = [50, 1000, 1000, 1000];

/** A monitor's alerts back to the start of a window, newest first; a window that ends now moves along. */
export function alertsInQuery(id: string, window: Window) {
  return queryOptions({
    queryKey: [...ALERTS, id, window],
    queryFn: async ({ signal }): Promise<Alert[]> => {
      const from = "last" in window ? Date.now() - window.last * 1000 : window.from;
      const found: Alert[] = [];
      let cursor: string | undefined;
      for (const limit of PAGE_SIZES) {
        const params = { path: { monitorid: id }, query: { limit, ...(cursor !== undefined && { cursor }) } };
        const page = await unwrap(GET("/api/v1/monitor/{monitorid}/alerts", { params, signal }));
        found.push(...page.alerts);
        cursor = page.next_cursor ?? undefined;
        // Outages of one monitor do not overlap, so older ones ended before the window.
        if (cursor === undefined || page.alerts.some(({ kind, started }) => kind === "outage" && Date.parse(started) < from)) break;
      }
      return found;
    },
    gcTime: 120_000,
    placeholderData: keepPreviousData,
  });
}

/** One alert with its timeline. */
export function alertQuery(alertid: string) {
  return queryOptions({
    queryKey: [...ALERTS, "one", alertid],
    queryFn: ({ signal }): Promise<Detail> => unwrap(GET("/api/v1/alert/{alertid}/get", { params: { path: { alertid } }, signal })),
    refetchInterval: ({ state: { data } }) => whilePending(data && [data.alert]),
  });
}

/** Until when an alert is snoozed: for seconds from now, or until a time. */
export type Snooze = { seconds: number } | { until: string };

/** What can be done with several alerts. */
export type Action = { do: "acknowledge" } | { do: "snooze"; span: Snooze } | { do: "resolve"; comment: string };

export interface Outcome {
  done: number;
  skipped: Skipped[];
}

/** The maximum number of alerts per request. */
const MAX_IDS = 500;

/** Does the same with several alerts; those that are over are skipped. */
export async function changeAlerts(client: QueryClient, ids: readonly string[], action: Action): Promise<Outcome> {
  const total: Outcome = { done: 0, skipped: [] };
  try {
    for (const alertids of chunks(ids, MAX_IDS)) {
      const { done, skipped } = await unwrap(sendAll(alertids, action));
      total.done += done;
      total.skipped.push(...skipped);
    }
  } finally {
    await renew(client);
  }
  return total;
}

function sendAll(alertids: string[], action: Action) {
  if (action.do === "acknowledge") return POST("/api/v1/alerts/acknowledge", { body: { alertids } });
  if (action.do === "snooze") return POST("/api/v1/alerts/snooze", { body: { alertids, ...action.span } });
  return POST("/api/v1/alerts/resolve", { body: { alertids, ...commented(action.comment) } });
}

/** What can be done with one alert. */
export type SingleAction =
  | Action
  | { do: "unacknowledge" }
  | { do: "assign"; userid: string | null }
  | { do: "severity"; severity: Severity }
  | { do: "comment"; text: string };

export async function changeAlert(client: QueryClient, alertid: string, action: SingleAction): Promise<void> {
  try {
    const { alert } = await unwrap(send(alertid, action));
    client.setQueryData(alertQuery(alertid).queryKey, (old) => old && { ...old, alert });
  } finally {
    await renew(client);
  }
}

function send(alertid: string, action: SingleAction) {
  const params = { path: { alertid } };
  switch (action.do) {
    case "acknowledge":
      return POST("/api/v1/alert/{alertid}/acknowledge", { params, body: {} });
    case "unacknowledge":
      return POST("/api/v1/alert/{alertid}/unacknowledge", { params });
    case "snooze":
      return POST("/api/v1/alert/{alertid}/snooze", { params, body: action.span });
    case "assign":
      return POST("/api/v1/alert/{alertid}/assign", { params, body: { userid: action.userid } });
    case "severity":
      return POST("/api/v1/alert/{alertid}/severity", { params, body: { severity: action.severity } });
    case "comment":
      return POST("/api/v1/alert/{alertid}/comment", { params, body: { text: action.text } });
    case "resolve":
      return POST("/api/v1/alert/{alertid}/resolve", { params, body: commented(action.comment) });
  }
}

function commented(comment: string) {
  return comment.trim() === "" ? {} : { comment: comment.trim() };
}

function renew(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ queryKey: ALERTS });
}
