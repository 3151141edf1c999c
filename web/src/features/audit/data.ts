/** The audit log: who changed what, from where and when. */
import { keepPreviousData, queryOptions, type QueryClient } from "@tanstack/react-query";
import { DELETE, GET, POST, unwrap } from "../../shared/api/client";
import { valuesOfSet } from "../../shared/api/closed-sets";
import type { components } from "../../shared/api/schema";
import { withTabTeam } from "../../shared/api/tab-team";
import type { Entry } from "../../shared/ui/audit-entry";

export type Stream = components["schemas"]["ListedStream"];
type Action = components["schemas"]["KnownAuditAction"];

/** What entries can be about: the part of an action before its dot. */
export type Thing = Action extends infer A ? (A extends `${infer T}.${string}` ? T : never) : never;
export const things = valuesOfSet<Thing>({
  monitor: true,
  notifier: true,
  webpush: true,
  alert: true,
  maintenance: true,
  policy: true,
  schedule: true,
  routing: true,
  statuspage: true,
  subscriber: true,
  incident: true,
  incidenttemplate: true,
  member: true,
  service: true,
  key: true,
  login: true,
  session: true,
  reauthentication: true,
  mfa: true,
  password: true,
  team: true,
  plan: true,
  card: true,
  audit: true,
  account: true,
  admin: true,
});

export interface Filter {
  q: string;
  /** Empty for all, as the others. */
  thing: Thing | "";
  /** The ID of a user. */
  actor: string;
  /** The ID of what was changed. */
  object: string;
  /** Days as the browser's field has them: `2026-11-18`. Both are included. */
  from: string;
  to: string;
}

export const everything: Filter = { q: "", thing: "", actor: "", object: "", from: "", to: "" };

/** The filter as parameters of the query, without those that select everything. Days are the reader's. */
export function parametersOf({ q, thing, actor, object, from, to }: Filter) {
  const all = { q: q.trim(), action: thing, actor, object: object.trim(), from: startOf(from, 0), to: startOf(to, 1) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== "")) as Partial<typeof all>;
}

/** The start of the day that is so many days later; empty if there is none. */
function startOf(day: string, later: number): string {
  const [year = NaN, month = NaN, date = NaN] = day.split("-").map(Number);
  const start = new Date(year, month - 1, date + later);
  return Number.isNaN(start.getTime()) ? "" : start.toISOString();
}

export function auditQuery(filter: Filter, limit: number) {
  const parameters = parametersOf(filter);
  return queryOptions({
    queryKey: ["audit", parameters, limit],
    queryFn: async ({ signal }): Promise<Entry[]> => {
      const query = { limit, ...parameters };
      return (await unwrap(GET("/api/v1/audit", { params: { query }, signal }))).entries;
    },
    placeholderData: keepPreviousData,
  });
}

export function verify() {
  return unwrap(GET("/api/v1/audit/verify"));
}

export function exportOf(format: "jsonl" | "csv"): string {
  return withTabTeam(`/api/v1/audit/export?format=${format}`);
}

export const streamsQuery = queryOptions({
  queryKey: ["audit-streams"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/audit/streams", { signal })).then((answer) => answer.streams),
  // The service delivers, and turns a stream off when its receiver is gone, which the page should show.
  refetchInterval: 5_000,
});

type SaveStream = components["schemas"]["SaveStream"];

/** Creates or changes a stream; returns its signing secret, which is empty unless it is new. */
export async function saveStream(client: QueryClient, body: SaveStream): Promise<string> {
  const { secret = "" } = await unwrap(POST("/api/v1/audit/stream/save", { body }));
  await renew(client);
  return secret;
}

/** Returns the response of the receiver. */
export async function testStream(streamid: string): Promise<string> {
  return (await unwrap(POST("/api/v1/audit/stream/test", { body: { streamid } }))).message;
}

export async function removeStream(client: QueryClient, streamid: string): Promise<void> {
  await unwrap(DELETE("/api/v1/audit/stream/{streamid}/delete", { params: { path: { streamid } } }));
  await renew(client);
}

/** A change of a stream is an entry, too. */
async function renew(client: QueryClient): Promise<void> {
  await Promise.all([streamsQuery.queryKey, ["audit"]].map((queryKey) => client.invalidateQueries({ queryKey })));
}
