//! The second factor of a user: the sealed seed, the last time step used,
//! recovery codes, and the lockout after too many wrong codes.

use sqlx::Error;
use wakeful_core::access::MfaPolicy;
use wakeful_core::accounts::totp::Seed;
use wakeful_core::audit::{Action, Object, ObjectKind};
use wakeful_core::id::UserId;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use crate::accounts::credentials::{self, Authority};
use crate::accounts::team::{lock_member, lock_team};
use crate::accounts::{leaving, members};
use crate::dialect::{Tx, from_row, read, within, write};
use crate::mail::{self, Mail};
use crate::{AuditContext, MemberOutcome, NewEntry, Result, Store, StoreError, TeamStore};

const COLUMN: &str = "users.mfa_seed";

/// A user's second factor. `sealed` identifies the seed without revealing it.
pub struct Mfa {
    pub enabled: bool,
    pub seed: Option<Seed>,
    pub sealed: Vec<u8>,
    pub locked_until: Millis,
}

struct Row {
    seed: Option<Vec<u8>>,
    enabled: bool,
    locked_until: i64,
}

from_row!(Row, |row| Self {
    seed: row.try_get("mfa_seed")?,
    enabled: row.try_get("mfa_enabled")?,
    locked_until: row.try_get("mfa_locked_until")?,
});

impl Store {
    pub async fn mfa(&self, user: UserId) -> Result<Option<Mfa>> {
        let row: Option<Row> = read!(self, |db| {
            sqlx::query_as(
                "select mfa_seed, mfa_enabled, mfa_locked_until from users where id = $1",
            )
            .bind(user.uuid())
            .fetch_optional(db)
            .await
        })?;
        let Some(row) = row else { return Ok(None) };
        let seed = match &row.seed {
            None => None,
            Some(sealed) => {
                let plain = self.keyring.open(&context(user), sealed);
                Some(Seed::from_bytes(&plain.ok_or(StoreError::Sealed(COLUMN))?))
            }
        };
        Ok(Some(Mfa {
            enabled: row.enabled,
            seed,
            sealed: row.seed.unwrap_or_default(),
            locked_until: Millis(row.locked_until),
        }))
    }

    /// Stores a seed that is not confirmed yet; false when MFA is already on.
    pub async fn set_mfa_seed(&self, user: UserId, seed: &Seed) -> Result<bool> {
        let sealed = self.keyring.seal(&context(user), seed.bytes());
        Ok(write!(self, |db| {
            sqlx::query(
                "update users
                 set mfa_seed = $2, mfa_step = 0, mfa_failures = 0, mfa_locked_until = 0
                 where id = $1 and not mfa_enabled",
            )
            .bind(user.uuid())
            .bind(&sealed[..])
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?)
    }

    /// Turns MFA on with the confirmed seed; false if the seed was replaced or MFA turned on
    /// in the meantime. Fails with `StoreError::Gone` if the credential is no longer valid.
    pub async fn enable_mfa(
        &self,
        caller: Authority<'_>,
        sealed: &[u8],
        step: i64,
        recovery: &[Digest],
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        credentials::confirm(&mut tx, caller).await?;
        let user = caller.user;
        let enabled = within!(tx, |db| {
            let done = sqlx::query(
                "update users
                 set mfa_enabled = true, mfa_step = $3
                 where id = $1 and mfa_seed = $2 and not mfa_enabled",
            )
            .bind(user.uuid())
            .bind(sealed)
            .bind(step)
            .execute(&mut *db)
            .await?;
            Ok::<_, Error>(done.rows_affected() == 1)
        })?;
        if enabled {
            insert_recovery_codes(&mut tx, user, recovery).await?;
            let entry = of_factor(Action::MfaEnable, user);
            self.write_entry_in_teams(&mut tx, by, user, &entry).await?;
            tx.commit().await?;
        }
        Ok(enabled)
    }

    /// Replaces the recovery codes; false if MFA is off. Fails with `StoreError::Gone` if the
    /// credential is no longer valid.
    pub async fn renew_recovery_codes(
        &self,
        caller: Authority<'_>,
        recovery: &[Digest],
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        credentials::confirm(&mut tx, caller).await?;
        let user = caller.user;
        if !is_on(&mut tx, user).await? {
            return Ok(false);
        }
        delete_recovery_codes(&mut tx, user).await?;
        insert_recovery_codes(&mut tx, user, recovery).await?;
        let entry = of_factor(Action::MfaRenew, user);
        self.write_entry_in_teams(&mut tx, by, user, &entry).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Turns MFA off and deletes the seed and the recovery codes; false if a team of the user
    /// requires a second factor. Fails with `StoreError::Gone` if the credential is no longer
    /// valid.
    pub async fn disable_mfa(&self, caller: Authority<'_>, by: &AuditContext) -> Result<bool> {
        let mut tx = self.begin().await?;
        credentials::confirm(&mut tx, caller).await?;
        if is_required(&mut tx, caller.user).await? {
            return Ok(false);
        }
        turn_off(&mut tx, caller.user).await?;
        let entry = of_factor(Action::MfaDisable, caller.user);
        self.write_entry_in_teams(&mut tx, by, caller.user, &entry).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Marks a time step as used; false when it or a later one has been used already, or
    /// when MFA has been locked in the meantime.
    pub async fn use_mfa_step(&self, user: UserId, step: i64, now: Millis) -> Result<bool> {
        Ok(write!(self, |db| {
            sqlx::query(
                "update users set mfa_step = $2, mfa_failures = 0
                 where id = $1 and mfa_enabled and mfa_step < $2 and mfa_locked_until <= $3",
            )
            .bind(user.uuid())
            .bind(step)
            .bind(now.0)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?)
    }

    /// Consumes a recovery code; false when it does not exist or has been used, or when MFA
    /// has been locked in the meantime.
    pub async fn use_recovery_code(&self, user: UserId, code: Digest, now: Millis) -> Result<bool> {
        let mut tx = self.begin().await?;
        let used = within!(tx, |db| {
            let unlocked = sqlx::query(
                "update users set mfa_failures = 0
                 where id = $1 and mfa_locked_until <= $2
                   and exists (select 1 from recovery_codes where user_id = $1 and digest = $3)",
            )
            .bind(user.uuid())
            .bind(now.0)
            .bind(&code.0[..])
            .execute(&mut *db)
            .await?;
            let done = sqlx::query("delete from recovery_codes where user_id = $1 and digest = $2")
                .bind(user.uuid())
                .bind(&code.0[..])
                .execute(db)
                .await?;
            Ok::<_, Error>(unlocked.rows_affected() == 1 && done.rows_affected() == 1)
        })?;
        if used {
            tx.commit().await?;
        }
        Ok(used)
    }

    /// Counts a wrong code; `allowed` wrong codes in a row lock MFA until `until`. False when
    /// MFA has been locked in the meantime.
    pub async fn count_wrong_code(
        &self,
        user: UserId,
        allowed: i64,
        now: Millis,
        until: Millis,
    ) -> Result<bool> {
        Ok(write!(self, |db| {
            sqlx::query(
                "update users
                 set mfa_locked_until = case when mfa_failures + 1 >= $2 then $3 else mfa_locked_until end,
                     mfa_failures = case when mfa_failures + 1 >= $2 then 0 else mfa_failures + 1 end
                 where id = $1 and mfa_locked_until <= $4",
            )
            .bind(user.uuid())
            .bind(allowed)
            .bind(until.0)
            .bind(now.0)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?)
    }
}

impl TeamStore<'_> {
    /// Turns MFA off for a member whose account the team manages and who has lost the factor, and
    /// notifies the member by mail. Fails with `StoreError::Gone` if the caller's credential is
    /// no longer valid.
    pub async fn reset_mfa(
        &self,
        user: UserId,
        notice: &Mail,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<MemberOutcome> {
        let notice = mail::sealed(&self.store.keyring, notice);
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, now).await?;
        credentials::confirm(&mut tx, caller).await?;
        match members::may_change(&mut tx, self.team, caller.user, user).await? {
            Some(true) if lock_member(&mut tx, self.team, user).await? => {}
            Some(true) | None => return Ok(MemberOutcome::NoUser),
            Some(false) => return Ok(MemberOutcome::RoleTooHigh),
        }
        if !leaving::is_managed(&mut tx, self.team, user).await? {
            return Ok(MemberOutcome::NotManaged);
        }
        if !is_on(&mut tx, user).await? {
            return Ok(MemberOutcome::MfaNotOn);
        }
        turn_off(&mut tx, user).await?;
        mail::insert(&mut tx, &notice, now).await?;
        self.store.write_entry(&mut tx, by, &of_factor(Action::MfaReset, user)).await?;
        tx.commit().await?;
        Ok(MemberOutcome::Done)
    }
}

pub(crate) async fn is_on(tx: &mut Tx, user: UserId) -> Result<bool> {
    let found: i64 = within!(*tx, |db| {
        sqlx::query_scalar("select count(*) from users where id = $1 and mfa_enabled")
            .bind(user.uuid())
            .fetch_one(db)
            .await
    })?;
    Ok(found == 1)
}

/// Whether one of the user's teams requires a second factor.
async fn is_required(tx: &mut Tx, user: UserId) -> Result<bool> {
    let teams: i64 = within!(*tx, |db| {
        sqlx::query_scalar(
            "select count(*) from members m join teams t on t.id = m.team_id
             where m.user_id = $1 and t.mfa = $2",
        )
        .bind(user.uuid())
        .bind(MfaPolicy::Required.as_str())
        .fetch_one(db)
        .await
    })?;
    Ok(teams > 0)
}

/// Deletes the seed and the recovery codes.
pub(crate) async fn turn_off(tx: &mut Tx, user: UserId) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "update users
             set mfa_seed = null, mfa_enabled = false, mfa_step = 0,
                 mfa_failures = 0, mfa_locked_until = 0
             where id = $1",
        )
        .bind(user.uuid())
        .execute(db)
        .await?;
    });
    delete_recovery_codes(tx, user).await
}

async fn delete_recovery_codes(tx: &mut Tx, user: UserId) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query("delete from recovery_codes where user_id = $1")
            .bind(user.uuid())
            .execute(db)
            .await?;
    });
    Ok(())
}

async fn insert_recovery_codes(tx: &mut Tx, user: UserId, codes: &[Digest]) -> Result<()> {
    within!(*tx, |db| {
        for code in codes {
            sqlx::query("insert into recovery_codes (user_id, digest) values ($1, $2)")
                .bind(user.uuid())
                .bind(&code.0[..])
                .execute(&mut *db)
                .await?;
        }
    });
    Ok(())
}

fn of_factor(action: Action, user: UserId) -> NewEntry {
    NewEntry::new(action, Object::new(ObjectKind::Person, &user, ""), Vec::new())
}

fn context(user: UserId) -> String {
    format!("{COLUMN}:{user}")
}
