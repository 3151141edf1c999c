/**
 * What a row of the list shows of the past. Rows ask one by one, as they come
 * to rest on the screen; what is asked within a moment goes out as one request.
 */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "../../shared/api/client";
import type { components } from "../../shared/api/schema";
import { batcher } from "./batch";

export type Summary = components["schemas"]["Summary"];

/** How many heartbeats a row shows. */
export const BEATS = 30;
/** The service answers at most so many at once. */
const MOST = 200;

const ask = batcher<Summary>(MOST, async (ids) => {
  const { summaries } = await unwrap(GET("/api/v1/monitors/summary", { params: { query: { ids: ids.join(","), beats: BEATS } } }));
  return new Map(summaries.map((summary) => [summary.monitorid, summary]));
});

/** Live events keep its heartbeats true; its figures are read again from time to time. Null: it is gone. */
export function summary(id: string) {
  return queryOptions({
    queryKey: ["summary", id],
    queryFn: () => ask(id),
    staleTime: 300_000,
    refetchInterval: 300_000,
    gcTime: 60_000,
  });
}
