//! Key rotation: reseals values with the keyring's first key, in small batches. It
//! can be interrupted at any point and run again: values that already have that
//! key's id are skipped.

use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::dialect::{read, write};
use crate::installation_secrets::InstallationSecret;
use crate::{Result, Store, StoreError};

/// Every sealed column of tables with a column `id`.
const COLUMNS: &[(&str, &str)] = &[
    ("users", "mfa_seed"),
    ("mails", "content"),
    ("monitors", "secret"),
    ("monitors", "push_token"),
    ("notifiers", "secret"),
    ("push_subscriptions", "endpoint"),
    ("push_subscriptions", "keys"),
    ("audit_heads", "seal"),
    ("audit_streams", "secret"),
    ("evidence", "data"),
    ("monitors", "ping_uuid"),
    ("teams", "ping_key"),
    ("pings", "body"),
    ("statuspages", "access_token"),
    ("subscribers", "address"),
    ("subscribers", "secret"),
];
const BATCH_ROWS: i64 = 200;

/// The number of values that were resealed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resealed(pub u64);

impl Store {
    /// Reseals with the first key all values that are sealed with another.
    pub async fn reseal(&self) -> Result<Resealed> {
        let mut resealed = 0;
        for (table, column) in COLUMNS {
            resealed += self.reseal_column(table, column).await?;
        }
        resealed += self.reseal_meta().await?;
        for secret in InstallationSecret::ALL {
            resealed += self.reseal_secret(secret).await?;
        }
        Ok(Resealed(resealed))
    }

    async fn reseal_column(&self, table: &'static str, column: &'static str) -> Result<u64> {
        // Only names from `COLUMNS` go into the SQL text.
        let find = format!(
            "select id, {column} from {table}
             where {column} is not null and substr({column}, 2, 4) <> $1
             order by id limit $2"
        );
        let update = format!("update {table} set {column} = $3 where id = $1 and {column} = $2");
        let mut resealed = 0;
        loop {
            let rows: Vec<(Uuid, Vec<u8>)> = read!(self, |db| {
                sqlx::query_as(AssertSqlSafe(find.as_str()))
                    .bind(&self.keyring.sealing_key_id()[..])
                    .bind(BATCH_ROWS)
                    .fetch_all(db)
                    .await
            })?;
            if rows.is_empty() {
                return Ok(resealed);
            }
            for (id, old) in rows {
                let context = format!("{table}.{column}:{}", id.hyphenated());
                let plain = self.keyring.open(&context, &old).ok_or(StoreError::Sealed(table))?;
                let new = self.keyring.seal(&context, &plain);
                resealed += write!(self, |db| {
                    sqlx::query(AssertSqlSafe(update.as_str()))
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

    /// The value that verifies the keyring at startup.
    async fn reseal_meta(&self) -> Result<u64> {
        let sealed = self.keyring.seal("meta.value:keyring", b"wakeful");
        Ok(write!(self, |db| {
            sqlx::query(
                "update meta set value = $1 where name = 'keyring' and substr(value, 2, 4) <> $2",
            )
            .bind(&sealed[..])
            .bind(&self.keyring.sealing_key_id()[..])
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?)
    }

    /// A secret of the installation, if there is one.
    async fn reseal_secret(&self, secret: InstallationSecret) -> Result<u64> {
        let old: Option<Vec<u8>> = read!(self, |db| {
            sqlx::query_scalar(
                "select value from meta where name = $1 and substr(value, 2, 4) <> $2",
            )
            .bind(secret.name())
            .bind(&self.keyring.sealing_key_id()[..])
            .fetch_optional(db)
            .await
        })?;
        let Some(old) = old else { return Ok(0) };
        let context = secret.context();
        let plain = self.keyring.open(&context, &old).ok_or(StoreError::Sealed("meta"))?;
        let new = self.keyring.seal(&context, &plain);
        Ok(write!(self, |db| {
            sqlx::query("update meta set value = $3 where name = $1 and value = $2")
                .bind(secret.name())
                .bind(&old[..])
                .bind(&new[..])
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?)
    }
}
