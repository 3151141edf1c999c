//! Writes decisions about alerts: the new state of each alert with its entries in the timeline
//! (`notes.rs`) and one delivery for each recipient (`messages.rs`), in one transaction. A decision
//! is written only if the alert has not changed since it was read: of several nodes that decide
//! about it, one writes, and after a crash it is decided again from the row.

use serde::Serialize;
use std::collections::{HashMap, HashSet};
use uuid::Uuid;
use wakeful_core::alerting::alert::Alert;
use wakeful_core::alerting::state::{AlertState, AlertStatus};
use wakeful_core::alerting::step::{Note, Unreachable};
use wakeful_core::id::AlertId;
use wakeful_core::severity::Severity;
use wakeful_core::time::Millis;

use super::due::DueAlert;
use super::messages::Message;
use super::recipients::release_held;
use super::reschedule::Waking;
use crate::audit::AuditContext;
use crate::dialect::{Tx, either, within};
use crate::history::record::SimpleUuid;
use crate::mail::{self, sealed};
use crate::monitors::json;
use crate::{Mail, NewEntry, NewEvent, Result, Store};

/// A decision about an alert.
#[derive(Clone, Debug)]
pub struct AlertDecision {
    pub alert: DueAlert,
    pub state: AlertState,
    pub status: AlertStatus,
    pub severity: Severity,
    pub due: Option<Millis>,
    pub notes: Vec<Note>,
    /// In the order of sending.
    pub messages: Vec<Message>,
    /// Follow-ups that wait to be sent are given up, for this reason.
    pub cancels: Option<String>,
    /// The alert about flapping that opens in its place.
    pub opens: Option<NewAlert>,
    /// When the alert has ended, if the alert processor decides that.
    pub ended: Option<Millis>,
    /// The time that counts as unreachable has begun or ended.
    pub unreachable: Option<Unreachable>,
    /// What depends on it is decided about again: the alerts of the monitors that depend on its
    /// monitor or, after flapping, the suppressed ones of the monitor itself.
    pub wakes: bool,
}

/// An alert that the alert processor opens, with the event that reports it.
#[derive(Clone, Debug)]
pub struct NewAlert {
    pub alert: Alert,
    pub event: NewEvent,
    pub seq: i64,
    pub at: Millis,
}

impl AlertDecision {
    /// Whether the alert is more urgent than before.
    fn is_more_urgent(&self) -> bool {
        self.severity > self.alert.facts.severity(&self.alert.state)
    }
}

/// What a user's action writes besides the decisions.
pub struct ActionRecord<'a> {
    pub by: &'a AuditContext,
    pub entry: &'a NewEntry,
    pub mails: &'a [Mail],
}

#[derive(Serialize)]
struct DecisionRow<'a> {
    id: SimpleUuid,
    revision: i64,
    remind_at: Option<i64>,
    state: String,
    status: &'a str,
    severity: &'a str,
    assignee: Option<SimpleUuid>,
    due: Option<i64>,
}

#[derive(Serialize)]
struct CancelRow {
    id: SimpleUuid,
    ended: i64,
}

impl Store {
    /// Writes these decisions, except those about alerts that have changed since they were read
    /// or were deleted. Returns the ids of the others.
    ///
    /// A decision that is lost in a power failure is made again: SQLite does not wait for the
    /// disk here. What the decision sends is not recorded as sent before it is on the disk.
    pub async fn write_decisions(
        &self,
        decisions: &[AlertDecision],
        now: Millis,
    ) -> Result<HashSet<AlertId>> {
        let (written, rest) = {
            let (_guard, tx) = self.begin_lazily().await?;
            self.write_decisions_within(tx, decisions, None, now).await?
        };
        self.wake_rest(&rest).await;
        Ok(written)
    }

    /// Writes the decisions that follow from a user's action, with its entry in the audit log:
    /// all of them or, if one of the alerts has changed since it was read, none.
    pub async fn write_action(
        &self,
        decisions: &[AlertDecision],
        record: ActionRecord<'_>,
        now: Millis,
    ) -> Result<bool> {
        let tx = self.begin().await?;
        let (written, rest) = self.write_decisions_within(tx, decisions, Some(record), now).await?;
        self.wake_rest(&rest).await;
        Ok(written.len() == decisions.len())
    }

    /// Also returns what is left for `wake_rest`.
    async fn write_decisions_within(
        &self,
        mut tx: Tx,
        decisions: &[AlertDecision],
        record: Option<ActionRecord<'_>>,
        now: Millis,
    ) -> Result<(HashSet<AlertId>, Vec<Waking>)> {
        let rows: Vec<DecisionRow<'_>> = decisions.iter().map(DecisionRow::of).collect();
        let written: Vec<Uuid> = within!(tx, |db| {
            sqlx::query_scalar(self.update_alerts()).bind(json(&rows)).fetch_all(db).await
        })?;
        let written: HashSet<AlertId> = written.into_iter().map(AlertId::from).collect();
        if record.is_some() && written.len() != decisions.len() {
            return Ok((written, Vec::new()));
        }
        let ours: Vec<&AlertDecision> =
            decisions.iter().filter(|one| written.contains(&one.alert.id)).collect();
        self.cancel_follow_ups(&mut tx, &ours, now).await?;
        let crowded = self.withdraw_superseded(&mut tx, &ours, now).await?;
        let rest = self.write_consequences(&mut tx, &ours, now).await?;
        let new = self.write_messages(&mut tx, &ours, &crowded).await?;
        self.write_notes(&mut tx, &ours, &crowded, now).await?;
        for decision in ours.iter().filter(|decision| decision.is_more_urgent()) {
            release_held(&mut tx, decision, now).await?;
        }
        if let Some(ActionRecord { by, entry, mails }) = record {
            for mail in mails {
                mail::insert(&mut tx, &sealed(&self.keyring, mail), now).await?;
            }
            self.write_entry(&mut tx, by, entry).await?;
        }
        tx.commit().await?;
        if !new.is_empty() {
            self.outbox.notify_of(new);
        }
        Ok((written, rest))
    }

    async fn cancel_follow_ups(
        &self,
        tx: &mut Tx,
        decisions: &[&AlertDecision],
        now: Millis,
    ) -> Result<()> {
        let mut by_reason: HashMap<&str, Vec<CancelRow>> = HashMap::new();
        for decision in decisions {
            if let Some(reason) = &decision.cancels {
                let row = CancelRow { id: decision.alert.id.uuid().into(), ended: now.0 };
                by_reason.entry(reason).or_default().push(row);
            }
        }
        for (reason, rows) in by_reason {
            within!(*tx, |db| {
                sqlx::query(self.cancel_reminders())
                    .bind(json(&rows))
                    .bind(reason)
                    .execute(db)
                    .await?;
            });
        }
        Ok(())
    }

    /// On PostgreSQL the rows are locked in the order of their ids, so that two nodes cannot
    /// deadlock.
    fn update_alerts(&self) -> &'static str {
        either!(
            self,
            sqlite: "update alerts
                 set state = r.state, status = r.status, severity = r.severity,
                     assignee = r.assignee, due = r.due, remind_at = null,
                     revision = alerts.revision + 1
                 from (select unhex(value ->> 'id') as id, value ->> 'revision' as revision,
                              value ->> 'remind_at' as remind_at, value ->> 'state' as state,
                              value ->> 'status' as status, value ->> 'severity' as severity,
                              unhex(value ->> 'assignee') as assignee, value ->> 'due' as due
                       from json_each($1)) r
                 where alerts.id = r.id and alerts.revision = r.revision
                 and alerts.remind_at is r.remind_at
                 returning alerts.id",
            postgres: "with r as (
                     select id, revision, remind_at, state, status, severity, assignee, due
                     from json_to_recordset(cast($1 as json))
                          as r(id uuid, revision bigint, remind_at bigint, state text,
                               status text, severity text, assignee uuid, due bigint)),
                 locked as (
                     select id from alerts
                     where id in (select id from r)
                     order by id
                     for no key update)
                 update alerts
                 set state = r.state, status = r.status, severity = r.severity,
                     assignee = r.assignee, due = r.due, remind_at = null,
                     revision = alerts.revision + 1
                 from r
                 where alerts.id = r.id and alerts.revision = r.revision
                 and alerts.remind_at is not distinct from r.remind_at
                 and alerts.id in (select id from locked)
                 returning alerts.id"
        )
    }
}

impl<'a> DecisionRow<'a> {
    fn of(decision: &'a AlertDecision) -> Self {
        Self {
            id: decision.alert.id.uuid().into(),
            revision: decision.alert.revision,
            remind_at: decision.alert.remind_at,
            state: json(&decision.state),
            status: decision.status.as_str(),
            severity: decision.severity.as_str(),
            assignee: decision.state.assignee.map(|user| user.uuid().into()),
            due: decision.due.map(|due| due.0),
        }
    }
}
