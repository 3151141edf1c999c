/** One monitor in the list. */
import { useQuery } from "@tanstack/react-query";
import { lazy, memo, Suspense, useEffect, useState, type MouseEvent } from "react";
import { percent } from "../../../shared/lib/time";
import { useFirstTexts, useLanguage } from "../../../shared/i18n";
import { Link } from "../../../shared/router";
import { BellOff, More } from "../../../shared/ui/icons";
import { later } from "../../../shared/ui/later";
import { LazyMenu } from "../../../shared/ui/lazy-menu";
import { Ago, Milliseconds } from "../../../shared/ui/time";
import { HeartbeatBars } from "../heartbeat-bars";
import { responseTimeOf, short, stateOf, typeName, type MonitorRow } from "../data";
import { StatusMark } from "../status";
import { BEATS, summaryQuery } from "../summary";
import styles from "./list.module.css";
import type { Pick } from "./monitor-list";
import { whenScrollIdle } from "./scroll-idle";

const Acknowledged = lazy(later(() => import("./acknowledged")));
const Covered = lazy(later(() => import("./covered")));
const RowActions = lazy(later(() => import("./row-actions")));

/** The height of a row; on narrow screens the recent checks are below the name. */
export const ROW_HEIGHT = 52;
export const TWO_LINE_ROW_HEIGHT = 76;

interface Props {
  /** The key of the line; a monitor can be in several groups. */
  line: string;
  monitor: MonitorRow;
  top: number;
  height: number;
  /** Its position in the whole table. */
  position: number;
  selected: boolean;
  current: boolean;
  /** Null for users who may not edit: all that can be done with a selection is to change or delete it. */
  pick: Pick | null;
  responds: boolean;
}

export const Row = memo(function Row({ line, monitor, top, height, position, selected, current, pick, responds }: Props) {
  const t = useFirstTexts();
  const state = stateOf(monitor);
  return (
    <div
      role="row"
      aria-rowindex={position}
      className={styles.row}
      style={{ transform: `translateY(${top}px)`, height }}
      data-row={monitor.monitorid}
      data-line={line}
      data-state={state}
      data-selected={selected || undefined}
      data-current={current || undefined}
    >
      {pick && (
        <span role="cell" className={styles.selectCell}>
          <label className={styles.select}>
            <input
              type="checkbox"
              checked={selected}
              onChange={({ nativeEvent }) => pick(line, monitor.monitorid, (nativeEvent as globalThis.MouseEvent).shiftKey)}
            />
            <span className="sr-only">{t.monitors.select(monitor.name)}</span>
          </label>
        </span>
      )}
      <span role="cell" className={styles.status} title={t.monitors.states[state]}>
        <StatusMark state={state} />
        <span className="sr-only">{t.monitors.states[state]}</span>
      </span>
      <span role="cell" className={styles.names}>
        <Link className={styles.name} to={`/monitor/${monitor.monitorid}`}>
          {monitor.name}
        </Link>
        <span className={styles.target}>
          {monitor.notifiers.length === 0 && (
            <span className={styles.unnotified} title={t.monitors.nobody}>
              <BellOff size={13} />
              <span className="sr-only">{t.monitors.nobody}</span>
            </span>
          )}
          {monitor.upside_down_mode && (
            <span className={styles.inverted} title={t.monitors.invertedHelp}>
              {t.monitors.inverted}
            </span>
          )}
          <span className={styles.kind}>{typeName(monitor.type, t)}</span>
          <Suspense>
            {monitor.maintenance && <Covered cover={monitor.maintenance} />}
            {state === "down" && <Acknowledged id={monitor.monitorid} />}
          </Suspense>
          <Target monitor={monitor} />
        </span>
      </span>
      <span role="cell" className={`${styles.tags ?? ""} ${styles.tagsColumn ?? ""}`}>
        {monitor.tags.slice(0, 2).map((tag) => (
          <span key={tag} className={styles.tag}>
            {tag}
          </span>
        ))}
        {monitor.tags.length > 2 && <span className={`${styles.tag ?? ""} ${styles.more ?? ""}`}>+{monitor.tags.length - 2}</span>}
      </span>
      <History id={monitor.monitorid} cover={monitor.maintenance} />
      <span role="cell" className={`${styles.load ?? ""} num`}>
        <Milliseconds ms={responseTimeOf(monitor)} />
      </span>
      <span role="cell" className={`${styles.check ?? ""} ${styles.checkColumn ?? ""}`}>
        <Ago at={monitor.last_check} />
      </span>
      {responds && (
        <span role="cell" className={styles.actionsCell}>
          <Actions monitor={monitor} />
        </span>
      )}
    </div>
  );
});

/** What is checked, or what is wrong with it. */
function Target({ monitor }: { monitor: MonitorRow }) {
  const state = stateOf(monitor);
  const trouble = state === "down" ? monitor.last_message : state === "blocked" && monitor.blocked;
  return trouble ? (
    <em data-state={state} title={trouble}>
      {trouble}
    </em>
  ) : (
    short(monitor.target)
  );
}

function Actions({ monitor }: { monitor: MonitorRow }) {
  const t = useFirstTexts();
  return (
    <LazyMenu
      button={(props) => (
        <button type="button" className={styles.actions} aria-label={t.monitors.actions(monitor.name)} {...props}>
          <More />
        </button>
      )}
      menu={(button) => <RowActions monitor={monitor} button={button} />}
    />
  );
}

const NO_BEATS: never[] = [];

/** The bars cover the row's link to show tooltips, so a click on them is forwarded to it. */
function follow(event: MouseEvent<HTMLElement>) {
  event.currentTarget.closest("[data-row]")?.querySelector("a")?.click();
}

/** Recent checks and uptime, requested once scrolling has stopped. */
function History({ id, cover }: { id: string; cover: MonitorRow["maintenance"] }) {
  const t = useFirstTexts();
  const { locale } = useLanguage();
  const [idle, setIdle] = useState(false);
  useEffect(() => whenScrollIdle(() => setIdle(true)), []);
  const { data } = useQuery({ ...summaryQuery(id), enabled: idle });
  const uptime = (value: number | null | undefined) => (typeof value === "number" ? percent(value, locale) : "–");
  const beats = data?.beats ?? NO_BEATS;
  const bars = <HeartbeatBars beats={beats} room={BEATS} />;
  return (
    <>
      <span role="cell" className={styles.barsColumn} onClick={follow}>
        {cover ? (
          <Suspense fallback={bars}>
            <Covered cover={cover} beats={beats} />
          </Suspense>
        ) : (
          bars
        )}
      </span>
      <span role="cell" className={`${styles.uptime ?? ""} num`}>
        <span className="sr-only">{t.monitors.uptimeOf("24 h")}</span>
        <b>{uptime(data?.uptime_24h)}</b>
        <span className="sr-only">{t.monitors.uptimeOf("30 d")}</span>
        <span>{uptime(data?.uptime_30d)}</span>
      </span>
    </>
  );
}
