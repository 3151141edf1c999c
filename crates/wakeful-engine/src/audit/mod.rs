//! The audit log of a team, for those who may read it. The entries are written by the store, in
//! the transaction of each change.

pub mod delivery;
mod heads;
mod operator;
mod streams;

use wakeful_core::access::permission;
use wakeful_core::audit::{Action, Change, Object, ObjectKind};
use wakeful_core::time::Millis;
use wakeful_store::NewEntry;

pub use operator::AuditChain;
pub use streams::{SaveStream, SavedStream, StreamTest};
pub use wakeful_store::{AuditQuery, AuditVerification, StoredEntry, StreamChange};

use crate::caller::Authorized;
use crate::{Engine, Page, Result};

/// How many entries an export reads at a time.
const EXPORT_BATCH: u32 = 500;

/// What to export.
#[derive(Clone, Copy, Debug)]
pub struct AuditRange {
    pub from: Option<Millis>,
    pub to: Option<Millis>,
}

impl Engine {
    /// A page of the audit log, newest first.
    pub async fn audit_log(
        &self,
        caller: &Authorized<permission::Audit>,
        query: &AuditQuery,
        limit: u32,
    ) -> Result<Page<StoredEntry, i64>> {
        let _turn = self.bulk_turn(caller).await?;
        let team = self.store().team(caller.team_access());
        let entries = team.audit(query, limit.saturating_add(1)).await?;
        Ok(Page::of(entries, Some(limit), |stored| stored.entry.seq))
    }

    /// Records that the log is exported, which the export itself includes.
    pub async fn begin_audit_export(
        &self,
        caller: &Authorized<permission::Audit>,
        range: AuditRange,
        format: &str,
    ) -> Result<()> {
        let log = Object::new(ObjectKind::Team, &caller.team(), "");
        let time = |field, at: Option<Millis>| {
            at.map(|at| Change::new(field, None, Some(at.to_string().into())))
        };
        let mut changes = vec![Change::new("format", None, Some(format.into()))];
        changes.extend(time("from", range.from));
        changes.extend(time("to", range.to));
        let entry = NewEntry::new(Action::AuditExport, log, changes);
        Ok(self.store().write_single_entry(&self.audit(caller), &entry).await?)
    }

    /// The next entries of an export, oldest first, from `seq` on; none at the end.
    pub async fn audit_export(
        &self,
        caller: &Authorized<permission::Audit>,
        seq: i64,
        range: AuditRange,
    ) -> Result<Vec<StoredEntry>> {
        let _turn = self.bulk_turn(caller).await?;
        let team = self.store().team(caller.team_access());
        Ok(team.audit_from(seq, range.from, range.to, i64::from(EXPORT_BATCH)).await?)
    }

    /// Erases what the log says about people who were deleted, and the logs of deleted teams. If
    /// this is interrupted, the janitor continues.
    pub(crate) async fn erase_deleted(&self) -> Result<()> {
        while self.store().erase_part().await? {
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Verifies that no entry was changed, removed or added.
    pub async fn verify_audit(
        &self,
        caller: &Authorized<permission::Audit>,
    ) -> Result<AuditVerification> {
        let team = self.store().team(caller.team_access());
        let mut check = team.begin_verification().await?;
        loop {
            // A long log must not keep other teams waiting.
            let _turn = self.bulk_turn(caller).await?;
            if let Some(result) = team.verify_part(&mut check).await? {
                return Ok(result);
            }
        }
    }
}
