//! The status pages of teams.

use std::collections::{HashMap, HashSet};
use uuid::Uuid;
use wakeful_core::audit::{Action, Audited as _, Object, ObjectKind, diff};
use wakeful_core::id::{ComponentId, MonitorId, StatuspageId, TeamId};
use wakeful_core::statuspages::component::{Component, Override, Section};
use wakeful_core::statuspages::page::{Access, MAX_PAGES, PageDomain, StatusPage};
use wakeful_core::statuspages::subscriber::SubscriberKind;
use wakeful_core::time::Millis;

use super::rows::{StoredPage, seal};
use crate::accounts::team::lock_team;
use crate::deletion::{hidden_team, hide_pages_of};
use crate::dialect::{Tx, either, from_row, read, within};
use crate::monitors::{id_array, json};
use crate::{AuditContext, NewEntry, Result, Store, TeamStore};

/// The outcome of saving a status page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavePageOutcome {
    Done,
    /// The team has `MAX_PAGES`.
    LimitReached,
    /// The team has the most pages that its plan allows.
    PlanLimit,
    /// It was changed or deleted meanwhile; nothing was saved.
    Conflict,
    SlugTaken,
    DomainTaken,
}

/// A page in the team's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPage {
    pub id: StatuspageId,
    pub slug: String,
    pub name: String,
    pub published: bool,
    pub access: Access,
    /// Its primary domain.
    pub domain: Option<String>,
    pub is_domain_verified: bool,
    pub components: i64,
    pub open_incidents: i64,
    /// Its active subscribers.
    pub recipients: Vec<(SubscriberKind, i64)>,
    pub modified: Millis,
}

from_row!(ListedPage, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    slug: row.try_get("slug")?,
    name: row.try_get("name")?,
    published: row.try_get("published")?,
    access: Access::parse(row.try_get("access")?)
        .map_err(|error| sqlx::Error::Decode(error.into()))?,
    domain: row.try_get("domain")?,
    is_domain_verified: row.try_get::<Option<i64>, _>("domain_verified")?.is_some(),
    components: row.try_get("components")?,
    open_incidents: row.try_get("open_incidents")?,
    recipients: Vec::new(),
    modified: Millis(row.try_get("modified")?),
});

impl TeamStore<'_> {
    /// The team's pages in the order they were created.
    pub async fn statuspages(&self) -> Result<Vec<ListedPage>> {
        let mut pages: Vec<ListedPage> = read!(self.store, |db| {
            sqlx::query_as(
                "select p.id, p.slug, p.name, p.published, p.access, p.modified,
                        (select min(d.domain) from statuspage_domains d
                         where d.page_id = p.id and d.is_primary) as domain,
                        (select min(d.verified) from statuspage_domains d
                         where d.page_id = p.id and d.is_primary) as domain_verified,
                        (select count(*) from components c where c.page_id = p.id) as components,
                        (select count(*) from incident_pages ip
                         join incidents i on i.id = ip.incident_id
                         where ip.page_id = p.id and i.state = 'published'
                         and i.kind = 'incident' and i.status <> 'resolved') as open_incidents
                 from statuspages p where p.team_id = $1 order by p.id",
            )
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?;
        let counts: Vec<(Uuid, String, i64)> = read!(self.store, |db| {
            sqlx::query_as(
                "select s.page_id, s.kind, count(*) from statuspages p
                 join subscribers s on s.page_id = p.id
                 where p.team_id = $1 and s.state = 'active'
                 group by s.page_id, s.kind",
            )
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?;
        for (page, kind, count) in counts {
            let page = pages.iter_mut().find(|one| one.id == StatuspageId::from(page));
            if let (Some(page), Ok(kind)) = (page, SubscriberKind::parse(&kind)) {
                page.recipients.push((kind, count));
            }
        }
        Ok(pages)
    }

    pub async fn statuspage(&self, id: StatuspageId) -> Result<Option<StoredPage>> {
        self.store.read_statuspage(id, self.team, self.filter).await
    }

    /// The page of a component.
    pub async fn statuspage_of(&self, component: ComponentId) -> Result<Option<StatuspageId>> {
        let page: Option<Uuid> = read!(self.store, |db| {
            sqlx::query_scalar(
                "select p.id from components c
                 join statuspages p on p.id = c.page_id
                 where c.id = $1 and p.team_id = $2",
            )
            .bind(component.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        Ok(page.map(StatuspageId::from))
    }

    /// Which of these monitors the team has, with their names.
    pub async fn monitor_names(&self, ids: &[MonitorId]) -> Result<Vec<(MonitorId, String)>> {
        let sql = either!(
            self.store,
            sqlite: "select m.id, m.name from monitors m
                     where m.team_id = $1 and m.id in (select unhex(value) from json_each($2))",
            postgres: "select m.id, m.name from monitors m
                     where m.team_id = $1 and m.id in (
                         select cast(value as uuid) from json_array_elements_text(cast($2 as json)))"
        );
        let rows: Vec<(Uuid, String)> = read!(self.store, |db| {
            sqlx::query_as(sql).bind(self.team.uuid()).bind(id_array(ids)).fetch_all(db).await
        })?;
        Ok(rows.into_iter().map(|(id, name)| (id.into(), name)).collect())
    }

    /// Adds a page. `plan` is the most pages that the plan of the team allows.
    pub async fn add_statuspage(
        &self,
        page: &StatusPage,
        plan: Option<u32>,
        by: &AuditContext,
    ) -> Result<SavePageOutcome> {
        let changes = diff(None, Some(&page.view()));
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, page.modified).await?;
        let count: i64 = within!(tx, |db| {
            sqlx::query_scalar("select count(*) from statuspages where team_id = $1")
                .bind(self.team.uuid())
                .fetch_one(db)
                .await
        })?;
        if count >= MAX_PAGES as i64 {
            return Ok(SavePageOutcome::LimitReached);
        }
        if plan.is_some_and(|max| count >= i64::from(max)) {
            return Ok(SavePageOutcome::PlanLimit);
        }
        within!(tx, |db| {
            sqlx::query(
                "insert into statuspages
                 (id, team_id, name, slug, published, access, password_hash, password_revision,
                  access_token, settings, created, modified)
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            )
            .bind(page.id.uuid())
            .bind(self.team.uuid())
            .bind(&page.name)
            .bind(&page.slug)
            .bind(page.published)
            .bind(page.access.as_str())
            .bind(&page.password_hash)
            .bind(page.password_revision)
            .bind(seal(&self.store.keyring, page))
            .bind(json(&page.settings))
            .bind(page.created.0)
            .bind(page.modified.0)
            .execute(db)
            .await?;
        });
        if let Some(outcome) = write_parts(self.store, &mut tx, None, page).await? {
            return Ok(outcome);
        }
        let entry = NewEntry::new(Action::StatuspageCreate, object(page), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(SavePageOutcome::Done)
    }

    /// Changes a page if it still has the revision it was read with.
    pub async fn change_statuspage(
        &self,
        before: &StoredPage,
        page: &StatusPage,
        by: &AuditContext,
    ) -> Result<SavePageOutcome> {
        let changes = diff(Some(&before.page.view()), Some(&page.view()));
        let mut tx = self.begin().await?;
        let changed = within!(tx, |db| {
            sqlx::query(
                "update statuspages
                 set name = $3, slug = $4, published = $5, access = $6, password_hash = $7,
                     password_revision = $8, access_token = $9, settings = $10, modified = $11,
                     revision = revision + 1, changed = changed + 1
                 where id = $1 and team_id = $2 and revision = $12",
            )
            .bind(page.id.uuid())
            .bind(self.team.uuid())
            .bind(&page.name)
            .bind(&page.slug)
            .bind(page.published)
            .bind(page.access.as_str())
            .bind(&page.password_hash)
            .bind(page.password_revision)
            .bind(seal(&self.store.keyring, page))
            .bind(json(&page.settings))
            .bind(page.modified.0)
            .bind(before.revision)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !changed {
            return Ok(SavePageOutcome::Conflict);
        }
        if let Some(outcome) = write_parts(self.store, &mut tx, Some(&before.page), page).await? {
            return Ok(outcome);
        }
        let entry = NewEntry::new(Action::StatuspageUpdate, object(page), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(SavePageOutcome::Done)
    }

    /// Hides a page with everything that only it shows, so that its rows can be deleted; false if
    /// the team has no such page.
    pub async fn delete_statuspage(&self, page: &StatusPage, by: &AuditContext) -> Result<bool> {
        let mut tx = self.begin().await?;
        let hidden = hidden_team(&mut tx, by.at()).await?;
        let deleted = within!(tx, |db| {
            sqlx::query("update statuspages set team_id = $3 where id = $1 and team_id = $2")
                .bind(page.id.uuid())
                .bind(self.team.uuid())
                .bind(hidden.uuid())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if !deleted {
            return Ok(false);
        }
        within!(tx, |db| {
            sqlx::query(
                "update incidents set team_id = $3
                 where team_id = $2
                 and id in (select p.incident_id from incident_pages p where p.page_id = $1)
                 and not exists (select 1 from incident_pages o
                                 where o.incident_id = incidents.id and o.page_id <> $1)",
            )
            .bind(page.id.uuid())
            .bind(self.team.uuid())
            .bind(hidden.uuid())
            .execute(&mut *db)
            .await?;
            sqlx::query("delete from incident_pages where page_id = $1")
                .bind(page.id.uuid())
                .execute(db)
                .await?;
        });
        hide_pages_of(&mut tx, hidden, by.at()).await?;
        let entry = NewEntry::new(Action::StatuspageDelete, object(page), Vec::new());
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Sets or removes the status that a user gives to a component; false if it is gone.
    pub async fn set_component_status(
        &self,
        page: &StatusPage,
        component: ComponentId,
        set: Option<&Override>,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let changed = within!(tx, |db| {
            sqlx::query(
                "update components set override = $3
                 where id = $1 and page_id = $2
                 and exists (select 1 from statuspages p where p.id = $2 and p.team_id = $4)",
            )
            .bind(component.uuid())
            .bind(page.id.uuid())
            .bind(set.map(json))
            .bind(self.team.uuid())
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !changed {
            return Ok(false);
        }
        note_change(&mut tx, &[page.id]).await?;
        let name = page.components().find(|one| one.id == component).map(Component::shown_name);
        let status = set.map_or("automatic", |set| set.status.as_str());
        let change = wakeful_core::audit::Change::new(
            name.unwrap_or_default(),
            None,
            Some(serde_json::Value::from(status)),
        );
        let entry = NewEntry::new(Action::StatuspageComponent, object(page), vec![change]);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(true)
    }
}

/// Counts a change of what pages show, so that each node renders them again.
pub(super) async fn note_change(tx: &mut Tx, pages: &[StatuspageId]) -> Result<()> {
    for page in pages {
        within!(*tx, |db| {
            sqlx::query("update statuspages set changed = changed + 1 where id = $1")
                .bind(page.uuid())
                .execute(db)
                .await?;
        });
    }
    Ok(())
}

/// Finds the pages of some monitors, names their components and marks them, with `$ids` and `$settings` in
/// the dialect of the database.
macro_rules! lost_monitors {
    ($ids:literal, $settings:literal) => {
        [
            concat!(
                "select distinct c.page_id from component_monitors cm
                 join components c on c.id = cm.component_id
                 join statuspages p on p.id = c.page_id
                 where p.team_id = $1 and cm.monitor_id in (",
                $ids,
                ") order by c.page_id"
            ),
            concat!(
                "update components set name = coalesce(
                     (select m.name from component_monitors cm
                      join monitors m on m.id = cm.monitor_id
                      where cm.component_id = components.id and m.team_id = $1
                      order by cm.position limit 1), '')
                 where name = '' and id in (
                     select component_id from component_monitors where monitor_id in (",
                $ids,
                ")) and not exists (
                     select 1 from component_monitors cm
                     join monitors m on m.id = cm.monitor_id
                     where cm.component_id = components.id and m.team_id = $1
                     and m.id not in (",
                $ids,
                "))"
            ),
            concat!(
                "update components set settings = ",
                $settings,
                " where id in (
                     select cm.component_id from component_monitors cm
                     join monitors m on m.id = cm.monitor_id
                     where m.team_id = $1 and m.id in (",
                $ids,
                "))"
            ),
        ]
    };
}

/// Makes the components of monitors that are about to be deleted remember that they had some: one
/// that loses all of them is not as its team would have set it. It keeps the name that it is shown
/// with. Locks the pages before the monitors, as saving a page does.
pub(crate) async fn note_lost_monitors(
    store: &Store,
    tx: &mut Tx,
    team: TeamId,
    monitors: &[MonitorId],
) -> Result<()> {
    let [find, name, mark] = either!(
        store,
        sqlite: lost_monitors!(
            "select unhex(value) from json_each($2)",
            "json_set(settings, '$.had_monitors', json('true'))"
        ),
        postgres: lost_monitors!(
            "select cast(value as uuid) from json_array_elements_text(cast($2 as json))",
            "cast(jsonb_set(cast(settings as jsonb), '{had_monitors}', 'true') as text)"
        )
    );
    let ids = id_array(monitors);
    let pages: Vec<Uuid> = within!(*tx, |db| {
        sqlx::query_scalar(find).bind(team.uuid()).bind(&ids).fetch_all(db).await
    })?;
    if pages.is_empty() {
        return Ok(());
    }
    within!(*tx, |db| {
        for page in &pages {
            sqlx::query(
                "update statuspages set revision = revision + 1, changed = changed + 1
                 where id = $1",
            )
            .bind(*page)
            .execute(&mut *db)
            .await?;
        }
        for sql in [name, mark] {
            sqlx::query(sql).bind(team.uuid()).bind(&ids).execute(&mut *db).await?;
        }
    });
    Ok(())
}

/// Writes what differs; an outcome if a slug or a domain belongs to another page.
async fn write_parts(
    store: &Store,
    tx: &mut Tx,
    before: Option<&StatusPage>,
    page: &StatusPage,
) -> Result<Option<SavePageOutcome>> {
    if before.is_none_or(|before| before.slug != page.slug) && !take_slug(tx, page).await? {
        return Ok(Some(SavePageOutcome::SlugTaken));
    }
    let old = before.map_or(&[][..], |before| &before.domains);
    if !write_domains(tx, page, old).await? {
        return Ok(Some(SavePageOutcome::DomainTaken));
    }
    for (place, section) in page.sections.iter().enumerate() {
        let old = before.and_then(|before| find(&before.sections, section));
        write_section(tx, page.id, place, section, old).await?;
    }
    let known: Vec<(usize, Uuid, &Component)> = before.map(placed).unwrap_or_default();
    let kept: Vec<(usize, Uuid, &Component)> = placed(page);
    let by_id: HashMap<ComponentId, &(usize, Uuid, &Component)> =
        known.iter().map(|one| (one.2.id, one)).collect();
    let mut relinked: Vec<&Component> = Vec::new();
    for one in &kept {
        let old = by_id.get(&one.2.id).copied();
        if old != Some(one) {
            write_component(tx, page.id, *one).await?;
            if old.is_none_or(|old| !old.2.monitor_ids().eq(one.2.monitor_ids())) {
                relinked.push(one.2);
            }
        }
    }
    write_monitors(store, tx, &relinked).await?;
    let ids: HashSet<ComponentId> = kept.iter().map(|(_, _, component)| component.id).collect();
    for (_, _, gone) in known.iter().filter(|(_, _, one)| !ids.contains(&one.id)) {
        delete(
            tx,
            "delete from components where id = $1 and page_id = $2",
            gone.id.uuid(),
            page.id,
        )
        .await?;
    }
    for gone in before.iter().flat_map(|before| &before.sections) {
        if page.sections.iter().all(|section| section.id != gone.id) {
            let sql = "delete from sections where id = $1 and page_id = $2";
            delete(tx, sql, gone.id.uuid(), page.id).await?;
        }
    }
    write_rules(tx, before, page).await?;
    Ok(None)
}

/// The components with their place and section.
fn placed(page: &StatusPage) -> Vec<(usize, Uuid, &Component)> {
    let sections = page.sections.iter();
    let all = sections.flat_map(|section| {
        section.components.iter().map(|component| (section.id.uuid(), component))
    });
    all.enumerate().map(|(place, (section, component))| (place, section, component)).collect()
}

fn find<'a>(sections: &'a [Section], section: &Section) -> Option<(usize, &'a Section)> {
    sections.iter().enumerate().find(|(_, one)| one.id == section.id)
}

async fn delete(tx: &mut Tx, sql: &'static str, id: Uuid, page: StatuspageId) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(sql).bind(id).bind(page.uuid()).execute(db).await?;
    });
    Ok(())
}

async fn take_slug(tx: &mut Tx, page: &StatusPage) -> Result<bool> {
    within!(*tx, |db| {
        sqlx::query("update statuspage_slugs set is_current = false where page_id = $1")
            .bind(page.id.uuid())
            .execute(&mut *db)
            .await?;
        let taken = sqlx::query(
            "insert into statuspage_slugs (slug, page_id, is_current) values ($1, $2, true)
             on conflict (slug) do update set page_id = $2, is_current = true
             where not statuspage_slugs.is_current",
        )
        .bind(&page.slug)
        .bind(page.id.uuid())
        .execute(db)
        .await?;
        Ok(taken.rows_affected() == 1)
    })
}

async fn write_domains(tx: &mut Tx, page: &StatusPage, old: &[PageDomain]) -> Result<bool> {
    if page.domains == old {
        return Ok(true);
    }
    within!(*tx, |db| {
        let is_kept = |old: &&PageDomain| page.domains.iter().any(|one| one.domain == old.domain);
        for gone in old.iter().filter(|old| !is_kept(old)) {
            sqlx::query("delete from statuspage_domains where domain = $1 and page_id = $2")
                .bind(&gone.domain)
                .bind(page.id.uuid())
                .execute(&mut *db)
                .await?;
        }
        for domain in &page.domains {
            let saved = sqlx::query(
                "insert into statuspage_domains (domain, page_id, is_primary) values ($1, $2, $3)
                 on conflict (domain) do update set is_primary = excluded.is_primary
                 where statuspage_domains.page_id = excluded.page_id",
            )
            .bind(&domain.domain)
            .bind(page.id.uuid())
            .bind(domain.primary)
            .execute(&mut *db)
            .await?;
            if saved.rows_affected() == 0 {
                return Ok(false);
            }
        }
    });
    Ok(true)
}

async fn write_section(
    tx: &mut Tx,
    page: StatuspageId,
    place: usize,
    section: &Section,
    old: Option<(usize, &Section)>,
) -> Result<()> {
    let is_same = |(at, one): (usize, &Section)| {
        at == place && one.name == section.name && one.settings == section.settings
    };
    if old.is_some_and(is_same) {
        return Ok(());
    }
    within!(*tx, |db| {
        sqlx::query(
            "insert into sections (id, page_id, position, name, settings)
             values ($1, $2, $3, $4, $5)
             on conflict (id) do update
             set position = excluded.position, name = excluded.name, settings = excluded.settings",
        )
        .bind(section.id.uuid())
        .bind(page.uuid())
        .bind(place as i64)
        .bind(&section.name)
        .bind(json(&section.settings))
        .execute(db)
        .await?;
    });
    Ok(())
}

async fn write_component(
    tx: &mut Tx,
    page: StatuspageId,
    (place, section, component): (usize, Uuid, &Component),
) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "insert into components
             (id, page_id, section_id, position, name, tag, settings, created)
             values ($1, $2, $3, $4, $5, $6, $7, $8)
             on conflict (id) do update
             set section_id = excluded.section_id, position = excluded.position,
                 name = excluded.name, tag = excluded.tag, settings = excluded.settings",
        )
        .bind(component.id.uuid())
        .bind(page.uuid())
        .bind(section)
        .bind(place as i64)
        .bind(&component.name)
        .bind(&component.tag)
        .bind(json(&component.settings))
        .bind(component.created.0)
        .execute(db)
        .await?;
    });
    Ok(())
}

/// Replaces the monitors of these components, in two statements: there may be thousands.
async fn write_monitors(store: &Store, tx: &mut Tx, components: &[&Component]) -> Result<()> {
    if components.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> =
        components.iter().map(|one| one.id.uuid().simple().to_string()).collect();
    let links: Vec<(&str, String, usize)> = components
        .iter()
        .zip(&ids)
        .flat_map(|(component, id)| {
            let monitors = component.monitor_ids().enumerate();
            monitors
                .map(|(place, monitor)| (id.as_str(), monitor.uuid().simple().to_string(), place))
        })
        .collect();
    let delete = either!(
        store,
        sqlite: "delete from component_monitors
                 where component_id in (select unhex(value) from json_each($1))",
        postgres: "delete from component_monitors
                   where component_id in (select cast(value as uuid)
                                          from json_array_elements_text(cast($1 as json)))"
    );
    let insert = either!(
        store,
        sqlite: "insert into component_monitors (component_id, monitor_id, position)
                 select unhex(value ->> 0), unhex(value ->> 1), value ->> 2 from json_each($1)",
        postgres: "insert into component_monitors (component_id, monitor_id, position)
                   select cast(value ->> 0 as uuid), cast(value ->> 1 as uuid),
                          cast(value ->> 2 as bigint)
                   from json_array_elements(cast($1 as json))"
    );
    within!(*tx, |db| {
        sqlx::query(delete).bind(json(&ids)).execute(&mut *db).await?;
        sqlx::query(insert).bind(json(&links)).execute(db).await?;
    });
    Ok(())
}

async fn write_rules(tx: &mut Tx, before: Option<&StatusPage>, page: &StatusPage) -> Result<()> {
    if before.is_some_and(|before| before.rules == page.rules) {
        return Ok(());
    }
    for gone in before.iter().flat_map(|before| &before.rules) {
        if page.rules.iter().all(|rule| rule.id != gone.id) {
            let sql = "delete from statuspage_rules where id = $1 and page_id = $2";
            delete(tx, sql, gone.id.uuid(), page.id).await?;
        }
    }
    within!(*tx, |db| {
        for (place, rule) in page.rules.iter().enumerate() {
            sqlx::query(
                "insert into statuspage_rules (id, page_id, position, isactive, name, settings)
                 values ($1, $2, $3, $4, $5, $6)
                 on conflict (id) do update
                 set position = excluded.position, isactive = excluded.isactive,
                     name = excluded.name, settings = excluded.settings",
            )
            .bind(rule.id.uuid())
            .bind(page.id.uuid())
            .bind(place as i64)
            .bind(rule.isactive)
            .bind(&rule.name)
            .bind(json(&rule.settings))
            .execute(&mut *db)
            .await?;
        }
    });
    Ok(())
}

pub(super) fn object(page: &StatusPage) -> Object {
    Object::new(ObjectKind::Statuspage, &page.id, &page.name)
}
