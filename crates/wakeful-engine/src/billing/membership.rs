//! The plan of a team: members choose and cancel it, and operators can set it.

use std::net::IpAddr;
use wakeful_core::access::permission;
use wakeful_core::billing::{
    Action, CardSource, Charge, EndReason, Event, MembershipState, Money, Period, Plan, PlanId,
    Price, State, SubscriptionStatus, step,
};
use wakeful_core::id::{MembershipId, PaymentAttemptId, PaymentMethodId, TeamId};
use wakeful_core::time::Millis;
use wakeful_outbound::payment::{Callback, Decline};
use wakeful_store::{
    AuditContext, BeginOutcome, Invoice, NewPaymentAttempt, PaymentMethod, SettleOutcome,
    Settlement, StoredMembership, Usage,
};

use super::charging::ChargeOutcome;
use super::{LEASE, MAX_ATTEMPTS, emails};
use crate::caller::{Authorized, audit_of_operator};
use crate::{Engine, Error, Result, random};

/// How a plan is paid.
pub enum PayWith {
    New(CardSource),
    Saved(PaymentMethodId),
}

/// A plan that was chosen, and until when it is paid.
#[derive(Clone, Debug)]
pub struct ChosenPlan {
    pub membership: MembershipId,
    pub plan: String,
    pub paid_until: Option<Millis>,
}

/// What the choice of a plan would cost.
#[derive(Clone, Copy, Debug)]
pub struct PlanQuote {
    /// The price of the period that is charged now; zero if none is.
    pub price: Money,
    pub credit_used: Money,
    pub charge: Money,
    pub credit_left: Money,
    /// The end of the period that is paid then.
    pub renews: Option<Millis>,
}

/// A team's membership as its members see it.
#[derive(Clone, Debug)]
pub struct MembershipView {
    pub membership: Option<MembershipId>,
    pub plan: Plan,
    pub state: MembershipState,
    pub set_by_operator: bool,
    pub period: Option<Period>,
    /// The time and the amount of the next payment.
    pub next_payment: Option<(Millis, Money)>,
    pub method: Option<PaymentMethodId>,
    pub credit: Money,
    pub payment_under_way: bool,
    pub usage: Usage,
}

impl Engine {
    pub fn plans(&self) -> &[Plan] {
        self.settings().billing.catalog.plans()
    }

    /// Whether the web app shows plans and payments.
    pub fn billing_enabled(&self) -> bool {
        self.settings().billing.enabled
    }

    /// Whether the limits of plans are enforced.
    pub fn limits_enforced(&self) -> bool {
        self.settings().billing.limits
    }

    /// The name of the payment processor.
    pub fn processor_name(&self) -> &'static str {
        self.settings().billing.processor.name()
    }

    pub async fn invoices(&self, caller: &Authorized<permission::Bills>) -> Result<Vec<Invoice>> {
        Ok(self.store().team(caller.team_access()).invoices().await?)
    }

    /// Subscribes the team to a plan and charges its first period, or changes the plan or the
    /// payment method. If the charge is declined, nothing changes.
    pub async fn choose_plan(
        &self,
        caller: &Authorized<permission::Pay>,
        from: IpAddr,
        plan: &str,
        with: &PayWith,
    ) -> Result<ChosenPlan> {
        let plan = self.find_plan(plan)?;
        let team = self.store().team(caller.team_access());
        // Refuse invalid choices before a card is sent anywhere.
        step(
            &self.current_membership(caller.team()).await?.state,
            Event::Choose(&plan),
            self.now(),
        )?;
        if team.has_pending_payment().await? {
            return Err(Error::PaymentUnderWay);
        }
        let by = self.audit(caller);
        self.with_card_limit(caller.team(), from, self.pay(&by, caller.team(), &plan, with)).await
    }

    /// What `choose_plan` would charge now; nothing is charged or changed.
    pub async fn quote_plan(
        &self,
        caller: &Authorized<permission::Bills>,
        plan: &str,
    ) -> Result<PlanQuote> {
        let plan = self.find_plan(plan)?;
        let before = self.current_membership(caller.team()).await?.state;
        let next = step(&before, Event::Choose(&plan), self.now())?;
        if self.store().team(caller.team_access()).has_pending_payment().await? {
            return Err(Error::PaymentUnderWay);
        }
        Ok(match next.action {
            Some(Action::Charge(charge)) => PlanQuote {
                price: charge.price,
                credit_used: charge.credit_used,
                charge: charge.amount,
                credit_left: charge.credit_left,
                renews: Some(charge.period.until),
            },
            _ => PlanQuote {
                price: Money::ZERO,
                credit_used: Money::ZERO,
                charge: Money::ZERO,
                credit_left: next.state.credit,
                renews: next.state.subscription.map(|held| held.period.until),
            },
        })
    }

    async fn pay(
        &self,
        by: &AuditContext,
        team: TeamId,
        plan: &Plan,
        with: &PayWith,
    ) -> Result<ChosenPlan> {
        match with {
            PayWith::Saved(id) => {
                let method = self.billed_team(team).payment_method(*id).await?;
                let method = method.ok_or(Error::NotFound("payment method"))?;
                if method.processor != self.processor_name() {
                    return Err(Error::Declined(Decline::MethodGone));
                }
                self.choose_plan_with(by, team, plan, &method).await
            }
            PayWith::New(source) => {
                let method = self.add_method(team, source).await?;
                let chosen = self.choose_plan_with(by, team, plan, &method).await;
                if let Err(Error::Declined(_) | Error::PaymentUnderWay | Error::Processor(_)) =
                    chosen
                {
                    self.discard_method(team, method.id).await;
                }
                chosen
            }
        }
    }

    async fn choose_plan_with(
        &self,
        by: &AuditContext,
        team: TeamId,
        plan: &Plan,
        method: &PaymentMethod,
    ) -> Result<ChosenPlan> {
        for _ in 0..MAX_ATTEMPTS {
            let before = self.current_membership(team).await?;
            let next = step(&before.state, Event::Choose(plan), self.now())?;
            let Some(Action::Charge(charge)) = next.action else {
                let settled = self
                    .save_change(
                        team,
                        &before,
                        &next.state,
                        Some(method.id),
                        ChangeEffects::of_choice().by(by),
                    )
                    .await?;
                match settled {
                    SettleOutcome::Stale => continue,
                    SettleOutcome::NoTeam => return Err(Error::NotAuthenticated),
                    SettleOutcome::Done | SettleOutcome::AlreadySettled => {
                        return self.chosen_plan(team, plan).await;
                    }
                }
            };
            let attempt = self.new_attempt(team, method, charge, true).await?;
            match self.start_charge(attempt, before.revision, Some(by)).await? {
                None => {}
                Some(ChargeOutcome::Paid) => return self.chosen_plan(team, plan).await,
                Some(ChargeOutcome::Declined(decline)) => return Err(Error::Declined(decline)),
                Some(ChargeOutcome::Refused(error)) => return Err(Error::Processor(error)),
                Some(ChargeOutcome::Unclear) => return Err(Error::PaymentUnclear),
                Some(ChargeOutcome::Refunded) => return Err(Error::PaymentUnderWay),
            }
        }
        Err(Error::PaymentUnderWay)
    }

    async fn chosen_plan(&self, team: TeamId, plan: &Plan) -> Result<ChosenPlan> {
        let now = self.current_membership(team).await?;
        let paid_until = now.state.subscription.map(|held| held.period.until);
        Ok(ChosenPlan { membership: now.id, plan: plan.name.clone(), paid_until })
    }

    /// Cancels the plan at the end of the paid period and returns that time; `None` if it
    /// ended at once.
    pub async fn cancel_plan(
        &self,
        caller: &Authorized<permission::Pay>,
    ) -> Result<Option<Millis>> {
        for _ in 0..MAX_ATTEMPTS {
            let before = self.current_membership(caller.team()).await?;
            let next = step(&before.state, Event::Cancel, self.now())?;
            let until = next.state.subscription.as_ref().map(|held| held.period.until);
            let by = self.audit(caller);
            let effects = ChangeEffects::of_action(next.action.as_ref()).by(&by);
            let settled = self
                .save_change(caller.team(), &before, &next.state, before.method, effects)
                .await?;
            match settled {
                SettleOutcome::Stale => {}
                SettleOutcome::NoTeam => return Err(Error::NotAuthenticated),
                SettleOutcome::Done | SettleOutcome::AlreadySettled => return Ok(until),
            }
        }
        Err(Error::PaymentUnderWay)
    }

    /// Sets a plan from the command line; the plan None ends it.
    pub async fn grant_plan(&self, team: &str, plan: &str) -> Result<(TeamId, String)> {
        let plan = self.find_plan(plan)?;
        let team = match TeamId::parse(team) {
            Some(id) => id,
            None => match self.account_of(team).await {
                Err(Error::NotFound(_)) => return Err(Error::NotFound("team or email")),
                found => found?.team,
            },
        };
        for _ in 0..MAX_ATTEMPTS {
            let before = self.current_membership(team).await?;
            let next = step(&before.state, Event::Grant(&plan), self.now())?;
            let by = audit_of_operator(team, self.now());
            let effects = ChangeEffects::of_action(next.action.as_ref()).by(&by);
            match self.save_change(team, &before, &next.state, None, effects).await? {
                SettleOutcome::Stale => {}
                SettleOutcome::NoTeam => return Err(Error::NotFound("team")),
                SettleOutcome::Done | SettleOutcome::AlreadySettled => {
                    return Ok((team, plan.name));
                }
            }
        }
        Err(Error::PaymentUnderWay)
    }

    pub async fn membership(
        &self,
        caller: &Authorized<permission::Bills>,
    ) -> Result<MembershipView> {
        let stored = self.store().team(caller.team_access()).membership().await?;
        let payment_under_way =
            self.store().team(caller.team_access()).has_pending_payment().await?;
        let state = stored.as_ref().map(|stored| stored.state.clone()).unwrap_or_default();
        let now = self.now();
        let plan = self.plan_or_none(state.serving(now)).clone();
        let usage =
            self.store().team(caller.team_access()).usage(plan.limits.shortest_interval).await?;
        let held = state.subscription.as_ref();
        let set_by_operator =
            held.is_some_and(|held| held.status == SubscriptionStatus::SetByOperator);
        let paying = held.filter(|held| {
            matches!(held.status, SubscriptionStatus::Active | SubscriptionStatus::PastDue { .. })
        });
        let next_payment = paying.and_then(|held| {
            let price = self.price_of(&held.plan)?;
            Some((state.due()?, price.less(state.credit)))
        });
        Ok(MembershipView {
            membership: stored.as_ref().map(|stored| stored.id),
            plan,
            state: state.membership_state(),
            set_by_operator,
            period: held.filter(|_| !set_by_operator).map(|held| held.period),
            next_payment,
            method: stored.and_then(|stored| stored.method),
            credit: state.credit,
            payment_under_way,
            usage,
        })
    }

    /// Handles a callback of the processor. Its content only triggers a lookup.
    pub async fn payment_callback(&self, body: &[u8], signature: &str) -> Result<bool> {
        let Ok(callback) = self.processor().callback(body, signature, self.now()) else {
            return Ok(false);
        };
        match callback {
            Some(Callback::Charge { key }) => {
                if let Some(id) = PaymentAttemptId::parse(&key) {
                    self.store().wake_attempt(id, self.now()).await?;
                }
            }
            Some(Callback::Detached { method }) => {
                self.store().delete_detached_payment_method(&method).await?;
            }
            None => {}
        }
        Ok(true)
    }

    /// Refuses a plan that cannot be chosen: an unknown one, or None.
    pub fn check_plan_choice(&self, text: &str) -> Result<()> {
        match self.find_plan(text)?.price {
            Price::Free => Err(Error::PlanNotForSale),
            Price::Monthly(_) | Price::Contract => Ok(()),
        }
    }

    fn find_plan(&self, text: &str) -> Result<Plan> {
        self.settings().billing.catalog.find(text).cloned().ok_or(Error::UnknownPlan)
    }

    /// The plan with this id; the plan None if there is no id or no such plan.
    pub(super) fn plan_or_none(&self, id: Option<&PlanId>) -> &Plan {
        let catalog = &self.settings().billing.catalog;
        id.and_then(|id| catalog.get(id)).unwrap_or(catalog.none())
    }

    pub(super) fn price_of(&self, id: &PlanId) -> Option<Money> {
        match self.settings().billing.catalog.get(id)?.price {
            Price::Monthly(price) => Some(price),
            Price::Free | Price::Contract => None,
        }
    }

    /// The membership of a team; the default for one that never had a plan.
    pub(super) async fn current_membership(&self, team: TeamId) -> Result<StoredMembership> {
        let stored = self.billed_team(team).membership().await?;
        Ok(stored.unwrap_or_else(|| StoredMembership {
            id: MembershipId::new(self.now(), random::bytes()),
            state: State::default(),
            method: None,
            revision: 0,
        }))
    }

    pub(super) async fn new_attempt(
        &self,
        team: TeamId,
        method: &PaymentMethod,
        charge: Charge,
        by_person: bool,
    ) -> Result<NewPaymentAttempt> {
        Ok(NewPaymentAttempt {
            id: PaymentAttemptId::new(self.now(), random::bytes()),
            team,
            method: method.id,
            by_person,
            processor: method.processor.clone(),
            customer: self.customer(team).await?,
            reference: method.reference.clone(),
            last4: method.last4.clone(),
            charge,
        })
    }

    /// Stores an attempt and makes it; `None` if the membership changed meanwhile.
    pub(super) async fn start_charge(
        &self,
        attempt: NewPaymentAttempt,
        revision: i64,
        by: Option<&AuditContext>,
    ) -> Result<Option<ChargeOutcome>> {
        let now = self.now();
        match self.store().begin_attempt(&attempt, revision, by, now, now.after(LEASE)).await? {
            BeginOutcome::Stale => Ok(None),
            BeginOutcome::InProgress => Err(Error::PaymentUnderWay),
            BeginOutcome::Done => self.continue_attempt(&attempt.into_attempt(now)).await.map(Some),
        }
    }

    /// Stores a change without a payment.
    pub(super) async fn save_change(
        &self,
        team: TeamId,
        before: &StoredMembership,
        state: &State,
        method: Option<PaymentMethodId>,
        effects: ChangeEffects<'_>,
    ) -> Result<SettleOutcome> {
        let mut mails = Vec::new();
        if let Some((plan, why)) = &effects.ended {
            let plan = self.plan_name(plan);
            mails = self
                .emails_to_payers(
                    team,
                    &emails::plan_ended(self.settings(), &plan, *why, self.now()),
                )
                .await?;
        }
        let settlement = Settlement {
            team,
            id: before.id,
            state,
            method,
            show_method: effects.show_method,
            revision: before.revision,
            attempt: None,
            invoice: None,
            mails: &mails,
            by: effects.by,
        };
        let settled = self.store().settle(&settlement, self.now()).await?;
        self.0.mail_queued.notify_one();
        Ok(settled)
    }

    pub(super) fn plan_name(&self, id: &PlanId) -> String {
        let plan = self.settings().billing.catalog.get(id);
        plan.map_or_else(|| id.to_string(), |plan| plan.name.clone())
    }
}

/// The effects of a change without a payment.
#[derive(Default)]
pub(super) struct ChangeEffects<'a> {
    show_method: bool,
    ended: Option<(PlanId, EndReason)>,
    /// Who made the change; `None` if it became due.
    by: Option<&'a AuditContext>,
}

impl<'a> ChangeEffects<'a> {
    fn of_choice() -> Self {
        Self { show_method: true, ..Self::default() }
    }

    fn by(self, by: &'a AuditContext) -> Self {
        Self { by: Some(by), ..self }
    }

    pub(super) fn of_action(action: Option<&Action>) -> Self {
        match action {
            Some(Action::Ended { plan, why }) => {
                Self { ended: Some((plan.clone(), *why)), ..Self::default() }
            }
            _ => Self::default(),
        }
    }
}
