/** Alerts as rows: what, since when, for how long, and whom it was told. */
import { Link } from "react-router";
import { useNow } from "../../../shared/lib/now";
import { span } from "../../../shared/lib/time";
import { useTexts } from "../../../shared/text";
import { Moment } from "../../../shared/ui/parts";
import type { Alert } from "../data";
import styles from "./alerts.module.css";

export function AlertRows({ alerts, named }: { alerts: Alert[]; named: boolean }) {
  return (
    <ol className={styles.rows}>
      {alerts.map((alert) => (
        <Row key={alert.alertid} alert={alert} named={named} />
      ))}
    </ol>
  );
}

function Row({ alert, named }: { alert: Alert; named: boolean }) {
  const t = useTexts();
  const now = useNow();
  const open = !alert.ended;
  const until = alert.ended ? Date.parse(alert.ended) : now;
  return (
    <li className={styles.row}>
      <span className={styles.kind} data-open={open || undefined} data-kind={alert.kind}>
        {alert.kind === "certificate" ? t.alerts.certificate : open ? t.alerts.open : t.alerts.over}
      </span>
      <div className={styles.words}>
        {named && <Link to={`/monitor/${alert.monitor.monitorid}`}>{alert.monitor.name}</Link>}
        <span className={styles.cause}>{alert.cause}</span>
        {alert.deliveries.length > 0 && (
          <ul className={styles.deliveries}>
            {alert.deliveries.map((delivery) => (
              <li key={delivery.deliveryid} title={delivery.last_answer}>
                <Link to={`/notifier/${delivery.notifierid}`}>{delivery.name}</Link>: {t.alerts.deliveries(delivery.state, delivery.attempts)}
              </li>
            ))}
          </ul>
        )}
      </div>
      <span className={styles.when}>
        <Moment at={alert.started} />
      </span>
      <span className={`${styles.lasted ?? ""} num`}>{span(until - Date.parse(alert.started))}</span>
    </li>
  );
}
