//! A whole installation from one database into another, of either engine. The
//! tables are read from the schemas, so none is forgotten; rows go over in the
//! order of their keys, each batch together with how far it came, so a copy
//! that was killed goes on where it was. At the end every table is counted and
//! summed up on both sides. Nobody else may use either database meanwhile.

mod rows;
mod schema;
mod value;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wakeful_core::token::Digest;

use crate::dialect::{Pool, read};
use crate::{Keyring, Options, Result, Store, StoreError};
use rows::Sum;
use schema::Table;
use value::Value;

/// Its row in `meta` of a database that is being filled.
const MARK: &str = "copy";
/// The history of the schema is each database's own.
const HISTORY: &str = "schema_migrations";
/// Holds the mark, and so goes last and in one piece.
const META: &str = "meta";
const ROWS: usize = 500;
/// SQLite binds at most 32,766 values in one statement.
const VALUES: usize = 30_000;

#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error("the database to copy to is not empty: choose an empty one")]
    NotEmpty,
    #[error("a copy of another installation was begun there: choose an empty database")]
    Another,
    #[error("another wakeful is connected to the {0}: stop it first")]
    InUse(&'static str),
    #[error("the two databases differ in the table {0}, which this version cannot copy")]
    Schema(String),
    #[error("the table {table} has {from} rows at the source and {to} in the copy")]
    Count { table: String, from: u64, to: u64 },
    #[error("the table {0} is not the same in the copy")]
    Sum(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for CopyError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

/// How far a copy has come.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    pub step: CopyStep,
    pub table: &'a str,
    pub rows: u64,
    pub of: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyStep {
    Copying,
    Checking,
}

/// What is noted in the copy itself.
#[derive(Default, Serialize, Deserialize)]
struct Mark {
    /// Which installation is being copied.
    source: String,
    /// The tables that are over, and the last key of the one under way.
    done: Vec<String>,
    table: String,
    last: Vec<Value>,
    rows: u64,
}

/// Opens a database for copying: one connection, so that everybody else shows,
/// and a copy that was begun is no obstacle.
pub async fn open_to_copy(options: &Options, keyring: Keyring) -> Result<Store> {
    let one = Options { max_connections: 1, ..options.clone() };
    Store::open_unmarked(&one, keyring).await
}

/// Copies everything. Answers how many rows each table has.
pub async fn copy(
    from: &Store,
    to: &Store,
    mut progress: impl FnMut(Progress<'_>),
) -> std::result::Result<BTreeMap<String, u64>, CopyError> {
    from.alone("source").await?;
    to.alone("database to copy to").await?;
    let tables = schema::common(from, to).await?;
    let mut mark = begin(from, to, &tables).await?;
    let mut total = 0;
    for table in &tables {
        total += rows::count(from, table).await?;
    }
    let mut told = |step, table: &str, rows| progress(Progress { step, table, rows, of: total });
    for table in tables.iter().filter(|table| table.name != META) {
        if !mark.done.contains(&table.name) {
            move_table(from, to, table, &mut mark, &mut told).await?;
        }
    }
    let counts = verify(from, to, &tables, &mut told).await?;
    finish(from, to, &tables).await?;
    Ok(counts)
}

/// Whether this is the first batch, or where the last one ended.
async fn begin(from: &Store, to: &Store, tables: &[Table]) -> std::result::Result<Mark, CopyError> {
    let source = from.installation().await?;
    if let Some(kept) = to.mark().await? {
        let mark: Mark = serde_json::from_slice(&kept).map_err(|_| CopyError::Another)?;
        return if mark.source == source { Ok(mark) } else { Err(CopyError::Another) };
    }
    let people = tables.iter().filter(|table| ["teams", "users"].contains(&table.name.as_str()));
    for table in people {
        if rows::count(to, table).await? > 0 {
            return Err(CopyError::NotEmpty);
        }
    }
    let mark = Mark { source, ..Mark::default() };
    // What a new database already holds, the source has in its own way.
    let cleared = tables.iter().rev().filter(|table| table.name != META);
    rows::clear(to, cleared, &mark).await?;
    Ok(mark)
}

async fn move_table(
    from: &Store,
    to: &Store,
    table: &Table,
    mark: &mut Mark,
    told: &mut impl FnMut(CopyStep, &str, u64),
) -> std::result::Result<(), CopyError> {
    if mark.table != table.name {
        (mark.table, mark.last) = (table.name.clone(), Vec::new());
    }
    loop {
        let batch = rows::page(from, table, &mark.last, table.page()).await?;
        let last = batch.len() < table.page() || !table.has_key();
        if let Some(row) = batch.last() {
            mark.last = table.key_of(row);
        }
        mark.rows += u64::try_from(batch.len()).unwrap_or(0);
        if last {
            mark.done.push(table.name.clone());
        }
        rows::put(to, table, &batch, mark).await?;
        told(CopyStep::Copying, &table.name, mark.rows);
        if last {
            return Ok(());
        }
    }
}

async fn verify(
    from: &Store,
    to: &Store,
    tables: &[Table],
    told: &mut impl FnMut(CopyStep, &str, u64),
) -> std::result::Result<BTreeMap<String, u64>, CopyError> {
    let (mut counts, mut checked) = (BTreeMap::new(), 0);
    for table in tables.iter().filter(|table| table.name != META) {
        let (source, copied) = (Sum::of(from, table).await?, Sum::of(to, table).await?);
        if source.rows != copied.rows {
            let table = table.name.clone();
            return Err(CopyError::Count { table, from: source.rows, to: copied.rows });
        }
        if source != copied {
            return Err(CopyError::Sum(table.name.clone()));
        }
        checked += source.rows;
        counts.insert(table.name.clone(), source.rows);
        told(CopyStep::Checking, &table.name, checked);
    }
    Ok(counts)
}

/// Puts the source's own `meta` in place, which takes the mark away.
async fn finish(from: &Store, to: &Store, tables: &[Table]) -> std::result::Result<(), CopyError> {
    let Some(meta) = tables.iter().find(|table| table.name == META) else {
        return Err(CopyError::Schema(META.to_owned()));
    };
    let all = rows::page(from, meta, &[], usize::MAX >> 1).await?;
    Ok(rows::replace(to, meta, &all).await?)
}

impl Store {
    /// Refuses a database that is only half of what it is a copy of.
    pub(crate) async fn refuse_half_a_copy(&self) -> Result<()> {
        match self.mark().await? {
            None => Ok(()),
            Some(_) => Err(StoreError::History(
                "a copy into this database was begun and not finished: run the same `wakeful migrate --to` again"
                    .to_owned(),
            )),
        }
    }

    async fn mark(&self) -> Result<Option<Vec<u8>>> {
        Ok(read!(self, |db| {
            sqlx::query_scalar("select value from meta where name = $1")
                .bind(MARK)
                .fetch_optional(db)
                .await
        })?)
    }

    /// Tells one installation from another: the word that proves the keyring
    /// was sealed once, at random.
    async fn installation(&self) -> Result<String> {
        let word: Vec<u8> = read!(self, |db| {
            sqlx::query_scalar("select value from meta where name = 'keyring'").fetch_one(db).await
        })?;
        let text = data_encoding::HEXLOWER.encode(&word);
        Ok(data_encoding::HEXLOWER.encode(&Digest::of(&text).0))
    }

    /// Whether nobody else is connected. A SQLite file has a lock for that,
    /// which the caller holds.
    async fn alone(&self, which: &'static str) -> std::result::Result<(), CopyError> {
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
        if others > 0 { Err(CopyError::InUse(which)) } else { Ok(()) }
    }
}

/// Writes the mark outside of a batch; for the first one.
fn mark_text(mark: &Mark) -> Vec<u8> {
    serde_json::to_vec(mark).unwrap_or_default()
}
