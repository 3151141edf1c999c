//! Moving sealed values to the keyring's first key, in small batches. It may
//! be stopped anywhere and run again: what is done is skipped by its key id.

use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::dialect::{read, write};
use crate::{Result, Store, StoreError};

/// Every sealed column whose row is named by a column `id`.
const COLUMNS: &[(&str, &str)] = &[
    ("users", "mfa_seed"),
    ("mails", "content"),
    ("monitors", "secret"),
    ("monitors", "push_token"),
    ("notifiers", "secret"),
];
const BATCH: i64 = 200;

/// How many values were moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resealed(pub u64);

impl Store {
    /// Seals everything under the first key that still is under another.
    pub async fn reseal(&self) -> Result<Resealed> {
        let mut moved = 0;
        for (table, column) in COLUMNS {
            moved += self.reseal_column(table, column).await?;
        }
        moved += self.reseal_meta().await?;
        Ok(Resealed(moved))
    }

    async fn reseal_column(&self, table: &'static str, column: &'static str) -> Result<u64> {
        // Only names from the table above go into the text.
        let find = format!(
            "select id, {column} from {table}
             where {column} is not null and substr({column}, 2, 4) <> $1
             order by id limit $2"
        );
        let keep = format!("update {table} set {column} = $3 where id = $1 and {column} = $2");
        let mut moved = 0;
        loop {
            let rows: Vec<(Uuid, Vec<u8>)> = read!(self, |db| {
                sqlx::query_as(AssertSqlSafe(find.as_str()))
                    .bind(&self.keyring.sealing()[..])
                    .bind(BATCH)
                    .fetch_all(db)
                    .await
            })?;
            if rows.is_empty() {
                return Ok(moved);
            }
            for (id, old) in rows {
                let context = format!("{table}.{column}:{}", id.hyphenated());
                let plain = self.keyring.open(&context, &old).ok_or(StoreError::Sealed(table))?;
                let new = self.keyring.seal(&context, &plain);
                moved += write!(self, |db| {
                    sqlx::query(AssertSqlSafe(keep.as_str()))
                        .bind(id)
                        .bind(&old[..])
                        .bind(&new[..])
                        .execute(db)
                        .await
                        .map(|done| done.rows_affected())
                })?;
            }
        }
    }

    /// The word that proves the keyring at start.
    async fn reseal_meta(&self) -> Result<u64> {
        let sealed = self.keyring.seal("meta.value:keyring", b"wakeful");
        Ok(write!(self, |db| {
            sqlx::query(
                "update meta set value = $1 where name = 'keyring' and substr(value, 2, 4) <> $2",
            )
            .bind(&sealed[..])
            .bind(&self.keyring.sealing()[..])
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?)
    }
}
