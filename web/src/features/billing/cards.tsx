/** The team's cards: list, add, remove, set as default. */
import { Button, Menu } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Membership } from "../../shared/api/membership";
import { useTexts } from "../../shared/i18n";
import { ActionMenu } from "../../shared/ui/action-menu";
import { Badge } from "../../shared/ui/badge";
import { Confirm } from "../../shared/ui/confirm";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Card, Check, More, Plus, Trash } from "../../shared/ui/icons";
import { Loading } from "../../shared/ui/loading";
import { May } from "../../shared/ui/may";
import { Panel } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";
import { useErrorMessage } from "../../shared/ui/error-message";
import styles from "./billing.module.css";
import { isExpired } from "./card";
import { makeDefault, paymentMethodsQuery, planName, removeCard, type Method } from "./data";
import { AddCard } from "./payment-dialog";

export function Cards({ held }: { held: Membership }) {
  const t = useTexts();
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const { data, error, refetch } = useQuery(paymentMethodsQuery);
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Method | null>(null);
  return (
    <Panel
      title={t.billing.cards}
      actions={
        <May do="pay">
          <Button variant="default" leftSection={<Plus />} onClick={() => setAdding(true)}>
            {t.billing.addCard}
          </Button>
        </May>
      }
    >
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.length === 0 && <p className={styles.quiet}>{t.billing.noCards}</p>}
      {data && data.length > 0 && (
        <ul className={styles.rows}>
          {data.map((method) => (
            <CardRow
              key={method.methodid}
              method={method}
              prefer={() => void makeDefault(client, method).catch((cause: unknown) => showToast(errorMessage(cause), true))}
              remove={() => setRemoving(method)}
            />
          ))}
        </ul>
      )}
      {adding && <AddCard close={() => setAdding(false)} />}
      {removing && (
        <Confirm
          title={t.billing.removeTitle(removing.last4)}
          action={t.common.remove}
          close={() => setRemoving(null)}
          run={() => removeCard(client, removing)}
        >
          {removing.methodid === held.methodid && held.next_payment ? t.billing.removePays(planName(held.plan, t)) : t.billing.removeHelp}
        </Confirm>
      )}
    </Panel>
  );
}

function CardRow({ method, prefer, remove }: { method: Method; prefer: () => void; remove: () => void }) {
  const t = useTexts();
  const [now] = useState(() => new Date());
  const expiry = `${String(method.expiryMonth).padStart(2, "0")} / ${method.expiryYear}`;
  return (
    <li className={styles.row}>
      <Card size={20} />
      <span className={styles.words}>
        <span className="num">•••• {method.last4}</span>
        <span className={styles.small}>
          {method.cardholderName} · {expiry}
        </span>
      </span>
      {isExpired(method, now) && <Badge tone="down">{t.billing.expired}</Badge>}
      {method.isdefault && <Badge tone="accent">{t.billing.default}</Badge>}
      <May do="pay">
        <ActionMenu
          button={
            <Button variant="subtle" color="gray" px={8} aria-label={t.billing.cardActions(method.last4)}>
              <More />
            </Button>
          }
        >
          {!method.isdefault && (
            <Menu.Item leftSection={<Check />} onClick={prefer}>
              {t.billing.makeDefault}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<Trash />} color="red" onClick={remove}>
            {t.common.remove}
          </Menu.Item>
        </ActionMenu>
      </May>
    </li>
  );
}
