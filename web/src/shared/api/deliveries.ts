/** Deliveries of messages, which alerts and notifiers show. */
import type { QueryClient } from "@tanstack/react-query";
import { POST, unwrap } from "./client";
import type { DeliveryState } from "./closed-sets";
import type { components } from "./schema";

export type Recipients = components["schemas"]["Recipients"];

/** The state shown for a delivery. A failed attempt that will be repeated is `retrying`. */
export type ShownDeliveryState = DeliveryState | "retrying";

export function deliveryStateOf({ state, attempts }: { state: DeliveryState; attempts: number }): ShownDeliveryState {
  return state === "waiting" && attempts > 0 ? "retrying" : state;
}

/** Whether a mail was delivered, but not to all of its recipients. */
export function isPartly({ state, recipients }: { state: DeliveryState; recipients?: Recipients }): boolean {
  return state === "delivered" && (recipients?.refused.length ?? 0) > 0;
}

/** Sends a message again; one that is waiting for its next attempt is sent at once. */
export async function resend(client: QueryClient, deliveryid: string): Promise<void> {
  await unwrap(POST("/api/v1/delivery/{deliveryid}/resend", { params: { path: { deliveryid } } }));
  await Promise.all([["deliveries"], ["alerts"]].map((queryKey) => client.invalidateQueries({ queryKey })));
}
