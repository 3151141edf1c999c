//! What withholds a notification, in the order of precedence: flapping, maintenance, a parent
//! that is down, a group that reports instead, and the doubt whether a parent is down.

use uuid::Uuid;

use super::alert::AlertKind;
use super::state::{Reason, Suppressed};
use super::step::{Decision, RECHECK_INTERVAL, UNKNOWN_END_INTERVAL, Unreachable};
use crate::dependency::{DependencyKind, Judgement, judge};
use crate::time::Millis;

/// What suppresses an alert.
pub(super) struct Suppressor {
    pub(super) reason: Reason,
    pub(super) id: Uuid,
    pub(super) name: String,
    /// When it ends, if that is known.
    pub(super) until: Option<Millis>,
    /// It is our network path to the monitor.
    pub(super) is_path: bool,
}

impl Suppressor {
    fn new(reason: Reason, id: Uuid, name: &str) -> Self {
        Self { reason, id, name: name.to_owned(), until: None, is_path: false }
    }
}

impl Decision<'_> {
    /// What withholds the notification now.
    pub(super) fn suppressor(&self) -> Option<Suppressor> {
        self.by_flapping()
            .or_else(|| self.by_window())
            .or_else(|| self.by_parent())
            .or_else(|| self.by_group())
    }

    /// What pauses follow-ups now.
    pub(super) fn pausing(&self) -> Option<Suppressor> {
        self.by_window().or_else(|| self.by_parent())
    }

    fn by_flapping(&self) -> Option<Suppressor> {
        let is_outage = self.alert.kind == AlertKind::Outage;
        let open = self.context.flapping.as_ref().filter(|_| is_outage)?.open?;
        Some(Suppressor::new(Reason::Flapping, open.uuid(), ""))
    }

    fn by_window(&self) -> Option<Suppressor> {
        let cover = self.context.cover.as_ref().filter(|cover| cover.suppresses)?;
        let window = cover.windows.first()?;
        let by = Suppressor::new(Reason::Maintenance, window.id.uuid(), &window.name);
        Some(Suppressor { until: cover.until, ..by })
    }

    fn by_parent(&self) -> Option<Suppressor> {
        let Judgement::Suppress(parent) = self.judge_parents() else { return None };
        let by = Suppressor::new(Reason::Dependency, parent.id.uuid(), parent.name.as_str());
        let is_path = parent.kind == DependencyKind::Path && self.alert.kind == AlertKind::Outage;
        Some(Suppressor { is_path, ..by })
    }

    fn by_group(&self) -> Option<Suppressor> {
        let is_outage = self.alert.kind == AlertKind::Outage;
        let group = self.context.quiet_group.as_ref().filter(|_| is_outage)?;
        Some(Suppressor::new(Reason::Group, group.id.uuid(), &group.name))
    }

    fn judge_parents(&self) -> Judgement<'_> {
        // What expires has nothing to do with other monitors.
        if matches!(self.alert.kind, AlertKind::Certificate | AlertKind::Domain) {
            return Judgement::Clear;
        }
        let since = self.state.doubt_since.unwrap_or(self.now);
        judge(self.alert.started, &self.context.parents, since, self.now)
    }

    /// Waits for the verdict about the parents, and has them checked. Returns when to decide
    /// again.
    pub(super) fn doubt(&mut self) -> Option<Millis> {
        let Judgement::Doubt { until, ask } = self.judge_parents() else {
            self.state.doubt_since = None;
            return None;
        };
        self.state.doubt_since.get_or_insert(self.now);
        self.ask.extend(ask);
        Some(until.min(self.now.after(RECHECK_INTERVAL)))
    }

    /// Opens an alert about flapping in place of this outage, if it is one too many. Returns
    /// when to decide again.
    pub(super) fn flap(&mut self) -> Option<Millis> {
        // One that lasted longer than the flapping is reported like any other.
        let was_hidden = self
            .state
            .released
            .as_ref()
            .is_some_and(|released| released.by.reason == Reason::Flapping);
        if self.alert.kind != AlertKind::Outage || self.state.resolved.is_some() || was_hidden {
            return None;
        }
        let flapping = self.context.flapping.as_ref()?;
        let flaps = flapping.limit.reached(&flapping.starts, self.alert.started)?;
        self.flaps = Some((flapping.next, flaps));
        let by = Suppressor::new(Reason::Flapping, flapping.next.uuid(), "");
        self.apply(by);
        Some(self.now.after(UNKNOWN_END_INTERVAL))
    }

    /// From the first failing check on, the monitor counts as unreachable.
    pub(super) fn begin_unreachable(&mut self) {
        if !self.state.unreachable {
            self.state.unreachable = true;
            self.unreachable = Some(Unreachable::Begins(self.alert.started));
        }
    }

    pub(super) fn end_unreachable(&mut self, at: Millis) {
        if std::mem::take(&mut self.state.unreachable) {
            let at = at.max(self.alert.started);
            // What began with this decision has not been recorded.
            self.unreachable = match self.unreachable {
                Some(Unreachable::Begins(from)) => Some(Unreachable::Was { from, to: at }),
                _ => Some(Unreachable::Ends(at)),
            };
        }
    }
}

impl Suppressed {
    /// Such as "maintenance Backups".
    pub(super) fn describe(&self) -> String {
        format!("{} {}", self.reason.as_str(), self.name).trim_end().to_owned()
    }

    /// What it was during an outage that nobody was notified of.
    pub(super) fn meanwhile(&self) -> String {
        match self.reason {
            Reason::Maintenance => format!("during maintenance {}", self.name),
            Reason::Dependency => format!("while {} was down", self.name),
            Reason::Group => format!("reported by group {}", self.name),
            Reason::Flapping => "while it was flapping".to_owned(),
        }
    }
}
