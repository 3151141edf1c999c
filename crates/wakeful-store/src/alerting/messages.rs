//! What a decision about an alert sends: one delivery for each message and recipient.

use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::alerting::state::AlertState;
use wakeful_core::id::{AlertId, DeliveryId, EventId, MonitorId, NotifierId, UserId};
use wakeful_core::notifications::event;
use wakeful_core::notifications::message_rules::MessageRules;
use wakeful_core::notifications::notifier::Kind;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::crowded::CrowdedQueues;
use super::decisions::AlertDecision;
use super::due::StoredEvent;
use super::recipients::{account_notifier, own_notifier};
use crate::dialect::{Tx, either, from_row, within};
use crate::history::record::SimpleUuid;
use crate::monitors::json;
use crate::{DueDelivery, NewEvent, Result, Store, StoreError};

/// The bodies that one statement inserts; a database reads its parameter at once.
const MAX_STATEMENT_BYTES: usize = 1 << 20;

/// The deliveries that one transaction writes for several alerts: others wait for it.
const MAX_DELIVERY_BYTES: usize = 8 << 20;

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
    /// Those that have reported the alert to a receiver that keeps an incident open.
    Incidents,
    /// Of the notifiers of the monitor and those that have reported the alert, those whose
    /// receiver pages people by its severity.
    Paged,
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
    /// For one that waits for the end of quiet hours: when it would be sent without them.
    held_from: Option<i64>,
    is_step: bool,
}

/// A notifier of a monitor.
pub(super) struct Link {
    monitor: MonitorId,
    pub(super) notifier: NotifierId,
    rules: MessageRules,
    kind: Option<Kind>,
    /// Whether it has a waiting delivery for the monitor.
    pub(super) busy: bool,
}

impl Link {
    fn is_in(&self, audience: &Audience) -> bool {
        match audience {
            Audience::Idle => !self.busy,
            Audience::Paged => self.kind.is_some_and(Kind::pages_by_severity),
            _ => true,
        }
    }

    /// Whether it depends on who was notified of the alert when this message is sent, if at all:
    /// its end may be in quiet hours.
    fn awaits_recipients(&self, message: &Message) -> bool {
        message.to == Audience::LinkedOrNotified && self.rules.quiet.is_some() && message.is_end()
    }

    /// When the end of an alert is sent that was not sent to it, as far as is known. If that was
    /// because of its quiet hours, the end is not sent either.
    fn first_ending(&self, decision: &AlertDecision, message: &Message) -> Option<Millis> {
        let AlertState { notified, released, .. } = &decision.state;
        let opened = decision.alert.opened.as_ref().map(StoredEvent::at);
        let reported = opened.filter(|_| released.is_none()).or(*notified);
        if reported.is_some_and(|at| self.rules.drops(decision.severity, at)) {
            return None;
        }
        self.rules.first_try(message.event.kind, decision.severity, message.created)
    }
}

from_row!(Link, |row| Self {
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    notifier: row.try_get::<Uuid, _>("notifier_id")?.into(),
    rules: MessageRules::stored(
        row.try_get("events")?,
        row.try_get("min_severity")?,
        row.try_get("quiet")?
    ),
    kind: Kind::parse(row.try_get("notifier_kind")?).ok(),
    busy: row.try_get("busy")?,
});

/// A notifier that has reported an alert, or was about to.
struct Recipient {
    alert: AlertId,
    notifier: NotifierId,
    rules: MessageRules,
    /// Whether anything was sent to it.
    sent: bool,
    kind: Option<Kind>,
}

impl Message {
    /// Whether it reports the end of an alert.
    fn is_end(&self) -> bool {
        event::ENDING_TYPES.contains(&self.event.kind)
    }
}

impl Recipient {
    fn is_in(&self, audience: &Audience) -> bool {
        self.sent
            && match audience {
                Audience::Incidents => self.kind.is_some_and(Kind::keeps_incidents),
                Audience::Paged => self.kind.is_some_and(Kind::pages_by_severity),
                _ => true,
            }
    }

    /// When it gets what follows. Everybody who knows of an alert learns of its end, however
    /// urgent it is now.
    fn next_try(&self, decision: &AlertDecision, message: &Message) -> Option<Millis> {
        let (kind, severity, at) = (message.event.kind, decision.severity, message.created);
        if message.is_end() {
            let can_be_silent = self.kind.is_some_and(Kind::can_be_silent);
            self.rules.ending_try(kind, severity, at, can_be_silent)
        } else {
            self.rules.later_try(kind, severity, at)
        }
    }
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
    kind: Kind::parse(row.try_get("notifier_kind")?).ok(),
});

impl Store {
    /// Writes a delivery for each message and recipient. The outages come first, the ends last:
    /// recipients of an outage also get what follows.
    pub(super) async fn write_messages(
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
        let linked =
            is_to(&[Audience::Linked, Audience::Idle, Audience::LinkedOrNotified, Audience::Paged]);
        let links = if linked.is_empty() { Vec::new() } else { self.links_of(tx, &linked).await? };
        let mut by_monitor: HashMap<MonitorId, Vec<&Link>> = HashMap::new();
        for link in &links {
            by_monitor.entry(link.monitor).or_default().push(link);
        }
        if !linked.is_empty() {
            let rows = linked.iter().flat_map(|(decision, message)| {
                let links = links_of(&by_monitor, decision).iter();
                let links = links.filter(move |link| link.is_in(&message.to));
                let links = links.filter(move |link| !link.awaits_recipients(message));
                links.filter_map(move |link| {
                    let (event, due) = (&message.event, message.created);
                    let at = link.rules.first_try(event.kind, decision.severity, due)?;
                    crowded
                        .takes(decision, message, link)
                        .then(|| DeliveryRow::of(decision, message, event, link.notifier, due, at))
                })
            });
            let rows: Vec<DeliveryRow<'_>> = rows.collect();
            new.extend(self.insert_rows(tx, &rows, decisions.len()).await?);
        }
        // An alert may open and end with one decision: its end is for those who get its opening,
        // whose deliveries are therefore written first.
        let (ends, others): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|(_, message)| message.is_end());
        for part in [others, ends] {
            let rows = self.rows_of_others(tx, &part, &by_monitor, crowded).await?;
            new.extend(self.insert_rows(tx, &rows, decisions.len()).await?);
        }
        Ok(new)
    }

    /// The deliveries of messages that are not only for the notifiers of the monitor.
    async fn rows_of_others<'a>(
        &self,
        tx: &mut Tx,
        messages: &[(&'a AlertDecision, &'a Message)],
        links: &HashMap<MonitorId, Vec<&Link>>,
        crowded: &CrowdedQueues,
    ) -> Result<Vec<DeliveryRow<'a>>> {
        let mut rows = Vec::new();
        if messages.is_empty() {
            return Ok(rows);
        }
        let recipients = self.recipients_of(tx, messages).await?;
        for (decision, message) in messages.iter().copied() {
            let known = recipients.iter().filter(|one| one.alert == decision.alert.id);
            match &message.to {
                Audience::User(user) => {
                    let own = account_notifier(tx, decision.alert.team, *user).await?;
                    rows.extend(own.map(|notifier| {
                        let (event, at) = (&message.event, message.created);
                        DeliveryRow::of(decision, message, event, notifier, at, at)
                    }));
                }
                Audience::Recipients(to) => {
                    let known: HashSet<NotifierId> = known.map(|one| one.notifier).collect();
                    let skipped = |id| crowded.has_left_out(decision, message, id);
                    self.add_recipients(tx, decision, message, to, &known, skipped, &mut rows)
                        .await?;
                }
                to => {
                    let known: Vec<&Recipient> = known.filter(|one| one.is_in(to)).collect();
                    let is_known =
                        |link: &Link| known.iter().any(|one| one.notifier == link.notifier);
                    let waiting = links_of(links, decision)
                        .iter()
                        .filter(|link| link.awaits_recipients(message) && !is_known(link))
                        .map(|link| (link.notifier, link.first_ending(decision, message)));
                    let known =
                        known.iter().map(|one| (one.notifier, one.next_try(decision, message)));
                    rows.extend(known.chain(waiting).filter_map(|(notifier, at)| {
                        let (event, due, at) = (&message.event, message.created, at?);
                        crowded
                            .takes_more(decision, message, notifier)
                            .then(|| DeliveryRow::of(decision, message, event, notifier, due, at))
                    }));
                }
            }
        }
        Ok(rows)
    }

    /// Adds the deliveries of a message to these recipients. Of several ways to the same
    /// notifier, the fastest counts.
    #[expect(clippy::too_many_arguments, reason = "the parts of one message")]
    async fn add_recipients<'a>(
        &self,
        tx: &mut Tx,
        decision: &AlertDecision,
        message: &'a Message,
        to: &[MessageRecipient],
        known: &HashSet<NotifierId>,
        skipped: impl Fn(NotifierId) -> bool,
        rows: &mut Vec<DeliveryRow<'a>>,
    ) -> Result<()> {
        let mut delays: HashMap<NotifierId, Duration> = HashMap::new();
        for MessageRecipient { to, delay } in to {
            let notifier = match to {
                RecipientAddress::Notifier(id) => Some(*id),
                RecipientAddress::Account(user) => {
                    own_notifier(tx, decision.alert.team, *user, message.created).await?
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
        for id in ids.into_iter().filter(|id| !skipped(*id)) {
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
            rows.extend(at.map(|at| DeliveryRow::of(decision, message, event, id, due, at)));
        }
        Ok(())
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

    fn select_links(&self) -> &'static str {
        either!(
            self,
            sqlite: "select l.monitor_id, l.notifier_id, n.events, n.min_severity, n.quiet,
                        n.kind as notifier_kind, exists (
                     select 1 from deliveries d
                     where d.team_id = n.team_id and d.notifier_id = l.notifier_id
                     and d.line = l.monitor_id and d.state = 'waiting' and d.left_to is null) as busy
                 from json_each($1) r
                 join monitor_notifiers l on l.monitor_id = unhex(r.value)
                 join notifiers n on n.id = l.notifier_id
                 where n.disabled_at is null
                 order by l.monitor_id, l.position",
            postgres: "select l.monitor_id, l.notifier_id, n.events, n.min_severity, n.quiet,
                        n.kind as notifier_kind, exists (
                     select 1 from deliveries d
                     where d.team_id = n.team_id and d.notifier_id = l.notifier_id
                     and d.line = l.monitor_id and d.state = 'waiting' and d.left_to is null) as busy
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
                        n.kind as notifier_kind,
                        cast(max(case when d.is_step and d.state = 'failed' and d.attempts = 0
                                      then 0 else 1 end) as bigint) as sent
                 from json_each($1) r
                 join deliveries d on d.alert_id = unhex(r.value)
                 join notifiers n on n.id = d.notifier_id
                 where d.kind in ('monitor.down', 'monitor.reminder', 'monitor.flapping',
                                'monitor.degraded', 'alert.escalated')
                 and n.disabled_at is null
                 group by d.alert_id, d.notifier_id, n.events, n.min_severity, n.quiet, n.kind",
            postgres: "select d.alert_id, d.notifier_id, n.events, n.min_severity, n.quiet,
                        n.kind as notifier_kind,
                        cast(max(case when d.is_step and d.state = 'failed' and d.attempts = 0
                                      then 0 else 1 end) as bigint) as sent
                 from json_array_elements_text(cast($1 as json)) r
                 join deliveries d on d.alert_id = cast(r.value as uuid)
                 join notifiers n on n.id = d.notifier_id
                 where d.kind in ('monitor.down', 'monitor.reminder', 'monitor.flapping',
                                'monitor.degraded', 'alert.escalated')
                 and n.disabled_at is null
                 group by d.alert_id, d.notifier_id, n.events, n.min_severity, n.quiet, n.kind"
        )
    }

    fn insert_deliveries(&self) -> &'static str {
        either!(
            self,
            sqlite: "insert into deliveries
                 (id, eventid, team_id, monitor_id, line, notifier_id, alert_id, sequence, kind, body,
                  created, next_try, held_from, is_step)
                 select unhex(r.value ->> 'id'), unhex(r.value ->> 'event'), m.team_id, m.id, m.id,
                        unhex(r.value ->> 'notifier'), a.id, r.value ->> 'sequence',
                        r.value ->> 'kind', r.value ->> 'body', r.value ->> 'created',
                        r.value ->> 'next_try', r.value ->> 'held_from', r.value ->> 'is_step'
                 from json_each($1) r
                 join monitors m on m.id = unhex(r.value ->> 'monitor')
                 left join alerts a on a.id = unhex(r.value ->> 'alert')
                 where true
                 on conflict do nothing
                 returning id, team_id, notifier_id, claims as crashes,
                           (select n.kind from notifiers n where n.id = notifier_id) as kind",
            postgres: "insert into deliveries
                 (id, eventid, team_id, monitor_id, line, notifier_id, alert_id, sequence, kind, body,
                  created, next_try, held_from, is_step)
                 select r.id, r.event, m.team_id, m.id, m.id, r.notifier, a.id, r.sequence, r.kind,
                        r.body, r.created, r.next_try, r.held_from, r.is_step
                 from json_to_recordset(cast($1 as json))
                      as r(id uuid, event uuid, monitor uuid, notifier uuid, alert uuid,
                           sequence bigint, kind text, body text, created bigint,
                           next_try bigint, held_from bigint, is_step boolean)
                 join monitors m on m.id = r.monitor
                 left join alerts a on a.id = r.alert
                 on conflict do nothing
                 returning id, team_id, notifier_id, claims as crashes,
                           (select n.kind from notifiers n where n.id = notifier_id) as kind"
        )
    }
}

/// The notifiers of the monitor that a decision is about.
fn links_of<'a, 'l>(
    links: &'a HashMap<MonitorId, Vec<&'l Link>>,
    decision: &AlertDecision,
) -> &'a [&'l Link] {
    links.get(&decision.alert.facts.monitor).map_or(&[], Vec::as_slice)
}

impl<'a> DeliveryRow<'a> {
    /// `next_try` is its first attempt, later than `due` if quiet hours hold it until then.
    fn of(
        decision: &AlertDecision,
        message: &Message,
        event: &'a NewEvent,
        notifier: NotifierId,
        due: Millis,
        next_try: Millis,
    ) -> Self {
        let Message { seq, created, .. } = message;
        Self {
            id: delivery_id(event.id, notifier, *created).uuid().into(),
            event: event.id.uuid().into(),
            monitor: decision.alert.facts.monitor.uuid().into(),
            notifier: notifier.uuid().into(),
            alert: decision.alert.id.uuid().into(),
            sequence: *seq,
            kind: event.kind,
            body: &event.body,
            created: created.0,
            next_try: next_try.0,
            held_from: (next_try > due).then_some(due.0),
            is_step: message.step.is_some(),
        }
    }
}

/// Derived from event and notifier, so that writing it twice has no effect.
pub(crate) fn delivery_id(event: EventId, notifier: NotifierId, created: Millis) -> DeliveryId {
    let Digest(hash) = Digest::of(&format!("delivery {event} {notifier}"));
    let mut random = [0; 10];
    random.copy_from_slice(&hash[..10]);
    DeliveryId::new(created, random)
}
