//! Enforces the limits of plans, if the operator has enabled them. A team that exceeds its
//! plan, because the plan became smaller or limits are new, is notified, and everything keeps
//! running for 14 days. Then the newest monitors are deactivated. No monitor is deleted;
//! `retention.rs` handles the history.

use std::time::Duration;
use wakeful_core::billing::{Limits, Plan, Price, REDUCTION_GRACE};
use wakeful_core::id::TeamId;
use wakeful_core::monitors::Interval;
use wakeful_core::time::Millis;
use wakeful_store::Usage;

use super::emails;
use crate::bus::{Edit, Event};
use crate::mail::templates::EmailText;
use crate::{Engine, Error, Result};

const CHECK_INTERVAL: Duration = Duration::from_secs(3600);
const TEAM_BATCH: u32 = 500;

impl Engine {
    /// The plan that limits a team; `None` if limits are not enforced.
    pub(crate) async fn limiting_plan(&self, team: TeamId) -> Result<Option<Plan>> {
        if self.settings().billing.limits {
            Ok(Some(self.current_plan(team).await?))
        } else {
            Ok(None)
        }
    }

    /// Refuses an interval that the plan does not allow; both are given with whether the
    /// monitor is active. The number of monitors is checked in the transaction that saves one.
    pub(crate) fn check_interval_limit(
        &self,
        plan: &Plan,
        wanted: (bool, Interval),
        before: Option<(bool, Interval)>,
    ) -> Result<()> {
        let (isactive, interval) = wanted;
        let seconds = interval.seconds();
        let same = before == Some((true, interval));
        if !isactive || same || seconds >= plan.limits.shortest_interval {
            return Ok(());
        }
        let limit = format!("intervals of {} s or more", plan.limits.shortest_interval);
        Err(self.plan_limit_error(plan, limit, |limits| limits.shortest_interval <= seconds))
    }

    /// The error for exceeding the number of active monitors.
    pub(crate) fn too_many_monitors(&self, plan: Option<&Plan>) -> Error {
        let nouns = ["active monitor", "active monitors"];
        self.too_many_error(plan, nouns, |limits| limits.monitors)
    }

    /// Refuses a new user if the team's plan allows no more, and returns the plan. The
    /// transaction that adds the user checks again.
    pub(crate) async fn check_user_limit(&self, team: TeamId) -> Result<Option<Plan>> {
        let Some(plan) = self.limiting_plan(team).await? else { return Ok(None) };
        let used = self.billed_team(team).usage(plan.limits.shortest_interval).await?;
        match plan.limits.users {
            Some(max) if used.users >= i64::from(max) => Err(self.too_many_users(Some(&plan))),
            _ => Ok(Some(plan)),
        }
    }

    /// The error for exceeding the number of users.
    pub(crate) fn too_many_users(&self, plan: Option<&Plan>) -> Error {
        self.too_many_error(plan, ["user", "users"], |limits| limits.users)
    }

    /// The error for exceeding the number of status pages.
    pub(crate) fn too_many_statuspages(&self, plan: Option<&Plan>) -> Error {
        self.too_many_error(plan, ["status page", "status pages"], |limits| limits.status_pages)
    }

    /// Refuses a custom domain of a status page to teams without a subscription.
    pub(crate) fn check_domain_limit(&self, plan: &Plan) -> Result<()> {
        if plan.price == Price::Free {
            return Err(self.plan_limit_error(plan, "0 custom domains".to_owned(), |_| true));
        }
        Ok(())
    }

    /// The error for exceeding the number of subscribers.
    pub(crate) fn too_many_subscribers(&self, plan: Option<&Plan>) -> Error {
        let nouns = ["subscriber of status pages", "subscribers of status pages"];
        self.too_many_error(plan, nouns, |limits| limits.subscribers)
    }

    /// `nouns` are what is counted: one of it, and several.
    fn too_many_error(
        &self,
        plan: Option<&Plan>,
        nouns: [&str; 2],
        max: impl Fn(&Limits) -> Option<u32>,
    ) -> Error {
        let plan = plan.unwrap_or(self.settings().billing.catalog.none());
        let current = max(&plan.limits).unwrap_or(u32::MAX);
        let enough = |limits: &Limits| max(limits).is_none_or(|max| max > current);
        let noun = nouns[usize::from(current != 1)];
        self.plan_limit_error(plan, format!("{current} {noun}"), enough)
    }

    /// How many days of history a team's plan includes; `None` if limits are not enforced.
    pub async fn history_days(&self, team: TeamId) -> Result<Option<u32>> {
        Ok(self.limiting_plan(team).await?.map(|plan| plan.limits.history_days))
    }

    async fn current_plan(&self, team: TeamId) -> Result<Plan> {
        let membership = self.current_membership(team).await?;
        Ok(self.plan_or_none(membership.state.serving(self.now())).clone())
    }

    fn plan_limit_error(
        &self,
        plan: &Plan,
        limit: String,
        enough: impl Fn(&Limits) -> bool,
    ) -> Error {
        let next = self.settings().billing.catalog.next(&plan.id, enough);
        let next = next.map(|plan| plan.name.clone());
        Error::PlanLimit { limit, plan: plan.name.clone(), next }
    }

    async fn enforce_limits(&self, team: TeamId) -> Result<()> {
        let store = self.billed_team(team);
        let plan = self.current_plan(team).await?;
        let used = store.usage(plan.limits.shortest_interval).await?;
        let now = self.now();
        match (over_limit_text(&plan, used), store.over_limit_since().await?) {
            (None, None) => Ok(()),
            (None, Some(_)) => Ok(store.clear_over_limit().await?),
            (Some(over), None) => {
                let until = now.after(REDUCTION_GRACE);
                let text = emails::over_limits(self.settings(), &plan.name, &over, until);
                let mails = self.emails_to_payers(team, &text).await?;
                // If another node was first, it has notified the team.
                if store.mark_over_limit(now, &mails).await? {
                    self.0.mail_queued.notify_one();
                }
                Ok(())
            }
            (Some(_), Some(since)) if now.since(since) >= REDUCTION_GRACE => {
                self.deactivate_newest(team, &plan, now).await
            }
            (Some(_), Some(_)) => Ok(()),
        }
    }

    async fn deactivate_newest(&self, team: TeamId, plan: &Plan, now: Millis) -> Result<()> {
        let store = self.billed_team(team);
        let max = plan.limits.monitors.unwrap_or(u32::MAX);
        let deactivated =
            store.deactivate_over_limit(max, plan.limits.shortest_interval, now).await?;
        for monitor in &deactivated {
            self.bus().publish_edit(Edit::new(team, *monitor));
            self.bus().publish_event(team, || Event::Saved(*monitor));
        }
        store.clear_over_limit().await?;
        tracing::info!(team.id = %team, "deactivated {} monitors of team {team}", deactivated.len());
        self.email_owner(team, emails::deactivated(self.settings(), &plan.name, deactivated.len()))
            .await
    }

    async fn email_owner(&self, team: TeamId, text: EmailText) -> Result<()> {
        for mail in self.emails_to_payers(team, &text).await? {
            self.store().add_mail(&mail, self.now()).await?;
        }
        self.0.mail_queued.notify_one();
        Ok(())
    }
}

/// Describes how a team exceeds its plan. Users are not counted: a smaller plan locks no user
/// out.
fn over_limit_text(plan: &Plan, used: Usage) -> Option<String> {
    let max = plan.limits.monitors.map_or(i64::MAX, i64::from);
    let mut parts = Vec::new();
    if used.active_monitors > max {
        parts.push(format!("{} active monitors of {max}", used.active_monitors));
    }
    if used.too_often > 0 {
        let shortest = plan.limits.shortest_interval;
        parts.push(format!("{} monitors with an interval below {shortest} s", used.too_often));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// When limits were last checked.
#[derive(Default)]
pub(super) struct LimitCheck {
    last: Option<Millis>,
}

impl LimitCheck {
    pub(super) async fn run_if_due(&mut self, engine: &Engine) -> Result<()> {
        let now = engine.now();
        let early = self.last.is_some_and(|last| now.since(last) < CHECK_INTERVAL);
        if !engine.settings().billing.limits || early {
            return Ok(());
        }
        enforce_all_limits(engine).await?;
        self.last = Some(now);
        Ok(())
    }
}

/// Checks every team that may use more than its plan allows.
pub async fn enforce_all_limits(engine: &Engine) -> Result<()> {
    let (monitors, interval) = engine.settings().billing.catalog.smallest_limits();
    let mut after = TeamId::new(Millis(0), [0; 10]);
    loop {
        let teams =
            engine.store().teams_possibly_over_limit(after, monitors, interval, TEAM_BATCH).await?;
        let Some(last) = teams.last() else { return Ok(()) };
        after = *last;
        for team in teams {
            engine.enforce_limits(team).await?;
        }
    }
}
