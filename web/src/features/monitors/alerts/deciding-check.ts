/** The check that an alert was opened by, with what each region saw. */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "../../../shared/api/client";
import type { Heartbeat } from "../data";
import type { Detail } from "./data";

/** An outage that begins within a millisecond of the last change is dated a little later than its check. */
const TOLERANCE = 1_000;

const deciding: readonly Detail["evidence"][number]["of"][] = ["confirming", "first", "degraded"];

/** The time of the check that confirmed the outage, or the start of the alert. */
export function decidedAt({ alert, evidence }: Pick<Detail, "alert" | "evidence">): string {
  const records = deciding.flatMap((of) => evidence.filter((record) => record.of === of));
  return records[0]?.at ?? alert.started;
}

/** The check closest to a time, of those that several regions performed. */
export function closest(beats: readonly Heartbeat[], at: string): Heartbeat | undefined {
  const distance = (beat: Heartbeat) => Math.abs(Date.parse(beat.at) - Date.parse(at));
  return beats.filter(({ regions }) => regions.length > 0).sort((a, b) => distance(a) - distance(b))[0];
}

export function decidingCheckQuery(id: string, at: string) {
  return queryOptions({
    queryKey: ["deciding-check", id, at],
    queryFn: async ({ signal }): Promise<Heartbeat | null> => {
      const near = (offset: number) => new Date(Date.parse(at) + offset).toISOString();
      const params = { path: { monitorid: id }, query: { from: near(-TOLERANCE), to: near(TOLERANCE) } };
      const { heartbeats } = await unwrap(GET("/api/v1/monitor/{monitorid}/heartbeats", { params, signal }));
      return closest(heartbeats, at) ?? null;
    },
    staleTime: Infinity,
  });
}
