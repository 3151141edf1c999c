/** Messages on their way to notifiers, which show on alerts and on the notifiers themselves. */
import type { QueryClient } from "@tanstack/react-query";
import { POST, unwrap } from "./client";

/** What is known of a message, in a word. One that failed before and will be tried again is neither on its way nor failed. */
export type DeliveryState = "delivered" | "failed" | "waiting" | "retrying";

export function deliveryStateOf({ state, attempts }: { state: string; attempts: number }): DeliveryState {
  if (state === "delivered" || state === "failed") return state;
  return attempts > 0 ? "retrying" : "waiting";
}

/** Sends a message again, or for a retry at once. */
export async function resend(client: QueryClient, deliveryid: string): Promise<void> {
  await unwrap(POST("/api/v1/delivery/{deliveryid}/resend", { params: { path: { deliveryid } } }));
  await Promise.all([["deliveries"], ["alerts"]].map((queryKey) => client.invalidateQueries({ queryKey })));
}
