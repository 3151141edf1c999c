/** Where checks are made from. */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "../../shared/api/client";
import type { components } from "../../shared/api/schema";
import type { Monitor } from "./data";

export type Region = components["schemas"]["Region"];

export const LOCAL = "local";

/** Most services have no probes, and then there is little to ask again for. */
const OFTEN = 30_000;
const SELDOM = 300_000;

export const regions = queryOptions({
  queryKey: ["regions"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/regions", { signal })).then((answer) => answer.regions),
  staleTime: OFTEN,
  refetchInterval: ({ state }) => (state.data?.some(({ region }) => region !== LOCAL) ? OFTEN : SELDOM),
});

/** Whether others than the service itself look at a monitor. */
export function isElsewhere(monitor: Pick<Monitor, "type" | "regions">): boolean {
  return monitor.type !== "api" && monitor.regions.some((region) => region !== LOCAL);
}

/** The regions that monitors name and nobody serves. */
export function missing(list: readonly Region[]): Region[] {
  return list.filter(({ problem, monitors }) => typeof problem === "string" && monitors > 0);
}
