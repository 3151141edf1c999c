//! The images of status pages.

use wakeful_core::audit::{Action, Change};
use wakeful_core::id::StatuspageId;
use wakeful_core::statuspages::page::{PageImage, StatusPage};
use wakeful_core::statuspages::snapshot::ImageKind;

use super::pages::{note_change, object};
use crate::dialect::{read, within};
use crate::{AuditContext, NewEntry, Result, Store, TeamStore};

impl TeamStore<'_> {
    /// Stores or deletes an image of a page of the team; false if there was nothing to change.
    pub async fn set_statuspage_image(
        &self,
        page: &StatusPage,
        kind: ImageKind,
        image: Option<(&PageImage, &[u8])>,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let changed = within!(tx, |db| {
            match image {
                Some((image, data)) => sqlx::query(
                    "insert into statuspage_images (page_id, kind, digest, media_type, data)
                     select p.id, $3, $4, $5, $6 from statuspages p
                     where p.id = $1 and p.team_id = $2
                     on conflict (page_id, kind) do update
                     set digest = excluded.digest, media_type = excluded.media_type,
                         data = excluded.data",
                )
                .bind(page.id.uuid())
                .bind(self.team.uuid())
                .bind(kind.as_str())
                .bind(&image.digest)
                .bind(&image.media_type)
                .bind(data)
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1),
                None => sqlx::query(
                    "delete from statuspage_images where page_id = $1 and kind = $3
                     and exists (select 1 from statuspages p where p.id = $1 and p.team_id = $2)",
                )
                .bind(page.id.uuid())
                .bind(self.team.uuid())
                .bind(kind.as_str())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1),
            }
        })?;
        if !changed {
            return Ok(false);
        }
        note_change(&mut tx, &[page.id]).await?;
        let to = image.map(|(image, _)| serde_json::Value::from(image.digest.as_str()));
        let change = Change::new(kind.as_str(), None, to);
        let entry = NewEntry::new(Action::StatuspageUpdate, object(page), vec![change]);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(true)
    }
}

impl Store {
    /// The content of an image of a page.
    pub async fn statuspage_image(
        &self,
        page: StatuspageId,
        kind: ImageKind,
    ) -> Result<Option<(PageImage, Vec<u8>)>> {
        let row: Option<(String, String, Vec<u8>)> = read!(self, |db| {
            sqlx::query_as(
                "select digest, media_type, data from statuspage_images
                 where page_id = $1 and kind = $2",
            )
            .bind(page.uuid())
            .bind(kind.as_str())
            .fetch_optional(db)
            .await
        })?;
        let image = |(digest, media_type, data)| (PageImage { kind, digest, media_type }, data);
        Ok(row.map(image))
    }
}
