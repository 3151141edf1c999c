/** Changes many monitors with few requests. Each request is one transaction of the service. */
import type { QueryClient } from "@tanstack/react-query";
import { POST, unwrap } from "../../../shared/api/client";
import type { components } from "../../../shared/api/schema";
import { forget, monitorsQuery } from "../data";

export type Change = Omit<components["schemas"]["ChangeMonitors"], "ids" | "filter" | "dry_run">;

/** The maximum number of IDs per request. */
const MAX_IDS = 1000;

export function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
}

/** How many of the monitors a change would affect; nothing is changed. */
export async function previewChange(ids: readonly string[], change: Change, signal: AbortSignal): Promise<number> {
  const counts = chunks(ids, MAX_IDS).map(async (some) => {
    const body = { ...change, ids: some, dry_run: true };
    return (await unwrap(POST("/api/v1/monitors/change", { body, signal }))).changed;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** Changes the monitors; `done` is called with those of each completed request. Returns how many differ now. */
export async function changeMonitors(
  client: QueryClient,
  ids: readonly string[],
  change: Change,
  done: (ids: readonly string[]) => void,
): Promise<number> {
  let changed = 0;
  try {
    for (const some of chunks(ids, MAX_IDS)) {
      changed += (await unwrap(POST("/api/v1/monitors/change", { body: { ...change, ids: some } }))).changed;
      if (change.isactive !== undefined) showActive(client, new Set(some), change.isactive === true);
      done(some);
    }
  } finally {
    for (const queryKey of [monitorsQuery.queryKey, ["monitor"]]) void client.invalidateQueries({ queryKey });
  }
  return changed;
}

/** Shows monitors as paused or resumed while the list is fetched again. */
function showActive(client: QueryClient, ids: ReadonlySet<string>, isactive: boolean) {
  client.setQueryData(monitorsQuery.queryKey, (old) => old?.map((row) => (ids.has(row.monitorid) ? { ...row, isactive } : row)));
}

/** Deletes the monitors; `done` is called with those of each completed request. */
export async function deleteMonitors(client: QueryClient, ids: readonly string[], done: (ids: readonly string[]) => void): Promise<void> {
  for (const some of chunks(ids, MAX_IDS)) {
    await unwrap(POST("/api/v1/monitors/delete", { body: { ids: some } }));
    forget(client, new Set(some));
    done(some);
  }
}
