/** API keys: the user's own, and those of everyone in the team. */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "./client";
import type { components } from "./schema";

export type ApiKey = components["schemas"]["ListedKey"];
export type TeamKey = components["schemas"]["TeamKey"];
export type Scope = ApiKey["scope"];
export type NewApiKey = components["schemas"]["NewApiKey"];

/** Invalidating it fetches the keys of the team again, too. */
export const apiKeysQuery = queryOptions({
  queryKey: ["apikeys"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/integrations/apikeys", { signal })).then((answer) => answer.apikeys),
});

export const teamKeysQuery = queryOptions({
  queryKey: [...apiKeysQuery.queryKey, "team"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/team/keys", { signal })).then((answer) => answer.apikeys),
});
