//! Reads and writes rows in pages, in the order of their key, on either database, and
//! computes a checksum of all rows that does not depend on their order.

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, PgConnection};
use wakeful_core::token::Digest;

use super::schema::Table;
use super::value::Value;
use super::{CHECKPOINT_NAME, Checkpoint, checkpoint_json};
use crate::dialect::{OpenTx, Pool, Tx, read, within};
use crate::{Result, Store};

type Row = Vec<Value>;

/// The number of rows of a table, and the sum of their hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TableSum {
    pub(super) rows: u64,
    sum: u128,
}

impl TableSum {
    pub(super) async fn of(store: &Store, table: &Table) -> Result<Self> {
        let (mut sum, mut last) = (Self::default(), Vec::new());
        loop {
            let page = page(store, table, &last, table.page()).await?;
            page.iter().for_each(|row| sum.add(row));
            match page.last().filter(|_| page.len() >= table.page()) {
                Some(row) => last = table.key_of(row),
                None => return Ok(sum),
            }
        }
    }

    fn add(&mut self, row: &Row) {
        let mut bytes = Vec::new();
        row.iter().for_each(|value| value.canonical(&mut bytes));
        let Digest(hash) = Digest::of(&data_encoding::HEXLOWER.encode(&bytes));
        let mut half = [0; 16];
        half.copy_from_slice(&hash[..16]);
        self.rows += 1;
        self.sum = self.sum.wrapping_add(u128::from_be_bytes(half));
    }
}

pub(super) async fn count(store: &Store, table: &Table) -> Result<u64> {
    let sql = format!("select count(*) from {}", table.name);
    let count: i64 =
        read!(store, |db| { sqlx::query_scalar(AssertSqlSafe(sql.as_str())).fetch_one(db).await })?;
    Ok(count.max(0).cast_unsigned())
}

/// The rows after `last`, in the order of the key.
pub(super) async fn page(
    store: &Store,
    table: &Table,
    last: &[Value],
    limit: usize,
) -> Result<Vec<Row>> {
    let key: Vec<String> =
        table.key.iter().map(|index| format!("\"{}\"", table.columns[*index].name)).collect();
    let key = key.join(", ");
    let mut sql = format!("select {} from {}", table.list(), table.name);
    if !last.is_empty() {
        sql.push_str(&format!(" where ({key}) > ({})", placeholders(0, last.len())));
    }
    if table.has_key() {
        sql.push_str(&format!(" order by {key}"));
    }
    sql.push_str(&format!(" limit {limit}"));
    let width = table.columns.len();
    Ok(match &store.pool {
        Pool::Sqlite { readers, .. } => {
            let mut query = sqlx::query(AssertSqlSafe(sql));
            for value in last {
                query = value.clone().bind_sqlite(query);
            }
            let rows = query.fetch_all(readers).await?;
            let read = |row| (0..width).map(|at| Value::of_sqlite(row, at)).collect();
            rows.iter().map(read).collect::<sqlx::Result<_>>()?
        }
        Pool::Postgres(pool) => {
            let mut query = sqlx::query(AssertSqlSafe(sql));
            for (value, index) in last.iter().zip(&table.key) {
                query = value.clone().bind_postgres(query, table.columns[*index].kind);
            }
            let rows = query.fetch_all(pool).await?;
            let read = |row| {
                let kinds = table.columns.iter().map(|column| column.kind).enumerate();
                kinds.map(|(at, kind)| Value::of_postgres(row, at, kind)).collect()
            };
            rows.iter().map(read).collect::<sqlx::Result<_>>()?
        }
    })
}

/// Writes rows together with the checkpoint.
pub(super) async fn write_page(
    store: &Store,
    table: &Table,
    rows: &[Row],
    checkpoint: &Checkpoint,
) -> Result<()> {
    let mut tx = store.begin().await?;
    insert(&mut tx, table, rows).await?;
    set_checkpoint(&mut tx, checkpoint).await?;
    tx.commit().await
}

/// Empties the tables, as the first step of a transfer.
pub(super) async fn clear(
    store: &Store,
    tables: impl Iterator<Item = &Table>,
    checkpoint: &Checkpoint,
) -> Result<()> {
    let mut tx = store.begin().await?;
    for table in tables {
        delete(&mut tx, table).await?;
    }
    set_checkpoint(&mut tx, checkpoint).await?;
    tx.commit().await
}

/// Replaces all rows of a table with these.
pub(super) async fn replace(store: &Store, table: &Table, rows: &[Row]) -> Result<()> {
    let mut tx = store.begin().await?;
    delete(&mut tx, table).await?;
    insert(&mut tx, table, rows).await?;
    tx.commit().await
}

async fn delete(tx: &mut Tx, table: &Table) -> Result<()> {
    let sql = format!("delete from {}", table.name);
    within!(*tx, |db| sqlx::query(AssertSqlSafe(sql.as_str()))
        .execute(&mut *db)
        .await
        .map(|_| ()))?;
    Ok(())
}

async fn set_checkpoint(tx: &mut Tx, checkpoint: &Checkpoint) -> Result<()> {
    let text = checkpoint_json(checkpoint);
    within!(*tx, |db| {
        sqlx::query(
            "insert into meta (name, value) values ($1, $2)
             on conflict (name) do update set value = excluded.value",
        )
        .bind(CHECKPOINT_NAME)
        .bind(&text[..])
        .execute(&mut *db)
        .await
        .map(|_| ())
    })?;
    Ok(())
}

async fn insert(tx: &mut Tx, table: &Table, rows: &[Row]) -> Result<()> {
    for rows in rows.chunks(table.batch()) {
        let width = table.columns.len();
        let tuples: Vec<String> =
            (0..rows.len()).map(|row| format!("({})", placeholders(row * width, width))).collect();
        let sql =
            format!("insert into {} ({}) values {}", table.name, table.list(), tuples.join(", "));
        match &mut tx.db {
            OpenTx::Sqlite(tx) => insert_sqlite(tx, sql, rows).await?,
            OpenTx::Postgres(tx) => insert_postgres(tx, sql, table, rows).await?,
        }
    }
    Ok(())
}

async fn insert_sqlite(db: &mut SqliteConnection, sql: String, rows: &[Row]) -> Result<()> {
    let mut query = sqlx::query(AssertSqlSafe(sql));
    for value in rows.iter().flatten() {
        query = value.clone().bind_sqlite(query);
    }
    query.execute(db).await?;
    Ok(())
}

async fn insert_postgres(
    db: &mut PgConnection,
    sql: String,
    table: &Table,
    rows: &[Row],
) -> Result<()> {
    let mut query = sqlx::query(AssertSqlSafe(sql));
    for row in rows {
        for (value, column) in row.iter().zip(&table.columns) {
            query = value.clone().bind_postgres(query, column.kind);
        }
    }
    query.execute(db).await?;
    Ok(())
}

/// `$1, $2, …`, starting after `before`.
fn placeholders(before: usize, count: usize) -> String {
    let placeholders = (1..=count).map(|index| format!("${}", before + index));
    placeholders.collect::<Vec<_>>().join(", ")
}
