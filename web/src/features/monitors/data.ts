/** Queries and calls for monitors, heartbeats and alerts. */
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { DELETE, GET, POST, unwrap } from "../../shared/api/client";
import { find, valuesOfSet, type HeartbeatStatus, type MonitorStatus, type MonitorType } from "../../shared/api/closed-sets";
import { monitorsQuery, rowsWithStatus, type MonitorRow } from "../../shared/api/monitors";
import type { components } from "../../shared/api/schema";
import type { FirstTexts } from "../../shared/i18n";

export { monitorsQuery, rowsWithStatus, type MonitorRow };
export type Monitor = components["schemas"]["Monitor"];
export type Heartbeat = components["schemas"]["Heartbeat"];
export type Evidence = components["schemas"]["Evidence"];
/** A heartbeat as shown in the bars. */
export type Shown = Omit<components["schemas"]["Beat"], "standing" | "health"> &
  Pick<Heartbeat, "standing"> &
  Partial<Pick<Heartbeat, "health">>;
export type Alert = components["schemas"]["Alert"];
export type Certificate = components["schemas"]["Certificate"];
export type SaveMonitor = components["schemas"]["SaveMonitor"];

export type Type = MonitorType;
export const types = valuesOfSet<Type>({
  http: true,
  http_keyword: true,
  ping: true,
  tcp: true,
  dns: true,
  tls: true,
  domain: true,
  api: true,
  group: true,
});

/** The name of a type; one that this version does not know yet is shown as it is. */
export function typeName(word: string, t: FirstTexts): string {
  const type = find(types, word);
  return type ? t.monitors.types[type] : word;
}

/** The state shown for a monitor: its status, whether it is degraded, or why there is no current one. */
export type State = MonitorStatus | "degraded" | "blocked" | "paused";
export const states = valuesOfSet<State>({ down: true, degraded: true, blocked: true, pending: true, up: true, paused: true });

/** An outage lasts until a check has passed, even while checks cannot run. Maintenance may pause them; the status stays. */
export function stateOf(
  monitor: Pick<Monitor, "isactive" | "status" | "blocked" | "maintenance"> & Partial<Pick<Monitor, "health">>,
): State {
  if (!monitor.isactive) return "paused";
  if (monitor.blocked && !monitor.maintenance && monitor.status !== "down") return "blocked";
  return monitor.health === "degraded" ? "degraded" : monitor.status;
}

/** The state that a heartbeat is marked with: one that could not be checked says nothing about the target. */
export function stateOfBeat(status: HeartbeatStatus): State {
  return status === "unknown" ? "blocked" : status;
}

/** What a heartbeat is shown as. */
export type BeatKind = HeartbeatStatus | "degraded" | "maintenance" | "unreachable";

/** During maintenance, checks do not count, or are left out; what failed but does not count as down was unreachable. */
export function kindOf({ status, health, standing, message }: Shown): BeatKind {
  if (standing === "maintenance" || (status === "unknown" && message.startsWith("maintenance: "))) return "maintenance";
  if (status === "down" && standing === "unknown") return "unreachable";
  return health === "degraded" ? "degraded" : status;
}

/** The target of a monitor in one line. */
export function targetOf(monitor: Pick<Monitor, "http" | "hostname" | "port" | "dns">): string {
  if (monitor.http) return monitor.http.url;
  if (monitor.dns) return `${monitor.dns.record_type} ${monitor.hostname ?? ""}`;
  if (monitor.hostname) return monitor.port ? `${monitor.hostname}:${monitor.port}` : monitor.hostname;
  return "";
}

/** A URL without the scheme and a trailing slash. */
export function short(target: string): string {
  return target.replace(/^https?:\/\//, "").replace(/\/$/, "");
}

/** Milliseconds; a push monitor has none: nothing is requested, and a duration that its job reports is not a response time. */
export function responseTimeOf({ type, load_time }: Pick<MonitorRow, "type" | "load_time">): number | null {
  return type === "api" ? null : (load_time ?? null);
}

/** Whether it can be checked now: a push monitor waits for reports, and a paused one is left alone. */
export function isCheckable({ type, isactive }: Pick<MonitorRow, "type" | "isactive">): boolean {
  return type !== "api" && isactive;
}

export function rowOf(monitor: Monitor): MonitorRow {
  const { monitorid, type, isactive, name, tags, heartbeat_interval, blocked, upside_down_mode } = monitor;
  const { status, status_since, last_check, last_message, load_time, maintenance } = monitor;
  const { health, degraded_since, degraded_cause, reason } = monitor;
  const shown = { monitorid, type, isactive, name, tags, heartbeat_interval, blocked, ...(upside_down_mode && { upside_down_mode }) };
  return {
    status,
    status_since,
    last_check,
    last_message,
    load_time,
    ...shown,
    health,
    ...(degraded_since && { degraded_since }),
    ...(degraded_cause && { degraded_cause }),
    ...(reason && { reason }),
    ...(maintenance && { maintenance }),
    target: targetOf(monitor),
    notifiers: monitor.notifiers.map(({ notifierid }) => notifierid),
  };
}

export function monitorQuery(id: string) {
  return queryOptions({
    queryKey: ["monitor", id],
    queryFn: ({ signal }) =>
      unwrap(GET("/api/v1/monitor/{monitorid}/get", { params: { path: { monitorid: id } }, signal })).then((answer) => answer.monitor),
  });
}

/** How many heartbeats the page of a monitor shows. */
export const MAX_BARS = 120;

/** The newest heartbeats of a monitor, oldest first. Live events keep them current. */
export function beatsQuery(id: string, limit: number) {
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
export type RegionLine = components["schemas"]["RegionSeries"];

/** A fixed range in ms, or the last seconds until now. */
export type Window = { last: number } | { from: number; to: number };

/** The prefix of the query keys for alerts. */
export const ALERTS = ["alerts"] as const;

/** Replaces a monitor in the cache. */
export function show(client: QueryClient, saved: Monitor): void {
  client.setQueryData(monitorQuery(saved.monitorid).queryKey, saved);
  client.setQueryData(monitorsQuery.queryKey, (old) => {
    if (!old) return old;
    const row = rowOf(saved);
    const known = old.some((other) => other.monitorid === saved.monitorid);
    return known ? old.map((other) => (other.monitorid === saved.monitorid ? row : other)) : [...old, row];
  });
}

/** Removes monitors from the cache. An open detail page refetches its monitor and shows that it is gone. */
export function forget(client: QueryClient, ids: ReadonlySet<string>): void {
  client.setQueryData(monitorsQuery.queryKey, (old) => old?.filter((monitor) => !ids.has(monitor.monitorid)));
  for (const id of ids) {
    const { queryKey } = monitorQuery(id);
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

/** Accepts the new values of pinned assertions. */
export async function acceptValues(client: QueryClient, id: string): Promise<void> {
  await unwrap(POST("/api/v1/monitor/{monitorid}/accept", { params: { path: { monitorid: id } } }));
  await client.invalidateQueries({ queryKey: monitorQuery(id).queryKey });
}

/** Runs a check once; nothing is stored. */
export async function tryOut(body: SaveMonitor): Promise<{ beat: Heartbeat; evidence: Evidence | null }> {
  const { heartbeat, evidence } = await unwrap(POST("/api/v1/monitor/try", { body }));
  return { beat: heartbeat, evidence: evidence ?? null };
}
