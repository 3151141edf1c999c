/**
 * The public API, typed by its OpenAPI document. The session is a cookie that
 * scripts cannot read; the header says that a call is the page's own, which
 * the service asks of everything that changes something.
 */
import createClient from "openapi-fetch";
import { Offline, parseError } from "./error";
import type { paths } from "./schema";

const client = createClient<paths>({
  headers: { "X-Wakeful-Page": "1" },
  credentials: "same-origin",
});

export const { GET, POST, DELETE } = client;

let refused = () => {};

/** Has it told each time the service does not know who asks. */
export function onUnauthenticated(tell: () => void): void {
  refused = tell;
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** What an accepted call answers; throws `ApiError` or `Offline` otherwise. */
export async function unwrap<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await call;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw new Offline();
  }
  if (answer.response.ok && answer.data !== undefined) return answer.data;
  const error = parseError(answer.response.status, answer.error);
  if (error.signedOut) refused();
  throw error;
}
