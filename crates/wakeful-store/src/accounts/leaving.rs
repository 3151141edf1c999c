//! How people leave teams. An account that a team manages ends with its last membership; any
//! other account gets an empty team of its own. A team without people is deleted.
//!
//! Teams are locked before users, and several of them in the order of their ids, so that no two
//! transactions wait for each other.

use uuid::Uuid;
use wakeful_core::accounts::default_team_name;
use wakeful_core::audit::{Action, Change, Object, ObjectKind};
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::time::Millis;

use crate::accounts::team::{count_people, delete_api_keys, lock_member, lock_team};
use crate::accounts::{credentials, members, teams};
use crate::admin::{self, AdminAuthority, AdminOutcome};
use crate::alerting::schedules::leave_schedules;
use crate::audit::{Snapshot, chain, erasure};
use crate::deletion::hide_team;
use crate::dialect::{Tx, within};
use crate::{
    AuditContext, Authority, Mail, MemberOutcome, NewEntry, Result, Store, StoreError, TeamStore,
    keyring,
};

/// What becomes of an account that loses its last team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastTeam {
    /// It is deleted if the team manages it, and otherwise gets a team of its own.
    DeleteIfManaged,
    /// It gets a team of its own.
    Keep,
}

/// Someone who has left a team.
struct Departed {
    user: UserId,
    member: Snapshot,
    account_deleted: bool,
}

/// Who deletes an account.
#[derive(Clone, Copy)]
pub enum Deleter<'a> {
    /// Its holder, who must not leave a team without an owner.
    Holder(Authority<'a>),
    /// With the mails to queue.
    Administration(AdminAuthority<'a>, &'a [Mail]),
}

/// The outcome of removing a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoveTeamOutcome {
    Done,
    /// The name is not that of the team.
    OtherName,
    /// The caller is no longer an owner.
    NotOwner,
}

impl TeamStore<'_> {
    /// Removes these people from the team in one transaction. Removing the last one deletes the
    /// team and all its data. Fails with `StoreError::Gone` if the caller's credential is no
    /// longer valid.
    pub async fn delete_users(
        &self,
        users: &[UserId],
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<MemberOutcome> {
        self.remove_people(users, caller, LastTeam::DeleteIfManaged, by, now).await
    }

    /// Ends the caller's own membership; `LastOwner` if nobody else would be left.
    pub async fn leave(
        &self,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<MemberOutcome> {
        self.remove_people(&[caller.user], caller, LastTeam::Keep, by, now).await
    }

    async fn remove_people(
        &self,
        users: &[UserId],
        caller: Authority<'_>,
        last_team: LastTeam,
        by: &AuditContext,
        now: Millis,
    ) -> Result<MemberOutcome> {
        let mut tx = self.begin().await?;
        // The team's row is locked first, so that two callers who delete the
        // last two users cannot leave an empty team behind.
        lock_team(&mut tx, self.team, now).await?;
        credentials::confirm(&mut tx, caller).await?;
        for user in users {
            if members::may_change(&mut tx, self.team, caller.user, *user).await? == Some(false) {
                return Ok(MemberOutcome::RoleTooHigh);
            }
        }
        let mut departed = Vec::new();
        for user in users {
            match self.remove_member(&mut tx, *user, last_team, now).await? {
                Some(person) => departed.push(person),
                None => return Ok(MemberOutcome::NoUser),
            }
        }
        if count_people(&mut tx, self.team).await? == 0 {
            if last_team == LastTeam::Keep {
                return Ok(MemberOutcome::LastOwner);
            }
            self.delete_team(&mut tx, by).await?;
        } else if members::lacks_owner(&mut tx, self.team).await? {
            return Ok(MemberOutcome::LastOwner);
        } else {
            for person in &departed {
                self.record_departure(&mut tx, person, by).await?;
            }
        }
        for person in departed.iter().filter(|person| person.account_deleted) {
            erasure::erase(&mut tx, person.user).await?;
        }
        tx.commit().await?;
        Ok(MemberOutcome::Done)
    }

    /// Deletes the team, everything in it, and the accounts that end with it. Fails with
    /// `StoreError::Gone` if the caller's credential is no longer valid.
    pub async fn remove_team(
        &self,
        name: &str,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<RemoveTeamOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, now).await?;
        credentials::confirm(&mut tx, caller).await?;
        if !members::is_owner(&mut tx, self.team, caller.user).await? {
            return Ok(RemoveTeamOutcome::NotOwner);
        }
        if teams::name(&mut tx, self.team).await? != name {
            return Ok(RemoveTeamOutcome::OtherName);
        }
        self.delete_with_people(&mut tx, by, now).await?;
        tx.commit().await?;
        Ok(RemoveTeamOutcome::Done)
    }

    /// The same on behalf of an administrator of the installation.
    pub async fn remove_team_as_admin(
        &self,
        name: &str,
        who: AdminAuthority<'_>,
        mails: &[Mail],
        by: &AuditContext,
    ) -> Result<AdminOutcome> {
        let now = by.at();
        let mut tx = self.store.begin_administration(who).await?;
        if !lock_team(&mut tx, self.team, now).await? {
            return Ok(AdminOutcome::NoTeam);
        }
        admin::confirm(&mut tx, who).await?;
        if teams::name(&mut tx, self.team).await? != name {
            return Ok(AdminOutcome::OtherName);
        }
        let team = Object::new(ObjectKind::Team, &self.team, name);
        self.delete_with_people(&mut tx, by, now).await?;
        self.store.queue_mails(&mut tx, mails, by).await?;
        let entry = NewEntry::new(Action::AdminDelete, team, Vec::new());
        self.store.write_installation_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(AdminOutcome::Done)
    }

    /// Deletes the team, whose row is locked, and the accounts that end with it.
    async fn delete_with_people(&self, tx: &mut Tx, by: &AuditContext, now: Millis) -> Result<()> {
        let mut deleted = Vec::new();
        for user in people(tx, self.team).await? {
            let left = self.remove_member(tx, user, LastTeam::DeleteIfManaged, now).await?;
            deleted.extend(left.filter(|person| person.account_deleted));
        }
        self.delete_team(tx, by).await?;
        for person in deleted {
            erasure::erase(tx, person.user).await?;
        }
        Ok(())
    }

    /// Removes a person from the team, whose row is locked, with what belongs to the
    /// membership; `None` when there is no such person in it.
    async fn remove_member(
        &self,
        tx: &mut Tx,
        user: UserId,
        last_team: LastTeam,
        now: Millis,
    ) -> Result<Option<Departed>> {
        let team = self.team;
        let Some(member) = self.lock_person(tx, user).await? else { return Ok(None) };
        self.store.remove_account_notifier(tx, team, user, now).await?;
        leave_schedules(tx, team, user, now).await?;
        let other = other_team(tx, team, user).await?;
        let account_deleted = last_team == LastTeam::DeleteIfManaged
            && other.is_none()
            && is_managed(tx, team, user).await?;
        if account_deleted {
            delete_account(tx, user).await?;
            return Ok(Some(Departed { user, member, account_deleted }));
        }
        let home = match other {
            Some(other) => other,
            None => own_team(tx, user, now).await?,
        };
        delete_api_keys(tx, team, user).await?;
        within!(*tx, |db| {
            sqlx::query("update users set team_id = $3 where id = $2 and team_id = $1")
                .bind(team.uuid())
                .bind(user.uuid())
                .bind(home.uuid())
                .execute(&mut *db)
                .await?;
            for end in [
                "delete from contact_rules where team_id = $1 and user_id = $2",
                "update sessions set team_id = null where team_id = $1 and user_id = $2",
                "delete from members where team_id = $1 and user_id = $2",
            ] {
                sqlx::query(end).bind(team.uuid()).bind(user.uuid()).execute(&mut *db).await?;
            }
        });
        Ok(Some(Departed { user, member, account_deleted }))
    }

    /// Locks a person of the team until the transaction ends.
    async fn lock_person(&self, tx: &mut Tx, user: UserId) -> Result<Option<Snapshot>> {
        if !lock_member(tx, self.team, user).await? {
            return Ok(None);
        }
        let member = members::snapshot(tx, self.team, user).await?;
        Ok(member.filter(|member| member.object.kind == ObjectKind::Person))
    }

    async fn record_departure(
        &self,
        tx: &mut Tx,
        person: &Departed,
        by: &AuditContext,
    ) -> Result<()> {
        let action = if by.is(person.user) { Action::MemberLeave } else { Action::MemberRemove };
        let entry = NewEntry::new(action, person.member.object.clone(), Vec::new());
        self.store.write_entry(tx, &by.in_team(self.team), &entry).await
    }

    /// Deletes the team with its data and its audit log: nobody sees them any more, and
    /// `Store::delete_part` and `Store::erase_part` delete the rows. The log of the installation
    /// keeps the last hash.
    async fn delete_team(&self, tx: &mut Tx, by: &AuditContext) -> Result<()> {
        let head = chain::head(tx, self.team).await?;
        hide_team(tx, self.team, by.at()).await?;
        let head = Change::new("head", Some(head.to_string().into()), None);
        let team = Object::new(ObjectKind::Team, &self.team, "");
        let entry = NewEntry::new(Action::TeamRemove, team, vec![head]);
        self.store.write_installation_entry(tx, by, &entry).await
    }
}

impl Store {
    /// Deletes an account and its memberships in all teams; teams without other people are
    /// deleted too. Fails with `StoreError::Gone` if the caller's credential is no longer
    /// valid; the administration may delete the last owner of a team.
    #[expect(clippy::disallowed_methods, reason = "every team of the person")]
    pub async fn delete_account(
        &self,
        user: UserId,
        deleter: Deleter<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<MemberOutcome> {
        use wakeful_core::access::TeamAccess;

        let mut tx = match deleter {
            Deleter::Holder(_) => self.begin().await?,
            Deleter::Administration(who, _) => self.begin_administration(who).await?,
        };
        let listed = teams_of(&mut tx, user).await?;
        for team in &listed {
            lock_team(&mut tx, *team, now).await?;
        }
        match deleter {
            Deleter::Holder(caller) => credentials::confirm(&mut tx, caller).await?,
            Deleter::Administration(who, _) => {
                admin::confirm(&mut tx, who).await?;
                credentials::lock_user(&mut tx, user).await?;
                if matches!(who, AdminAuthority::Admin(_))
                    && admin::is_last_admin(&mut tx, user).await?
                {
                    return Ok(MemberOutcome::LastAdmin);
                }
            }
        }
        if teams_of(&mut tx, user).await? != listed {
            // The person has joined or left a team meanwhile.
            return Err(StoreError::Gone);
        }
        let teams: Vec<TeamStore<'_>> =
            listed.iter().map(|team| self.team(&TeamAccess::whole(*team))).collect();
        let mut departed = Vec::new();
        for team in &teams {
            self.remove_account_notifier(&mut tx, team.team, user, now).await?;
            leave_schedules(&mut tx, team.team, user, now).await?;
            match members::snapshot(&mut tx, team.team, user).await? {
                Some(member) => departed.push(Departed { user, member, account_deleted: true }),
                None => return Ok(MemberOutcome::NoUser),
            }
        }
        if teams.is_empty() {
            return Ok(MemberOutcome::NoUser);
        }
        delete_account(&mut tx, user).await?;
        for (team, person) in teams.iter().zip(&departed) {
            if count_people(&mut tx, team.team).await? == 0 {
                team.delete_team(&mut tx, by).await?;
            } else if matches!(deleter, Deleter::Holder(_))
                && members::lacks_owner(&mut tx, team.team).await?
            {
                return Ok(MemberOutcome::LastOwner);
            } else {
                team.record_departure(&mut tx, person, by).await?;
            }
        }
        if let Deleter::Administration(_, mails) = deleter {
            self.queue_mails(&mut tx, mails, by).await?;
            let person = Object::new(ObjectKind::Person, &user, "");
            let entry = NewEntry::new(Action::AdminDelete, person, Vec::new());
            self.write_installation_entry(&mut tx, by, &entry).await?;
        }
        erasure::erase(&mut tx, user).await?;
        tx.commit().await?;
        Ok(MemberOutcome::Done)
    }
}

/// Whether a team may change the address and the password of an account, or delete it: it has
/// created the account, and the person is in no other team.
pub(crate) async fn is_managed(tx: &mut Tx, team: TeamId, user: UserId) -> Result<bool> {
    let managed: i64 = within!(*tx, |db| {
        sqlx::query_scalar(
            "select count(*) from users
             where id = $2 and managed_by = $1
             and not exists (select 1 from members m where m.user_id = $2 and m.team_id <> $1)",
        )
        .bind(team.uuid())
        .bind(user.uuid())
        .fetch_one(db)
        .await
    })?;
    Ok(managed == 1)
}

/// The team that a person who leaves this one acts in next, preferably one in which they are not
/// suspended.
async fn other_team(tx: &mut Tx, team: TeamId, user: UserId) -> Result<Option<TeamId>> {
    let other: Option<Uuid> = within!(*tx, |db| {
        sqlx::query_scalar(
            "select team_id from members
             where user_id = $2 and team_id <> $1
             order by case when suspended_at is null then 0 else 1 end, created, team_id
             limit 1",
        )
        .bind(team.uuid())
        .bind(user.uuid())
        .fetch_optional(db)
        .await
    })?;
    Ok(other.map(TeamId::from))
}

/// The teams of a person, in the order in which they are locked.
pub(crate) async fn teams_of(tx: &mut Tx, user: UserId) -> Result<Vec<TeamId>> {
    let teams: Vec<Uuid> = within!(*tx, |db| {
        sqlx::query_scalar("select team_id from members where user_id = $1 order by team_id")
            .bind(user.uuid())
            .fetch_all(db)
            .await
    })?;
    Ok(teams.into_iter().map(TeamId::from).collect())
}

/// The people of a team.
pub(crate) async fn people(tx: &mut Tx, team: TeamId) -> Result<Vec<UserId>> {
    let people: Vec<Uuid> = within!(*tx, |db| {
        sqlx::query_scalar(
            "select m.user_id from members m join users u on u.id = m.user_id
             where m.team_id = $1 and u.kind = 'person'
             order by m.user_id",
        )
        .bind(team.uuid())
        .fetch_all(db)
        .await
    })?;
    Ok(people.into_iter().map(UserId::from).collect())
}

/// A new team that only this person is in.
async fn own_team(tx: &mut Tx, user: UserId, now: Millis) -> Result<TeamId> {
    let mut random = [0; 10];
    keyring::fill(&mut random);
    let team = TeamId::new(now, random);
    let (name, email): (String, String) = within!(*tx, |db| {
        sqlx::query_as("select name, email from users where id = $1")
            .bind(user.uuid())
            .fetch_one(db)
            .await
    })?;
    let email = EmailAddress::parse(&email).map_err(|_| StoreError::Damaged("users"))?;
    teams::insert(tx, team, &default_team_name(&name, &email), now).await?;
    teams::add_owner(tx, team, user, now).await?;
    Ok(team)
}

async fn delete_account(tx: &mut Tx, user: UserId) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query("delete from users where id = $1").bind(user.uuid()).execute(db).await?;
    });
    Ok(())
}
