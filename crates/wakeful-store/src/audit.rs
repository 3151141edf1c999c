//! The audit log. An entry is written in the transaction of the change it records, last, so
//! that the lock on the head of the chain is held only briefly and no two transactions wait for
//! each other.

pub(crate) mod chain;
pub(crate) mod erasure;
pub(crate) mod log;
pub(crate) mod streams;

use std::fmt;
use std::sync::Arc;
use uuid::Uuid;
use wakeful_core::audit::{
    Action, Actor, ActorKind, Change, Object, Origin, Reference, View, bounded, diff,
};
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::time::Millis;

use crate::accounts::{credentials, leaving};
use crate::dialect::Tx;
use crate::{Result, Store};

/// The field of `member.join` that names the accepted invitation.
pub(crate) const INVITATION_FIELD: &str = "invitation";

/// The audit log of the process: where entries are written after their transaction, in addition
/// to the database.
#[derive(Clone)]
pub struct AuditLog(Arc<dyn Fn(&str) + Send + Sync>);

impl AuditLog {
    /// `write` gets each entry as a line of JSON.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    pub(crate) fn write(&self, line: &str) {
        (self.0)(line);
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditLog")
    }
}

/// Who makes a change in a team, from where and when. Only `engine/caller.rs` creates one, so
/// that no change can be written without saying who made it.
#[derive(Clone, Debug)]
pub struct AuditContext {
    team: TeamId,
    actor: Actor,
    origin: Origin,
    at: Millis,
}

impl AuditContext {
    pub fn new(team: TeamId, actor: Actor, origin: Origin, at: Millis) -> Self {
        Self { team, actor, origin, at }
    }

    /// Changes that nobody asked for, such as sample data; in the chain of the installation.
    pub fn of_system(at: Millis) -> Self {
        let actor = Actor {
            kind: ActorKind::System,
            id: String::new(),
            name: String::new(),
            via: Reference::default(),
        };
        Self { team: Uuid::nil().into(), actor, origin: Origin::default(), at }
    }

    /// The same change in the chain of another team.
    #[must_use]
    pub(crate) fn in_team(&self, team: TeamId) -> Self {
        Self { team, ..self.clone() }
    }

    pub fn at(&self) -> Millis {
        self.at
    }

    /// The same change in the chain of the installation, which is that of no team.
    #[must_use]
    pub fn in_installation(&self) -> Self {
        self.in_team(Uuid::nil().into())
    }

    /// Whether this user makes the change.
    pub(crate) fn is(&self, user: UserId) -> bool {
        self.actor.id == user.to_string()
    }
}

/// What an entry says about a change.
#[derive(Clone, Debug)]
pub struct NewEntry {
    pub action: Action,
    pub object: Object,
    pub changes: Vec<Change>,
}

impl NewEntry {
    pub fn new(action: Action, object: Object, changes: Vec<Change>) -> Self {
        Self { action, object, changes: bounded(changes) }
    }
}

/// The entry about the difference between two snapshots of an object; `None` if there is neither.
pub(crate) fn change(
    action: Action,
    before: Option<Snapshot>,
    after: Option<Snapshot>,
) -> Option<NewEntry> {
    let views = [&before, &after].map(|of| of.as_ref().map(|snapshot| &snapshot.view));
    let changes = diff(views[0], views[1]);
    let Snapshot { object, .. } = after.or(before)?;
    Some(NewEntry::new(action, object, changes))
}

/// An object as the audit log shows it, before or after a change.
pub(crate) struct Snapshot {
    pub(crate) object: Object,
    pub(crate) view: View,
}

impl Store {
    /// Writes an entry in the transaction of its change.
    pub(crate) async fn write_entry(
        &self,
        tx: &mut Tx,
        by: &AuditContext,
        new: &NewEntry,
    ) -> Result<()> {
        self.append_to(tx, by.team.uuid(), by, new).await
    }

    /// Writes an entry about a person in the chain of each of their teams.
    pub(crate) async fn write_entry_in_teams(
        &self,
        tx: &mut Tx,
        by: &AuditContext,
        user: UserId,
        new: &NewEntry,
    ) -> Result<()> {
        for team in leaving::teams_of(tx, user).await? {
            self.write_entry(tx, &by.in_team(team), new).await?;
        }
        Ok(())
    }

    /// Records the difference between two snapshots of an object; `None` if it did not or does
    /// not exist.
    pub(crate) async fn write_change(
        &self,
        tx: &mut Tx,
        by: &AuditContext,
        action: Action,
        before: Option<Snapshot>,
        after: Option<Snapshot>,
    ) -> Result<()> {
        match change(action, before, after) {
            Some(entry) => self.write_entry(tx, by, &entry).await,
            None => Ok(()),
        }
    }

    /// Writes an entry in the chain of the installation, which is that of no team.
    pub(crate) async fn write_installation_entry(
        &self,
        tx: &mut Tx,
        by: &AuditContext,
        new: &NewEntry,
    ) -> Result<()> {
        self.append_to(tx, Uuid::nil(), by, new).await
    }

    /// Writes an entry of its own, for what changes nothing else.
    pub async fn write_single_entry(&self, by: &AuditContext, new: &NewEntry) -> Result<()> {
        let mut tx = self.begin().await?;
        self.write_entry(&mut tx, by, new).await?;
        tx.commit().await
    }

    /// Writes an entry about a person, unless the account was deleted meanwhile.
    pub async fn write_entry_about(
        &self,
        user: UserId,
        by: &AuditContext,
        new: &NewEntry,
    ) -> Result<()> {
        let mut tx = self.begin().await?;
        if !credentials::lock_user(&mut tx, user).await? {
            return Ok(());
        }
        self.write_entry(&mut tx, by, new).await?;
        tx.commit().await
    }
}
