//! Announces handovers: when somebody else, or nobody, is on call in a schedule. The schedule has
//! the user who was on call last, so that a change by a turn, an override or an edit is noticed,
//! also after a restart. Every node looks for schedules that are due; the revision of the row
//! decides which one of them writes.

use std::collections::HashSet;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::calendar::Span;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::UserId;
use wakeful_core::notifications::announcement::{self, ScheduleHandover};
use wakeful_core::notifications::event::EventPerson;
use wakeful_core::severity::Severity;
use wakeful_store::{DueSchedule, HandoverRecord, RecipientAddress, Responders};

use super::recipients::ways;
use super::schedules::blocking;
use crate::due_work::{DueWorkReader, POLL_INTERVAL};
use crate::notifications::delivery::survive::survived;
use crate::{Engine, Result};

/// A schedule is looked at again after this time, even if nothing changes.
const MAX_WAIT: Duration = Duration::from_secs(7 * 86_400);
/// The teams take turns again after so many.
const SCHEDULE_BATCH: u32 = 100;

/// Announces handovers until shutdown.
pub async fn run(engine: Engine, shutdown: CancellationToken) {
    let mut due_work = DueWorkReader::default();
    while !shutdown.is_cancelled() {
        match announce_due(&engine).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(error = %ErrorChain(&error), "announcing handovers failed, retrying in {} s", POLL_INTERVAL.as_secs());
            }
        }
        let due = async { while !due_work.next(&engine).await.handovers {} };
        tokio::select! {
            () = due => {}
            () = shutdown.cancelled() => {}
        }
    }
}

impl Engine {
    /// Notes who is on call in a schedule that is due, and announces it if that has changed. False
    /// if nothing was written.
    async fn hand_over(&self, due: &DueSchedule) -> Result<bool> {
        let now = self.now();
        let DueSchedule { schedule, on_call: previous, .. } = due;
        let soon = Span { from: now, to: now.after(MAX_WAIT) };
        let (team, id) = (schedule.team, schedule.id);
        let overrides = self.store().overrides_of_schedule(team, id, soon).await?;
        let (computed, previously) = (schedule.clone(), *previous);
        let (on_call, next) = blocking(move || {
            let on_call = computed.who(&overrides, now);
            // An announcement says until when, also if that is later.
            let next = if on_call == previously {
                computed.next_handover_within(&overrides, now, MAX_WAIT)
            } else {
                computed.next_handover(&overrides, now)
            };
            (on_call, next)
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
        Ok(self.store().write_handover(record, now).await?)
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

/// Looks at schedules that are due. One that fails does not delay the others. Returns whether more
/// may be due.
pub async fn announce_due(engine: &Engine) -> Result<bool> {
    let all = engine.store().due_schedules(engine.now(), SCHEDULE_BATCH).await?;
    let mut is_progress = false;
    for due in &all {
        let id = due.schedule.id;
        match survived(engine.hand_over(due)).await {
            Ok(Ok(is_written)) => is_progress |= is_written,
            Ok(Err(error)) => {
                tracing::warn!(schedule.id = %id, error = %ErrorChain(&error), "announcing the handover of schedule {id} failed, retrying in {} s", POLL_INTERVAL.as_secs());
            }
            Err(_) => {
                tracing::error!(schedule.id = %id, "announcing the handover of schedule {id} failed because of a bug in Wakeful, retrying in {} s", POLL_INTERVAL.as_secs());
            }
        }
    }
    Ok(is_progress && all.len() == SCHEDULE_BATCH as usize)
}
