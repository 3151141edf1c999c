//! What is counted of every check. The meters are looked up once and kept:
//! finding one by its name costs more than counting.

use metrics::{Counter, Histogram};
use std::collections::HashMap;
use wakeful_core::monitor::Kind;
use wakeful_core::observation::FaultKind;
use wakeful_core::verdict::Seen;

pub(super) struct Meters {
    lag: Histogram,
    skipped: Counter,
    checks: HashMap<(Kind, &'static str), Counter>,
}

impl Meters {
    pub(super) fn new() -> Self {
        let faults = FaultKind::ALL.iter().map(|kind| kind.as_str());
        let results: Vec<&str> = ["up", "down"].into_iter().chain(faults).collect();
        let checks = Kind::ALL
            .iter()
            .filter(|kind| **kind != Kind::Api)
            .flat_map(|kind| results.iter().map(move |result| (*kind, *result)))
            .map(|(kind, result)| ((kind, result), checks(kind, result)))
            .collect();
        Self {
            lag: metrics::histogram!("wakeful_check_lag_seconds"),
            skipped: metrics::counter!("wakeful_checks_skipped_total"),
            checks,
        }
    }

    /// A check begins so many milliseconds after it was due.
    pub(super) fn begun(&self, lag: u64) {
        self.lag.record(lag as f64 / 1_000.0);
    }

    /// A check was left out, because the one before it had not ended.
    pub(super) fn skipped(&self) {
        self.skipped.increment(1);
    }

    pub(super) fn ended(&self, kind: Kind, seen: &Seen) {
        let result = match seen {
            Seen::Observation(seen) if seen.up => "up",
            Seen::Observation(_) => "down",
            Seen::Fault(fault) => fault.kind.as_str(),
            // Nothing was checked.
            Seen::Report(_) | Seen::Missed(_) => return,
        };
        if let Some(counter) = self.checks.get(&(kind, result)) {
            counter.increment(1);
        }
    }
}

fn checks(kind: Kind, result: &'static str) -> Counter {
    metrics::counter!("wakeful_checks_total", "type" => kind.as_str(), "result" => result)
}
