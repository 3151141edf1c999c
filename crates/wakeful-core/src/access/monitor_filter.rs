//! The monitors that a member or an API key is limited to.

use serde::Serialize;

use crate::Invalid;
use crate::id::MonitorId;
use crate::monitors::Tags;

const MAX_TAGS: usize = 20;
const MAX_MONITORS: usize = 100;

/// Everything outside the filter is indistinguishable from what does not exist. A filter whose
/// monitors have all been deleted matches nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MonitorFilter {
    /// Monitors with at least one of these tags.
    Tags(Tags),
    Monitors(Vec<MonitorId>),
}

impl MonitorFilter {
    pub fn of_tags(tags: Tags) -> Result<Self, Invalid> {
        match tags.iter().count() {
            0 => Err(Invalid::new("must have at least one tag")),
            1..=MAX_TAGS => Ok(Self::Tags(tags)),
            _ => Err(Invalid::new(format!("must be at most {MAX_TAGS} tags"))),
        }
    }

    pub fn of_monitors(mut monitors: Vec<MonitorId>) -> Result<Self, Invalid> {
        monitors.sort();
        monitors.dedup();
        match monitors.len() {
            0 => Err(Invalid::new("must have at least one monitor")),
            1..=MAX_MONITORS => Ok(Self::Monitors(monitors)),
            _ => Err(Invalid::new(format!("must be at most {MAX_MONITORS} monitors"))),
        }
    }

    /// Whether a monitor with these tags is inside the filter.
    pub fn includes(&self, monitor: MonitorId, tags: &Tags) -> bool {
        match self {
            Self::Tags(allowed) => tags.intersects(allowed),
            Self::Monitors(allowed) => allowed.contains(&monitor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Millis;

    #[test]
    fn a_filter_names_something_and_not_too_much() {
        let tags = |count: usize| {
            let names: Vec<String> = (0..count).map(|at| at.to_string()).collect();
            MonitorFilter::of_tags(Tags::of(names.iter().map(String::as_str)).expect("valid"))
        };
        assert!(tags(0).is_err() && tags(20).is_ok() && tags(21).is_err());
        let monitors = |count: u8| {
            let ids = (0..count).map(|at| MonitorId::new(Millis(1), [at; 10])).collect();
            MonitorFilter::of_monitors(ids)
        };
        assert!(monitors(0).is_err() && monitors(100).is_ok() && monitors(101).is_err());
    }
}
