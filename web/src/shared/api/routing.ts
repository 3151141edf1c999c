/** The routing rules of the team, and what they would do. */
import { queryOptions } from "@tanstack/react-query";
import { GET, POST, unwrap } from "./client";
import type { components } from "./schema";

export type Routing = components["schemas"]["RoutingBody"];
export type Tried = components["schemas"]["RoutingTried"];
export type TryRouting = components["schemas"]["TryRoutingBody"];

export const routingQuery = queryOptions({
  queryKey: ["routing"],
  queryFn: ({ signal }): Promise<Routing> => unwrap(GET("/api/v1/routing", { signal })),
});

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
