//! Announces handovers: when somebody else, or nobody, is on call in a schedule. The schedule has
//! the user who was on call last, so that a change by a turn, an override or an edit is noticed,
//! also after a restart.

use std::collections::HashSet;
use std::time::Duration;
use wakeful_core::calendar::Span;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::UserId;
use wakeful_core::notifications::announcement::{self, ScheduleHandover};
use wakeful_core::notifications::event::EventPerson;
use wakeful_core::severity::Severity;
use wakeful_core::time::Millis;
use wakeful_store::{DueSchedule, HandoverRecord, RecipientAddress, Responders};

use super::recipients::ways;
use super::schedules::blocking;
use crate::notifications::delivery::survive::survived;
use crate::{Engine, Result};

/// A schedule is looked at again after this time, even if nothing changes.
const MAX_WAIT: Duration = Duration::from_secs(7 * 86_400);

impl Engine {
    /// Notes who is on call in a schedule that is due, and announces it if that has changed.
    pub(super) async fn hand_over(&self, due: &DueSchedule) -> Result<()> {
        let now = self.now();
        let DueSchedule { schedule, on_call: previous, .. } = due;
        let soon = Span { from: now, to: now.after(MAX_WAIT) };
        let mut overrides = self.store().overrides_of(schedule.team, soon).await?;
        let overrides = overrides.remove(&schedule.id).unwrap_or_default();
        let computed = schedule.clone();
        let (on_call, next) = blocking(move || {
            (computed.who(&overrides, now), computed.next_handover(&overrides, now))
        })
        .await;
        let announcement = if on_call == *previous {
            None
        } else {
            let responders = self.store().responders(schedule.team, now).await?;
            let handover = ScheduleHandover {
                previous: previous.and_then(|user| person(&responders, user)),
                next: on_call.and_then(|user| person(&responders, user)),
                until: next,
            };
            let recipients = recipients(due, on_call, &responders);
            Some((announcement::of_handover(schedule, handover, now), recipients))
        };
        let next_at = next.unwrap_or(soon.to).min(soon.to);
        let record = HandoverRecord { due, on_call, next_at, announcement };
        self.store().write_handover(record, now).await?;
        Ok(())
    }
}

fn person(responders: &Responders, user: UserId) -> Option<EventPerson> {
    let member = responders.members.iter().find(|member| member.user == user)?;
    Some(EventPerson { userid: user, name: member.name.clone() })
}

/// The notifiers that are named, and both people if they are to be notified: each by the first of
/// their contact rules, because nobody has to respond.
fn recipients(
    due: &DueSchedule,
    on_call: Option<UserId>,
    responders: &Responders,
) -> Vec<RecipientAddress> {
    let announce = &due.schedule.announce;
    let named = announce.notifiers.iter().copied().map(RecipientAddress::Notifier);
    let mut all: Vec<RecipientAddress> = named.collect();
    if announce.people {
        let users: HashSet<UserId> = [due.on_call, on_call].into_iter().flatten().collect();
        for member in responders.members.iter().filter(|member| users.contains(&member.user)) {
            let ways = ways(responders, member, Severity::Info);
            let first = ways.iter().map(|way| way.delay).min();
            all.extend(ways.iter().filter(|way| Some(way.delay) == first).map(|way| way.to));
        }
    }
    all
}

/// Looks at the schedules that are due. One that fails does not delay the others.
pub(super) async fn announce_handovers(engine: &Engine, now: Millis, limit: u32) -> Result<()> {
    for due in engine.store().due_schedules(now, limit).await? {
        let id = due.schedule.id;
        match survived(engine.hand_over(&due)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(schedule.id = %id, error = %ErrorChain(&error), "announcing the handover of schedule {id} failed, retrying in 1 s");
            }
            Err(_) => {
                tracing::error!(schedule.id = %id, "announcing the handover of schedule {id} failed because of a bug in Wakeful, retrying in 1 s");
            }
        }
    }
    Ok(())
}
