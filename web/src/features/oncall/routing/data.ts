/** The routing rules, and what they would do. */
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { GET, POST, unwrap } from "../../../shared/api/client";
import type { components } from "../../../shared/api/schema";

export type Rule = components["schemas"]["Rule"];
export type Routing = components["schemas"]["RoutingBody"];
export type Tried = components["schemas"]["RoutingTried"];
export type TriedMessage = components["schemas"]["TriedMessage"];
type SaveRule = components["schemas"]["SaveRule"];
export type TryRouting = components["schemas"]["TryRoutingBody"];

export const routingQuery = queryOptions({
  queryKey: ["routing"],
  queryFn: ({ signal }): Promise<Routing> => unwrap(GET("/api/v1/routing", { signal })),
});

/** Replaces all rules, unless somebody else has changed them since that revision. */
export async function saveRouting(client: QueryClient, rules: SaveRule[], revision: number): Promise<Routing> {
  const saved = await unwrap(POST("/api/v1/routing/save", { body: { rules, revision } }));
  client.setQueryData(routingQuery.queryKey, saved);
  return saved;
}

/** Who would be notified by the rules of that revision. */
export function triedQuery(body: TryRouting, revision: number) {
  return queryOptions({
    queryKey: ["routing-try", body, revision],
    queryFn: ({ signal }): Promise<Tried> => unwrap(POST("/api/v1/routing/try", { body, signal })),
    // Quiet hours and who is on call depend on the time.
    staleTime: 0,
    gcTime: 10_000,
  });
}
