/** The team's plan, cards and invoices. */
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import type { MembershipState } from "../../shared/api/closed-sets";
import { membershipQuery, type Membership, type Plan, type Usage } from "../../shared/api/membership";
import { useMay } from "../../shared/api/session";
import { day } from "../../shared/lib/time";
import { useLanguage, useTexts } from "../../shared/i18n";
import { Link } from "../../shared/router";
import { Badge, type Tone } from "../../shared/ui/badge";
import { Confirm } from "../../shared/ui/confirm";
import { EmptyState } from "../../shared/ui/empty-state";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Check } from "../../shared/ui/icons";
import { Fact, Facts } from "../../shared/ui/detail-layout";
import { Loading } from "../../shared/ui/loading";
import { May } from "../../shared/ui/may";
import { Page, Panel } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";
import styles from "./billing.module.css";
import { money } from "./card";
import { Cards } from "./cards";
import { paymentMethodsQuery, planName, plansQuery, stop } from "./data";
import { Invoices } from "./invoices";
import { PaymentDialog } from "./payment-dialog";
import { isOpenedHere, openedAt } from "./stripe";

export function Component() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(membershipQuery);
  const [chosen, choose] = useState<Plan | null>(null);
  const foreign = typeof data?.publishable_key === "string" && !isOpenedHere(openedAt(), window.location.pathname);
  useEffect(() => {
    if (foreign) window.location.reload();
  }, [foreign]);
  if (foreign) return <Loading />;
  if (!data) {
    return <Page title={t.billing.title}>{error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />}</Page>;
  }
  if (!data.billing) {
    return (
      <Page title={t.billing.title} narrow>
        <EmptyState title={t.billing.off}>
          <p>{t.billing.offHelp}</p>
        </EmptyState>
      </Page>
    );
  }
  return (
    <Page title={t.billing.title} lead={t.billing.lead}>
      <Current held={data.membership} usage={data.usage} />
      <Plans held={data.membership} choose={choose} />
      <Cards held={data.membership} />
      <Invoices />
      {chosen && <PaymentDialog plan={chosen} held={data.membership} close={() => choose(null)} />}
    </Page>
  );
}

const tones: Record<Exclude<MembershipState, "none">, Tone> = { active: "up", cancelled: "wait", past_due: "down" };

function Current({ held, usage }: { held: Membership; usage: Usage }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const dayOf = (at: string) => day(Date.parse(at), locale);
  const client = useQueryClient();
  const { data: cards } = useQuery(paymentMethodsQuery);
  const [confirming, setConfirming] = useState(false);
  const { state } = held;
  const card = cards?.find((method) => method.methodid === held.methodid);
  const name = planName(held.plan, t);
  const { currency } = held.plan;
  const used = (count: number, limit: number | null | undefined) =>
    t.billing.usage(count.toLocaleString(locale), limit?.toLocaleString(locale) ?? null);
  const stoppable = !held.administered && (state === "active" || state === "past_due");
  return (
    <section className={styles.current} aria-label={t.billing.current}>
      <div className={styles.currentHead}>
        <div>
          <span className={styles.small}>{t.billing.current}</span>
          <p className={styles.planName}>
            {name} {state !== "none" && <Badge tone={tones[state]}>{t.billing.states[state]}</Badge>}
          </p>
        </div>
        {stoppable && (
          <May do="pay">
            <Button variant="default" onClick={() => setConfirming(true)}>
              {t.billing.stop}
            </Button>
          </May>
        )}
      </div>
      {held.administered && <p className={styles.note}>{t.billing.administered}</p>}
      {state === "past_due" && <p className={styles.bad}>{t.billing.pastDue}</p>}
      {held.payment_under_way && <p className={styles.note}>{t.billing.inProgress}</p>}
      <Facts>
        <Fact label={state === "cancelled" ? t.billing.activeUntil : t.billing.period}>
          {held.period_until ? dayOf(held.period_until) : "–"}
        </Fact>
        <Fact label={t.billing.nextPayment}>
          {held.next_payment && typeof held.next_amount === "number"
            ? `${money(held.next_amount, currency, locale)} · ${dayOf(held.next_payment)}`
            : "–"}
        </Fact>
        <Fact label={t.billing.paidWith}>{card ? `•••• ${card.last4}` : "–"}</Fact>
        <Fact label={t.billing.used}>{used(usage.monitors, usage.limit)}</Fact>
        <Fact label={t.billing.usedUsers}>{used(usage.users, usage.user_limit)}</Fact>
        <Fact label={t.billing.credit}>{held.credit > 0 ? money(held.credit, currency, locale) : "–"}</Fact>
      </Facts>
      {confirming && (
        <Confirm
          title={t.billing.stopTitle(name)}
          action={t.billing.stop}
          cancel={t.billing.keep}
          close={() => setConfirming(false)}
          run={async () => {
            await stop(client);
            showToast(held.period_until ? t.billing.stoppedUntil(name, dayOf(held.period_until)) : t.billing.stopped);
          }}
        >
          {held.period_until ? t.billing.stopHelp(name, dayOf(held.period_until)) : t.billing.stopNow}
        </Confirm>
      )}
    </section>
  );
}

function Plans({ held, choose }: { held: Membership; choose: (plan: Plan) => void }) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(plansQuery);
  return (
    <Panel title={t.billing.plans} lead={t.billing.plansLead}>
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <ul className={styles.plans}>
          {data.map((plan) => (
            <PlanCard key={plan.planid} plan={plan} held={held} choose={() => choose(plan)} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function PlanCard({ plan, held, choose }: { plan: Plan; held: Membership; choose: () => void }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const current = plan.planid === held.plan.planid;
  const { price } = plan;
  const limits: ReactNode[] = [
    t.billing.monitors(plan.monitors?.toLocaleString(locale) ?? null),
    t.billing.every(plan.shortest_interval),
    t.billing.users(plan.users?.toLocaleString(locale) ?? null),
    t.billing.history(plan.history_days),
  ];
  return (
    <li className={styles.plan} data-current={current || undefined}>
      <h3>{planName(plan, t)}</h3>
      <p className={styles.price}>
        {typeof price === "number" ? (
          <>
            <b>{money(price, plan.currency, locale)}</b> {t.billing.perMonth}
          </>
        ) : (
          <b>{t.billing.byContract}</b>
        )}
      </p>
      <ul className={styles.limits}>
        {limits.map((limit, index) => (
          <li key={index}>
            <Check /> {limit}
          </li>
        ))}
      </ul>
      <div className={styles.choice}>
        <Choice plan={plan} held={held} choose={choose} />
      </div>
    </li>
  );
}

/** The action offered for a plan: none, contact us, subscribe, or revoke a cancellation. */
function Choice({ plan, held, choose }: { plan: Plan; held: Membership; choose: () => void }) {
  const t = useTexts();
  const pays = useMay("pay");
  const current = plan.planid === held.plan.planid;
  if (current && (!pays || (held.state !== "cancelled" && held.state !== "past_due")))
    return <Badge tone="accent">{t.billing.yours}</Badge>;
  if (!pays) return null;
  if (typeof plan.price !== "number") {
    return (
      <Button variant="default" component={Link} to="/contact">
        {t.billing.ask}
      </Button>
    );
  }
  if (plan.price === 0 || held.administered) return null;
  return (
    <Button variant={current ? "default" : "filled"} onClick={choose} aria-label={t.billing.chooseLabel(planName(plan, t))}>
      {!current ? t.billing.choose : held.state === "past_due" ? t.billing.payAgain : t.billing.keep}
    </Button>
  );
}
