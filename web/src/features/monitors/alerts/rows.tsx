/** Alerts as rows: the cause, the start, the duration, and who was notified. */
import { Link } from "react-router";
import { deliveryStateOf } from "../../../shared/api/deliveries";
import { useNow } from "../../../shared/lib/now";
import { span } from "../../../shared/lib/time";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { ExpandableText } from "../../../shared/ui/expandable-text";
import { Resend } from "../../../shared/ui/resend";
import { Moment } from "../../../shared/ui/time";
import type { Alert } from "../data";
import styles from "./alerts.module.css";
import { causeOf } from "./cause";

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
  const { locale, texts: t } = useLanguage();
  const now = useNow();
  const open = !alert.ended;
  const until = alert.ended ? Date.parse(alert.ended) : now;
  const warning = alert.kind === "certificate";
  return (
    <li className={styles.row}>
      <span className={styles.kind} data-open={open || undefined} data-kind={alert.kind}>
        {warning ? t.alerts.certificate : open ? t.alerts.open : t.alerts.resolved}
      </span>
      <div className={styles.words}>
        {named && <Link to={`/monitor/${alert.monitor.monitorid}`}>{alert.monitor.name}</Link>}
        <div className={styles.cause}>
          <ExpandableText text={causeOf(alert, t, locale)} />
        </div>
        {alert.deliveries.length > 0 && (
          <ul className={styles.deliveries}>
            {alert.deliveries.map((delivery) => (
              <DeliveryStatus key={delivery.deliveryid} delivery={delivery} about={alert.monitor.name} />
            ))}
          </ul>
        )}
      </div>
      <span className={styles.when}>
        <Moment at={alert.started} />
      </span>
      {/* Only outages have a duration. */}
      <span className={`${styles.lasted ?? ""} num`}>{!warning && span(until - Date.parse(alert.started))}</span>
    </li>
  );
}

/** The delivery to one notifier; if it has not arrived, why, and when the next attempt is. */
function DeliveryStatus({ delivery, about }: { delivery: Alert["deliveries"][number]; about: string }) {
  const t = useTexts();
  const state = deliveryStateOf(delivery);
  const undelivered = state === "retrying" || state === "failed";
  return (
    <li data-undelivered={undelivered || undefined}>
      <span>
        <Link to={`/notifier/${delivery.notifierid}`}>{delivery.name}</Link>: {t.alerts.deliveryStates[state]}
        {delivery.attempts > 1 && ` (${t.notifiers.attempts(delivery.attempts)})`}
        {undelivered && delivery.next_try && (
          <>
            {" · "}
            {t.notifiers.nextAttempt} <Moment at={delivery.next_try} />
          </>
        )}
      </span>
      {undelivered && (
        <>
          <Resend deliveryid={delivery.deliveryid} state={state} about={about} />
          <span className={styles.answer}>
            <ExpandableText text={delivery.last_answer} />
          </span>
        </>
      )}
    </li>
  );
}
