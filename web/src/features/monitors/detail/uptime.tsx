/** A table of uptime and response times by period. */
import { useQuery } from "@tanstack/react-query";
import type { components } from "../../../shared/api/schema";
import { interval, percent } from "../../../shared/lib/time";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { Loading } from "../../../shared/ui/loading";
import { Panel } from "../../../shared/ui/page";
import { Milliseconds } from "../../../shared/ui/time";
import type { Span } from "../data";
import { statsQuery } from "./data";
import styles from "./detail.module.css";

const hours: Partial<Record<string, number>> = { "24h": 24, "7d": 168, "30d": 720, "90d": 2160, "365d": 8760 };

export function Uptime({ id }: { id: string }) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(statsQuery(id));
  return (
    <Panel title={t.detail.uptime} lead={t.detail.uptimeHelp} flush>
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <div className={styles.scroll} tabIndex={0} role="group" aria-label={t.detail.uptime}>
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">{t.detail.span}</th>
                {t.detail.figures.map((figure) => (
                  <th key={figure} scope="col">
                    {figure}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.spans.map((span) => (
                <Row key={span.from} span={span} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {data?.slo && <Objective slo={data.slo} />}
    </Panel>
  );
}

/** What has been attained of the objective, and how much of its budget is left. */
function Objective({ slo }: { slo: components["schemas"]["SloReport"] }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const attained = typeof slo.attained === "number" ? percent(slo.attained, locale) : "–";
  const left = slo.left_seconds;
  return (
    <p className={styles.objective} data-over={left < 0 || undefined}>
      {t.detail.objective(attained)}{" "}
      {left < 0
        ? t.detail.budgetSpent(interval(Math.round(-left)))
        : t.detail.budgetLeft(interval(Math.round(left)), interval(Math.round(slo.budget_seconds)))}
    </p>
  );
}

function Row({ span }: { span: Span }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const { uptime, load_time: load } = span;
  const long = (seconds: number | null | undefined) => (typeof seconds === "number" ? interval(seconds) : "–");
  // For a new monitor all periods look alike; the long ones are marked as based on little data.
  const { no_data, up, down, pending, unknown, maintenance } = span.seconds;
  const watched = up + down + pending + unknown + maintenance;
  const thin = no_data > watched;
  return (
    <tr className="num" data-thin={thin || undefined}>
      <th scope="row">
        {t.detail.spans(hours[span.span ?? ""] ?? 0)}
        {thin && <small>{t.detail.basedOn(interval(watched))}</small>}
        {maintenance > 0 && <small>{t.maintenance.excluded(interval(maintenance))}</small>}
        {span.seconds.degraded > 0 && <small>{t.detail.degradedFor(interval(span.seconds.degraded))}</small>}
      </th>
      <td className={styles.strong}>{typeof uptime === "number" ? percent(uptime, locale) : "–"}</td>
      <td>{typeof uptime === "number" ? span.outages : "–"}</td>
      <td>{long(span.longest_outage)}</td>
      <td>{long(span.mean_time_to_recover)}</td>
      <td>
        <Milliseconds ms={load?.p50} />
      </td>
      <td>
        <Milliseconds ms={load?.p95} />
      </td>
      <td>
        <Milliseconds ms={load?.p99} />
      </td>
    </tr>
  );
}
