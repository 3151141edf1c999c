//! What is not queued for a team with too many waiting deliveries, as when a receiver does not
//! respond while monitors go down and up. The latest state of a monitor is always queued: an
//! outage that lasts, and its recovery. An outage that ends while an earlier message about the
//! monitor still waits is withdrawn, and so is a warning. Nothing remains of them but an entry in
//! the timeline of the alert.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;
use wakeful_core::alerting::step::{Note, NoteKind};
use wakeful_core::id::{AlertId, NotifierId, TeamId};
use wakeful_core::notifications::event;
use wakeful_core::time::Millis;

use super::decisions::AlertDecision;
use super::due::id_list;
use super::messages::{Link, Message};
use crate::dialect::{Tx, either, within};
use crate::{Result, Store};

/// The queues of one transaction.
#[derive(Default)]
pub(super) struct CrowdedQueues {
    teams: Arc<HashSet<TeamId>>,
    /// The notifiers whose message about the outage was withdrawn or not queued.
    left_out: Mutex<HashSet<(AlertId, NotifierId)>>,
}

impl CrowdedQueues {
    /// Whether a message is queued for a notifier of the monitor.
    pub(super) fn takes(&self, decision: &AlertDecision, message: &Message, link: &Link) -> bool {
        let alert = &decision.alert;
        if !self.teams.contains(&alert.team) {
            return true;
        }
        let opens = |message: &Message| {
            [event::DOWN, event::CERTIFICATE, event::DOMAIN].contains(&message.event.kind)
        };
        let is_current = message.event.kind == event::DOWN && alert.facts.ended.is_none();
        if opens(message) && link.busy && !is_current {
            self.lock().insert((alert.id, link.notifier));
            return false;
        }
        self.takes_more(decision, message, link.notifier)
    }

    /// Whether a message that follows others is queued for one of their recipients.
    pub(super) fn takes_more(
        &self,
        decision: &AlertDecision,
        message: &Message,
        notifier: NotifierId,
    ) -> bool {
        message.event.kind != event::UP || !self.lock().contains(&(decision.alert.id, notifier))
    }

    /// Whether the notifier was left out of the outage that a message reports; a rule names it as
    /// well. An escalation step is sent in any case.
    pub(super) fn has_left_out(
        &self,
        decision: &AlertDecision,
        message: &Message,
        notifier: NotifierId,
    ) -> bool {
        message.step.is_none() && self.lock().contains(&(decision.alert.id, notifier))
    }

    /// What the timelines say about it.
    pub(super) fn notes(&self) -> HashMap<AlertId, Note> {
        let mut counts: HashMap<AlertId, usize> = HashMap::new();
        for (alert, _) in self.lock().iter() {
            *counts.entry(*alert).or_default() += 1;
        }
        let note = |count: usize| Note {
            kind: NoteKind::NotSent,
            text: format!(
                "to {count} notifier{}: too many messages are waiting",
                if count == 1 { "" } else { "s" }
            ),
            user: None,
            name: String::new(),
            via: String::new(),
        };
        counts.into_iter().map(|(alert, count)| (alert, note(count))).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<(AlertId, NotifierId)>> {
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Withdraws the messages about outages that these decisions end, if they are behind others
    /// and were not tried yet, for teams with too many waiting deliveries.
    pub(super) async fn withdraw_superseded(
        &self,
        tx: &mut Tx,
        decisions: &[&AlertDecision],
        now: Millis,
    ) -> Result<CrowdedQueues> {
        let teams = self.outbox.crowded();
        let ends = |decision: &&&AlertDecision| {
            let kinds = || decision.messages.iter().map(|message| message.event.kind);
            teams.contains(&decision.alert.team)
                && kinds().any(|kind| kind == event::UP)
                && kinds().all(|kind| kind != event::DOWN)
        };
        let ended: Vec<AlertId> =
            decisions.iter().filter(ends).map(|decision| decision.alert.id).collect();
        if ended.is_empty() {
            return Ok(CrowdedQueues { teams, ..CrowdedQueues::default() });
        }
        let withdrawn: Vec<(Uuid, Uuid)> = within!(*tx, |db| {
            sqlx::query_as(self.delete_outages())
                .bind(id_list(&ended))
                .bind(now.0)
                .fetch_all(db)
                .await
        })?;
        let left_out =
            withdrawn.into_iter().map(|(alert, notifier)| (alert.into(), notifier.into()));
        Ok(CrowdedQueues { teams, left_out: Mutex::new(left_out.collect()) })
    }

    fn delete_outages(&self) -> &'static str {
        macro_rules! delete {
            ($alerts:literal) => {
                concat!(
                    "delete from deliveries
                     where alert_id in (",
                    $alerts,
                    ")
                     and kind = 'monitor.down' and state = 'waiting' and left_to is null
                     and attempts = 0 and lease_until <= $2
                     and exists (
                         select 1 from deliveries e
                         where e.team_id = deliveries.team_id
                         and e.notifier_id = deliveries.notifier_id
                         and e.line = deliveries.line
                         and e.state = 'waiting' and e.left_to is null
                         and e.sequence < deliveries.sequence)
                     returning alert_id, notifier_id"
                )
            };
        }
        either!(
            self,
            sqlite: delete!("select unhex(value) from json_each($1)"),
            postgres: delete!(
                "select cast(value as uuid) from json_array_elements_text(cast($1 as json))")
        )
    }
}
