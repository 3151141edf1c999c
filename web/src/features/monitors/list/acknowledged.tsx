/** In the row of a monitor that is down: who has acknowledged its alert, or that it is snoozed. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { GET, unwrap } from "../../../shared/api/client";
import { useTexts } from "../../../shared/i18n";
import { ALERTS, type Alert } from "../data";
import styles from "./acknowledged.module.css";

const LIMIT = 1000;

/** The alerts that somebody has responded to, by monitor; one query for all rows. */
const respondedQuery = queryOptions({
  queryKey: [...ALERTS, "responded"],
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, Alert>> => {
    const lists = (["acknowledged", "snoozed"] as const).map(async (status) => {
      const params = { query: { status, limit: LIMIT } };
      return (await unwrap(GET("/api/v1/alerts", { params, signal }))).alerts;
    });
    return new Map((await Promise.all(lists)).flat().map((alert) => [alert.monitor.monitorid, alert]));
  },
  staleTime: 60_000,
});

export default function Acknowledged({ id }: { id: string }) {
  const { alerts } = useTexts();
  const { data } = useQuery(respondedQuery);
  const alert = data?.get(id);
  if (!alert) return null;
  const said = alert.acknowledged ? alerts.acknowledgedBy(alert.acknowledged.name) : alerts.statuses[alert.status];
  return (
    <span className={styles.acknowledged} title={said}>
      {said}
    </span>
  );
}
