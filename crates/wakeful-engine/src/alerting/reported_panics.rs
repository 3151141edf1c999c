//! The alerts whose decision panicked. Each is tried again once a second for as long as it is due,
//! but logged only once for each process.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use wakeful_core::id::AlertId;

/// How many alerts are logged. Of more, only the number of panics is known.
const MAX_ALERTS: usize = 1_000;

#[derive(Default)]
pub(super) struct ReportedPanics(Mutex<HashSet<AlertId>>);

impl ReportedPanics {
    /// Whether this is the first panic about an alert, which is to be logged.
    pub(super) fn is_first(&self, id: AlertId) -> bool {
        let mut reported = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reported.len() < MAX_ALERTS && reported.insert(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::time::Millis;

    #[test]
    fn each_alert_is_reported_once_and_the_memory_is_bounded() {
        let reported = ReportedPanics::default();
        let alert = |at| AlertId::new(Millis(at), [0; 10]);
        assert!(reported.is_first(alert(0)));
        assert!(!reported.is_first(alert(0)));
        let count = (1..5_000).filter(|at| reported.is_first(alert(*at))).count();
        assert_eq!(count, MAX_ALERTS - 1);
    }
}
