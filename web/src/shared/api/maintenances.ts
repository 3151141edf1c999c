/** The maintenance windows of the team. */
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { DELETE, GET, POST, unwrap } from "./client";
import type { components } from "./schema";

export type Maintenance = components["schemas"]["Maintenance"];
export type Occurrence = components["schemas"]["MaintenanceOccurrence"];
export type SaveMaintenance = components["schemas"]["SaveMaintenance"];
export type Cover = components["schemas"]["MaintenanceCover"];

/** The prefix of the query keys for maintenance windows; live events invalidate it. */
export const MAINTENANCE = ["maintenance"] as const;

export const maintenancesQuery = queryOptions({
  queryKey: [...MAINTENANCE, "all"],
  queryFn: ({ signal }): Promise<Maintenance[]> => unwrap(GET("/api/v1/maintenances", { signal })).then((answer) => answer.maintenances),
  staleTime: 60_000,
});

/** A window with its next ten occurrences. */
export function maintenanceQuery(maintenanceid: string) {
  return queryOptions({
    queryKey: [...MAINTENANCE, maintenanceid],
    queryFn: ({ signal }) => unwrap(GET("/api/v1/maintenance/{maintenanceid}/get", { params: { path: { maintenanceid } }, signal })),
  });
}

/** Fetches what depends on maintenance again: the windows, but not one that was deleted, and what monitors show of them. */
function changed(client: QueryClient, deleted?: string): Promise<unknown> {
  const keys: unknown[] = [...MAINTENANCE, "monitors", "monitor", "alerts"];
  return client.invalidateQueries({
    predicate: ({ queryKey: [key, id] }) => keys.includes(key) && (deleted === undefined || id !== deleted),
  });
}

export async function saveMaintenance(client: QueryClient, body: SaveMaintenance): Promise<Maintenance> {
  const { maintenance } = await unwrap(POST("/api/v1/maintenance/save", { body }));
  await changed(client);
  return maintenance;
}

export async function endMaintenance(client: QueryClient, maintenanceid: string): Promise<void> {
  await unwrap(POST("/api/v1/maintenance/{maintenanceid}/end", { params: { path: { maintenanceid } } }));
  await changed(client);
}

export async function extendMaintenance(client: QueryClient, maintenanceid: string, until: string): Promise<void> {
  await unwrap(POST("/api/v1/maintenance/{maintenanceid}/extend", { params: { path: { maintenanceid } }, body: { until } }));
  await changed(client);
}

export async function deleteMaintenance(client: QueryClient, maintenanceid: string): Promise<void> {
  await unwrap(DELETE("/api/v1/maintenance/{maintenanceid}/delete", { params: { path: { maintenanceid } } }));
  client.setQueryData(maintenancesQuery.queryKey, (old) => old?.filter((other) => other.maintenanceid !== maintenanceid));
  await changed(client, maintenanceid);
}
