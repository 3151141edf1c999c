/** The user's teams, and switching between them. */
import { queryOptions, useQuery, type QueryClient } from "@tanstack/react-query";
import { GET, POST, unwrap } from "./client";
import type { components } from "./schema";
import { showTeam, useMe } from "./session";

export type Team = components["schemas"]["ListedTeam"];

export const teamsQuery = queryOptions({
  queryKey: ["teams"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/teams", { signal })).then((answer) => answer.teams),
  // The menu, which has other items too, waits for the response.
  retry: false,
});

/** The team that is shown, once its settings are known. */
export function useTeam(): Team | undefined {
  const { groupid } = useMe();
  return useQuery(teamsQuery).data?.find((team) => team.groupid === groupid);
}

/** Shows a team in this tab. The session switches too, so that the next visit starts there. */
export async function switchTeam(client: QueryClient, groupid: string): Promise<void> {
  await unwrap(POST("/api/v1/team/switch", { body: { groupid } }));
  await showTeam(client, groupid);
}
