/** Response times from the last hour to the last year, with zoom by dragging. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import { useTexts, type Texts } from "../../../shared/i18n";
import { useSearchParams } from "../../../shared/router";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { Back } from "../../../shared/ui/icons";
import { Loading } from "../../../shared/ui/loading";
import { Panel } from "../../../shared/ui/page";
import { SegmentedControl } from "../../../shared/ui/segmented-control";
import { alertsInQuery } from "../alerts/data";
import { beatsQuery, MAX_BARS, type Heartbeat, type Monitor, type RegionLine } from "../data";
import { seriesQuery, statsQuery } from "./data";
import { useStandings } from "../planned";
import { hasRemoteRegions, LOCAL } from "../regions";
import type { Mode } from "./chart";
import styles from "./detail.module.css";
import { isZoom, rangeOf, ranges, windowOf, withoutZoom, withRange, withZoom, zoomOf, type Range } from "./range";
import {
  firstCheck,
  hasReading,
  maintenanceIn,
  outages,
  phases,
  regionColor,
  unknownIn,
  without,
  type Outage,
  type ReadingOf,
} from "./series";

const Chart = lazy(() => import("./chart"));

const names = Object.keys(ranges) as Range[];
const NO_BEATS: Heartbeat[] = [];

/** Nothing is requested from a push monitor: there is a chart only if its reports contain a duration. */
export function ResponseTimePanel({ monitor }: { monitor: Monitor }) {
  const { data } = useQuery(statsQuery(monitor.monitorid));
  const measured = typeof monitor.load_time === "number" || data?.spans.some((span) => typeof span.load_time?.p50 === "number");
  return monitor.type !== "api" || measured ? <ResponseTime monitor={monitor} /> : null;
}

function ResponseTime({ monitor }: { monitor: Monitor }) {
  const t = useTexts();
  const { monitorid, heartbeat_interval, created } = monitor;
  const title = monitor.type === "api" ? t.detail.reportedTime : t.detail.loadTime;
  const [search, setSearch] = useSearchParams();
  const change = (next: URLSearchParams) => setSearch(next, { replace: true, keepScroll: true });
  const zoomed = zoomOf(search) !== null;
  const [mode, setMode] = useState<Choice>("percentiles");
  const window = windowOf(search);
  const split = hasRemoteRegions(monitor);
  const { data, error, refetch, isPlaceholderData } = useQuery(seriesQuery(monitorid, window, split && mode === "regions"));
  const { data: alerts } = useQuery(alertsInQuery(monitorid, window));
  const { data: recent } = useQuery(beatsQuery(monitorid, MAX_BARS));
  const beats = useStandings(recent ?? NO_BEATS, monitor.maintenance);
  // A heartbeat that changes nothing does not draw the chart again.
  const spans = JSON.stringify(data ? maintenanceIn(data, heartbeat_interval, beats) : []);
  const planned = useMemo(() => JSON.parse(spans) as Outage[], [spans]);
  const unknown = useMemo(() => (data ? unknownIn(data, heartbeat_interval) : []), [data, heartbeat_interval]);
  const down = useMemo(() => (data ? without(outages(alerts ?? [], data), planned) : []), [alerts, data, planned]);
  const first = data ? firstCheck(data, created) : null;
  const phased = data?.points.some((point) => phases.some((phase) => typeof point.phases[phase] === "number")) ?? false;
  const measured = readingsOf(monitor, t).filter(({ place }) => mode === `reading-${place}` || (data && hasReading(data.points, place)));
  const modes: (readonly [Choice, string])[] = [
    ["percentiles", t.detail.modes.percentiles],
    ...(phased ? [["phases", t.detail.modes.phases] as const] : []),
    ...(split ? [["regions", t.detail.modes.regions] as const] : []),
    ...measured.map(({ place, name }) => [`reading-${place}` as const, name] as const),
  ];
  const chosen = modes.some(([each]) => each === mode) ? mode : "percentiles";
  const reading = measured.find(({ place }) => chosen === `reading-${place}`) ?? null;
  const shown: Mode = reading ? "reading" : chosen === "phases" || chosen === "regions" ? chosen : "percentiles";
  const lines = shown === "regions" ? (data?.regions ?? []) : [];
  return (
    <Panel
      title={title}
      lead={reading ? t.detail.readingHelp : t.detail.loadTimeHelp}
      actions={
        <SegmentedControl
          label={t.detail.range}
          choices={names.map((name) => [name, t.detail.spans(ranges[name] / 3600)] as const)}
          chosen={zoomed ? null : rangeOf(search)}
          choose={(name) => change(withRange(search, name))}
        />
      }
    >
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      <div className={styles.chart} data-old={isPlaceholderData || undefined}>
        {data && shown === "regions" && lines.length === 0 && !isPlaceholderData ? (
          <p className={styles.quiet}>{data.source === "raw" ? t.detail.noChart : t.detail.noLines}</p>
        ) : data && reading && !hasReading(data.points, reading.place) && !isPlaceholderData ? (
          <p className={styles.quiet}>{data.source === "raw" ? t.detail.noChart : t.detail.noReadings}</p>
        ) : data ? (
          <Suspense fallback={<Loading />}>
            <Chart
              title={title}
              series={data}
              down={down}
              planned={planned}
              unknown={unknown}
              first={first}
              mode={shown}
              reading={reading}
              interval={heartbeat_interval}
              zoom={(from, to) => isZoom(from, to) && change(withZoom(search, from, to))}
            />
          </Suspense>
        ) : (
          !error && <Loading />
        )}
      </div>
      <div className={styles.chartFoot}>
        <Legend
          mode={shown}
          reading={reading}
          lines={lines}
          young={first !== null}
          planned={planned.length > 0}
          unknown={unknown.length > 0}
        />
        {zoomed && (
          <Button variant="default" size="xs" leftSection={<Back />} onClick={() => change(withoutZoom(search))}>
            {t.detail.resetZoom}
          </Button>
        )}
        {modes.length > 1 && <SegmentedControl label={t.detail.mode} choices={modes} chosen={chosen} choose={setMode} />}
      </div>
    </Panel>
  );
}

/** What the chart can show: a mode, or one of the numbers that the checks measure. */
type Choice = Exclude<Mode, "reading"> | "reading-0" | "reading-1";

/** The numbers that the checks of a monitor measure, beside their times. */
export function readingsOf(monitor: Pick<Monitor, "type" | "ping" | "assertions">, t: Texts): ReadingOf[] {
  const charted = monitor.assertions.find((assertion) => assertion.chart);
  if (charted) return [{ place: 0, name: [charted.source, charted.property].filter(Boolean).join(" "), unit: unitOf(charted.source) }];
  if (monitor.type !== "ping" || (monitor.ping?.count ?? 1) === 1) return [];
  return [
    { place: 0, name: t.detail.loss, unit: "%" },
    { place: 1, name: t.detail.jitter, unit: "ms" },
  ];
}

function unitOf(source: string): string {
  if (source === "response_time" || source === "jitter") return "ms";
  return source === "loss" ? "%" : "";
}

interface LegendProps {
  mode: Mode;
  reading: ReadingOf | null;
  lines: readonly RegionLine[];
  young: boolean;
  planned: boolean;
  unknown: boolean;
}

function Legend({ mode, reading, lines, young, planned, unknown }: LegendProps) {
  const t = useTexts();
  const marks: [string, string][] = reading
    ? [
        ["p50", t.detail.readingMean(reading.name)],
        ["p95", t.detail.readingRange],
      ]
    : mode === "regions"
      ? lines.map(({ region }, index) => [regionColor(index), region === LOCAL ? t.regions.local : region])
      : mode === "phases"
        ? phases.map((phase) => [phase, t.monitors.phases[phase]])
        : t.detail.percentiles.map(([mark, word]) => [mark, word]);
  return (
    <ul className={styles.legend}>
      {marks.map(([mark, word]) => (
        <li key={word}>
          <i data-mark={mark} aria-hidden="true" />
          {word}
        </li>
      ))}
      <li>
        <i data-mark="down" aria-hidden="true" />
        {t.detail.shaded}
      </li>
      {planned && (
        <li>
          <i data-mark="maintenance" aria-hidden="true" />
          {t.maintenance.legend}
        </li>
      )}
      {unknown && (
        <li>
          <i data-mark="unreachable" aria-hidden="true" />
          {t.maintenance.unreachable}
        </li>
      )}
      {young && (
        <li>
          <i data-mark="before" aria-hidden="true" />
          {t.detail.beforeFirst}
        </li>
      )}
    </ul>
  );
}
