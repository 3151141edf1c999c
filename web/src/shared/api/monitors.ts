/** The team's monitors as one list: shown on the dashboard, counted elsewhere. */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "./client";
import type { components } from "./schema";

/** A monitor as a list shows it. */
export type MonitorRow = components["schemas"]["MonitorRow"];

/** So many stand on the screen while the rest is on its way. */
const FIRST = 100;

export const monitors = queryOptions({
  queryKey: ["monitors"],
  queryFn: async ({ signal, client, queryKey }): Promise<MonitorRow[]> => {
    if (client.getQueryData(queryKey) === undefined) {
      const page = await unwrap(GET("/api/v1/monitors/rows", { params: { query: { limit: FIRST } }, signal }));
      if (!page.next_cursor) return page.monitors;
      client.setQueryData(queryKey, page.monitors);
    }
    return (await unwrap(GET("/api/v1/monitors/rows", { signal }))).monitors;
  },
  // Live events keep the list current; missed ones trigger a refetch.
  staleTime: 60_000,
  refetchOnWindowFocus: false,
});
