/** Every message of a notifier: what it told, whether it arrived, what was answered. */
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { useTexts } from "../../shared/text";
import { Refresh } from "../../shared/ui/icons";
import { Ago, Badge, Moment, Panel, Trouble, Waiting } from "../../shared/ui/parts";
import { say } from "../../shared/ui/toast";
import { useSentence } from "../../shared/ui/trouble";
import { deliveries, resend, type Delivery } from "./data";
import styles from "./notifiers.module.css";

export function Deliveries({ id }: { id: string }) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(deliveries(id));
  return (
    <Panel title={t.notifiers.deliveries} flush>
      {error && !data && <Trouble error={error} retry={() => void refetch()} />}
      {!data && !error && <Waiting />}
      {data?.length === 0 && <p className={styles.nothing}>{t.notifiers.noDeliveries}</p>}
      {data && data.length > 0 && (
        <ol className={styles.deliveries}>
          {data.map((delivery) => (
            <Row key={delivery.deliveryid} delivery={delivery} notifierid={id} />
          ))}
        </ol>
      )}
    </Panel>
  );
}

const tones = { delivered: "up", failed: "down", waiting: "wait" } as const;
type State = keyof typeof tones;

function Row({ delivery, notifierid }: { delivery: Delivery; notifierid: string }) {
  const t = useTexts();
  const client = useQueryClient();
  const sentence = useSentence();
  const [busy, setBusy] = useState(false);
  const state: State = delivery.state in tones ? (delivery.state as State) : "waiting";
  const again = () => {
    setBusy(true);
    resend(client, delivery, notifierid)
      .then(() => say(t.notifiers.resent))
      .catch((error: unknown) => say(sentence(error), true))
      .finally(() => setBusy(false));
  };
  return (
    <li className={styles.delivery}>
      <Badge tone={tones[state]}>{t.notifiers.states[state]}</Badge>
      <span className={styles.what}>
        <span>
          <Link to={`/monitor/${delivery.monitor.monitorid}`}>{delivery.monitor.name}</Link> {t.notifiers.told(delivery.type)}
        </span>
        <span className={styles.said}>
          {delivery.last_answer}
          {delivery.attempts > 1 && <> · {t.notifiers.tries(delivery.attempts)}</>}
          {delivery.next_try && delivery.attempts > 0 && (
            <>
              {" · "}
              {t.notifiers.nextTry} <Moment at={delivery.next_try} />
            </>
          )}
        </span>
      </span>
      <span className={styles.when}>
        <Ago at={delivery.finished ?? delivery.created} />
      </span>
      <span className={styles.again}>
        {state !== "waiting" && (
          <Button
            variant="subtle"
            size="xs"
            leftSection={<Refresh />}
            loading={busy}
            onClick={again}
            aria-label={t.notifiers.resendLabel(delivery.monitor.name)}
          >
            {t.notifiers.resend}
          </Button>
        )}
      </span>
    </li>
  );
}
