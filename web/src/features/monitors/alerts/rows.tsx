/** Alerts as rows: what, since when, for how long, and whom it was told. */
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
        {warning ? t.alerts.certificate : open ? t.alerts.open : t.alerts.over}
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
      {/* A warning is given at a moment; only an outage lasts. */}
      <span className={`${styles.lasted ?? ""} num`}>{!warning && span(until - Date.parse(alert.started))}</span>
    </li>
  );
}

/** Whether a notifier has it; of one that has not, why, and when it is tried again. */
function DeliveryStatus({ delivery, about }: { delivery: Alert["deliveries"][number]; about: string }) {
  const t = useTexts();
  const standing = deliveryStateOf(delivery);
  const wanting = standing === "retrying" || standing === "failed";
  return (
    <li data-wanting={wanting || undefined}>
      <span>
        <Link to={`/notifier/${delivery.notifierid}`}>{delivery.name}</Link>: {t.alerts.deliveries(standing, delivery.attempts)}
        {wanting && delivery.next_try && (
          <>
            {" · "}
            {t.notifiers.nextTry} <Moment at={delivery.next_try} />
          </>
        )}
      </span>
      {wanting && (
        <>
          <Resend deliveryid={delivery.deliveryid} standing={standing} about={about} />
          <span className={styles.answer}>
            <ExpandableText text={delivery.last_answer} />
          </span>
        </>
      )}
    </li>
  );
}
