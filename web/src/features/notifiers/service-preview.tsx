/** The message that a service will show, and the requests that are sent to it. */
import type { EventType, ServiceType } from "../../shared/api/closed-sets";
import type { components } from "../../shared/api/schema";
import { useTexts } from "../../shared/i18n";
import styles from "./gallery.module.css";
import { cardOf, type Card } from "./message-card";

type ServiceRequest = components["schemas"]["NotifierRequest"];

interface Props {
  type: ServiceType;
  event: EventType;
  requests: readonly ServiceRequest[];
}

export function ServicePreview({ type, event, requests }: Props) {
  const { notifiers, notifierKinds: texts } = useTexts();
  const card = requests[0] ? cardOf(type, requests[0].body) : null;
  if (requests.length === 0) return <p>{texts.nothingSent}</p>;
  return (
    <>
      {card && <MessageCard card={card} event={event} label={notifiers.preview} />}
      <details className={styles.request} open={card === null}>
        <summary>{texts.showRequest}</summary>
        {requests.map((request, index) => (
          <pre key={index} tabIndex={0} role="group" aria-label={`${request.method} ${request.url}`}>
            {written(request)}
          </pre>
        ))}
      </details>
    </>
  );
}

function MessageCard({ card, event, label }: { card: Card; event: EventType; label: string }) {
  const word = event === "monitor.up" ? "up" : event === "monitor.down" || event === "monitor.reminder" ? "down" : undefined;
  return (
    <div
      className={styles.card}
      role="group"
      aria-label={label}
      data-event={word}
      style={card.color ? { borderLeftColor: card.color } : undefined}
    >
      <b>{card.title}</b>
      <p>{card.lines.join("\n")}</p>
      {card.buttons.length > 0 && (
        <div className={styles.buttons}>
          {card.buttons.map((button) => (
            <span key={button}>{button}</span>
          ))}
        </div>
      )}
    </div>
  );
}

function written({ method, url, headers, body }: ServiceRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${url}`, ...lines, "", body].join("\n");
}
