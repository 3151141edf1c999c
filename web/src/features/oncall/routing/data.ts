/** The routing rules of the form. */
import type { QueryClient } from "@tanstack/react-query";
import { POST, unwrap } from "../../../shared/api/client";
import { routingQuery, type Routing } from "../../../shared/api/routing";
import type { components } from "../../../shared/api/schema";

export { routingQuery, triedQuery, type Routing, type Tried, type TryRouting } from "../../../shared/api/routing";
export type Rule = components["schemas"]["Rule"];
export type TriedMessage = components["schemas"]["TriedMessage"];
type SaveRule = components["schemas"]["SaveRule"];

/** Replaces all rules, unless somebody else has changed them since that revision. */
export async function saveRouting(client: QueryClient, rules: SaveRule[], revision: number): Promise<Routing> {
  const saved = await unwrap(POST("/api/v1/routing/save", { body: { rules, revision } }));
  client.setQueryData(routingQuery.queryKey, saved);
  return saved;
}
