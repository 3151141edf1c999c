/** Who is logged in, and the ways in and out. */
import { queryOptions, useQuery, type QueryClient } from "@tanstack/react-query";
import { GET, POST, take } from "./client";
import { ApiError } from "./error";
import type { components } from "./schema";

export type Me = components["schemas"]["Me"];

/** The user, or null when nobody is logged in. */
export const me = queryOptions({
  queryKey: ["me"],
  queryFn: async ({ signal, client }): Promise<Me | null> => {
    try {
      return await take(GET("/api/v1/users/me", { signal }));
    } catch (error) {
      // Whose session ended over an open form stays, for ending.ts asks them in again.
      if (error instanceof ApiError && error.status === 401) return client.getQueryData<Me | null>(["me"]) ?? null;
      throw error;
    }
  },
  staleTime: 60_000,
});

/** The user of a view that only a logged-in user sees. */
export function useMe(): Me {
  const { data } = useQuery(me);
  if (!data) throw new Error("this view is shown to logged-in users only");
  return data;
}

/** After a login the page starts anew: nothing of another user is left. */
export function entered(client: QueryClient, user: components["schemas"]["User"], mfa: boolean): void {
  become(client, { success: true, mfa, ...user });
}

export function left(client: QueryClient): void {
  become(client, null);
}

/** Who it is stays in place, for the doors look at it; all else goes. */
function become(client: QueryClient, who: Me | null): void {
  client.removeQueries({ predicate: (query) => query.queryKey[0] !== me.queryKey[0] });
  client.setQueryData(me.queryKey, who);
}

export async function logOut(client: QueryClient, everywhere: boolean): Promise<void> {
  try {
    await take(everywhere ? POST("/api/v1/logoutall") : POST("/api/v1/logout"));
  } catch (error) {
    if (!(error instanceof ApiError && error.signedOut)) throw error;
  }
  left(client);
}
