/**
 * Card entry: our own fields for the built-in processor, Stripe's fields with
 * Stripe. Either way the result is what the API accepts.
 */
import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, type RefObject } from "react";
import { membershipQuery } from "../../shared/api/membership";
import { useLanguage, useTexts } from "../../shared/i18n";
import { FormError } from "../../shared/ui/error-notice";
import { text, type Form } from "../../shared/ui/form";
import { Loading } from "../../shared/ui/loading";
import { useScheme } from "../../shared/ui/scheme";
import { RequiredField, FieldPair } from "../../shared/ui/form-layout";
import { useErrorMessage } from "../../shared/ui/error-message";
import styles from "./billing.module.css";
import { cardOf, expiryOf, grouped, type CardFields, type CardValues } from "./card";
import { loadStripe, tokenOf, type CardElement, type Stripe } from "./stripe";

/** What the form needs from either kind of fields. */
export interface CardEntry {
  /** Whether cards can be accepted. */
  open: boolean;
  /** Client-side checks before the form is submitted. */
  check: (values: CardValues) => Partial<Record<string, string>>;
  /** The card for the API. */
  source: (values: CardValues) => Promise<CardFields>;
  stripe: { publishable: string; mounted: RefObject<Mounted | null> } | null;
}

interface Mounted {
  stripe: Stripe;
  card: CardElement;
}

export function useCardEntry(): CardEntry {
  const t = useTexts();
  const { data } = useQuery(membershipQuery);
  const mounted = useRef<Mounted | null>(null);
  if (data?.processor !== "stripe") {
    const check = ({ expiry }: CardValues) => (expiryOf(expiry) ? {} : { expiry: t.billing.expiryHelp });
    return { open: true, check, source: (values) => Promise.resolve(cardOf(values)), stripe: null };
  }
  const publishable = data.publishable_key ?? "";
  const source = async ({ cardholderName }: CardValues) => {
    if (!mounted.current) throw new Error("Stripe's fields are not there yet");
    return { token: await tokenOf(mounted.current.stripe, mounted.current.card, cardholderName.trim()) };
  };
  return { open: publishable !== "", check: () => ({}), source, stripe: { publishable, mounted } };
}

export function CardEntryFields<V extends CardValues>({ form, entry }: { form: Form<V>; entry: CardEntry }) {
  const t = useTexts();
  if (!entry.open) return <FormError text={t.billing.noFields} />;
  return entry.stripe ? <StripeFields form={form} {...entry.stripe} /> : <OwnFields form={form} />;
}

interface StripeProps<V> {
  form: Form<V>;
  publishable: string;
  mounted: RefObject<Mounted | null>;
}

function StripeFields<V extends CardValues>({ form, publishable, mounted }: StripeProps<V>) {
  const t = useTexts();
  const { locale } = useLanguage();
  const { shown: scheme } = useScheme();
  const errorMessage = useErrorMessage();
  const place = useRef<HTMLDivElement>(null);
  const [ready, setReady] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const latestErrorMessage = useRef(errorMessage);
  useEffect(() => {
    latestErrorMessage.current = errorMessage;
  });
  useEffect(() => {
    let wanted = true;
    loadStripe(publishable).then(
      (stripe) => {
        if (!wanted || !place.current) return;
        const card = stripe.elements().create("card", { style: elementStyle() });
        card.on("change", ({ error }) => setFault(error?.message ?? null));
        card.mount(place.current);
        mounted.current = { stripe, card };
        setReady(true);
      },
      (error: unknown) => wanted && setFault(latestErrorMessage.current(error)),
    );
    return () => {
      wanted = false;
      mounted.current?.card.destroy();
      mounted.current = null;
    };
  }, [publishable, mounted, locale, scheme]);
  return (
    <>
      <RequiredField form={form} field="cardholderName" label={t.billing.holder} autoComplete="cc-name" data-autofocus />
      <div role="group" aria-label={t.billing.card} className={styles.stripe}>
        <span className={styles.groupLabel} aria-hidden="true">
          {t.billing.card}
        </span>
        <div ref={place} className={styles.stripeField} />
        {!ready && fault === null && <Loading />}
      </div>
      <FormError text={fault} />
      <p className={styles.small}>{t.billing.stripePrivacy}</p>
    </>
  );
}

/** Styles for Stripe's frame, which does not inherit the page's. */
function elementStyle() {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  return {
    base: { color: color("--ink"), iconColor: color("--ink-3"), fontSize: "14px", "::placeholder": { color: color("--ink-3") } },
    invalid: { color: color("--down"), iconColor: color("--down") },
  };
}

/** With names that browsers recognize for autofill. */
function OwnFields<V extends CardValues>({ form }: { form: Form<V> }) {
  const t = useTexts();
  return (
    <>
      <RequiredField
        form={form}
        field="cardNumber"
        label={t.billing.number}
        placeholder="4242 4242 4242 4242"
        autoComplete="cc-number"
        inputMode="numeric"
        onChange={(event) => form.set("cardNumber", grouped(event.currentTarget.value))}
        data-autofocus
      />
      <FieldPair>
        <RequiredField
          form={form}
          field="expiry"
          label={t.billing.expiry}
          placeholder="MM / YY"
          autoComplete="cc-exp"
          inputMode="numeric"
        />
        <RequiredField
          form={form}
          field="cvc"
          label={t.billing.cvc}
          placeholder="123"
          autoComplete="cc-csc"
          inputMode="numeric"
          maxLength={4}
        />
      </FieldPair>
      <FieldPair wide>
        <RequiredField form={form} field="cardholderName" label={t.billing.holder} autoComplete="cc-name" />
        <TextInput {...text(form, "zipCode")} label={t.billing.zip} autoComplete="postal-code" required withAsterisk={false} />
      </FieldPair>
      <p className={styles.small}>{t.billing.privacy}</p>
    </>
  );
}
