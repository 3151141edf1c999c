//! Writes decisions about alerts: the new state of each alert with its entries in the timeline
//! and one delivery for each recipient, in one transaction. A decision is written only if the
//! alert has not changed since it was read: of several nodes that decide about it, one writes,
//! and after a crash it is decided again from the row.

use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::alerting::alert::Alert;
use wakeful_core::alerting::state::{AlertState, AlertStatus};
use wakeful_core::alerting::step::{Note, Unreachable};
use wakeful_core::id::{AlertEventId, AlertId, DeliveryId, MonitorId, NotifierId, UserId};
use wakeful_core::monitors::Monitor;
use wakeful_core::notifications::message_rules::MessageRules;
use wakeful_core::severity::Severity;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::crowded::CrowdedQueues;
use super::due::DueAlert;
use crate::audit::AuditContext;
use crate::dialect::{Tx, either, from_row, within};
use crate::history::record::SimpleUuid;
use crate::mail::{self, sealed};
use crate::monitors::json;
use crate::{DueDelivery, Mail, NewEntry, NewEvent, Result, Store, StoreError};

/// The bodies that one statement inserts; a database reads its parameter at once.
const MAX_STATEMENT_BYTES: usize = 1 << 20;

/// The deliveries that one transaction writes for several alerts: others wait for it.
const MAX_DELIVERY_BYTES: usize = 8 << 20;

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
    /// What it has suppressed is decided about again: the alerts of the same monitor and of the
    /// monitors that depend on it.
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

/// An event to send.
#[derive(Clone, Debug)]
pub struct Message {
    pub event: NewEvent,
    pub to: Audience,
    /// The place in the queues of the monitor: the sequence number of a verdict.
    pub seq: i64,
    pub created: Millis,
    /// For an escalation step.
    pub step: Option<StepMessage>,
}

/// How an escalation step is sent.
#[derive(Clone, Debug)]
pub struct StepMessage {
    /// The outage itself, for recipients that it has not been sent to.
    pub opened: Option<NewEvent>,
    /// Whether it is also sent to those that it has been sent to.
    pub repeats: bool,
}

/// The recipients of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The notifiers of the monitor.
    Linked,
    /// The notifiers of the monitor that have nothing else to send for it.
    Idle,
    /// The notifiers that have reported the outage, linked or not.
    Notified,
    /// Both of them.
    LinkedOrNotified,
    /// The personal notifier of this user.
    User(UserId),
    /// These, each after its delay.
    Recipients(Vec<MessageRecipient>),
}

/// Somebody who a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRecipient {
    pub to: RecipientAddress,
    pub delay: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecipientAddress {
    Notifier(NotifierId),
    /// The personal notifier of this user, which is created if it does not exist.
    Account(UserId),
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
struct NoteRow<'a> {
    id: SimpleUuid,
    team: SimpleUuid,
    alert: SimpleUuid,
    at: i64,
    kind: &'a str,
    user: Option<SimpleUuid>,
    via: &'a str,
    text: &'a str,
    data: Option<String>,
}

#[derive(Serialize)]
struct CancelRow {
    id: SimpleUuid,
    ended: i64,
}

#[derive(Serialize)]
struct DeliveryRow<'a> {
    id: SimpleUuid,
    event: SimpleUuid,
    monitor: SimpleUuid,
    notifier: SimpleUuid,
    alert: SimpleUuid,
    sequence: i64,
    kind: &'static str,
    body: &'a str,
    created: i64,
    next_try: i64,
    is_step: bool,
}

/// A notifier of a monitor.
pub(super) struct Link {
    monitor: MonitorId,
    pub(super) notifier: NotifierId,
    rules: MessageRules,
    /// Whether it has a waiting delivery for the monitor.
    pub(super) busy: bool,
}

from_row!(Link, |row| Self {
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    notifier: row.try_get::<Uuid, _>("notifier_id")?.into(),
    rules: MessageRules::stored(
        row.try_get("events")?,
        row.try_get("min_severity")?,
        row.try_get("quiet")?
    ),
    busy: row.try_get("busy")?,
});

/// A notifier that has reported an alert, or was about to.
struct Recipient {
    alert: AlertId,
    notifier: NotifierId,
    rules: MessageRules,
    /// Whether anything was sent to it.
    sent: bool,
}

from_row!(Recipient, |row| Self {
    alert: row.try_get::<Uuid, _>("alert_id")?.into(),
    notifier: row.try_get::<Uuid, _>("notifier_id")?.into(),
    rules: MessageRules::stored(
        row.try_get("events")?,
        row.try_get("min_severity")?,
        row.try_get("quiet")?
    ),
    sent: row.try_get::<i64, _>("sent")? == 1,
});

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
        let (_guard, tx) = self.begin_lazily().await?;
        self.write_decisions_within(tx, decisions, None, now).await
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
        let written = self.write_decisions_within(tx, decisions, Some(record), now).await?;
        Ok(written.len() == decisions.len())
    }

    async fn write_decisions_within(
        &self,
        mut tx: Tx,
        decisions: &[AlertDecision],
        record: Option<ActionRecord<'_>>,
        now: Millis,
    ) -> Result<HashSet<AlertId>> {
        let rows: Vec<DecisionRow<'_>> = decisions.iter().map(DecisionRow::of).collect();
        let written: Vec<Uuid> = within!(tx, |db| {
            sqlx::query_scalar(self.update_alerts()).bind(json(&rows)).fetch_all(db).await
        })?;
        let written: HashSet<AlertId> = written.into_iter().map(AlertId::from).collect();
        if record.is_some() && written.len() != decisions.len() {
            return Ok(written);
        }
        let ours: Vec<&AlertDecision> =
            decisions.iter().filter(|one| written.contains(&one.alert.id)).collect();
        self.cancel_follow_ups(&mut tx, &ours, now).await?;
        let crowded = self.withdraw_superseded(&mut tx, &ours, now).await?;
        self.write_consequences(&mut tx, &ours, now).await?;
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
        Ok(written)
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

    async fn write_notes(
        &self,
        tx: &mut Tx,
        decisions: &[&AlertDecision],
        crowded: &CrowdedQueues,
        now: Millis,
    ) -> Result<()> {
        let not_sent: HashMap<AlertId, Note> = crowded.notes();
        let rows: Vec<NoteRow<'_>> = decisions
            .iter()
            .flat_map(|one| {
                let notes = one.notes.iter().chain(not_sent.get(&one.alert.id));
                notes.enumerate().map(|(at, note)| (*one, at, note))
            })
            .map(|(decision, at, note)| NoteRow::of(decision, at, note, now))
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        within!(*tx, |db| {
            sqlx::query(self.insert_notes()).bind(json(&rows)).execute(db).await?;
        });
        Ok(())
    }

    /// Writes a delivery for each message and recipient. The outages come first: their
    /// recipients also get what follows.
    async fn write_messages(
        &self,
        tx: &mut Tx,
        decisions: &[&AlertDecision],
        crowded: &CrowdedQueues,
    ) -> Result<Vec<DueDelivery>> {
        let mut new = Vec::new();
        let messages = || {
            let all = decisions.iter().flat_map(|one| one.messages.iter().map(|m| (*one, m)));
            all.collect::<Vec<(&AlertDecision, &Message)>>()
        };
        let is_to = |which: &[Audience]| {
            let mut all = messages();
            all.retain(|(_, message)| which.contains(&message.to));
            all
        };
        let mut others = messages();
        others.retain(|(_, message)| !matches!(message.to, Audience::Linked | Audience::Idle));
        let linked = is_to(&[Audience::Linked, Audience::Idle, Audience::LinkedOrNotified]);
        if !linked.is_empty() {
            let links = self.links_of(tx, &linked).await?;
            let mut by_monitor: HashMap<MonitorId, Vec<&Link>> = HashMap::new();
            for link in &links {
                by_monitor.entry(link.monitor).or_default().push(link);
            }
            let rows = linked.iter().flat_map(|(decision, message)| {
                let monitor = decision.alert.facts.monitor;
                let links = by_monitor.get(&monitor).map_or(&[][..], Vec::as_slice);
                let idle_only = message.to == Audience::Idle;
                links.iter().filter(move |link| !(idle_only && link.busy)).filter_map(move |link| {
                    let event = &message.event;
                    let at =
                        link.rules.first_try(event.kind, decision.severity, message.created)?;
                    crowded
                        .takes(decision, message, link)
                        .then(|| DeliveryRow::of(decision, message, event, link.notifier, at))
                })
            });
            let rows: Vec<DeliveryRow<'_>> = rows.collect();
            new.extend(self.insert_rows(tx, &rows, decisions.len()).await?);
        }
        if !others.is_empty() {
            let recipients = self.recipients_of(tx, &others).await?;
            let mut rows = Vec::new();
            for (decision, message) in &others {
                let known = recipients.iter().filter(|one| one.alert == decision.alert.id);
                match &message.to {
                    Audience::User(user) => {
                        let own = account_notifier(tx, decision, *user).await?;
                        rows.extend(own.map(|notifier| {
                            let (event, at) = (&message.event, message.created);
                            DeliveryRow::of(decision, message, event, notifier, at)
                        }));
                    }
                    Audience::Recipients(to) => {
                        let known: HashSet<NotifierId> = known.map(|one| one.notifier).collect();
                        self.add_recipients(tx, decision, message, to, &known, &mut rows).await?;
                    }
                    _ => rows.extend(known.filter(|one| one.sent).filter_map(|one| {
                        let event = &message.event;
                        // Everybody who knows of it learns of its end, however urgent it is now.
                        let at =
                            one.rules.later_try(event.kind, decision.severity, message.created)?;
                        crowded
                            .takes_more(decision, message, one.notifier)
                            .then(|| DeliveryRow::of(decision, message, event, one.notifier, at))
                    })),
                }
            }
            new.extend(self.insert_rows(tx, &rows, decisions.len()).await?);
        }
        Ok(new)
    }

    /// Adds the deliveries of a message to these recipients. Of several ways to the same
    /// notifier, the fastest counts.
    async fn add_recipients<'a>(
        &self,
        tx: &mut Tx,
        decision: &AlertDecision,
        message: &'a Message,
        to: &[MessageRecipient],
        known: &HashSet<NotifierId>,
        rows: &mut Vec<DeliveryRow<'a>>,
    ) -> Result<()> {
        let mut delays: HashMap<NotifierId, Duration> = HashMap::new();
        for MessageRecipient { to, delay } in to {
            let notifier = match to {
                RecipientAddress::Notifier(id) => Some(*id),
                RecipientAddress::Account(user) => {
                    own_notifier(tx, decision, *user, message.created).await?
                }
            };
            if let Some(id) = notifier {
                let fastest = delays.entry(id).or_insert(*delay);
                *fastest = (*fastest).min(*delay);
            }
        }
        let mut ids: Vec<NotifierId> = delays.keys().copied().collect();
        ids.sort_unstable();
        let rules = self.delivery_rules(tx, &ids).await?;
        for id in ids {
            let Some(rules) = rules.get(&id) else { continue };
            let event = match &message.step {
                Some(step) if known.contains(&id) && !step.repeats => continue,
                Some(StepMessage { opened: Some(opened), .. }) if !known.contains(&id) => opened,
                _ => &message.event,
            };
            let due = message.created.after(delays.get(&id).copied().unwrap_or_default());
            // A step names its recipients: how urgent their messages have to be does not matter.
            let at = match &message.step {
                Some(_) => rules.later_try(event.kind, decision.severity, due),
                None => rules.first_try(event.kind, decision.severity, due),
            };
            rows.extend(at.map(|at| DeliveryRow::of(decision, message, event, id, at)));
        }
        Ok(())
    }

    /// The rules of those of these notifiers that are enabled.
    async fn delivery_rules(
        &self,
        tx: &mut Tx,
        ids: &[NotifierId],
    ) -> Result<HashMap<NotifierId, MessageRules>> {
        let sql = either!(
            self,
            sqlite: "select id, events, min_severity, quiet from notifiers
                 where disabled_at is null
                 and id in (select unhex(value) from json_each($1))",
            postgres: "select id, events, min_severity, quiet from notifiers
                 where disabled_at is null and id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))"
        );
        let ids: Vec<String> = ids.iter().map(|id| id.uuid().simple().to_string()).collect();
        let rows: Vec<(Uuid, Option<String>, String, Option<String>)> =
            within!(*tx, |db| sqlx::query_as(sql).bind(json(&ids)).fetch_all(db).await)?;
        Ok(rows
            .into_iter()
            .map(|(id, events, min_severity, quiet)| {
                let rules =
                    MessageRules::stored(events.as_deref(), &min_severity, quiet.as_deref());
                (id.into(), rules)
            })
            .collect())
    }

    async fn links_of(
        &self,
        tx: &mut Tx,
        messages: &[(&AlertDecision, &Message)],
    ) -> Result<Vec<Link>> {
        let mut monitors: Vec<String> = messages
            .iter()
            .map(|(decision, _)| decision.alert.facts.monitor.uuid().simple().to_string())
            .collect();
        monitors.sort_unstable();
        monitors.dedup();
        Ok(within!(*tx, |db| {
            sqlx::query_as(self.select_links()).bind(json(&monitors)).fetch_all(db).await
        })?)
    }

    async fn recipients_of(
        &self,
        tx: &mut Tx,
        messages: &[(&AlertDecision, &Message)],
    ) -> Result<Vec<Recipient>> {
        let ids: Vec<AlertId> = messages
            .iter()
            .filter(|(_, message)| match message.to {
                Audience::User(_) => false,
                // Facts are sent once to each notifier in any case.
                Audience::Recipients(_) => message.step.is_some(),
                _ => true,
            })
            .map(|(decision, _)| decision.alert.id)
            .collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        Ok(within!(*tx, |db| {
            sqlx::query_as(self.select_recipients())
                .bind(super::due::id_list(&ids))
                .fetch_all(db)
                .await
        })?)
    }

    async fn insert_rows(
        &self,
        tx: &mut Tx,
        rows: &[DeliveryRow<'_>],
        alerts: usize,
    ) -> Result<Vec<DueDelivery>> {
        let bytes: usize = rows.iter().map(|row| row.body.len()).sum();
        if bytes > MAX_DELIVERY_BYTES && alerts > 1 {
            return Err(StoreError::TooLarge);
        }
        let mut new = Vec::new();
        let mut bytes = 0;
        let fits = |_: &DeliveryRow<'_>, next: &DeliveryRow<'_>| {
            bytes += next.body.len();
            let fits = bytes <= MAX_STATEMENT_BYTES;
            if !fits {
                bytes = next.body.len();
            }
            fits
        };
        for rows in rows.chunk_by(fits) {
            let added: Vec<DueDelivery> = within!(*tx, |db| {
                sqlx::query_as(self.insert_deliveries()).bind(json(rows)).fetch_all(db).await
            })?;
            new.extend(added);
        }
        Ok(new)
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

    fn insert_notes(&self) -> &'static str {
        either!(
            self,
            sqlite: "insert into alert_events
                 (id, team_id, alert_id, at, kind, user_id, via, text, data)
                 select unhex(value ->> 'id'), unhex(value ->> 'team'), unhex(value ->> 'alert'),
                        value ->> 'at', value ->> 'kind', unhex(value ->> 'user'),
                        value ->> 'via', value ->> 'text', value ->> 'data'
                 from json_each($1)
                 where true
                 on conflict do nothing",
            postgres: "insert into alert_events
                 (id, team_id, alert_id, at, kind, user_id, via, text, data)
                 select r.id, r.team, r.alert, r.at, r.kind, r.\"user\", r.via, r.text, r.data
                 from json_to_recordset(cast($1 as json))
                      as r(id uuid, team uuid, alert uuid, at bigint, kind text, \"user\" uuid,
                           via text, text text, data text)
                 on conflict do nothing"
        )
    }

    fn select_links(&self) -> &'static str {
        either!(
            self,
            sqlite: "select l.monitor_id, l.notifier_id, n.events, n.min_severity, n.quiet, exists (
                     select 1 from deliveries d
                     where d.team_id = n.team_id and d.notifier_id = l.notifier_id
                     and d.monitor_id = l.monitor_id and d.state = 'waiting' and d.left_to is null) as busy
                 from json_each($1) r
                 join monitor_notifiers l on l.monitor_id = unhex(r.value)
                 join notifiers n on n.id = l.notifier_id
                 where n.disabled_at is null
                 order by l.monitor_id, l.position",
            postgres: "select l.monitor_id, l.notifier_id, n.events, n.min_severity, n.quiet, exists (
                     select 1 from deliveries d
                     where d.team_id = n.team_id and d.notifier_id = l.notifier_id
                     and d.monitor_id = l.monitor_id and d.state = 'waiting' and d.left_to is null) as busy
                 from json_array_elements_text(cast($1 as json)) r
                 join monitor_notifiers l on l.monitor_id = cast(r.value as uuid)
                 join notifiers n on n.id = l.notifier_id
                 where n.disabled_at is null
                 order by l.monitor_id, l.position"
        )
    }

    fn select_recipients(&self) -> &'static str {
        either!(
            self,
            sqlite: "select d.alert_id, d.notifier_id, n.events, n.min_severity, n.quiet,
                        cast(max(case when d.is_step and d.state = 'failed' and d.attempts = 0
                                      then 0 else 1 end) as bigint) as sent
                 from json_each($1) r
                 join deliveries d on d.alert_id = unhex(r.value)
                 join notifiers n on n.id = d.notifier_id
                 where d.kind in ('monitor.down', 'monitor.reminder', 'monitor.flapping',
                                'alert.escalated')
                 and n.disabled_at is null
                 group by d.alert_id, d.notifier_id, n.events, n.min_severity, n.quiet",
            postgres: "select d.alert_id, d.notifier_id, n.events, n.min_severity, n.quiet,
                        cast(max(case when d.is_step and d.state = 'failed' and d.attempts = 0
                                      then 0 else 1 end) as bigint) as sent
                 from json_array_elements_text(cast($1 as json)) r
                 join deliveries d on d.alert_id = cast(r.value as uuid)
                 join notifiers n on n.id = d.notifier_id
                 where d.kind in ('monitor.down', 'monitor.reminder', 'monitor.flapping',
                                'alert.escalated')
                 and n.disabled_at is null
                 group by d.alert_id, d.notifier_id, n.events, n.min_severity, n.quiet"
        )
    }

    fn insert_deliveries(&self) -> &'static str {
        either!(
            self,
            sqlite: "insert into deliveries
                 (id, eventid, team_id, monitor_id, notifier_id, alert_id, sequence, kind, body,
                  created, next_try, is_step)
                 select unhex(r.value ->> 'id'), unhex(r.value ->> 'event'), m.team_id, m.id,
                        unhex(r.value ->> 'notifier'), a.id, r.value ->> 'sequence',
                        r.value ->> 'kind', r.value ->> 'body', r.value ->> 'created',
                        r.value ->> 'next_try', r.value ->> 'is_step'
                 from json_each($1) r
                 join monitors m on m.id = unhex(r.value ->> 'monitor')
                 left join alerts a on a.id = unhex(r.value ->> 'alert')
                 where true
                 on conflict do nothing
                 returning id, team_id, notifier_id, claims as crashes,
                           (select n.kind from notifiers n where n.id = notifier_id) as kind",
            postgres: "insert into deliveries
                 (id, eventid, team_id, monitor_id, notifier_id, alert_id, sequence, kind, body,
                  created, next_try, is_step)
                 select r.id, r.event, m.team_id, m.id, r.notifier, a.id, r.sequence, r.kind,
                        r.body, r.created, r.next_try, r.is_step
                 from json_to_recordset(cast($1 as json))
                      as r(id uuid, event uuid, monitor uuid, notifier uuid, alert uuid,
                           sequence bigint, kind text, body text, created bigint,
                           next_try bigint, is_step boolean)
                 join monitors m on m.id = r.monitor
                 left join alerts a on a.id = r.alert
                 on conflict do nothing
                 returning id, team_id, notifier_id, claims as crashes,
                           (select n.kind from notifiers n where n.id = notifier_id) as kind"
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

impl<'a> NoteRow<'a> {
    /// `at` is its place among the notes of the decision.
    fn of(decision: &AlertDecision, at: usize, note: &'a Note, now: Millis) -> Self {
        let DueAlert { id: alert, team, revision, .. } = &decision.alert;
        let Digest(hash) = Digest::of(&format!("note {alert} {revision} {at}"));
        let mut random = [0; 10];
        random.copy_from_slice(&hash[..10]);
        // Entries of the same millisecond stay in order.
        random[0] = u8::try_from(at).unwrap_or(u8::MAX);
        // The name of a user is that of the account.
        let named = note.user.is_none() && !note.name.is_empty();
        Self {
            id: AlertEventId::new(now, random).uuid().into(),
            team: team.uuid().into(),
            alert: alert.uuid().into(),
            at: now.0,
            kind: note.kind.as_str(),
            user: note.user.map(|user| user.uuid().into()),
            via: &note.via,
            text: &note.text,
            data: named.then(|| serde_json::json!({"name": note.name}).to_string()),
        }
    }
}

impl<'a> DeliveryRow<'a> {
    /// `next_try` is its first attempt.
    fn of(
        decision: &AlertDecision,
        message: &Message,
        event: &'a NewEvent,
        notifier: NotifierId,
        next_try: Millis,
    ) -> Self {
        let Message { seq, created, .. } = message;
        Self {
            id: delivery_id(event, notifier, *created).uuid().into(),
            event: event.id.uuid().into(),
            monitor: decision.alert.facts.monitor.uuid().into(),
            notifier: notifier.uuid().into(),
            alert: decision.alert.id.uuid().into(),
            sequence: *seq,
            kind: event.kind,
            body: &event.body,
            created: created.0,
            next_try: next_try.0,
            is_step: message.step.is_some(),
        }
    }
}

/// Derived from event and notifier, so that writing it twice has no effect.
fn delivery_id(event: &NewEvent, notifier: NotifierId, created: Millis) -> DeliveryId {
    let Digest(hash) = Digest::of(&format!("delivery {} {notifier}", event.id));
    let mut random = [0; 10];
    random.copy_from_slice(&hash[..10]);
    DeliveryId::new(created, random)
}

/// The personal notifier of a user in the team of the alert, if it is enabled.
async fn account_notifier(
    tx: &mut Tx,
    decision: &AlertDecision,
    user: UserId,
) -> Result<Option<NotifierId>> {
    let found: Option<Uuid> = within!(*tx, |db| {
        sqlx::query_scalar(
            "select id from notifiers
             where team_id = $1 and user_id = $2 and disabled_at is null",
        )
        .bind(decision.alert.team.uuid())
        .bind(user.uuid())
        .fetch_optional(db)
        .await
    })?;
    Ok(found.map(NotifierId::from))
}

/// A waiting message: its id, the rules of its notifier, and its type.
type HeldRow = (Uuid, Option<String>, String, Option<String>, String);

/// Messages that wait for the end of quiet hours are sent now if the alert has become urgent
/// enough to pass them.
async fn release_held(tx: &mut Tx, decision: &AlertDecision, now: Millis) -> Result<()> {
    let held: Vec<HeldRow> = within!(*tx, |db| {
        sqlx::query_as(
            "select d.id, n.events, n.min_severity, n.quiet, d.kind
             from deliveries d
             join notifiers n on n.id = d.notifier_id
             where d.alert_id = $1 and d.state = 'waiting' and d.attempts = 0 and d.next_try > $2
             and n.quiet is not null",
        )
        .bind(decision.alert.id.uuid())
        .bind(now.0)
        .fetch_all(db)
        .await
    })?;
    for (id, events, min_severity, quiet, kind) in held {
        let rules = MessageRules::stored(events.as_deref(), &min_severity, quiet.as_deref());
        if rules.later_try(&kind, decision.severity, now) == Some(now) {
            within!(*tx, |db| {
                sqlx::query("update deliveries set next_try = $2 where id = $1")
                    .bind(id)
                    .bind(now.0)
                    .execute(db)
                    .await?;
            });
        }
    }
    Ok(())
}

/// The personal notifier of a member of the alert's team. If it does not exist, it is created;
/// it is not listed until its user saves it.
async fn own_notifier(
    tx: &mut Tx,
    decision: &AlertDecision,
    user: UserId,
    now: Millis,
) -> Result<Option<NotifierId>> {
    let team = decision.alert.team;
    let Digest(hash) = Digest::of(&format!("account notifier {team} {user}"));
    let mut random = [0; 10];
    random.copy_from_slice(&hash[..10]);
    within!(*tx, |db| {
        sqlx::query(
            "insert into notifiers
             (id, team_id, name, kind, config, disabled_why, isdefault, created, modified,
              user_id, implicit)
             select $1, m.team_id, u.email, 'account', '{}', '', false, $4, $4, u.id, true
             from members m
             join users u on u.id = m.user_id
             where m.team_id = $2 and m.user_id = $3
             and not exists (
                 select 1 from notifiers n where n.team_id = $2 and n.user_id = $3)
             on conflict do nothing",
        )
        .bind(NotifierId::new(now, random).uuid())
        .bind(team.uuid())
        .bind(user.uuid())
        .bind(now.0)
        .execute(db)
        .await?;
    });
    account_notifier(tx, decision, user).await
}

/// Makes the alert processor decide about the open outage of a monitor that was saved with
/// another interval of reminders, or was turned on or off. Runs after the update of the monitor's
/// row, because all transactions lock the two in this order.
pub(crate) async fn reschedule_reminders(tx: &mut Tx, monitor: &Monitor) -> Result<()> {
    let next = monitor.resend_interval.filter(|_| monitor.isactive);
    within!(*tx, |db| {
        sqlx::query(
            "update alerts
             set remind_at = $2, due = $3, revision = revision + 1
             where monitor_id = $1 and kind = 'outage' and ended is null",
        )
        .bind(monitor.id.uuid())
        .bind(next.map(|span| monitor.modified.after(span).0))
        .bind(monitor.modified.0)
        .execute(db)
        .await?;
    });
    Ok(())
}

/// Makes the alert processor decide about the open outage of a monitor that was saved with
/// another policy.
pub(crate) async fn decide_again(tx: &mut Tx, monitor: &Monitor) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "update alerts
             set due = $2, revision = revision + 1
             where monitor_id = $1 and kind = 'outage' and ended is null",
        )
        .bind(monitor.id.uuid())
        .bind(monitor.modified.0)
        .execute(db)
        .await?;
    });
    Ok(())
}
