//! Invitations to a team. The link works once, for some days, and only as long as the person who
//! sent it could still give the role. An invitation creates no account until it is accepted.

use uuid::Uuid;
use wakeful_core::access::{Permission, Role};
use wakeful_core::accounts::MAX_INVITATIONS_PER_TEAM;
use wakeful_core::audit::{Action, Change, Object, ObjectKind, View, diff};
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{InvitationId, MonitorFilterId, TeamId, UserId};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use crate::accounts::monitor_filters::{self, StoredMonitorFilter};
use crate::accounts::team::{count_people, lock_team};
use crate::accounts::{account, credentials, email_verification, members, sessions, teams};
use crate::audit::{INVITATION_FIELD, Snapshot};
use crate::dialect::{Tx, from_row, read, within, write};
use crate::{
    AuditContext, Authority, Credential, Mail, NewAccount, NewEntry, NewSession, Result, Store,
    TeamStore, mail,
};

/// Reads an `Invitation`. Who has sent it is only known while they are a member.
macro_rules! select_invitations {
    ($rest:literal) => {
        concat!(
            "select i.id, i.team_id, t.name as team_name, i.email, i.email_key, i.role,
                    i.filter_id, i.mailed, i.created, i.expires, u.email as inviter,
                    m.role as inviter_role, m.suspended_at as inviter_suspended
             from invitations i
             join teams t on t.id = i.team_id
             left join members m on m.team_id = i.team_id and m.user_id = i.invited_by
             left join users u on u.id = m.user_id ",
            $rest
        )
    };
}

/// An invitation that was not accepted yet.
#[derive(Clone, Debug)]
pub struct Invitation {
    pub id: InvitationId,
    pub team: TeamId,
    pub team_name: String,
    pub email: String,
    pub email_key: String,
    pub role: Role,
    /// The monitors that the member will be limited to.
    pub filter: Option<MonitorFilterId>,
    /// Whether the link was mailed, so that nobody but the holder of the address has it.
    pub mailed: bool,
    /// The address of the member who sent it; `None` once they have left the team.
    pub invited_by: Option<String>,
    /// The role of that member; `None` if they are suspended.
    pub inviter_role: Option<Role>,
    pub created: Millis,
    pub expires: Millis,
}

from_row!(Invitation, |row| {
    let inviter_role: Option<String> = row.try_get("inviter_role")?;
    let suspended = row.try_get::<Option<i64>, _>("inviter_suspended")?.is_some();
    Self {
        id: row.try_get::<Uuid, _>("id")?.into(),
        team: row.try_get::<Uuid, _>("team_id")?.into(),
        team_name: row.try_get("team_name")?,
        email: row.try_get("email")?,
        email_key: row.try_get("email_key")?,
        role: members::read_role(&row.try_get::<String, _>("role")?)?,
        filter: row.try_get::<Option<Uuid>, _>("filter_id")?.map(MonitorFilterId::from),
        mailed: row.try_get("mailed")?,
        invited_by: row.try_get("inviter")?,
        inviter_role: inviter_role
            .filter(|_| !suspended)
            .map(|role| members::read_role(&role))
            .transpose()?,
        created: Millis(row.try_get("created")?),
        expires: Millis(row.try_get("expires")?),
    }
});

impl Invitation {
    /// Whether the member who sent it could still give the role.
    fn is_backed(&self) -> bool {
        self.inviter_role.is_some_and(|inviter| inviter.may_assign(self.role))
    }
}

pub struct NewInvitation {
    pub id: InvitationId,
    pub email: EmailAddress,
    pub role: Role,
    pub filter: Option<StoredMonitorFilter>,
    pub link: InvitationLink,
}

/// The link of an invitation, and the mail with it; without a mail, the inviter passes it on.
pub struct InvitationLink {
    pub digest: Digest,
    pub expires: Millis,
    pub mail: Option<Mail>,
}

/// The outcome of a change to the invitations of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InviteOutcome {
    Done,
    /// The team has `MAX_INVITATIONS_PER_TEAM`.
    Full,
    RoleTooHigh,
    /// The address belongs to a member of the team.
    AlreadyMember,
    /// A member with this role cannot be limited to some monitors.
    FilterNotAllowed,
    /// The filter names monitors that the team does not have.
    UnknownMonitors,
    /// There is no such invitation.
    Missing,
}

/// Who accepts an invitation.
#[derive(Clone, Debug)]
pub enum Invitee<'a> {
    /// Someone without an account, who gets one and a session.
    New { account: &'a NewAccount, session: &'a NewSession },
    /// The holder of an account, whose session continues in the team.
    Existing { caller: Authority<'a>, email_key: &'a str },
}

/// The outcome of accepting an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptOutcome {
    Done,
    /// There is no such invitation, or it no longer works.
    Invalid,
    /// It was sent to another address.
    OtherAccount,
    AlreadyMember,
    /// The team has reached its limit of users.
    Full,
    /// The user is in `MAX_TEAMS_PER_USER` teams.
    TooManyTeams,
}

impl TeamStore<'_> {
    /// The team's invitations, oldest first.
    pub async fn invitations(&self, now: Millis) -> Result<Vec<Invitation>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(select_invitations!(
                "where i.team_id = $1 and i.expires > $2 order by i.id"
            ))
            .bind(self.team.uuid())
            .bind(now.0)
            .fetch_all(db)
            .await
        })?)
    }

    /// Adds an invitation, in place of an earlier one to the same address. Fails with
    /// `StoreError::Gone` if the caller's credential is no longer valid.
    pub async fn invite(
        &self,
        new: &NewInvitation,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<InviteOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, now).await?;
        credentials::confirm(&mut tx, caller).await?;
        let own = members::role(&mut tx, self.team, caller.user).await?;
        if !own.is_some_and(|own| {
            own.permissions().contains(Permission::People) && own.may_assign(new.role)
        }) {
            return Ok(InviteOutcome::RoleTooHigh);
        }
        if is_member(&mut tx, self.team, &new.email.key()).await? {
            return Ok(InviteOutcome::AlreadyMember);
        }
        if let Some(filter) = &new.filter {
            if !new.role.may_have_filter() {
                return Ok(InviteOutcome::FilterNotAllowed);
            }
            if !monitor_filters::insert(&mut tx, self.team, filter).await? {
                return Ok(InviteOutcome::UnknownMonitors);
            }
        }
        let added = within!(tx, |db| {
            sqlx::query("delete from invitations where team_id = $1 and email_key = $2")
                .bind(self.team.uuid())
                .bind(new.email.key())
                .execute(&mut *db)
                .await?;
            sqlx::query(
                "insert into invitations
                 (id, team_id, email, email_key, role, filter_id, digest, mailed, invited_by,
                  created, expires)
                 select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
                 where (select count(*) from invitations where team_id = $2 and expires > $10)
                       < $12",
            )
            .bind(new.id.uuid())
            .bind(self.team.uuid())
            .bind(new.email.as_str())
            .bind(new.email.key())
            .bind(new.role.as_str())
            .bind(new.filter.as_ref().map(|filter| filter.id.uuid()))
            .bind(&new.link.digest.0[..])
            .bind(new.link.mail.is_some())
            .bind(caller.user.uuid())
            .bind(now.0)
            .bind(new.link.expires.0)
            .bind(i64::from(MAX_INVITATIONS_PER_TEAM))
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !added {
            return Ok(InviteOutcome::Full);
        }
        self.queue_mail(&mut tx, &new.link, now).await?;
        let after = snapshot(&mut tx, new.id).await?;
        self.store.write_change(&mut tx, by, Action::MemberInvite, None, after).await?;
        tx.commit().await?;
        Ok(InviteOutcome::Done)
    }

    /// Replaces the link of an invitation. The caller becomes the one who sent it. Fails with
    /// `StoreError::Gone` if the caller's credential is no longer valid.
    pub async fn renew_invitation(
        &self,
        id: InvitationId,
        link: &InvitationLink,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<InviteOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, now).await?;
        credentials::confirm(&mut tx, caller).await?;
        let Some(role) = self.role_of(&mut tx, id).await? else {
            return Ok(InviteOutcome::Missing);
        };
        let own = members::role(&mut tx, self.team, caller.user).await?;
        if !own.is_some_and(|own| own.may_assign(role)) {
            return Ok(InviteOutcome::RoleTooHigh);
        }
        within!(tx, |db| {
            sqlx::query(
                "update invitations set digest = $2, expires = $3, mailed = $4, invited_by = $5
                 where id = $1",
            )
            .bind(id.uuid())
            .bind(&link.digest.0[..])
            .bind(link.expires.0)
            .bind(link.mail.is_some())
            .bind(caller.user.uuid())
            .execute(db)
            .await?;
        });
        self.queue_mail(&mut tx, link, now).await?;
        if let Some(Snapshot { object, .. }) = snapshot(&mut tx, id).await? {
            let link = vec![Change::of_secret("link")];
            let entry = NewEntry::new(Action::MemberInvite, object, link);
            self.store.write_entry(&mut tx, by, &entry).await?;
        }
        tx.commit().await?;
        Ok(InviteOutcome::Done)
    }

    /// Deletes an invitation; its link stops working. Fails with `StoreError::Gone` if the
    /// caller's credential is no longer valid.
    pub async fn delete_invitation(
        &self,
        id: InvitationId,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<InviteOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, now).await?;
        credentials::confirm(&mut tx, caller).await?;
        if self.role_of(&mut tx, id).await?.is_none() {
            return Ok(InviteOutcome::Missing);
        }
        let before = snapshot(&mut tx, id).await?;
        delete(&mut tx, id).await?;
        self.store.write_change(&mut tx, by, Action::MemberUninvite, before, None).await?;
        tx.commit().await?;
        Ok(InviteOutcome::Done)
    }

    /// The role of an invitation; `None` when the team has no such invitation.
    async fn role_of(&self, tx: &mut Tx, id: InvitationId) -> Result<Option<Role>> {
        let role: Option<String> = within!(*tx, |db| {
            sqlx::query_scalar("select role from invitations where id = $1 and team_id = $2")
                .bind(id.uuid())
                .bind(self.team.uuid())
                .fetch_optional(db)
                .await
        })?;
        Ok(role.map(|role| members::read_role(&role)).transpose()?)
    }

    async fn queue_mail(&self, tx: &mut Tx, link: &InvitationLink, now: Millis) -> Result<()> {
        match &link.mail {
            Some(mail) => mail::insert(tx, &mail::sealed(&self.store.keyring, mail), now).await,
            None => Ok(()),
        }
    }
}

impl Store {
    /// The invitation with this link; `None` when it does not work, or no longer.
    pub async fn invitation(&self, digest: Digest, now: Millis) -> Result<Option<Invitation>> {
        let found: Option<Invitation> = read!(self, |db| {
            sqlx::query_as(select_invitations!("where i.digest = $1 and i.expires > $2"))
                .bind(&digest.0[..])
                .bind(now.0)
                .fetch_optional(db)
                .await
        })?;
        Ok(found.filter(Invitation::is_backed))
    }

    /// Adds the invitee to the team, unless it already has as many users as `limit`. Fails with
    /// `StoreError::Taken` if the address of a new account is in use, and with
    /// `StoreError::Gone` if the caller's credential is no longer valid.
    pub async fn accept_invitation(
        &self,
        digest: Digest,
        invitee: Invitee<'_>,
        limit: Option<u32>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<AcceptOutcome> {
        let Some(found) = self.invitation(digest, now).await? else {
            return Ok(AcceptOutcome::Invalid);
        };
        let team = found.team;
        let mut tx = self.begin().await?;
        lock_team(&mut tx, team, now).await?;
        // With the team locked, nobody else uses it up.
        let found: Option<Invitation> = within!(tx, |db| {
            sqlx::query_as(select_invitations!("where i.digest = $1 and i.expires > $2"))
                .bind(&digest.0[..])
                .bind(now.0)
                .fetch_optional(db)
                .await
        })?;
        let Some(invitation) = found.filter(Invitation::is_backed) else {
            return Ok(AcceptOutcome::Invalid);
        };
        if let Some(limit) = limit
            && count_people(&mut tx, team).await? >= i64::from(limit)
        {
            return Ok(AcceptOutcome::Full);
        }
        let user = match &invitee {
            Invitee::New { account, session } => {
                if account.email.key() != invitation.email_key {
                    return Ok(AcceptOutcome::OtherAccount);
                }
                account::insert(&mut tx, team, account, None, now).await?;
                members::set_role(&mut tx, team, account.user, invitation.role, now).await?;
                sessions::insert(&mut tx, session, None, now).await?;
                if invitation.mailed {
                    email_verification::mark_verified(&mut tx, account.user, now).await?;
                }
                account.user
            }
            Invitee::Existing { caller, email_key } => {
                if *email_key != invitation.email_key {
                    return Ok(AcceptOutcome::OtherAccount);
                }
                credentials::confirm(&mut tx, *caller).await?;
                if members::role(&mut tx, team, caller.user).await?.is_some() {
                    return Ok(AcceptOutcome::AlreadyMember);
                }
                if teams::is_in_too_many(&mut tx, caller.user).await? {
                    return Ok(AcceptOutcome::TooManyTeams);
                }
                members::insert(&mut tx, team, caller.user, invitation.role, now).await?;
                if invitation.mailed {
                    let email_key = &invitation.email_key;
                    email_verification::verify(&mut tx, caller.user, email_key, now).await?;
                }
                switch(&mut tx, *caller, team).await?;
                caller.user
            }
        };
        self.finish(&mut tx, &invitation, user, by).await?;
        tx.commit().await?;
        Ok(AcceptOutcome::Done)
    }

    /// Gives the new member the filter of the invitation, uses it up, and records it.
    async fn finish(
        &self,
        tx: &mut Tx,
        invitation: &Invitation,
        user: UserId,
        by: &AuditContext,
    ) -> Result<()> {
        let (team, id) = (invitation.team, invitation.id);
        if invitation.filter.is_some() {
            // Otherwise it would be deleted with the invitation.
            within!(*tx, |db| {
                sqlx::query("update invitations set filter_id = null where id = $1")
                    .bind(id.uuid())
                    .execute(db)
                    .await?;
            });
            members::set_filter(tx, team, user, invitation.filter).await?;
        }
        delete(tx, id).await?;
        let member = members::snapshot(tx, team, user).await?;
        let Some(Snapshot { object, view }) = member else { return Ok(()) };
        let mut changes = diff(None, Some(&view));
        changes.push(Change::new(INVITATION_FIELD, None, Some(id.to_string().into())));
        let entry = NewEntry::new(Action::MemberJoin, object, changes);
        self.write_entry(tx, &by.in_team(team), &entry).await
    }

    pub async fn prune_invitations(&self, now: Millis) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query("delete from invitations where expires <= $1")
                .bind(now.0)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?)
    }
}

/// Makes the session of a caller act in a team.
async fn switch(tx: &mut Tx, caller: Authority<'_>, team: TeamId) -> Result<()> {
    let Credential::Session(session) = caller.credential else { return Ok(()) };
    within!(*tx, |db| {
        sqlx::query("update sessions set team_id = $2 where id = $1 and api_key_id is null")
            .bind(session.uuid())
            .bind(team.uuid())
            .execute(db)
            .await?;
    });
    Ok(())
}

async fn is_member(tx: &mut Tx, team: TeamId, email_key: &str) -> Result<bool> {
    let found: i64 = within!(*tx, |db| {
        sqlx::query_scalar(
            "select count(*) from members m join users u on u.id = m.user_id
             where m.team_id = $1 and u.email_key = $2",
        )
        .bind(team.uuid())
        .bind(email_key)
        .fetch_one(db)
        .await
    })?;
    Ok(found > 0)
}

async fn delete(tx: &mut Tx, id: InvitationId) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query("delete from invitations where id = $1").bind(id.uuid()).execute(db).await?;
    });
    Ok(())
}

async fn snapshot(tx: &mut Tx, id: InvitationId) -> Result<Option<Snapshot>> {
    let row: Option<(String, String, bool, Option<Uuid>)> = within!(*tx, |db| {
        sqlx::query_as("select email, role, mailed, filter_id from invitations where id = $1")
            .bind(id.uuid())
            .fetch_optional(db)
            .await
    })?;
    let Some((email, role, mailed, filter)) = row else { return Ok(None) };
    let object = Object::new(ObjectKind::Invitation, &id, &email);
    let view = View::default().with("role", role).with("mailed", mailed);
    let view = match filter {
        None => view,
        Some(filter) => monitor_filters::audited(tx, view, filter).await?,
    };
    Ok(Some(Snapshot { object, view }))
}
