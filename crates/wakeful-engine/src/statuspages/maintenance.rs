//! The maintenance clock of status pages: starts and completes maintenance, and creates the next
//! occurrence of one that repeats. Every node looks; the revision of the row decides which one
//! of them makes a step.

use tokio_util::sync::CancellationToken;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{IncidentId, IncidentUpdateId};
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::automatic::AutomaticText;
use wakeful_core::statuspages::incident::{Incident, IncidentSettings, NewUpdate};
use wakeful_core::statuspages::page::Texts;
use wakeful_core::statuspages::schedule::{ClockStep, step};
use wakeful_core::statuspages::snapshot::{ComponentStatus, IncidentStatus};
use wakeful_core::time::Millis;

use crate::due_work::{DueWorkReader, POLL_INTERVAL};
use crate::{Engine, Result, random};

const BATCH: u32 = 100;
/// A start, an end and the next occurrence may be due together.
const MAX_STEPS: usize = 4;

/// Applies the clock until shutdown.
pub async fn run(engine: Engine, shutdown: CancellationToken) {
    let mut due_work = DueWorkReader::default();
    while !shutdown.is_cancelled() {
        if let Err(error) = apply_due(&engine).await {
            tracing::warn!(error = %ErrorChain(&error), "applying the maintenance of status pages failed, retrying in {} s", POLL_INTERVAL.as_secs());
        }
        let due = async { while !due_work.next(&engine).await.incidents {} };
        tokio::select! {
            () = due => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Makes all steps that are due.
pub async fn apply_due(engine: &Engine) -> Result<()> {
    for id in engine.store().due_incidents(engine.now(), BATCH).await? {
        engine.step_maintenance(id).await?;
    }
    Ok(())
}

impl Engine {
    async fn step_maintenance(&self, id: IncidentId) -> Result<()> {
        for _ in 0..MAX_STEPS {
            let Some(before) = self.store().read_incident(id).await? else { return Ok(()) };
            let now = self.now();
            let mut incident = before.incident.clone();
            incident.modified = now;
            // The texts about maintenance name no components.
            let no_names = |_: Language| String::new();
            let mut next = match step(&incident, now) {
                Some(ClockStep::Remind) => {
                    incident.settings.reminded = Some(now);
                    None
                }
                Some(ClockStep::Start) => {
                    let at = incident.settings.scheduled_for.unwrap_or(now);
                    self.post_automatically(
                        &mut incident,
                        IncidentStatus::InProgress,
                        AutomaticText::MaintenanceBegun.texts("body", no_names),
                        at,
                        true,
                    );
                    None
                }
                Some(ClockStep::Complete) => {
                    let at = incident.settings.scheduled_until.unwrap_or(now).max(incident.started);
                    self.post_automatically(
                        &mut incident,
                        IncidentStatus::Completed,
                        AutomaticText::MaintenanceCompleted.texts("body", no_names),
                        at,
                        true,
                    );
                    None
                }
                Some(ClockStep::Repeat { scheduled_for, scheduled_until }) => {
                    incident.settings.repeated = true;
                    Some(self.next_maintenance(&incident, scheduled_for, scheduled_until))
                }
                None if incident.status == IncidentStatus::Completed => {
                    // The last one.
                    if incident.settings.repeated {
                        return Ok(());
                    }
                    incident.settings.repeated = true;
                    None
                }
                None => return Ok(()),
            };
            let mut counted =
                vec![self.count_automatic_messages(Some(&before.incident), &mut incident).await?];
            if let Some(next) = &mut next {
                counted.push(self.count_automatic_messages(None, next).await?);
            }
            if self.store().step_incident(&before, &incident, next.as_ref()).await? {
                self.note_incident(&incident);
                continue;
            }
            for messages in counted {
                self.undo_messages(messages).await?;
            }
        }
        Ok(())
    }

    /// Posts an update that nobody has written.
    pub(super) fn post_automatically(
        &self,
        incident: &mut Incident,
        status: IncidentStatus,
        (body, texts): (String, Texts),
        at: Millis,
        notify: bool,
    ) {
        let now = self.now();
        let new = NewUpdate {
            id: IncidentUpdateId::new(now, random::bytes()),
            status,
            body,
            texts,
            components: Vec::new(),
            display_at: at.min(now),
            notify,
            reopen: false,
            by_rule: true,
        };
        // The step has just made sure that this status may follow.
        let _ = incident.post(new, now);
    }

    fn next_maintenance(
        &self,
        incident: &Incident,
        scheduled_for: Millis,
        scheduled_until: Millis,
    ) -> Incident {
        let now = self.now();
        let first = incident.updates.last();
        let mut next = Incident {
            id: IncidentId::new(now, random::bytes()),
            status: IncidentStatus::Scheduled,
            started: scheduled_for,
            resolved: None,
            updates: Vec::new(),
            created: now,
            modified: now,
            settings: IncidentSettings {
                scheduled_for: Some(scheduled_for),
                scheduled_until: Some(scheduled_until),
                cancelled: false,
                reminded: None,
                repeated: false,
                postmortem: None,
                ..incident.settings.clone()
            },
            ..incident.clone()
        };
        for component in &mut next.components {
            component.status = ComponentStatus::UnderMaintenance;
        }
        let new = NewUpdate {
            id: IncidentUpdateId::new(now, random::bytes()),
            status: IncidentStatus::Scheduled,
            body: first.map(|update| update.body.clone()).unwrap_or_default(),
            texts: first.map(|update| update.settings.texts.clone()).unwrap_or_default(),
            components: next.components.clone(),
            display_at: now,
            notify: true,
            reopen: false,
            by_rule: true,
        };
        let _ = next.post(new, now);
        next
    }
}
