/** A status as a shape, a color and a word, so that no one depends on color alone. */
import { useFirstTexts } from "../../shared/i18n";
import type { State } from "./data";
import styles from "./status.module.css";

export function StatusMark({ state, size = 14 }: { state: State; size?: number }) {
  return (
    <svg className={styles.mark} data-state={state} width={size} height={size} viewBox="0 0 14 14" aria-hidden="true">
      {state === "up" && <circle cx="7" cy="7" r="5" fill="currentColor" />}
      {state === "degraded" && (
        <>
          <circle cx="7" cy="7" r="4.5" fill="none" stroke="currentColor" strokeWidth="2" />
          <path d="M2.5 7a4.5 4.5 0 0 0 9 0z" fill="currentColor" />
        </>
      )}
      {state === "down" && <path d="M7 .8 13.4 12.6H.6z" fill="currentColor" strokeLinejoin="round" />}
      {state === "pending" && <circle cx="7" cy="7" r="4.5" fill="none" stroke="currentColor" strokeWidth="2" strokeDasharray="2.8 1.9" />}
      {state === "blocked" && (
        <path d="M3.4 3.4l7.2 7.2M7 2a5 5 0 1 1 0 10A5 5 0 0 1 7 2" fill="none" stroke="currentColor" strokeWidth="2" />
      )}
      {state === "paused" && <path d="M4 2.5v9M10 2.5v9" stroke="currentColor" strokeWidth="2.6" strokeLinecap="round" />}
    </svg>
  );
}

export function StatusBadge({ state }: { state: State }) {
  const t = useFirstTexts();
  return (
    <span className={styles.badge} data-state={state}>
      <StatusMark state={state} size={12} />
      {t.monitors.states[state]}
    </span>
  );
}
