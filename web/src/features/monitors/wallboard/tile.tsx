/** One monitor on the wallboard. */
import { memo } from "react";
import type { Cover } from "../../../shared/api/maintenances";
import { useTexts } from "../../../shared/i18n";
import { Link } from "../../../shared/router";
import { Milliseconds } from "../../../shared/ui/time";
import { responseTimeOf, stateOf, type MonitorRow } from "../data";
import { useCoverText } from "../planned";
import { StatusMark } from "../status";
import styles from "./wallboard.module.css";

function Detail({ monitor }: { monitor: MonitorRow }) {
  const state = stateOf(monitor);
  if (state === "down") return monitor.last_message;
  if (monitor.maintenance) return <Covered cover={monitor.maintenance} />;
  return state === "blocked" ? monitor.blocked : <Milliseconds ms={responseTimeOf(monitor)} />;
}

function Covered({ cover }: { cover: Cover }) {
  return useCoverText(cover);
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
