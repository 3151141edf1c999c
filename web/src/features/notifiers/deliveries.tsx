/** The messages of a notifier: the event, the state of the delivery, and the response. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { deliveryStateOf, isPartly, type ShownDeliveryState } from "../../shared/api/deliveries";
import { isEventType } from "../../shared/api/events";
import { useTexts, type Texts } from "../../shared/i18n";
import { Link } from "../../shared/router";
import { Badge, type Tone } from "../../shared/ui/badge";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { ExpandableText } from "../../shared/ui/expandable-text";
import { LoadMore } from "../../shared/ui/load-more";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import { RefusedRecipients } from "../../shared/ui/recipients";
import { Resend } from "../../shared/ui/resend";
import { Ago, Moment } from "../../shared/ui/time";
import { deliveriesQuery, type Delivery } from "./data";
import styles from "./notifiers.module.css";

/** How many are shown at first, and after "Show older". */
const LIMITS = [50, 250, 1000] as const;

export function Deliveries({ id }: { id: string }) {
  const t = useTexts();
  const [limit, setLimit] = useState<number>(LIMITS[0]);
  const { data, error, refetch } = useQuery(deliveriesQuery(id, limit));
  return (
    <Panel title={t.notifiers.deliveries} flush>
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.length === 0 && <p className={styles.nothing}>{t.notifiers.noDeliveries}</p>}
      {data && data.length > 0 && (
        <ol className={styles.deliveries}>
          {data.map((delivery) => (
            <Row key={delivery.deliveryid} delivery={delivery} held={isHeldBack(delivery, data)} />
          ))}
        </ol>
      )}
      {data && <LoadMore shown={data.length} limit={limit} steps={LIMITS} show={setLimit} />}
    </Panel>
  );
}

/** An event type that this version does not know yet is shown as it is. */
function eventText(type: string, t: Texts): string {
  return isEventType(type) ? t.notifiers.events[type] : type;
}

const tones: Record<ShownDeliveryState, Tone> = { delivered: "up", failed: "down", waiting: "wait", retrying: "wait" };

/** Messages about one monitor are delivered in order: one that was not tried yet may wait for another that fails. */
function isHeldBack({ deliveryid, state, attempts, monitor }: Delivery, all: readonly Delivery[]): boolean {
  if (state !== "waiting" || attempts > 0 || !monitor) return false;
  return all.some((other) => {
    const earlier = other.deliveryid !== deliveryid && other.monitor?.monitorid === monitor.monitorid;
    return earlier && deliveryStateOf(other) === "retrying";
  });
}

function Row({ delivery, held }: { delivery: Delivery; held: boolean }) {
  const t = useTexts();
  const state = deliveryStateOf(delivery);
  const partly = isPartly(delivery);
  return (
    <li className={styles.delivery}>
      <Badge tone={partly ? "wait" : tones[state]}>{partly ? t.notifiers.partly : t.notifiers.states[state]}</Badge>
      <span className={styles.what}>
        <span>
          {delivery.monitor && <Link to={`/monitor/${delivery.monitor.monitorid}`}>{delivery.monitor.name}</Link>}{" "}
          {eventText(delivery.type, t)}
        </span>
        <span className={styles.said}>
          {held && t.notifiers.heldBack}
          {partly ? <RefusedRecipients recipients={delivery.recipients} /> : <ExpandableText text={delivery.last_answer} />}
          {delivery.attempts > 1 && <> · {t.notifiers.attempts(delivery.attempts)}</>}
          {delivery.next_try && delivery.attempts > 0 && (
            <>
              {" · "}
              {t.notifiers.nextAttempt} <Moment at={delivery.next_try} />
            </>
          )}
        </span>
      </span>
      <span className={styles.when}>
        <Ago at={delivery.finished ?? delivery.created} />
      </span>
      <span className={styles.again}>
        <Resend deliveryid={delivery.deliveryid} state={state} about={delivery.monitor?.name ?? eventText(delivery.type, t)} />
      </span>
    </li>
  );
}
