/** What is wrong with a monitor that is down or degraded, and what its latest failing check saw. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useLanguage, useTexts, type Texts } from "../../../shared/i18n";
import { Link } from "../../../shared/router";
import { ExpandableText } from "../../../shared/ui/expandable-text";
import { Moment } from "../../../shared/ui/time";
import { causeOf } from "../alerts/cause";
import { alertsOfQuery } from "../alerts/data";
import { EvidencePanel } from "../alerts/evidence";
import { Responses } from "../alerts/labels";
import { isLasting } from "../alerts/view";
import { monitorQuery, stateOf, type Monitor } from "../data";
import { evidenceQuery } from "./data";
import styles from "./detail.module.css";

/** Heartbeats bring a new status or health, but neither its reason nor its start: they are fetched. */
export function useReason({ monitorid, status, health }: Monitor) {
  const client = useQueryClient();
  const state = `${status} ${health}`;
  const fetched = useRef(state);
  useEffect(() => {
    if (fetched.current === state) return;
    fetched.current = state;
    void client.invalidateQueries({ queryKey: monitorQuery(monitorid).queryKey });
  }, [client, monitorid, state]);
}

/** An outage lasts even while a monitor is paused; whether it is degraded is then unknown. */
function troubleOf(monitor: Monitor): "down" | "degraded" | null {
  if (monitor.status === "down") return "down";
  return stateOf(monitor) === "degraded" ? "degraded" : null;
}

/** In one line: since when it is down or degraded, why, who has responded, and a link to its alert. */
export function Unhealthy({ monitor }: { monitor: Monitor }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const { data } = useQuery(alertsOfQuery(monitor.monitorid));
  const trouble = troubleOf(monitor);
  if (trouble === null) return null;
  const alert = data?.find(({ kind, status }) => kind === (trouble === "down" ? "outage" : "degraded") && isLasting(status));
  const since = alert?.started ?? (trouble === "down" ? monitor.status_since : monitor.degraded_since);
  const cause = alert ? causeOf(alert, t, locale) : trouble === "down" ? monitor.last_message : (monitor.degraded_cause ?? "");
  return (
    <div className={styles.unhealthy} data-state={trouble}>
      <p role="status">
        {since && (
          <b>
            {t.detail.wrongSince[trouble]} <Moment at={since} />.
          </b>
        )}{" "}
        <ExpandableText text={explained(alert?.reason ?? monitor.reason, cause, t)} />
      </p>
      {alert && (
        <>
          <Responses alert={alert} />
          <Link to={`/alert/${alert.alertid}`}>{t.detail.toEvidence}</Link>
        </>
      )}
    </div>
  );
}

/** The reason in words and the message of the check, which may begin with the same words. */
function explained(reason: string | null | undefined, cause: string, t: Texts): string {
  const words = reason ? (t.evidence.reasons[reason] ?? reason) : "";
  return cause.toLowerCase().startsWith(words.toLowerCase()) ? cause : [words, cause].filter(Boolean).join(": ");
}

/** The newest evidence, which is open while something is wrong. */
export function LatestEvidence({ monitor }: { monitor: Monitor }) {
  const { evidence: t } = useTexts();
  const { data } = useQuery(evidenceQuery(monitor));
  if (!data) return null;
  return (
    <EvidencePanel
      evidence={[data]}
      title={t.latest}
      open={troubleOf(monitor) !== null}
      actions={data.alertid && <Link to={`/alert/${data.alertid}`}>{t.ofAlert}</Link>}
    />
  );
}
