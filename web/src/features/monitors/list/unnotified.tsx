/** A warning on the dashboard about monitors that are down without anyone being notified. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { Link } from "../../../shared/router";
import { notifierSummariesQuery } from "../../../shared/api/notifiers";
import { policiesQuery } from "../../../shared/api/policies";
import { routingQuery, triedQuery } from "../../../shared/api/routing";
import { useTexts } from "../../../shared/i18n";
import { stateOf, type MonitorRow } from "../data";
import { isAnyoneNotified } from "../notified";
import styles from "./list.module.css";

const MAX_NAMES = 3;
/** Beyond this, it is not asked who else is notified. */
const MAX_TRIED = 10;

export default function Unnotified({ list }: { list: readonly MonitorRow[] }) {
  const t = useTexts();
  const { data } = useQuery(notifierSummariesQuery);
  const found = useUnnotified(list.filter((monitor) => stateOf(monitor) === "down" && !isAnyoneNotified(monitor.notifiers, data)));
  if (found.length === 0) return null;
  return (
    <div className={styles.notice} role="status">
      <p>
        {t.notifiers.unnotified(found.length)}
        {found.slice(0, MAX_NAMES).map(({ monitorid, name }, index) => (
          <Fragment key={monitorid}>
            {index === 0 ? " " : ", "}
            <Link to={`/monitor/${monitorid}`}>{name}</Link>
          </Fragment>
        ))}
        {found.length > MAX_NAMES && ` ${t.notifiers.andMore(found.length - MAX_NAMES)}`}
      </p>
    </div>
  );
}

/** Those of the monitors that no policy and no routing rule notifies anyone of either. */
function useUnnotified(monitors: readonly MonitorRow[]): readonly MonitorRow[] {
  const enabled = monitors.length > 0;
  const { data: routing } = useQuery({ ...routingQuery, enabled });
  const { data: policies } = useQuery({ ...policiesQuery, enabled });
  const isSimple = routing?.rules.length === 0 && policies?.length === 0;
  const tried = isSimple || !routing || !policies ? [] : monitors.slice(0, MAX_TRIED);
  const answers = useQueries({
    queries: tried.map(({ monitorid }) => ({ ...triedQuery({ monitorid }, routing?.revision ?? 0), staleTime: 60_000, gcTime: 60_000 })),
  });
  if (isSimple) return monitors;
  return tried.filter((_, index) => answers[index]?.data?.notified.length === 0);
}
