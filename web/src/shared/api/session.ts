/** The logged-in user, and what changes when they log in or out. */
import { queryOptions, useQuery, type QueryClient } from "@tanstack/react-query";
import { GET, POST, reportUnauthenticated, unwrap } from "./client";
import { ApiError } from "./error";
import type { components } from "./schema";
import { setTabTeam, tabTeam } from "./tab-team";

export type Me = components["schemas"]["Me"];
export type Permission = components["schemas"]["Permission"];
export type Role = components["schemas"]["Role"];

/** The user, or null if not logged in. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async ({ signal, client }): Promise<Me | null> => {
    const { user, first_signup, mail_server, lost } = await fetchSession(signal);
    client.setQueryData(FIRST_SIGNUP, first_signup ? { mail_server } : null);
    if (user) {
      const known = client.getQueryData<Me | null>(["me"]);
      if (lost) teamLost();
      if (known && known.groupid !== user.groupid) client.removeQueries({ predicate: isOther });
      // What the service returns depends on the role: some roles do not see secrets.
      else if (known && known.role !== user.role) void client.invalidateQueries({ predicate: isOther });
      return user;
    }
    reportUnauthenticated();
    // A user whose session ended over an open form stays; session-expiry.ts asks them to log in again.
    return client.getQueryData<Me | null>(["me"]) ?? null;
  },
  staleTime: 60_000,
});

/** All queries but that of the user. */
function isOther({ queryKey }: { queryKey: readonly unknown[] }): boolean {
  return queryKey[0] !== "me";
}

/** The session in the team of this tab, or in its own team if the user is no longer an active member of that one (`lost`). */
export async function fetchSession(signal?: AbortSignal) {
  const call = () => GET("/api/v1/session", { signal });
  let answer = call();
  const lost = tabTeam() !== null && (await isRefused(answer));
  if (lost) {
    setTabTeam(null);
    answer = call();
  }
  const session = await unwrap(answer);
  // From now on, the tab shows this team, even if the session switches to another one in another tab.
  if (session.user) setTabTeam(session.user.groupid);
  return { ...session, lost };
}

function isRefused(answer: Promise<{ response: Response }>): Promise<boolean> {
  return answer.then(
    ({ response: { status } }) => status === 403 || status === 404,
    () => false,
  );
}

let teamLost = () => {};

/** Registers a callback for a tab whose team was deleted, or whose user has left it or is suspended there. */
export function onTeamLost(callback: () => void): void {
  teamLost = callback;
}

const FIRST_SIGNUP = ["first-signup"];

/** For the visitor of a new installation, who is still to create its first account: whether it has a mail server. */
export function firstSignup(client: QueryClient) {
  return client.getQueryData<{ mail_server?: boolean } | null>(FIRST_SIGNUP);
}

/** The user, in views that require a login. */
export function useMe(): Me {
  const { data } = useQuery(meQuery);
  if (!data) throw new Error("this view is shown to logged-in users only");
  return data;
}

/** What the members of a suspended team may do nevertheless. */
const IN_A_SUSPENDED_TEAM: readonly Permission[] = ["view", "audit", "bills"];

/** What the user may do: in a suspended team, nothing is changed. */
export function allowed({ permissions, team_suspended }: Pick<Me, "permissions" | "team_suspended">): Permission[] {
  return team_suspended ? permissions.filter((one) => IN_A_SUSPENDED_TEAM.includes(one)) : permissions;
}

/** Whether the user may do this. The service checks it too; views do not offer what would be refused. */
export function useMay(permission: Permission): boolean {
  return allowed(useMe()).includes(permission);
}

/** Starts with an empty cache after a login or in another team: nothing of another user or team remains. */
export async function signedIn(client: QueryClient): Promise<void> {
  await client.cancelQueries();
  setUser(client, (await fetchSession()).user ?? null);
}

/** Shows a team in this tab; null for the one that the session is in. */
export async function showTeam(client: QueryClient, groupid: string | null): Promise<void> {
  setTabTeam(groupid);
  await signedIn(client);
}

export function signedOut(client: QueryClient): void {
  setUser(client, null);
}

/** Replaces the user, which the route guards read, and clears everything else from the cache. */
function setUser(client: QueryClient, user: Me | null): void {
  client.removeQueries({ predicate: isOther });
  client.setQueryData(meQuery.queryKey, user);
}

export async function logOut(client: QueryClient, everywhere: boolean): Promise<void> {
  try {
    await unwrap(everywhere ? POST("/api/v1/logoutall") : POST("/api/v1/logout"));
  } catch (error) {
    if (!(error instanceof ApiError && error.signedOut)) throw error;
  }
  setTabTeam(null);
  signedOut(client);
}
