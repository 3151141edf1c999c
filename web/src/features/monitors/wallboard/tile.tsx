/** One monitor on the wallboard. */
import { memo } from "react";
import { useTexts } from "../../../shared/i18n";
import { Link } from "../../../shared/router";
import { Milliseconds } from "../../../shared/ui/time";
import { responseTimeOf, stateOf, type MonitorRow } from "../data";
import { StatusMark } from "../status";
import styles from "./wallboard.module.css";

function Detail({ monitor }: { monitor: MonitorRow }) {
  const state = stateOf(monitor);
  if (state === "down") return monitor.last_message;
  return state === "blocked" ? monitor.blocked : <Milliseconds ms={responseTimeOf(monitor)} />;
}

export const Tile = memo(function Tile({ monitor }: { monitor: MonitorRow }) {
  const t = useTexts();
  const state = stateOf(monitor);
  return (
    <li className={styles.tile} data-state={state}>
      <Link to={`/monitor/${monitor.monitorid}`} title={monitor.name}>
        <span className={styles.name}>
          <StatusMark state={state} />
          <span className="sr-only">{t.monitors.states[state]}</span>
          <span>{monitor.name}</span>
        </span>
        <span className={styles.detail}>
          <Detail monitor={monitor} />
        </span>
      </Link>
    </li>
  );
});
