//! The subscribers of status pages. Their addresses are sealed, and looked up by a keyed digest.

use serde::Serialize;
use wakeful_core::audit::{Action, Audited as _, Change, Object, ObjectKind, diff};
use wakeful_core::id::{StatuspageId, SubscriberId};
use wakeful_core::statuspages::subscriber::{Subscriber, SubscriberKind, SubscriberState};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::subscriber_rows::{SubscriberRow, end_subscription, subscriber_columns};
use super::subscriptions::{NewSubscriber, change_settings};
use crate::accounts::team::lock_team;
use crate::dialect::{Tx, read, within};
use crate::{AuditContext, Mail, NewEntry, Result, TeamStore};

/// Subscribers that are read at a time when they are searched: their addresses are sealed.
const SEARCH_BATCH: i64 = 1_000;
/// Which subscribers to list.
#[derive(Clone, Debug, Default)]
pub struct SubscriberQuery {
    pub state: Option<SubscriberState>,
    pub kind: Option<SubscriberKind>,
    /// Part of the address.
    pub text: String,
    /// Only those before this one.
    pub before: Option<SubscriberId>,
    pub limit: Option<u32>,
}

/// How many subscribers a page has: the active ones by kind, and the others by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SubscriberCounts {
    pub email: i64,
    pub webhook: i64,
    pub slack: i64,
    pub discord: i64,
    pub teams: i64,
    pub active: i64,
    pub pending: i64,
    pub bouncing: i64,
    pub unsubscribed: i64,
}

impl SubscriberCounts {
    fn add(&mut self, kind: SubscriberKind, state: SubscriberState, count: i64) {
        let of_state = match state {
            SubscriberState::Active => &mut self.active,
            SubscriberState::Pending => &mut self.pending,
            SubscriberState::Bouncing => &mut self.bouncing,
            SubscriberState::Unsubscribed => &mut self.unsubscribed,
        };
        *of_state += count;
        if state == SubscriberState::Active {
            *match kind {
                SubscriberKind::Email => &mut self.email,
                SubscriberKind::Webhook => &mut self.webhook,
                SubscriberKind::Slack => &mut self.slack,
                SubscriberKind::Discord => &mut self.discord,
                SubscriberKind::Teams => &mut self.teams,
            } += count;
        }
    }
}

/// The email that asks for a confirmation, and what its link is recognized by.
#[derive(Clone, Copy)]
pub struct Confirmation<'a> {
    /// Of the address that is asked, as if it were that of a subscriber.
    pub recipient: Digest,
    pub token: Digest,
    pub until: Millis,
    pub mail: &'a Mail,
}

/// The outcome of adding a subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddSubscriberOutcome {
    /// It has this id; the one it had before if it is known.
    Done(SubscriberId),
    /// The address is subscribed.
    Known(SubscriberId),
    /// It was unsubscribed, or rejects what is sent: its owner must confirm.
    MustConfirm,
    /// It was asked for a confirmation too often.
    TooOften,
    /// The page has `MAX_SUBSCRIBERS`.
    LimitReached,
    /// The team has the most subscribers that its plan allows.
    PlanLimit,
    /// The page was deleted meanwhile.
    Missing,
}

/// The outcome of deleting a subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteSubscriberOutcome {
    Deleted,
    /// It was bouncing: its address is deleted, and only its owner can subscribe it again.
    Remembered,
    /// The page has no such one, or it ended before, which is remembered.
    Unchanged,
}

/// What became of the subscribers of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub added: u32,
    pub known: u32,
    /// Bouncing, also if deleted since, or unsubscribed before.
    pub refused: u32,
}

impl TeamStore<'_> {
    /// The subscribers of a page that fit, newest first.
    pub async fn subscribers(
        &self,
        page: StatuspageId,
        query: &SubscriberQuery,
    ) -> Result<Vec<Subscriber>> {
        let limit = query.limit.map_or(usize::MAX, |limit| limit as usize);
        let text = query.text.to_lowercase();
        let mut found = Vec::new();
        let mut before = query.before;
        loop {
            let rows: Vec<SubscriberRow> = read!(self.store, |db| {
                sqlx::query_as(concat!(
                    "select ",
                    subscriber_columns!(),
                    " from subscribers s
                     join statuspages p on p.id = s.page_id
                     where s.page_id = $1 and p.team_id = $2
                     and ($3 is null or s.id < $3)
                     and ($4 = '' or s.state = $4) and ($5 = '' or s.kind = $5)
                     order by s.id desc
                     limit $6"
                ))
                .bind(page.uuid())
                .bind(self.team.uuid())
                .bind(before.map(SubscriberId::uuid))
                .bind(query.state.map_or("", SubscriberState::as_str))
                .bind(query.kind.map_or("", SubscriberKind::as_str))
                .bind(SEARCH_BATCH)
                .fetch_all(db)
                .await
            })?;
            let is_last = rows.len() < SEARCH_BATCH as usize;
            for row in rows {
                let subscriber = row.unsealed(&self.store.keyring)?;
                before = Some(subscriber.id);
                if subscriber.recipient.address.to_lowercase().contains(&text) {
                    found.push(subscriber);
                }
                if found.len() >= limit {
                    return Ok(found);
                }
            }
            if is_last {
                return Ok(found);
            }
        }
    }

    pub async fn subscriber_counts(&self, page: StatuspageId) -> Result<SubscriberCounts> {
        let rows: Vec<(String, String, i64)> = read!(self.store, |db| {
            sqlx::query_as(
                "select s.kind, s.state, count(*) from subscribers s
                 join statuspages p on p.id = s.page_id
                 where s.page_id = $1 and p.team_id = $2
                 group by s.kind, s.state",
            )
            .bind(page.uuid())
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?;
        let mut counts = SubscriberCounts::default();
        for (kind, state, count) in rows {
            if let (Ok(kind), Ok(state)) =
                (SubscriberKind::parse(&kind), SubscriberState::parse(&state))
            {
                counts.add(kind, state, count);
            }
        }
        Ok(counts)
    }

    pub async fn subscriber(
        &self,
        page: StatuspageId,
        id: SubscriberId,
    ) -> Result<Option<Subscriber>> {
        let row: Option<SubscriberRow> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                subscriber_columns!(),
                " from subscribers s
                 join statuspages p on p.id = s.page_id
                 where s.id = $1 and s.page_id = $2 and p.team_id = $3"
            ))
            .bind(id.uuid())
            .bind(page.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        row.map(|row| row.unsealed(&self.store.keyring)).transpose()
    }

    /// Adds a subscriber of a page of the team. `plan` is the most that the plan allows.
    pub async fn add_subscriber(
        &self,
        subscriber: &Subscriber,
        digest: Digest,
        confirmation: Option<Confirmation<'_>>,
        plan: Option<u32>,
        by: &AuditContext,
    ) -> Result<AddSubscriberOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, subscriber.created).await?;
        let new = NewSubscriber { subscriber, digest, confirmation };
        let added = self.store.insert_subscriber(&mut tx, self.team, &new, plan).await?;
        if let AddSubscriberOutcome::Done(id) = added {
            let changes = diff(None, Some(&subscriber.view()));
            let entry = NewEntry::new(Action::SubscriberCreate, object(id), changes);
            self.store.write_entry(&mut tx, by, &entry).await?;
            tx.commit().await?;
        }
        Ok(added)
    }

    /// Adds subscribers whose owners have agreed. Nothing is added if one of them exceeds a limit.
    pub async fn import_subscribers(
        &self,
        page: StatuspageId,
        subscribers: &[(Subscriber, Digest)],
        plan: Option<u32>,
        by: &AuditContext,
    ) -> Result<std::result::Result<Imported, AddSubscriberOutcome>> {
        let mut imported = Imported::default();
        let Some((first, _)) = subscribers.first() else { return Ok(Ok(imported)) };
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, first.created).await?;
        for (subscriber, digest) in subscribers {
            let new = NewSubscriber { subscriber, digest: *digest, confirmation: None };
            match self.store.insert_subscriber(&mut tx, self.team, &new, plan).await? {
                AddSubscriberOutcome::Done(_) => imported.added += 1,
                AddSubscriberOutcome::Known(_) => imported.known += 1,
                AddSubscriberOutcome::MustConfirm | AddSubscriberOutcome::TooOften => {
                    imported.refused += 1;
                }
                limit => return Ok(Err(limit)),
            }
        }
        let change = Change::new("added", None, Some(serde_json::Value::from(imported.added)));
        let of_page = Object::new(ObjectKind::Statuspage, &page, "");
        let entry = NewEntry::new(Action::SubscriberImport, of_page, vec![change]);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(Ok(imported))
    }

    /// Changes what a subscriber receives; false if it is gone.
    pub async fn change_subscriber(
        &self,
        before: &Subscriber,
        subscriber: &Subscriber,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        if !change_settings(&mut tx, subscriber).await? {
            return Ok(false);
        }
        let changes = diff(Some(&before.view()), Some(&subscriber.view()));
        let entry = NewEntry::new(Action::SubscriberUpdate, object(subscriber.id), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Deletes a subscriber with everything about it. Of an email address, or the webhook of a
    /// visitor, that was bouncing, the digest is retained, as of one that was unsubscribed; else an
    /// import could make it deliverable again without its owner.
    pub async fn delete_subscriber(
        &self,
        page: StatuspageId,
        id: SubscriberId,
        now: Millis,
        by: &AuditContext,
    ) -> Result<DeleteSubscriberOutcome> {
        let mut tx = self.begin().await?;
        let deleted = within!(tx, |db| {
            sqlx::query(
                "delete from subscribers where id = $1 and page_id = $2
                 and ((ended is null and state <> 'bouncing')
                      or (kind <> 'email' and source <> 'self'))
                 and exists (select 1 from statuspages p where p.id = $2 and p.team_id = $3)",
            )
            .bind(id.uuid())
            .bind(page.uuid())
            .bind(self.team.uuid())
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        let outcome = if deleted {
            DeleteSubscriberOutcome::Deleted
        } else if self.end_bouncing(&mut tx, page, id, now).await? {
            DeleteSubscriberOutcome::Remembered
        } else {
            return Ok(DeleteSubscriberOutcome::Unchanged);
        };
        let entry = NewEntry::new(Action::SubscriberDelete, object(id), Vec::new());
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(outcome)
    }

    /// Deletes what is known about a subscriber that bounces, except the digest of its address;
    /// false if the page has no such one, or it ended before.
    async fn end_bouncing(
        &self,
        tx: &mut Tx,
        page: StatuspageId,
        id: SubscriberId,
        now: Millis,
    ) -> Result<bool> {
        let ended = within!(*tx, |db| {
            sqlx::query(concat!(
                "update subscribers set ",
                end_subscription!(),
                ", ended = $4 where id = $1 and page_id = $2 and ended is null
                 and exists (select 1 from statuspages p where p.id = $2 and p.team_id = $3)"
            ))
            .bind(id.uuid())
            .bind(page.uuid())
            .bind(self.team.uuid())
            .bind(now.0)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if ended {
            // What servers have answered may contain the address.
            within!(*tx, |db| {
                sqlx::query("delete from statuspage_deliveries where subscriber_id = $1")
                    .bind(id.uuid())
                    .execute(db)
                    .await?;
            });
        }
        Ok(ended)
    }
}

/// Without the address, which is deleted when its owner unsubscribes.
fn object(id: SubscriberId) -> Object {
    Object::new(ObjectKind::Subscriber, &id, "")
}
