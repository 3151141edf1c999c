/** One monitor in the list. */
import { useQuery } from "@tanstack/react-query";
import { memo, useEffect, useState, type MouseEvent } from "react";
import { Link } from "react-router";
import { percent } from "../../../shared/lib/time";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { Ago, Milliseconds } from "../../../shared/ui/time";
import { HeartbeatBars } from "../heartbeat-bars";
import { short, stateOf, type MonitorRow, type Type } from "../data";
import { StatusMark } from "../status";
import { BEATS, summary } from "../summary";
import styles from "./list.module.css";
import { whenScrollIdle } from "./scroll-idle";

/** The height of a row; on narrow screens the recent checks are below the name. */
export const ROW_HEIGHT = 52;
export const TWO_LINE_ROW_HEIGHT = 76;

interface Props {
  /** The key of the line; a monitor can be in several groups. */
  line: string;
  monitor: MonitorRow;
  top: number;
  height: number;
  position: number;
  total: number;
  selected: boolean;
  current: boolean;
  toggle: (id: string) => void;
}

export const Row = memo(function Row({ line, monitor, top, height, position, total, selected, current, toggle }: Props) {
  const t = useTexts();
  const state = stateOf(monitor);
  const target = short(monitor.target);
  return (
    <li
      className={styles.row}
      style={{ transform: `translateY(${top}px)`, height }}
      data-row={monitor.monitorid}
      data-line={line}
      data-state={state}
      data-selected={selected || undefined}
      data-current={current || undefined}
      aria-setsize={total}
      aria-posinset={position}
    >
      <label className={styles.select}>
        <input type="checkbox" checked={selected} onChange={() => toggle(monitor.monitorid)} />
        <span className="sr-only">{t.monitors.select(monitor.name)}</span>
      </label>
      <span className={styles.status} title={t.monitors.states[state]}>
        <StatusMark state={state} />
        <span className="sr-only">{t.monitors.states[state]}</span>
      </span>
      <span className={styles.names}>
        <Link className={styles.name} to={`/monitor/${monitor.monitorid}`}>
          {monitor.name}
        </Link>
        <span className={styles.target}>
          <span className={styles.kind}>{t.monitors.types[monitor.type as Type]}</span>
          {state === "down" && monitor.last_message !== "" ? <em>{monitor.last_message}</em> : target}
        </span>
      </span>
      <span className={`${styles.tags ?? ""} ${styles.tagsColumn ?? ""}`}>
        {monitor.tags.slice(0, 2).map((tag) => (
          <span key={tag} className={styles.tag}>
            {tag}
          </span>
        ))}
        {monitor.tags.length > 2 && <span className={`${styles.tag ?? ""} ${styles.more ?? ""}`}>+{monitor.tags.length - 2}</span>}
      </span>
      <History id={monitor.monitorid} />
      <span className={`${styles.load ?? ""} num`}>
        <Milliseconds ms={monitor.load_time} />
      </span>
      <span className={`${styles.check ?? ""} ${styles.checkColumn ?? ""}`}>
        <Ago at={monitor.last_check} />
      </span>
    </li>
  );
});

const NO_BEATS: never[] = [];

/** The bars cover the row's link to show tooltips, so a click on them is forwarded to it. */
function follow(event: MouseEvent<HTMLElement>) {
  event.currentTarget.closest("li")?.querySelector("a")?.click();
}

/** Recent checks and uptime, requested once scrolling has stopped. */
function History({ id }: { id: string }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const [idle, setIdle] = useState(false);
  useEffect(() => whenScrollIdle(() => setIdle(true)), []);
  const { data } = useQuery({ ...summary(id), enabled: idle });
  const uptime = (value: number | null | undefined) => (typeof value === "number" ? percent(value, locale) : "–");
  return (
    <>
      <span className={styles.barsColumn} onClick={follow}>
        <HeartbeatBars beats={data?.beats ?? NO_BEATS} room={BEATS} />
      </span>
      <span className={`${styles.uptime ?? ""} num`}>
        <span className="sr-only">{t.monitors.uptimeOf("24 h")}</span>
        <b>{uptime(data?.uptime_24h)}</b>
        <span className="sr-only">{t.monitors.uptimeOf("30 d")}</span>
        <span>{uptime(data?.uptime_30d)}</span>
      </span>
    </>
  );
}
