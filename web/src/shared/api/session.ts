/** The logged-in user, and what changes when they log in or out. */
import { queryOptions, useQuery, type QueryClient } from "@tanstack/react-query";
import { GET, POST, unwrap } from "./client";
import { ApiError } from "./error";
import type { components } from "./schema";

export type Me = components["schemas"]["Me"];

/** The user, or null if not logged in. */
export const me = queryOptions({
  queryKey: ["me"],
  queryFn: async ({ signal, client }): Promise<Me | null> => {
    try {
      return await unwrap(GET("/api/v1/users/me", { signal }));
    } catch (error) {
      // A user whose session ended over an open form stays; session-expiry.ts asks them to log in again.
      if (error instanceof ApiError && error.status === 401) return client.getQueryData<Me | null>(["me"]) ?? null;
      throw error;
    }
  },
  staleTime: 60_000,
});

/** The user, in views that require a login. */
export function useMe(): Me {
  const { data } = useQuery(me);
  if (!data) throw new Error("this view is shown to logged-in users only");
  return data;
}

/** Starts with an empty cache after a login: nothing of another user remains. */
export function signedIn(client: QueryClient, user: components["schemas"]["User"], mfa: boolean): void {
  setUser(client, { success: true, mfa, ...user });
}

export function signedOut(client: QueryClient): void {
  setUser(client, null);
}

/** Replaces the user, which the route guards read, and clears everything else from the cache. */
function setUser(client: QueryClient, user: Me | null): void {
  client.removeQueries({ predicate: (query) => query.queryKey[0] !== me.queryKey[0] });
  client.setQueryData(me.queryKey, user);
}

export async function logOut(client: QueryClient, everywhere: boolean): Promise<void> {
  try {
    await unwrap(everywhere ? POST("/api/v1/logoutall") : POST("/api/v1/logout"));
  } catch (error) {
    if (!(error instanceof ApiError && error.signedOut)) throw error;
  }
  signedOut(client);
}
