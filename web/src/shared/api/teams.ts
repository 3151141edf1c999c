/** The user's teams, and switching between them. */
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { GET, POST, unwrap } from "./client";
import type { components } from "./schema";
import { showTeam } from "./session";

export type Team = components["schemas"]["ListedTeam"];

export const teamsQuery = queryOptions({
  queryKey: ["teams"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/teams", { signal })).then((answer) => answer.teams),
  // The menu, which has other items too, waits for the response.
  retry: false,
});

/** Shows a team in this tab. The session switches too, so that the next visit starts there. */
export async function switchTeam(client: QueryClient, groupid: string): Promise<void> {
  await unwrap(POST("/api/v1/team/switch", { body: { groupid } }));
  await showTeam(client, groupid);
}
