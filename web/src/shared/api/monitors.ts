/** The list of the team's monitors. */
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { painted } from "../lib/painted";
import { GET, POST, unwrap } from "./client";
import type { components } from "./schema";

/** A monitor as shown in the list. */
export type MonitorRow = components["schemas"]["MonitorRow"];

/** How many are loaded first, to fill the screen. */
const FIRST_PAGE = 100;

function rows(query: { limit?: number; cursor?: string; status?: MonitorRow["status"] }, signal?: AbortSignal) {
  return unwrap(GET("/api/v1/monitors/rows", { params: { query }, signal }));
}

export async function rowsWithStatus(status: MonitorRow["status"]): Promise<MonitorRow[]> {
  return (await rows({ status })).monitors;
}

export const monitorsQuery = queryOptions({
  queryKey: ["monitors"],
  queryFn: async ({ signal, client, queryKey }): Promise<MonitorRow[]> => {
    if (client.getQueryData(queryKey) !== undefined) return (await rows({}, signal)).monitors;
    const first = await rows({ limit: FIRST_PAGE }, signal);
    if (!first.next_cursor) return first.monitors;
    client.setQueryData(queryKey, first.monitors);
    await painted();
    const { monitors: rest } = await rows({ cursor: first.next_cursor }, signal);
    // Live events may have changed the first page meanwhile, and added monitors that the rest has too.
    const added = new Set(rest.map(({ monitorid }) => monitorid));
    const shown = client.getQueryData<MonitorRow[]>(queryKey) ?? first.monitors;
    return [...shown.filter(({ monitorid }) => !added.has(monitorid)), ...rest];
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
