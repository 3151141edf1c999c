/** The logged-in user, and what changes when they log in or out. */
import { queryOptions, useQuery, type QueryClient } from "@tanstack/react-query";
import { GET, POST, reportUnauthenticated, unwrap } from "./client";
import { ApiError } from "./error";
import type { components } from "./schema";

export type Me = components["schemas"]["Me"];
export type Permission = components["schemas"]["Permission"];
export type Role = components["schemas"]["Role"];

/** The user, or null if not logged in. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async ({ signal, client }): Promise<Me | null> => {
    const { user, first_signup } = await unwrap(GET("/api/v1/session", { signal }));
    client.setQueryData(FIRST_SIGNUP, first_signup);
    if (user) {
      const known = client.getQueryData<Me | null>(["me"]);
      // What the service returns depends on the role: some roles do not see secrets.
      if (known && known.role !== user.role) void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "me" });
      return user;
    }
    reportUnauthenticated();
    // A user whose session ended over an open form stays; session-expiry.ts asks them to log in again.
    return client.getQueryData<Me | null>(["me"]) ?? null;
  },
  staleTime: 60_000,
});

const FIRST_SIGNUP = ["first-signup"];

/** Whether the visitor of a new installation is still to create its first account. */
export function isFirstSignup(client: QueryClient): boolean {
  return client.getQueryData<boolean>(FIRST_SIGNUP) ?? false;
}

/** The user, in views that require a login. */
export function useMe(): Me {
  const { data } = useQuery(meQuery);
  if (!data) throw new Error("this view is shown to logged-in users only");
  return data;
}

/** Whether the user may do this. The service checks it too; views do not offer what would be refused. */
export function useMay(permission: Permission): boolean {
  return useMe().permissions.includes(permission);
}

/** Starts with an empty cache after a login: nothing of another user remains. */
export async function signedIn(client: QueryClient): Promise<void> {
  setUser(client, await unwrap(GET("/api/v1/users/me")));
}

export function signedOut(client: QueryClient): void {
  setUser(client, null);
}

/** Replaces the user, which the route guards read, and clears everything else from the cache. */
function setUser(client: QueryClient, user: Me | null): void {
  client.removeQueries({ predicate: (query) => query.queryKey[0] !== meQuery.queryKey[0] });
  client.setQueryData(meQuery.queryKey, user);
}

export async function logOut(client: QueryClient, everywhere: boolean): Promise<void> {
  try {
    await unwrap(everywhere ? POST("/api/v1/logoutall") : POST("/api/v1/logout"));
  } catch (error) {
    if (!(error instanceof ApiError && error.signedOut)) throw error;
  }
  signedOut(client);
}
