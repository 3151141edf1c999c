/** The subscribers of a status page, and what they were sent. */
import { keepPreviousData, queryOptions, type QueryClient } from "@tanstack/react-query";
import { DELETE, GET, POST, unwrap } from "./client";
import type { SubscriberKind, SubscriberState } from "./closed-sets";
import type { components } from "./schema";
import { withTabTeam } from "./tab-team";

type Schemas = components["schemas"];
export type Subscriber = Schemas["Subscriber"];
export type SaveSubscriber = Schemas["SaveSubscriber"];
/** The active ones by kind, and all by state. */
export type SubscriberCounts = Schemas["SubscriberCounts"];
export type UpdateDeliveries = Schemas["UpdateDeliveries"];
export type DomainCheck = Schemas["StatuspageDomainAnswer"];

export interface SubscriberFilter {
  state: SubscriberState | undefined;
  kind: SubscriberKind | undefined;
  q: string;
}

const SUBSCRIBERS = "subscribers";

export function subscribersQuery(pageid: string, { state, kind, q }: SubscriberFilter, limit: number) {
  const query = { state, kind, q: q.trim() === "" ? undefined : q.trim(), limit };
  return queryOptions({
    queryKey: [SUBSCRIBERS, pageid, query],
    queryFn: async ({ signal }) => {
      const found = await unwrap(GET("/api/v1/statuspage/{pageid}/subscribers", { params: { path: { pageid }, query }, signal }));
      // A text only with `format=csv`.
      return found as Schemas["SubscriberList"];
    },
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
  const call = { params: { path: { pageid } }, body };
  const { subscriber } = await unwrap(POST("/api/v1/statuspage/{pageid}/subscriber/save", call));
  await changed(client, pageid);
  return subscriber;
}

export async function importSubscribers(
  client: QueryClient,
  pageid: string,
  subscribers: SaveSubscriber[],
): Promise<Schemas["ImportAnswer"]> {
  const call = { params: { path: { pageid } }, body: { subscribers, consent: true } };
  const imported = await unwrap(POST("/api/v1/statuspage/{pageid}/subscribers/import", call));
  await changed(client, pageid);
  return imported;
}

export async function deleteSubscriber(client: QueryClient, pageid: string, subscriberid: string): Promise<void> {
  const call = { params: { path: { pageid, subscriberid } } };
  await unwrap(DELETE("/api/v1/statuspage/{pageid}/subscriber/{subscriberid}/delete", call));
  await changed(client, pageid);
}

/** Sends a sample to the caller's own address. */
export async function testSubscription(pageid: string): Promise<void> {
  await unwrap(POST("/api/v1/statuspage/{pageid}/subscriber/test", { params: { path: { pageid } } }));
}

export function incidentDeliveriesQuery(incidentid: string) {
  return queryOptions({
    queryKey: ["incident-deliveries", incidentid],
    queryFn: ({ signal }) =>
      unwrap(GET("/api/v1/incident/{incidentid}/deliveries", { params: { path: { incidentid } }, signal })).then(({ updates }) => updates),
    // The deliveries of an update take a while; what is over does not change.
    refetchInterval: ({ state }) => (state.data?.some(({ waiting }) => waiting > 0) ? 5000 : false),
    retry: false,
  });
}

/** Sends the failed deliveries of an update again. */
export async function resendUpdate(client: QueryClient, incidentid: string, updateid: string): Promise<void> {
  await unwrap(POST("/api/v1/incident/{incidentid}/update/{updateid}/resend", { params: { path: { incidentid, updateid } } }));
  await client.invalidateQueries({ queryKey: incidentDeliveriesQuery(incidentid).queryKey });
}

export async function checkDomain(client: QueryClient, pageid: string, domain: string): Promise<DomainCheck> {
  const call = { params: { path: { pageid } }, body: { domain } };
  const found = await unwrap(POST("/api/v1/statuspage/{pageid}/domain/check", call));
  await client.invalidateQueries({ queryKey: ["statuspage", pageid] });
  return found;
}
