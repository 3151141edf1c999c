/** The audit log: who changed what, from where and when. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "../../shared/api/client";
import { valuesOfSet } from "../../shared/api/closed-sets";
import type { components } from "../../shared/api/schema";

export type Entry = components["schemas"]["AuditEntry"];
export type Change = components["schemas"]["AuditChange"];
export type Action = components["schemas"]["KnownAuditAction"];

/** What entries can be about: the part of an action before its dot. */
export type Thing = Action extends infer A ? (A extends `${infer T}.${string}` ? T : never) : never;
export const things = valuesOfSet<Thing>({
  monitor: true,
  notifier: true,
  member: true,
  service: true,
  key: true,
  login: true,
  session: true,
  mfa: true,
  password: true,
  team: true,
  plan: true,
  card: true,
  audit: true,
});

export interface Filter {
  q: string;
  /** Empty for all. */
  thing: Thing | "";
}

export function auditQuery({ q, thing }: Filter, limit: number) {
  return queryOptions({
    queryKey: ["audit", q, thing, limit],
    queryFn: async ({ signal }): Promise<Entry[]> => {
      const query = { limit, ...(q !== "" && { q }), ...(thing !== "" && { action: thing }) };
      return (await unwrap(GET("/api/v1/audit", { params: { query }, signal }))).entries;
    },
    placeholderData: keepPreviousData,
  });
}

export function verify() {
  return unwrap(GET("/api/v1/audit/verify"));
}

export function exportOf(format: "jsonl" | "csv"): string {
  return `/api/v1/audit/export?format=${format}`;
}
