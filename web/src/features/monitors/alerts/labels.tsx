/** The status and severity of an alert in one word each, and who has responded to it. */
import { useTexts } from "../../../shared/i18n";
import { Link } from "../../../shared/router";
import { Badge, type Tone } from "../../../shared/ui/badge";
import { Moment } from "../../../shared/ui/time";
import type { AlertStatus, Severity } from "../../../shared/api/closed-sets";
import type { Alert } from "../data";
import styles from "./alerts.module.css";

const tones: Record<AlertStatus, Tone> = {
  open: "down",
  acknowledged: "accent",
  snoozed: "wait",
  suppressed: "rest",
  resolved: "rest",
  over: "rest",
};

export function StatusLabel({ alert: { kind, status } }: { alert: Pick<Alert, "kind" | "status"> }) {
  const { alerts } = useTexts();
  // A certificate warning has no duration, so it is over as soon as it was sent.
  const isWarning = kind === "certificate" && status === "over";
  return <Badge tone={isWarning ? "wait" : tones[status]}>{isWarning ? alerts.certificate : alerts.statuses[status]}</Badge>;
}

export function SeverityLabel({ severity }: { severity: Severity }) {
  const { alerts } = useTexts();
  return (
    <span className={styles.severity} data-severity={severity}>
      <span className="sr-only">{alerts.severity}: </span>
      {alerts.severities[severity]}
    </span>
  );
}

/** Who has responded, and what suppresses the alert. */
export function Responses({ alert }: { alert: Alert }) {
  const { alerts } = useTexts();
  const { acknowledged, snoozed_until, assignee, resolved, suppressed_by, ended } = alert;
  const hiddenBy = ended ? alert.maintenance : null;
  if (!acknowledged && !snoozed_until && !assignee && !resolved && !suppressed_by && !hiddenBy) return null;
  return (
    <ul className={styles.responses}>
      {suppressed_by && (
        <li>
          {suppressed_by.reason === "maintenance" ? (
            <Link to={`/maintenance/${suppressed_by.id}`}>{alerts.suppressedBy[suppressed_by.reason](suppressed_by.name)}</Link>
          ) : (
            alerts.suppressedBy[suppressed_by.reason](suppressed_by.name)
          )}
          {suppressed_by.until && (
            <>
              , {alerts.suppressedUntil} <Moment at={suppressed_by.until} />
            </>
          )}
          {suppressed_by.reason === "maintenance" && !suppressed_by.until && `, ${alerts.suppressedOpen}`}
        </li>
      )}
      {hiddenBy && (
        <li>
          {hiddenBy.maintenanceid ? (
            <Link to={`/maintenance/${hiddenBy.maintenanceid}`}>{alerts.duringMaintenance(hiddenBy.name)}</Link>
          ) : (
            alerts.duringMaintenance(hiddenBy.name)
          )}
        </li>
      )}
      {acknowledged && (
        <li>
          {alerts.acknowledgedBy(acknowledged.name)} · <Moment at={acknowledged.at} />
        </li>
      )}
      {snoozed_until && (
        <li>
          {alerts.snoozedUntil} <Moment at={snoozed_until} />
        </li>
      )}
      {assignee && <li>{alerts.assignedTo(assignee.name)}</li>}
      {resolved && (
        <li>
          {alerts.resolvedBy(resolved.name)} · <Moment at={resolved.at} />
        </li>
      )}
    </ul>
  );
}
