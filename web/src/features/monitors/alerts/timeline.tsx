/** The timeline of an alert: what people did, what the service decided, and what was sent. */
import type { ReactNode } from "react";
import { deliveryStateOf, isPartly } from "../../../shared/api/deliveries";
import { find } from "../../../shared/api/closed-sets";
import { severities } from "../../../shared/api/alerting-sets";
import { useTexts } from "../../../shared/i18n";
import { Link } from "../../../shared/router";
import { ExpandableText } from "../../../shared/ui/expandable-text";
import { RefusedRecipients } from "../../../shared/ui/recipients";
import { Moment } from "../../../shared/ui/time";
import line from "../../../shared/ui/timeline.module.css";
import styles from "./alert.module.css";
import type { TimelineEntry } from "./data";
import { noteOf } from "./notes";
import { DeliveryStatus, isUndelivered, Undelivered } from "./rows";

export function Timeline({ entries, about }: { entries: TimelineEntry[]; about: string }) {
  return (
    <ol className={line.timeline}>
      {entries.map((entry, index) => (
        // The timeline only grows, at its end; its entries have no ids.
        <li key={index} data-kind={kindOf(entry)}>
          <span className={line.at}>
            <Moment at={entry.at} />
          </span>
          <div className={line.entry}>{entry.delivery ? <Message entry={entry} about={about} /> : <Note entry={entry} />}</div>
        </li>
      ))}
    </ol>
  );
}

/** Whether somebody did it, it was sent, or it happened. */
function kindOf({ delivery, name }: TimelineEntry): "person" | "message" | "event" {
  if (delivery) return "message";
  return name === "" ? "event" : "person";
}

function Note({ entry }: { entry: TimelineEntry }) {
  const t = useTexts();
  const { sentence, object, comment } = noteOf(entry);
  const via = t.alerts.via[entry.via] ?? "";
  const known = find(severities, object);
  return (
    <>
      <p>
        {entry.name !== "" && <b>{entry.name} </b>}
        {sentence === "asBefore" ? t.alerts.asBefore : t.alerts.notes[sentence]}
        {object !== "" && <> {known ? t.alerts.severities[known] : <b>{object === "nobody" ? t.alerts.nobody : object}</b>}</>}
        {via !== "" && <span className={styles.via}> {via}</span>}
      </p>
      {comment !== "" && (
        <div className={styles.comment}>
          <ExpandableText text={comment} />
        </div>
      )}
    </>
  );
}

function Message({ entry: { delivery }, about }: { entry: TimelineEntry; about: string }): ReactNode {
  if (!delivery) return null;
  return (
    <>
      <p data-state={deliveryStateOf(delivery)}>
        <Link to={`/notifier/${delivery.notifierid}`}>{delivery.name}</Link>: <DeliveryStatus delivery={delivery} />
      </p>
      {isPartly(delivery) && <RefusedRecipients recipients={delivery.recipients} />}
      {isUndelivered(delivery) && <Undelivered delivery={delivery} about={about} />}
    </>
  );
}
