/** The status pages of the team. */
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { DELETE, GET, POST, unwrap } from "./client";
import type { StatuspageImage } from "./closed-sets";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Statuspage = Schemas["Statuspage"];
export type ListedStatuspage = Schemas["ListedStatuspage"];
export type SaveStatuspage = Schemas["SaveStatuspage"];
export type PreviewStatuspage = Schemas["PreviewStatuspage"];
export type StatuspageRule = Schemas["StatuspageRule"];
export type SaveStatuspageRule = Schemas["SaveStatuspageRule"];
export type StatuspageComponent = Schemas["StatuspageComponent"];

/** The prefix of the query keys; also the name of the live event that invalidates it. */
const STATUSPAGE = ["statuspage"] as const;

export const statuspagesQuery = queryOptions({
  queryKey: [...STATUSPAGE, "all"],
  queryFn: ({ signal }): Promise<ListedStatuspage[]> => unwrap(GET("/api/v1/statuspages", { signal })).then((answer) => answer.statuspages),
  staleTime: 60_000,
});

export function statuspageQuery(pageid: string) {
  return queryOptions({
    queryKey: [...STATUSPAGE, pageid],
    queryFn: ({ signal }): Promise<Statuspage> =>
      unwrap(GET("/api/v1/statuspage/{pageid}/get", { params: { path: { pageid } }, signal })).then((answer) => answer.statuspage),
  });
}

/** The page as it would be with these fields; nothing is saved. */
export function previewStatuspage(body: PreviewStatuspage, show: "front" | "incident" | "locked", signal: AbortSignal) {
  return unwrap(POST("/api/v1/statuspage/preview", { params: { query: { show } }, body, signal }));
}

/** What the preview of a stored page warns about. */
export async function statuspageWarnings(pageid: string) {
  const { warnings } = await unwrap(POST("/api/v1/statuspage/preview", { body: { pageid } }));
  return warnings;
}

export async function saveStatuspage(client: QueryClient, body: SaveStatuspage): Promise<Statuspage> {
  const { statuspage } = await unwrap(POST("/api/v1/statuspage/save", { body }));
  client.setQueryData(statuspageQuery(statuspage.pageid).queryKey, statuspage);
  await client.invalidateQueries({ queryKey: STATUSPAGE });
  return statuspage;
}

export async function rotateToken(client: QueryClient, pageid: string): Promise<string> {
  const { access_token } = await unwrap(POST("/api/v1/statuspage/{pageid}/token/rotate", { params: { path: { pageid } } }));
  await client.invalidateQueries({ queryKey: STATUSPAGE });
  return access_token;
}

/** `data` is the file as Base64. */
export async function setImage(client: QueryClient, pageid: string, kind: StatuspageImage, data: string): Promise<void> {
  await unwrap(POST("/api/v1/statuspage/{pageid}/image", { params: { path: { pageid } }, body: { kind, data } }));
  await client.invalidateQueries({ queryKey: STATUSPAGE });
}

export async function deleteImage(client: QueryClient, pageid: string, kind: StatuspageImage): Promise<void> {
  await unwrap(DELETE("/api/v1/statuspage/{pageid}/image/{kind}/delete", { params: { path: { pageid, kind } } }));
  await client.invalidateQueries({ queryKey: STATUSPAGE });
}

export async function deleteStatuspage(client: QueryClient, pageid: string): Promise<void> {
  await unwrap(DELETE("/api/v1/statuspage/{pageid}/delete", { params: { path: { pageid } } }));
  client.setQueryData(statuspagesQuery.queryKey, (old) => old?.filter((other) => other.pageid !== pageid));
  await client.invalidateQueries({ queryKey: statuspagesQuery.queryKey });
}
