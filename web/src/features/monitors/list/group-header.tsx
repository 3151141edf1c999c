/** A group header: the tag, the number of monitors, and how many need attention. */
import { useMay } from "../../../shared/api/session";
import { useFirstTexts } from "../../../shared/i18n";
import { Chevron } from "../../../shared/ui/icons";
import { StatusMark } from "../status";
import styles from "./list.module.css";
import type { Group } from "./view";

export const GROUP_HEADER_HEIGHT = 40;

/** The columns that everyone has; those of the selection and the actions depend on the role. */
const COLUMNS = 7;

/** The states that are counted. */
const counted = ["down", "degraded", "blocked", "pending"] as const;

interface Props {
  group: Group;
  top: number;
  position: number;
  fold: () => void;
}

export function GroupHeader({ group, top, position, fold }: Props) {
  const t = useFirstTexts();
  const columns = COLUMNS + Number(useMay("edit")) + Number(useMay("respond"));
  return (
    <div
      role="row"
      aria-rowindex={position}
      className={styles.group}
      style={{ transform: `translateY(${top}px)`, height: GROUP_HEADER_HEIGHT }}
    >
      <span role="cell" aria-colspan={columns}>
        <button type="button" aria-expanded={group.open} onClick={fold}>
          <Chevron />
          <b>{group.tag ?? t.monitors.untagged}</b>
          <span className={styles.groupCount}>{t.monitors.inGroup(group.total)}</span>
          <span className={styles.grow} />
          {counted.map(
            (state) =>
              group.counts[state] > 0 && (
                <span key={state} className={styles.groupCount}>
                  <StatusMark state={state} size={12} />
                  {group.counts[state]} {t.monitors.states[state]}
                </span>
              ),
          )}
        </button>
      </span>
    </div>
  );
}
