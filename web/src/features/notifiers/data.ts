/** Calls and queries for notifiers and their deliveries. */
import { keepPreviousData, queryOptions, type QueryClient } from "@tanstack/react-query";
import { DELETE, GET, POST, unwrap } from "../../shared/api/client";
import { notifiersQuery, type Notifier } from "../../shared/api/notifiers";
import type { components } from "../../shared/api/schema";
import type { Texts } from "../../shared/i18n";
import type { Answer } from "./test-answer";

export { notifiersQuery, type Notifier };
export type SaveNotifier = components["schemas"]["SaveNotifier"];
export type ServiceField = components["schemas"]["NotifierField"];
export type Delivery = components["schemas"]["NotifierDelivery"];

/** The services that notifiers can send to, with their settings. They are the same until the next version. */
export const kindsQuery = queryOptions({
  queryKey: ["notifier-kinds"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/notifier/kinds", { signal })).then((answer) => answer.kinds),
  staleTime: Infinity,
});

/** How often deliveries are fetched, in ms; there are no events for them. */
export const REFETCH_INTERVAL = 6000;

export function deliveriesQuery(id: string, limit: number) {
  return queryOptions({
    queryKey: ["deliveries", id, limit],
    queryFn: async ({ signal }): Promise<Delivery[]> => {
      const params = { path: { notifierid: id }, query: { limit } };
      return (await unwrap(GET("/api/v1/notifier/{notifierid}/deliveries", { params, signal }))).deliveries;
    },
    refetchInterval: ({ state }) =>
      state.data?.some((delivery) => delivery.state === "waiting") ? REFETCH_INTERVAL / 3 : REFETCH_INTERVAL,
    placeholderData: keepPreviousData,
  });
}

/** Replaces a notifier in the cache, without its secrets. */
export function show(client: QueryClient, saved: Notifier): void {
  const { webhook } = saved;
  const shown = webhook ? { ...saved, webhook: { url: webhook.url, headers: webhook.headers, template: webhook.template } } : saved;
  client.setQueryData(notifiersQuery.queryKey, (old) => {
    const others = old?.filter((other) => other.notifierid !== saved.notifierid) ?? [];
    return [...others, shown];
  });
  void client.invalidateQueries({ queryKey: notifiersQuery.queryKey });
}

export async function save(client: QueryClient, body: SaveNotifier): Promise<Notifier> {
  const saved = await unwrap(POST("/api/v1/notifier/save", { body }));
  show(client, saved);
  return saved;
}

export async function remove(client: QueryClient, notifierid: string): Promise<void> {
  await unwrap(DELETE("/api/v1/notifier/{notifierid}/delete", { params: { path: { notifierid } } }));
  client.setQueryData(notifiersQuery.queryKey, (old) => old?.filter((other) => other.notifierid !== notifierid));
}

/** Sends a test with a saved notifier, or with settings that are not saved. */
export async function test(body: SaveNotifier): Promise<Answer> {
  const { message, recipients } = await unwrap(POST("/api/v1/notifier/test", { body }));
  return { text: message, failed: false, ...(recipients && { recipients }) };
}

/** Returns the new signing secret, which is available only once. */
export async function rotate(notifierid: string): Promise<string> {
  const made = await unwrap(POST("/api/v1/notifier/{notifierid}/rotate", { params: { path: { notifierid } } }));
  return made.webhook?.secret ?? "";
}

/** Why a notifier is off. The reason that a receiver gave is shown as it is. */
export function offReason({ disabled_reason: reason }: Notifier, t: Texts): string {
  return reason === "turned off by its team" ? t.notifiers.offByTeam : reason;
}
