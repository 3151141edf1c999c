//! The audit log for the operator at the command line. There is no caller: access to the data
//! folder is the authorization.

use uuid::Uuid;
use wakeful_core::access::TeamAccess;
use wakeful_core::audit::{Action, Change, Object, ObjectKind};
use wakeful_core::id::TeamId;
use wakeful_store::NewEntry;

use super::{AuditVerification, EXPORT_BATCH, StoredEntry};
use crate::caller::audit_of_operator;
use crate::{Engine, Error, Result};

/// A chain of the audit log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditChain {
    Installation,
    Team(TeamId),
}

impl AuditChain {
    fn of(team: Option<TeamId>) -> Self {
        team.map_or(Self::Installation, Self::Team)
    }

    /// The team whose chain it is.
    pub fn team(self) -> Option<TeamId> {
        match self {
            Self::Installation => None,
            Self::Team(team) => Some(team),
        }
    }

    /// The chain of the installation has the nil id.
    fn id(self) -> TeamId {
        self.team().unwrap_or_else(|| Uuid::nil().into())
    }
}

impl Engine {
    /// The chains that have entries: all, or only this one, which must.
    pub async fn audit_chains(&self, only: Option<AuditChain>) -> Result<Vec<AuditChain>> {
        let mut chains = self.store().audit_chains().await?;
        chains.retain(|chain| only.is_none_or(|only| only.team() == *chain));
        match only {
            Some(_) if chains.is_empty() => Err(Error::NotFound("team with an audit log")),
            _ => Ok(chains.into_iter().map(AuditChain::of).collect()),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the operator is not a member of the team")]
    pub async fn verify_audit_chain(&self, chain: AuditChain) -> Result<AuditVerification> {
        let team = self.store().team(&TeamAccess::whole(chain.id()));
        let mut check = team.begin_verification().await?;
        loop {
            if let Some(result) = team.verify_part(&mut check).await? {
                return Ok(result);
            }
        }
    }

    /// Records that a chain is exported, which the export itself includes.
    pub async fn begin_chain_export(&self, chain: AuditChain) -> Result<()> {
        let log = Object::new(ObjectKind::Team, &chain.id(), "");
        let changes = vec![Change::new("format", None, Some("jsonl".into()))];
        let entry = NewEntry::new(Action::AuditExport, log, changes);
        let by = audit_of_operator(chain.id(), self.now());
        Ok(self.store().write_single_entry(&by, &entry).await?)
    }

    /// The next entries of an export, oldest first, from `seq` on; none at the end.
    #[expect(clippy::disallowed_methods, reason = "the operator is not a member of the team")]
    pub async fn chain_export(&self, chain: AuditChain, seq: i64) -> Result<Vec<StoredEntry>> {
        let team = self.store().team(&TeamAccess::whole(chain.id()));
        Ok(team.audit_from(seq, None, None, i64::from(EXPORT_BATCH)).await?)
    }
}
