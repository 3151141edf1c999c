/** The team's plan. Whether it is shown at all is for the operator to say. */
import { queryOptions } from "@tanstack/react-query";
import { GET, take } from "./client";
import type { components } from "./schema";

export type Membership = components["schemas"]["MembershipBody"];
export type Plan = components["schemas"]["PlanBody"];

export const membership = queryOptions({
  queryKey: ["membership"],
  queryFn: ({ signal }) => take(GET("/api/v1/membership/get", { signal })),
  staleTime: 60_000,
});
