/** A group header: the tag, the number of monitors, and how many need attention. */
import { useTexts } from "../../../shared/i18n";
import { Chevron } from "../../../shared/ui/icons";
import { StatusMark } from "../status";
import styles from "./list.module.css";
import type { Group } from "./view";

export const GROUP_HEADER_HEIGHT = 40;

/** The states that are counted. */
const counted = ["down", "pending"] as const;

export function GroupHeader({ group, top, fold }: { group: Group; top: number; fold: () => void }) {
  const t = useTexts();
  return (
    <li className={styles.group} style={{ transform: `translateY(${top}px)`, height: GROUP_HEADER_HEIGHT }}>
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
    </li>
  );
}
