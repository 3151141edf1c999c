/** Response times from the last hour to the last year, with zoom by dragging. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import { useTexts } from "../../../shared/i18n";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { Back } from "../../../shared/ui/icons";
import { Loading } from "../../../shared/ui/loading";
import { Panel } from "../../../shared/ui/page";
import { SegmentedControl } from "../../../shared/ui/segmented-control";
import { alertsIn, series, type Monitor, type RegionLine, type Window } from "../data";
import { hasRemoteRegions, LOCAL } from "../regions";
import type { Mode } from "./chart";
import styles from "./detail.module.css";
import { outages, phases, regionColour } from "./series";

const Chart = lazy(() => import("./chart"));

const HOUR = 3600;
const ranges = [1, 6, 24, 7 * 24, 30 * 24, 90 * 24, 365 * 24].map((hours) => hours * HOUR);
/** The shortest range to zoom into, in ms. */
const MIN_ZOOM = 60_000;

export function ResponseTime({ monitor }: { monitor: Monitor }) {
  const t = useTexts();
  const { monitorid, heartbeat_interval } = monitor;
  const [range, setRange] = useState(HOUR);
  const [zoomed, setZoomed] = useState<{ from: number; to: number } | null>(null);
  const [mode, setMode] = useState<Mode>("percentiles");
  const window: Window = zoomed ?? { last: range };
  const split = hasRemoteRegions(monitor);
  const { data, error, refetch, isPlaceholderData } = useQuery(series(monitorid, window, split && mode === "regions"));
  const { data: alerts } = useQuery(alertsIn(monitorid, window));
  const down = useMemo(() => (data ? outages(alerts ?? [], data) : []), [alerts, data]);
  const phased = data?.points.some((point) => phases.some((phase) => typeof point.phases[phase] === "number")) ?? false;
  const modes = (["percentiles", ...(phased ? ["phases"] : []), ...(split ? ["regions"] : [])] as Mode[]).map(
    (each) => [each, t.detail.modes[each]] as const,
  );
  const shown: Mode = modes.some(([each]) => each === mode) ? mode : "percentiles";
  const lines = shown === "regions" ? (data?.regions ?? []) : [];
  return (
    <Panel
      title={t.detail.loadTime}
      lead={t.detail.loadTimeHelp}
      actions={
        <SegmentedControl
          label={t.detail.range}
          choices={ranges.map((seconds) => [seconds, t.detail.spans(seconds / HOUR)] as const)}
          chosen={zoomed ? 0 : range}
          choose={(seconds) => {
            setZoomed(null);
            setRange(seconds);
          }}
        />
      }
    >
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      <div className={styles.chart} data-old={isPlaceholderData || undefined}>
        {data && shown === "regions" && lines.length === 0 && !isPlaceholderData ? (
          <p className={styles.quiet}>{data.source === "raw" ? t.detail.noChart : t.detail.noLines}</p>
        ) : data && data.points.length > 0 ? (
          <Suspense fallback={<Loading />}>
            <Chart
              series={data}
              down={down}
              mode={shown}
              interval={heartbeat_interval}
              zoom={(from, to) => to - from >= MIN_ZOOM && setZoomed({ from: Math.floor(from), to: Math.ceil(to) })}
            />
          </Suspense>
        ) : data ? (
          <p className={styles.quiet}>{t.detail.noChart}</p>
        ) : (
          !error && <Loading />
        )}
      </div>
      <div className={styles.chartFoot}>
        <Legend mode={shown} lines={lines} />
        {zoomed && (
          <Button variant="default" size="xs" leftSection={<Back />} onClick={() => setZoomed(null)}>
            {t.detail.resetZoom}
          </Button>
        )}
        {modes.length > 1 && <SegmentedControl label={t.detail.mode} choices={modes} chosen={shown} choose={setMode} />}
      </div>
    </Panel>
  );
}

function Legend({ mode, lines }: { mode: Mode; lines: readonly RegionLine[] }) {
  const t = useTexts();
  const marks: [string, string][] =
    mode === "regions"
      ? lines.map(({ region }, index) => [regionColour(index), region === LOCAL ? t.regions.local : region])
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
    </ul>
  );
}
