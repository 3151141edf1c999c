/**
 * The public API, typed by its OpenAPI document. The session is a cookie that
 * scripts cannot read; the header marks a call as the web app's own, which the
 * service requires of every call that changes something.
 */
import createClient from "openapi-fetch";
import { withoutBidiControls } from "../lib/bidi";
import { Offline, parseError } from "./error";
import type { paths } from "./schema";

const client = createClient<paths>({
  headers: { "X-Wakeful-Page": "1" },
  credentials: "same-origin",
});

export const { GET, POST, DELETE } = client;

let unauthenticated = () => {};

/** Registers a callback for responses that say that there is no session. */
export function onUnauthenticated(callback: () => void): void {
  unauthenticated = callback;
}

export function reportUnauthenticated(): void {
  unauthenticated();
}

let forbidden = () => {};

/** Registers a callback for calls that the user's role does not allow. They are not offered, so the role has changed. */
export function onForbidden(callback: () => void): void {
  forbidden = callback;
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns the body of a successful response; throws `ApiError` or `Offline` otherwise. */
export async function unwrap<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await call;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw new Offline();
  }
  if (answer.response.ok && answer.data !== undefined) return withoutBidiControls(answer.data);
  const error = parseError(answer.response.status, withoutBidiControls(answer.error));
  if (error.signedOut) reportUnauthenticated();
  if (error.has("forbidden")) forbidden();
  throw error;
}
