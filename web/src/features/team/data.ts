/** The team's service accounts and invitations. */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "../../shared/api/client";
import type { components } from "../../shared/api/schema";

export type ServiceAccount = components["schemas"]["ListedService"];

export type Invitation = components["schemas"]["ListedInvitation"];

export const invitationsQuery = queryOptions({
  queryKey: ["invitations"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/invitations", { signal })).then((answer) => answer.invitations),
});

export const servicesQuery = queryOptions({
  queryKey: ["services"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/services", { signal })).then((answer) => answer.services),
});
