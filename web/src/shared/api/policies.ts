/** The escalation policies of the team. */
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { DELETE, GET, POST, unwrap } from "./client";
import type { components } from "./schema";

export type Policy = components["schemas"]["Policy"];
export type SavePolicy = components["schemas"]["SavePolicy"];
export type Target = components["schemas"]["PolicyTarget"];

export const policiesQuery = queryOptions({
  queryKey: ["policies"],
  queryFn: ({ signal }): Promise<Policy[]> => unwrap(GET("/api/v1/policies", { signal })).then((answer) => answer.policies),
});

export async function savePolicy(client: QueryClient, body: SavePolicy): Promise<Policy> {
  const { policy } = await unwrap(POST("/api/v1/policy/save", { body }));
  await client.invalidateQueries({ queryKey: policiesQuery.queryKey });
  return policy;
}

export async function deletePolicy(client: QueryClient, policyid: string): Promise<void> {
  await unwrap(DELETE("/api/v1/policy/{policyid}/delete", { params: { path: { policyid } } }));
  await client.invalidateQueries({ queryKey: policiesQuery.queryKey });
}
