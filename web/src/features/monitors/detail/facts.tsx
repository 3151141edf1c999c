/** The key facts of a monitor: since when it has its state, its latest result, its interval. */
import { useQuery } from "@tanstack/react-query";
import { useNow } from "../../../shared/lib/now";
import { exact, interval, span } from "../../../shared/lib/time";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { Fact, Facts } from "../../../shared/ui/detail-layout";
import { Ago, Milliseconds } from "../../../shared/ui/time";
import { beatsQuery, MAX_BARS, stateOf, type Monitor } from "../data";
import { seriesQuery } from "./data";
import { earlierRange, pausedSince, statusSince } from "./since";

export function MonitorFacts({ monitor }: { monitor: Monitor }) {
  const t = useTexts();
  const push = monitor.type === "api";
  return (
    <Facts>
      <Fact label={t.detail.since[stateOf(monitor)]}>
        <Since monitor={monitor} />
      </Fact>
      {/* Nothing is requested from a push monitor, but its reports may contain a duration. */}
      {(!push || typeof monitor.load_time === "number") && (
        <Fact label={push ? t.detail.reportedTime : t.monitors.columns.load}>
          <Milliseconds ms={monitor.load_time} />
        </Fact>
      )}
      <Fact label={push ? t.detail.lastReport : t.monitors.columns.check}>
        <Ago at={monitor.last_check} />
      </Fact>
      <Fact label={push ? t.form.expected : t.form.interval}>{interval(monitor.heartbeat_interval)}</Fact>
      <Fact label={t.alerts.severity}>{t.alerts.severities[monitor.severity]}</Fact>
    </Facts>
  );
}

function Since({ monitor }: { monitor: Monitor }) {
  return monitor.isactive ? <StatusSince monitor={monitor} /> : <PausedSince monitor={monitor} />;
}

function StatusSince({ monitor }: { monitor: Monitor }) {
  const now = useNow();
  const { locale } = useLanguage();
  const changed = useStatusSince(monitor, now);
  const since = monitor.degraded_since ? Date.parse(monitor.degraded_since) : changed;
  return since === null ? "–" : <span title={exact(since, locale)}>{span(now - since)}</span>;
}

function PausedSince({ monitor }: { monitor: Monitor }) {
  const t = useTexts();
  const now = useNow();
  const { locale } = useLanguage();
  const since = pausedSince(monitor, now);
  const shown = span(now - since.at);
  return since.exact ? <span title={exact(since.at, locale)}>{shown}</span> : t.detail.atLeast(shown);
}

function useStatusSince(monitor: Monitor, now: number): number | null {
  const { data } = useQuery(beatsQuery(monitor.monitorid, MAX_BARS));
  const checks = timesOf(data);
  const range = earlierRange(monitor, checks);
  const { data: earlier } = useQuery({ ...seriesQuery(monitor.monitorid, range ?? { last: 0 }, false), enabled: range !== null });
  if (range && earlier) return statusSince(monitor, timesOf(earlier.points), range.to, earlier.step);
  return statusSince(monitor, checks, now);
}

function timesOf(list: readonly { at: string }[] | undefined): number[] {
  return list?.map(({ at }) => Date.parse(at)) ?? [];
}
