//! The limits of plans, where the operator has them enforced. What a plan does
//! not allow, because it is smaller than the last or because limits are new,
//! keeps running for 14 days, the team is told, and then the newest monitors
//! are set inactive. No monitor is deleted; what of the history goes is decided
//! in `history.rs`.

use std::time::Duration;
use wakeful_core::billing::{LEAVE, Limits, Plan};
use wakeful_core::id::TeamId;
use wakeful_core::monitor::Monitor;
use wakeful_core::time::Millis;
use wakeful_store::Use;

use super::words;
use crate::bus::{Edit, Event};
use crate::letters::Words;
use crate::{Engine, Error, Result};

const WATCH_EVERY: Duration = Duration::from_secs(3600);
const PAGE: u32 = 500;

impl Engine {
    /// The plan that limits a team; nothing where there are no limits.
    pub(crate) async fn limiting_plan(&self, team: TeamId) -> Result<Option<Plan>> {
        match self.settings().billing.limits {
            true => Ok(Some(self.plan_now(team).await?)),
            false => Ok(None),
        }
    }

    /// Refuses an interval that the plan does not allow. How many monitors there
    /// may be is asked in the transaction that saves one.
    pub(crate) fn allow_interval(
        &self,
        plan: &Plan,
        wanted: &Monitor,
        before: Option<&Monitor>,
    ) -> Result<()> {
        let seconds = wanted.heartbeat_interval.seconds();
        let same = before.is_some_and(|before| {
            before.isactive && before.heartbeat_interval == wanted.heartbeat_interval
        });
        if !wanted.isactive || same || seconds >= plan.limits.shortest_interval {
            return Ok(());
        }
        let limit = format!("intervals of {} s or more", plan.limits.shortest_interval);
        Err(self.beyond(plan, limit, |limits| limits.shortest_interval <= seconds))
    }

    /// Why one active monitor more was refused.
    pub(crate) fn too_many_monitors(&self, plan: Option<&Plan>) -> Error {
        self.too_many(plan, "active monitors", |limits| limits.monitors)
    }

    /// Refuses one user more than the team's plan allows, before anything is done
    /// for them, and answers the plan: the transaction that adds one asks again.
    pub(crate) async fn allow_user(&self, team: TeamId) -> Result<Option<Plan>> {
        let Some(plan) = self.limiting_plan(team).await? else { return Ok(None) };
        let used = self.store().team(team).usage(plan.limits.shortest_interval).await?;
        match plan.limits.users {
            Some(most) if used.users >= i64::from(most) => Err(self.too_many_users(Some(&plan))),
            _ => Ok(Some(plan)),
        }
    }

    /// Why one user more was refused.
    pub(crate) fn too_many_users(&self, plan: Option<&Plan>) -> Error {
        self.too_many(plan, "users", |limits| limits.users)
    }

    fn too_many(
        &self,
        plan: Option<&Plan>,
        what: &str,
        most: impl Fn(&Limits) -> Option<u32>,
    ) -> Error {
        let plan = plan.unwrap_or(self.settings().billing.catalogue.none());
        let held = most(&plan.limits).unwrap_or(u32::MAX);
        let enough = |limits: &Limits| most(limits).is_none_or(|most| most > held);
        self.beyond(plan, format!("{held} {what}"), enough)
    }

    /// How many days of history a team's plan has; nothing where there is no limit.
    pub async fn history_days(&self, team: TeamId) -> Result<Option<u32>> {
        Ok(self.limiting_plan(team).await?.map(|plan| plan.limits.history_days))
    }

    /// The plan that serves a team now.
    async fn plan_now(&self, team: TeamId) -> Result<Plan> {
        let standing = self.standing(team).await?;
        Ok(self.plan_or_none(standing.state.serving(self.now())).clone())
    }

    fn beyond(&self, plan: &Plan, limit: String, enough: impl Fn(&Limits) -> bool) -> Error {
        let next = self.settings().billing.catalogue.next(&plan.id, enough);
        let next = next.map(|plan| plan.name.clone());
        Error::PlanLimit { limit, plan: plan.name.clone(), next }
    }

    async fn watch_limits(&self, team: TeamId) -> Result<()> {
        let store = self.store().team(team);
        let plan = self.plan_now(team).await?;
        let used = store.usage(plan.limits.shortest_interval).await?;
        let now = self.now();
        match (over(&plan, used), store.over_since().await?) {
            (None, None) => Ok(()),
            (None, Some(_)) => Ok(store.over_no_more().await?),
            (Some(over), None) => {
                let until = now.after(LEAVE);
                let words = words::over_limits(self.settings(), &plan.name, &over, until);
                let told = self.letters_to(team, words).await?;
                // Another node may have been first: then it has told them.
                if store.over_from(now, &told).await? {
                    self.0.mail_waits.notify_one();
                }
                Ok(())
            }
            (Some(_), Some(since)) if now.since(since) >= LEAVE => {
                self.rest(team, &plan, now).await
            }
            (Some(_), Some(_)) => Ok(()),
        }
    }

    async fn rest(&self, team: TeamId, plan: &Plan, now: Millis) -> Result<()> {
        let store = self.store().team(team);
        let most = plan.limits.monitors.unwrap_or(u32::MAX);
        let rested = store.rest_newest(most, plan.limits.shortest_interval, now).await?;
        for monitor in &rested {
            self.bus().edited(Edit { team, monitor: *monitor });
            self.bus().tell(team, || Event::Saved(*monitor));
        }
        store.over_no_more().await?;
        tracing::info!(team.id = %team, "{} monitors of team {team} were set inactive", rested.len());
        self.tell(team, words::rested(self.settings(), &plan.name, rested.len())).await
    }

    async fn tell(&self, team: TeamId, words: Words) -> Result<()> {
        for mail in self.letters_to(team, words).await? {
            self.store().add_mail(&mail, self.now()).await?;
        }
        self.0.mail_waits.notify_one();
        Ok(())
    }
}

/// What is over the plan's limits, in words. Users are not counted: nobody is
/// shut out by a smaller plan.
fn over(plan: &Plan, used: Use) -> Option<String> {
    let most = plan.limits.monitors.map_or(i64::MAX, i64::from);
    let mut words = Vec::new();
    if used.active_monitors > most {
        words.push(format!("{} active monitors of {most}", used.active_monitors));
    }
    if used.too_often > 0 {
        let shortest = plan.limits.shortest_interval;
        words.push(format!("{} monitors with an interval below {shortest} s", used.too_often));
    }
    (!words.is_empty()).then(|| words.join(", "))
}

/// When limits were last looked at.
#[derive(Default)]
pub(super) struct Watch {
    last: Option<Millis>,
}

impl Watch {
    pub(super) async fn look(&mut self, engine: &Engine) -> Result<()> {
        let now = engine.now();
        let early = self.last.is_some_and(|last| now.since(last) < WATCH_EVERY);
        if !engine.settings().billing.limits || early {
            return Ok(());
        }
        watch(engine).await?;
        self.last = Some(now);
        Ok(())
    }
}

/// Looks at every team that may use more than its plan allows.
pub async fn watch(engine: &Engine) -> Result<()> {
    let (monitors, interval) = engine.settings().billing.catalogue.within_all();
    let mut after = TeamId::new(Millis(0), [0; 10]);
    loop {
        let teams = engine.store().teams_to_watch(after, monitors, interval, PAGE).await?;
        let Some(last) = teams.last() else { return Ok(()) };
        after = *last;
        for team in teams {
            engine.watch_limits(team).await?;
        }
    }
}
