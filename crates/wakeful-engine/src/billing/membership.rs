//! The plan of a team: chosen, stopped, set by an administrator, and shown.

use std::net::IpAddr;
use wakeful_core::billing::{
    Action, Charge, Event, Money, Period, Plan, PlanId, Price, Source, Standing, State, Why, step,
};
use wakeful_core::id::{AttemptId, MembershipId, MethodId, TeamId};
use wakeful_core::time::Millis;
use wakeful_outbound::payment::{Callback, Decline};
use wakeful_store::{Begun, Invoice, Method, NewAttempt, Settled, Settlement, StoredMembership};

use super::charging::Outcome;
use super::{LEASE, ROUNDS, words};
use crate::caller::Caller;
use crate::{Engine, Error, Result, random};

/// What a plan is paid with.
pub enum PayWith {
    New(Source),
    Saved(MethodId),
}

/// A plan that was chosen, and since when it is paid until when.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub membership: MembershipId,
    pub plan: String,
    pub paid_until: Option<Millis>,
}

/// A team's membership as its members see it.
#[derive(Clone, Debug)]
pub struct MembershipView {
    pub membership: Option<MembershipId>,
    pub plan: Plan,
    /// none, active, cancelled or past_due.
    pub state: &'static str,
    pub administered: bool,
    pub period: Option<Period>,
    /// When money is asked for next, and how much.
    pub next_payment: Option<(Millis, Money)>,
    pub method: Option<MethodId>,
    pub credit: Money,
    pub payment_under_way: bool,
}

impl Engine {
    pub fn plans(&self) -> &[Plan] {
        self.settings().billing.catalogue.plans()
    }

    /// Whether the page shows plans and payment.
    pub fn billing_enabled(&self) -> bool {
        self.settings().billing.enabled
    }

    /// Who moves the money.
    pub fn processor_name(&self) -> &'static str {
        self.settings().billing.processor.name()
    }

    pub async fn invoices(&self, caller: &Caller) -> Result<Vec<Invoice>> {
        Ok(self.store().team(caller.team).invoices().await?)
    }

    /// Gives the team a plan and charges its first period, or changes the plan
    /// or the method. Declined: nothing has changed.
    pub async fn choose_plan(
        &self,
        caller: &Caller,
        from: IpAddr,
        plan: &str,
        with: &PayWith,
    ) -> Result<Chosen> {
        let plan = self.plan_called(plan)?;
        let team = self.store().team(caller.team);
        // What is refused in any case is refused before a card goes anywhere.
        step(&self.standing(caller.team).await?.state, Event::Choose(&plan), self.now())?;
        if team.payment_under_way().await? {
            return Err(Error::PaymentUnderWay);
        }
        self.with_card(caller.team, from, self.pay(caller.team, &plan, with)).await
    }

    async fn pay(&self, team: TeamId, plan: &Plan, with: &PayWith) -> Result<Chosen> {
        match with {
            PayWith::Saved(id) => {
                let method = self.store().team(team).method(*id).await?;
                let method = method.ok_or(Error::NotFound("payment method"))?;
                if method.processor != self.processor_name() {
                    return Err(Error::Declined(Decline::MethodGone));
                }
                self.choose_with(team, plan, &method).await
            }
            PayWith::New(source) => {
                let method = self.add_method(team, source).await?;
                let chosen = self.choose_with(team, plan, &method).await;
                if let Err(Error::Declined(_) | Error::PaymentUnderWay | Error::Processor(_)) =
                    chosen
                {
                    self.drop_method(team, method.id).await;
                }
                chosen
            }
        }
    }

    async fn choose_with(&self, team: TeamId, plan: &Plan, method: &Method) -> Result<Chosen> {
        for _ in 0..ROUNDS {
            let before = self.standing(team).await?;
            let next = step(&before.state, Event::Choose(plan), self.now())?;
            let Some(Action::Charge(charge)) = next.action else {
                let settled =
                    self.keep(team, &before, &next.state, Some(method.id), Kept::chosen()).await?;
                match settled {
                    Settled::Stale => continue,
                    Settled::NoTeam => return Err(Error::NotAuthenticated),
                    Settled::Done | Settled::Already => return self.chosen(team, plan).await,
                }
            };
            let attempt = self.attempt(team, method, charge, true).await?;
            match self.try_charge(attempt, before.revision).await? {
                None => {}
                Some(Outcome::Paid) => return self.chosen(team, plan).await,
                Some(Outcome::Declined(decline)) => return Err(Error::Declined(decline)),
                Some(Outcome::Refused(error)) => return Err(Error::Processor(error)),
                Some(Outcome::Unclear) => return Err(Error::PaymentUnclear),
                Some(Outcome::GivenBack) => return Err(Error::PaymentUnderWay),
            }
        }
        Err(Error::PaymentUnderWay)
    }

    async fn chosen(&self, team: TeamId, plan: &Plan) -> Result<Chosen> {
        let now = self.standing(team).await?;
        let paid_until = now.state.held.map(|held| held.period.until);
        Ok(Chosen { membership: now.id, plan: plan.name.clone(), paid_until })
    }

    /// Gives the plan up at the end of what is paid, and answers when that is;
    /// nothing when it ended at once.
    pub async fn stop_plan(&self, caller: &Caller) -> Result<Option<Millis>> {
        for _ in 0..ROUNDS {
            let before = self.standing(caller.team).await?;
            let next = step(&before.state, Event::Stop, self.now())?;
            let until = next.state.held.as_ref().map(|held| held.period.until);
            let kept = Kept::after(next.action.as_ref());
            let settled = self.keep(caller.team, &before, &next.state, before.method, kept).await?;
            match settled {
                Settled::Stale => {}
                Settled::NoTeam => return Err(Error::NotAuthenticated),
                Settled::Done | Settled::Already => return Ok(until),
            }
        }
        Err(Error::PaymentUnderWay)
    }

    /// What an administrator sets, at the command line; `None` ends it.
    pub async fn grant_plan(&self, team: &str, plan: &str) -> Result<(TeamId, String)> {
        let plan = self.plan_called(plan)?;
        let team = match TeamId::parse(team) {
            Some(id) => id,
            None => match self.account_of(team).await {
                Err(Error::NotFound(_)) => return Err(Error::NotFound("team or email")),
                found => found?.team,
            },
        };
        for _ in 0..ROUNDS {
            let before = self.standing(team).await?;
            let next = step(&before.state, Event::Grant(&plan), self.now())?;
            let kept = Kept::after(next.action.as_ref());
            match self.keep(team, &before, &next.state, None, kept).await? {
                Settled::Stale => {}
                Settled::NoTeam => return Err(Error::NotFound("team")),
                Settled::Done | Settled::Already => return Ok((team, plan.name)),
            }
        }
        Err(Error::PaymentUnderWay)
    }

    pub async fn membership(&self, caller: &Caller) -> Result<MembershipView> {
        let stored = self.store().team(caller.team).membership().await?;
        let payment_under_way = self.store().team(caller.team).payment_under_way().await?;
        let state = stored.as_ref().map(|stored| stored.state.clone()).unwrap_or_default();
        let now = self.now();
        let plan = self.plan_or_none(state.serving(now)).clone();
        let held = state.held.as_ref();
        let administered = held.is_some_and(|held| held.standing == Standing::Administered);
        let paying = held
            .filter(|held| matches!(held.standing, Standing::Active | Standing::PastDue { .. }));
        let next_payment = paying.and_then(|held| {
            let price = self.price_of(&held.plan)?;
            Some((state.due()?, price.less(state.credit)))
        });
        Ok(MembershipView {
            membership: stored.as_ref().map(|stored| stored.id),
            plan,
            state: state.word(),
            administered,
            period: held.filter(|_| !administered).map(|held| held.period),
            next_payment,
            method: stored.and_then(|stored| stored.method),
            credit: state.credit,
            payment_under_way,
        })
    }

    /// Takes a callback of the processor as a reason to look.
    pub async fn payment_callback(&self, body: &[u8], signature: &str) -> Result<bool> {
        let Ok(callback) = self.processor().callback(body, signature, self.now()) else {
            return Ok(false);
        };
        match callback {
            Some(Callback::Charge { key }) => {
                if let Some(id) = AttemptId::parse(&key) {
                    self.store().wake_attempt(id, self.now()).await?;
                }
            }
            Some(Callback::Detached { method }) => {
                self.store().method_detached(&method).await?;
            }
            None => {}
        }
        Ok(true)
    }

    /// Refuses what nobody can choose, whoever asks: an unknown plan, and None.
    pub fn allow_plan(&self, text: &str) -> Result<()> {
        match self.plan_called(text)?.price {
            Price::Free => Err(Error::PlanNotForSale),
            Price::Monthly(_) | Price::Contract => Ok(()),
        }
    }

    fn plan_called(&self, text: &str) -> Result<Plan> {
        self.settings().billing.catalogue.find(text).cloned().ok_or(Error::UnknownPlan)
    }

    /// The plan of an id; the plan None for nothing and for one no longer known.
    pub(super) fn plan_or_none(&self, id: Option<&PlanId>) -> &Plan {
        let catalogue = &self.settings().billing.catalogue;
        id.and_then(|id| catalogue.get(id)).unwrap_or(catalogue.none())
    }

    pub(super) fn price_of(&self, id: &PlanId) -> Option<Money> {
        match self.settings().billing.catalogue.get(id)?.price {
            Price::Monthly(price) => Some(price),
            Price::Free | Price::Contract => None,
        }
    }

    /// Where the team stands; for one that never had a plan, at the beginning.
    pub(super) async fn standing(&self, team: TeamId) -> Result<StoredMembership> {
        let stored = self.store().team(team).membership().await?;
        Ok(stored.unwrap_or_else(|| StoredMembership {
            id: MembershipId::new(self.now(), random::bytes()),
            state: State::default(),
            method: None,
            revision: 0,
        }))
    }

    pub(super) async fn attempt(
        &self,
        team: TeamId,
        method: &Method,
        charge: Charge,
        by_person: bool,
    ) -> Result<NewAttempt> {
        Ok(NewAttempt {
            id: AttemptId::new(self.now(), random::bytes()),
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

    /// Writes a try and makes it; nothing when the membership changed meanwhile.
    pub(super) async fn try_charge(
        &self,
        attempt: NewAttempt,
        revision: i64,
    ) -> Result<Option<Outcome>> {
        let now = self.now();
        match self.store().begin_attempt(&attempt, revision, now, now.after(LEASE)).await? {
            Begun::Stale => Ok(None),
            Begun::UnderWay => Err(Error::PaymentUnderWay),
            Begun::Done => self.go_on(&attempt.begun(now)).await.map(Some),
        }
    }

    /// Keeps a change that moves no money.
    pub(super) async fn keep(
        &self,
        team: TeamId,
        before: &StoredMembership,
        state: &State,
        method: Option<MethodId>,
        kept: Kept,
    ) -> Result<Settled> {
        let mut mails = Vec::new();
        if let Some((plan, why)) = &kept.ended {
            let plan = self.plan_name(plan);
            mails = self
                .letters_to(team, words::ended(self.settings(), &plan, *why, self.now()))
                .await?;
        }
        let settlement = Settlement {
            team,
            id: before.id,
            state,
            method,
            show_method: kept.show_method,
            revision: before.revision,
            attempt: None,
            invoice: None,
            mails: &mails,
        };
        let settled = self.store().settle(&settlement, self.now()).await?;
        self.0.mail_waits.notify_one();
        Ok(settled)
    }

    pub(super) fn plan_name(&self, id: &PlanId) -> String {
        let plan = self.settings().billing.catalogue.get(id);
        plan.map_or_else(|| id.to_string(), |plan| plan.name.clone())
    }
}

/// What goes with a change that moves no money.
#[derive(Default)]
pub(super) struct Kept {
    show_method: bool,
    ended: Option<(PlanId, Why)>,
}

impl Kept {
    fn chosen() -> Self {
        Self { show_method: true, ended: None }
    }

    pub(super) fn after(action: Option<&Action>) -> Self {
        match action {
            Some(Action::Ended { plan, why }) => {
                Self { show_method: false, ended: Some((plan.clone(), *why)) }
            }
            _ => Self::default(),
        }
    }
}
