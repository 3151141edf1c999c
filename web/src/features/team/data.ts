/** The team's service accounts. */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "../../shared/api/client";
import type { components } from "../../shared/api/schema";

export type ServiceAccount = components["schemas"]["ListedService"];

export const servicesQuery = queryOptions({
  queryKey: ["services"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/services", { signal })).then((answer) => answer.services),
});
