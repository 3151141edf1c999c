/** Subscribing to a plan, with a saved card or a new one. */
import { Radio } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Membership, Plan } from "../../shared/api/membership";
import { day } from "../../shared/lib/time";
import { useLanguage, useTexts, type Texts } from "../../shared/i18n";
import { Dialog } from "../../shared/ui/dialog";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { useForm } from "../../shared/ui/form";
import { FormLayout } from "../../shared/ui/form-layout";
import { Loading } from "../../shared/ui/loading";
import { showToast } from "../../shared/ui/toast";
import styles from "./billing.module.css";
import { blank, isExpired, money } from "./card";
import { activeUntil, paymentMethodsQuery, planName, quoteQuery, saveCard, subscribe, type Method, type Quote } from "./data";
import { CardEntryFields, useCardEntry } from "./card-fields";

export function PaymentDialog({ plan, held, close }: { plan: Plan; held: Membership; close: () => void }) {
  const t = useTexts();
  const cards = useQuery(paymentMethodsQuery);
  const cost = useQuery(quoteQuery(plan.planid));
  const error = cards.error ?? cost.error;
  const retry = () => void Promise.all([cards.refetch(), cost.refetch()]);
  return (
    <Dialog title={titleOf(plan, held, t)} close={close}>
      {cards.data && cost.data ? (
        <PayForm plan={plan} held={held} cards={cards.data} cost={cost.data} close={close} />
      ) : error ? (
        <ErrorNotice error={error} retry={retry} />
      ) : (
        <Loading />
      )}
    </Dialog>
  );
}

/** Whether paying only withdraws the cancellation of the current plan. */
function isKept(plan: Plan, held: Membership): boolean {
  return plan.planid === held.plan.planid && held.state === "cancelled";
}

function titleOf(plan: Plan, held: Membership, t: Texts): string {
  const name = planName(plan, t);
  if (isKept(plan, held)) return t.billing.keepTitle(name);
  const switches = held.state !== "none" && plan.planid !== held.plan.planid;
  return switches ? t.billing.switchTitle(name) : t.billing.subscribeTitle(name);
}

const NEW = "new";

interface PayFormProps {
  plan: Plan;
  held: Membership;
  cards: Method[];
  cost: Quote;
  close: () => void;
}

function PayForm({ plan, held, cards, cost, close }: PayFormProps) {
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
      const until = activeUntil(client);
      showToast(t.billing.subscribed(planName(plan, t), until === null ? null : day(until, locale)));
      close();
    },
    (values) => (values.method === NEW ? entry.check(values) : {}),
  );
  const typing = form.values.method === NEW;
  const keeping = isKept(plan, held);
  const charge = money(cost.charge, cost.currency, locale);
  const action = keeping ? t.billing.keep : cost.charge > 0 ? t.billing.pay(charge) : titleOf(plan, held, t);
  return (
    <FormLayout form={form} action={action} cancel={close} cancelLabel={t.billing.notNow} disabled={typing && !entry.open}>
      {keeping ? <p>{t.billing.keepHelp}</p> : <Cost cost={cost} />}
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

/** What is charged, and how it comes about. */
function Cost({ cost: { amount, credit, charge, currency, renews } }: { cost: Quote }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const shown = (cents: number) => money(cents, currency, locale);
  return (
    <dl className={styles.cost}>
      <dt>{t.billing.price}</dt>
      <dd className="num">{shown(amount)}</dd>
      {credit > 0 && (
        <>
          <dt>{t.billing.creditUsed}</dt>
          <dd className="num">−{shown(credit)}</dd>
        </>
      )}
      <dt className={styles.total}>{t.billing.chargedNow}</dt>
      <dd className={`${styles.total ?? ""} num`}>{shown(charge)}</dd>
      {renews && (
        <>
          <dt>{t.billing.renews}</dt>
          <dd>{day(Date.parse(renews), locale)}</dd>
        </>
      )}
    </dl>
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
