//! Templates for incidents.

use uuid::Uuid;
use wakeful_core::audit::{Action, Audited as _, Object, ObjectKind, diff};
use wakeful_core::id::IncidentTemplateId;
use wakeful_core::statuspages::incident::{IncidentTemplate, MAX_TEMPLATES, TemplateSettings};
use wakeful_core::time::Millis;

use crate::accounts::team::lock_team;
use crate::dialect::{from_row, read, within};
use crate::monitors::json;
use crate::{AuditContext, NewEntry, Result, SaveTeamOutcome, TeamStore};

struct Row(IncidentTemplate);

from_row!(Row, |row| Self(IncidentTemplate {
    id: row.try_get::<Uuid, _>("id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    name: row.try_get("name")?,
    settings: serde_json::from_str::<TemplateSettings>(row.try_get("settings")?)
        .map_err(|error| sqlx::Error::Decode(error.into()))?,
    created: Millis(row.try_get("created")?),
    modified: Millis(row.try_get("modified")?),
}));

impl TeamStore<'_> {
    /// The team's templates in the order they were created.
    pub async fn incident_templates(&self) -> Result<Vec<IncidentTemplate>> {
        let rows: Vec<Row> = read!(self.store, |db| {
            sqlx::query_as(
                "select id, team_id, name, settings, created, modified
                 from incident_templates where team_id = $1 order by id",
            )
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?;
        Ok(rows.into_iter().map(|row| row.0).collect())
    }

    pub async fn incident_template(
        &self,
        id: IncidentTemplateId,
    ) -> Result<Option<IncidentTemplate>> {
        let row: Option<Row> = read!(self.store, |db| {
            sqlx::query_as(
                "select id, team_id, name, settings, created, modified
                 from incident_templates where id = $1 and team_id = $2",
            )
            .bind(id.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        Ok(row.map(|row| row.0))
    }

    /// Adds a template, or changes `before` if it is still the same.
    pub async fn save_incident_template(
        &self,
        before: Option<&IncidentTemplate>,
        template: &IncidentTemplate,
        by: &AuditContext,
    ) -> Result<SaveTeamOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, template.modified).await?;
        let saved = within!(tx, |db| {
            match before {
                None => sqlx::query(
                    "insert into incident_templates (id, team_id, name, settings, created, modified)
                     select $1, $2, $3, $4, $5, $6
                     where (select count(*) from incident_templates where team_id = $2) < $7",
                )
                .bind(template.id.uuid())
                .bind(self.team.uuid())
                .bind(&template.name)
                .bind(json(&template.settings))
                .bind(template.created.0)
                .bind(template.modified.0)
                .bind(MAX_TEMPLATES as i64)
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1),
                Some(before) => sqlx::query(
                    "update incident_templates set name = $3, settings = $4, modified = $5
                     where id = $1 and team_id = $2 and name = $6 and settings = $7",
                )
                .bind(template.id.uuid())
                .bind(self.team.uuid())
                .bind(&template.name)
                .bind(json(&template.settings))
                .bind(template.modified.0)
                .bind(&before.name)
                .bind(json(&before.settings))
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1),
            }
        })?;
        if !saved {
            return Ok(match before {
                None => SaveTeamOutcome::LimitReached,
                Some(_) => SaveTeamOutcome::Conflict,
            });
        }
        let view = before.map(IncidentTemplate::view);
        let changes = diff(view.as_ref(), Some(&template.view()));
        let action = match before {
            None => Action::TemplateCreate,
            Some(_) => Action::TemplateUpdate,
        };
        let entry = NewEntry::new(action, object(template), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(SaveTeamOutcome::Done)
    }

    /// False if the team has no such template.
    pub async fn delete_incident_template(
        &self,
        template: &IncidentTemplate,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let deleted = within!(tx, |db| {
            sqlx::query("delete from incident_templates where id = $1 and team_id = $2")
                .bind(template.id.uuid())
                .bind(self.team.uuid())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if !deleted {
            return Ok(false);
        }
        let entry = NewEntry::new(Action::TemplateDelete, object(template), Vec::new());
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(true)
    }
}

fn object(template: &IncidentTemplate) -> Object {
    Object::new(ObjectKind::Template, &template.id, &template.name)
}
