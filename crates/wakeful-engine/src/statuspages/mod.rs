//! Operations on the status pages of a team.

mod access;
pub mod auto_incidents;
mod build;
mod domains;
pub mod fanout;
mod figures;
mod incidents;
pub mod maintenance;
mod message_limit;
mod overlay;
pub mod snapshot_builder;
pub mod snapshots;
mod subscribers;

pub use domains::{DomainLookup, DomainOutcome};
pub use incidents::*;
pub use subscribers::*;
pub use wakeful_store::{
    FailedDelivery, Imported, IncidentQuery, ListedState, SubscriberCounts, SubscriberQuery,
    UpdateDeliveries,
};

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::{ComponentId, IncidentRuleId, MonitorId, SectionId, StatuspageId};
use wakeful_core::secret::Secret;
use wakeful_core::statuspages::component::{
    Component, ComponentMonitor, ComponentSettings, Override, Section, SectionSettings,
};
use wakeful_core::statuspages::page::{Access, MAX_PAGES, PageImage, PageSettings, StatusPage};
use wakeful_core::statuspages::rule::{Rule, RuleSettings};
use wakeful_core::statuspages::slug;
use wakeful_core::statuspages::snapshot::{
    self as shown, ComponentStatus, ImageKind, IncidentKind, Indicator, Snapshot,
};
use wakeful_core::token::{Digest, Kind};
use wakeful_outbound::fair_queue::Turn;
use wakeful_store::{ListedPage, SavePageOutcome, StoredPage};

use crate::bus::Event;
use crate::caller::{Authorized, Caller};
use crate::notifications::notifiers::require_all_monitors;
use crate::team_turns::Party;
use crate::{Engine, Error, MAX_SAVE_ATTEMPTS, Result, random};

/// The slugs that are tried for a page that was given none.
const MAX_SLUG_ATTEMPTS: u32 = 20;

/// The settings of a page, complete and well formed.
#[derive(Clone, Debug)]
pub struct PageDraft {
    pub name: String,
    /// Made of the name unless set.
    pub slug: Option<String>,
    pub published: bool,
    pub access: Access,
    /// A new password; an empty one removes it.
    pub password: Option<Secret>,
    pub settings: PageSettings,
    pub domains: Vec<String>,
    /// Which of the domains is the primary one.
    pub primary: Option<String>,
    pub sections: Vec<SectionDraft>,
    pub rules: Vec<RuleDraft>,
}

#[derive(Clone, Debug)]
pub struct SectionDraft {
    pub id: Option<SectionId>,
    pub name: String,
    pub settings: SectionSettings,
    pub components: Vec<ComponentDraft>,
}

#[derive(Clone, Debug)]
pub struct ComponentDraft {
    pub id: Option<ComponentId>,
    pub name: String,
    pub monitors: Vec<MonitorId>,
    pub tag: String,
    pub settings: ComponentSettings,
}

#[derive(Clone, Debug)]
pub struct RuleDraft {
    pub id: Option<IncidentRuleId>,
    pub name: String,
    pub isactive: bool,
    pub settings: RuleSettings,
}

/// A page as its team sees it.
#[derive(Clone, Debug)]
pub struct PageView {
    pub page: StatusPage,
    pub url: String,
    /// Whether the caller may see the access token.
    pub with_token: bool,
    pub statuses: HashMap<ComponentId, ComponentStatus>,
}

/// A page in the team's list.
#[derive(Clone, Debug)]
pub struct PageRow {
    pub listed: ListedPage,
    pub url: String,
    pub indicator: Indicator,
}

/// What a page would show. Other previews of the same person wait until it is dropped, so that
/// rendering is part of the turn.
pub struct Previewed {
    pub snapshot: Snapshot,
    /// The incident with its unsaved update.
    pub incident: Option<shown::Incident>,
    _turn: Turn<Party>,
}

impl Engine {
    /// The team's status pages in the order of creation.
    pub async fn statuspages(&self, caller: &Authorized<permission::View>) -> Result<Vec<PageRow>> {
        let listed = self.store().team(caller.team_access()).statuspages().await?;
        let row = |listed: ListedPage| PageRow {
            url: match &listed.domain {
                Some(domain) if listed.is_domain_verified || !self.verifies_domains() => {
                    format!("https://{domain}")
                }
                _ => format!("{}/status/{}", self.public_url(), listed.slug),
            },
            indicator: self.snapshots().indicator(listed.id),
            listed,
        };
        Ok(listed.into_iter().map(row).collect())
    }

    pub async fn statuspage(
        &self,
        caller: &Authorized<permission::View>,
        id: StatuspageId,
    ) -> Result<PageView> {
        let stored = self.stored_statuspage(caller, id).await?;
        self.statuspage_view(caller, stored.page).await
    }

    /// Creates a page, or changes the one with this id. `merge` applies the request to the
    /// stored page, and is called again if that changed meanwhile.
    pub async fn save_statuspage<E: From<Error>>(
        &self,
        caller: &Authorized<permission::Edit>,
        id: Option<StatuspageId>,
        client: IpAddr,
        mut merge: impl FnMut(Option<&StatusPage>) -> std::result::Result<PageDraft, E>,
    ) -> std::result::Result<PageView, E> {
        require_all_monitors(caller)?;
        // A new password is hashed once, whatever happens to the page meanwhile.
        let mut hash: Option<String> = None;
        for attempt in 0..MAX_SAVE_ATTEMPTS as u32 + MAX_SLUG_ATTEMPTS {
            let before = match id {
                Some(id) => Some(self.stored_statuspage(caller, id).await?),
                None => None,
            };
            let mut draft = merge(before.as_ref().map(|stored| &stored.page))?;
            if let Some(password) = draft.password.take() {
                draft.password = Some(Secret::new(""));
                if !password.expose().is_empty() && hash.is_none() {
                    let permit = self.0.hasher.acquire(client).await?;
                    hash = Some(permit.hash(&password).await);
                }
            }
            let slug_is_free = draft.slug.is_none() && before.is_none();
            let page = self.complete_page(caller, before.as_ref(), draft, hash.as_deref(), attempt);
            let page = page.await?;
            match self.store_page(caller, before.as_ref(), &page).await? {
                SavePageOutcome::Done => {
                    self.note_statuspage(&page);
                    return Ok(self.statuspage_view(caller, page).await?);
                }
                SavePageOutcome::Conflict => {
                    if attempt as usize >= MAX_SAVE_ATTEMPTS {
                        return Err(Error::Conflict.into());
                    }
                }
                SavePageOutcome::SlugTaken if slug_is_free && attempt < MAX_SLUG_ATTEMPTS => {}
                SavePageOutcome::SlugTaken => return Err(Error::SlugTaken.into()),
                SavePageOutcome::DomainTaken => return Err(Error::DomainTaken.into()),
                SavePageOutcome::LimitReached => {
                    let of = "status pages per team";
                    return Err(Error::FixedLimit { max: MAX_PAGES as u32, of }.into());
                }
                SavePageOutcome::PlanLimit => {
                    let plan = self.limiting_plan(caller.team()).await?;
                    return Err(self.too_many_statuspages(plan.as_ref()).into());
                }
            }
        }
        Err(Error::Conflict.into())
    }

    /// What a page would show if a request, and an update of an incident, were saved, with that
    /// incident. Nothing is stored.
    pub async fn preview_statuspage<E: From<Error>>(
        &self,
        caller: &Authorized<permission::Edit>,
        id: Option<StatuspageId>,
        unsaved: Option<UnsavedUpdate>,
        merge: impl FnOnce(Option<&StatusPage>) -> std::result::Result<PageDraft, E>,
    ) -> std::result::Result<Previewed, E> {
        require_all_monitors(caller)?;
        let turn = self.preview_turn(caller).await?;
        let before = match id {
            Some(id) => Some(self.stored_statuspage(caller, id).await?),
            None => None,
        };
        let draft = merge(before.as_ref().map(|stored| &stored.page))?;
        // Nobody can enter the password of a preview.
        let hash = draft.password.is_some().then_some("preview");
        let page = self.complete_page(caller, before.as_ref(), draft, hash, 0).await?;
        let incident = match unsaved {
            Some(unsaved) => Some(self.unsaved_incident(caller, page.id, unsaved).await?),
            None => None,
        };
        let (snapshot, incident) = self.preview_snapshot(caller, &page, incident).await?;
        Ok(Previewed { snapshot, incident, _turn: turn })
    }

    pub async fn delete_statuspage(
        &self,
        caller: &Authorized<permission::Edit>,
        id: StatuspageId,
    ) -> Result<()> {
        require_all_monitors(caller)?;
        let stored = self.stored_statuspage(caller, id).await?;
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        if !team.delete_statuspage(&stored.page, &by).await? {
            return Err(Error::NotFound("status page"));
        }
        self.snapshots().remove(id);
        self.note_statuspage(&stored.page);
        self.delete_some(by.at()).await;
        Ok(())
    }

    /// Stores an image of a page, or deletes it. Returns the page.
    pub async fn set_statuspage_image(
        &self,
        caller: &Authorized<permission::Edit>,
        id: StatuspageId,
        kind: ImageKind,
        image: Option<(&'static str, Vec<u8>)>,
    ) -> Result<PageView> {
        require_all_monitors(caller)?;
        let mut stored = self.stored_statuspage(caller, id).await?;
        let described = image.as_ref().map(|(media_type, data)| PageImage {
            kind,
            digest: data_encoding::HEXLOWER.encode(&Digest::of_bytes(data).0[..8]),
            media_type: (*media_type).to_owned(),
        });
        let content = described.as_ref().zip(image.as_ref().map(|(_, data)| data.as_slice()));
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        if !team.set_statuspage_image(&stored.page, kind, content, &by).await? {
            return Err(Error::NotFound(if image.is_some() { "status page" } else { "image" }));
        }
        stored.page.images.retain(|one| one.kind != kind);
        stored.page.images.extend(described);
        self.note_statuspage(&stored.page);
        self.statuspage_view(caller, stored.page).await
    }

    /// The content of an image of a published page.
    pub async fn statuspage_image(
        &self,
        page: StatuspageId,
        kind: ImageKind,
    ) -> Result<Option<(PageImage, Vec<u8>)>> {
        Ok(self.store().statuspage_image(page, kind).await?)
    }

    /// Replaces the access token of a page; the old one becomes invalid.
    pub async fn rotate_statuspage_token(
        &self,
        caller: &Authorized<permission::Edit>,
        id: StatuspageId,
    ) -> Result<PageView> {
        require_all_monitors(caller)?;
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let before = self.stored_statuspage(caller, id).await?;
            let mut page = before.page.clone();
            page.access_token = Some(Kind::StatuspageAccess.issue(random::bytes()));
            page.modified = self.now();
            let team = self.store().team(caller.team_access());
            match team.change_statuspage(&before, &page, &self.audit(caller)).await? {
                SavePageOutcome::Done => {
                    self.note_statuspage(&page);
                    return self.statuspage_view(caller, page).await;
                }
                _ => continue,
            }
        }
        Err(Error::Conflict)
    }

    /// Sets the status of a component, or returns it to what follows from its monitors.
    pub async fn set_component_status(
        &self,
        caller: &Authorized<permission::Respond>,
        id: ComponentId,
        set: Option<Override>,
    ) -> Result<(PageView, ComponentId)> {
        require_all_monitors(caller)?;
        let team = self.store().team(caller.team_access());
        let missing = || Error::NotFound("component");
        let page = team.statuspage_of(id).await?.ok_or_else(missing)?;
        let mut stored = team.statuspage(page).await?.ok_or_else(missing)?;
        let by = self.audit(caller);
        if !team.set_component_status(&stored.page, id, set.as_ref(), &by).await? {
            return Err(missing());
        }
        let components = stored.page.sections.iter_mut().flat_map(|one| &mut one.components);
        for component in components.filter(|component| component.id == id) {
            component.status_override.clone_from(&set);
        }
        self.note_statuspage(&stored.page);
        Ok((self.statuspage_view(caller, stored.page).await?, id))
    }

    pub(crate) async fn stored_statuspage(
        &self,
        caller: &Caller,
        id: StatuspageId,
    ) -> Result<StoredPage> {
        let found = self.store().team(caller.team_access()).statuspage(id).await?;
        found.ok_or(Error::NotFound("status page"))
    }

    async fn statuspage_view(&self, caller: &Caller, page: StatusPage) -> Result<PageView> {
        // A caller who sees only some monitors still sees the status that follows from all.
        let whole = match caller.team_access().filter() {
            Some(_) => self.store().shown_statuspage(page.id, page.team).await?,
            None => None,
        };
        let whole = whole.as_ref().map_or(&page, |stored| &stored.page);
        let statuses = self.component_statuses(whole).await?;
        let with_token = caller.may(Permission::Edit);
        Ok(PageView { url: self.statuspage_url(&page), page, with_token, statuses })
    }

    /// Announces a change of a page: to its editors, and to the nodes that serve it.
    fn note_statuspage(&self, page: &StatusPage) {
        self.bus().publish_event(page.team, || Event::Statuspage(page.id));
        self.note_page_change();
    }

    /// The page of a draft, with all that it refers to.
    async fn complete_page(
        &self,
        caller: &Caller,
        before: Option<&StoredPage>,
        draft: PageDraft,
        hash: Option<&str>,
        attempt: u32,
    ) -> Result<StatusPage> {
        let now = self.now();
        let old = before.map(|stored| &stored.page);
        let sections = self.complete_sections(caller, old, draft.sections).await?;
        let (mut password_hash, mut password_revision) = old
            .map_or((String::new(), 0), |old| (old.password_hash.clone(), old.password_revision));
        if draft.password.is_some() {
            password_hash = hash.unwrap_or_default().to_owned();
            password_revision += 1;
        }
        if draft.access == Access::Password && password_hash.is_empty() {
            let why = "is required for a page with access by password".to_owned();
            return Err(Error::Refused { field: "password", why });
        }
        let mut access_token = old.and_then(|old| old.access_token.clone());
        if draft.access == Access::Token && access_token.is_none() {
            access_token = Some(Kind::StatuspageAccess.issue(random::bytes()));
        }
        if let Some(sender) = draft.settings.subscribe.sender
            && old.is_none_or(|old| old.settings.subscribe.sender != Some(sender))
        {
            let found = self.store().team(caller.team_access()).notifier(sender).await?;
            let is_email = found.is_some_and(|one| one.channel.kind().as_str() == "email");
            if !is_email {
                let why = "must be an email notifier of the team".to_owned();
                return Err(Error::Refused { field: "subscribe.sender", why });
            }
        }
        let known = |id: ComponentId| {
            sections.iter().flat_map(|section| &section.components).any(|one| one.id == id)
        };
        let mut rules = Vec::with_capacity(draft.rules.len());
        for (place, rule) in draft.rules.into_iter().enumerate() {
            if let Some(id) = rule.settings.components.iter().find(|id| !known(**id)) {
                let why = format!("names an unknown component: {id}");
                return Err(Error::RefusedAt { field: format!("rules.{place}.components"), why });
            }
            let was_known = |id| {
                old.is_some_and(|old| old.rules.iter().any(|rule| rule.settings.template == id))
            };
            if let Some(template) = rule.settings.template.filter(|id| !was_known(Some(*id))) {
                let team = self.store().team(caller.team_access());
                let why = match team.incident_template(template).await? {
                    None => Some("names an unknown template"),
                    Some(found) if found.settings.kind == IncidentKind::Maintenance => {
                        Some("must be a template for incidents")
                    }
                    Some(_) => None,
                };
                if let Some(why) = why {
                    let field = format!("rules.{place}.templateid");
                    return Err(Error::RefusedAt { field, why: why.into() });
                }
            }
            rules.push(Rule {
                id: rule.id.unwrap_or_else(|| IncidentRuleId::new(now, random::bytes())),
                name: rule.name,
                isactive: rule.isactive,
                settings: rule.settings,
            });
        }
        let domains = self.complete_domains(caller, old, draft.domains, draft.primary).await?;
        let slug = match (draft.slug, old) {
            (Some(slug), _) => slug,
            (None, Some(old)) => old.slug.clone(),
            (None, None) => slug::of_name(&draft.name, attempt, random::bytes()),
        };
        Ok(StatusPage {
            id: old.map_or_else(|| StatuspageId::new(now, random::bytes()), |old| old.id),
            team: caller.team(),
            name: draft.name,
            slug,
            published: draft.published,
            access: draft.access,
            password_hash,
            password_revision,
            access_token,
            settings: draft.settings,
            domains,
            sections,
            rules,
            images: old.map(|old| old.images.clone()).unwrap_or_default(),
            created: old.map_or(now, |old| old.created),
            modified: now,
        })
    }

    async fn complete_sections(
        &self,
        caller: &Caller,
        old: Option<&StatusPage>,
        drafts: Vec<SectionDraft>,
    ) -> Result<Vec<Section>> {
        let now = self.now();
        let all = drafts.iter().flat_map(|section| &section.components);
        let named: HashSet<MonitorId> =
            all.flat_map(|component| component.monitors.iter().copied()).collect();
        let names: HashMap<MonitorId, String> = if named.is_empty() {
            HashMap::new()
        } else {
            let named: Vec<MonitorId> = named.into_iter().collect();
            let team = self.store().team(caller.team_access());
            team.monitor_names(&named).await?.into_iter().collect()
        };
        let mut sections = Vec::with_capacity(drafts.len());
        for (section_place, draft) in drafts.into_iter().enumerate() {
            let mut components = Vec::with_capacity(draft.components.len());
            for (place, draft) in draft.components.into_iter().enumerate() {
                let monitor = |id: &MonitorId| {
                    let name = names.get(id).cloned();
                    name.map(|name| ComponentMonitor { id: *id, name }).ok_or(*id)
                };
                let monitors: std::result::Result<Vec<ComponentMonitor>, MonitorId> =
                    draft.monitors.iter().map(monitor).collect();
                let monitors = monitors.map_err(|id| Error::RefusedAt {
                    field: format!("sections.{section_place}.components.{place}.monitors"),
                    why: format!("names an unknown monitor: {id}"),
                })?;
                let known = old.and_then(|old| {
                    let id = draft.id?;
                    old.components().find(|component| component.id == id)
                });
                components.push(Component {
                    id: draft.id.unwrap_or_else(|| ComponentId::new(now, random::bytes())),
                    name: draft.name,
                    monitors,
                    tag: draft.tag,
                    settings: draft.settings,
                    status_override: known.and_then(|known| known.status_override.clone()),
                    created: known.map_or(now, |known| known.created),
                });
            }
            sections.push(Section {
                id: draft.id.unwrap_or_else(|| SectionId::new(now, random::bytes())),
                name: draft.name,
                settings: draft.settings,
                components,
            });
        }
        Ok(sections)
    }

    async fn store_page(
        &self,
        caller: &Caller,
        before: Option<&StoredPage>,
        page: &StatusPage,
    ) -> Result<SavePageOutcome> {
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        match before {
            Some(before) => {
                let same = StatusPage { modified: before.page.modified, ..page.clone() };
                if same == before.page {
                    return Ok(SavePageOutcome::Done);
                }
                Ok(team.change_statuspage(before, page, &by).await?)
            }
            None => {
                let plan = self.limiting_plan(caller.team()).await?;
                let max = plan.and_then(|plan| plan.limits.status_pages);
                Ok(team.add_statuspage(page, max, &by).await?)
            }
        }
    }
}
