/** The status of a window, what it does, and what is shown of its times. */
import type { MaintenanceStatus } from "../../shared/api/closed-sets";
import type { Maintenance } from "../../shared/api/maintenances";
import { useTexts } from "../../shared/i18n";
import { Badge, type Tone } from "../../shared/ui/badge";
import styles from "./maintenance.module.css";
import { When } from "./times";

const tones: Record<MaintenanceStatus, Tone> = { running: "accent", scheduled: "up", ended: "rest", inactive: "rest" };

export function WindowStatus({ status }: { status: MaintenanceStatus }) {
  const { maintenance } = useTexts();
  return <Badge tone={tones[status]}>{maintenance.statuses[status]}</Badge>;
}

export function Effects({ window: { checks, alerts, counts, dependents, everything } }: { window: Maintenance }) {
  const { effects } = useTexts().maintenance;
  const words = [
    ...(checks === "pause" ? [effects.pause] : []),
    effects[alerts],
    effects[counts],
    ...(dependents || everything ? [] : [effects.withoutDependents]),
  ];
  return (
    <ul className={styles.effects}>
      {words.map((word) => (
        <li key={word}>{word}</li>
      ))}
    </ul>
  );
}

/** When it is running, happens next, or happened. */
export function CurrentTime({ window }: { window: Maintenance }) {
  const { maintenance } = useTexts();
  const { current, next, status } = window;
  const [first] = next;
  if (current) return <When occurrence={current} />;
  if (first) {
    return (
      <>
        {maintenance.next}: <When occurrence={first} />
      </>
    );
  }
  // The start of a window without a rule, if it was sent as a local time, is only known by its end.
  if (status !== "ended" || !window.ends || !window.duration) return null;
  const from = new Date(Date.parse(window.ends) - window.duration * 1000).toISOString();
  return <When occurrence={{ from, to: window.ends }} />;
}
