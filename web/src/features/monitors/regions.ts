/** The regions that checks run from. */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "../../shared/api/client";
import type { components } from "../../shared/api/schema";
import type { Monitor } from "./data";

export type Region = components["schemas"]["Region"];

export const LOCAL = "local";

/** Most servers have no probes, so their regions hardly change. */
const REFETCH_INTERVAL = 30_000;
const REFETCH_INTERVAL_WITHOUT_PROBES = 300_000;

export const regionsQuery = queryOptions({
  queryKey: ["regions"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/regions", { signal })).then((answer) => answer.regions),
  staleTime: REFETCH_INTERVAL,
  refetchInterval: ({ state }) => (state.data?.some(({ region }) => region !== LOCAL) ? REFETCH_INTERVAL : REFETCH_INTERVAL_WITHOUT_PROBES),
});

/** Whether a monitor is checked from other regions than this server. */
export function hasRemoteRegions(monitor: Pick<Monitor, "type" | "regions">): boolean {
  return monitor.type !== "api" && monitor.regions.some((region) => region !== LOCAL);
}

/** Regions that monitors use but that have no probe online. */
export function missing(list: readonly Region[]): Region[] {
  return list.filter(({ problem, monitors }) => typeof problem === "string" && monitors > 0);
}
