//! Automatic incidents: the rules of status pages open, extend and resolve incidents. The leader
//! makes the steps; the state of a rule and its incident are written in one transaction.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{ComponentId, IncidentId, MonitorId};
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::automatic::AutomaticText;
use wakeful_core::statuspages::incident::{
    Incident, IncidentSettings, IncidentSource, IncidentState, MAX_AUTOMATIC_TEXT,
    MAX_AUTOMATIC_UPDATES, NamedComponent, NewUpdate,
};
use wakeful_core::statuspages::page::{StatusPage, Texts};
use wakeful_core::statuspages::rule::{
    OpenIncident, OpenOutage, RuleAction, RuleMode, RuleStep, step,
};
use wakeful_core::statuspages::snapshot::{ComponentStatus, Impact, IncidentKind, IncidentStatus};
use wakeful_core::token::Digest;
use wakeful_store::{ActiveRule, RuleWrite, StoredIncident};

use crate::notifications::delivery::survive::survived;
use crate::{Engine, Result, random};

const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Applies rules until shutdown.
pub async fn run(engine: Engine, shutdown: CancellationToken) {
    while !shutdown.is_cancelled() {
        if engine.cluster().is_leader()
            && let Err(error) = apply_rules(&engine).await
        {
            tracing::warn!(error = %ErrorChain(&error), "applying the rules of status pages failed, retrying in {} s", POLL_INTERVAL.as_secs());
        }
        tokio::select! {
            () = sleep(POLL_INTERVAL) => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// A component that is down.
struct DownComponent {
    outage: OpenOutage,
    status: ComponentStatus,
    /// Those of its monitors that are down.
    monitors: Vec<MonitorId>,
}

/// One round over all active rules. One that panics does not delay the others.
pub async fn apply_rules(engine: &Engine) -> Result<()> {
    let rules = engine.store().active_rules().await?;
    for of_page in rules.chunk_by(|one, two| one.page == two.page) {
        let page = of_page[0].page;
        match survived(apply_rules_of_page(engine, of_page)).await {
            Ok(done) => done?,
            Err(_) => {
                tracing::error!(page.id = %page, "applying the rules of status page {page} failed because of a bug in Wakeful, retrying in {} s", POLL_INTERVAL.as_secs());
            }
        }
    }
    Ok(())
}

async fn apply_rules_of_page(engine: &Engine, rules: &[ActiveRule]) -> Result<()> {
    let (page, team) = (rules[0].page, rules[0].team);
    let Some(stored) = engine.store().shown_statuspage(page, team).await? else { return Ok(()) };
    let down = engine.down_components(&stored.page).await?;
    for rule in rules {
        match survived(engine.step_rule(&stored.page, rule, &down)).await {
            Ok(done) => done?,
            Err(_) => {
                let id = rule.rule.id;
                tracing::error!(rule.id = %id, page.id = %page, "applying rule {id} of status page {page} failed because of a bug in Wakeful, retrying in {} s", POLL_INTERVAL.as_secs());
            }
        }
    }
    Ok(())
}

impl Engine {
    /// The components that are down by their monitors, except those in published maintenance.
    async fn down_components(&self, page: &StatusPage) -> Result<Vec<DownComponent>> {
        let monitors = self.monitors_of(page).await?;
        let now = self.now();
        let mut down = Vec::new();
        for component in page.components() {
            let (counts, since) = monitors.outage(component, now);
            let status = counts.status(component.settings.needs);
            if status >= ComponentStatus::PartialOutage {
                let outage = OpenOutage { component: component.id, since };
                let monitors = monitors.down(component.id).map(|one| one.id).collect();
                down.push(DownComponent { outage, status, monitors });
            }
        }
        // Much may be written about the incidents of a page, and this is asked every few seconds.
        if down.is_empty() {
            return Ok(down);
        }
        let incidents = self.store().shown_incidents(page.id).await?;
        let is_planned = |id: ComponentId| {
            incidents.iter().any(|incident| {
                incident.kind == IncidentKind::Maintenance
                    && incident.is_in_progress()
                    && incident.components.iter().any(|one| one.id == id)
            })
        };
        down.retain(|one| !is_planned(one.outage.component));
        Ok(down)
    }

    async fn step_rule(
        &self,
        page: &StatusPage,
        active: &ActiveRule,
        down: &[DownComponent],
    ) -> Result<()> {
        let settings = &active.rule.settings;
        let is_meant =
            |id: ComponentId| settings.components.is_empty() || settings.components.contains(&id);
        let outages: Vec<OpenOutage> =
            down.iter().map(|one| one.outage).filter(|one| is_meant(one.component)).collect();
        let now = self.now();
        let mut open = active.open.clone();
        let mut stored: HashMap<IncidentId, StoredIncident> = HashMap::new();
        for followed in &mut open {
            let found = self.store().read_incident(followed.id).await?;
            match found.filter(|found| found.incident.is_open()) {
                Some(found) => {
                    stored.insert(followed.id, found);
                }
                None => followed.is_closed = true,
            }
        }
        let (id, action) = match step(settings, &outages, &open, now) {
            Some(RuleStep::Open(components)) => {
                return self.open_incident(page, active, open, down, components).await;
            }
            Some(RuleStep::Continue(id, action)) => (id, action),
            None => return Ok(()),
        };
        let Some(place) = open.iter().position(|followed| followed.id == id) else {
            return Ok(());
        };
        let followed = open.remove(place);
        let Some(before) = stored.remove(&id) else {
            self.store().step_rule(active, &open, RuleWrite::Nothing).await?;
            return Ok(());
        };
        let mut incident = before.incident.clone();
        incident.modified = now;
        let next = self.continue_incident(page, active, down, followed, &mut incident, action);
        if let Some(next) = next {
            open.insert(place, next);
        }
        incident.derive_impact();
        let counted = self.count_automatic_messages(Some(&before.incident), &mut incident).await?;
        let write = RuleWrite::Change(&before, &incident);
        if self.store().step_rule(active, &open, write).await? {
            self.note_incident(&incident);
        } else {
            self.undo_messages(counted).await?;
        }
        Ok(())
    }

    async fn open_incident(
        &self,
        page: &StatusPage,
        active: &ActiveRule,
        mut open: Vec<OpenIncident>,
        down: &[DownComponent],
        components: Vec<ComponentId>,
    ) -> Result<()> {
        let (now, settings) = (self.now(), &active.rule.settings);
        let meant = || down.iter().filter(|one| components.contains(&one.outage.component));
        let Some(first) = meant().map(|one| one.outage).min_by_key(|outage| outage.since) else {
            return Ok(());
        };
        let started = first.since;
        let named = named(page, down, &components);
        let (mut title, mut titles) = titles(page, &named);
        let (mut body, mut texts) = (String::new(), Texts::new());
        let (mut impact, mut status) = (settings.impact, IncidentStatus::Investigating);
        let template = match settings.template {
            Some(id) => self.shown_team(page).incident_template(id).await?,
            None => None,
        };
        if let Some(template) = template {
            let cause = if settings.show_cause {
                let monitors: Vec<MonitorId> =
                    meant().flat_map(|one| &one.monitors).copied().collect();
                self.store().outage_cause(page.team, &monitors).await?
            } else {
                None
            };
            let template = &template.settings;
            let cause = cause.as_deref();
            let rendered = self.render_template(template, &page.name, &named, started, cause).await;
            // A template that fails leaves the built-in text.
            if let Ok(rendered) = rendered {
                (title, body) = rendered;
                titles.clear();
            }
            impact = impact.or(template.impact);
            // The rule resolves it.
            let is_open = |status: &IncidentStatus| {
                status.kind() == IncidentKind::Incident && !status.is_final()
            };
            status = template.status.filter(is_open).unwrap_or(status);
        }
        if body.trim().is_empty() {
            let names = |language| page.component_names(&named, language);
            (body, texts) = AutomaticText::NotAvailable.texts("body", names);
        }
        let title = shortened(title);
        let state = match settings.mode {
            RuleMode::Draft => IncidentState::Draft,
            RuleMode::Publish => IncidentState::Published,
        };
        let mut incident = Incident {
            id: incident_id(active, first),
            team: page.team,
            kind: IncidentKind::Incident,
            title,
            state,
            status: IncidentStatus::Investigating,
            impact: Impact::None,
            settings: IncidentSettings {
                texts: titles,
                impact_override: impact,
                ..IncidentSettings::default()
            },
            source: IncidentSource::Rule,
            rule: Some(active.rule.id),
            started,
            resolved: None,
            components: named.clone(),
            pages: Vec::new(),
            updates: Vec::new(),
            created: now,
            modified: now,
        };
        let new = NewUpdate {
            id: wakeful_core::id::IncidentUpdateId::new(now, random::bytes()),
            status,
            body,
            texts,
            components: named,
            display_at: now,
            notify: settings.notify,
            reopen: false,
            by_rule: true,
        };
        let _ = incident.post(new, now);
        open.push(OpenIncident {
            id: incident.id,
            opened: now,
            components,
            recovered: None,
            monitored: false,
            is_closed: false,
        });
        let counted = self.count_automatic_messages(None, &mut incident).await?;
        if self.store().step_rule(active, &open, RuleWrite::Insert(&incident)).await? {
            self.note_incident(&incident);
        } else {
            self.undo_messages(counted).await?;
        }
        Ok(())
    }

    /// Changes an incident; returns what the rule goes on to follow.
    fn continue_incident(
        &self,
        page: &StatusPage,
        active: &ActiveRule,
        down: &[DownComponent],
        mut open: OpenIncident,
        incident: &mut Incident,
        action: RuleAction,
    ) -> Option<OpenIncident> {
        let now = self.now();
        let notify = active.rule.settings.notify;
        let is_draft = incident.state == IncidentState::Draft;
        // After a person's first update, a rule only changes statuses. It does not write without
        // end when a monitor flaps either, and leaves room for people.
        let is_automatic = !incident.settings.by_person;
        let has_room = incident.updates.len() < MAX_AUTOMATIC_UPDATES
            && incident.text_bytes() < MAX_AUTOMATIC_TEXT;
        let writes = is_automatic && has_room;
        match action {
            RuleAction::Join(components) => {
                let joining = named(page, down, &components);
                open.components.extend(components);
                if writes {
                    let status = incident.status;
                    self.post_outage(page, incident, status, joining, notify);
                } else {
                    set_statuses(incident, joining);
                }
            }
            RuleAction::Recovered { .. } | RuleAction::Release if is_draft => {
                incident.state = IncidentState::Discarded;
                return None;
            }
            RuleAction::Recovered { post } => {
                open.recovered = Some(now);
                for component in &mut incident.components {
                    if open.components.contains(&component.id) {
                        component.status = ComponentStatus::Operational;
                    }
                }
                if post && writes {
                    open.monitored = true;
                    let names = |language| page.component_names(&incident.components, language);
                    let text = AutomaticText::Recovered.texts("body", names);
                    let status = IncidentStatus::Monitoring;
                    self.post_automatically(incident, status, text, now, notify);
                }
            }
            RuleAction::Relapsed => {
                open.recovered = None;
                let again = named(page, down, &open.components);
                if writes && open.monitored {
                    open.monitored = false;
                    let status = IncidentStatus::Investigating;
                    self.post_outage(page, incident, status, again, notify);
                } else {
                    set_statuses(incident, again);
                }
            }
            RuleAction::Resolve => {
                if is_automatic {
                    let text = AutomaticText::Resolved.texts("body", |_| String::new());
                    let status = IncidentStatus::Resolved;
                    self.post_automatically(incident, status, text, now, notify);
                }
                return None;
            }
            RuleAction::Release => return None,
        }
        Some(open)
    }

    /// Posts that components are down.
    fn post_outage(
        &self,
        page: &StatusPage,
        incident: &mut Incident,
        status: IncidentStatus,
        components: Vec<NamedComponent>,
        notify: bool,
    ) {
        let now = self.now();
        let names = |language| page.component_names(&components, language);
        let (body, texts) = AutomaticText::NotAvailable.texts("body", names);
        let new = NewUpdate {
            id: wakeful_core::id::IncidentUpdateId::new(now, random::bytes()),
            status,
            body,
            texts,
            components,
            display_at: now,
            notify,
            reopen: false,
            by_rule: true,
        };
        // An open incident takes every status.
        let _ = incident.post(new, now);
    }
}

fn set_statuses(incident: &mut Incident, components: Vec<NamedComponent>) {
    for named in components {
        match incident.components.iter_mut().find(|one| one.id == named.id) {
            Some(known) => known.status = named.status,
            None => incident.components.push(named),
        }
    }
}

/// The components of a page that are down, with their statuses.
fn named(
    page: &StatusPage,
    down: &[DownComponent],
    components: &[ComponentId],
) -> Vec<NamedComponent> {
    let named = |id: &ComponentId| {
        let component = page.components().find(|one| one.id == *id)?;
        let found = down.iter().find(|one| one.outage.component == *id)?;
        let name = component.shown_name().to_owned();
        Some(NamedComponent { id: *id, page: page.id, name, status: found.status })
    };
    components.iter().filter_map(named).collect()
}

/// A title that names the components, and its translations where they have other names.
fn titles(page: &StatusPage, named: &[NamedComponent]) -> (String, Texts) {
    let title = |language: Language| page.component_names(named, language);
    let default = title(page.settings.language);
    let translated = |language: &Language| {
        let text = Some(title(*language)).filter(|text| *text != default)?;
        Some((*language, BTreeMap::from([("title".to_owned(), shortened(text))])))
    };
    let translations = Language::ALL.iter().filter_map(translated).collect();
    (default, translations)
}

/// A title that is not too long.
fn shortened(mut title: String) -> String {
    title.truncate(title.floor_char_boundary(255));
    title
}

/// The same outage and rule always yield the same incident.
fn incident_id(active: &ActiveRule, first: OpenOutage) -> IncidentId {
    let OpenOutage { component, since } = first;
    let digest = Digest::of(&format!("{}:{}:{component}", active.rule.id, since.0)).0;
    let mut random = [0; 10];
    random.copy_from_slice(&digest[..10]);
    IncidentId::new(since, random)
}
