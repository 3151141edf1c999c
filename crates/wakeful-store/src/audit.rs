//! The audit log. An entry is written in the transaction of the change it records, last, so
//! that the lock on the head of the chain is held only briefly and no two transactions wait for
//! each other.

use uuid::Uuid;
use wakeful_core::audit::{
    Action, Actor, Broken, Change, Entry, Hash, Object, ObjectKind, Origin, Person, Reference,
    Verifier, entry_hash, person_hash,
};
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::time::Millis;

use crate::dialect::{Tx, from_row, read, within};
use crate::keyring::{self, Keyring};
use crate::{Result, Store, TeamStore};

/// How many entries are read at a time for a verification.
const VERIFY_BATCH: i64 = 1_000;

/// Who makes a change, and from where. Only `Caller` in the engine creates one.
#[derive(Clone, Debug)]
pub struct AuditContext {
    pub chain: TeamId,
    pub actor: Actor,
    /// The email address of a person, or the name of a service account.
    pub actor_name: String,
    pub via: Reference,
    pub origin: Origin,
    /// The id of the request.
    pub request: String,
}

/// An entry to write.
#[derive(Clone, Debug)]
pub struct NewEntry<'a> {
    pub context: &'a AuditContext,
    pub action: Action,
    pub object: Object,
    pub changes: Vec<Change>,
}

impl AuditContext {
    pub fn entry(&self, action: Action, object: Object, changes: Vec<Change>) -> NewEntry<'_> {
        NewEntry { context: self, action, object, changes }
    }
}

/// An entry with its hash.
#[derive(Clone, Debug)]
pub struct StoredEntry {
    pub entry: Entry,
    pub hash: Hash,
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
    }
});

/// The head of a chain.
struct Head {
    seq: i64,
    hash: Hash,
    seal: Option<Vec<u8>>,
    first_seq: i64,
    first_prev: Hash,
}

from_row!(Head, |row| Self {
    seq: row.try_get("seq")?,
    hash: read_hash(&row.try_get::<Vec<u8>, _>("hash")?)?,
    seal: row.try_get("seal")?,
    first_seq: row.try_get("first_seq")?,
    first_prev: read_hash(&row.try_get::<Vec<u8>, _>("first_prev")?)?,
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

/// The result of a verification.
#[derive(Clone, Debug)]
pub struct AuditVerification {
    pub entries: i64,
    pub first: i64,
    pub head: Hash,
    pub broken: Option<Broken>,
}

/// Writes an entry in the transaction of its change.
pub(crate) async fn append(
    tx: &mut Tx,
    keyring: &Keyring,
    new: &NewEntry<'_>,
    now: Millis,
) -> Result<()> {
    let chain = new.context.chain;
    let (seq, previous): (i64, Vec<u8>) = within!(*tx, |db| {
        sqlx::query_as(
            "insert into audit_heads (id, seq, hash, first_seq, first_prev)
             values ($1, 1, $2, 1, $2)
             on conflict (id) do update set seq = audit_heads.seq + 1
             returning seq, hash",
        )
        .bind(chain.uuid())
        .bind(&Hash::ZERO.0[..])
        .fetch_one(db)
        .await
    })?;
    let entry = finished(new, seq, now);
    let hash = entry_hash(&read_hash(&previous)?, &entry);
    insert(tx, chain, &entry, &hash).await?;
    let seal = keyring.seal(&seal_context(chain), &sealed_part(seq, &hash));
    within!(*tx, |db| {
        sqlx::query("update audit_heads set hash = $2, seal = $3 where id = $1")
            .bind(chain.uuid())
            .bind(&hash.0[..])
            .bind(&seal[..])
            .execute(db)
            .await?;
    });
    Ok(())
}

/// The entry with its place in the chain and its personal part.
fn finished(new: &NewEntry<'_>, seq: i64, now: Millis) -> Entry {
    let NewEntry { context, action, object, changes } = new;
    let of_person = object.kind == ObjectKind::Person;
    let person = Person {
        actor: context.actor_name.clone(),
        address: context.origin.address.clone(),
        agent: context.origin.agent.clone(),
        object: of_person.then(|| object.name.clone()),
        changes: if of_person { changes.clone() } else { Vec::new() },
    };
    let (text, mut salt) = (person.canonical(), [0; 16]);
    keyring::fill(&mut salt);
    Entry {
        seq,
        at: now,
        action: action.as_str().to_owned(),
        actor_kind: context.actor.kind.as_str().to_owned(),
        actor_id: context.actor.id.clone(),
        via: context.via.clone(),
        object_kind: object.kind.as_str().to_owned(),
        object_id: object.id.clone(),
        object_name: if of_person { String::new() } else { object.name.clone() },
        request: context.request.clone(),
        changes: if of_person { Vec::new() } else { changes.clone() },
        person_hash: person_hash(&salt, &text),
        person: Some((text, salt)),
    }
}

async fn insert(tx: &mut Tx, chain: TeamId, entry: &Entry, hash: &Hash) -> Result<()> {
    let changes = serde_json::to_string(&entry.changes).expect("changes are plain data");
    within!(*tx, |db| {
        sqlx::query(
            "insert into audit
             (chain, seq, at, action, actor_kind, actor_id, via_kind, via_id, object_kind,
              object_id, object_name, request, changes, person, salt, person_hash, hash)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
        )
        .bind(chain.uuid())
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

/// Erases what identifies a user in all entries; their hashes remain valid.
pub(crate) async fn erase(tx: &mut Tx, user: UserId) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "update audit set person = null, salt = null
             where (actor_id = $1 or object_id = $1) and person is not null",
        )
        .bind(user.to_string())
        .execute(db)
        .await?;
    });
    Ok(())
}

impl TeamStore<'_> {
    /// A page of the team's audit log, newest first.
    pub async fn audit(&self, query: &AuditQuery, limit: u32) -> Result<Vec<StoredEntry>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(
                "select * from audit
                 where chain = $1
                 and ($2 is null or seq < $2)
                 and ($3 is null or at >= $3)
                 and ($4 is null or at < $4)
                 and ($5 is null or actor_id = $5)
                 and ($6 is null or action = $6 or action like $6 || '.%')
                 and ($7 is null or object_id = $7)
                 and ($8 is null or lower(object_name) like $8 escape '\\'
                      or lower(person) like $8 escape '\\')
                 order by seq desc
                 limit $9",
            )
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
            sqlx::query_as(
                "select * from audit
                 where chain = $1 and seq >= $2
                 and ($3 is null or at >= $3) and ($4 is null or at < $4)
                 order by seq
                 limit $5",
            )
            .bind(self.team.uuid())
            .bind(seq)
            .bind(from.map(|at| at.0))
            .bind(to.map(|at| at.0))
            .bind(limit)
            .fetch_all(db)
            .await
        })?)
    }

    /// Verifies all entries of the team against each other and against the sealed head. An
    /// entry that is added meanwhile is not looked at.
    pub async fn verify_audit(&self) -> Result<AuditVerification> {
        let Some(head) = self.audit_head().await? else {
            return Ok(AuditVerification { entries: 0, first: 1, head: Hash::ZERO, broken: None });
        };
        let mut verification = AuditVerification {
            entries: head.seq - head.first_seq + 1,
            first: head.first_seq,
            head: head.hash,
            broken: None,
        };
        let mut verifier = Verifier::new(head.first_seq, head.first_prev);
        let mut next = head.first_seq;
        while next <= head.seq {
            let limit = VERIFY_BATCH.min(head.seq - next + 1);
            let entries = self.audit_from(next, None, None, limit).await?;
            if entries.is_empty() {
                break;
            }
            for stored in &entries {
                if let Err(broken) = verifier.check(&stored.entry, &stored.hash) {
                    verification.broken = Some(broken);
                    return Ok(verification);
                }
            }
            next += i64::try_from(entries.len()).unwrap_or(i64::MAX);
        }
        verification.broken = verifier.finish(head.seq, &head.hash).err();
        if verification.broken.is_none() && !self.is_sealed(&head) {
            verification.broken = Some(Broken { seq: head.seq });
        }
        Ok(verification)
    }

    fn is_sealed(&self, head: &Head) -> bool {
        let context = seal_context(self.team);
        let opened = head.seal.as_ref().and_then(|seal| self.store.keyring.open(&context, seal));
        opened.is_some_and(|opened| **opened == sealed_part(head.seq, &head.hash)[..])
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

    /// Writes an entry of its own, for what changes nothing else.
    pub async fn record_audit(&self, entry: &NewEntry<'_>, now: Millis) -> Result<()> {
        let mut tx = self.store.begin().await?;
        append(&mut tx, &self.store.keyring, entry, now).await?;
        tx.commit().await
    }
}

impl Store {
    /// Deletes entries from before this time, chain by chain; returns how many.
    pub async fn prune_audit(&self, oldest: Millis) -> Result<u64> {
        let chains: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar("select distinct chain from audit where at < $1")
                .bind(oldest.0)
                .fetch_all(db)
                .await
        })?;
        let mut deleted = 0;
        for chain in chains {
            deleted += self.prune_chain(chain, oldest).await?;
        }
        Ok(deleted)
    }

    /// The clock may have been set back, so the first entry to keep is the first one that is
    /// young enough.
    async fn prune_chain(&self, chain: Uuid, oldest: Millis) -> Result<u64> {
        let mut tx = self.begin().await?;
        let deleted = within!(tx, |db| {
            let last: Option<(i64, Vec<u8>)> = sqlx::query_as(
                "select seq, hash from audit
                 where chain = $1
                 and seq < coalesce((select min(seq) from audit where chain = $1 and at >= $2),
                                    (select max(seq) + 1 from audit where chain = $1))
                 order by seq desc
                 limit 1",
            )
            .bind(chain)
            .bind(oldest.0)
            .fetch_optional(&mut *db)
            .await?;
            let Some((seq, hash)) = last else { return Ok(0) };
            sqlx::query("update audit_heads set first_seq = $2, first_prev = $3 where id = $1")
                .bind(chain)
                .bind(seq + 1)
                .bind(hash)
                .execute(&mut *db)
                .await?;
            sqlx::query("delete from audit where chain = $1 and seq <= $2")
                .bind(chain)
                .bind(seq)
                .execute(&mut *db)
                .await
                .map(|done| done.rows_affected())
        })?;
        tx.commit().await?;
        Ok(deleted)
    }
}

/// A pattern for texts that contain this one.
fn pattern(text: &str) -> String {
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

fn seal_context(chain: TeamId) -> String {
    format!("audit_heads.seal:{chain}")
}

fn sealed_part(seq: i64, hash: &Hash) -> Vec<u8> {
    [&seq.to_be_bytes()[..], &hash.0[..]].concat()
}

fn read_hash(bytes: &[u8]) -> sqlx::Result<Hash> {
    let bytes = bytes.try_into().map_err(|_| sqlx::Error::Decode("not a hash".into()))?;
    Ok(Hash(bytes))
}

fn read_changes(text: &str) -> sqlx::Result<Vec<Change>> {
    serde_json::from_str(text).map_err(|error| sqlx::Error::Decode(error.into()))
}
