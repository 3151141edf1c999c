//! Maps rows to incidents with their components, pages and updates.

use std::collections::HashMap;
use uuid::Uuid;
use wakeful_core::id::{IncidentId, IncidentRuleId};
use wakeful_core::statuspages::incident::{
    Incident, IncidentSettings, IncidentSource, IncidentState, NamedComponent, Update,
    UpdateSettings,
};
use wakeful_core::statuspages::snapshot::{ComponentStatus, Impact, IncidentKind, IncidentStatus};
use wakeful_core::time::Millis;

use crate::dialect::{either, from_row, read};
use crate::monitors::json;
use crate::{Result, Store};

/// An incident with the revision that a change must name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredIncident {
    pub incident: Incident,
    pub revision: i64,
}

macro_rules! incident_columns {
    () => {
        "i.id, i.team_id, i.kind, i.title, i.state, i.status, i.impact, i.settings, i.source,
         i.rule_id, i.started, i.resolved, i.revision, i.created, i.modified"
    };
}
pub(super) use incident_columns;

fn decode(error: impl std::error::Error + Send + Sync + 'static) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

from_row!(StoredIncident, |row| Self {
    incident: Incident {
        id: row.try_get::<Uuid, _>(0)?.into(),
        team: row.try_get::<Uuid, _>(1)?.into(),
        kind: IncidentKind::parse(row.try_get(2)?).map_err(decode)?,
        title: row.try_get(3)?,
        state: IncidentState::parse(row.try_get(4)?).map_err(decode)?,
        status: IncidentStatus::parse(row.try_get(5)?).map_err(decode)?,
        impact: Impact::parse(row.try_get(6)?).map_err(decode)?,
        settings: serde_json::from_str::<IncidentSettings>(row.try_get(7)?).map_err(decode)?,
        source: IncidentSource::parse(row.try_get(8)?).map_err(decode)?,
        rule: row.try_get::<Option<Uuid>, _>(9)?.map(IncidentRuleId::from),
        started: Millis(row.try_get(10)?),
        resolved: row.try_get::<Option<i64>, _>(11)?.map(Millis),
        components: Vec::new(),
        pages: Vec::new(),
        updates: Vec::new(),
        created: Millis(row.try_get(13)?),
        modified: Millis(row.try_get(14)?),
    },
    revision: row.try_get(12)?,
});

struct UpdateRow(IncidentId, Update);

from_row!(UpdateRow, |row| Self(
    row.try_get::<Uuid, _>("incident_id")?.into(),
    Update {
        id: row.try_get::<Uuid, _>("id")?.into(),
        status: IncidentStatus::parse(row.try_get("status")?).map_err(decode)?,
        body: row.try_get("body")?,
        settings: serde_json::from_str::<UpdateSettings>(row.try_get("settings")?)
            .map_err(decode)?,
        display_at: Millis(row.try_get("display_at")?),
        by_rule: row.try_get("by_rule")?,
        created: Millis(row.try_get("created")?),
        edited: row.try_get::<Option<i64>, _>("edited")?.map(Millis),
    }
));

struct NamedRow(IncidentId, NamedComponent);

from_row!(NamedRow, |row| Self(
    row.try_get::<Uuid, _>("incident_id")?.into(),
    NamedComponent {
        id: row.try_get::<Uuid, _>("component_id")?.into(),
        page: row.try_get::<Uuid, _>("page_id")?.into(),
        name: row.try_get("name")?,
        status: ComponentStatus::parse(row.try_get("status")?).map_err(decode)?,
    }
));

impl Store {
    /// Adds the components, pages and updates.
    pub(super) async fn with_parts(
        &self,
        mut found: Vec<StoredIncident>,
    ) -> Result<Vec<StoredIncident>> {
        if found.is_empty() {
            return Ok(found);
        }
        let ids: Vec<Uuid> = found.iter().map(|stored| stored.incident.id.uuid()).collect();
        let ids = uuids(&ids);
        let components = either!(
            self,
            sqlite: "select incident_id, component_id, page_id, name, status
                     from incident_components
                     where incident_id in (select unhex(value) from json_each($1))
                     order by incident_id, position",
            postgres: "select incident_id, component_id, page_id, name, status
                       from incident_components
                       where incident_id in (select cast(value as uuid)
                           from json_array_elements_text(cast($1 as json)))
                       order by incident_id, position"
        );
        let pages = either!(
            self,
            sqlite: "select incident_id, page_id, is_whole
                     from incident_pages
                     where incident_id in (select unhex(value) from json_each($1))
                     order by page_id",
            postgres: "select incident_id, page_id, is_whole
                       from incident_pages
                       where incident_id in (select cast(value as uuid)
                           from json_array_elements_text(cast($1 as json)))
                       order by page_id"
        );
        let updates = either!(
            self,
            sqlite: "select id, incident_id, status, body, settings, display_at, by_rule, created,
                            edited
                     from incident_updates
                     where incident_id in (select unhex(value) from json_each($1))
                     order by display_at desc, id desc",
            postgres: "select id, incident_id, status, body, settings, display_at, by_rule, created,
                            edited
                       from incident_updates
                       where incident_id in (select cast(value as uuid)
                           from json_array_elements_text(cast($1 as json)))
                       order by display_at desc, id desc"
        );
        let components: Vec<NamedRow> =
            read!(self, |db| sqlx::query_as(components).bind(&ids).fetch_all(db).await)?;
        let pages: Vec<(Uuid, Uuid, bool)> =
            read!(self, |db| sqlx::query_as(pages).bind(&ids).fetch_all(db).await)?;
        let updates: Vec<UpdateRow> =
            read!(self, |db| sqlx::query_as(updates).bind(&ids).fetch_all(db).await)?;
        let mut places: HashMap<IncidentId, &mut Incident> =
            found.iter_mut().map(|one| (one.incident.id, &mut one.incident)).collect();
        for NamedRow(id, component) in components {
            if let Some(incident) = places.get_mut(&id) {
                incident.components.push(component);
            }
        }
        for (id, page, is_whole) in pages {
            if let Some(incident) = places.get_mut(&IncidentId::from(id)).filter(|_| is_whole) {
                incident.pages.push(page.into());
            }
        }
        for UpdateRow(id, update) in updates {
            if let Some(incident) = places.get_mut(&id) {
                incident.updates.push(update);
            }
        }
        Ok(found)
    }
}

/// The ids as JSON.
pub(super) fn uuids(ids: &[Uuid]) -> String {
    json(&ids.iter().map(|id| id.simple().to_string()).collect::<Vec<_>>())
}
