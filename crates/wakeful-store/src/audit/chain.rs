//! The chain of a team's entries: how they are appended, and how the oldest are deleted. The
//! head has the last hash, and the hash before the first entry, so that what is left can still
//! be verified.

use serde_json::json;
use uuid::Uuid;
use wakeful_core::audit::{Entry, Hash, ObjectKind, Person, entry_hash, person_hash};
use wakeful_core::id::TeamId;
use wakeful_core::time::Millis;

use crate::dialect::{Tx, from_row, read, within, write_lazily};
use crate::keyring::{self, Keyring};
use crate::{AuditContext, NewEntry, Result, Store};

/// How much the entries of a team may take up.
pub(crate) const MAX_CHAIN_BYTES: i64 = 128 << 20;
/// How many entries one transaction deletes.
const PRUNE_BATCH: i64 = 500;

/// The head of a chain.
#[derive(Clone)]
pub(super) struct Head {
    pub(super) seq: i64,
    pub(super) hash: Hash,
    seal: Option<Vec<u8>>,
    pub(super) first_seq: i64,
    pub(super) first_prev: Hash,
    /// How much its entries take up.
    bytes: i64,
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

    pub(super) fn is_sealed(&self, keyring: &Keyring, chain: Uuid) -> bool {
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
    bytes: row.try_get("bytes")?,
});

/// An entry that is deleted.
struct OldEntry {
    seq: i64,
    hash: Hash,
    bytes: i64,
}

from_row!(OldEntry, |row| Self {
    seq: row.try_get("seq")?,
    hash: read_hash(&row.try_get::<Vec<u8>, _>("hash")?)?,
    bytes: row.try_get("bytes")?,
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

impl Store {
    /// Appends an entry to a chain. If the chain takes up too much then, its oldest entries are
    /// deleted.
    pub(super) async fn append_to(
        &self,
        tx: &mut Tx,
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
                 returning seq, hash, seal, first_seq, first_prev, bytes",
            )
            .bind(chain)
            .bind(&Hash::ZERO.0[..])
            .fetch_one(db)
            .await
        })?;
        let before = Head { seq: head.seq - 1, ..head.clone() };
        let intact = before.seq == 0 || before.is_sealed(&self.keyring, chain);
        let entry = finished(by, new, head.seq);
        head.hash = entry_hash(&head.hash, &entry);
        head.bytes += insert(tx, chain, &entry, &head.hash).await?;
        if head.bytes > self.max_audit_bytes {
            trim(tx, chain, &mut head, self.max_audit_bytes).await?;
        }
        save_head(tx, &self.keyring, chain, &head, intact).await?;
        tx.log_entry(|| log_line(chain, &entry, &head.hash));
        Ok(())
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
            loop {
                let part = self.prune_chain(chain, oldest, max).await?;
                if part == 0 {
                    break;
                }
                deleted += part;
            }
        }
        Ok(deleted)
    }

    /// Deletes a part of the beginning of a chain. The clock may have been set back, so the first
    /// entry to keep is the first one that is young enough.
    async fn prune_chain(&self, chain: Uuid, oldest: Millis, max: i64) -> Result<u64> {
        let mut tx = self.begin().await?;
        // Locks the head, as every writer does. The chain of a deleted team has none.
        let head: Option<Head> = within!(tx, |db| {
            sqlx::query_as(
                "update audit_heads set seq = seq where id = $1
                 returning seq, hash, seal, first_seq, first_prev, bytes",
            )
            .bind(chain)
            .fetch_optional(db)
            .await
        })?;
        let Some(mut head) = head else { return Ok(0) };
        let last: Option<i64> = within!(tx, |db| {
            sqlx::query_scalar(
                "select seq from audit
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
            .await
        })?;
        let Some(last) = last else { return Ok(0) };
        let intact = head.is_sealed(&self.keyring, chain);
        let part = oldest_entries(&mut tx, chain, last).await?;
        let deleted = drop_entries(&mut tx, chain, &mut head, &part).await?;
        save_head(&mut tx, &self.keyring, chain, &head, intact).await?;
        tx.commit().await?;
        Ok(deleted)
    }
}

/// Deletes the oldest entries until the others fit, except for the newest one. Each entry that
/// is added makes room for itself, so there is little to do.
async fn trim(tx: &mut Tx, chain: Uuid, head: &mut Head, max: i64) -> Result<()> {
    let mut part = oldest_entries(tx, chain, head.seq - 1).await?;
    let mut over = head.bytes - max;
    let needed = part.iter().take_while(|entry| {
        let is_needed = over > 0;
        over -= entry.bytes;
        is_needed
    });
    let needed = needed.count();
    part.truncate(needed);
    drop_entries(tx, chain, head, &part).await?;
    Ok(())
}

/// The first entries of a chain up to this one, as many as one transaction deletes.
async fn oldest_entries(tx: &mut Tx, chain: Uuid, last: i64) -> Result<Vec<OldEntry>> {
    Ok(within!(*tx, |db| {
        sqlx::query_as(
            "select seq, hash, bytes from audit
             where chain = $1 and seq <= $2
             order by seq
             limit $3",
        )
        .bind(chain)
        .bind(last)
        .bind(PRUNE_BATCH)
        .fetch_all(db)
        .await
    })?)
}

/// Deletes the first entries of a chain; its head then begins behind them.
async fn drop_entries(tx: &mut Tx, chain: Uuid, head: &mut Head, part: &[OldEntry]) -> Result<u64> {
    let Some(last) = part.last() else { return Ok(0) };
    head.first_seq = last.seq + 1;
    head.first_prev = last.hash;
    // Nodes of an earlier version do not count.
    head.bytes = (head.bytes - part.iter().map(|entry| entry.bytes).sum::<i64>()).max(0);
    Ok(within!(*tx, |db| {
        sqlx::query("delete from audit where chain = $1 and seq <= $2")
            .bind(chain)
            .bind(last.seq)
            .execute(db)
            .await
            .map(|done| done.rows_affected())
    })?)
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
            "update audit_heads
             set hash = $2, seal = $3, first_seq = $4, first_prev = $5, bytes = $6
             where id = $1",
        )
        .bind(chain)
        .bind(&head.hash.0[..])
        .bind(seal.as_deref())
        .bind(head.first_seq)
        .bind(&head.first_prev.0[..])
        .bind(head.bytes)
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

/// Stores an entry; returns how much it takes up.
async fn insert(tx: &mut Tx, chain: Uuid, entry: &Entry, hash: &Hash) -> Result<i64> {
    let changes = serde_json::to_string(&entry.changes).expect("changes are plain data");
    let person = entry.person.as_ref().map_or("", |(text, _)| text.as_str());
    let bytes = i64::try_from(changes.len() + person.len()).unwrap_or(i64::MAX);
    within!(*tx, |db| {
        sqlx::query(
            "insert into audit
             (chain, seq, at, action, actor_kind, actor_id, via_kind, via_id, object_kind,
              object_id, object_name, request, changes, person, salt, person_hash, hash,
              bytes)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                     $18)",
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
        .bind(bytes)
        .execute(db)
        .await?;
    });
    Ok(bytes)
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

fn seal_context(chain: Uuid) -> String {
    format!("audit_heads.seal:{chain}")
}

pub(super) fn read_hash(bytes: &[u8]) -> sqlx::Result<Hash> {
    let bytes = bytes.try_into().map_err(|_| sqlx::Error::Decode("not a hash".into()))?;
    Ok(Hash(bytes))
}
