//! Evidence between the check that saw it and the change that it is written with: the first and
//! the last failing check of each monitor that is failing. It is held in memory, within a bound;
//! a restart loses only what was not written yet.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wakeful_core::evidence::{EvidenceContent, EvidenceOf};
use wakeful_core::health::HealthChangeKind;
use wakeful_core::heartbeat::Beat;
use wakeful_core::id::MonitorId;
use wakeful_core::observation::Observation;
use wakeful_core::reason::Reason;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{Status, Step};

/// Beyond this, the last failing check of an outage is not held.
const MAX_HELD_BYTES: usize = 32 << 20;

/// Evidence to be written with a verdict.
#[derive(Clone, Debug)]
pub(crate) struct NewEvidence {
    pub(crate) of: EvidenceOf,
    pub(crate) at: Millis,
    pub(crate) content: Box<EvidenceContent>,
}

#[derive(Default)]
pub(super) struct HeldEvidence(Mutex<Held>);

#[derive(Default)]
struct Held {
    monitors: HashMap<MonitorId, Streak>,
    bytes: usize,
}

#[derive(Default)]
struct Streak {
    /// Until the outage is confirmed.
    first: Option<Seen>,
    last: Option<Seen>,
}

#[derive(Clone)]
struct Seen {
    at: Millis,
    content: Box<EvidenceContent>,
    bytes: usize,
}

impl Seen {
    /// The target itself answered as it should: `reason` is what was wrong with that.
    fn of_warning(&self, of: EvidenceOf, reason: Reason, step: &Step) -> NewEvidence {
        let mut seen = self.clone();
        seen.content.reason = Some(reason);
        seen.content.message.clone_from(&step.heartbeat.message);
        seen.into_new(of)
    }

    fn into_new(self, of: EvidenceOf) -> NewEvidence {
        metrics::counter!("wakeful_evidence_total", "of" => of.as_str()).increment(1);
        NewEvidence { of, at: self.at, content: self.content }
    }
}

impl HeldEvidence {
    /// What is to be written with this verdict; the rest is held. `was_failing` says whether the
    /// check before failed.
    pub(super) fn step(
        &self,
        monitor: MonitorId,
        was_failing: bool,
        step: &Step,
        observation: Option<&Observation>,
    ) -> Vec<NewEvidence> {
        let degraded = (step.health_change.as_ref())
            .filter(|change| change.kind == HealthChangeKind::Degraded)
            .map(|change| (EvidenceOf::Degraded, change.degradation.reason));
        let changed = step.changed.as_ref().map(|_| (EvidenceOf::Change, Reason::Changed));
        let is_failing = was_failing || step.state.failing.is_some();
        if !is_failing && degraded.is_none() && changed.is_none() {
            return Vec::new();
        }
        let at = step.heartbeat.at;
        let seen = observation.and_then(EvidenceContent::of).map(|mut content| {
            if content.reason.is_none() && step.heartbeat.status == Beat::Down {
                // The target answered as it should, but not as before.
                content.reason = step.reason;
                content.message.clone_from(&step.heartbeat.message);
            }
            content.evidence.set_changed(&step.differing);
            let bytes = size(&content);
            Seen { at, content: Box::new(content), bytes }
        });
        let alerts = degraded.into_iter().chain(changed);
        let warned: Vec<NewEvidence> = (seen.iter())
            .flat_map(|seen| alerts.clone().map(move |(of, why)| seen.of_warning(of, why, step)))
            .collect();
        let mut new = if is_failing { self.step_outage(monitor, step, seen) } else { Vec::new() };
        new.extend(warned);
        new
    }

    /// The part that is about an outage, or a failure that may become one.
    fn step_outage(&self, monitor: MonitorId, step: &Step, seen: Option<Seen>) -> Vec<NewEvidence> {
        let mut held = self.lock();
        let changed = step.change.as_ref();
        match (step.heartbeat.status, changed.map(|change| (change.previous, change.status))) {
            (Beat::Down, Some((_, Status::Down))) => {
                let first = held.take(monitor).and_then(|streak| streak.first);
                let of = if first.is_some() { EvidenceOf::Confirming } else { EvidenceOf::First };
                let first = first.map(|first| first.into_new(EvidenceOf::First));
                first.into_iter().chain(seen.map(|seen| seen.into_new(of))).collect()
            }
            (Beat::Down, _) => {
                if let Some(seen) = seen {
                    held.add(monitor, seen, step.state.status == Status::Down);
                }
                Vec::new()
            }
            (Beat::Up | Beat::Degraded, Some((Status::Down, _))) => {
                let last = held.take(monitor).and_then(|streak| streak.last);
                let last = last.map(|last| last.into_new(EvidenceOf::Last));
                let recovery = seen.map(|seen| seen.into_new(EvidenceOf::Recovery));
                last.into_iter().chain(recovery).collect()
            }
            (Beat::Up | Beat::Degraded, _) => {
                let first = held.take(monitor).and_then(|streak| streak.first);
                first.map(|first| first.into_new(EvidenceOf::Blip)).into_iter().collect()
            }
            // Nothing is known about the target.
            (Beat::Unknown, _) => Vec::new(),
        }
    }

    /// Drops what is held of a monitor that is no longer checked here.
    pub(super) fn remove(&self, monitor: MonitorId) {
        self.lock().take(monitor);
    }

    /// Drops a failure that may have become an outage, because it no longer counts.
    pub(super) fn remove_unconfirmed(&self, monitor: MonitorId) {
        self.lock().remove_first(monitor);
    }

    /// Drops what is held of all monitors but these.
    pub(super) fn retain(&self, is_checked: impl Fn(MonitorId) -> bool) {
        let mut held = self.lock();
        let gone: Vec<MonitorId> =
            held.monitors.keys().copied().filter(|id| !is_checked(*id)).collect();
        for id in gone {
            held.take(id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn take(&mut self, monitor: MonitorId) -> Option<Streak> {
        let streak = self.monitors.remove(&monitor)?;
        let bytes: usize = streak.first.iter().chain(&streak.last).map(|seen| seen.bytes).sum();
        self.bytes -= bytes;
        Some(streak)
    }

    fn remove_first(&mut self, monitor: MonitorId) {
        let Some(streak) = self.monitors.get_mut(&monitor) else { return };
        self.bytes -= streak.first.take().map_or(0, |first| first.bytes);
        if streak.last.is_none() {
            self.monitors.remove(&monitor);
        }
    }

    fn add(&mut self, monitor: MonitorId, seen: Seen, is_confirmed: bool) {
        let streak = self.monitors.entry(monitor).or_default();
        let place = if is_confirmed { &mut streak.last } else { &mut streak.first };
        if !is_confirmed && place.is_some() {
            return;
        }
        let freed = place.as_ref().map_or(0, |old| old.bytes);
        if self.bytes - freed + seen.bytes > MAX_HELD_BYTES {
            return;
        }
        self.bytes = self.bytes - freed + seen.bytes;
        *place = Some(seen);
    }
}

/// The approximate size in memory.
fn size(content: &EvidenceContent) -> usize {
    const FIXED: usize = 1_024;
    let headers = |headers: &[(String, String)]| -> usize {
        headers.iter().map(|(name, value)| name.len() + value.len() + 48).sum()
    };
    let evidence = &content.evidence;
    FIXED
        + content.message.len()
        + evidence.request.as_ref().map_or(0, |one| one.url.len() + headers(&one.headers))
        + evidence.response.as_ref().map_or(0, |one| one.body.len() + headers(&one.headers))
        + evidence.certificate.as_ref().map_or(0, |_| FIXED)
        + evidence.assertions.iter().map(|one| one.message.len() + 128).sum::<usize>()
        + evidence.transcript.iter().map(|line| line.len() + 24).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use wakeful_core::assert::{FailsAs, Fingerprint};
    use wakeful_core::evidence::Evidence;
    use wakeful_core::health::Watch;
    use wakeful_core::observation::{Contact, Fault, FaultKind, Warning};
    use wakeful_core::verdict::{Input, Policy, State, step};

    /// Which evidence is written after each of these checks: `+` passes, `-` fails, `?` could not
    /// be performed, `~` passes with a warning, `#` passes with a new value. The message of a check
    /// is its position.
    fn written(signs: &str) -> Vec<String> {
        written_with(signs, Watch::default())
    }

    fn written_with(signs: &str, watch: Watch) -> Vec<String> {
        let held = HeldEvidence::default();
        let policy = Policy {
            retries: 1,
            retry_interval: Duration::ZERO,
            upside_down: false,
            certificate_warnings: false,
            degraded: Some(watch),
        };
        let (mut state, mut written) = (State::default(), Vec::new());
        let monitor = MonitorId::new(Millis(0), [1; 10]);
        for (position, sign) in signs.chars().enumerate() {
            let message = position.to_string();
            let mut seen = match sign {
                '+' | '~' | '#' => Observation::up(Duration::ZERO, message),
                _ => Observation::down(Contact::Answered, Reason::HttpStatus, message),
            };
            match sign {
                '~' => {
                    let words = "slow".to_owned();
                    seen.warnings.push(Warning { reason: Reason::Slow, words });
                }
                '#' => seen.fingerprints.push(Fingerprint {
                    key: "0 body".into(),
                    hash: position.to_string(),
                    label: "body".into(),
                    pinned: false,
                    fails_as: FailsAs::Down,
                    index: Some(0),
                }),
                _ => {}
            }
            seen.evidence = Some(Box::new(Evidence::default()));
            let input = match sign {
                '?' => Input::Fault(Fault::new(FaultKind::Network, "")),
                _ => Input::Observation(seen.clone()),
            };
            let was_failing = state.failing.is_some();
            let at = Millis(i64::try_from(position).expect("small") * 1_000);
            let step = step(&state, input, &policy, at);
            let new = held.step(monitor, was_failing, &step, (sign != '?').then_some(&seen));
            written.extend(
                new.iter().map(|new| format!("{} {}", new.of.as_str(), new.content.message)),
            );
            state = step.state;
        }
        if state.failing.is_none() {
            let held = held.lock();
            assert!(held.monitors.is_empty() && held.bytes == 0, "nothing is left in memory");
        }
        written
    }

    #[test]
    fn an_outage_leaves_the_checks_that_explain_it() {
        assert_eq!(written("+++"), Vec::<String>::new());
        assert_eq!(written("+-+"), ["blip 1"]);
        assert_eq!(written("+--"), ["first 1", "confirming 2"]);
        assert_eq!(written("+--+"), ["first 1", "confirming 2", "recovery 3"]);
        assert_eq!(
            written("+-?---?+-+"),
            ["first 1", "confirming 3", "last 5", "recovery 7", "blip 8"]
        );
    }

    #[test]
    fn each_alert_of_a_target_that_is_up_has_evidence() {
        let at_once = Watch { over: 1, of: 1, ..Watch::default() };
        assert_eq!(written("+~+"), Vec::<String>::new());
        assert_eq!(written_with("+~", at_once), ["degraded 1; slow"]);
        assert_eq!(written("+#+#+"), ["change 3; body has changed"]);
        assert_eq!(
            written_with("##", at_once),
            ["degraded 1; body has changed", "change 1; body has changed"]
        );
        assert_eq!(
            written_with("+--~", at_once),
            ["first 1", "confirming 2", "recovery 3", "degraded 3; slow"]
        );
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut held = Held::default();
        let mut observation = Observation::down(Contact::Answered, Reason::HttpStatus, "500");
        observation.evidence =
            Some(Box::new(Evidence { transcript: vec!["x".repeat(4_096)], ..Evidence::default() }));
        let content = EvidenceContent::of(&observation).expect("evidence");
        let seen =
            || Seen { at: Millis(0), content: Box::new(content.clone()), bytes: size(&content) };
        for number in 0..20_000_u32 {
            let mut random = [0; 10];
            random[..4].copy_from_slice(&number.to_be_bytes());
            held.add(MonitorId::new(Millis(0), random), seen(), number % 2 == 0);
        }
        assert!(held.bytes <= MAX_HELD_BYTES && held.bytes > MAX_HELD_BYTES / 2);
    }
}
