/**
 * Recent checks and uptime of a row in the list. Rows request them one by one
 * once they are visible; simultaneous requests are sent as one batch.
 */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "../../shared/api/client";
import type { components } from "../../shared/api/schema";
import { batcher } from "./batch";
import type { Shown } from "./data";

/** Beats of live events do not say yet what they count as. */
export type Summary = Omit<components["schemas"]["Summary"], "beats"> & { beats: Shown[] };

/** How many heartbeats a row shows. */
export const BEATS = 30;
/** The maximum number of IDs per request. */
const MAX_IDS = 200;

const ask = batcher<Summary>(MAX_IDS, async (ids) => {
  const { summaries } = await unwrap(GET("/api/v1/monitors/summary", { params: { query: { ids: ids.join(","), beats: BEATS } } }));
  return new Map(summaries.map((summary) => [summary.monitorid, summary]));
});

/** Live events keep the heartbeats current; uptime is refetched periodically. Null if the monitor is gone. */
export function summaryQuery(id: string) {
  return queryOptions({
    queryKey: ["summary", id],
    queryFn: () => ask(id),
    staleTime: 300_000,
    refetchInterval: 300_000,
    gcTime: 60_000,
  });
}
