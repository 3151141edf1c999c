/** The alerts that a bulk action has left unchanged, and why. */
import { useTexts } from "../../../shared/i18n";
import { Link } from "../../../shared/router";
import { Cross } from "../../../shared/ui/icons";
import styles from "./alerts.module.css";

export interface SkippedAlert {
  alertid: string;
  name: string;
  isOver: boolean;
}

/** How many are listed by name. */
const MAX_NAMED = 10;

export function SkippedNotice({ skipped, dismiss }: { skipped: SkippedAlert[]; dismiss: () => void }) {
  const t = useTexts();
  const rest = skipped.length - MAX_NAMED;
  return (
    <div className={styles.skipped} role="status">
      <p>
        {t.alerts.skipped(skipped.length)}{" "}
        {skipped.slice(0, MAX_NAMED).map(({ alertid, name, isOver }, index) => (
          <span key={alertid}>
            {index > 0 && ", "}
            {isOver ? <Link to={`/alert/${alertid}`}>{name}</Link> : name} ({isOver ? t.alerts.skippedOver : t.alerts.skippedGone})
          </span>
        ))}
        {rest > 0 && ` ${t.notifiers.andMore(rest)}`}
      </p>
      <button type="button" onClick={dismiss} aria-label={t.common.dismiss}>
        <Cross size={14} />
      </button>
    </div>
  );
}
