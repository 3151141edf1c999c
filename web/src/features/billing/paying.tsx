/** Taking a plan: with a card that is saved, or with a new one. */
import { Modal, Radio, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Membership, Plan } from "../../shared/api/membership";
import { useLanguage, useTexts } from "../../shared/text";
import { text, useForm, type Form } from "../../shared/ui/form";
import { Trouble, Waiting } from "../../shared/ui/parts";
import { Needed, Pair, Sheet } from "../../shared/ui/sheet";
import { say } from "../../shared/ui/toast";
import styles from "./billing.module.css";
import { blank, expiryOf, grouped, isExpired, money, type CardValues } from "./card";
import { methods, saveCard, subscribe, type Method } from "./data";

export function Paying({ plan, held, close }: { plan: Plan; held: Membership; close: () => void }) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(methods);
  return (
    <Modal opened onClose={close} title={t.billing.takeTitle(plan.name)} closeButtonProps={{ "aria-label": t.common.close }}>
      {data ? (
        <PayForm plan={plan} held={held} cards={data} close={close} />
      ) : error ? (
        <Trouble error={error} retry={() => void refetch()} />
      ) : (
        <Waiting />
      )}
    </Modal>
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
  const check = useExpiryCheck();
  const form = useForm(
    { ...blank, method: first?.methodid ?? NEW },
    async ({ method, ...card }) => {
      say(await subscribe(client, plan.planid, method === NEW ? card : { methodid: method }));
      close();
    },
    (values) => (values.method === NEW ? check(values) : {}),
  );
  const price = money(plan.price ?? 0, plan.currency, locale);
  const keeping = plan.planid === held.plan.planid && held.state === "cancelled";
  return (
    <Sheet form={form} action={keeping ? t.billing.keep : t.billing.pay(price)} cancel={close}>
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
      {form.values.method === NEW && <CardFields form={form} />}
    </Sheet>
  );
}

export function AddCard({ close }: { close: () => void }) {
  const t = useTexts();
  const client = useQueryClient();
  const form = useForm(
    blank,
    async (values) => {
      await saveCard(client, values);
      say(t.billing.cardSaved);
      close();
    },
    useExpiryCheck(),
  );
  return (
    <Modal opened onClose={close} title={t.billing.addCard} closeButtonProps={{ "aria-label": t.common.close }}>
      <Sheet form={form} action={t.billing.addCard} cancel={close}>
        <CardFields form={form} />
      </Sheet>
    </Modal>
  );
}

function useExpiryCheck() {
  const t = useTexts();
  return ({ expiry }: CardValues) => (expiryOf(expiry) ? {} : { expiry: t.billing.expiryHelp });
}

/** Named as browsers know them, so that they can fill them in. */
function CardFields<V extends CardValues>({ form }: { form: Form<V> }) {
  const t = useTexts();
  return (
    <>
      <Needed
        form={form}
        field="cardNumber"
        label={t.billing.number}
        placeholder="4242 4242 4242 4242"
        autoComplete="cc-number"
        inputMode="numeric"
        onChange={(event) => form.set("cardNumber", grouped(event.currentTarget.value))}
        data-autofocus
      />
      <Pair>
        <Needed form={form} field="expiry" label={t.billing.expiry} placeholder="MM / YY" autoComplete="cc-exp" inputMode="numeric" />
        <Needed form={form} field="cvc" label={t.billing.cvc} placeholder="123" autoComplete="cc-csc" inputMode="numeric" maxLength={4} />
      </Pair>
      <Pair wide>
        <Needed form={form} field="cardholderName" label={t.billing.holder} autoComplete="cc-name" />
        <TextInput {...text(form, "zipCode")} label={t.billing.zip} autoComplete="postal-code" required withAsterisk={false} />
      </Pair>
      <p className={styles.small}>{t.billing.secrecy}</p>
    </>
  );
}
