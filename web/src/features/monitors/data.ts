/** Monitors, their heartbeats and alerts as the service answers them. */
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { DELETE, GET, POST, take } from "../../shared/api/client";
import { monitors, type Monitor } from "../../shared/api/monitors";
import type { components } from "../../shared/api/schema";

export { monitors, type Monitor };

export type Heartbeat = components["schemas"]["Heartbeat"];
export type Alert = components["schemas"]["Alert"];
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

/** What a monitor looks at, in few words. */
export function targetOf(monitor: Pick<Monitor, "http" | "hostname" | "port" | "dns">): string {
  if (monitor.http) return monitor.http.url.replace(/^https?:\/\//, "").replace(/\/$/, "");
  if (monitor.dns) return `${monitor.dns.record_type} ${monitor.hostname ?? ""}`;
  if (monitor.hostname) return monitor.port ? `${monitor.hostname}:${monitor.port}` : monitor.hostname;
  return "";
}

export function monitor(id: string) {
  return queryOptions({
    queryKey: ["monitor", id],
    queryFn: ({ signal }) =>
      take(GET("/api/v1/monitor/{monitorid}/get", { params: { path: { monitorid: id } }, signal })).then(
        (answer) => answer.monitor,
      ),
  });
}

/** How many heartbeats a row of the list shows. */
export const BEATS = 30;

/** The newest heartbeats of a monitor, oldest first. Live events keep them true. */
export function beats(id: string, limit: number) {
  return queryOptions({
    queryKey: ["beats", id, limit],
    queryFn: async ({ signal }): Promise<Heartbeat[]> => {
      const params = { path: { monitorid: id }, query: { limit } };
      const answer = await take(GET("/api/v1/monitor/{monitorid}/heartbeats", { params, signal }));
      return answer.heartbeats.reverse();
    },
    staleTime: Infinity,
    gcTime: 60_000,
  });
}

const PAGE = 1000;
const MOST_PAGES = 5;

/** Every heartbeat of a span, oldest first; of a very busy one the newest five thousand. */
export function history(id: string, hours: number) {
  return queryOptions({
    queryKey: ["history", id, hours],
    queryFn: async ({ signal }): Promise<Heartbeat[]> => {
      const from = new Date(Date.now() - hours * 3_600_000).toISOString();
      const found: Heartbeat[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MOST_PAGES; page++) {
        const params = { path: { monitorid: id }, query: { from, limit: PAGE, ...(cursor && { cursor }) } };
        const answer = await take(GET("/api/v1/monitor/{monitorid}/heartbeats", { params, signal }));
        found.push(...answer.heartbeats);
        cursor = answer.next_cursor ?? undefined;
        if (!cursor) break;
      }
      return found.reverse();
    },
    staleTime: 30_000,
  });
}

export const alerts = queryOptions({
  queryKey: ["alerts"],
  queryFn: ({ signal }) =>
    take(GET("/api/v1/alerts", { params: { query: { limit: 200 } }, signal })).then((answer) => answer.alerts),
});

export function alertsOf(id: string) {
  return queryOptions({
    queryKey: ["alerts", id],
    queryFn: ({ signal }) => {
      const params = { path: { monitorid: id }, query: { limit: 50 } };
      return take(GET("/api/v1/monitor/{monitorid}/alerts", { params, signal })).then((answer) => answer.alerts);
    },
  });
}

/** Puts a monitor as the service knows it in place of what was shown. */
export function show(client: QueryClient, saved: Monitor): void {
  client.setQueryData(monitor(saved.monitorid).queryKey, saved);
  client.setQueryData(monitors.queryKey, (old) => {
    if (!old) return old;
    const known = old.some((other) => other.monitorid === saved.monitorid);
    return known ? old.map((other) => (other.monitorid === saved.monitorid ? saved : other)) : [...old, saved];
  });
}

export function forget(client: QueryClient, ids: ReadonlySet<string>): void {
  client.setQueryData(monitors.queryKey, (old) => old?.filter((monitor) => !ids.has(monitor.monitorid)));
  for (const id of ids) client.removeQueries({ queryKey: monitor(id).queryKey });
}

export async function save(client: QueryClient, body: SaveMonitor): Promise<Monitor> {
  const { monitor: saved } = await take(POST("/api/v1/monitor/save", { body }));
  show(client, saved);
  return saved;
}

export async function remove(client: QueryClient, id: string): Promise<void> {
  await take(DELETE("/api/v1/monitor/{monitorid}/delete", { params: { path: { monitorid: id } } }));
  forget(client, new Set([id]));
}

export async function checkNow(id: string): Promise<Heartbeat> {
  const params = { path: { monitorid: id } };
  return (await take(POST("/api/v1/monitor/{monitorid}/check", { params }))).heartbeat;
}

/** Looks once at what a monitor would watch; nothing is kept. */
export async function tryOut(body: SaveMonitor): Promise<Heartbeat> {
  return (await take(POST("/api/v1/monitor/try", { body }))).heartbeat;
}
