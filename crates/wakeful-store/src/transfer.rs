//! Transfer of a whole installation from one database to another, of either
//! kind. The tables are read from the schemas, so none is missed. Rows are copied
//! in the order of their keys, each batch together with a checkpoint, so an
//! interrupted transfer resumes where it was. At the end, row counts and checksums
//! of every table are compared. Nothing else may use either database meanwhile.

mod rows;
mod schema;
mod value;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wakeful_core::token::Digest;

use crate::dialect::{Pool, read};
use crate::{Keyring, Options, Result, Store, StoreError};
use rows::TableSum;
use schema::Table;
use value::Value;

/// The row in `meta` of the target that holds the checkpoint.
const CHECKPOINT_NAME: &str = "copy";
/// Not copied: each database has its own migrations.
const MIGRATIONS_TABLE: &str = "schema_migrations";
/// Contains the checkpoint, and so is copied last and in one piece.
const META_TABLE: &str = "meta";
const PAGE_ROWS: usize = 500;
/// SQLite binds at most 32,766 values in one statement.
const MAX_BOUND_VALUES: usize = 30_000;

#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    #[error("the database to copy to is not empty: choose an empty one")]
    NotEmpty,
    #[error("another installation was partly copied there: choose an empty database")]
    OtherInstallation,
    #[error("another wakeful is connected to the {0}: stop it first")]
    InUse(&'static str),
    #[error("the two databases differ in the table {0}, which this version cannot copy")]
    Schema(String),
    #[error("the table {table} has {from} rows in the source and {to} in the copy")]
    Count { table: String, from: u64, to: u64 },
    #[error("the table {0} differs between the source and the copy")]
    TableSum(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for TransferError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

/// The progress of a transfer.
#[derive(Clone, Debug)]
pub struct TransferProgress<'a> {
    pub step: TransferStep,
    pub table: &'a str,
    pub rows: u64,
    pub of: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferStep {
    Copying,
    Checking,
}

/// The progress as stored in the target.
#[derive(Default, Serialize, Deserialize)]
struct Checkpoint {
    /// The installation that is being copied.
    source: String,
    /// The finished tables, then the current one with its last key.
    done: Vec<String>,
    table: String,
    last: Vec<Value>,
    rows: u64,
}

/// Opens a database for a transfer, even with an unfinished one. It uses a single
/// connection, so that any other connection is another process.
pub async fn open_for_transfer(options: &Options, keyring: Keyring) -> Result<Store> {
    let one = Options { max_connections: 1, ..options.clone() };
    Store::open_unchecked(&one, keyring).await
}

/// Copies everything, from a database that nothing else uses. Returns the number of rows of each
/// table.
pub async fn transfer(
    from: &Store,
    to: &Store,
    mut progress: impl FnMut(TransferProgress<'_>),
) -> std::result::Result<BTreeMap<String, u64>, TransferError> {
    to.ensure_exclusive("database to copy to").await?;
    let tables = schema::common(from, to).await?;
    let mut checkpoint = begin(from, to, &tables).await?;
    let mut total = 0;
    for table in &tables {
        total += rows::count(from, table).await?;
    }
    let mut report =
        |step, table: &str, rows| progress(TransferProgress { step, table, rows, of: total });
    for table in tables.iter().filter(|table| table.name != META_TABLE) {
        if !checkpoint.done.contains(&table.name) {
            copy_table(from, to, table, &mut checkpoint, &mut report).await?;
        }
    }
    let counts = verify(from, to, &tables, &mut report).await?;
    finish(from, to, &tables).await?;
    Ok(counts)
}

/// The checkpoint of an unfinished transfer, or a new one in an empty target.
async fn begin(
    from: &Store,
    to: &Store,
    tables: &[Table],
) -> std::result::Result<Checkpoint, TransferError> {
    let source = from.installation_id().await?;
    if let Some(stored) = to.checkpoint().await? {
        let checkpoint: Checkpoint =
            serde_json::from_slice(&stored).map_err(|_| TransferError::OtherInstallation)?;
        return if checkpoint.source == source {
            Ok(checkpoint)
        } else {
            Err(TransferError::OtherInstallation)
        };
    }
    let people = tables.iter().filter(|table| ["teams", "users"].contains(&table.name.as_str()));
    for table in people {
        if rows::count(to, table).await? > 0 {
            return Err(TransferError::NotEmpty);
        }
    }
    let checkpoint = Checkpoint { source, ..Checkpoint::default() };
    // The migrations have filled some tables, which the source has too.
    let cleared = tables.iter().rev().filter(|table| table.name != META_TABLE);
    rows::clear(to, cleared, &checkpoint).await?;
    Ok(checkpoint)
}

async fn copy_table(
    from: &Store,
    to: &Store,
    table: &Table,
    checkpoint: &mut Checkpoint,
    report: &mut impl FnMut(TransferStep, &str, u64),
) -> std::result::Result<(), TransferError> {
    if checkpoint.table != table.name {
        (checkpoint.table, checkpoint.last) = (table.name.clone(), Vec::new());
        // Triggers may have added rows when another table was copied.
        rows::clear(to, std::iter::once(table), checkpoint).await?;
    }
    loop {
        let batch = rows::page(from, table, &checkpoint.last, table.page()).await?;
        let last = batch.len() < table.page() || !table.has_key();
        if let Some(row) = batch.last() {
            checkpoint.last = table.key_of(row);
        }
        checkpoint.rows += u64::try_from(batch.len()).unwrap_or(0);
        if last {
            checkpoint.done.push(table.name.clone());
        }
        rows::write_page(to, table, &batch, checkpoint).await?;
        report(TransferStep::Copying, &table.name, checkpoint.rows);
        if last {
            return Ok(());
        }
    }
}

async fn verify(
    from: &Store,
    to: &Store,
    tables: &[Table],
    report: &mut impl FnMut(TransferStep, &str, u64),
) -> std::result::Result<BTreeMap<String, u64>, TransferError> {
    let (mut counts, mut checked) = (BTreeMap::new(), 0);
    for table in tables.iter().filter(|table| table.name != META_TABLE) {
        let (source, copied) = (TableSum::of(from, table).await?, TableSum::of(to, table).await?);
        if source.rows != copied.rows {
            let table = table.name.clone();
            return Err(TransferError::Count { table, from: source.rows, to: copied.rows });
        }
        if source != copied {
            return Err(TransferError::TableSum(table.name.clone()));
        }
        checked += source.rows;
        counts.insert(table.name.clone(), source.rows);
        report(TransferStep::Checking, &table.name, checked);
    }
    Ok(counts)
}

/// Replaces `meta` with that of the source, which removes the checkpoint.
async fn finish(
    from: &Store,
    to: &Store,
    tables: &[Table],
) -> std::result::Result<(), TransferError> {
    let Some(meta) = tables.iter().find(|table| table.name == META_TABLE) else {
        return Err(TransferError::Schema(META_TABLE.to_owned()));
    };
    let all = rows::page(from, meta, &[], usize::MAX >> 1).await?;
    Ok(rows::replace(to, meta, &all).await?)
}

impl Store {
    /// Refuses a database with an unfinished transfer.
    pub(crate) async fn refuse_unfinished_transfer(&self) -> Result<()> {
        match self.checkpoint().await? {
            None => Ok(()),
            Some(_) => Err(StoreError::Schema(
                "a copy into this database is not finished: run the same `wakeful migrate --to` again"
                    .to_owned(),
            )),
        }
    }

    async fn checkpoint(&self) -> Result<Option<Vec<u8>>> {
        Ok(read!(self, |db| {
            sqlx::query_scalar("select value from meta where name = $1")
                .bind(CHECKPOINT_NAME)
                .fetch_optional(db)
                .await
        })?)
    }

    /// Identifies an installation by the value that verifies the keyring, which
    /// was sealed with a random nonce.
    async fn installation_id(&self) -> Result<String> {
        let sealed: Vec<u8> = read!(self, |db| {
            sqlx::query_scalar("select value from meta where name = 'keyring'").fetch_one(db).await
        })?;
        let text = data_encoding::HEXLOWER.encode(&sealed);
        Ok(data_encoding::HEXLOWER.encode(&Digest::of(&text).0))
    }

    /// Fails when another process is connected. For a SQLite file, the caller
    /// holds its lock.
    pub async fn ensure_exclusive(
        &self,
        which: &'static str,
    ) -> std::result::Result<(), TransferError> {
        let Pool::Postgres(pool) = &self.pool else { return Ok(()) };
        let others: i64 = sqlx::query_scalar(
            "select count(*)
             from pg_stat_activity
             where datname = current_database()
             and application_name = 'wakeful'
             and pid <> pg_backend_pid()",
        )
        .fetch_one(pool)
        .await?;
        if others > 0 { Err(TransferError::InUse(which)) } else { Ok(()) }
    }
}

fn checkpoint_json(checkpoint: &Checkpoint) -> Vec<u8> {
    serde_json::to_vec(checkpoint).unwrap_or_default()
}
