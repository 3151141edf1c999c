/** The team's notifiers, which monitors refer to. */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "./client";
import type { Texts } from "../i18n";
import type { components } from "./schema";

export type Notifier = components["schemas"]["Notifier"];

export const notifiers = queryOptions({
  queryKey: ["notifiers"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/notifiers", { signal })).then((answer) => answer.notifiers),
});

/** A short description of where a notifier's messages go. */
export function receiverOf({ email, webhook }: Pick<Notifier, "email" | "webhook">): string {
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
