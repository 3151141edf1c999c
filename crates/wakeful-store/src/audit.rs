//! The audit log. An entry is written in the transaction of the change it records, last, so
//! that the lock on the head of the chain is held only briefly and no two transactions wait for
//! each other.

pub(crate) mod streams;

use serde_json::json;
use std::fmt;
use std::sync::Arc;
use uuid::Uuid;
use wakeful_core::audit::{
    Action, Actor, ActorKind, Broken, Change, Entry, Hash, Object, ObjectKind, Origin, Person,
    Reference, Verifier, View, diff, entry_hash, person_hash,
};
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::time::Millis;

use crate::accounts::{credentials, leaving};
use crate::dialect::{Tx, either, from_row, read, within, write, write_lazily};
use crate::keyring::{self, Keyring};
use crate::notifications::deliveries::Bound;
use crate::{Result, Store, TeamStore};

/// How many entries are read at a time for a verification.
const VERIFY_BATCH: i64 = 1_000;
/// How many entries are erased at a time.
const ERASE_BATCH: i64 = 500;

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

    pub(crate) fn at(&self) -> Millis {
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
        Self { action, object, changes }
    }
}

/// An object as the audit log shows it, before or after a change.
pub(crate) struct Snapshot {
    pub(crate) object: Object,
    pub(crate) view: View,
}

/// An entry with its hash.
#[derive(Clone, Debug)]
pub struct StoredEntry {
    pub entry: Entry,
    pub hash: Hash,
    /// The address of the actor, if the personal part was erased with another person's account.
    pub actor: Option<String>,
}

from_row!(StoredEntry, |row| {
    let person: Option<String> = row.try_get("person")?;
    let salt: Option<Vec<u8>> = row.try_get("salt")?;
    let salt = salt.and_then(|salt| salt.try_into().ok());
    Self {
        entry: Entry {
            seq: row.try_get("seq")?,
            at: Millis(row.try_get("at")?),
            action: row.try_get("action")?,
            actor_kind: row.try_get("actor_kind")?,
            actor_id: row.try_get("actor_id")?,
            via: Reference { kind: row.try_get("via_kind")?, id: row.try_get("via_id")? },
            object_kind: row.try_get("object_kind")?,
            object_id: row.try_get("object_id")?,
            object_name: row.try_get("object_name")?,
            request: row.try_get("request")?,
            changes: read_changes(&row.try_get::<String, _>("changes")?)?,
            person: person.zip(salt),
            person_hash: read_hash(&row.try_get::<Vec<u8>, _>("person_hash")?)?,
        },
        hash: read_hash(&row.try_get::<Vec<u8>, _>("hash")?)?,
        actor: row.try_get("actor")?,
    }
});

/// Reads entries. Those about a person who was deleted have lost what they said about the
/// actor; if the actor still has an account, its address is known.
macro_rules! select_entries {
    ($actor:literal, $rest:literal) => {
        concat!(
            "select a.*, case when a.person is null and a.actor_kind = 'person' then (",
            $actor,
            ") end as actor from audit a ",
            $rest
        )
    };
}

/// The same with the differences between the databases: an id is a text in an entry.
macro_rules! entries_sql {
    ($store:expr, $rest:literal) => {
        either!(
            $store,
            sqlite: select_entries!(
                "select u.email from users u where u.id = unhex(replace(a.actor_id, '-', ''))",
                $rest
            ),
            postgres: select_entries!(
                "select u.email from users u where u.id = cast(nullif(a.actor_id, '') as uuid)",
                $rest
            )
        )
    };
}

/// The head of a chain.
#[derive(Clone)]
struct Head {
    seq: i64,
    hash: Hash,
    seal: Option<Vec<u8>>,
    first_seq: i64,
    first_prev: Hash,
}

impl Head {
    /// Both ends of the chain.
    fn sealed_part(&self) -> Vec<u8> {
        [
            &self.seq.to_be_bytes()[..],
            &self.hash.0[..],
            &self.first_seq.to_be_bytes()[..],
            &self.first_prev.0[..],
        ]
        .concat()
    }

    fn is_sealed(&self, keyring: &Keyring, chain: Uuid) -> bool {
        let opened = self.seal.as_ref().and_then(|seal| keyring.open(&seal_context(chain), seal));
        opened.is_some_and(|opened| **opened == self.sealed_part()[..])
    }
}

from_row!(Head, |row| Self {
    seq: row.try_get("seq")?,
    hash: read_hash(&row.try_get::<Vec<u8>, _>("hash")?)?,
    seal: row.try_get("seal")?,
    first_seq: row.try_get("first_seq")?,
    first_prev: read_hash(&row.try_get::<Vec<u8>, _>("first_prev")?)?,
});

/// The newest entry of a chain.
#[derive(Clone, Debug)]
pub struct ChainHead {
    /// `None` for the chain of the installation.
    pub team: Option<TeamId>,
    pub seq: i64,
    pub hash: Hash,
}

from_row!(ChainHead, |row| Self {
    team: team_of(row.try_get("id")?),
    seq: row.try_get("seq")?,
    hash: read_hash(&row.try_get::<Vec<u8>, _>("hash")?)?,
});

/// Which entries to list, newest first.
#[derive(Clone, Debug, Default)]
pub struct AuditQuery {
    pub from: Option<Millis>,
    pub to: Option<Millis>,
    pub actor: Option<String>,
    /// An action, or the part before its dot.
    pub action: Option<String>,
    pub object: Option<String>,
    /// Part of a name.
    pub text: Option<String>,
    /// Only entries before this one.
    pub before: Option<i64>,
}

/// A verification that is in progress.
pub struct AuditCheck {
    head: Option<Head>,
    verifier: Verifier,
    next: i64,
}

impl AuditCheck {
    fn result(&self, broken: Option<Broken>) -> AuditVerification {
        match &self.head {
            None => AuditVerification { entries: 0, first: 1, head: Hash::ZERO, broken },
            Some(head) => AuditVerification {
                entries: head.seq - head.first_seq + 1,
                first: head.first_seq,
                head: head.hash,
                broken,
            },
        }
    }
}

/// The result of a verification.
#[derive(Clone, Debug)]
pub struct AuditVerification {
    pub entries: i64,
    pub first: i64,
    pub head: Hash,
    pub broken: Option<Broken>,
}

async fn append_to(
    tx: &mut Tx,
    keyring: &Keyring,
    chain: Uuid,
    by: &AuditContext,
    new: &NewEntry,
) -> Result<()> {
    // Locks the head, so that the writers of a chain take turns.
    let mut head: Head = within!(*tx, |db| {
        sqlx::query_as(
            "insert into audit_heads (id, seq, hash, first_seq, first_prev)
             values ($1, 1, $2, 1, $2)
             on conflict (id) do update set seq = audit_heads.seq + 1
             returning seq, hash, seal, first_seq, first_prev",
        )
        .bind(chain)
        .bind(&Hash::ZERO.0[..])
        .fetch_one(db)
        .await
    })?;
    let before = Head { seq: head.seq - 1, ..head.clone() };
    let intact = before.seq == 0 || before.is_sealed(keyring, chain);
    let entry = finished(by, new, head.seq);
    head.hash = entry_hash(&head.hash, &entry);
    insert(tx, chain, &entry, &head.hash).await?;
    save_head(tx, keyring, chain, &head, intact).await?;
    tx.log_entry(|| log_line(chain, &entry, &head.hash));
    Ok(())
}

/// An entry as a line of the process log.
fn log_line(chain: Uuid, entry: &Entry, hash: &Hash) -> String {
    let mut line = entry.exported_with_team(team_of(chain), hash);
    line["timestamp"] = json!(entry.at);
    line["level"] = json!("INFO");
    line["target"] = json!("audit");
    line.to_string()
}

/// The team of a chain; `None` for that of the installation.
fn team_of(chain: Uuid) -> Option<TeamId> {
    (!chain.is_nil()).then(|| chain.into())
}

/// Writes a head with a new seal. A chain whose previous seal was broken stays without one:
/// otherwise the next entry would vouch for what was changed in the database.
async fn save_head(
    tx: &mut Tx,
    keyring: &Keyring,
    chain: Uuid,
    head: &Head,
    intact: bool,
) -> Result<()> {
    let seal = intact.then(|| keyring.seal(&seal_context(chain), &head.sealed_part()));
    within!(*tx, |db| {
        sqlx::query(
            "update audit_heads set hash = $2, seal = $3, first_seq = $4, first_prev = $5
             where id = $1",
        )
        .bind(chain)
        .bind(&head.hash.0[..])
        .bind(seal.as_deref())
        .bind(head.first_seq)
        .bind(&head.first_prev.0[..])
        .execute(db)
        .await?;
    });
    Ok(())
}

/// The entry with its place in the chain and its personal part.
fn finished(by: &AuditContext, new: &NewEntry, seq: i64) -> Entry {
    let AuditContext { actor, origin, at, .. } = by;
    let NewEntry { action, object, changes } = new;
    let of_person = ObjectKind::PERSONAL.contains(&object.kind);
    let person = Person {
        actor: actor.name.clone(),
        address: origin.address.clone(),
        agent: origin.agent.clone(),
        object: of_person.then(|| object.name.clone()),
        changes: if of_person { changes.clone() } else { Vec::new() },
    };
    let (text, mut salt) = (person.canonical(), [0; 16]);
    keyring::fill(&mut salt);
    Entry {
        seq,
        at: *at,
        action: action.as_str().to_owned(),
        actor_kind: actor.kind.as_str().to_owned(),
        actor_id: actor.id.clone(),
        via: actor.via.clone(),
        object_kind: object.kind.as_str().to_owned(),
        object_id: object.id.clone(),
        object_name: if of_person { String::new() } else { object.name.clone() },
        request: origin.request.clone(),
        changes: if of_person { Vec::new() } else { changes.clone() },
        person_hash: person_hash(&salt, &text),
        person: Some((text, salt)),
    }
}

async fn insert(tx: &mut Tx, chain: Uuid, entry: &Entry, hash: &Hash) -> Result<()> {
    let changes = serde_json::to_string(&entry.changes).expect("changes are plain data");
    within!(*tx, |db| {
        sqlx::query(
            "insert into audit
             (chain, seq, at, action, actor_kind, actor_id, via_kind, via_id, object_kind,
              object_id, object_name, request, changes, person, salt, person_hash, hash)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
        )
        .bind(chain)
        .bind(entry.seq)
        .bind(entry.at.0)
        .bind(entry.action.as_str())
        .bind(entry.actor_kind.as_str())
        .bind(entry.actor_id.as_str())
        .bind(entry.via.kind.as_str())
        .bind(entry.via.id.as_str())
        .bind(entry.object_kind.as_str())
        .bind(entry.object_id.as_str())
        .bind(entry.object_name.as_str())
        .bind(entry.request.as_str())
        .bind(changes)
        .bind(entry.person.as_ref().map(|(text, _)| text.as_str()))
        .bind(entry.person.as_ref().map(|(_, salt)| &salt[..]))
        .bind(&entry.person_hash.0[..])
        .bind(&hash.0[..])
        .execute(db)
        .await?;
    });
    Ok(())
}

/// The last hash of a team's chain.
pub(crate) async fn head(tx: &mut Tx, team: TeamId) -> Result<Hash> {
    let hash: Option<Vec<u8>> = within!(*tx, |db| {
        sqlx::query_scalar("select hash from audit_heads where id = $1")
            .bind(team.uuid())
            .fetch_optional(db)
            .await
    })?;
    Ok(hash.map(|hash| read_hash(&hash)).transpose()?.unwrap_or(Hash::ZERO))
}

/// Has what identifies a user erased from all entries; their hashes remain valid. It may be a lot
/// of entries, so that is done in parts after the transaction, by `erase_part`.
pub(crate) async fn erase(tx: &mut Tx, user: UserId) -> Result<()> {
    let joined: Vec<String> = within!(*tx, |db| {
        sqlx::query_scalar(
            "select person from audit
             where object_id = $1 and action = $2 and person is not null",
        )
        .bind(user.to_string())
        .bind(Action::MemberJoin.as_str())
        .fetch_all(db)
        .await
    })?;
    let invitations = joined.iter().filter_map(|person| accepted_invitation(person));
    for id in std::iter::once(user.to_string()).chain(invitations) {
        within!(*tx, |db| {
            sqlx::query("insert into audit_erasures (id) values ($1) on conflict do nothing")
                .bind(id)
                .execute(db)
                .await?;
        });
    }
    Ok(())
}

/// The invitation by which a person has joined a team.
fn accepted_invitation(person: &str) -> Option<String> {
    let person: Person = serde_json::from_str(person).ok()?;
    let change = person.changes.into_iter().find(|change| change.field == INVITATION_FIELD)?;
    Some(change.to?.as_str()?.to_owned())
}

impl TeamStore<'_> {
    /// A page of the team's audit log, newest first.
    pub async fn audit(&self, query: &AuditQuery, limit: u32) -> Result<Vec<StoredEntry>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(entries_sql!(
                self.store,
                "where chain = $1
                 and ($2 is null or seq < $2)
                 and ($3 is null or at >= $3)
                 and ($4 is null or at < $4)
                 and ($5 is null or actor_id = $5)
                 and ($6 is null or action = $6 or substr(action, 1, length($6) + 1) = $6 || '.')
                 and ($7 is null or object_id = $7)
                 and ($8 is null or lower(object_name) like $8 escape '\\'
                      or lower(person) like $8 escape '\\')
                 order by seq desc
                 limit $9"
            ))
            .bind(self.team.uuid())
            .bind(query.before)
            .bind(query.from.map(|at| at.0))
            .bind(query.to.map(|at| at.0))
            .bind(query.actor.as_deref())
            .bind(query.action.as_deref())
            .bind(query.object.as_deref())
            .bind(query.text.as_deref().map(pattern))
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?)
    }

    /// The entries from `seq` on, oldest first.
    pub async fn audit_from(
        &self,
        seq: i64,
        from: Option<Millis>,
        to: Option<Millis>,
        limit: i64,
    ) -> Result<Vec<StoredEntry>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(entries_sql!(
                self.store,
                "where chain = $1 and seq >= $2
                 and ($3 is null or at >= $3) and ($4 is null or at < $4)
                 order by seq
                 limit $5"
            ))
            .bind(self.team.uuid())
            .bind(seq)
            .bind(from.map(|at| at.0))
            .bind(to.map(|at| at.0))
            .bind(limit)
            .fetch_all(db)
            .await
        })?)
    }

    /// Begins to verify the entries of the team against each other and against the sealed head.
    /// An entry that is added meanwhile is not looked at.
    pub async fn begin_verification(&self) -> Result<AuditCheck> {
        let head = self.audit_head().await?;
        let (first, previous) = match &head {
            Some(head) => (head.first_seq, head.first_prev),
            None => (1, Hash::ZERO),
        };
        Ok(AuditCheck { head, verifier: Verifier::new(first, previous), next: first })
    }

    /// Verifies the next entries; `None` while there are more.
    pub async fn verify_part(&self, check: &mut AuditCheck) -> Result<Option<AuditVerification>> {
        let broken = match &check.head {
            None => self.first_without_head().await?.map(|seq| Broken { seq }),
            Some(head) => {
                let limit = VERIFY_BATCH.min(head.seq - check.next + 1);
                let entries = match limit {
                    1.. => self.audit_from(check.next, None, None, limit).await?,
                    _ => Vec::new(),
                };
                let wrong = entries
                    .iter()
                    .find_map(|stored| check.verifier.check(&stored.entry, &stored.hash).err());
                check.next += i64::try_from(entries.len()).unwrap_or(i64::MAX);
                if wrong.is_none() && !entries.is_empty() && check.next <= head.seq {
                    return Ok(None);
                }
                let sealed = head.is_sealed(&self.store.keyring, self.team.uuid());
                wrong
                    .or_else(|| check.verifier.finish(head.seq, &head.hash).err())
                    .or_else(|| (!sealed).then_some(Broken { seq: head.seq }))
            }
        };
        if broken.is_some() && self.has_expired(check).await? {
            *check = self.begin_verification().await?;
            return Ok(None);
        }
        Ok(Some(check.result(broken)))
    }

    /// Whether entries have expired since the verification began.
    async fn has_expired(&self, check: &AuditCheck) -> Result<bool> {
        let first = |head: &Option<Head>| head.as_ref().map(|head| head.first_seq);
        Ok(first(&self.audit_head().await?) != first(&check.head))
    }

    /// The first entry of a chain that has no head.
    async fn first_without_head(&self) -> Result<Option<i64>> {
        Ok(read!(self.store, |db| {
            sqlx::query_scalar("select min(seq) from audit where chain = $1")
                .bind(self.team.uuid())
                .fetch_one(db)
                .await
        })?)
    }

    async fn audit_head(&self) -> Result<Option<Head>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(
                "select seq, hash, seal, first_seq, first_prev from audit_heads where id = $1",
            )
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?)
    }
}

impl Store {
    /// Writes an entry in the transaction of its change.
    pub(crate) async fn write_entry(
        &self,
        tx: &mut Tx,
        by: &AuditContext,
        new: &NewEntry,
    ) -> Result<()> {
        append_to(tx, &self.keyring, by.team.uuid(), by, new).await
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
        let views = [&before, &after].map(|of| of.as_ref().map(|snapshot| &snapshot.view));
        let changes = diff(views[0], views[1]);
        match after.or(before) {
            Some(Snapshot { object, .. }) => {
                self.write_entry(tx, by, &NewEntry::new(action, object, changes)).await
            }
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
        append_to(tx, &self.keyring, Uuid::nil(), by, new).await
    }

    /// Writes an entry of its own, for what changes nothing else.
    pub async fn write_single_entry(&self, by: &AuditContext, new: &NewEntry) -> Result<()> {
        let mut tx = self.begin().await?;
        self.write_entry(&mut tx, by, new).await?;
        tx.commit().await
    }

    /// Erases a part of what was left to erase of deleted people, or deletes a part of the logs of
    /// deleted teams; true if there may be more.
    pub async fn erase_part(&self) -> Result<bool> {
        let person: Option<String> = read!(self, |db| {
            sqlx::query_scalar("select id from audit_erasures limit 1").fetch_optional(db).await
        })?;
        if let Some(id) = person {
            let erased = write!(self, |db| {
                sqlx::query(
                    "update audit set person = null, salt = null
                     where (chain, seq) in (
                         select chain, seq from audit
                         where (actor_id = $1 or object_id = $1) and person is not null
                         limit $2)",
                )
                .bind(id.as_str())
                .bind(ERASE_BATCH)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
            })?;
            return self.end_erasure("delete from audit_erasures where id = $1", id, erased).await;
        }
        let team: Option<Uuid> = read!(self, |db| {
            sqlx::query_scalar("select id from audit_graves limit 1").fetch_optional(db).await
        })?;
        let Some(id) = team else { return Ok(false) };
        let deleted = write!(self, |db| {
            sqlx::query(
                "delete from audit where (chain, seq) in (
                     select chain, seq from audit where chain = $1 limit $2)",
            )
            .bind(id)
            .bind(ERASE_BATCH)
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?;
        self.end_erasure("delete from audit_graves where id = $1", id, deleted).await
    }

    /// Notes that an erasure is complete once a part was not full.
    async fn end_erasure<T: Bound>(&self, done: &'static str, id: T, rows: u64) -> Result<bool> {
        if rows < ERASE_BATCH.cast_unsigned() {
            write!(self, |db| sqlx::query(done).bind(id).execute(db).await.map(drop))?;
        }
        Ok(true)
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

    /// The teams of all chains, that of the installation (`None`) first.
    pub async fn audit_chains(&self) -> Result<Vec<Option<TeamId>>> {
        let chains: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar("select id from audit_heads order by id").fetch_all(db).await
        })?;
        Ok(chains.into_iter().map(team_of).collect())
    }

    /// The chains with entries since their last report.
    pub async fn unreported_chains(&self) -> Result<Vec<ChainHead>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select id, seq, hash from audit_heads where seq > reported_seq order by id",
            )
            .fetch_all(db)
            .await
        })?)
    }

    /// Notes that the head of a chain was reported.
    pub async fn record_reported_chain(&self, head: &ChainHead) -> Result<()> {
        write_lazily!(self, |db| {
            sqlx::query("update audit_heads set reported_seq = $2 where id = $1")
                .bind(head.team.map_or(Uuid::nil(), TeamId::uuid))
                .bind(head.seq)
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
    }

    /// Deletes entries from before this time, and the oldest of chains that have more than
    /// `max`; returns how many.
    pub async fn prune_audit(&self, oldest: Millis, max: i64) -> Result<u64> {
        let chains: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar(
                "select distinct chain from audit where at < $1
                 union
                 select id from audit_heads where seq - first_seq >= $2",
            )
            .bind(oldest.0)
            .bind(max)
            .fetch_all(db)
            .await
        })?;
        let mut deleted = 0;
        for chain in chains {
            deleted += self.prune_chain(chain, oldest, max).await?;
        }
        Ok(deleted)
    }

    /// Deletes the beginning of a chain. The clock may have been set back, so the first entry
    /// to keep is the first one that is young enough.
    async fn prune_chain(&self, chain: Uuid, oldest: Millis, max: i64) -> Result<u64> {
        let mut tx = self.begin().await?;
        let (mut head, last): (Head, Option<(i64, Vec<u8>)>) = within!(tx, |db| {
            // Locks the head, as every writer does.
            let head: Head = sqlx::query_as(
                "update audit_heads set seq = seq where id = $1
                 returning seq, hash, seal, first_seq, first_prev",
            )
            .bind(chain)
            .fetch_one(&mut *db)
            .await?;
            let last = sqlx::query_as(
                "select seq, hash from audit
                 where chain = $1
                 and (seq <= $3
                      or seq < coalesce((select min(seq) from audit where chain = $1 and at >= $2),
                                        $3 + 1 + $4))
                 order by seq desc
                 limit 1",
            )
            .bind(chain)
            .bind(oldest.0)
            .bind(head.seq - max)
            .bind(max)
            .fetch_optional(db)
            .await?;
            (head, last)
        });
        let Some((seq, hash)) = last else { return Ok(0) };
        let intact = head.is_sealed(&self.keyring, chain);
        let deleted = within!(tx, |db| {
            sqlx::query("delete from audit where chain = $1 and seq <= $2")
                .bind(chain)
                .bind(seq)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?;
        (head.first_seq, head.first_prev) = (seq + 1, read_hash(&hash)?);
        save_head(&mut tx, &self.keyring, chain, &head, intact).await?;
        tx.commit().await?;
        Ok(deleted)
    }
}

/// A pattern for texts that contain this one.
pub(crate) fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for character in text.to_lowercase().chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

fn seal_context(chain: Uuid) -> String {
    format!("audit_heads.seal:{chain}")
}

fn read_hash(bytes: &[u8]) -> sqlx::Result<Hash> {
    let bytes = bytes.try_into().map_err(|_| sqlx::Error::Decode("not a hash".into()))?;
    Ok(Hash(bytes))
}

fn read_changes(text: &str) -> sqlx::Result<Vec<Change>> {
    serde_json::from_str(text).map_err(|error| sqlx::Error::Decode(error.into()))
}
