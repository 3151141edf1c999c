/** The result of one check, with the duration of its phases. */
import { useTexts } from "../../shared/i18n";
import { Milliseconds } from "../../shared/ui/time";
import { kindOf, stateOfBeat, type Heartbeat } from "./data";
import styles from "./check-result.module.css";
import { StatusBadge } from "./status";

const phases = ["resolve", "connect", "tls", "first_byte", "transfer"] as const;

export function CheckResult({ beat }: { beat: Heartbeat }) {
  const t = useTexts();
  return (
    <div className={styles.result} role="status">
      <div className={styles.line}>
        <StatusBadge state={kindOf(beat) === "degraded" ? "degraded" : stateOfBeat(beat.status)} />
        <span className={styles.message}>{beat.message}</span>
        {typeof beat.load_time === "number" && (
          <b className="num">
            <Milliseconds ms={beat.load_time} />
          </b>
        )}
      </div>
      {beat.status === "unknown" && <p className={styles.help}>{t.monitors.unknownHelp}</p>}
      <Phases beat={beat} />
    </div>
  );
}

/** The phases as a stacked bar with a legend. */
export function Phases({ beat }: { beat: Pick<Heartbeat, "phases"> }) {
  const t = useTexts();
  const parts = phases.flatMap((phase) => {
    const ms = beat.phases[phase];
    return typeof ms === "number" ? [{ phase, ms }] : [];
  });
  const total = parts.reduce((sum, part) => sum + part.ms, 0);
  if (total === 0) return null;
  return (
    <div className={styles.phases}>
      <div className={styles.strip} aria-hidden="true">
        {parts.map(({ phase, ms }) => (
          <span key={phase} data-phase={phase} style={{ width: `${(ms / total) * 100}%` }} />
        ))}
      </div>
      <dl className={styles.legend}>
        {parts.map(({ phase, ms }) => (
          <div key={phase}>
            <dt>
              <i data-phase={phase} aria-hidden="true" />
              {t.monitors.phases[phase]}
            </dt>
            <dd className="num">
              <Milliseconds ms={ms} />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
