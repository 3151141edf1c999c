//! The monitors of teams. Their settings are written only here; the state that
//! results from verdicts is written by `history/record.rs`, to a separate table.

mod bulk;
pub(crate) mod certificates;
pub(crate) mod dependencies;
pub(crate) mod graph;
mod inbound;
pub(crate) mod list;
mod listening_mark;
mod pings;
mod row;
pub(crate) mod save;
mod schedule;
pub(crate) mod visible;

pub use bulk::{BulkEdit, MonitorSelection, StoredSettings};
pub use dependencies::{Affected, MAX_AFFECTED_NAMES};
pub use graph::{MemberCandidate, StoredGroup};
pub use inbound::{FiringGroups, MAX_FIRING_GROUPS, ReportedGroup};
pub use pings::{LastPing, NewPing, SlugTarget, StoredPing};

use std::time::Duration;
use wakeful_core::health::Usual;
use wakeful_core::id::{MonitorId, NotifierId};
use wakeful_core::monitors::{Kind, Monitor};
use wakeful_core::severity::Severity;
use wakeful_core::verdict::{Health, State};

/// A monitor with its current state.
#[derive(Clone, Debug)]
pub struct StoredMonitor {
    pub monitor: Monitor,
    pub state: State,
    /// The usual times of its checks, if it is compared with them.
    pub usual: Option<Usual>,
    /// The sequence number of the last verdict.
    pub seq: i64,
    /// The number of times it was saved; a higher one is newer.
    pub revision: i64,
    /// Only its id and its name are those of the monitor, because the rest could not be read.
    pub unreadable: bool,
}

/// A notifier as shown with a monitor that is linked to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedNotifier {
    pub id: NotifierId,
    pub name: String,
    pub kind: String,
}

/// Filters the monitors of a team; all conditions that are set must match.
#[derive(Clone, Debug, Default)]
pub struct MonitorQuery {
    pub kind: Option<Kind>,
    /// A monitor that is up may be degraded.
    pub status: Option<Health>,
    pub tag: Option<String>,
    /// A part of the name, the target or a tag, ignoring case.
    pub q: Option<String>,
    /// Whether maintenance covers it.
    pub maintenance: Option<bool>,
    pub severity: Option<Severity>,
    /// Only these: the members of a group.
    pub members: Option<Vec<MonitorId>>,
    /// `None` for all of them.
    pub limit: Option<u32>,
    /// Only those after this one.
    pub after: Option<MonitorId>,
}

/// The outcome of saving a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveOutcome {
    Done,
    /// The team has no such monitor.
    NotFound,
    /// It has changed since it was read; nothing was saved.
    Conflict,
    /// The team has reached its limit of active monitors; nothing was saved.
    LimitReached,
    /// The long request bodies and headers of the team would exceed
    /// `MAX_LONG_REQUEST_BYTES`; nothing was saved.
    TooLong,
    /// The team has no such notifiers; nothing was saved.
    UnknownNotifiers(Vec<NotifierId>),
    /// The team has no such escalation policy; nothing was saved.
    UnknownPolicy,
    /// What it depends on is rejected; nothing was saved.
    InvalidDependencies(LinkError),
    /// The members of the group are rejected; nothing was saved.
    InvalidMembers(LinkError),
    /// The group has members that the caller may not see; nothing was saved.
    HiddenMembers,
    /// The team has `MAX_GROUPS` groups; nothing was saved.
    TooManyGroups,
}

/// Why links between monitors are rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// The team has no such monitor, or the caller may not see it.
    Unknown(MonitorId),
    /// The names of the monitors in a cycle, in order.
    Cycle(Vec<String>),
    TooDeep,
}

pub(crate) fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("stored values are plain data")
}

/// Ids as a JSON array that both databases can read.
pub(crate) fn id_array(ids: &[MonitorId]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| id.uuid().simple().to_string()).collect();
    json(&ids)
}

fn to_seconds(span: Duration) -> i64 {
    i64::try_from(span.as_secs()).unwrap_or(i64::MAX)
}

/// Seconds between reminders; 0 for none.
fn resend_interval(monitor: &Monitor) -> i64 {
    monitor.resend_interval.map_or(0, to_seconds)
}
