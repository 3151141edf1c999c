/**
 * The public API, typed by its OpenAPI document. The session is a cookie that
 * scripts cannot read; the header marks a call as the web app's own, which the
 * service requires of every call that changes something.
 */
import type { Client } from "openapi-fetch";
import { withoutBidiControls } from "../lib/bidi";
import type { ErrorCode } from "./closed-sets";
import { Offline, parseError } from "./error";
import type { components, paths } from "./schema";
import { tabTeam } from "./tab-team";

interface Call {
  params?: { path?: Record<string, string>; query?: Record<string, string | number | boolean | undefined> };
  body?: unknown;
  signal?: AbortSignal;
  parseAs?: "json" | "text";
}

/** Calls with a method. The types are those of openapi-fetch; of its options, these are the ones in use. */
function caller(method: "GET" | "POST" | "DELETE") {
  return async (path: string, { params, body, signal, parseAs = "json" }: Call = {}): Promise<Answer<unknown>> => {
    const team = tabTeam();
    const headers = {
      "X-Wakeful-Page": "1",
      ...(team !== null && { "X-Wakeful-Team": team }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
    };
    const send = async () => {
      const response = await fetch(urlOf(path, params), { method, headers, body: JSON.stringify(body), signal });
      const text = await response.text();
      if (!response.ok) return { error: parsed(text), response };
      return { data: parseAs === "text" ? text : (JSON.parse(text) as unknown), response };
    };
    const answer = await send();
    return (await isReauthenticated(answer.error)) ? send() : answer;
  };
}

type ErrorBody = components["schemas"]["ErrorBody"];
export type Ways = NonNullable<ErrorBody["ways"]>;

let reauthenticate: (ways: Ways) => Promise<boolean> = () => Promise.resolve(false);
let asking: Promise<boolean> | undefined;

/** Registers what asks users for their password before a dangerous call; false if they do not enter it. */
export function onReauthenticationRequired(ask: typeof reauthenticate): void {
  reauthenticate = ask;
}

/** Whether a call was refused until the user reauthenticates, and they have. Calls at the same time ask once. */
async function isReauthenticated(error: unknown): Promise<boolean> {
  const { code, ways = [] } = (error ?? {}) as Partial<ErrorBody>;
  if (code !== ("reauthentication_required" satisfies ErrorCode)) return false;
  asking ??= reauthenticate(ways).finally(() => (asking = undefined));
  return asking;
}

function urlOf(path: string, { path: values = {}, query = {} }: NonNullable<Call["params"]> = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return search.size === 0 ? filled : `${filled}?${search.toString()}`;
}

/** The text itself if it is not JSON, such as the error page of a proxy. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const { GET, POST, DELETE } = {
  GET: caller("GET"),
  POST: caller("POST"),
  DELETE: caller("DELETE"),
} as Pick<Client<paths>, "GET" | "POST" | "DELETE">;

let unauthenticated = () => {};

/** Registers a callback for responses that say that there is no session. */
export function onUnauthenticated(callback: () => void): void {
  unauthenticated = callback;
}

export function reportUnauthenticated(): void {
  unauthenticated();
}

/** The codes of calls that are not offered, so what the user may do has changed. */
const CHANGED: readonly ErrorCode[] = ["forbidden", "suspended", "mfa_setup_required"];

/** The message of a 404 that concerns the team of the tab, and not what was asked for. */
const NO_TEAM = "No such team.";

let refused = () => {};

/**
 * Registers a callback for calls that the user may not make, which are not offered, so the role or the team's policies have
 * changed; and for those in a team that the user is no longer in.
 */
export function onRefused(callback: () => void): void {
  refused = callback;
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
  if (error.status === 403 && CHANGED.some((code) => error.has(code))) refused();
  else if (error.message === NO_TEAM) refused();
  throw error;
}
