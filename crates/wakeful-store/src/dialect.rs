//! The differences between the two databases. A statement is written once and
//! compiled once per driver. SQLite allows one writer, so reads and writes use
//! different pools; on PostgreSQL they share one.

use sqlx::pool::PoolConnection;
use sqlx::{PgPool, Postgres, Sqlite, SqlitePool, Transaction};

use crate::audit::AuditLog;
use crate::write_turns::WriteTurn;
use crate::{Result, Store};

#[derive(Clone)]
pub(crate) enum Pool {
    Sqlite {
        writer: SqlitePool,
        /// Commits without waiting for the disk. Use it only while holding the
        /// connection of `writer`.
        lazy: SqlitePool,
        readers: SqlitePool,
    },
    Postgres(PgPool),
}

/// SQLite's writer connection, held so that no one else writes.
pub(crate) type WriterGuard = Option<PoolConnection<Sqlite>>;

/// An open transaction.
pub(crate) struct Tx {
    pub(crate) db: OpenTx,
    audit_log: Option<AuditLog>,
    /// Lines for the audit log of the process, once this is committed.
    audit_lines: Vec<String>,
    /// Ends after the transaction.
    turn: Option<WriteTurn>,
}

pub(crate) enum OpenTx {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

/// Runs a read on either database.
macro_rules! read {
    ($store:expr, |$db:ident| $body:expr) => {
        match &$store.pool {
            $crate::dialect::Pool::Sqlite { readers: $db, .. } => $body,
            $crate::dialect::Pool::Postgres($db) => $body,
        }
    };
}

/// Runs one write statement on either database, committed when it returns.
macro_rules! write {
    ($store:expr, |$db:ident| $body:expr) => {
        match &$store.pool {
            $crate::dialect::Pool::Sqlite { writer: $db, .. } => $body,
            $crate::dialect::Pool::Postgres($db) => $body,
        }
    };
}

/// Runs one write statement whose loss in a power failure does no harm, because
/// the work it records would be detected or repeated. On SQLite it does not wait
/// for the disk, and so does not delay writers that have to.
macro_rules! write_lazily {
    ($store:expr, |$db:ident| $body:expr) => {
        match &$store.pool {
            $crate::dialect::Pool::Sqlite { writer, lazy: $db, .. } => {
                let _guard = writer.acquire().await?;
                $body
            }
            $crate::dialect::Pool::Postgres($db) => $body,
        }
    };
}

/// Runs a body inside an open transaction.
macro_rules! within {
    ($tx:expr, |$db:ident| $body:expr) => {
        match &mut $tx.db {
            $crate::dialect::OpenTx::Sqlite(tx) => {
                let $db = &mut **tx;
                $body
            }
            $crate::dialect::OpenTx::Postgres(tx) => {
                let $db = &mut **tx;
                $body
            }
        }
    };
}

/// Chooses between two SQL texts where one cannot serve both databases.
macro_rules! either {
    ($store:expr, sqlite: $sqlite:expr, postgres: $postgres:expr) => {
        match &$store.pool {
            $crate::dialect::Pool::Sqlite { .. } => $sqlite,
            $crate::dialect::Pool::Postgres(_) => $postgres,
        }
    };
}

/// Reads a row into a type, for both drivers' rows.
macro_rules! from_row {
    ($type:ty, |$row:ident| $body:expr) => {
        impl sqlx::FromRow<'_, sqlx::sqlite::SqliteRow> for $type {
            fn from_row($row: &sqlx::sqlite::SqliteRow) -> sqlx::Result<Self> {
                use sqlx::Row as _;
                Ok($body)
            }
        }
        impl sqlx::FromRow<'_, sqlx::postgres::PgRow> for $type {
            fn from_row($row: &sqlx::postgres::PgRow) -> sqlx::Result<Self> {
                use sqlx::Row as _;
                Ok($body)
            }
        }
    };
}

pub(crate) use {either, from_row, read, within, write, write_lazily};

impl Store {
    /// Opens a write transaction. SQLite takes its lock at once, so that two
    /// processes wait for each other here and not at the commit.
    pub(crate) async fn begin(&self) -> Result<Tx> {
        Ok(self.transaction(match &self.pool {
            Pool::Sqlite { writer, .. } => {
                OpenTx::Sqlite(writer.begin_with("begin immediate").await?)
            }
            Pool::Postgres(pool) => OpenTx::Postgres(pool.begin().await?),
        }))
    }

    /// Like `begin`, but on SQLite the commit does not wait for the disk. The next
    /// commit that does flushes this one, too. Hold the guard until the commit.
    pub(crate) async fn begin_lazily(&self) -> Result<(WriterGuard, Tx)> {
        Ok(match &self.pool {
            Pool::Sqlite { writer, lazy, .. } => {
                let guard = writer.acquire().await?;
                let tx = OpenTx::Sqlite(lazy.begin_with("begin immediate").await?);
                (Some(guard), self.transaction(tx))
            }
            Pool::Postgres(pool) => (None, self.transaction(OpenTx::Postgres(pool.begin().await?))),
        })
    }

    fn transaction(&self, db: OpenTx) -> Tx {
        Tx { db, audit_log: self.audit_log.clone(), audit_lines: Vec::new(), turn: None }
    }
}

impl Tx {
    pub(crate) fn with_turn(self, turn: WriteTurn) -> Self {
        Self { turn: Some(turn), ..self }
    }

    /// Adds a line to the audit log of the process, if there is one.
    pub(crate) fn log_entry(&mut self, line: impl FnOnce() -> String) {
        if self.audit_log.is_some() {
            self.audit_lines.push(line());
        }
    }

    pub(crate) async fn commit(self) -> Result<()> {
        match self.db {
            OpenTx::Sqlite(tx) => tx.commit().await?,
            OpenTx::Postgres(tx) => tx.commit().await?,
        }
        drop(self.turn);
        if let Some(log) = self.audit_log {
            self.audit_lines.iter().for_each(|line| log.write(line));
        }
        Ok(())
    }
}
