/** The team's plan; shown only where the operator has enabled billing. */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "./client";
import type { components } from "./schema";

export type Membership = components["schemas"]["MembershipBody"];
export type Usage = components["schemas"]["MembershipUsage"];
export type Plan = components["schemas"]["PlanBody"];

export const membershipQuery = queryOptions({
  queryKey: ["membership"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/membership/get", { signal })),
  staleTime: 60_000,
});
