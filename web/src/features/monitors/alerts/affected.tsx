/** The monitors that depend on the one that is down. */
import { useTexts } from "../../../shared/i18n";
import { Panel } from "../../../shared/ui/page";
import type { Alert } from "../data";
import styles from "./alert.module.css";

export function AffectedPanel({ affected: { count, names } }: { affected: NonNullable<Alert["affected"]> }) {
  const { alerts } = useTexts();
  return (
    <Panel title={alerts.affected} lead={alerts.affectedLead(count)}>
      <ul className={styles.affected}>
        {names.map((name, place) => (
          <li key={place}>{name}</li>
        ))}
        {count > names.length && <li>{alerts.affectedMore(count - names.length)}</li>}
      </ul>
    </Panel>
  );
}
