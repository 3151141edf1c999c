//! The administration of the installation: who administers it, and what they do to users and
//! teams. Changes happen one after the other, because each locks the row that decided who is
//! first; administrators, teams and users are locked in this order.

pub(crate) mod status;
pub(crate) mod teams;
pub(crate) mod users;

use wakeful_core::audit::{Action, Change, Object, ObjectKind};
use wakeful_core::id::{TeamId, UserId};

use crate::accounts::credentials;
use crate::dialect::{Tx, read, within};
use crate::{AuditContext, Authority, Mail, NewEntry, Result, Store, StoreError, mail};

/// Who changes something: an administrator, whose credential is checked again, or the operator
/// at the command line, who needs none.
#[derive(Clone, Copy, Debug)]
pub enum AdminAuthority<'a> {
    Admin(Authority<'a>),
    Operator,
}

/// The outcome of a change by an administrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdminOutcome {
    Done,
    /// It was so already.
    Unchanged,
    NoUser,
    NoTeam,
    /// Nobody would be left who administers the installation.
    LastAdmin,
    /// The team has an owner, who decides.
    HasOwner,
    /// The name is not that of the team.
    OtherName,
}

impl Store {
    /// Whether anybody administers the installation; `None` if nobody has an account.
    pub async fn has_admin(&self) -> Result<Option<bool>> {
        if !self.has_accounts().await? {
            return Ok(None);
        }
        let any: Option<i64> = read!(self, |db| {
            sqlx::query_scalar("select cast(1 as bigint) from users where is_admin limit 1")
                .fetch_optional(db)
                .await
        })?;
        Ok(Some(any.is_some()))
    }

    /// Whether nobody but this user administers the installation.
    pub async fn is_only_admin(&self, user: UserId) -> Result<bool> {
        let (own, others): (i64, i64) = read!(self, |db| {
            sqlx::query_as(
                "select count(case when id = $1 then 1 end), count(case when id <> $1 then 1 end)
                 from users
                 where is_admin and suspended_at is null",
            )
            .bind(user.uuid())
            .fetch_one(db)
            .await
        })?;
        Ok(own == 1 && others == 0)
    }

    /// Makes the first person of an empty installation its administrator. Of several at the same
    /// time, one inserts the row.
    pub(crate) async fn appoint_if_first(
        &self,
        tx: &mut Tx,
        user: UserId,
        by: &AuditContext,
    ) -> Result<()> {
        let is_first = within!(*tx, |db| {
            // Of the last two accounts, deleted at the same time, neither was the last one.
            sqlx::query(
                "delete from meta where name = 'first_admin'
                 and not exists (select 1 from users where kind = 'person' and id <> $1)",
            )
            .bind(user.uuid())
            .execute(&mut *db)
            .await?;
            sqlx::query(
                "insert into meta (name, value) values ('first_admin', $1) on conflict do nothing",
            )
            .bind(&[0u8][..])
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !is_first {
            return Ok(());
        }
        set_flag(tx, user, true).await?;
        let person = users::object(tx, user).await?.ok_or(StoreError::Gone)?;
        let entry = NewEntry::new(Action::AdminGrant, person, Vec::new());
        self.write_installation_entry(tx, by, &entry).await
    }

    /// Begins a change by an administrator. Fails with `StoreError::Gone` if the caller no longer
    /// is one.
    pub(crate) async fn begin_administration(&self, who: AdminAuthority<'_>) -> Result<Tx> {
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            sqlx::query("update meta set value = value where name = 'first_admin'")
                .execute(db)
                .await?;
        });
        if let AdminAuthority::Admin(caller) = who
            && !is_active_admin(&mut tx, caller.user).await?
        {
            return Err(StoreError::Gone);
        }
        Ok(tx)
    }

    /// Records an action in the chain of the installation, and in those of the teams that it
    /// affects.
    pub(crate) async fn write_administration(
        &self,
        tx: &mut Tx,
        by: &AuditContext,
        entry: &NewEntry,
        teams: &[TeamId],
    ) -> Result<()> {
        for team in teams {
            self.write_entry(tx, &by.in_team(*team), entry).await?;
        }
        self.write_installation_entry(tx, by, entry).await
    }

    /// Queues mails to the people who are affected.
    pub(crate) async fn queue_mails(
        &self,
        tx: &mut Tx,
        mails: &[Mail],
        by: &AuditContext,
    ) -> Result<()> {
        for content in mails {
            mail::insert(tx, &mail::sealed(&self.keyring, content), by.at()).await?;
        }
        Ok(())
    }

    /// Records an action that concerns no single user or team.
    pub async fn write_installation_action(
        &self,
        action: Action,
        changes: Vec<Change>,
        by: &AuditContext,
    ) -> Result<()> {
        let mut tx = self.begin().await?;
        let installation = Object::new(ObjectKind::Installation, &"", "");
        let entry = NewEntry::new(action, installation, changes);
        self.write_installation_entry(&mut tx, by, &entry).await?;
        tx.commit().await
    }
}

/// Confirms the credential of an administrator, once the teams are locked.
pub(crate) async fn confirm(tx: &mut Tx, who: AdminAuthority<'_>) -> Result<()> {
    match who {
        AdminAuthority::Admin(caller) => credentials::confirm(tx, caller).await,
        AdminAuthority::Operator => Ok(()),
    }
}

async fn is_active_admin(tx: &mut Tx, user: UserId) -> Result<bool> {
    let found: i64 = within!(*tx, |db| {
        sqlx::query_scalar(
            "select count(*) from users where id = $1 and is_admin and suspended_at is null",
        )
        .bind(user.uuid())
        .fetch_one(db)
        .await
    })?;
    Ok(found == 1)
}

/// Whether nobody but this user administers the installation.
pub(crate) async fn is_last_admin(tx: &mut Tx, user: UserId) -> Result<bool> {
    if !is_active_admin(tx, user).await? {
        return Ok(false);
    }
    let others: i64 = within!(*tx, |db| {
        sqlx::query_scalar(
            "select count(*) from users where is_admin and suspended_at is null and id <> $1",
        )
        .bind(user.uuid())
        .fetch_one(db)
        .await
    })?;
    Ok(others == 0)
}

pub(crate) async fn set_flag(tx: &mut Tx, user: UserId, is_admin: bool) -> Result<bool> {
    Ok(within!(*tx, |db| {
        sqlx::query("update users set is_admin = $2 where id = $1 and is_admin <> $2")
            .bind(user.uuid())
            .bind(is_admin)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
    })?)
}
