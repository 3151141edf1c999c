/** A warning on the dashboard about monitors that are down without anyone being notified. */
import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { Link } from "../../../shared/router";
import { notifierSummariesQuery } from "../../../shared/api/notifiers";
import { useTexts } from "../../../shared/i18n";
import { stateOf, type MonitorRow } from "../data";
import { isAnyoneNotified } from "../notified";
import styles from "./list.module.css";

const MAX_NAMES = 3;

export default function Unnotified({ list }: { list: readonly MonitorRow[] }) {
  const t = useTexts();
  const { data } = useQuery(notifierSummariesQuery);
  const found = list.filter((monitor) => stateOf(monitor) === "down" && !isAnyoneNotified(monitor.notifiers, data));
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
