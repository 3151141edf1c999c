/** What can be done with a notifier, and what it has sent. */
import { keepPreviousData, queryOptions, type QueryClient } from "@tanstack/react-query";
import { DELETE, GET, POST, unwrap } from "../../shared/api/client";
import { notifiers, type Notifier } from "../../shared/api/notifiers";
import type { components } from "../../shared/api/schema";

export { notifiers, type Notifier };
export type SaveNotifier = components["schemas"]["SaveNotifier"];
export type Delivery = components["schemas"]["NotifierDelivery"];

/** How often an open view looks for what became of messages, in ms; there are no events for it. */
export const LOOK = 6000;

export function deliveries(id: string, limit: number) {
  return queryOptions({
    queryKey: ["deliveries", id, limit],
    queryFn: async ({ signal }): Promise<Delivery[]> => {
      const params = { path: { notifierid: id }, query: { limit } };
      return (await unwrap(GET("/api/v1/notifier/{notifierid}/deliveries", { params, signal }))).deliveries;
    },
    refetchInterval: ({ state }) => (state.data?.some((delivery) => delivery.state === "waiting") ? LOOK / 3 : LOOK),
    placeholderData: keepPreviousData,
  });
}

/** Puts a notifier as the service knows it in place of what was shown. Secrets are not kept. */
export function show(client: QueryClient, saved: Notifier): void {
  const { webhook } = saved;
  const shown = webhook ? { ...saved, webhook: { url: webhook.url, headers: webhook.headers, template: webhook.template } } : saved;
  client.setQueryData(notifiers.queryKey, (old) => {
    const others = old?.filter((other) => other.notifierid !== saved.notifierid) ?? [];
    return [...others, shown];
  });
  void client.invalidateQueries({ queryKey: notifiers.queryKey });
}

export async function save(client: QueryClient, body: SaveNotifier): Promise<Notifier> {
  const saved = await unwrap(POST("/api/v1/notifier/save", { body }));
  show(client, saved);
  return saved;
}

export async function remove(client: QueryClient, notifierid: string): Promise<void> {
  await unwrap(DELETE("/api/v1/notifier/{notifierid}/delete", { params: { path: { notifierid } } }));
  client.setQueryData(notifiers.queryKey, (old) => old?.filter((other) => other.notifierid !== notifierid));
}

/** What the receiver answered. */
export async function test(notifierid: string): Promise<string> {
  return (await unwrap(POST("/api/v1/notifier/test", { body: { notifierid } }))).message;
}

/** The new signing secret, told this once. */
export async function rotate(notifierid: string): Promise<string> {
  const made = await unwrap(POST("/api/v1/notifier/{notifierid}/rotate", { params: { path: { notifierid } } }));
  return made.webhook?.secret ?? "";
}
