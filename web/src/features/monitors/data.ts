/** Monitors, their heartbeats and alerts as the service answers them. */
import { keepPreviousData, queryOptions, type QueryClient } from "@tanstack/react-query";
import { DELETE, GET, POST, unwrap } from "../../shared/api/client";
import { monitors, type MonitorRow } from "../../shared/api/monitors";
import type { components } from "../../shared/api/schema";

export { monitors, type MonitorRow };
export type Monitor = components["schemas"]["Monitor"];
export type Heartbeat = components["schemas"]["Heartbeat"];
/** What bars show of a heartbeat. */
export type Shown = components["schemas"]["Beat"];
export type Alert = components["schemas"]["Alert"];
export type Certificate = components["schemas"]["Certificate"];
export type SaveMonitor = components["schemas"]["SaveMonitor"];

export const types = ["http", "http_keyword", "ping", "tcp", "dns", "api"] as const;
export type Type = (typeof types)[number];

/** What is shown of a monitor; a paused one keeps its last status to itself. */
export const states = ["down", "pending", "up", "paused"] as const;
export type State = (typeof states)[number];

export function stateOf(monitor: Pick<Monitor, "isactive" | "status">): State {
  if (!monitor.isactive) return "paused";
  return monitor.status === "up" || monitor.status === "down" ? monitor.status : "pending";
}

/** What a monitor looks at, in one line. */
export function targetOf(monitor: Pick<Monitor, "http" | "hostname" | "port" | "dns">): string {
  if (monitor.http) return monitor.http.url;
  if (monitor.dns) return `${monitor.dns.record_type} ${monitor.hostname ?? ""}`;
  if (monitor.hostname) return monitor.port ? `${monitor.hostname}:${monitor.port}` : monitor.hostname;
  return "";
}

/** Without what goes without saying. */
export function short(target: string): string {
  return target.replace(/^https?:\/\//, "").replace(/\/$/, "");
}

export function rowOf(monitor: Monitor): MonitorRow {
  const { monitorid, type, isactive, name, tags, heartbeat_interval, status, status_since, last_check, last_message, load_time } = monitor;
  const shown = { monitorid, type, isactive, name, tags, heartbeat_interval, status, status_since, last_check, last_message, load_time };
  return { ...shown, target: targetOf(monitor), notifiers: monitor.notifiers.map(({ notifierid }) => notifierid) };
}

export function monitor(id: string) {
  return queryOptions({
    queryKey: ["monitor", id],
    queryFn: ({ signal }) =>
      unwrap(GET("/api/v1/monitor/{monitorid}/get", { params: { path: { monitorid: id } }, signal })).then((answer) => answer.monitor),
  });
}

/** The certificate that the target showed last; null when it showed none. It is read again when the monitor changes. */
export function certificate({ monitorid, http, status, modified }: Monitor) {
  return queryOptions({
    queryKey: ["certificate", monitorid, status, modified],
    queryFn: async ({ signal }): Promise<Certificate | null> => {
      const params = { path: { monitorid } };
      return (await unwrap(GET("/api/v1/monitor/{monitorid}/get", { params, signal }))).certificate ?? null;
    },
    enabled: !!http,
    staleTime: 60_000,
    refetchInterval: 600_000,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
  });
}

/** The newest heartbeats of a monitor, oldest first. Live events keep them true. */
export function beats(id: string, limit: number) {
  return queryOptions({
    queryKey: ["beats", id, limit],
    queryFn: async ({ signal }): Promise<Heartbeat[]> => {
      const params = { path: { monitorid: id }, query: { limit } };
      const answer = await unwrap(GET("/api/v1/monitor/{monitorid}/heartbeats", { params, signal }));
      return answer.heartbeats.reverse();
    },
    staleTime: Infinity,
    gcTime: 60_000,
  });
}

export type Span = components["schemas"]["StatsSpan"];
export type Series = components["schemas"]["Series"];
export type Point = components["schemas"]["Point"];
export type RegionLine = components["schemas"]["RegionLine"];

/** Uptime, outages and load times of the usual spans. */
export function stats(id: string) {
  return queryOptions({
    queryKey: ["stats", id],
    queryFn: ({ signal }) =>
      unwrap(GET("/api/v1/monitor/{monitorid}/stats", { params: { path: { monitorid: id } }, signal })).then((answer) => answer.spans),
    staleTime: 60_000,
    refetchInterval: 60_000,
  });
}

/** From when to when, in ms; or so many seconds until now. */
export type Window = { last: number } | { from: number; to: number };

const POINTS = 300;

/** What a chart draws, split by region or not; a window that ends now moves along. */
export function series(id: string, window: Window, split: boolean) {
  const moving = "last" in window;
  return queryOptions({
    queryKey: ["series", id, window, split],
    queryFn: ({ signal }) => {
      const to = moving ? Date.now() : window.to;
      const from = moving ? to - window.last * 1000 : window.from;
      const span = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), points: POINTS };
      const query = { ...span, ...(split && { by: "region" }) };
      return unwrap(GET("/api/v1/monitor/{monitorid}/series", { params: { path: { monitorid: id }, query }, signal }));
    },
    staleTime: moving ? 30_000 : Infinity,
    refetchInterval: moving ? 60_000 : false,
    gcTime: 120_000,
    // The old drawing stays until the new one is there.
    placeholderData: keepPreviousData,
  });
}

/** How soon to look again, in ms, while somebody is still to be told; there are no events for it. */
const untilTold = (shown: Alert[] | undefined) =>
  shown?.some((alert) => alert.deliveries.some((delivery) => delivery.state === "waiting")) ? 2_000 : false;

/** What the keys of all queries for alerts begin with. */
export const ALERTS = ["alerts"] as const;

/** The newest alerts of the team. */
export function allAlerts(limit: number) {
  return queryOptions({
    queryKey: [...ALERTS, "all", limit],
    queryFn: async ({ signal }): Promise<Alert[]> => (await unwrap(GET("/api/v1/alerts", { params: { query: { limit } }, signal }))).alerts,
    refetchInterval: ({ state }) => untilTold(state.data),
    placeholderData: keepPreviousData,
  });
}

export function alertsOf(id: string) {
  return queryOptions({
    queryKey: [...ALERTS, id],
    queryFn: ({ signal }) => {
      const params = { path: { monitorid: id }, query: { limit: 50 } };
      return unwrap(GET("/api/v1/monitor/{monitorid}/alerts", { params, signal })).then((answer) => answer.alerts);
    },
    refetchInterval: ({ state }) => untilTold(state.data),
  });
}

/** Alerts in the first answer, and in each after it. The newest are enough for most spans. */
const PAGES = [50, 1000, 1000, 1000];

/** A monitor's alerts back to the beginning of a window, newest first; a window that ends now moves along. */
export function alertsIn(id: string, window: Window) {
  return queryOptions({
    queryKey: [...ALERTS, id, window],
    queryFn: async ({ signal }): Promise<Alert[]> => {
      const from = "last" in window ? Date.now() - window.last * 1000 : window.from;
      const found: Alert[] = [];
      let cursor: string | undefined;
      for (const limit of PAGES) {
        const params = { path: { monitorid: id }, query: { limit, ...(cursor !== undefined && { cursor }) } };
        const page = await unwrap(GET("/api/v1/monitor/{monitorid}/alerts", { params, signal }));
        found.push(...page.alerts);
        cursor = page.next_cursor ?? undefined;
        // Outages of one monitor follow each other: what is older than this one was over before.
        if (cursor === undefined || page.alerts.some(({ kind, started }) => kind === "outage" && Date.parse(started) < from)) break;
      }
      return found;
    },
    gcTime: 120_000,
    placeholderData: keepPreviousData,
  });
}

/** Puts a monitor as the service knows it in place of what was shown. */
export function show(client: QueryClient, saved: Monitor): void {
  client.setQueryData(monitor(saved.monitorid).queryKey, saved);
  client.setQueryData(monitors.queryKey, (old) => {
    if (!old) return old;
    const row = rowOf(saved);
    const known = old.some((other) => other.monitorid === saved.monitorid);
    return known ? old.map((other) => (other.monitorid === saved.monitorid ? row : other)) : [...old, row];
  });
}

/** Takes monitors out of what is shown. A view that is open on one asks again, and is told that it is gone. */
export function forget(client: QueryClient, ids: ReadonlySet<string>): void {
  client.setQueryData(monitors.queryKey, (old) => old?.filter((monitor) => !ids.has(monitor.monitorid)));
  for (const id of ids) {
    const { queryKey } = monitor(id);
    client.removeQueries({ queryKey, type: "inactive" });
    void client.invalidateQueries({ queryKey });
  }
}

export async function save(client: QueryClient, body: SaveMonitor): Promise<Monitor> {
  const { monitor: saved } = await unwrap(POST("/api/v1/monitor/save", { body }));
  show(client, saved);
  return saved;
}

export async function remove(client: QueryClient, id: string): Promise<void> {
  await unwrap(DELETE("/api/v1/monitor/{monitorid}/delete", { params: { path: { monitorid: id } } }));
  forget(client, new Set([id]));
}

export async function checkNow(id: string): Promise<Heartbeat> {
  const params = { path: { monitorid: id } };
  return (await unwrap(POST("/api/v1/monitor/{monitorid}/check", { params }))).heartbeat;
}

/** Looks once at what a monitor would watch; nothing is kept. */
export async function tryOut(body: SaveMonitor): Promise<Heartbeat> {
  return (await unwrap(POST("/api/v1/monitor/try", { body }))).heartbeat;
}
