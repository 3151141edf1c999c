/** Taking a plan: with a card that is saved, or with a new one. */
import { Radio } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Membership, Plan } from "../../shared/api/membership";
import { day } from "../../shared/lib/time";
import { useLanguage, useTexts } from "../../shared/i18n";
import { Dialog } from "../../shared/ui/dialog";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { useForm } from "../../shared/ui/form";
import { FormLayout } from "../../shared/ui/form-layout";
import { Loading } from "../../shared/ui/loading";
import { showToast } from "../../shared/ui/toast";
import styles from "./billing.module.css";
import { blank, isExpired, money } from "./card";
import { methods, saveCard, servesUntil, subscribe, type Method } from "./data";
import { CardEntryFields, useCardEntry } from "./card-fields";

export function PaymentDialog({ plan, held, close }: { plan: Plan; held: Membership; close: () => void }) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(methods);
  return (
    <Dialog title={t.billing.takeTitle(plan.name)} close={close}>
      {data ? (
        <PayForm plan={plan} held={held} cards={data} close={close} />
      ) : error ? (
        <ErrorNotice error={error} retry={() => void refetch()} />
      ) : (
        <Loading />
      )}
    </Dialog>
  );
}

const NEW = "new";

function PayForm({ plan, held, cards, close }: { plan: Plan; held: Membership; cards: Method[]; close: () => void }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const client = useQueryClient();
  const [now] = useState(() => new Date());
  const usable = cards.filter((card) => !isExpired(card, now));
  const first = usable.find((card) => card.methodid === held.methodid) ?? usable.find((card) => card.isdefault) ?? usable[0];
  const entry = useCardEntry();
  const form = useForm(
    { ...blank, method: first?.methodid ?? NEW },
    async ({ method, ...card }) => {
      await subscribe(client, plan.planid, method === NEW ? await entry.source(card) : { methodid: method });
      const until = servesUntil(client);
      showToast(t.billing.taken(plan.name, until === null ? null : day(until, locale)));
      close();
    },
    (values) => (values.method === NEW ? entry.check(values) : {}),
  );
  const typing = form.values.method === NEW;
  const price = money(plan.price ?? 0, plan.currency, locale);
  const keeping = plan.planid === held.plan.planid && held.state === "cancelled";
  return (
    <FormLayout form={form} action={keeping ? t.billing.keep : t.billing.pay(price)} cancel={close} disabled={typing && !entry.open}>
      <p>{keeping ? t.billing.keepHelp : held.state === "active" ? t.billing.changeHelp(price) : t.billing.firstHelp(price)}</p>
      {usable.length > 0 && (
        <Radio.Group
          label={t.billing.paidWith}
          value={form.values.method}
          onChange={(value) => form.set("method", value)}
          classNames={{ label: styles.groupLabel ?? "" }}
        >
          <div className={styles.radios}>
            {usable.map((card) => (
              <Radio key={card.methodid} value={card.methodid} label={`•••• ${card.last4}, ${card.cardholderName}`} />
            ))}
            <Radio value={NEW} label={t.billing.newCard} />
          </div>
        </Radio.Group>
      )}
      {typing && <CardEntryFields form={form} entry={entry} />}
    </FormLayout>
  );
}

export function AddCard({ close }: { close: () => void }) {
  const t = useTexts();
  const client = useQueryClient();
  const entry = useCardEntry();
  const form = useForm(
    blank,
    async (values) => {
      await saveCard(client, await entry.source(values));
      showToast(t.billing.cardSaved);
      close();
    },
    entry.check,
  );
  return (
    <Dialog title={t.billing.addCard} close={close}>
      <FormLayout form={form} action={t.billing.addCard} cancel={close} disabled={!entry.open}>
        <CardEntryFields form={form} entry={entry} />
      </FormLayout>
    </Dialog>
  );
}
