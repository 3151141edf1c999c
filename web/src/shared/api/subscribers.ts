/** The subscribers of a status page, and what they were sent. */
import { keepPreviousData, queryOptions, type QueryClient } from "@tanstack/react-query";
import { DELETE, GET, POST, unwrap } from "./client";
import { withTabTeam } from "./tab-team";

/**
 * These calls are not in the document that the types are generated from yet. Once they are, the types below are its
 * schemas, and `untyped` is removed.
 */
interface UntypedCall {
  params: { path: Record<string, string>; query?: Record<string, string | number | undefined> };
  body?: unknown;
  signal?: AbortSignal;
}

type UntypedMethod = (path: string, call: UntypedCall) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

function untyped<T>(method: unknown, path: string, call: UntypedCall): Promise<T> {
  return unwrap((method as UntypedMethod)(path, call)) as Promise<T>;
}

export type SubscriberKind = "email" | "webhook" | "slack" | "discord" | "teams";
export type SubscriberState = "pending" | "active" | "bouncing" | "unsubscribed";
export type SubscriberTopic = "incidents" | "maintenance";

export interface Subscriber {
  subscriberid: string;
  kind: SubscriberKind;
  /** Empty after unsubscribing. */
  address: string;
  format: "standard" | "statuspage";
  /** Empty for everything. */
  scope: { sections: string[]; components: string[] };
  kinds: SubscriberTopic[];
  language: string;
  state: SubscriberState;
  source: "self" | "team" | "import";
  created: string;
  confirmed?: string | null;
  last_delivery?: string | null;
  failures: number;
  /** Of a new webhook subscriber, once. */
  secret?: string | null;
}

export interface SaveSubscriber {
  subscriberid?: string;
  kind?: SubscriberKind;
  address?: string;
  format?: "standard" | "statuspage";
  scope?: { sections?: string[]; components?: string[] };
  kinds?: SubscriberTopic[];
  language?: string;
  /** Whether the team has consent in writing, so that nothing has to be confirmed. */
  consent?: boolean;
}

/** The active ones by kind, and all by state. */
export type SubscriberCounts = Record<SubscriberKind | SubscriberState, number>;

export interface SubscriberList {
  subscribers: Subscriber[];
  counts: SubscriberCounts;
  next_cursor?: string | null;
}

export interface SubscriberFilter {
  state: SubscriberState | undefined;
  kind: SubscriberKind | undefined;
  q: string;
}

const SUBSCRIBERS = "subscribers";
const path = (pageid: string) => ({ pageid });

export function subscribersQuery(pageid: string, { state, kind, q }: SubscriberFilter, limit: number) {
  const query = { state, kind, q: q.trim() === "" ? undefined : q.trim(), limit };
  return queryOptions({
    queryKey: [SUBSCRIBERS, pageid, query],
    queryFn: ({ signal }) =>
      untyped<SubscriberList>(GET, "/api/v1/statuspage/{pageid}/subscribers", { params: { path: path(pageid), query }, signal }),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });
}

/** For the number of active subscribers by kind. */
export function recipientsQuery(pageid: string) {
  return queryOptions({
    ...subscribersQuery(pageid, { state: "active", kind: undefined, q: "" }, 1),
    staleTime: 60_000,
    retry: false,
  });
}

/** All of them as a file. */
export function subscribersFile(pageid: string): string {
  return withTabTeam(`/api/v1/statuspage/${encodeURIComponent(pageid)}/subscribers?format=csv`);
}

async function changed(client: QueryClient, pageid: string): Promise<void> {
  await Promise.all([
    client.invalidateQueries({ queryKey: [SUBSCRIBERS, pageid] }),
    // The list of pages has their number.
    client.invalidateQueries({ queryKey: ["statuspage", "all"] }),
  ]);
}

export async function saveSubscriber(client: QueryClient, pageid: string, body: SaveSubscriber): Promise<Subscriber> {
  const call = { params: { path: path(pageid) }, body };
  const { subscriber } = await untyped<{ subscriber: Subscriber }>(POST, "/api/v1/statuspage/{pageid}/subscriber/save", call);
  await changed(client, pageid);
  return subscriber;
}

export interface Imported {
  added: number;
  known: number;
  /** Unsubscribed before: they must subscribe again themselves. */
  refused: number;
}

export async function importSubscribers(client: QueryClient, pageid: string, subscribers: SaveSubscriber[]): Promise<Imported> {
  const call = { params: { path: path(pageid) }, body: { subscribers, consent: true } };
  const imported = await untyped<Imported>(POST, "/api/v1/statuspage/{pageid}/subscribers/import", call);
  await changed(client, pageid);
  return imported;
}

export async function deleteSubscriber(client: QueryClient, pageid: string, subscriberid: string): Promise<void> {
  const call = { params: { path: { pageid, subscriberid } } };
  await untyped(DELETE, "/api/v1/statuspage/{pageid}/subscriber/{subscriberid}/delete", call);
  await changed(client, pageid);
}

/** Sends a sample to the caller's own address. */
export async function testSubscription(pageid: string): Promise<void> {
  await untyped(POST, "/api/v1/statuspage/{pageid}/subscriber/test", { params: { path: path(pageid) }, body: {} });
}

export interface UpdateDeliveries {
  updateid: string;
  waiting: number;
  delivered: number;
  failed: number;
  failures: { subscriberid: string; kind: SubscriberKind; last_answer: string; at: string }[];
}

export function incidentDeliveriesQuery(incidentid: string) {
  return queryOptions({
    queryKey: ["incident-deliveries", incidentid],
    queryFn: ({ signal }) =>
      untyped<{ updates: UpdateDeliveries[] }>(GET, "/api/v1/incident/{incidentid}/deliveries", {
        params: { path: { incidentid } },
        signal,
      }).then((answer) => answer.updates),
    // The deliveries of an update take a while; what is over does not change.
    refetchInterval: ({ state }) => (state.data?.some(({ waiting }) => waiting > 0) ? 5000 : false),
    retry: false,
  });
}

/** Sends the failed deliveries of an update again. */
export async function resendUpdate(client: QueryClient, incidentid: string, updateid: string): Promise<void> {
  const call = { params: { path: { incidentid, updateid } }, body: {} };
  await untyped(POST, "/api/v1/incident/{incidentid}/update/{updateid}/resend", call);
  await client.invalidateQueries({ queryKey: incidentDeliveriesQuery(incidentid).queryKey });
}

export interface DomainCheck {
  verified: boolean;
  /** What the name server returned. */
  found: string[];
  expected: { name: string; type: string; value: string };
  message: string;
}

export async function checkDomain(client: QueryClient, pageid: string, domain: string): Promise<DomainCheck> {
  const call = { params: { path: path(pageid) }, body: { domain } };
  const found = await untyped<DomainCheck>(POST, "/api/v1/statuspage/{pageid}/domain/check", call);
  await client.invalidateQueries({ queryKey: ["statuspage", pageid] });
  return found;
}
