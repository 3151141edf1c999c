/** Alerts as rows: the cause, the start, the duration, and who was notified. */
import { deliveryStateOf, isPartly } from "../../../shared/api/deliveries";
import { isEventType } from "../../../shared/api/events";
import { useNow } from "../../../shared/lib/now";
import { span } from "../../../shared/lib/time";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { Link } from "../../../shared/router";
import { ExpandableText } from "../../../shared/ui/expandable-text";
import { RefusedRecipients } from "../../../shared/ui/recipients";
import { Resend } from "../../../shared/ui/resend";
import { Moment } from "../../../shared/ui/time";
import type { Alert } from "../data";
import styles from "./alerts.module.css";
import { causeOf } from "./cause";
import { Responses, SeverityLabel, StatusLabel } from "./labels";
import { hasDuration } from "./view";

export interface Selection {
  selected: ReadonlySet<string>;
  toggle: (alertid: string) => void;
}

interface Props {
  alerts: Alert[];
  /** Whether the name of the monitor is shown. */
  named: boolean;
  /** For users who may respond to several alerts at once. */
  selection?: Selection | null;
}

export function AlertRows({ alerts, named, selection = null }: Props) {
  return (
    <ol className={styles.rows} data-selectable={selection !== null || undefined}>
      {alerts.map((alert) => (
        <Row key={alert.alertid} alert={alert} named={named} selection={selection} />
      ))}
    </ol>
  );
}

function Row({ alert, named, selection }: { alert: Alert; named: boolean; selection: Selection | null }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const now = useNow();
  const until = alert.ended ? Date.parse(alert.ended) : now;
  const { name } = alert.monitor;
  const selected = selection?.selected.has(alert.alertid) ?? false;
  return (
    <li className={styles.row} data-selected={selected || undefined}>
      {selection && (
        <label className={styles.select}>
          <input type="checkbox" checked={selected} onChange={() => selection.toggle(alert.alertid)} />
          <span className="sr-only">{t.alerts.select(name)}</span>
        </label>
      )}
      <span className={styles.kind}>
        <StatusLabel alert={alert} />
        <SeverityLabel severity={alert.severity} />
      </span>
      <div className={styles.words}>
        {named && <Link to={`/alert/${alert.alertid}`}>{name}</Link>}
        <div className={styles.cause}>
          <ExpandableText text={causeOf(alert, t, locale)} />
        </div>
        <Responses alert={alert} />
        {alert.deliveries.length > 0 && (
          <ul className={styles.deliveries}>
            {byNotifier(alert.deliveries).map((deliveries) => (
              <NotifierLine key={deliveries[0].notifierid} deliveries={deliveries} about={name} />
            ))}
          </ul>
        )}
      </div>
      <span className={styles.when}>
        <Moment at={alert.started} />
        {!named && (
          <Link to={`/alert/${alert.alertid}`} aria-label={t.alerts.detailsOf(name)}>
            {t.alerts.details}
          </Link>
        )}
      </span>
      {/* Warnings have no duration. */}
      <span className={`${styles.lasted ?? ""} num`}>{hasDuration(alert.kind) && span(until - Date.parse(alert.started))}</span>
    </li>
  );
}

type Delivery = Alert["deliveries"][number];
type Deliveries = readonly [Delivery, ...Delivery[]];

/** The messages of an alert by notifier, oldest first. */
export function byNotifier(deliveries: readonly Delivery[]): Deliveries[] {
  const lines = new Map<string, [Delivery, ...Delivery[]]>();
  for (const delivery of deliveries.toSorted((a, b) => Date.parse(a.created) - Date.parse(b.created))) {
    const line = lines.get(delivery.notifierid);
    if (line) line.push(delivery);
    else lines.set(delivery.notifierid, [delivery]);
  }
  return [...lines.values()];
}

/** One notifier with the messages it got: outage, reminders and recovery. */
function NotifierLine({ deliveries, about }: { deliveries: Deliveries; about: string }) {
  const [{ notifierid, name }] = deliveries;
  const wrong = deliveries.some((delivery) => isUndelivered(delivery) || isPartly(delivery));
  return (
    <li data-undelivered={wrong || undefined}>
      <span>
        <Link to={`/notifier/${notifierid}`}>{name}</Link>:{" "}
        {deliveries.map((delivery, index) => (
          <span key={delivery.deliveryid}>
            {index > 0 && " · "}
            <DeliveryStatus delivery={delivery} />
          </span>
        ))}
      </span>
      {deliveries.filter(isPartly).map((delivery) => (
        <span key={delivery.deliveryid} className={styles.answer}>
          <RefusedRecipients recipients={delivery.recipients} />
        </span>
      ))}
      {deliveries.filter(isUndelivered).map((delivery) => (
        <Undelivered key={delivery.deliveryid} delivery={delivery} about={about} />
      ))}
    </li>
  );
}

export function isUndelivered(delivery: Delivery): boolean {
  const state = deliveryStateOf(delivery);
  return state === "retrying" || state === "failed";
}

/** What became of one message. */
export function DeliveryStatus({ delivery }: { delivery: Delivery }) {
  const t = useTexts();
  const state = deliveryStateOf(delivery);
  return (
    <>
      {isEventType(delivery.type) ? t.alerts.events[delivery.type] : delivery.type}{" "}
      {isPartly(delivery) ? t.alerts.partly : t.alerts.deliveryStates[state]}
      {delivery.attempts > 1 && ` (${t.notifiers.attempts(delivery.attempts)})`}
      {isUndelivered(delivery) && delivery.next_try && (
        <>
          {", "}
          {t.notifiers.nextAttempt} <Moment at={delivery.next_try} />
        </>
      )}
    </>
  );
}

/** Why a message has not arrived, and a button to send it again. */
export function Undelivered({ delivery, about }: { delivery: Delivery; about: string }) {
  return (
    <>
      <Resend deliveryid={delivery.deliveryid} state={deliveryStateOf(delivery)} about={about} />
      <span className={styles.answer}>
        <ExpandableText text={delivery.last_answer} />
      </span>
    </>
  );
}
