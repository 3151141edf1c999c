/** The list of the team's monitors. */
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { GET, POST, unwrap } from "./client";
import type { components } from "./schema";

/** A monitor as shown in the list. */
export type MonitorRow = components["schemas"]["MonitorRow"];

/** How many are loaded first, to fill the screen. */
const FIRST_PAGE = 100;

export const monitorsQuery = queryOptions({
  queryKey: ["monitors"],
  queryFn: async ({ signal, client, queryKey }): Promise<MonitorRow[]> => {
    if (client.getQueryData(queryKey) === undefined) {
      const page = await unwrap(GET("/api/v1/monitors/rows", { params: { query: { limit: FIRST_PAGE } }, signal }));
      if (!page.next_cursor) return page.monitors;
      client.setQueryData(queryKey, page.monitors);
    }
    return (await unwrap(GET("/api/v1/monitors/rows", { signal }))).monitors;
  },
  // Live events keep the list current; missed ones trigger a refetch.
  staleTime: 60_000,
  refetchOnWindowFocus: false,
});

export type ChangeMonitors = components["schemas"]["ChangeMonitors"];

/** Changes many monitors in one transaction, without touching what the request does not name. */
export async function change(client: QueryClient, body: ChangeMonitors): Promise<{ changed: number }> {
  const answer = await unwrap(POST("/api/v1/monitors/change", { body }));
  await Promise.all([monitorsQuery.queryKey, ["monitor"]].map((queryKey) => client.invalidateQueries({ queryKey })));
  return answer;
}
