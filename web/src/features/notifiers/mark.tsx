/** The mark of a kind: initials on a color for a service, an icon for everything else. They are ours, not the logos of the services. */
import type { Kind } from "./kinds";
import type { ServiceType } from "../../shared/api/closed-sets";
import { Hook, Mail } from "../../shared/ui/icons";
import styles from "./gallery.module.css";

/** The initials and the number of the color in tokens.css. */
const marks: Record<ServiceType, readonly [string, number]> = {
  slack: ["Sl", 3],
  discord: ["Di", 0],
  telegram: ["Tg", 2],
  teams: ["MT", 3],
  ntfy: ["nt", 2],
  pushover: ["Po", 0],
  gotify: ["Go", 1],
  pagerduty: ["PD", 2],
  google_chat: ["GC", 1],
  mattermost: ["Mm", 0],
  matrix: ["Mx", 5],
  opsgenie: ["Og", 5],
  apprise: ["Ap", 3],
  twilio: ["Tw", 2],
  signal: ["Si", 0],
  alertmanager: ["Am", 5],
};

export function KindMark({ kind }: { kind: Kind }) {
  const mark = (marks as Partial<Record<string, readonly [string, number]>>)[kind];
  return (
    <span className={styles.mark} data-color={mark?.[1]} aria-hidden="true">
      {mark ? mark[0] : kind === "email" || kind === "account" ? <Mail /> : <Hook />}
    </span>
  );
}
