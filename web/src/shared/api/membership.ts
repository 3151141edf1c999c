/** The team's plan; shown only where the operator has enabled billing. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { GET, unwrap } from "./client";
import type { components } from "./schema";
import { useMay } from "./session";

export type Membership = components["schemas"]["MembershipBody"];
export type Usage = components["schemas"]["MembershipUsage"];
export type Plan = components["schemas"]["PlanBody"];

export const membershipQuery = queryOptions({
  queryKey: ["membership"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/membership/get", { signal })),
  staleTime: 60_000,
});

/** Whether there is a billing page for this user: the operator has enabled billing, and the role includes it. */
export function useHasBilling(): boolean {
  const may = useMay("bills");
  const { data } = useQuery({ ...membershipQuery, enabled: may });
  return may && data?.billing === true;
}
