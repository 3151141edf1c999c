//! The domains of status pages, and the records that prove who owns them.

use uuid::Uuid;
use wakeful_core::audit::{Action, Change};
use wakeful_core::id::{StatuspageId, TeamId};
use wakeful_core::statuspages::page::StatusPage;
use wakeful_core::time::Millis;

use super::pages::{note_change, object};
use crate::deletion::deleted_teams;
use crate::dialect::{Tx, from_row, read, within};
use crate::{AuditContext, Mail, NewEntry, Result, Store, TeamStore, mail};

/// A domain of a published page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedDomain {
    pub domain: String,
    pub page: StatuspageId,
    pub is_verified: bool,
}

from_row!(PublishedDomain, |row| Self {
    domain: row.try_get("domain")?,
    page: row.try_get::<Uuid, _>("page_id")?.into(),
    is_verified: row.try_get::<Option<i64>, _>("verified")?.is_some(),
});

/// A domain whose record is to be looked up again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueDomain {
    pub domain: String,
    pub page: StatuspageId,
    pub team: TeamId,
    /// The name of the page.
    pub name: String,
    pub is_verified: bool,
    pub is_lost: bool,
}

from_row!(DueDomain, |row| Self {
    domain: row.try_get("domain")?,
    page: row.try_get::<Uuid, _>("page_id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    name: row.try_get("name")?,
    is_verified: row.try_get::<Option<i64>, _>("verified")?.is_some(),
    is_lost: row.try_get::<Option<i64>, _>("lost")?.is_some(),
});

impl Store {
    /// The domains of all published pages.
    pub async fn published_domains(&self) -> Result<Vec<PublishedDomain>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select d.domain, d.page_id, d.verified from statuspage_domains d
                 join statuspages p on p.id = d.page_id
                 where p.published",
            )
            .fetch_all(db)
            .await
        })?)
    }

    /// The domains that were not looked up since `before`, the longest ago first.
    pub async fn due_domains(&self, before: Millis, limit: u32) -> Result<Vec<DueDomain>> {
        Ok(read!(self, |db| {
            sqlx::query_as(concat!(
                "select d.domain, d.page_id, p.team_id, p.name, d.verified, d.lost
                 from statuspage_domains d
                 join statuspages p on p.id = d.page_id
                 where coalesce(d.checked, 0) <= $1 and p.team_id not in ",
                deleted_teams!(),
                " order by coalesce(d.checked, 0), d.domain limit $2"
            ))
            .bind(before.0)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?)
    }

    /// Stores the outcome of a lookup; `None` if there was no answer. `mails` notify the team
    /// that a record is gone, and are queued only by the call that notes it.
    pub async fn note_domain_lookup(
        &self,
        due: &DueDomain,
        found: Option<bool>,
        mails: &[Mail],
        now: Millis,
    ) -> Result<()> {
        let mut tx = self.begin().await?;
        match found {
            Some(true) => drop(mark_found(&mut tx, due.page, &due.domain, now).await?),
            Some(false) if due.is_verified => {
                let is_new = within!(tx, |db| {
                    sqlx::query(
                        "update statuspage_domains set checked = $3, lost = $3
                         where domain = $1 and page_id = $2 and lost is null",
                    )
                    .bind(&due.domain)
                    .bind(due.page.uuid())
                    .bind(now.0)
                    .execute(db)
                    .await
                    .map(|done| done.rows_affected() == 1)
                })?;
                if is_new {
                    for one in mails {
                        mail::insert(&mut tx, &mail::sealed(&self.keyring, one), now).await?;
                    }
                }
            }
            Some(false) | None => {}
        }
        within!(tx, |db| {
            sqlx::query(
                "update statuspage_domains set checked = $3 where domain = $1 and page_id = $2",
            )
            .bind(&due.domain)
            .bind(due.page.uuid())
            .bind(now.0)
            .execute(db)
            .await?;
        });
        tx.commit().await?;
        Ok(())
    }
}

impl TeamStore<'_> {
    /// Notes that the record of a domain was found; whether the domain was not verified before.
    pub async fn verify_domain(
        &self,
        page: &StatusPage,
        domain: &str,
        now: Millis,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let is_new = mark_found(&mut tx, page.id, domain, now).await?;
        if is_new {
            let verified = serde_json::Value::from(format!("{domain} verified"));
            let changes = vec![Change::new("domains", None, Some(verified))];
            let entry = NewEntry::new(Action::StatuspageUpdate, object(page), changes);
            self.store.write_entry(&mut tx, by, &entry).await?;
        }
        tx.commit().await?;
        Ok(is_new)
    }
}

/// Whether the domain was not verified before.
async fn mark_found(tx: &mut Tx, page: StatuspageId, domain: &str, now: Millis) -> Result<bool> {
    let is_new = within!(*tx, |db| {
        sqlx::query(
            "update statuspage_domains set checked = $3, lost = null
             where domain = $1 and page_id = $2",
        )
        .bind(domain)
        .bind(page.uuid())
        .bind(now.0)
        .execute(&mut *db)
        .await?;
        sqlx::query(
            "update statuspage_domains set verified = $3
             where domain = $1 and page_id = $2 and verified is null",
        )
        .bind(domain)
        .bind(page.uuid())
        .bind(now.0)
        .execute(db)
        .await
        .map(|done| done.rows_affected() == 1)
    })?;
    if is_new {
        note_change(tx, &[page]).await?;
    }
    Ok(is_new)
}
