/**
 * How a session ends that nobody here ended. It shows in the first answer that
 * refuses; then either the way in is asked for over what was typed, or the page
 * leaves for the login and says why.
 */
import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { isUnsaved } from "../lib/unsaved";
import { onRefused } from "./client";
import { left, me, type Me } from "./session";

/** `asked`: the way in stands over the view. `over`: the view is left. */
type Ending = "asked" | "over" | null;

let ending: Ending = null;
const listeners = new Set<() => void>();

function set(to: Ending) {
  ending = to;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useEnding(): Ending {
  return useSyncExternalStore(subscribe, () => ending);
}

export function watchEndings(client: QueryClient): void {
  onRefused(() => {
    // A guest is refused too, and has no session to lose.
    if (!client.getQueryData(me.queryKey)) return;
    if (isUnsaved()) set("asked");
    else leave(client);
  });
}

/** To the login, which says that the session is over. */
export function leave(client: QueryClient): void {
  left(client);
  set("over");
}

/** The same user is back: everything is read again, and what was typed is still there. */
export function resume(client: QueryClient, user: Me): void {
  client.setQueryData(me.queryKey, user);
  set(null);
  void client.invalidateQueries();
}

/** The login has said it, or somebody is in again. */
export function forgive(): void {
  set(null);
}
