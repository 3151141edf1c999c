//! The limits of plans, where the operator has them enforced. What a plan does
//! not allow, because it is smaller than the last or because limits are new,
//! keeps running for 14 days, the team is told, and then the newest monitors
//! are set inactive. Nothing is deleted.

use std::time::Duration;
use wakeful_core::billing::{Limits, Plan};
use wakeful_core::id::TeamId;
use wakeful_core::monitor::Monitor;
use wakeful_core::time::Millis;
use wakeful_store::Use;

use super::words;
use crate::bus::{Edit, Event};
use crate::letters::Words;
use crate::monitors::Draft;
use crate::{Engine, Error, Result};

const GRACE: Duration = Duration::from_secs(14 * 24 * 3600);
const WATCH_EVERY: Duration = Duration::from_secs(3600);
const PAGE: u32 = 500;

impl Engine {
    /// Refuses a monitor that the team's plan does not allow.
    pub(crate) async fn allow_monitor(
        &self,
        team: TeamId,
        draft: &Draft,
        before: Option<&Monitor>,
    ) -> Result<()> {
        if !self.settings().billing.limits || !draft.isactive {
            return Ok(());
        }
        let plan = self.plan_now(team).await?;
        let seconds = draft.heartbeat_interval.seconds();
        let same = before.is_some_and(|before| {
            before.isactive && before.heartbeat_interval == draft.heartbeat_interval
        });
        if !same && seconds < plan.limits.shortest_interval {
            let limit = format!("intervals of {} s or more", plan.limits.shortest_interval);
            return Err(self.beyond(&plan, limit, |limits| limits.shortest_interval <= seconds));
        }
        if before.is_some_and(|before| before.isactive) {
            return Ok(());
        }
        let used = self.store().team(team).usage(plan.limits.shortest_interval).await?;
        match plan.limits.monitors {
            Some(most) if used.active_monitors >= i64::from(most) => {
                let limit = format!("{most} active monitors");
                Err(self.beyond(&plan, limit, |limits| {
                    limits.monitors > Some(most) || limits.monitors.is_none()
                }))
            }
            _ => Ok(()),
        }
    }

    /// Refuses one user more than the team's plan allows.
    pub(crate) async fn allow_user(&self, team: TeamId) -> Result<()> {
        if !self.settings().billing.limits {
            return Ok(());
        }
        let plan = self.plan_now(team).await?;
        let used = self.store().team(team).usage(plan.limits.shortest_interval).await?;
        match plan.limits.users {
            Some(most) if used.users >= i64::from(most) => {
                let limit = format!("{most} users");
                Err(self.beyond(&plan, limit, |limits| {
                    limits.users > Some(most) || limits.users.is_none()
                }))
            }
            _ => Ok(()),
        }
    }

    /// How many days of history a team has; nothing where there is no limit.
    pub async fn history_days(&self, team: TeamId) -> Result<Option<u32>> {
        match self.settings().billing.limits {
            true => Ok(Some(self.plan_now(team).await?.limits.history_days)),
            false => Ok(None),
        }
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
            (None, Some(_)) => Ok(store.set_over_since(None).await?),
            (Some(over), None) => {
                store.set_over_since(Some(now)).await?;
                let until = now.after(GRACE);
                self.tell(team, words::over_limits(self.settings(), &plan.name, &over, until)).await
            }
            (Some(_), Some(since)) if now.since(since) >= GRACE => {
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
        store.set_over_since(None).await?;
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
