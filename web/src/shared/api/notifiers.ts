/** The team's notifiers: made in their own view, chosen in the monitors' forms. */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "./client";
import type { components } from "./schema";

export type Notifier = components["schemas"]["Notifier"];

export const notifiers = queryOptions({
  queryKey: ["notifiers"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/notifiers", { signal })).then((answer) => answer.notifiers),
});

/** Where a notifier's messages go, in few words. */
export function receiverOf({ email, webhook }: Pick<Notifier, "email" | "webhook">): string {
  if (email) return email.to_email;
  if (!webhook) return "";
  try {
    // What follows the host is often a secret.
    return new URL(webhook.url).host;
  } catch {
    return webhook.url;
  }
}
