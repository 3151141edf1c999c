//! Automatic incidents: the rules of status pages open, extend and resolve incidents. The leader
//! makes the steps; the state of a rule and its incident are written in one transaction.

use std::time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{ComponentId, IncidentId};
use wakeful_core::statuspages::automatic::AutomaticText;
use wakeful_core::statuspages::incident::{
    Incident, IncidentSettings, IncidentSource, IncidentState, NamedComponent, NewUpdate,
};
use wakeful_core::statuspages::page::{StatusPage, Texts};
use wakeful_core::statuspages::rule::{OpenIncident, OpenOutage, RuleAction, RuleMode, step};
use wakeful_core::statuspages::snapshot::{ComponentStatus, Impact, IncidentKind, IncidentStatus};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_store::{ActiveRule, RuleWrite, StoredIncident};

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
}

/// One round over all active rules.
pub async fn apply_rules(engine: &Engine) -> Result<()> {
    let rules = engine.store().active_rules().await?;
    for of_page in rules.chunk_by(|one, two| one.page == two.page) {
        let (page, team) = (of_page[0].page, of_page[0].team);
        let Some(stored) = engine.store().shown_statuspage(page, team).await? else { continue };
        let down = engine.down_components(&stored.page).await?;
        for rule in of_page {
            engine.step_rule(&stored.page, rule, &down).await?;
        }
    }
    Ok(())
}

impl Engine {
    /// The components that are down by their monitors, except those in published maintenance.
    async fn down_components(&self, page: &StatusPage) -> Result<Vec<DownComponent>> {
        let monitors = self.monitors_of(page).await?;
        let incidents = self.store().shown_incidents(page.id).await?;
        let now = self.now();
        let is_planned = |id: ComponentId| {
            incidents.iter().any(|incident| {
                incident.kind == IncidentKind::Maintenance
                    && incident.is_in_progress()
                    && incident.components.iter().any(|one| one.id == id)
            })
        };
        let mut down = Vec::new();
        for component in page.components().filter(|one| !is_planned(one.id)) {
            let (counts, since) = monitors.outage(component.id, now);
            let status = counts.status(component.settings.needs);
            if status >= ComponentStatus::PartialOutage {
                let outage = OpenOutage { component: component.id, since };
                down.push(DownComponent { outage, status });
            }
        }
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
        let stored = match &active.open {
            Some(open) => self.store().read_incident(open.id).await?,
            None => None,
        };
        if let Some(open) = &active.open
            && !stored.as_ref().is_some_and(|stored| stored.incident.is_open())
        {
            // Somebody has closed or deleted it: the rule waits until the outage is over.
            let is_down = outages.iter().any(|one| open.components.contains(&one.component));
            if !is_down {
                self.store().step_rule(active, None, RuleWrite::Nothing).await?;
            }
            return Ok(());
        }
        let Some(action) = step(settings, &outages, active.open.as_ref(), now) else {
            return Ok(());
        };
        match (action, active.open.clone(), stored) {
            (RuleAction::Open(components), _, _) => {
                self.open_incident(page, active, down, components, &outages).await
            }
            (action, Some(open), Some(stored)) => {
                self.continue_incident(page, active, down, open, &stored, action).await
            }
            _ => Ok(()),
        }
    }

    async fn open_incident(
        &self,
        page: &StatusPage,
        active: &ActiveRule,
        down: &[DownComponent],
        components: Vec<ComponentId>,
        outages: &[OpenOutage],
    ) -> Result<()> {
        let (now, settings) = (self.now(), &active.rule.settings);
        let meant = outages.iter().filter(|outage| components.contains(&outage.component));
        let started = meant.map(|outage| outage.since).min().unwrap_or(now);
        let named = named(page, down, &components);
        let names: Vec<&str> = named.iter().map(|one| one.name.as_str()).collect();
        let names = names.join(", ");
        let (mut title, mut body, mut texts) = (names.clone(), String::new(), Texts::new());
        let mut impact = settings.impact;
        let template = match settings.template {
            Some(id) => self.shown_team(page).incident_template(id).await?,
            None => None,
        };
        if let Some(template) = template {
            // A template that fails leaves the built-in text.
            let rendered =
                self.render_template(&template.settings, &page.name, &named, started, None).await;
            if let Ok(rendered) = rendered {
                (title, body) = rendered;
            }
            impact = impact.or(template.settings.impact);
        }
        if body.trim().is_empty() {
            (body, texts) = AutomaticText::NotAvailable.texts("body", &names);
        }
        title.truncate(title.floor_char_boundary(255));
        let state = match settings.mode {
            RuleMode::Draft => IncidentState::Draft,
            RuleMode::Publish => IncidentState::Published,
        };
        let mut incident = Incident {
            id: incident_id(active, started),
            team: page.team,
            kind: IncidentKind::Incident,
            title,
            state,
            status: IncidentStatus::Investigating,
            impact: Impact::None,
            settings: IncidentSettings { impact_override: impact, ..IncidentSettings::default() },
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
            status: IncidentStatus::Investigating,
            body,
            texts,
            components: named,
            display_at: now,
            notify: settings.notify,
            reopen: false,
            by_rule: true,
        };
        let _ = incident.post(new, now);
        let open = OpenIncident {
            id: incident.id,
            opened: now,
            components,
            recovered: None,
            monitored: false,
        };
        if self.store().step_rule(active, Some(&open), RuleWrite::Insert(&incident)).await? {
            self.note_incident(&incident);
        }
        Ok(())
    }

    async fn continue_incident(
        &self,
        page: &StatusPage,
        active: &ActiveRule,
        down: &[DownComponent],
        mut open: OpenIncident,
        stored: &StoredIncident,
        action: RuleAction,
    ) -> Result<()> {
        let now = self.now();
        let mut incident = stored.incident.clone();
        incident.modified = now;
        // After a person's first update, a rule only changes statuses.
        let writes = !incident.settings.by_person;
        let mut is_open = true;
        match action {
            RuleAction::Open(_) => return Ok(()),
            RuleAction::Join(components) => {
                let joining = named(page, down, &components);
                open.components.extend(components);
                if writes {
                    let all: Vec<&str> = joining.iter().map(|one| one.name.as_str()).collect();
                    let (body, texts) = AutomaticText::NotAvailable.texts("body", &all.join(", "));
                    let status = incident.status;
                    self.post_as_rule(&mut incident, status, body, texts, joining);
                } else {
                    set_statuses(&mut incident, joining);
                }
            }
            RuleAction::Recovered { post } => {
                open.recovered = Some(now);
                if incident.state == IncidentState::Draft {
                    incident.state = IncidentState::Discarded;
                    is_open = false;
                } else {
                    for component in &mut incident.components {
                        if open.components.contains(&component.id) {
                            component.status = ComponentStatus::Operational;
                        }
                    }
                    if post && writes {
                        open.monitored = true;
                        let text = AutomaticText::Recovered;
                        self.post_automatically(
                            &mut incident,
                            IncidentStatus::Monitoring,
                            text,
                            now,
                        );
                    }
                }
            }
            RuleAction::Relapsed => {
                open.recovered = None;
                let again = named(page, down, &open.components);
                if writes && open.monitored {
                    open.monitored = false;
                    let all: Vec<&str> = again.iter().map(|one| one.name.as_str()).collect();
                    let (body, texts) = AutomaticText::NotAvailable.texts("body", &all.join(", "));
                    let status = IncidentStatus::Investigating;
                    self.post_as_rule(&mut incident, status, body, texts, again);
                } else {
                    set_statuses(&mut incident, again);
                }
            }
            RuleAction::Resolve => {
                is_open = false;
                if writes {
                    let status = IncidentStatus::Resolved;
                    self.post_automatically(&mut incident, status, AutomaticText::Resolved, now);
                }
            }
            RuleAction::Release => is_open = false,
        }
        incident.derive_impact();
        let write = RuleWrite::Change(stored, &incident);
        if self.store().step_rule(active, is_open.then_some(&open), write).await? {
            self.note_incident(&incident);
        }
        Ok(())
    }

    fn post_as_rule(
        &self,
        incident: &mut Incident,
        status: IncidentStatus,
        body: String,
        texts: Texts,
        components: Vec<NamedComponent>,
    ) {
        let now = self.now();
        let new = NewUpdate {
            id: wakeful_core::id::IncidentUpdateId::new(now, random::bytes()),
            status,
            body,
            texts,
            components,
            display_at: now,
            notify: true,
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

/// The same outage and rule always yield the same incident.
fn incident_id(active: &ActiveRule, started: Millis) -> IncidentId {
    let digest = Digest::of(&format!("{}:{}", active.rule.id, started.0)).0;
    let mut random = [0; 10];
    random.copy_from_slice(&digest[..10]);
    IncidentId::new(started, random)
}
