/** Deliveries of messages, which alerts and notifiers show. */
import type { QueryClient } from "@tanstack/react-query";
import { POST, unwrap } from "./client";

/** The state shown for a delivery. A failed attempt that will be repeated is `retrying`. */
export type DeliveryState = "delivered" | "failed" | "waiting" | "retrying";

export function deliveryStateOf({ state, attempts }: { state: string; attempts: number }): DeliveryState {
  if (state === "delivered" || state === "failed") return state;
  return attempts > 0 ? "retrying" : "waiting";
}

/** Sends a message again; one that is waiting for its next attempt is sent at once. */
export async function resend(client: QueryClient, deliveryid: string): Promise<void> {
  await unwrap(POST("/api/v1/delivery/{deliveryid}/resend", { params: { path: { deliveryid } } }));
  await Promise.all([["deliveries"], ["alerts"]].map((queryKey) => client.invalidateQueries({ queryKey })));
}
