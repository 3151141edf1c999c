//! What visitors do with their subscriptions, and how subscribers are added.

use uuid::Uuid;
use wakeful_core::id::{StatuspageId, SubscriberId, TeamId};
use wakeful_core::statuspages::subscriber::{
    MAX_CONFIRMATIONS, MAX_SUBSCRIBERS, Subscriber, SubscriberKind, SubscriberState, address_digest,
};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use zeroize::Zeroizing;

use super::subscriber_rows::{
    SubscriberRow, end_subscription, sealed_address, sealed_secret, subscriber_columns,
};
use super::subscribers::{AddSubscriberOutcome, Confirmation};
use crate::accounts::team::lock_team;
use crate::deletion::deleted_pages;
use crate::dialect::{Tx, read, within, write};
use crate::installation_secrets::InstallationSecret;
use crate::mail;
use crate::monitors::json;
use crate::{Result, Store};

const CONFIRMATION_WINDOW: i64 = 86_400_000;

pub(super) struct NewSubscriber<'a> {
    pub(super) subscriber: &'a Subscriber,
    pub(super) digest: Digest,
    pub(super) confirmation: Option<Confirmation<'a>>,
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
        let added = self.insert_subscriber(&mut tx, team, &new, plan).await?;
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
                " from subscribers s
                 where s.token = $1 and s.token_until > $2 and s.page_id not in ",
                deleted_pages!()
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
                " from subscribers s where s.id = $1 and s.page_id not in ",
                deleted_pages!()
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
            sqlx::query(concat!(
                "update subscribers set ",
                end_subscription!(),
                ", ended = $2 where id = $1 and state <> 'unsubscribed'"
            ))
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

    /// Deletes subscriptions that were not confirmed, and those that ended before `ended`.
    pub async fn prune_subscribers(&self, now: Millis, ended: Millis) -> Result<()> {
        write!(self, |db| {
            sqlx::query("delete from confirmation_mails where at <= $1")
                .bind(now.0 - CONFIRMATION_WINDOW)
                .execute(db)
                .await
                .map(drop)
        })?;
        // Their owners were asked again, and did not confirm.
        write!(self, |db| {
            sqlx::query(concat!(
                "update subscribers set ",
                end_subscription!(),
                " where state = 'pending' and token_until <= $1 and ended is not null"
            ))
            .bind(now.0)
            .execute(db)
            .await
            .map(drop)
        })?;
        write!(self, |db| {
            sqlx::query(
                "delete from subscribers
                 where (state = 'pending' and token_until <= $1)
                 or (state = 'unsubscribed' and ended < $2)",
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
    pub(super) async fn insert_subscriber(
        &self,
        tx: &mut Tx,
        team: TeamId,
        new: &NewSubscriber<'_>,
        plan: Option<u32>,
    ) -> Result<AddSubscriberOutcome> {
        let NewSubscriber { subscriber, digest, confirmation } = new;
        let now = subscriber.created;
        let is_there: bool = within!(*tx, |db| {
            sqlx::query_scalar(
                "select exists (select 1 from statuspages where id = $1 and team_id = $2)",
            )
            .bind(subscriber.page.uuid())
            .bind(team.uuid())
            .fetch_one(db)
            .await
        })?;
        if !is_there {
            return Ok(AddSubscriberOutcome::Missing);
        }
        let known: Option<(Uuid, String, Option<i64>)> = within!(*tx, |db| {
            sqlx::query_as(
                "select id, state, ended from subscribers where digest = $1 and page_id = $2",
            )
            .bind(&digest.0[..])
            .bind(subscriber.page.uuid())
            .fetch_optional(db)
            .await
        })?;
        let known = known.map(|(id, state, ended)| (SubscriberId::from(id), state, ended));
        if let Some((id, state, ended)) = &known {
            if state == "active" {
                return Ok(AddSubscriberOutcome::Known(*id));
            }
            // One that was unsubscribed still is while its owner is asked again.
            if confirmation.is_none() && (ended.is_some() || state == "bouncing") {
                return Ok(AddSubscriberOutcome::MustConfirm);
            }
        }
        if let Some(confirmation) = confirmation
            && was_asked(tx, confirmation.recipient, now).await?
        {
            return Ok(AddSubscriberOutcome::TooOften);
        }
        if known.is_none()
            && let Some(limit) = limit(tx, team, subscriber.page, plan).await?
        {
            return Ok(limit);
        }
        let id = known.as_ref().map_or(subscriber.id, |(id, ..)| *id);
        let is_bouncing = known.as_ref().is_some_and(|(_, state, _)| state == "bouncing");
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
                  token_until, created, confirmed)
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
                 on conflict (id) do update
                 set address = excluded.address, secret = excluded.secret, state = excluded.state,
                     settings = excluded.settings, token = excluded.token,
                     token_until = excluded.token_until, failures = 0,
                     confirmed = excluded.confirmed",
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
            .bind(now.0)
            .bind(confirmation.is_none().then_some(now.0))
            .execute(db)
            .await?;
        });
        if let Some(confirmation) = confirmation {
            within!(*tx, |db| {
                sqlx::query("insert into confirmation_mails (recipient, at) values ($1, $2)")
                    .bind(&confirmation.recipient.0[..])
                    .bind(now.0)
                    .execute(db)
                    .await?;
            });
            let sealed = mail::sealed(&self.keyring, confirmation.mail);
            mail::insert(tx, &sealed, now).await?;
        }
        Ok(AddSubscriberOutcome::Done(id))
    }
}

/// Whether the owner of an address was asked for a confirmation as often as is allowed, by any
/// page, for whatever was to be subscribed.
async fn was_asked(tx: &mut Tx, recipient: Digest, now: Millis) -> Result<bool> {
    let asked: i64 = within!(*tx, |db| {
        sqlx::query_scalar(
            "select count(*) from confirmation_mails where recipient = $1 and at > $2",
        )
        .bind(&recipient.0[..])
        .bind(now.0 - CONFIRMATION_WINDOW)
        .fetch_one(db)
        .await
    })?;
    Ok(asked >= MAX_CONFIRMATIONS)
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

pub(super) async fn change_settings(tx: &mut Tx, subscriber: &Subscriber) -> Result<bool> {
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
