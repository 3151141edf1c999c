/** Who is notified about a monitor, and a warning if it is down and no one is. */
import { useQuery } from "@tanstack/react-query";
import { notifiersQuery, receiverOf } from "../../../shared/api/notifiers";
import { policiesQuery } from "../../../shared/api/policies";
import { useTexts } from "../../../shared/i18n";
import { Link } from "../../../shared/router";
import { Badge } from "../../../shared/ui/badge";
import { May } from "../../../shared/ui/may";
import { Panel } from "../../../shared/ui/page";
import { stateOf, type Monitor } from "../data";
import { isAnyoneNotified } from "../notified";
import styles from "./detail.module.css";

export function DownUnnotified({ monitor }: { monitor: Monitor }) {
  const t = useTexts();
  const { data } = useQuery(notifiersQuery);
  // A policy that reaches nobody notifies every member of the team.
  if (stateOf(monitor) !== "down" || monitor.policyid || isAnyoneNotified(idsOf(monitor), data)) return null;
  return (
    <p className={styles.warning} role="status">
      {t.notifiers.downUnnotified} <AddNotifiers monitor={monitor} />
    </p>
  );
}

export function Notified({ monitor }: { monitor: Monitor }) {
  const t = useTexts();
  const { data } = useQuery(notifiersQuery);
  const linked = monitor.notifiers.toSorted((a, b) => a.name.localeCompare(b.name));
  return (
    <Panel title={t.notifiers.title} lead={t.notifiers.chooseHelp}>
      {!monitor.policyid && !isAnyoneNotified(idsOf(monitor), data) && (
        <p className={styles.unnotified}>
          {t.monitors.nobody} <AddNotifiers monitor={monitor} />
        </p>
      )}
      <ul className={styles.notified}>
        {linked.map(({ notifierid, name }) => {
          const notifier = data?.find((each) => each.notifierid === notifierid);
          return (
            <li key={notifierid}>
              <Link to={`/notifier/${notifierid}`}>{name}</Link>
              {notifier && <span>{receiverOf(notifier)}</span>}
              {notifier && !notifier.isactive && <Badge tone="wait">{t.notifiers.off}</Badge>}
            </li>
          );
        })}
      </ul>
      {monitor.policyid && <PolicyLine policyid={monitor.policyid} />}
    </Panel>
  );
}

function PolicyLine({ policyid }: { policyid: string }) {
  const { escalation } = useTexts();
  const { data } = useQuery(policiesQuery);
  const name = data?.find((policy) => policy.policyid === policyid)?.name;
  return (
    <p>
      {escalation.policy}: <Link to="/oncall/policies">{name ?? "…"}</Link>
    </p>
  );
}

function AddNotifiers({ monitor: { monitorid } }: { monitor: Monitor }) {
  const t = useTexts();
  return (
    <May do="edit">
      <Link to={`/monitor/${monitorid}/edit`}>{t.notifiers.add}</Link>
    </May>
  );
}

function idsOf({ notifiers }: Monitor): string[] {
  return notifiers.map(({ notifierid }) => notifierid);
}
