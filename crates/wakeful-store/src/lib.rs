//! The only room with SQL. One `Store` over SQLite or PostgreSQL, one SQL text
//! for both; what differs sits in `dialect.rs` and in two migration folders.
//! A team's data is reached through `store.team(id)` and no other way.

mod accounts;
mod alerts;
mod apikeys;
mod asks;
mod backup;
mod bulk;
mod certificates;
mod contacts;
mod copy;
mod credentials;
mod deliveries;
mod dialect;
mod doctor;
mod error;
mod heartbeats;
mod history;
mod invoices;
mod keyring;
mod limits;
mod mails;
mod memberships;
mod methods;
mod mfa;
mod migrate;
mod monitors;
mod nodes;
mod notifiers;
mod open;
mod operator;
mod payments;
mod presence;
mod probes;
mod record;
mod reminders;
mod reseal;
mod resets;
mod sessions;
mod team;
mod usage;

pub use accounts::{Account, NewAccount};
pub use alerts::{Delivery, ListedAlert};
pub use apikeys::{ApiKey, FoundKey, NewApiKey};
pub use asks::Ask;
pub use backup::{BackupError, backup_sqlite, restore_sqlite};
pub use certificates::ShownCertificate;
pub use contacts::Contact;
pub use copy::{CopyError, CopyStep, Progress, copy, open_to_copy};
pub use credentials::Credential;
pub use deliveries::{ClaimedDelivery, DueDelivery, DueGroup, ListedDelivery, Resent};
pub use doctor::{Harm, Holdings, Table};
pub use error::StoreError;
pub use heartbeats::{Place, Span};
pub use history::{Extent, Foldable, Folded, Limits, Past};
pub use invoices::Invoice;
pub use keyring::{Keyring, KeyringError};
pub use limits::Hits;
pub use mails::{ClaimedMail, Mail};
pub use memberships::{InvoiceEntry, Settled, Settlement, StoredMembership};
pub use methods::{KeptMethod, Method, Removal};
pub use mfa::Mfa;
pub use monitors::{Linked, MonitorFilter, Saved, StoredMonitor};
pub use nodes::{ListedNode, Node, Renewal, Server, Taken};
pub use notifiers::{ChangedNotifier, DeletedNotifier};
pub use open::{Location, Options};
pub use operator::ListedUser;
pub use payments::{Attempt, Begun, NewAttempt};
pub use record::{NewEvent, Record, Written};
pub use reminders::{DueReminder, Reminder};
pub use reseal::Resealed;
pub use sessions::{FoundSession, NewSession, Session};
pub use team::{Added, Member, TeamStore, UserChange};
pub use usage::Use;

use deliveries::Bell;
use dialect::Pool;
use std::sync::Arc;
use wakeful_core::id::{NodeId, TeamId};

/// What sealed letters between nodes are bound to.
const LETTER: &str = "bus:nodes";

pub type Result<T> = std::result::Result<T, StoreError>;

/// The database and the keys that its secrets are sealed under.
#[derive(Clone)]
pub struct Store {
    pool: Pool,
    keyring: Arc<Keyring>,
    /// Rung when the outbox has something new.
    outbox: Arc<Bell>,
    /// Whose claims these are; nobody's until an engine has taken the store.
    node: Option<NodeId>,
}

impl Store {
    /// The data of one team: the only way to it.
    pub fn team(&self, id: TeamId) -> TeamStore<'_> {
        TeamStore::new(self, id)
    }

    /// The same store in the name of a node: what it claims is this node's.
    #[must_use]
    pub fn in_name_of(self, node: NodeId) -> Self {
        Self { node: Some(node), ..self }
    }

    /// Whether other nodes may work on this database at the same time.
    pub fn is_shared(&self) -> bool {
        matches!(self.pool, Pool::Postgres(_))
    }

    /// Seals what goes to other nodes, which have the same keys.
    pub fn seal_letter(&self, plain: &[u8]) -> Vec<u8> {
        self.keyring.seal(LETTER, plain)
    }

    /// What another node has sealed; nothing when it was not one of ours.
    pub fn open_letter(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        self.keyring.open(LETTER, sealed).map(|plain| plain.to_vec())
    }

    /// Whether the database answers, and may be written to.
    pub async fn ping(&self) -> Result<()> {
        let sql = dialect::either!(
            self,
            sqlite: "select false",
            postgres: "select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on'"
        );
        let only_reads: bool =
            dialect::read!(self, |db| sqlx::query_scalar(sql).fetch_one(db).await)?;
        match only_reads {
            true => Err(StoreError::Unavailable(sqlx::Error::Io(std::io::Error::other(
                "the server may only be read from",
            )))),
            false => Ok(()),
        }
    }

    /// Which engine is behind this store, for logs and operators.
    pub fn engine(&self) -> &'static str {
        match &self.pool {
            Pool::Sqlite { .. } => "SQLite",
            Pool::Postgres(_) => "PostgreSQL",
        }
    }

    /// Writes what is in SQLite's log back into its file, beside those who
    /// write. Whoever commits would else have to, and somebody wait for it.
    pub async fn fold_log(&self) -> Result<()> {
        if let Pool::Sqlite { readers, .. } = &self.pool {
            sqlx::query("pragma wal_checkpoint(passive)").execute(readers).await?;
        }
        Ok(())
    }

    /// Ends all connections; what was committed stays.
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
