//! The last time any node was up to receive reports.

use wakeful_core::time::Millis;

use crate::dialect::{read, write_lazily};
use crate::{Result, Store};

const NAME: &str = "listened_until";

impl Store {
    /// `None` when no node ever was.
    pub async fn listened_until(&self) -> Result<Option<Millis>> {
        let stored: Option<Vec<u8>> = read!(self, |db| {
            sqlx::query_scalar("select value from meta where name = $1")
                .bind(NAME)
                .fetch_optional(db)
                .await
        })?;
        let text = stored.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(text.and_then(|text| text.parse().ok()).map(Millis))
    }

    pub async fn mark_listening(&self, now: Millis) -> Result<()> {
        write_lazily!(self, |db| {
            sqlx::query(
                "insert into meta (name, value) values ($1, $2)
                 on conflict (name) do update set value = excluded.value",
            )
            .bind(NAME)
            .bind(now.0.to_string().into_bytes())
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }
}
