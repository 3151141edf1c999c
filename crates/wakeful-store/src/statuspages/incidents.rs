//! The incidents of teams, with their components, pages and updates.

use uuid::Uuid;
use wakeful_core::audit::{Action, Audited as _, Object, ObjectKind, diff};
use wakeful_core::id::{
    ComponentId, IncidentId, IncidentRuleId, IncidentUpdateId, StatuspageId, TeamId,
};
use wakeful_core::statuspages::incident::{Incident, IncidentSource, MAX_OPEN, MAX_STORED};
use wakeful_core::statuspages::schedule;
use wakeful_core::statuspages::snapshot::IncidentKind;
use wakeful_core::time::Millis;

use super::events::announce;
use super::incident_rows::{StoredIncident, incident_columns, uuids};
use super::pages::note_change;
use crate::accounts::team::lock_team;
use crate::deletion::{deleted_teams, hidden_team, hide_pages_of};
use crate::dialect::{Tx, either, read, within};
use crate::monitors::json;
use crate::{AuditContext, NewEntry, Result, SaveTeamOutcome, Store, TeamStore};

/// The most incidents of a page that are read for it, and after how many bytes of text no further
/// ones are.
const MAX_SHOWN: usize = 500;
const MAX_SHOWN_TEXT: usize = 32 << 20;
/// How many of them are read at once.
const SHOWN_PART: usize = 100;
/// The most incidents that are deleted to make room for one.
const MAX_REPLACED: i64 = 10;

/// The outcome of adding an incident that a person writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddIncidentOutcome {
    Done,
    /// The team has the most that may be open.
    TooManyOpen,
    /// The team has the most that are stored.
    TooMany,
}

/// Which incidents to list.
#[derive(Clone, Debug, Default)]
pub struct IncidentQuery {
    pub page: Option<StatuspageId>,
    pub component: Option<ComponentId>,
    pub kind: Option<IncidentKind>,
    pub state: Option<ListedState>,
    /// Only those before this one.
    pub before: Option<IncidentId>,
    pub limit: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedState {
    Draft,
    /// Published and not ended.
    Open,
    Resolved,
}

impl ListedState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Open => "open",
            Self::Resolved => "resolved",
        }
    }
}

impl TeamStore<'_> {
    /// The incidents that fit, newest first.
    pub async fn incidents(&self, query: &IncidentQuery) -> Result<Vec<StoredIncident>> {
        let found: Vec<StoredIncident> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                incident_columns!(),
                " from incidents i where i.team_id = $1
                 and ($2 is null or i.id < $2)
                 and ($3 is null or exists (select 1 from incident_pages p
                                            where p.incident_id = i.id and p.page_id = $3))
                 and ($4 is null or exists (select 1 from incident_components c
                                            where c.incident_id = i.id and c.component_id = $4))
                 and ($5 = '' or i.kind = $5)
                 and ($6 = '' or ($6 = 'draft' and i.state = 'draft')
                      or ($6 = 'open' and i.state = 'published'
                          and i.status not in ('resolved', 'completed'))
                      or ($6 = 'resolved' and i.state = 'published'
                          and i.status in ('resolved', 'completed')))
                 order by i.id desc
                 limit $7"
            ))
            .bind(self.team.uuid())
            .bind(query.before.map(IncidentId::uuid))
            .bind(query.page.map(StatuspageId::uuid))
            .bind(query.component.map(ComponentId::uuid))
            .bind(query.kind.map_or("", IncidentKind::as_str))
            .bind(query.state.map_or("", ListedState::as_str))
            .bind(query.limit.map_or(i64::MAX, i64::from))
            .fetch_all(db)
            .await
        })?;
        self.store.with_parts(found).await
    }

    pub async fn incident(&self, id: IncidentId) -> Result<Option<StoredIncident>> {
        let found = self.store.read_incident(id).await?;
        Ok(found.filter(|stored| stored.incident.team == self.team))
    }

    /// The components of the team's pages that are among these, with their pages and names.
    pub async fn named_components(
        &self,
        ids: &[ComponentId],
    ) -> Result<Vec<(ComponentId, StatuspageId, String)>> {
        let sql = either!(
            self.store,
            sqlite: "select c.id, c.page_id, c.name from components c
                     join statuspages p on p.id = c.page_id
                     where p.team_id = $1 and c.id in (select unhex(value) from json_each($2))",
            postgres: "select c.id, c.page_id, c.name from components c
                     join statuspages p on p.id = c.page_id
                     where p.team_id = $1 and c.id in (
                         select cast(value as uuid) from json_array_elements_text(cast($2 as json)))"
        );
        let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
        let rows: Vec<(Uuid, Uuid, String)> = read!(self.store, |db| {
            sqlx::query_as(sql).bind(self.team.uuid()).bind(uuids(&ids)).fetch_all(db).await
        })?;
        Ok(rows.into_iter().map(|(id, page, name)| (id.into(), page.into(), name)).collect())
    }

    pub async fn add_incident(
        &self,
        incident: &Incident,
        by: &AuditContext,
    ) -> Result<AddIncidentOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, incident.modified).await?;
        let open: i64 = within!(tx, |db| {
            sqlx::query_scalar(
                "select count(*) from incidents where team_id = $1
                 and status not in ('resolved', 'completed')",
            )
            .bind(self.team.uuid())
            .fetch_one(db)
            .await
        })?;
        if open >= MAX_OPEN as i64 {
            return Ok(AddIncidentOutcome::TooManyOpen);
        }
        if count_stored(&mut tx, self.team, incident.source).await? >= MAX_STORED as i64 {
            return Ok(AddIncidentOutcome::TooMany);
        }
        insert(&mut tx, incident).await?;
        let changes = diff(None, Some(&incident.view()));
        let entry = NewEntry::new(Action::IncidentCreate, object(incident), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(AddIncidentOutcome::Done)
    }

    /// Changes an incident if it still has the revision it was read with.
    pub async fn change_incident(
        &self,
        before: &StoredIncident,
        incident: &Incident,
        action: Action,
        by: &AuditContext,
    ) -> Result<SaveTeamOutcome> {
        let mut tx = self.begin().await?;
        if !change(&mut tx, before, incident).await? {
            return Ok(SaveTeamOutcome::Conflict);
        }
        let changes = diff(Some(&before.incident.view()), Some(&incident.view()));
        let entry = NewEntry::new(action, object(incident), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(SaveTeamOutcome::Done)
    }

    /// Hides an incident, so that its rows can be deleted; false if the team has no such one.
    pub async fn delete_incident(&self, incident: &Incident, by: &AuditContext) -> Result<bool> {
        let mut tx = self.begin().await?;
        note_change(&mut tx, &incident.all_pages()).await?;
        if !hide(&mut tx, self.team, incident.id, by.at()).await? {
            return Ok(false);
        }
        let entry = NewEntry::new(Action::IncidentDelete, object(incident), Vec::new());
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(true)
    }
}

impl Store {
    /// The published incidents of a page: first the open ones, which are shown however many have
    /// ended since they began, and then the others, each newest first.
    pub async fn shown_incidents(&self, page: StatuspageId) -> Result<Vec<Incident>> {
        self.past_incidents(page, Millis(i64::MIN), Millis(i64::MAX)).await
    }

    /// Those that began in a time.
    pub async fn past_incidents(
        &self,
        page: StatuspageId,
        from: Millis,
        to: Millis,
    ) -> Result<Vec<Incident>> {
        let mut incidents: Vec<Incident> = Vec::new();
        let mut bytes = 0;
        // Whether it had ended. No id is less than this one.
        let mut last = (false, to, Uuid::nil());
        while incidents.len() < MAX_SHOWN && bytes < MAX_SHOWN_TEXT {
            let found: Vec<StoredIncident> = read!(self, |db| {
                sqlx::query_as(concat!(
                    "select ",
                    incident_columns!(),
                    " from incident_pages p
                     join incidents i on i.id = p.incident_id
                     where p.page_id = $1 and i.state = 'published'
                     and i.started >= $2 and i.started < $3
                     and ((i.status in ('resolved', 'completed')) > $4
                          or ((i.status in ('resolved', 'completed')) = $4
                              and (i.started < $5 or (i.started = $5 and i.id < $6))))
                     order by (i.status in ('resolved', 'completed')), i.started desc, i.id desc
                     limit $7"
                ))
                .bind(page.uuid())
                .bind(from.0)
                .bind(to.0)
                .bind(last.0)
                .bind(last.1.0)
                .bind(last.2)
                .bind(SHOWN_PART as i64)
                .fetch_all(db)
                .await
            })?;
            let is_all = found.len() < SHOWN_PART;
            for StoredIncident { incident, .. } in self.with_parts(found).await? {
                last = (!incident.is_open(), incident.started, incident.id.uuid());
                // One that has ended since an earlier part was read is found again.
                if incidents.iter().all(|one| one.id != incident.id) {
                    bytes += incident.text_bytes();
                    incidents.push(incident);
                }
            }
            if is_all {
                break;
            }
        }
        Ok(incidents)
    }

    /// A published incident of a page.
    pub async fn past_incident(
        &self,
        page: StatuspageId,
        id: IncidentId,
    ) -> Result<Option<Incident>> {
        let is_shown: Option<Uuid> = read!(self, |db| {
            sqlx::query_scalar(
                "select p.page_id from incident_pages p
                 join incidents i on i.id = p.incident_id
                 where p.page_id = $1 and i.id = $2 and i.state = 'published'",
            )
            .bind(page.uuid())
            .bind(id.uuid())
            .fetch_optional(db)
            .await
        })?;
        let found = match is_shown {
            Some(_) => self.read_incident(id).await?,
            None => None,
        };
        Ok(found.map(|stored| stored.incident))
    }

    /// An incident of any team, for the loops.
    pub async fn read_incident(&self, id: IncidentId) -> Result<Option<StoredIncident>> {
        let found: Option<StoredIncident> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select ",
                incident_columns!(),
                " from incidents i where i.id = $1 and i.team_id not in ",
                deleted_teams!()
            ))
            .bind(id.uuid())
            .fetch_optional(db)
            .await
        })?;
        Ok(self.with_parts(found.into_iter().collect()).await?.pop())
    }

    /// Maintenance that the clock has to look at.
    pub async fn due_incidents(&self, now: Millis, limit: u32) -> Result<Vec<IncidentId>> {
        let rows: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar(concat!(
                "select id from incidents where next_at <= $1 and team_id not in ",
                deleted_teams!(),
                " order by next_at limit $2"
            ))
            .bind(now.0)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?;
        Ok(rows.into_iter().map(IncidentId::from).collect())
    }

    /// Changes an incident on behalf of nobody, and adds the next one of a repeated
    /// maintenance; false if it was changed meanwhile, or the next one exists.
    pub async fn step_incident(
        &self,
        before: &StoredIncident,
        incident: &Incident,
        next: Option<&Incident>,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        if !change(&mut tx, before, incident).await? {
            return Ok(false);
        }
        if let Some(next) = next {
            insert(&mut tx, next).await?;
            make_room(&mut tx, next).await?;
        }
        tx.commit().await?;
        Ok(true)
    }
}

pub(super) async fn insert(tx: &mut Tx, incident: &Incident) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "insert into incidents
             (id, team_id, kind, title, state, status, impact, settings, source, rule_id, started,
              resolved, next_at, created, modified)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        )
        .bind(incident.id.uuid())
        .bind(incident.team.uuid())
        .bind(incident.kind.as_str())
        .bind(&incident.title)
        .bind(incident.state.as_str())
        .bind(incident.status.as_str())
        .bind(incident.impact.as_str())
        .bind(json(&incident.settings))
        .bind(incident.source.as_str())
        .bind(incident.rule.map(IncidentRuleId::uuid))
        .bind(incident.started.0)
        .bind(incident.resolved.map(|at| at.0))
        .bind(schedule::next_at(incident).map(|at| at.0))
        .bind(incident.created.0)
        .bind(incident.modified.0)
        .execute(db)
        .await?;
    });
    write_parts(tx, None, incident).await?;
    announce(tx, None, incident, 1).await
}

/// How many incidents of a team are stored.
async fn count_stored(tx: &mut Tx, team: TeamId, source: IncidentSource) -> Result<i64> {
    Ok(within!(*tx, |db| {
        sqlx::query_scalar("select count(*) from incidents where team_id = $1 and source = $2")
            .bind(team.uuid())
            .bind(source.as_str())
            .fetch_one(db)
            .await
    })?)
}

/// Deletes the oldest ended incidents of the same kind if the team stores too many after one was
/// added: what nobody has requested cannot be refused.
pub(super) async fn make_room(tx: &mut Tx, added: &Incident) -> Result<()> {
    let too_many = count_stored(tx, added.team, added.source).await? - MAX_STORED as i64;
    if too_many <= 0 {
        return Ok(());
    }
    let oldest: Vec<Uuid> = within!(*tx, |db| {
        sqlx::query_scalar(
            "select id from incidents
             where team_id = $1 and source = $2 and kind = $3
             and (status in ('resolved', 'completed') or state = 'discarded')
             order by id
             limit $4",
        )
        .bind(added.team.uuid())
        .bind(added.source.as_str())
        .bind(added.kind.as_str())
        .bind(too_many.min(MAX_REPLACED))
        .fetch_all(db)
        .await
    })?;
    for id in oldest {
        hide(tx, added.team, id.into(), added.modified).await?;
    }
    Ok(())
}

/// Moves an incident to a team that is deleted, so that its rows can be deleted in parts; false if
/// the team has no such one.
async fn hide(tx: &mut Tx, team: TeamId, id: IncidentId, now: Millis) -> Result<bool> {
    let hidden = hidden_team(tx, now).await?;
    let is_hidden = within!(*tx, |db| {
        sqlx::query("update incidents set team_id = $3 where id = $1 and team_id = $2")
            .bind(id.uuid())
            .bind(team.uuid())
            .bind(hidden.uuid())
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
    })?;
    if !is_hidden {
        return Ok(false);
    }
    within!(*tx, |db| {
        sqlx::query("delete from incident_pages where incident_id = $1")
            .bind(id.uuid())
            .execute(db)
            .await?;
    });
    hide_pages_of(tx, hidden, now).await?;
    Ok(true)
}

/// Writes an incident that still has its revision.
pub(super) async fn change(
    tx: &mut Tx,
    before: &StoredIncident,
    incident: &Incident,
) -> Result<bool> {
    let changed = within!(*tx, |db| {
        sqlx::query(
            "update incidents
             set title = $3, state = $4, status = $5, impact = $6, settings = $7, started = $8,
                 resolved = $9, next_at = $10, modified = $11, revision = revision + 1
             where id = $1 and revision = $2",
        )
        .bind(incident.id.uuid())
        .bind(before.revision)
        .bind(&incident.title)
        .bind(incident.state.as_str())
        .bind(incident.status.as_str())
        .bind(incident.impact.as_str())
        .bind(json(&incident.settings))
        .bind(incident.started.0)
        .bind(incident.resolved.map(|at| at.0))
        .bind(schedule::next_at(incident).map(|at| at.0))
        .bind(incident.modified.0)
        .execute(db)
        .await
        .map(|done| done.rows_affected() == 1)
    })?;
    if changed {
        write_parts(tx, Some(&before.incident), incident).await?;
        announce(tx, Some(&before.incident), incident, before.revision + 1).await?;
    }
    Ok(changed)
}

/// Writes what differs, and makes the pages show it.
async fn write_parts(tx: &mut Tx, before: Option<&Incident>, incident: &Incident) -> Result<()> {
    let pages = incident.all_pages();
    let mut affected = pages.clone();
    affected.extend(before.map(Incident::all_pages).unwrap_or_default());
    affected.sort_unstable();
    affected.dedup();
    within!(*tx, |db| {
        if before.is_none_or(|before| before.components != incident.components) {
            sqlx::query("delete from incident_components where incident_id = $1")
                .bind(incident.id.uuid())
                .execute(&mut *db)
                .await?;
            for (place, component) in incident.components.iter().enumerate() {
                sqlx::query(
                    "insert into incident_components
                     (incident_id, component_id, page_id, position, name, status)
                     values ($1, $2, $3, $4, $5, $6)",
                )
                .bind(incident.id.uuid())
                .bind(component.id.uuid())
                .bind(component.page.uuid())
                .bind(place as i64)
                .bind(&component.name)
                .bind(component.status.as_str())
                .execute(&mut *db)
                .await?;
            }
        }
        if before.is_none_or(|old| old.pages != incident.pages || old.all_pages() != pages) {
            sqlx::query("delete from incident_pages where incident_id = $1")
                .bind(incident.id.uuid())
                .execute(&mut *db)
                .await?;
            for page in &pages {
                // A page may have been deleted with the components that are still named.
                sqlx::query(
                    "insert into incident_pages (incident_id, page_id, is_whole)
                     select $1, p.id, $3 from statuspages p where p.id = $2 and p.team_id = $4",
                )
                .bind(incident.id.uuid())
                .bind(page.uuid())
                .bind(incident.pages.contains(page))
                .bind(incident.team.uuid())
                .execute(&mut *db)
                .await?;
            }
        }
        let old = before.map_or(&[][..], |before| &before.updates);
        for update in incident.updates.iter().filter(|update| !old.contains(update)) {
            sqlx::query(
                "insert into incident_updates
                 (id, incident_id, status, body, settings, display_at, by_rule, created, edited)
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
                 on conflict (id) do update
                 set status = excluded.status, body = excluded.body,
                     settings = excluded.settings, display_at = excluded.display_at,
                     edited = excluded.edited",
            )
            .bind(update.id.uuid())
            .bind(incident.id.uuid())
            .bind(update.status.as_str())
            .bind(&update.body)
            .bind(json(&update.settings))
            .bind(update.display_at.0)
            .bind(update.by_rule)
            .bind(update.created.0)
            .bind(update.edited.map(|at| at.0))
            .execute(&mut *db)
            .await?;
        }
    });
    let old = before.map_or(&[][..], |before| &before.updates);
    for gone in old.iter().filter(|old| incident.updates.iter().all(|one| one.id != old.id)) {
        hide_update(tx, incident, gone.id).await?;
    }
    note_change(tx, &affected).await
}

/// Moves an update to an incident that is deleted, so that its messages can be deleted in parts.
async fn hide_update(tx: &mut Tx, incident: &Incident, update: IncidentUpdateId) -> Result<()> {
    let hidden = hidden_team(tx, incident.modified).await?;
    within!(*tx, |db| {
        sqlx::query(
            "insert into incidents
             (id, team_id, kind, title, state, status, impact, settings, source, started, created,
              modified)
             select $1, $2, i.kind, '', i.state, i.status, i.impact, i.settings, i.source,
                    i.started, i.created, i.modified
             from incidents i where i.id = $3",
        )
        // The ids of different kinds of rows may be the same.
        .bind(update.uuid())
        .bind(hidden.uuid())
        .bind(incident.id.uuid())
        .execute(&mut *db)
        .await?;
        for sql in [
            "update incident_updates set incident_id = $1 where id = $1 and incident_id = $2",
            "update statuspage_events set incident_id = $1 where update_id = $1 and incident_id = $2",
        ] {
            sqlx::query(sql).bind(update.uuid()).bind(incident.id.uuid()).execute(&mut *db).await?;
        }
    });
    hide_pages_of(tx, hidden, incident.modified).await
}

pub(super) fn object(incident: &Incident) -> Object {
    Object::new(ObjectKind::Incident, &incident.id, &incident.title)
}
