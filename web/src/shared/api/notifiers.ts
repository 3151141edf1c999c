/** The team's notifiers, which monitors refer to. */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "./client";
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
