/** The team's notifiers, which monitors refer to. */
import { queryOptions, useQuery, type QueryClient } from "@tanstack/react-query";
import { GET, POST, unwrap } from "./client";
import type { Texts } from "../i18n";
import type { components } from "./schema";
import { useMe } from "./session";

export type Notifier = components["schemas"]["Notifier"];

/** With their settings, which contain passwords: the cache drops them soon after the last page that shows them. */
export const notifiersQuery = queryOptions({
  queryKey: ["notifiers"],
  gcTime: 10_000,
  queryFn: ({ signal }) => unwrap(GET("/api/v1/notifiers", { signal })).then((answer) => answer.notifiers),
});

/** The user's personal notifier, if there is one, and whether it makes sense to offer it: without a mail server, emails become files. */
export function useAccountNotifier(): { stored: Notifier | undefined; offered: boolean } {
  const { userid, mail_server } = useMe();
  const { data } = useQuery(notifiersQuery);
  return { stored: data?.find(({ account }) => account?.userid === userid), offered: mail_server };
}

/** Creates the user's personal notifier. The service returns the existing one if there is one by now. */
export async function createAccountNotifier(client: QueryClient, isdefault: boolean): Promise<Notifier> {
  const saved = await unwrap(POST("/api/v1/notifier/save", { body: { type: "account", isdefault } }));
  void client.invalidateQueries({ queryKey: notifiersQuery.queryKey });
  return saved;
}

/** What most pages need of a notifier: without its settings, which contain passwords and URLs. */
export type NotifierSummary = Pick<Notifier, "notifierid" | "name" | "isactive" | "health"> & { receiver: string };

/** How often the health is fetched, in ms. It changes with deliveries, which follow a change of a monitor's status. */
const HEALTH_INTERVAL = 300_000;
const HEALTH_INTERVAL_WHILE_FAILING = 60_000;

/** Fetched again with `notifiersQuery`, and soon after a monitor has changed its status. */
export const notifierSummariesQuery = queryOptions({
  queryKey: [...notifiersQuery.queryKey, "summaries"],
  queryFn: async ({ signal }): Promise<NotifierSummary[]> =>
    (await unwrap(GET("/api/v1/notifiers", { signal }))).notifiers.map((notifier) => {
      const { notifierid, name, isactive, health } = notifier;
      return { notifierid, name, isactive, health, receiver: receiverOf(notifier) };
    }),
  staleTime: HEALTH_INTERVAL_WHILE_FAILING,
  refetchInterval: ({ state }) =>
    state.data?.some(({ health }) => health.state === "failing") ? HEALTH_INTERVAL_WHILE_FAILING : HEALTH_INTERVAL,
});

/** A short description of where a notifier's messages go. */
export function receiverOf({ account, email, webhook }: Pick<Notifier, "account" | "email" | "webhook">): string {
  if (account) return account.email;
  if (email) return email.to_email;
  if (!webhook) return "";
  try {
    // The path often contains a secret.
    return new URL(webhook.url).host;
  } catch {
    return webhook.url;
  }
}

/** How a notifier is shown; the names are texts of the web app. */
export type NotifierKind = keyof Texts["notifiers"]["kinds"];

/** The type, or for a webhook the name of its template; any other template is custom. */
export function kindOfNotifier({ type, webhook }: Pick<Notifier, "type" | "webhook">, kinds: Texts["notifiers"]["kinds"]): NotifierKind {
  if (type !== "webhook" && type in kinds) return type as NotifierKind;
  const template = webhook?.template.toLowerCase() ?? "";
  if (template === "") return "standard";
  return template in kinds ? (template as NotifierKind) : "own";
}
