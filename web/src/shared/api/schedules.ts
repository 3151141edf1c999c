/** The on-call schedules of the team. */
import { keepPreviousData, queryOptions, type QueryClient } from "@tanstack/react-query";
import { DELETE, GET, POST, unwrap } from "./client";
import type { components } from "./schema";

export type Schedule = components["schemas"]["Schedule"];
export type Layer = components["schemas"]["Layer"];
export type Shift = components["schemas"]["Shift"];
export type Override = components["schemas"]["Override"];
export type OnCall = components["schemas"]["OnCall"];
export type SaveSchedule = components["schemas"]["SaveSchedule"];
type SaveOverride = components["schemas"]["SaveOverride"];

/** The prefix of the query keys. */
const SCHEDULES = ["schedules"] as const;
/** How often it is fetched who is on call, in ms; there are no events for it. */
const REFETCH_INTERVAL = 60_000;

export const schedulesQuery = queryOptions({
  queryKey: [...SCHEDULES, "all"],
  queryFn: ({ signal }): Promise<Schedule[]> => unwrap(GET("/api/v1/schedules", { signal })).then((answer) => answer.schedules),
});

/** Who is on call in each schedule, and who is next. */
export const onCallQuery = queryOptions({
  queryKey: [...SCHEDULES, "now"],
  queryFn: ({ signal }): Promise<OnCall[]> => unwrap(GET("/api/v1/oncall", { signal })).then((answer) => answer.oncall),
  refetchInterval: REFETCH_INTERVAL,
});

/** A schedule with its shifts and overrides in a range of instants. */
export function shiftsQuery(scheduleid: string, from: number, to: number) {
  const query = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  return queryOptions({
    queryKey: [...SCHEDULES, scheduleid, query],
    queryFn: ({ signal }) => unwrap(GET("/api/v1/schedule/{scheduleid}/get", { params: { path: { scheduleid }, query }, signal })),
    // Of the same schedule: another one has other layers.
    placeholderData: (old, before) => (before?.queryKey[1] === scheduleid ? keepPreviousData(old) : undefined),
  });
}

function changed(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ queryKey: SCHEDULES });
}

export async function saveSchedule(client: QueryClient, body: SaveSchedule): Promise<Schedule> {
  const { schedule } = await unwrap(POST("/api/v1/schedule/save", { body }));
  await changed(client);
  return schedule;
}

export async function deleteSchedule(client: QueryClient, scheduleid: string): Promise<void> {
  await unwrap(DELETE("/api/v1/schedule/{scheduleid}/delete", { params: { path: { scheduleid } } }));
  // Its shifts are not fetched again.
  client.removeQueries({ queryKey: [...SCHEDULES, scheduleid], type: "inactive" });
  client.setQueryData(schedulesQuery.queryKey, (old) => old?.filter((other) => other.scheduleid !== scheduleid));
  client.setQueryData(onCallQuery.queryKey, (old) => old?.filter((other) => other.scheduleid !== scheduleid));
}

export async function addOverride(client: QueryClient, scheduleid: string, body: SaveOverride): Promise<void> {
  await unwrap(POST("/api/v1/schedule/{scheduleid}/override", { params: { path: { scheduleid } }, body }));
  await changed(client);
}

export async function deleteOverride(client: QueryClient, overrideid: string): Promise<void> {
  await unwrap(DELETE("/api/v1/override/{overrideid}/delete", { params: { path: { overrideid } } }));
  await changed(client);
}

/** Returns the URL of the calendar, which is available only once. */
export async function createFeed(client: QueryClient, scheduleid: string): Promise<string> {
  const { url } = await unwrap(POST("/api/v1/schedule/{scheduleid}/feed", { params: { path: { scheduleid } } }));
  await changed(client);
  return url;
}
