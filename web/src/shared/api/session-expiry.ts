/**
 * Handles a session that ended elsewhere. The first 401 reveals it; then either
 * a login dialog opens over the unsaved form, or the page redirects to the login,
 * which says why.
 */
import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { isUnsaved } from "../lib/unsaved";
import { onUnauthenticated } from "./client";
import { signedOut, meQuery, type Me } from "./session";

/** `prompt`: a login dialog covers the view. `expired`: the user was sent to the login page. */
type SessionExpiry = "prompt" | "expired" | null;

let expiry: SessionExpiry = null;
const listeners = new Set<() => void>();

function set(to: SessionExpiry) {
  expiry = to;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useSessionExpiry(): SessionExpiry {
  return useSyncExternalStore(subscribe, () => expiry);
}

export function watchSessionExpiry(client: QueryClient): void {
  onUnauthenticated(() => {
    // Guests get a 401 too, but have no session to lose.
    if (!client.getQueryData(meQuery.queryKey)) return;
    if (isUnsaved()) set("prompt");
    else redirectToLogin(client);
  });
}

/** Redirects to the login page, which says that the session has ended. */
export function redirectToLogin(client: QueryClient): void {
  signedOut(client);
  set("expired");
}

/** The same user has logged in again: refetches everything; the open form is untouched. */
export function resumeSession(client: QueryClient, user: Me): void {
  client.setQueryData(meQuery.queryKey, user);
  set(null);
  void client.invalidateQueries();
}

/** Called once a user has logged in. */
export function clearSessionExpiry(): void {
  set(null);
}
