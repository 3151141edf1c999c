//! Reading the audit log of a team, and verifying it.

use wakeful_core::audit::{Broken, Change, Entry, Hash, Reference, Verifier};
use wakeful_core::time::Millis;

use super::chain::{Head, read_hash};
use crate::dialect::{either, from_row, read};
use crate::{Result, TeamStore};

/// How many entries are read at a time for a verification.
const VERIFY_BATCH: i64 = 1_000;

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
                "select seq, hash, seal, first_seq, first_prev, bytes
                 from audit_heads
                 where id = $1",
            )
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?)
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

fn read_changes(text: &str) -> sqlx::Result<Vec<Change>> {
    serde_json::from_str(text).map_err(|error| sqlx::Error::Decode(error.into()))
}
