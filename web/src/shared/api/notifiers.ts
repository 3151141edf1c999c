/** The team's notifiers, which monitors refer to. */
import { queryOptions, useQuery, type QueryClient } from "@tanstack/react-query";
import { GET, POST, unwrap } from "./client";
import type { Texts } from "../i18n";
import type { ServiceType } from "./closed-sets";
import type { components } from "./schema";
import { useMe } from "./session";

export type Notifier = components["schemas"]["Notifier"];

/** With their settings, which contain passwords: the cache drops them soon after the last page that shows them. */
export const notifiersQuery = queryOptions({
  queryKey: ["notifiers"],
  gcTime: 10_000,
  queryFn: ({ signal }) => unwrap(GET("/api/v1/notifiers", { signal })).then((answer) => answer.notifiers),
});

/** Those of the user alone, which only contact rules use. */
export const personalNotifiersQuery = queryOptions({
  queryKey: [...notifiersQuery.queryKey, "personal"],
  gcTime: notifiersQuery.gcTime,
  queryFn: ({ signal }) =>
    unwrap(GET("/api/v1/notifiers", { params: { query: { personal: true } }, signal })).then((answer) => answer.notifiers),
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

/** What says best where the messages of a service go; the names of its fields. */
const TARGETS = ["channel", "topic", "chat_id", "room_id", "to", "recipients", "key"];
const SERVERS = ["server", "homeserver", "url", "api_url"];

/** The settings of a notifier that sends to a known service. They contain no secrets. */
export function settingsOf(notifier: Notifier): Readonly<Record<string, unknown>> | undefined {
  return notifier[notifier.type as ServiceType];
}

/** A short description of where a notifier's messages go; empty if that is a secret. */
export function receiverOf(notifier: Notifier): string {
  const { account, email, webhook } = notifier;
  if (account) return account.email;
  if (email) return email.to_email;
  if (webhook) return hostOf(webhook.url);
  const settings = settingsOf(notifier);
  const first = (names: readonly string[]) =>
    names.map((name) => settings?.[name]).find((value) => typeof value === "string" && value !== "");
  return (first(TARGETS) as string | undefined) ?? hostOf((first(SERVERS) as string | undefined) ?? "");
}

/** The path of a URL often contains a secret. */
function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

/** How a notifier is shown; the names are texts of the web app. */
export type NotifierKind = keyof Texts["notifiers"]["kinds"];

/** The type, or for a webhook the name of its template; any other template is custom. */
export function kindOfNotifier({ type, webhook }: Pick<Notifier, "type" | "webhook">, kinds: Texts["notifiers"]["kinds"]): NotifierKind {
  if (type !== "webhook" && type in kinds) return type as NotifierKind;
  const template = webhook?.template.toLowerCase() ?? "";
  if (template === "") return "standard";
  if (template === "uptime_kuma") return template;
  return `${template}_webhook` in kinds ? (`${template}_webhook` as NotifierKind) : "own";
}

/** The name of the kind and the receiver, if it is known. */
export function describeNotifier(notifier: Notifier, kinds: Texts["notifiers"]["kinds"]): string {
  const receiver = receiverOf(notifier);
  const kind = kinds[kindOfNotifier(notifier, kinds)];
  return receiver === "" ? kind : `${kind} · ${receiver}`;
}
