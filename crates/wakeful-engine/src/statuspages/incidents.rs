//! Operations on the incidents of a team, and on its templates for them.

use serde_json::json;
use std::collections::HashMap;
use wakeful_core::access::permission;
use wakeful_core::audit::Action;
use wakeful_core::id::{
    ComponentId, IncidentId, IncidentTemplateId, IncidentUpdateId, StatuspageId,
};
use wakeful_core::one_line::one_line;
use wakeful_core::statuspages::incident::{
    Incident, IncidentSettings, IncidentSource, IncidentState, IncidentTemplate, MAX_OPEN,
    MAX_STORED, MAX_TEMPLATES, MAX_TEXT, MAX_UPDATES, NamedComponent, NewUpdate, Postmortem,
    TemplateSettings,
};
use wakeful_core::statuspages::markdown::literal;
use wakeful_core::statuspages::page::Texts;
use wakeful_core::statuspages::snapshot::{ComponentStatus, Impact, IncidentKind, IncidentStatus};
use wakeful_core::template::{Fields, UserTemplate};
use wakeful_core::time::Millis;
use wakeful_store::{AddIncidentOutcome, IncidentQuery, SaveTeamOutcome, StoredIncident};

use crate::bus::Event;
use crate::caller::{Authorized, Caller};
use crate::notifications::notifiers::require_all_monitors;
use crate::{Engine, Error, MAX_SAVE_ATTEMPTS, Page, Result, failpoint, limit_plus_one, random};

/// How much of a cause a text shows.
const MAX_CAUSE: usize = 500;

/// An incident to save, complete and well formed.
#[derive(Clone, Debug)]
pub struct IncidentDraft {
    pub kind: IncidentKind,
    pub title: Option<String>,
    /// A draft stays one until it is published.
    pub is_draft: bool,
    pub settings: IncidentSettings,
    /// `None`: unchanged.
    pub components: Option<Vec<(ComponentId, ComponentStatus)>>,
    pub pages: Option<Vec<StatuspageId>>,
    pub started: Option<Millis>,
    pub resolved: Option<Millis>,
    pub template: Option<IncidentTemplateId>,
    /// The first update of a new incident.
    pub update: Option<UpdateDraft>,
    /// Whether subscribers are notified of a new incident, unless its update says so.
    pub notify: Option<bool>,
}

/// What the defaults of a new incident follow from.
#[derive(Clone, Copy, Debug, Default)]
pub struct IncidentOrigin {
    pub kind: Option<IncidentKind>,
    pub template: Option<IncidentTemplateId>,
    /// The first component, and the first page, that it names.
    pub component: Option<ComponentId>,
    pub page: Option<StatuspageId>,
}

/// What a new incident gets unless its request says otherwise.
#[derive(Clone, Debug, Default)]
pub struct IncidentDefaults {
    /// That of its template.
    pub kind: Option<IncidentKind>,
    /// That of the first page, for maintenance.
    pub timezone: Option<String>,
}

/// An update to post, or the changes of one.
#[derive(Clone, Debug)]
pub struct UpdateDraft {
    pub status: Option<IncidentStatus>,
    pub body: Option<String>,
    pub texts: Option<Texts>,
    pub components: Vec<(ComponentId, ComponentStatus)>,
    pub display_at: Option<Millis>,
    pub notify: Option<bool>,
    pub reopen: bool,
}

/// An update that has not been saved, for a preview of a page.
#[derive(Clone, Debug)]
pub struct UnsavedUpdate {
    pub incident: IncidentId,
    /// The update that is changed; `None` for a new one.
    pub update: Option<IncidentUpdateId>,
    pub draft: UpdateDraft,
}

/// A template to save.
#[derive(Clone, Debug)]
pub struct TemplateDraft {
    pub name: String,
    pub settings: TemplateSettings,
}

/// A postmortem to save; what is omitted stays as it is.
#[derive(Clone, Debug)]
pub struct PostmortemDraft {
    pub body: Option<String>,
    pub published: Option<bool>,
    /// Subscribers are notified, if it is published.
    pub notify: bool,
}

impl Engine {
    /// The incidents that fit, newest first.
    pub async fn incidents(
        &self,
        caller: &Authorized<permission::View>,
        query: &IncidentQuery,
    ) -> Result<Page<Incident, IncidentId>> {
        let wanted = IncidentQuery { limit: limit_plus_one(query.limit), ..query.clone() };
        let found = self.store().team(caller.team_access()).incidents(&wanted).await?;
        let found = found.into_iter().map(|stored| stored.incident).collect();
        Ok(Page::of(found, query.limit, |incident: &Incident| incident.id))
    }

    pub async fn incident(
        &self,
        caller: &Authorized<permission::View>,
        id: IncidentId,
    ) -> Result<Incident> {
        Ok(self.stored_incident(caller, id).await?.incident)
    }

    /// The defaults of a new incident.
    pub async fn incident_defaults(
        &self,
        caller: &Authorized<permission::Respond>,
        origin: IncidentOrigin,
    ) -> Result<IncidentDefaults> {
        let team = self.store().team(caller.team_access());
        let template = match origin.template {
            Some(id) => team.incident_template(id).await?.map(|template| template.settings),
            None => None,
        };
        let kind = template.as_ref().map(|template| template.kind);
        if origin.kind.or(kind) != Some(IncidentKind::Maintenance) {
            return Ok(IncidentDefaults { kind, timezone: None });
        }
        let of_template = template.and_then(|template| template.components.first().copied());
        let of_component = match origin.component.or(of_template) {
            Some(component) => team.statuspage_of(component).await?,
            None => None,
        };
        let page = match of_component.or(origin.page) {
            Some(page) => team.statuspage(page).await?,
            None => None,
        };
        Ok(IncidentDefaults { kind, timezone: page.map(|stored| stored.page.settings.timezone) })
    }

    /// Creates an incident, or changes the one with this id.
    pub async fn save_incident<E: From<Error>>(
        &self,
        caller: &Authorized<permission::Respond>,
        id: Option<IncidentId>,
        mut merge: impl FnMut(Option<&Incident>) -> std::result::Result<IncidentDraft, E>,
    ) -> std::result::Result<Incident, E> {
        require_all_monitors(caller)?;
        let Some(id) = id else {
            let incident = self.new_incident(caller, merge(None)?).await?;
            require_room(None, &incident, "update.body")?;
            let limits = self.incident_limits(caller.team(), caller.user());
            self.count_together(&limits, 1).await?;
            let added = self.add_incident(caller, &incident).await;
            if added.is_err() {
                self.undo_attempts(&limits, 1).await?;
            }
            added?;
            return Ok(incident);
        };
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let before = self.stored_incident(caller, id).await?;
            let draft = merge(Some(&before.incident))?;
            let incident = self.changed_incident(caller, &before.incident, draft).await?;
            if self.store_incident(caller, &before, &incident, Action::IncidentUpdate).await? {
                return Ok(incident);
            }
        }
        Err(Error::Conflict.into())
    }

    async fn add_incident(&self, caller: &Caller, incident: &Incident) -> Result<()> {
        let counted = self.count_messages(None, incident).await?;
        let team = self.store().team(caller.team_access());
        let added = team.add_incident(incident, &self.audit(caller)).await;
        if !matches!(added, Ok(AddIncidentOutcome::Done)) {
            self.undo_messages(counted).await?;
        }
        match added? {
            AddIncidentOutcome::Done => {
                self.note_incident(incident);
                Ok(())
            }
            AddIncidentOutcome::TooManyOpen => {
                Err(Error::FixedLimit { max: MAX_OPEN as u32, of: "open incidents" })
            }
            AddIncidentOutcome::TooMany => {
                Err(Error::FixedLimit { max: MAX_STORED as u32, of: "incidents per team" })
            }
        }
    }

    /// Posts an update, or changes one.
    pub async fn save_incident_update(
        &self,
        caller: &Authorized<permission::Respond>,
        id: IncidentId,
        update: Option<IncidentUpdateId>,
        draft: UpdateDraft,
    ) -> Result<Incident> {
        let named = self.named_by_update(caller, update, &draft).await?;
        self.change(caller, id, Action::IncidentPost, |incident, now| {
            apply_update(incident, update, &draft, &named, now)
        })
        .await
    }

    /// A page's incident with an update that is not saved, as if it was published.
    pub(super) async fn unsaved_incident(
        &self,
        caller: &Caller,
        page: StatuspageId,
        unsaved: UnsavedUpdate,
    ) -> Result<Incident> {
        let UnsavedUpdate { incident, update, draft } = unsaved;
        let mut incident = self.stored_incident(caller, incident).await?.incident;
        let named = self.named_by_update(caller, update, &draft).await.map_err(error_in_preview)?;
        apply_update(&mut incident, update, &draft, &named, self.now())
            .map_err(error_in_preview)?;
        if !incident.all_pages().contains(&page) {
            let field = "incident.incidentid".to_owned();
            let why = "names an incident that the page does not show".to_owned();
            return Err(Error::RefusedAt { field, why });
        }
        incident.state = IncidentState::Published;
        Ok(incident)
    }

    pub async fn delete_incident_update(
        &self,
        caller: &Authorized<permission::Respond>,
        id: IncidentId,
        update: IncidentUpdateId,
    ) -> Result<Incident> {
        let changed = self.change(caller, id, Action::IncidentPost, |incident, _| {
            if incident.updates.iter().all(|one| one.id != update) {
                return Err(Error::NotFound("update"));
            }
            if incident.updates.len() == 1 {
                return Err(Error::LastUpdate);
            }
            incident.remove_update(update);
            Ok(())
        });
        let changed = changed.await?;
        self.delete_some(changed.modified).await;
        Ok(changed)
    }

    /// Shows a draft on its pages.
    pub async fn publish_incident(
        &self,
        caller: &Authorized<permission::Respond>,
        id: IncidentId,
        notify: bool,
    ) -> Result<Incident> {
        self.change(caller, id, Action::IncidentPublish, |incident, _| {
            match incident.state {
                IncidentState::Published => {}
                IncidentState::Draft => {
                    incident.state = IncidentState::Published;
                    for update in &mut incident.updates {
                        update.settings.notify = notify;
                    }
                }
                IncidentState::Discarded => return Err(Error::IncidentClosed),
            }
            Ok(())
        })
        .await
    }

    /// Saves the postmortem of an incident; an empty one is removed.
    pub async fn save_postmortem(
        &self,
        caller: &Authorized<permission::Respond>,
        id: IncidentId,
        draft: PostmortemDraft,
    ) -> Result<Incident> {
        self.change(caller, id, Action::IncidentPostmortem, |incident, now| {
            let old = incident.settings.postmortem.take();
            let body = draft.body.clone().or_else(|| old.as_ref().map(|old| old.body.clone()));
            let Some(body) = body else {
                return Err(Error::Refused { field: "body", why: "is required".to_owned() });
            };
            let since = old.as_ref().and_then(|old| old.published);
            let is_published = draft.published.unwrap_or(since.is_some());
            let published = is_published.then(|| since.unwrap_or(now));
            let announced = if draft.notify && is_published {
                Some(now)
            } else {
                old.and_then(|old| old.announced)
            };
            incident.settings.postmortem =
                (!body.trim().is_empty()).then_some(Postmortem { body, published, announced });
            Ok(())
        })
        .await
    }

    pub async fn delete_incident(
        &self,
        caller: &Authorized<permission::Edit>,
        id: IncidentId,
    ) -> Result<()> {
        require_all_monitors(caller)?;
        let stored = self.stored_incident(caller, id).await?;
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        if !team.delete_incident(&stored.incident, &by).await? {
            return Err(Error::NotFound("incident"));
        }
        self.note_incident(&stored.incident);
        self.delete_some(by.at()).await;
        Ok(())
    }

    /// The team's templates in the order of creation.
    pub async fn incident_templates(
        &self,
        caller: &Authorized<permission::View>,
    ) -> Result<Vec<IncidentTemplate>> {
        Ok(self.store().team(caller.team_access()).incident_templates().await?)
    }

    pub async fn save_incident_template<E: From<Error>>(
        &self,
        caller: &Authorized<permission::Edit>,
        id: Option<IncidentTemplateId>,
        mut merge: impl FnMut(Option<&IncidentTemplate>) -> std::result::Result<TemplateDraft, E>,
    ) -> std::result::Result<IncidentTemplate, E> {
        require_all_monitors(caller)?;
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let before = match id {
                Some(id) => Some(self.stored_template(caller, id).await?),
                None => None,
            };
            let TemplateDraft { name, settings } = merge(before.as_ref())?;
            self.named(
                caller,
                settings.components.iter().map(|id| (*id, ComponentStatus::Operational)),
            )
            .await?;
            let now = self.now();
            let template = IncidentTemplate {
                id: before
                    .as_ref()
                    .map_or_else(|| IncidentTemplateId::new(now, random::bytes()), |old| old.id),
                team: caller.team(),
                name,
                settings,
                created: before.as_ref().map_or(now, |old| old.created),
                modified: now,
            };
            let team = self.store().team(caller.team_access());
            let by = self.audit(caller);
            let saved = team.save_incident_template(before.as_ref(), &template, &by).await;
            match saved.map_err(Error::from)? {
                SaveTeamOutcome::Done => return Ok(template),
                SaveTeamOutcome::Conflict => {}
                SaveTeamOutcome::LimitReached => {
                    let of = "incident templates per team";
                    return Err(Error::FixedLimit { max: MAX_TEMPLATES as u32, of }.into());
                }
            }
        }
        Err(Error::Conflict.into())
    }

    pub async fn delete_incident_template(
        &self,
        caller: &Authorized<permission::Edit>,
        id: IncidentTemplateId,
    ) -> Result<()> {
        require_all_monitors(caller)?;
        let template = self.stored_template(caller, id).await?;
        let team = self.store().team(caller.team_access());
        if team.delete_incident_template(&template, &self.audit(caller)).await? {
            Ok(())
        } else {
            Err(Error::NotFound("template"))
        }
    }

    async fn stored_template(
        &self,
        caller: &Caller,
        id: IncidentTemplateId,
    ) -> Result<IncidentTemplate> {
        let found = self.store().team(caller.team_access()).incident_template(id).await?;
        found.ok_or(Error::NotFound("template"))
    }

    pub(super) async fn stored_incident(
        &self,
        caller: &Caller,
        id: IncidentId,
    ) -> Result<StoredIncident> {
        let found = self.store().team(caller.team_access()).incident(id).await?;
        found.ok_or(Error::NotFound("incident"))
    }

    /// Applies a change to an incident, again if it was changed meanwhile.
    async fn change(
        &self,
        caller: &Authorized<permission::Respond>,
        id: IncidentId,
        action: Action,
        apply: impl Fn(&mut Incident, Millis) -> Result<()>,
    ) -> Result<Incident> {
        require_all_monitors(caller)?;
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let before = self.stored_incident(caller, id).await?;
            let mut incident = before.incident.clone();
            apply(&mut incident, self.now())?;
            incident.modified = self.now();
            if self.store_incident(caller, &before, &incident, action).await? {
                return Ok(incident);
            }
        }
        Err(Error::Conflict)
    }

    /// False if it was changed since it was read.
    async fn store_incident(
        &self,
        caller: &Caller,
        before: &StoredIncident,
        incident: &Incident,
        action: Action,
    ) -> Result<bool> {
        let same = Incident { modified: before.incident.modified, ..incident.clone() };
        if same == before.incident {
            return Ok(true);
        }
        let field = match action {
            Action::IncidentPost | Action::IncidentPostmortem => "body",
            _ => "texts",
        };
        require_room(Some(&before.incident), incident, field)?;
        let counted = self.count_messages(Some(&before.incident), incident).await?;
        let team = self.store().team(caller.team_access());
        let saved = team.change_incident(before, incident, action, &self.audit(caller)).await;
        if !matches!(saved, Ok(SaveTeamOutcome::Done)) {
            self.undo_messages(counted).await?;
        }
        let saved = saved?;
        if saved == SaveTeamOutcome::Done {
            self.note_incident(incident);
        }
        Ok(saved == SaveTeamOutcome::Done)
    }

    /// Announces a change of an incident: to its editors, and to the nodes that show it.
    pub(super) fn note_incident(&self, incident: &Incident) {
        failpoint::here("after-event");
        self.bus().publish_event(incident.team, || Event::Incident(incident.id));
        self.note_page_change();
        self.0.page_events.notify_one();
    }

    /// The components of an update. One that is changed retains its own.
    async fn named_by_update(
        &self,
        caller: &Caller,
        update: Option<IncidentUpdateId>,
        draft: &UpdateDraft,
    ) -> Result<Vec<NamedComponent>> {
        match update {
            Some(_) => Ok(Vec::new()),
            None => self.named(caller, draft.components.iter().copied()).await,
        }
    }

    /// Components of the team's pages with their names.
    async fn named(
        &self,
        caller: &Caller,
        wanted: impl IntoIterator<Item = (ComponentId, ComponentStatus)>,
    ) -> Result<Vec<NamedComponent>> {
        let wanted: Vec<(ComponentId, ComponentStatus)> = wanted.into_iter().collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<ComponentId> = wanted.iter().map(|(id, _)| *id).collect();
        let found = self.store().team(caller.team_access()).named_components(&ids).await?;
        let found: HashMap<ComponentId, (StatuspageId, String)> =
            found.into_iter().map(|(id, page, name)| (id, (page, name))).collect();
        let mut named = Vec::with_capacity(wanted.len());
        for (id, status) in wanted {
            let (page, name) = found.get(&id).cloned().ok_or_else(|| Error::Refused {
                field: "components",
                why: format!("names an unknown component: {id}"),
            })?;
            named.push(NamedComponent { id, page, name, status });
        }
        Ok(named)
    }

    async fn known_pages(
        &self,
        caller: &Caller,
        pages: Vec<StatuspageId>,
    ) -> Result<Vec<StatuspageId>> {
        if pages.is_empty() {
            return Ok(pages);
        }
        let known = self.store().team(caller.team_access()).statuspages().await?;
        match pages.iter().find(|page| known.iter().all(|one| one.id != **page)) {
            Some(page) => Err(Error::Refused {
                field: "pageids",
                why: format!("names an unknown status page: {page}"),
            }),
            None => Ok(pages),
        }
    }

    async fn new_incident(&self, caller: &Caller, draft: IncidentDraft) -> Result<Incident> {
        let now = self.now();
        let mut components = self.named(caller, draft.components.unwrap_or_default()).await?;
        let pages = self.known_pages(caller, draft.pages.unwrap_or_default()).await?;
        let mut settings = draft.settings;
        settings.backfilled = draft.started.is_some() && draft.resolved.is_some();
        let mut update = draft.update;
        let mut title = draft.title;
        if let Some(template) = draft.template {
            let team = self.store().team(caller.team_access());
            let template = team.incident_template(template).await?;
            let template = template.ok_or_else(|| Error::Refused {
                field: "templateid",
                why: "names an unknown template".to_owned(),
            })?;
            if components.is_empty() {
                let status = match draft.kind {
                    IncidentKind::Incident => status_of_impact(template.settings.impact),
                    IncidentKind::Maintenance => ComponentStatus::UnderMaintenance,
                };
                let known = template.settings.components.iter().map(|id| (*id, status));
                components = self.named(caller, known).await?;
            }
            settings.impact_override = settings.impact_override.or(template.settings.impact);
            let started = draft.started.unwrap_or(now);
            let listed = self.store().team(caller.team_access()).statuspages().await?;
            let page = components.first().map(|one| one.page).or(pages.first().copied());
            let page = listed.iter().find(|one| Some(one.id) == page);
            let page = page.map(|page| page.name.as_str()).unwrap_or_default();
            let (rendered_title, body) =
                self.render_template(&template.settings, page, &components, started, None).await?;
            title = title.or(Some(rendered_title));
            let mut wanted = update.unwrap_or(UpdateDraft {
                status: None,
                body: None,
                texts: None,
                components: Vec::new(),
                display_at: None,
                notify: None,
                reopen: false,
            });
            wanted.body = wanted.body.or(Some(body));
            wanted.status = wanted.status.or(template.settings.status);
            update = Some(wanted);
        }
        if components.is_empty() && pages.is_empty() {
            let why = "must name a component, or pageids a status page".to_owned();
            return Err(Error::Refused { field: "components", why });
        }
        let required = |field| Error::Refused { field, why: "is required".to_owned() };
        let title = title.ok_or_else(|| required("title"))?;
        let update = update.ok_or_else(|| required("update.body"))?;
        let body = update.body.ok_or_else(|| required("update.body"))?;
        let notify = update.notify.or(draft.notify).unwrap_or(true);
        let first = match draft.kind {
            IncidentKind::Incident => IncidentStatus::Investigating,
            IncidentKind::Maintenance => IncidentStatus::Scheduled,
        };
        let status = update.status.unwrap_or(match (settings.backfilled, draft.kind) {
            (true, IncidentKind::Incident) => IncidentStatus::Resolved,
            (true, IncidentKind::Maintenance) => IncidentStatus::Completed,
            (false, _) => first,
        });
        if status.kind() != draft.kind {
            return Err(wrong_status("update.status", draft.kind));
        }
        let started = draft.started.or(settings.scheduled_for).unwrap_or(now);
        let mut incident = Incident {
            id: IncidentId::new(now, random::bytes()),
            team: caller.team(),
            kind: draft.kind,
            title,
            state: if draft.is_draft { IncidentState::Draft } else { IncidentState::Published },
            status: first,
            impact: Impact::None,
            source: IncidentSource::Person,
            rule: None,
            started,
            resolved: None,
            components: components.clone(),
            pages,
            updates: Vec::new(),
            created: now,
            modified: now,
            settings,
        };
        let display_at =
            update.display_at.unwrap_or(if incident.settings.backfilled { started } else { now });
        let new = |status, components, display_at| NewUpdate {
            id: IncidentUpdateId::new(now, random::bytes()),
            status,
            body: body.clone(),
            texts: update.texts.clone().unwrap_or_default(),
            components,
            display_at,
            notify: notify && draft.resolved.is_none(),
            reopen: false,
            by_rule: false,
        };
        let closed = |_| Error::IncidentClosed;
        if status.is_final() && draft.kind == IncidentKind::Incident {
            // What it affected is said from its beginning, and withdrawn at its end.
            incident.post(new(first, components, started), now).map_err(closed)?;
            incident.updates.clear();
            incident
                .post(new(status, Vec::new(), draft.resolved.unwrap_or(now)), now)
                .map_err(closed)?;
            incident.resolved = draft.resolved.or(incident.resolved);
        } else {
            incident.post(new(status, components, display_at), now).map_err(closed)?;
            incident.started = started;
            if status.is_final() {
                incident.resolved = draft.resolved.or(incident.resolved);
                incident.settings.cancelled = false;
            }
        }
        incident.derive_impact();
        Ok(incident)
    }

    async fn changed_incident(
        &self,
        caller: &Caller,
        before: &Incident,
        draft: IncidentDraft,
    ) -> Result<Incident> {
        let mut incident = before.clone();
        if let Some(components) = draft.components {
            // What was deleted since it was named may stay.
            let is_known = |id: ComponentId| before.components.iter().find(|one| one.id == id);
            let (kept, new): (Vec<_>, Vec<_>) =
                components.into_iter().partition(|(id, _)| is_known(*id).is_some());
            let mut all: Vec<NamedComponent> = kept
                .into_iter()
                .filter_map(|(id, status)| Some(NamedComponent { status, ..is_known(id)?.clone() }))
                .collect();
            all.extend(self.named(caller, new).await?);
            incident.components = all;
        }
        if let Some(pages) = draft.pages.filter(|pages| *pages != before.pages) {
            incident.pages = self.known_pages(caller, pages).await?;
        }
        if incident.components.is_empty() && incident.pages.is_empty() {
            let why = "must name a component, or pageids a status page".to_owned();
            return Err(Error::Refused { field: "components", why });
        }
        if !incident.is_open() {
            for component in &mut incident.components {
                component.status = ComponentStatus::Operational;
            }
            incident.resolved = draft.resolved.or(incident.resolved);
        } else if draft.resolved.is_some() && before.resolved != draft.resolved {
            let why = "can only be changed after the incident was resolved".to_owned();
            return Err(Error::Refused { field: "resolved", why });
        }
        incident.title = draft.title.unwrap_or_else(|| before.title.clone());
        incident.started = draft.started.unwrap_or(before.started);
        if incident.status == IncidentStatus::Scheduled {
            incident.started = draft.settings.scheduled_for.unwrap_or(incident.started);
        }
        incident.settings = draft.settings;
        // The translations of an automatic title say what it no longer says.
        if before.source == IncidentSource::Rule
            && incident.title != before.title
            && incident.settings.texts == before.settings.texts
        {
            incident.settings.texts.clear();
        }
        incident.derive_impact();
        incident.modified = self.now();
        let same = Incident { modified: before.modified, ..incident.clone() };
        if same == *before {
            incident.modified = before.modified;
        }
        Ok(incident)
    }

    /// The title and the body that a template yields.
    pub(super) async fn render_template(
        &self,
        template: &TemplateSettings,
        page: &str,
        components: &[NamedComponent],
        started: Millis,
        cause: Option<&str>,
    ) -> Result<(String, String)> {
        let names: Vec<&str> = components.iter().map(|one| one.name.as_str()).collect();
        let lasted = self.now().since(started).as_secs();
        let fields = |cause: &str| {
            let fields = json!({
                "page": page,
                "components": names.join(", "),
                "started": started.to_string(),
                "lasted": lasted,
                "cause": cause,
            });
            fields.as_object().cloned().unwrap_or_default()
        };
        // A cause is not the team's own text, and the body is Markdown.
        let cause = one_line(cause.unwrap_or_default(), MAX_CAUSE);
        let (of_title, of_body) = (fields(&cause), fields(&literal(&cause)));
        let (title, body) = (template.title.clone(), template.body.clone());
        let rendering = move || {
            let render = |text: &str, fields: &Fields| {
                let template = UserTemplate::stored(text);
                let rendered = match template.validated() {
                    Ok(template) => template.render(fields),
                    Err(why) => Err(why.clone()),
                };
                rendered.map_err(|why| Error::Refused { field: "templateid", why: why.0 })
            };
            Ok((render(&title, &of_title)?, render(&body, &of_body)?))
        };
        tokio::task::spawn_blocking(rendering).await.map_err(|_| Error::Overloaded)?
    }
}

/// Fails if more is written about an incident than fits; what is not longer than before always does.
fn require_room(before: Option<&Incident>, after: &Incident, field: &'static str) -> Result<()> {
    let bytes = after.text_bytes();
    if bytes <= MAX_TEXT || before.is_some_and(|before| bytes <= before.text_bytes()) {
        return Ok(());
    }
    let why =
        format!("must be shorter: all texts of an incident together have at most {MAX_TEXT} bytes");
    Err(Error::Refused { field, why })
}

/// The fields of an update are within `incident.update` in the request for a preview.
fn error_in_preview(error: Error) -> Error {
    match error {
        Error::Refused { field, why } => {
            Error::RefusedAt { field: format!("incident.update.{field}"), why }
        }
        other => other,
    }
}

/// Posts an update, or changes the one with this id.
fn apply_update(
    incident: &mut Incident,
    update: Option<IncidentUpdateId>,
    draft: &UpdateDraft,
    named: &[NamedComponent],
    now: Millis,
) -> Result<()> {
    match update {
        Some(update) => edit_update(incident, update, draft, now),
        None if incident.updates.len() >= MAX_UPDATES => {
            Err(Error::FixedLimit { max: MAX_UPDATES as u32, of: "updates per incident" })
        }
        None => {
            let new = new_update(incident, draft, named.to_vec(), now)?;
            incident.post(new, now).map_err(|_| Error::IncidentClosed)
        }
    }
}

/// The update that a draft describes.
fn new_update(
    incident: &Incident,
    draft: &UpdateDraft,
    components: Vec<NamedComponent>,
    now: Millis,
) -> Result<NewUpdate> {
    let body = draft.body.clone();
    let body =
        body.ok_or_else(|| Error::Refused { field: "body", why: "is required".to_owned() })?;
    let status = draft.status.unwrap_or(incident.status);
    if status.kind() != incident.kind {
        return Err(wrong_status("status", incident.kind));
    }
    Ok(NewUpdate {
        id: IncidentUpdateId::new(now, random::bytes()),
        status,
        body,
        texts: draft.texts.clone().unwrap_or_default(),
        components,
        display_at: draft.display_at.unwrap_or(now),
        notify: draft.notify.unwrap_or(true),
        reopen: draft.reopen,
        by_rule: false,
    })
}

/// The status of components for an impact of a template.
fn status_of_impact(impact: Option<Impact>) -> ComponentStatus {
    match impact {
        Some(Impact::Critical) => ComponentStatus::MajorOutage,
        Some(Impact::Minor) => ComponentStatus::DegradedPerformance,
        Some(Impact::Maintenance) => ComponentStatus::UnderMaintenance,
        Some(Impact::None) => ComponentStatus::Operational,
        Some(Impact::Major) | None => ComponentStatus::PartialOutage,
    }
}

fn wrong_status(field: &'static str, kind: IncidentKind) -> Error {
    let of_kind = IncidentStatus::ALL.iter().filter(|status| status.kind() == kind);
    let names: Vec<&str> = of_kind.map(|status| status.as_str()).collect();
    Error::Refused { field, why: format!("must be one of {}", names.join(", ")) }
}

/// Changes the text of an update. Its status is history.
fn edit_update(
    incident: &mut Incident,
    id: IncidentUpdateId,
    draft: &UpdateDraft,
    now: Millis,
) -> Result<()> {
    let update = incident.updates.iter_mut().find(|update| update.id == id);
    let update = update.ok_or(Error::NotFound("update"))?;
    if draft.status.is_some_and(|status| status != update.status) {
        let why = "cannot be changed; post another update".to_owned();
        return Err(Error::Refused { field: "status", why });
    }
    let before = update.clone();
    update.body = draft.body.clone().unwrap_or_else(|| update.body.clone());
    if let Some(texts) = &draft.texts {
        update.settings.texts = texts.clone();
    } else if update.by_rule && update.body != before.body {
        // The translations of an automatic text say what it no longer says.
        update.settings.texts.clear();
    }
    update.settings.notify = draft.notify.unwrap_or(update.settings.notify);
    update.display_at = draft.display_at.unwrap_or(update.display_at);
    if *update != before {
        update.edited = Some(now);
    }
    incident.updates.sort_by_key(|update| std::cmp::Reverse((update.display_at, update.id)));
    Ok(())
}
