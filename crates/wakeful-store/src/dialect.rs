//! Where the two engines differ: how a statement reaches a connection. A body
//! is written once and compiled once per driver. SQLite has one writer, so
//! writing and reading take different doors; on PostgreSQL they are the same.

use sqlx::pool::PoolConnection;
use sqlx::{PgPool, Postgres, Sqlite, SqlitePool, Transaction};

use crate::{Result, Store};

#[derive(Clone)]
pub(crate) enum Pool {
    Sqlite {
        writer: SqlitePool,
        /// Commits without waiting for the disk; only for whoever has the writer.
        lazy: SqlitePool,
        readers: SqlitePool,
    },
    Postgres(PgPool),
}

/// Who has this is the one that writes.
pub(crate) type Turn = Option<PoolConnection<Sqlite>>;

pub(crate) enum Tx {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

/// Runs a reading body on either engine.
macro_rules! read {
    ($store:expr, |$db:ident| $body:expr) => {
        match &$store.pool {
            $crate::dialect::Pool::Sqlite { readers: $db, .. } => $body,
            $crate::dialect::Pool::Postgres($db) => $body,
        }
    };
}

/// Runs one writing statement on either engine, committed when it returns.
macro_rules! write {
    ($store:expr, |$db:ident| $body:expr) => {
        match &$store.pool {
            $crate::dialect::Pool::Sqlite { writer: $db, .. } => $body,
            $crate::dialect::Pool::Postgres($db) => $body,
        }
    };
}

/// Runs one writing statement whose loss in a power cut does no harm, because
/// what it notes would be found out or done once more. On SQLite it does not
/// wait for the disk, and so does not keep others waiting who must.
macro_rules! write_lazily {
    ($store:expr, |$db:ident| $body:expr) => {
        match &$store.pool {
            $crate::dialect::Pool::Sqlite { writer, lazy: $db, .. } => {
                let _turn = writer.acquire().await?;
                $body
            }
            $crate::dialect::Pool::Postgres($db) => $body,
        }
    };
}

/// Runs a body inside an open transaction.
macro_rules! within {
    ($tx:expr, |$db:ident| $body:expr) => {
        match &mut $tx {
            $crate::dialect::Tx::Sqlite(tx) => {
                let $db = &mut **tx;
                $body
            }
            $crate::dialect::Tx::Postgres(tx) => {
                let $db = &mut **tx;
                $body
            }
        }
    };
}

/// Chooses between two texts where the engines have no words in common.
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
    /// Opens a transaction that may write. SQLite takes its lock at once, so
    /// that two processes wait for each other here and not at the commit.
    pub(crate) async fn begin(&self) -> Result<Tx> {
        Ok(match &self.pool {
            Pool::Sqlite { writer, .. } => Tx::Sqlite(writer.begin_with("begin immediate").await?),
            Pool::Postgres(pool) => Tx::Postgres(pool.begin().await?),
        })
    }

    /// As `begin`; on SQLite the commit does not wait for the disk. The next one
    /// that does waits for this one, too. The turn is kept until the commit.
    pub(crate) async fn begin_lazily(&self) -> Result<(Turn, Tx)> {
        Ok(match &self.pool {
            Pool::Sqlite { writer, lazy, .. } => {
                let turn = writer.acquire().await?;
                (Some(turn), Tx::Sqlite(lazy.begin_with("begin immediate").await?))
            }
            Pool::Postgres(pool) => (None, Tx::Postgres(pool.begin().await?)),
        })
    }
}

impl Tx {
    pub(crate) async fn commit(self) -> Result<()> {
        match self {
            Self::Sqlite(tx) => tx.commit().await?,
            Self::Postgres(tx) => tx.commit().await?,
        }
        Ok(())
    }
}
