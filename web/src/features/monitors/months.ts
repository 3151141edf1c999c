import { withTabTeam } from "../../shared/api/tab-team";

/** The last months in the format of the API, in UTC: `2026-10`. */
export function lastMonths(now: Date, count: number): string[] {
  return Array.from({ length: count }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 7),
  );
}

export function reportOf(month: string, format: "html" | "csv"): string {
  return withTabTeam(`/api/v1/report?month=${month}&format=${format}`);
}
