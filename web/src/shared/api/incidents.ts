/** The incidents and planned maintenance that the team's status pages show. */
import { keepPreviousData, queryOptions, type QueryClient } from "@tanstack/react-query";
import { DELETE, GET, POST, unwrap } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Incident = Schemas["Incident"];
export type IncidentUpdate = Schemas["IncidentUpdate"];
export type IncidentTemplate = Schemas["IncidentTemplate"];
export type SaveIncidentTemplate = Schemas["SaveIncidentTemplate"];
export type SavePostmortem = Schemas["SavePostmortem"];
export type SaveIncident = Schemas["SaveIncident"];
export type SaveIncidentUpdate = Schemas["SaveIncidentUpdate"];
export type PreviewIncident = Schemas["PreviewIncident"];

/** The prefix of the query keys; also the name of the live event that invalidates it. */
const INCIDENT = ["incident"] as const;

/** The most drafts and open incidents that are shown. */
export const MAX_OPEN = 200;

/** Newest first, each with its newest update. */
export function incidentsQuery(state: "draft" | "open" | "resolved", limit = MAX_OPEN) {
  return queryOptions({
    queryKey: [...INCIDENT, "all", state, limit],
    queryFn: ({ signal }): Promise<Incident[]> =>
      unwrap(GET("/api/v1/incidents", { params: { query: { state, limit } }, signal })).then((answer) => answer.incidents),
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });
}

export function incidentQuery(incidentid: string) {
  return queryOptions({
    queryKey: [...INCIDENT, incidentid],
    queryFn: ({ signal }): Promise<Incident> =>
      unwrap(GET("/api/v1/incident/{incidentid}/get", { params: { path: { incidentid } }, signal })).then((answer) => answer.incident),
  });
}

export const incidentTemplatesQuery = queryOptions({
  queryKey: ["incidenttemplates"],
  queryFn: ({ signal }): Promise<IncidentTemplate[]> =>
    unwrap(GET("/api/v1/incidenttemplates", { signal })).then((answer) => answer.incidenttemplates),
  staleTime: 60_000,
});

/** Fetches the incidents again, but not one that was deleted, and what the pages show of them. */
async function changed(client: QueryClient, deleted?: string): Promise<void> {
  await client.invalidateQueries({
    predicate: ({ queryKey: [key, id] }) => (key === "incident" || key === "statuspage") && (deleted === undefined || id !== deleted),
  });
}

async function stored(client: QueryClient, answer: Promise<{ incident: Incident }>): Promise<Incident> {
  const { incident } = await answer;
  client.setQueryData(incidentQuery(incident.incidentid).queryKey, incident);
  await changed(client);
  return incident;
}

export function saveIncident(client: QueryClient, body: SaveIncident): Promise<Incident> {
  return stored(client, unwrap(POST("/api/v1/incident/save", { body })));
}

export function saveUpdate(client: QueryClient, incidentid: string, body: SaveIncidentUpdate): Promise<Incident> {
  return stored(client, unwrap(POST("/api/v1/incident/{incidentid}/update/save", { params: { path: { incidentid } }, body })));
}

export function publishIncident(client: QueryClient, incidentid: string): Promise<Incident> {
  return stored(client, unwrap(POST("/api/v1/incident/{incidentid}/publish", { params: { path: { incidentid } }, body: {} })));
}

export async function deleteUpdate(client: QueryClient, incidentid: string, updateid: string): Promise<void> {
  await unwrap(DELETE("/api/v1/incident/{incidentid}/update/{updateid}/delete", { params: { path: { incidentid, updateid } } }));
  await changed(client);
}

export async function deleteIncident(client: QueryClient, incidentid: string): Promise<void> {
  await unwrap(DELETE("/api/v1/incident/{incidentid}/delete", { params: { path: { incidentid } } }));
  await changed(client, incidentid);
}

export function savePostmortem(client: QueryClient, incidentid: string, body: SavePostmortem): Promise<Incident> {
  return stored(client, unwrap(POST("/api/v1/incident/{incidentid}/postmortem/save", { params: { path: { incidentid } }, body })));
}

export async function saveTemplate(client: QueryClient, body: SaveIncidentTemplate): Promise<IncidentTemplate> {
  const { incidenttemplate } = await unwrap(POST("/api/v1/incidenttemplate/save", { body }));
  await client.invalidateQueries({ queryKey: incidentTemplatesQuery.queryKey });
  return incidenttemplate;
}

export async function deleteTemplate(client: QueryClient, templateid: string): Promise<void> {
  await unwrap(DELETE("/api/v1/incidenttemplate/{templateid}/delete", { params: { path: { templateid } } }));
  await client.invalidateQueries({ queryKey: incidentTemplatesQuery.queryKey });
}
