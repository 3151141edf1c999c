//! The only crate with SQL. One `Store` for SQLite and PostgreSQL, with the same
//! SQL for both; the differences are in `dialect.rs` and in the two folders of
//! migrations. A team's data is only accessible through `store.team(access)`.

mod accounts;
mod admin;
mod alerting;
mod audit;
mod backup;
mod billing;
mod claims;
mod cluster;
mod deletion;
mod dialect;
mod doctor;
mod due_work;
mod error;
mod history;
mod installation_secrets;
mod key_rotation;
mod keyring;
mod mail;
mod migrate;
mod monitors;
mod notifications;
mod open;
mod probes;
mod statuspages;
mod transfer;
mod write_turns;

pub use accounts::{
    account::*,
    api_keys::*,
    contacts::*,
    credentials::*,
    email_verification::*,
    export::*,
    invitations::*,
    leaving::{Deleter, RemoveTeamOutcome},
    members::*,
    mfa::*,
    monitor_filters::*,
    operator::*,
    pending_signups::*,
    rate_limits::*,
    services::*,
    sessions::*,
    team::*,
    teams::*,
};
pub use admin::{AdminAuthority, AdminOutcome, status::*, teams::*, users::*};
pub use alerting::{
    alerts::*, decisions::*, due::*, exclusions::*, flapping::*, handovers::*,
    maintenance_clock::*, maintenances::*, messages::*, policies::*, responders::*, routing::*,
    schedules::*, timeline::*,
};
pub use audit::{
    AuditContext, AuditLog, NewEntry,
    chain::ChainHead,
    log::{AuditCheck, AuditQuery, AuditVerification, StoredEntry},
    streams::*,
};
pub use backup::{BackupError, Upgrade, backup_before_upgrade, backup_sqlite, restore_sqlite};
pub use billing::{invoices::*, memberships::*, payment_attempts::*, payment_methods::*, usage::*};
pub use cluster::{node_requests::*, nodes::*};
pub use doctor::{DamagedPart, HistoryInventory, Table};
pub use due_work::DueWork;
pub use error::StoreError;
pub use history::{
    CompactionCandidates, CompactionResult, HistoryExtent, HistoryReader, LateExclusion,
    RetentionLimits, heartbeats::*, record::*,
};
pub use key_rotation::Resealed;
pub use keyring::{Keyring, KeyringError};
pub use mail::*;
pub use monitors::{
    Affected, BulkEdit, FiringGroups, LastPing, LinkError, LinkedNotifier, MAX_AFFECTED_NAMES,
    MAX_FIRING_GROUPS, MemberCandidate, MonitorQuery, MonitorSelection, NewPing, ReportedGroup,
    SaveOutcome, SlugTarget, StoredGroup, StoredMonitor, StoredPing, StoredSettings,
    certificates::*, save::MAX_LONG_REQUEST_BYTES,
};
pub use notifications::keepalives::Keepalive;
pub use notifications::threads::NewThread;
pub use notifications::{deliveries::*, notifiers::*, push_subscriptions::AddSubscriptionOutcome};
pub use open::{Location, Options};
pub use statuspages::{
    deliveries::*, domains::*, events::*, incident_rows::StoredIncident, incidents::*, pages::*,
    public::*, rows::StoredPage, rules::*, subscribers::*, subscriptions::SubscriberDigests,
};
pub use transfer::{TransferError, TransferProgress, TransferStep, open_for_transfer, transfer};

use dialect::Pool;
use notifications::deliveries::OutboxSignal;
use std::sync::Arc;
use wakeful_core::access::TeamAccess;
use wakeful_core::action_link::ActionLink;
use wakeful_core::id::{NodeId, SubscriberId};
use wakeful_core::statuspages::subscriber;
use wakeful_core::statuspages::unlock::Unlocked;
use write_turns::WriteTurns;

/// The context that sealed messages between nodes are bound to.
const NODE_MESSAGE_CONTEXT: &str = "bus:nodes";

pub type Result<T> = std::result::Result<T, StoreError>;

/// The database and the keys that its secrets are sealed with.
#[derive(Clone)]
pub struct Store {
    pool: Pool,
    keyring: Arc<Keyring>,
    /// Notified when the outbox has new rows.
    outbox: Arc<OutboxSignal>,
    /// The node that claims are made for; `None` until an engine uses the store.
    node: Option<NodeId>,
    /// The audit log of the process; `None` if it is off.
    audit_log: Option<AuditLog>,
    /// How much the audit log of a team may take up.
    max_audit_bytes: i64,
    write_turns: Arc<WriteTurns>,
}

impl Store {
    /// The data of one team, as far as it is accessible. There is no other way to it.
    pub fn team(&self, access: &TeamAccess) -> TeamStore<'_> {
        TeamStore::new(self, access)
    }

    /// The same store with claims made for this node.
    #[must_use]
    pub fn with_node(self, node: NodeId) -> Self {
        Self { node: Some(node), ..self }
    }

    /// The same store, which also writes each entry of the audit log there.
    #[must_use]
    pub fn with_audit_log(self, log: AuditLog) -> Self {
        Self { audit_log: Some(log), ..self }
    }

    /// The same store, in which the audit log of a team takes up at most this much.
    #[must_use]
    pub fn with_max_audit_bytes(self, max_audit_bytes: i64) -> Self {
        Self { max_audit_bytes, ..self }
    }

    /// Whether other nodes may use this database at the same time.
    pub fn is_shared(&self) -> bool {
        matches!(self.pool, Pool::Postgres(_))
    }

    /// Seals a message to other nodes, which have the same keys.
    pub fn seal_node_message(&self, plain: &[u8]) -> Vec<u8> {
        self.keyring.seal(NODE_MESSAGE_CONTEXT, plain)
    }

    /// Opens a message from another node; `None` when it was not sealed with our
    /// keys.
    pub fn open_node_message(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        self.keyring.open(NODE_MESSAGE_CONTEXT, sealed).map(|plain| plain.to_vec())
    }

    /// The token of an action link, signed with the first key.
    pub fn action_token(&self, link: &ActionLink) -> String {
        link.token(&self.keyring.first_key())
    }

    /// The action link of a token; `None` when it was not signed with our keys.
    pub fn action_link(&self, token: &str) -> Option<ActionLink> {
        ActionLink::open(token, self.keyring.all_keys().iter())
    }

    /// The cookie of a visitor who has unlocked a status page, signed with the first key.
    pub fn unlock_cookie(&self, unlocked: &Unlocked) -> String {
        unlocked.cookie(&self.keyring.first_key())
    }

    /// What a cookie says; `None` when it was not signed with our keys.
    pub fn unlocked_by(&self, cookie: &str) -> Option<Unlocked> {
        Unlocked::open(cookie, self.keyring.all_keys().iter())
    }

    /// The token in the emails of a subscriber, signed with the first key.
    pub fn subscriber_token(&self, id: SubscriberId) -> String {
        subscriber::token(id, &self.keyring.first_key())
    }

    /// The subscriber of a token; `None` when it was not signed with our keys.
    pub fn subscriber_of_token(&self, token: &str) -> Option<SubscriberId> {
        subscriber::open_token(token, self.keyring.all_keys().iter())
    }

    /// Checks that the database responds and accepts writes.
    pub async fn ping(&self) -> Result<()> {
        let sql = dialect::either!(
            self,
            sqlite: "select false",
            postgres: "select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on'"
        );
        let is_read_only: bool =
            dialect::read!(self, |db| sqlx::query_scalar(sql).fetch_one(db).await)?;
        if is_read_only {
            Err(StoreError::Unavailable(sqlx::Error::Io(std::io::Error::other(
                "the server is read-only",
            ))))
        } else {
            Ok(())
        }
    }

    /// The name of the database system, for logs and operators.
    pub fn database_name(&self) -> &'static str {
        match &self.pool {
            Pool::Sqlite { .. } => "SQLite",
            Pool::Postgres(_) => "PostgreSQL",
        }
    }

    /// Writes SQLite's write-ahead log back into the database file, concurrently
    /// with writers. Otherwise a commit would have to do it and delay its caller.
    pub async fn checkpoint_wal(&self) -> Result<()> {
        if let Pool::Sqlite { readers, .. } = &self.pool {
            sqlx::query("pragma wal_checkpoint(passive)").execute(readers).await?;
        }
        Ok(())
    }

    /// Closes all connections.
    pub async fn close(&self) {
        match &self.pool {
            Pool::Sqlite { writer, lazy, readers } => {
                readers.close().await;
                lazy.close().await;
                writer.close().await;
            }
            Pool::Postgres(pool) => pool.close().await,
        }
    }
}
