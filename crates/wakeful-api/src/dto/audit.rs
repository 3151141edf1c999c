//! The audit log.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::audit::{Change, Entry, Person};
use wakeful_core::named_enum;
use wakeful_core::time::Millis;
use wakeful_engine::{AuditVerification, StoredEntry};

use super::csv;
use super::enums;

named_enum! {
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(crate) enum ExportFormat {
        Jsonl = "jsonl",
        Csv = "csv",
    }
}

impl ExportFormat {
    pub(crate) fn parse(text: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.iter().find(|format| format.as_str() == text);
        known.copied().ok_or_else(|| Invalid::new("must be jsonl or csv"))
    }
}

/// A page of the audit log, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditLog {
    success: bool,
    entries: Vec<AuditEntry>,
    /// The cursor of the next page; null on the last page.
    next_cursor: Option<String>,
}

impl AuditLog {
    pub(crate) fn of(entries: &[StoredEntry], next: Option<i64>) -> Self {
        Self {
            success: true,
            entries: entries.iter().map(AuditEntry::of).collect(),
            next_cursor: next.map(|seq| seq.to_string()),
        }
    }
}

/// A change, a login or an export.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditEntry {
    /// The number of the entry in its team.
    seq: i64,
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    /// `thing.verb`, such as `monitor.update`.
    #[schema(value_type = enums::AuditAction)]
    action: String,
    actor: AuditActor,
    via: AuditReference,
    from: AuditOrigin,
    /// The id of the request; empty for a command of the operator.
    request: String,
    object: AuditObject,
    changes: Vec<AuditChange>,
    /// The SHA-256 hash of this entry and of the hash of the previous one.
    hash: String,
}

/// Who made the change.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditActor {
    #[schema(value_type = enums::AuditActorKind)]
    kind: String,
    /// The id of the user; empty for the operator.
    id: String,
    /// The email address of a person, or the name of a service account; null once the account
    /// was deleted.
    name: Option<String>,
}

/// How the actor was authenticated.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditReference {
    /// `session`, `key`, or empty.
    kind: String,
    id: String,
}

/// Where the request came from; both are null once the account was deleted.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditOrigin {
    address: Option<String>,
    agent: Option<String>,
}

/// What was changed.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditObject {
    #[schema(value_type = enums::AuditObjectKind)]
    kind: String,
    /// Empty if there are several.
    id: String,
    /// Null for a person whose account was deleted.
    name: Option<String>,
}

/// A changed field. A secret has no `from`, and `changed` as its `to`.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditChange {
    field: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Value>,
}

impl AuditChange {
    fn of(Change { field, from, to }: &Change) -> Self {
        Self { field: field.clone(), from: from.clone(), to: to.clone() }
    }
}

impl AuditEntry {
    pub(crate) fn of(StoredEntry { entry, hash, actor }: &StoredEntry) -> Self {
        let person = entry.person();
        let of_person = entry.is_of_person();
        let Entry { object_name, changes, .. } = entry;
        let (object_name, changes) = match &person {
            _ if !of_person => (Some(object_name.clone()), &changes[..]),
            Some(person) => (person.object.clone(), &person.changes[..]),
            None => (None, &[][..]),
        };
        Self {
            seq: entry.seq,
            at: entry.at,
            action: entry.action.clone(),
            actor: AuditActor {
                kind: entry.actor_kind.clone(),
                id: entry.actor_id.clone(),
                name: person.as_ref().map(|person| person.actor.clone()).or_else(|| actor.clone()),
            },
            via: AuditReference { kind: entry.via.kind.clone(), id: entry.via.id.clone() },
            from: AuditOrigin {
                address: person.as_ref().map(|person: &Person| person.address.clone()),
                agent: person.as_ref().map(|person| person.agent.clone()),
            },
            request: entry.request.clone(),
            object: AuditObject {
                kind: entry.object_kind.clone(),
                id: entry.object_id.clone(),
                name: object_name,
            },
            changes: changes.iter().map(AuditChange::of).collect(),
            hash: hash.to_string(),
        }
    }

    /// The first line of an export as CSV.
    pub(crate) const CSV_HEADER: &str = "seq,at,action,actor_kind,actor_id,actor_name,via_kind,\
        via_id,address,agent,request,object_kind,object_id,object_name,changes,hash\r\n";

    /// A line of an export as CSV (RFC 4180).
    pub(crate) fn csv(&self) -> String {
        let changes = serde_json::to_string(&self.changes).expect("changes are plain data");
        let texts = [
            &self.action,
            &self.actor.kind,
            &self.actor.id,
            self.actor.name.as_deref().unwrap_or_default(),
            &self.via.kind,
            &self.via.id,
            self.from.address.as_deref().unwrap_or_default(),
            self.from.agent.as_deref().unwrap_or_default(),
            &self.request,
            &self.object.kind,
            &self.object.id,
            self.object.name.as_deref().unwrap_or_default(),
            &changes,
            &self.hash,
        ];
        let cells: Vec<String> = texts.into_iter().map(csv::cell).collect();
        format!("{},{},{}\r\n", self.seq, self.at, cells.join(","))
    }
}

/// Whether the audit log is complete and unchanged.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditVerified {
    success: bool,
    ok: bool,
    /// How many entries the log has.
    entries: i64,
    /// The number of the oldest entry; earlier ones have expired.
    first: i64,
    /// The hash of the newest entry.
    head: String,
    /// The first entry that was changed, removed or added; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    broken_at: Option<i64>,
}

impl AuditVerified {
    pub(crate) fn of(verified: &AuditVerification) -> Self {
        let AuditVerification { entries, first, head, broken } = verified;
        Self {
            success: true,
            ok: broken.is_none(),
            entries: *entries,
            first: *first,
            head: head.to_string(),
            broken_at: broken.map(|broken| broken.seq),
        }
    }
}
