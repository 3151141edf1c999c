//! The metrics of checks. The counters are looked up once, because finding one by its name
//! costs more than counting.

use metrics::{Counter, Histogram};
use wakeful_core::heartbeat::Beat;
use wakeful_core::monitors::Kind;
use wakeful_core::observation::FaultKind;
use wakeful_core::verdict::Input;

pub(super) struct CheckMetrics {
    lag: Histogram,
    skipped: Counter,
    /// By the type of the monitor and the result: few of each, with the usual result first.
    checks: Vec<(Kind, Vec<(&'static str, Counter)>)>,
}

impl CheckMetrics {
    pub(super) fn new() -> Self {
        let faults = FaultKind::ALL.iter().map(|kind| kind.as_str());
        let results: Vec<&'static str> =
            ["up", "degraded", "down"].into_iter().chain(faults).collect();
        let counters = |kind: Kind| -> Vec<(&'static str, Counter)> {
            results.iter().map(|result| (*result, checks_counter(kind, result))).collect()
        };
        let kinds = Kind::ALL.iter().copied().filter(|kind| *kind != Kind::Api);
        let checks = kinds.map(|kind| (kind, counters(kind))).collect();
        Self {
            lag: metrics::histogram!("wakeful_check_lag_seconds"),
            skipped: metrics::counter!("wakeful_checks_skipped_total"),
            checks,
        }
    }

    /// A check starts this many milliseconds after it was due.
    pub(super) fn check_started(&self, lag: u64) {
        self.lag.record(lag as f64 / 1_000.0);
    }

    /// A check was skipped, because the previous one had not finished.
    pub(super) fn check_skipped(&self) {
        self.skipped.increment(1);
    }

    /// `beat` is the verdict about the check, unless it came too late for one. Whether a target
    /// that is up is slow is only known by then.
    pub(super) fn check_ended(&self, kind: Kind, result: &'static str, beat: Option<Beat>) {
        let is_degraded = result == "up" && beat == Some(Beat::Degraded);
        let result = if is_degraded { "degraded" } else { result };
        let of_kind = self.checks.iter().find(|(known, _)| *known == kind);
        let counters = of_kind.map_or(&[][..], |(_, counters)| counters.as_slice());
        if let Some((_, counter)) = counters.iter().find(|(known, _)| *known == result) {
            counter.increment(1);
        }
    }
}

/// The result of a check itself.
pub(super) fn result_of(seen: &Input) -> &'static str {
    match seen {
        Input::Observation(seen) if seen.up && seen.warnings.is_empty() => "up",
        Input::Observation(seen) if seen.up => "degraded",
        Input::Observation(_) => "down",
        Input::Fault(fault) => fault.kind.as_str(),
        // Nothing was checked.
        Input::Report(_) | Input::Missed(_) | Input::Overran(_) => "",
    }
}

fn checks_counter(kind: Kind, result: &'static str) -> Counter {
    metrics::counter!("wakeful_checks_total", "type" => kind.as_str(), "result" => result)
}
