/** The administration of the installation. */
import { keepPreviousData, queryOptions, type QueryClient } from "@tanstack/react-query";
import { GET, POST, unwrap } from "../../shared/api/client";
import type { components } from "../../shared/api/schema";

type Schemas = components["schemas"];
export type Team = Schemas["AdminTeam"];
export type User = Schemas["AdminUser"];
export type Stuck = Schemas["AdminStuck"];
export type Setting = Schemas["AdminSetting"];
export type Queue = Schemas["AdminQueue"];

/** The first part of the key of every query here. */
const ADMIN = "admin";

export const overviewQuery = queryOptions({
  queryKey: [ADMIN, "overview"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/admin/overview", { signal })),
  refetchInterval: 15_000,
});

export function teamsQuery(q: string, limit: number) {
  return queryOptions({
    queryKey: [ADMIN, "teams", q, limit],
    queryFn: async ({ signal }): Promise<Team[]> => {
      const query = { limit, ...(q !== "" && { q }) };
      return (await unwrap(GET("/api/v1/admin/teams", { params: { query }, signal }))).teams;
    },
    placeholderData: keepPreviousData,
  });
}

export function usersQuery(q: string, limit: number) {
  return queryOptions({
    queryKey: [ADMIN, "users", q, limit],
    queryFn: async ({ signal }): Promise<User[]> => {
      const query = { limit, ...(q !== "" && { q }) };
      return (await unwrap(GET("/api/v1/admin/users", { params: { query }, signal }))).users;
    },
    placeholderData: keepPreviousData,
  });
}

export function deliveriesQuery(limit: number) {
  return queryOptions({
    queryKey: [ADMIN, "deliveries", limit],
    queryFn: async ({ signal }): Promise<Stuck[]> =>
      (await unwrap(GET("/api/v1/admin/deliveries", { params: { query: { limit } }, signal }))).deliveries,
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  });
}

export const settingsQuery = queryOptions({
  queryKey: [ADMIN, "settings"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/admin/settings", { signal })).then((answer) => answer.settings),
});

export function auditQuery(q: string, limit: number) {
  return queryOptions({
    queryKey: [ADMIN, "audit", q, limit],
    queryFn: async ({ signal }) => {
      const query = { limit, ...(q !== "" && { q }) };
      return (await unwrap(GET("/api/v1/admin/audit", { params: { query }, signal }))).entries;
    },
    placeholderData: keepPreviousData,
  });
}

/** The members of a team, of which one can become its owner. */
export function membersQuery(groupid: string) {
  return queryOptions({
    queryKey: [ADMIN, "members", groupid],
    queryFn: async ({ signal }): Promise<User[]> =>
      (await unwrap(GET("/api/v1/admin/users", { params: { query: { groupid, limit: 1000 } }, signal }))).users,
  });
}

/** After a change, which any list may show. */
async function renew(client: QueryClient): Promise<void> {
  await client.invalidateQueries({ queryKey: [ADMIN] });
}

export async function changeUser(client: QueryClient, body: Schemas["AdminUserChange"]): Promise<void> {
  await unwrap(POST("/api/v1/admin/user", { body }));
  await renew(client);
}

export async function mailResetLink({ userid }: User): Promise<void> {
  await unwrap(POST("/api/v1/admin/user/reset", { body: { userid } }));
}

export async function removeFactors(client: QueryClient, { userid }: User): Promise<void> {
  await unwrap(POST("/api/v1/admin/user/mfareset", { body: { userid } }));
  await renew(client);
}

export async function deleteUser(client: QueryClient, { userid }: User): Promise<void> {
  await unwrap(POST("/api/v1/admin/user/delete", { body: { userid } }));
  await renew(client);
}

export async function suspendTeam(client: QueryClient, { groupid }: Team, suspended: boolean): Promise<void> {
  await unwrap(POST("/api/v1/admin/team", { body: { groupid, suspended } }));
  await renew(client);
}

export async function appointOwner(client: QueryClient, { groupid }: Team, userid: string): Promise<void> {
  await unwrap(POST("/api/v1/admin/team/owner", { body: { groupid, userid } }));
  await renew(client);
}

export async function deleteTeam(client: QueryClient, { groupid, name }: Team): Promise<void> {
  await unwrap(POST("/api/v1/admin/team/delete", { body: { groupid, name } }));
  await renew(client);
}

/** Returns how many messages are due now. */
export async function retry(client: QueryClient, notifierid?: string): Promise<number> {
  const { mails, deliveries } = await unwrap(POST("/api/v1/admin/retry", { body: { notifierid } }));
  await renew(client);
  return mails + deliveries;
}
