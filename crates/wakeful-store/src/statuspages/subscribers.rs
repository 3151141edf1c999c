//! The subscribers of status pages. Their addresses are sealed, and looked up by a keyed digest.

use serde::Serialize;
use uuid::Uuid;
use wakeful_core::audit::{Action, Audited as _, Change, Object, ObjectKind, diff};
use wakeful_core::id::{StatuspageId, SubscriberId, TeamId};
use wakeful_core::notifications::notifier::SigningSecret;
use wakeful_core::statuspages::subscriber::{
    MAX_CONFIRMATIONS, MAX_SUBSCRIBERS, Recipient, Subscriber, SubscriberKind, SubscriberSettings,
    SubscriberSource, SubscriberState, address_digest,
};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use zeroize::Zeroizing;

use crate::accounts::team::lock_team;
use crate::dialect::{Tx, from_row, read, within, write};
use crate::installation_secrets::InstallationSecret;
use crate::mail;
use crate::monitors::json;
use crate::{AuditContext, Keyring, Mail, NewEntry, Result, Store, StoreError, TeamStore};

const ADDRESS: &str = "subscribers.address";
const SECRET: &str = "subscribers.secret";
/// Subscribers that are read at a time when they are searched: their addresses are sealed.
const SEARCH_BATCH: i64 = 1_000;
const CONFIRMATION_WINDOW: i64 = 86_400_000;

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
    /// Its owner has unsubscribed, and must confirm.
    Unsubscribed,
    /// It was asked for a confirmation too often.
    TooOften,
    /// The page has `MAX_SUBSCRIBERS`.
    LimitReached,
    /// The team has the most subscribers that its plan allows.
    PlanLimit,
}

/// What became of the subscribers of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub added: u32,
    pub known: u32,
    /// Unsubscribed before.
    pub refused: u32,
}

pub(super) struct SubscriberRow {
    subscriber: Subscriber,
    address: Option<Vec<u8>>,
    secret: Option<Vec<u8>>,
}

macro_rules! subscriber_columns {
    () => {
        "s.id, s.page_id, s.kind, s.address, s.secret, s.state, s.source, s.settings, s.created,
         s.confirmed, s.last_delivery, s.failures"
    };
}
pub(super) use subscriber_columns;

from_row!(SubscriberRow, |row| {
    let decode = |error| sqlx::Error::Decode(Box::new(error));
    Self {
        subscriber: Subscriber {
            id: row.try_get::<Uuid, _>("id")?.into(),
            page: row.try_get::<Uuid, _>("page_id")?.into(),
            kind: SubscriberKind::parse(row.try_get("kind")?).map_err(decode)?,
            recipient: Recipient::default(),
            secret: None,
            settings: serde_json::from_str::<SubscriberSettings>(row.try_get("settings")?)
                .map_err(|error| sqlx::Error::Decode(error.into()))?,
            state: SubscriberState::parse(row.try_get("state")?).map_err(decode)?,
            source: SubscriberSource::parse(row.try_get("source")?).map_err(decode)?,
            created: Millis(row.try_get("created")?),
            confirmed: row.try_get::<Option<i64>, _>("confirmed")?.map(Millis),
            last_delivery: row.try_get::<Option<i64>, _>("last_delivery")?.map(Millis),
            failures: row.try_get("failures")?,
        },
        address: row.try_get("address")?,
        secret: row.try_get("secret")?,
    }
});

impl SubscriberRow {
    pub(super) fn unsealed(self, keyring: &Keyring) -> Result<Subscriber> {
        let Self { mut subscriber, address, secret } = self;
        if let Some(address) = address {
            let plain = keyring.open(&context(ADDRESS, subscriber.id), &address);
            let plain = plain.ok_or(StoreError::Sealed(ADDRESS))?;
            subscriber.recipient =
                serde_json::from_slice(&plain).map_err(|_| StoreError::Sealed(ADDRESS))?;
        }
        if let Some(secret) = secret {
            let plain = keyring.open(&context(SECRET, subscriber.id), &secret);
            let plain = plain.ok_or(StoreError::Sealed(SECRET))?;
            let text = std::str::from_utf8(&plain).map_err(|_| StoreError::Sealed(SECRET))?;
            let secret = SigningSecret::parse(text).map_err(|_| StoreError::Sealed(SECRET))?;
            subscriber.secret = Some(secret);
        }
        Ok(subscriber)
    }
}

fn context(column: &str, id: SubscriberId) -> String {
    format!("{column}:{id}")
}

fn sealed_address(keyring: &Keyring, id: SubscriberId, recipient: &Recipient) -> Vec<u8> {
    keyring.seal(&context(ADDRESS, id), json(recipient).as_bytes())
}

fn sealed_secret(
    keyring: &Keyring,
    id: SubscriberId,
    secret: Option<&SigningSecret>,
) -> Option<Vec<u8>> {
    secret.map(|secret| keyring.seal(&context(SECRET, id), secret.expose().as_bytes()))
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
        let mut tx = self.store.begin().await?;
        lock_team(&mut tx, self.team, subscriber.created).await?;
        let new = NewSubscriber { subscriber, digest, confirmation };
        let added = self.store.add(&mut tx, self.team, &new, plan).await?;
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
        let mut tx = self.store.begin().await?;
        lock_team(&mut tx, self.team, first.created).await?;
        for (subscriber, digest) in subscribers {
            let new = NewSubscriber { subscriber, digest: *digest, confirmation: None };
            match self.store.add(&mut tx, self.team, &new, plan).await? {
                AddSubscriberOutcome::Done(_) => imported.added += 1,
                AddSubscriberOutcome::Known(_) => imported.known += 1,
                AddSubscriberOutcome::Unsubscribed | AddSubscriberOutcome::TooOften => {
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
        let mut tx = self.store.begin().await?;
        if !change_settings(&mut tx, subscriber).await? {
            return Ok(false);
        }
        let changes = diff(Some(&before.view()), Some(&subscriber.view()));
        let entry = NewEntry::new(Action::SubscriberUpdate, object(subscriber.id), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Deletes a subscriber with everything about it; false if the page has no such one.
    pub async fn delete_subscriber(
        &self,
        page: StatuspageId,
        id: SubscriberId,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.store.begin().await?;
        let deleted = within!(tx, |db| {
            sqlx::query(
                "delete from subscribers where id = $1 and page_id = $2
                 and exists (select 1 from statuspages p where p.id = $2 and p.team_id = $3)",
            )
            .bind(id.uuid())
            .bind(page.uuid())
            .bind(self.team.uuid())
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if deleted {
            let entry = NewEntry::new(Action::SubscriberDelete, object(id), Vec::new());
            self.store.write_entry(&mut tx, by, &entry).await?;
            tx.commit().await?;
        }
        Ok(deleted)
    }
}

struct NewSubscriber<'a> {
    subscriber: &'a Subscriber,
    digest: Digest,
    confirmation: Option<Confirmation<'a>>,
}

impl Store {
    /// What addresses are looked up by.
    pub async fn subscriber_digests(&self, candidate: &[u8]) -> Result<SubscriberDigests> {
        let secret = InstallationSecret::SubscriberDigest;
        Ok(SubscriberDigests(self.installation_secret(secret, candidate).await?))
    }

    /// Adds a subscriber that a visitor has requested.
    pub async fn add_visitor(
        &self,
        team: TeamId,
        subscriber: &Subscriber,
        digest: Digest,
        confirmation: Confirmation<'_>,
        plan: Option<u32>,
    ) -> Result<AddSubscriberOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, team, subscriber.created).await?;
        let new = NewSubscriber { subscriber, digest, confirmation: Some(confirmation) };
        let added = self.add(&mut tx, team, &new, plan).await?;
        tx.commit().await?;
        Ok(added)
    }

    /// The subscriber that a link confirms.
    pub async fn subscriber_to_confirm(
        &self,
        token: Digest,
        now: Millis,
    ) -> Result<Option<Subscriber>> {
        let row: Option<SubscriberRow> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select ",
                subscriber_columns!(),
                " from subscribers s where s.token = $1 and s.token_until > $2"
            ))
            .bind(&token.0[..])
            .bind(now.0)
            .fetch_optional(db)
            .await
        })?;
        row.map(|row| row.unsealed(&self.keyring)).transpose()
    }

    /// Activates a subscriber, if its link is still valid.
    pub async fn confirm_subscriber(
        &self,
        subscriber: &Subscriber,
        token: Digest,
        now: Millis,
    ) -> Result<bool> {
        let secret = sealed_secret(&self.keyring, subscriber.id, subscriber.secret.as_ref());
        Ok(write!(self, |db| {
            sqlx::query(
                "update subscribers
                 set state = 'active', confirmed = $3, ended = null, failures = 0, token = null,
                     token_until = null, secret = $4
                 where id = $1 and token = $2 and token_until > $3",
            )
            .bind(subscriber.id.uuid())
            .bind(&token.0[..])
            .bind(now.0)
            .bind(secret)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?)
    }

    /// A subscriber of any page, for its own links.
    pub async fn read_subscriber(&self, id: SubscriberId) -> Result<Option<Subscriber>> {
        let row: Option<SubscriberRow> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select ",
                subscriber_columns!(),
                " from subscribers s where s.id = $1"
            ))
            .bind(id.uuid())
            .fetch_optional(db)
            .await
        })?;
        row.map(|row| row.unsealed(&self.keyring)).transpose()
    }

    /// Changes what a subscriber receives, by its own link; false if it is gone.
    pub async fn change_subscription(&self, subscriber: &Subscriber) -> Result<bool> {
        let mut tx = self.begin().await?;
        let changed = change_settings(&mut tx, subscriber).await?;
        tx.commit().await?;
        Ok(changed)
    }

    /// Ends a subscription: its address is deleted, and nothing more is sent.
    pub async fn unsubscribe(&self, id: SubscriberId, now: Millis) -> Result<()> {
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            sqlx::query(
                "update subscribers
                 set state = 'unsubscribed', address = null, secret = null, token = null,
                     token_until = null, ended = $2
                 where id = $1 and state <> 'unsubscribed'",
            )
            .bind(id.uuid())
            .bind(now.0)
            .execute(&mut *db)
            .await?;
            sqlx::query(
                "delete from statuspage_deliveries
                 where subscriber_id = $1 and next_try is not null",
            )
            .bind(id.uuid())
            .execute(db)
            .await?;
        });
        tx.commit().await
    }

    /// Deletes subscriptions that were never confirmed, and those that ended before `ended`.
    pub async fn prune_subscribers(&self, now: Millis, ended: Millis) -> Result<()> {
        write!(self, |db| {
            sqlx::query(
                "delete from subscribers
                 where (state = 'pending' and token_until <= $1) or ended < $2",
            )
            .bind(now.0)
            .bind(ended.0)
            .execute(db)
            .await
            .map(drop)
        })?;
        Ok(())
    }

    /// Adds a subscriber, or asks a known one again. The team is locked.
    async fn add(
        &self,
        tx: &mut Tx,
        team: TeamId,
        new: &NewSubscriber<'_>,
        plan: Option<u32>,
    ) -> Result<AddSubscriberOutcome> {
        let NewSubscriber { subscriber, digest, confirmation } = new;
        let now = subscriber.created;
        let known: Option<(Uuid, String)> = within!(*tx, |db| {
            sqlx::query_as("select id, state from subscribers where digest = $1 and page_id = $2")
                .bind(&digest.0[..])
                .bind(subscriber.page.uuid())
                .fetch_optional(db)
                .await
        })?;
        let known = known.map(|(id, state)| (SubscriberId::from(id), state));
        if let Some((id, state)) = &known {
            match state.as_str() {
                "active" => return Ok(AddSubscriberOutcome::Known(*id)),
                "unsubscribed" if confirmation.is_none() => {
                    return Ok(AddSubscriberOutcome::Unsubscribed);
                }
                _ => {}
            }
        }
        if confirmation.is_some() && self.was_asked(tx, *digest, now).await? {
            return Ok(AddSubscriberOutcome::TooOften);
        }
        if known.is_none()
            && let Some(limit) = limit(tx, team, subscriber.page, plan).await?
        {
            return Ok(limit);
        }
        let id = known.as_ref().map_or(subscriber.id, |(id, _)| *id);
        let is_bouncing = known.as_ref().is_some_and(|(_, state)| state == "bouncing");
        // One that bounces stays so until it is confirmed.
        let state = match confirmation {
            Some(_) if is_bouncing => SubscriberState::Bouncing,
            Some(_) => SubscriberState::Pending,
            None => SubscriberState::Active,
        };
        within!(*tx, |db| {
            sqlx::query(
                "insert into subscribers
                 (id, page_id, kind, digest, address, secret, state, source, settings, token,
                  token_until, confirmations, confirmations_since, created, confirmed)
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14)
                 on conflict (id) do update
                 set address = excluded.address, secret = excluded.secret, state = excluded.state,
                     settings = excluded.settings, token = excluded.token,
                     token_until = excluded.token_until, ended = null, failures = 0,
                     confirmed = excluded.confirmed,
                     confirmations = case
                         when subscribers.confirmations_since > $15
                         then subscribers.confirmations + excluded.confirmations
                         else excluded.confirmations end,
                     confirmations_since = case
                         when subscribers.confirmations_since > $15
                         then subscribers.confirmations_since
                         else excluded.confirmations_since end",
            )
            .bind(id.uuid())
            .bind(subscriber.page.uuid())
            .bind(subscriber.kind.as_str())
            .bind(&digest.0[..])
            .bind(sealed_address(&self.keyring, id, &subscriber.recipient))
            .bind(sealed_secret(&self.keyring, id, subscriber.secret.as_ref()))
            .bind(state.as_str())
            .bind(subscriber.source.as_str())
            .bind(json(&subscriber.settings))
            .bind(confirmation.map(|one| one.token.0.to_vec()))
            .bind(confirmation.map(|one| one.until.0))
            .bind(i64::from(confirmation.is_some()))
            .bind(now.0)
            .bind(confirmation.is_none().then_some(now.0))
            .bind(now.0 - CONFIRMATION_WINDOW)
            .execute(db)
            .await?;
        });
        if let Some(confirmation) = confirmation {
            let sealed = mail::sealed(&self.keyring, confirmation.mail);
            mail::insert(tx, &sealed, now).await?;
        }
        Ok(AddSubscriberOutcome::Done(id))
    }

    /// Whether an address was asked for a confirmation as often as is allowed, by any page.
    async fn was_asked(&self, tx: &mut Tx, digest: Digest, now: Millis) -> Result<bool> {
        let asked: i64 = within!(*tx, |db| {
            sqlx::query_scalar(
                "select cast(coalesce(sum(confirmations), 0) as bigint) from subscribers
                 where digest = $1 and confirmations_since > $2",
            )
            .bind(&digest.0[..])
            .bind(now.0 - CONFIRMATION_WINDOW)
            .fetch_one(db)
            .await
        })?;
        Ok(asked >= MAX_CONFIRMATIONS)
    }
}

/// The limit that another subscriber would exceed.
async fn limit(
    tx: &mut Tx,
    team: TeamId,
    page: StatuspageId,
    plan: Option<u32>,
) -> Result<Option<AddSubscriberOutcome>> {
    let (of_page, of_team): (i64, i64) = within!(*tx, |db| {
        let of_page: i64 =
            sqlx::query_scalar("select count(*) from subscribers where page_id = $1")
                .bind(page.uuid())
                .fetch_one(&mut *db)
                .await?;
        // Counted only where it matters.
        let of_team: i64 = if plan.is_none() {
            0
        } else {
            sqlx::query_scalar(
                "select count(*) from subscribers s
                 join statuspages p on p.id = s.page_id
                 where p.team_id = $1 and s.state <> 'unsubscribed'",
            )
            .bind(team.uuid())
            .fetch_one(db)
            .await?
        };
        (of_page, of_team)
    });
    Ok(match () {
        () if of_page >= MAX_SUBSCRIBERS as i64 => Some(AddSubscriberOutcome::LimitReached),
        () if plan.is_some_and(|max| of_team >= i64::from(max)) => {
            Some(AddSubscriberOutcome::PlanLimit)
        }
        () => None,
    })
}

async fn change_settings(tx: &mut Tx, subscriber: &Subscriber) -> Result<bool> {
    Ok(within!(*tx, |db| {
        sqlx::query(
            "update subscribers set settings = $2 where id = $1 and state <> 'unsubscribed'",
        )
        .bind(subscriber.id.uuid())
        .bind(json(&subscriber.settings))
        .execute(db)
        .await
        .map(|done| done.rows_affected() == 1)
    })?)
}

/// Computes what addresses are looked up by.
pub struct SubscriberDigests(Zeroizing<Vec<u8>>);

impl SubscriberDigests {
    pub fn of(&self, kind: SubscriberKind, address: &str) -> Digest {
        address_digest(&self.0, kind, address)
    }
}

/// Without the address, which is deleted when its owner unsubscribes.
fn object(id: SubscriberId) -> Object {
    Object::new(ObjectKind::Subscriber, &id, "")
}
