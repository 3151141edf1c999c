/** The two calls of an action link. Reading never acts. */
import type { components } from "../shared/api/schema";
import { withoutBidiControls } from "../shared/lib/bidi";
import type { LinkedAlert } from "./state";
import type { ActionTexts } from "./texts";

export type Order = components["schemas"]["ActByLink"];

/** Why a call failed. */
export type Failure = "invalid" | "over" | "name" | "tooMany" | "changed" | "failed" | "offline";

export class LinkError extends Error {
  constructor(readonly failure: Failure) {
    super(failure);
    this.name = "LinkError";
  }
}

export function readAlert(token: string): Promise<LinkedAlert> {
  return call(token, { method: "GET" });
}

export function act(token: string, order: Order): Promise<LinkedAlert> {
  return call(token, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(order) });
}

async function call(token: string, init: RequestInit): Promise<LinkedAlert> {
  const request = { ...init, cache: "no-store", credentials: "omit" } as const;
  const response = await fetch(`/api/action/${encodeURIComponent(token)}`, request).catch(() => {
    throw new LinkError("offline");
  });
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw new LinkError(failureOf(response.status, body));
  return withoutBidiControls(body as LinkedAlert);
}

export function failureOf(status: number, body: unknown): Failure {
  const { code, errors = [] } = (body ?? {}) as { code?: string; errors?: { field: string }[] };
  if (status === 404) return "invalid";
  if (status === 409) return code === "alert_over" ? "over" : "changed";
  if (status === 422 && errors.some(({ field }) => field === "name")) return "name";
  return status === 429 ? "tooMany" : "failed";
}

export function messageOf(failure: Exclude<Failure, "invalid">, t: ActionTexts): string {
  return failure === "name" ? t.nameMissing : t[failure];
}
