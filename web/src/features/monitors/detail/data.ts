/** Queries and calls of the page of a monitor, which the first screen does not need. */
import { keepPreviousData, queryOptions, type QueryClient } from "@tanstack/react-query";
import { GET, POST, unwrap } from "../../../shared/api/client";
import type { components } from "../../../shared/api/schema";
import { monitorQuery, type Certificate, type Monitor, type Window } from "../data";

/** A received ping. */
export type Ping = components["schemas"]["Ping"];

/** The latest pings of a job, newest first. */
export function pingsQuery(id: string) {
  return queryOptions({
    queryKey: ["pings", id],
    queryFn: async ({ signal }) => {
      const { pings } = await unwrap(GET("/api/v1/monitor/{monitorid}/pings", { params: { path: { monitorid: id } }, signal }));
      return pings;
    },
    refetchInterval: 30_000,
  });
}

/** What a job printed. */
export function pingBodyQuery(id: string, n: number) {
  return queryOptions({
    queryKey: ["ping", id, n],
    queryFn: ({ signal }): Promise<string> =>
      unwrap(
        GET("/api/v1/monitor/{monitorid}/pings/{n}/body", { params: { path: { monitorid: id, n: String(n) } }, parseAs: "text", signal }),
      ),
    staleTime: Infinity,
  });
}

/** The current certificate of the target, or null if it has none; refetched when the monitor changes. */
export function certificateQuery({ monitorid, http, tls, status, modified }: Monitor) {
  return queryOptions({
    queryKey: ["certificate", monitorid, status, modified],
    queryFn: async ({ signal }): Promise<Certificate | null> => {
      const params = { path: { monitorid } };
      return (await unwrap(GET("/api/v1/monitor/{monitorid}/get", { params, signal }))).certificate ?? null;
    },
    enabled: !!http || !!tls,
    staleTime: 60_000,
    refetchInterval: 600_000,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
  });
}

/** What the newest check that failed saw, or null; it is written when the status or the health changes. */
export function evidenceQuery({ monitorid, type, status, health }: Monitor) {
  return queryOptions({
    queryKey: ["evidence", monitorid, status, health],
    queryFn: async ({ signal }) => {
      const params = { path: { monitorid }, query: { limit: 1 } };
      const { evidence } = await unwrap(GET("/api/v1/monitor/{monitorid}/evidence", { params, signal }));
      return evidence[0] ?? null;
    },
    // Without a check, there is none.
    enabled: type !== "api" && type !== "group",
    // That of an earlier time with the same status is out of date.
    staleTime: 0,
    refetchInterval: 60_000,
    placeholderData: keepPreviousData,
  });
}

/** Uptime, outages and response times by period. */
export function statsQuery(id: string) {
  return queryOptions({
    queryKey: ["stats", id],
    queryFn: ({ signal }) =>
      unwrap(GET("/api/v1/monitor/{monitorid}/stats", { params: { path: { monitorid: id } }, signal })).then(({ spans, slo }) => ({
        spans,
        slo,
      })),
    staleTime: 60_000,
    refetchInterval: 60_000,
  });
}

const MAX_POINTS = 300;

/** Once for each point, between 15 s and a minute: a chart of the last hour would lag visibly behind. */
const refetchInterval = (seconds: number) => Math.min(60_000, Math.max(15_000, (seconds * 1000) / MAX_POINTS));

/** The data of the chart, optionally by region; a window that ends now moves along. */
export function seriesQuery(id: string, window: Window, split: boolean) {
  const moving = "last" in window;
  return queryOptions({
    queryKey: ["series", id, window, split],
    queryFn: ({ signal }) => {
      const to = moving ? Date.now() : window.to;
      const from = moving ? to - window.last * 1000 : window.from;
      const span = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), points: MAX_POINTS };
      const query = { ...span, ...(split && { by: "region" }) };
      return unwrap(GET("/api/v1/monitor/{monitorid}/series", { params: { path: { monitorid: id }, query }, signal }));
    },
    staleTime: moving ? refetchInterval(window.last) : Infinity,
    refetchInterval: moving ? refetchInterval(window.last) : false,
    gcTime: 120_000,
    // Keeps the previous chart until the new one is loaded.
    placeholderData: keepPreviousData,
  });
}

/** Gives a monitor a new push URL. The old one stops working at once. */
export async function rotatePushUrl(client: QueryClient, id: string): Promise<void> {
  const params = { path: { monitorid: id } };
  const { push_url } = await unwrap(POST("/api/v1/monitor/{monitorid}/push/rotate", { params }));
  client.setQueryData(monitorQuery(id).queryKey, (old) => old && { ...old, push_url });
}
