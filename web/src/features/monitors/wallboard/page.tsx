/** All monitors on one screen without scrolling, for a display on the wall. The URL has the same filters as the list. */
import { Button } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo } from "react";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { useNow } from "../../../shared/lib/now";
import { useOnline } from "../../../shared/lib/online";
import { Link, pathWith, useSearchParams } from "../../../shared/router";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { Back, Screen } from "../../../shared/ui/icons";
import { Loading } from "../../../shared/ui/loading";
import { useTitle } from "../../../shared/ui/page";
import { monitorsQuery, states, type MonitorRow } from "../data";
import { countStates, shown, viewOf } from "../list/view";
import { useLive } from "../live-updates";
import { StatusMark } from "../status";
import { fit, textSize } from "./fit";
import { Tile } from "./tile";
import { useWakeLock } from "./wake-lock";
import styles from "./wallboard.module.css";

/** If no more than these are down, they are twice as wide and high as the others. */
const MAX_LARGE = 12;

export function Component() {
  return (
    <Suspense fallback={<Loading />}>
      <Wallboard />
    </Suspense>
  );
}

function Wallboard() {
  const t = useTexts();
  const [search] = useSearchParams();
  const { data, error } = useQuery(monitorsQuery);
  const rows = useMemo(() => shown(data ?? [], viewOf(search)), [data, search]);
  useTitle(t.nav.wallboard);
  useWakeLock();
  return (
    <div className={styles.wallboard}>
      <Head rows={rows} search={search.toString()} />
      {error && <ErrorNotice error={error} />}
      {data ? <Tiles rows={rows} /> : <Loading />}
    </div>
  );
}

function Head({ rows, search }: { rows: readonly MonitorRow[]; search: string }) {
  const t = useTexts();
  const { wallboard } = t;
  const { locale } = useLanguage();
  const live = [useLive(), useOnline()].every(Boolean);
  const counts = useMemo(() => countStates(rows), [rows]);
  const now = useNow();
  return (
    <header className={styles.head}>
      <h1 className={styles.title}>{t.nav.wallboard}</h1>
      <ul className={styles.counts}>
        {states
          .filter((state) => counts[state] > 0)
          .map((state) => (
            <li key={state} data-state={state}>
              <StatusMark state={state} size={24} />
              <b className="num">{counts[state].toLocaleString(locale)}</b> {t.monitors.states[state]}
            </li>
          ))}
      </ul>
      <p className={styles.stale} role="status">
        {!live && wallboard.notLive}
      </p>
      <time className={`${styles.clock ?? ""} num`}>
        {new Date(now).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" })}
      </time>
      <div className={styles.buttons}>
        {document.fullscreenEnabled && (
          <Button variant="default" leftSection={<Screen />} onClick={() => void toggleFullscreen()}>
            {wallboard.fullscreen}
          </Button>
        )}
        <Button variant="default" leftSection={<Back />} component={Link} to={pathWith("/", search)}>
          {wallboard.back}
        </Button>
      </div>
    </header>
  );
}

function toggleFullscreen(): Promise<void> {
  return document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen();
}

function Tiles({ rows }: { rows: readonly MonitorRow[] }) {
  const t = useTexts();
  const { ref, width, height } = useElementSize<HTMLUListElement>();
  const down = rows.filter((row) => row.isactive && row.status === "down").length;
  const large = down <= MAX_LARGE ? down : 0;
  const size = fit(rows.length + 3 * large, width, height);
  const style = { gridTemplateColumns: `repeat(${size.columns}, minmax(0, 1fr))`, fontSize: textSize(size) };
  return (
    <ul ref={ref} className={styles.tiles} style={style} aria-label={t.monitors.title} data-large={large > 0 || undefined}>
      {rows.map((row) => (
        <Tile key={row.monitorid} monitor={row} />
      ))}
    </ul>
  );
}
