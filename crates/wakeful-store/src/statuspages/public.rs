//! What serving status pages reads: of all teams, and only of pages that exist.

use uuid::Uuid;
use wakeful_core::id::{MonitorId, StatuspageId, TeamId};
use wakeful_core::monitors::Kind;
use wakeful_core::statuspages::component::MAX_TAGGED;
use wakeful_core::statuspages::page::StatusPage;
use wakeful_core::time::Millis;
use wakeful_core::verdict::Status;

use super::rows::{PageRow, StoredPage, page_columns};
use crate::deletion::deleted_teams;
use crate::dialect::{either, from_row, read};
use crate::monitors::id_array;
use crate::{Result, Store};

/// A published page without its parts: what finding it and access control need.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedPage {
    pub page: StatusPage,
    pub changed: i64,
}

/// A slug of a published page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedSlug {
    pub slug: String,
    pub page: StatuspageId,
    pub is_current: bool,
}

from_row!(PublishedSlug, |row| Self {
    slug: row.try_get("slug")?,
    page: row.try_get::<Uuid, _>("page_id")?.into(),
    is_current: row.try_get("is_current")?,
});

/// An active monitor with its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownMonitor {
    pub id: MonitorId,
    pub kind: Kind,
    pub status: Status,
    /// Since when it has this status.
    pub since: Option<Millis>,
}

from_row!(ShownMonitor, |row| {
    let status: &str = row.try_get("status")?;
    Self {
        id: row.try_get::<Uuid, _>("id")?.into(),
        kind: Kind::parse(row.try_get("kind")?)
            .map_err(|error| sqlx::Error::Decode(error.into()))?,
        status: Status::parse(status)
            .ok_or_else(|| sqlx::Error::Decode("the status of a monitor is damaged".into()))?,
        since: row.try_get::<Option<i64>, _>("since")?.map(Millis),
    }
});

impl Store {
    /// A number that differs after every change of what pages show.
    pub async fn statuspage_changes(&self) -> Result<(i64, i64)> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select count(*), cast(coalesce(sum(changed), 0) as bigint) from statuspages",
            )
            .fetch_one(db)
            .await
        })?)
    }

    /// All published pages, without their parts.
    pub async fn published_pages(&self) -> Result<Vec<PublishedPage>> {
        let rows: Vec<PageRow> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select ",
                page_columns!(),
                " from statuspages p where p.published and p.team_id not in ",
                deleted_teams!(),
                " order by p.id"
            ))
            .fetch_all(db)
            .await
        })?;
        rows.into_iter()
            .map(|row| {
                let PageRow { page, changed, .. } = row.unsealed(&self.keyring)?;
                Ok(PublishedPage { page, changed })
            })
            .collect()
    }

    /// The current and former slugs of published pages.
    pub async fn published_slugs(&self) -> Result<Vec<PublishedSlug>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select s.slug, s.page_id, s.is_current from statuspage_slugs s
                 join statuspages p on p.id = s.page_id
                 where p.published",
            )
            .fetch_all(db)
            .await
        })?)
    }

    /// The name of a page, published or not.
    pub async fn statuspage_name(&self, page: StatuspageId) -> Result<Option<String>> {
        Ok(read!(self, |db| {
            sqlx::query_scalar(concat!(
                "select name from statuspages where id = $1 and team_id not in ",
                deleted_teams!()
            ))
            .bind(page.uuid())
            .fetch_optional(db)
            .await
        })?)
    }

    /// A page with all its parts, published or not.
    pub async fn shown_statuspage(
        &self,
        page: StatuspageId,
        team: TeamId,
    ) -> Result<Option<StoredPage>> {
        self.read_statuspage(page, team, None).await
    }

    /// Those of these monitors of a team that are active.
    pub async fn shown_monitors(
        &self,
        team: TeamId,
        monitors: &[MonitorId],
    ) -> Result<Vec<ShownMonitor>> {
        let sql = either!(
            self,
            sqlite: "select m.id, m.kind, s.status, s.since
                 from monitors m join monitor_states s on s.monitor_id = m.id
                 where m.team_id = $1 and m.isactive
                 and m.id in (select unhex(value) from json_each($2))",
            postgres: "select m.id, m.kind, s.status, s.since
                 from monitors m join monitor_states s on s.monitor_id = m.id
                 where m.team_id = $1 and m.isactive
                 and m.id in (
                     select cast(value as uuid) from json_array_elements_text(cast($2 as json)))"
        );
        Ok(read!(self, |db| {
            sqlx::query_as(sql).bind(team.uuid()).bind(id_array(monitors)).fetch_all(db).await
        })?)
    }

    /// The active monitors of a team with a tag, the oldest first.
    pub async fn tagged_monitors(&self, team: TeamId, tag: &str) -> Result<Vec<ShownMonitor>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select m.id, m.kind, s.status, s.since
                 from monitors m
                 join monitor_tags t on t.monitor_id = m.id
                 join monitor_states s on s.monitor_id = m.id
                 where m.team_id = $1 and t.tag = $2 and m.isactive
                 order by m.id
                 limit $3",
            )
            .bind(team.uuid())
            .bind(tag)
            .bind(MAX_TAGGED as i64)
            .fetch_all(db)
            .await
        })?)
    }
}
