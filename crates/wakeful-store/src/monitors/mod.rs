//! Monitors as a team keeps them. What people set is written here and nowhere
//! else; what verdicts come to is written by `record.rs`, into a table of its
//! own beside it.

mod listed;
mod row;
mod saved;
mod watched;

use std::time::Duration;
use wakeful_core::id::{MonitorId, NotifierId};
use wakeful_core::monitor::{Kind, Monitor};
use wakeful_core::verdict::{State, Status};

/// A monitor with what its checks have come to.
#[derive(Clone, Debug)]
pub struct StoredMonitor {
    pub monitor: Monitor,
    pub state: State,
    /// How many verdicts there were: each has the next number.
    pub seq: i64,
    /// How many times it was saved: a newer one wins.
    pub revision: i64,
}

/// A notifier as a monitor that is linked to it shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    pub id: NotifierId,
    pub name: String,
    pub kind: String,
}

/// Which monitors of a team are listed: all that match what is given.
#[derive(Clone, Debug, Default)]
pub struct MonitorFilter {
    pub kind: Option<Kind>,
    pub status: Option<Status>,
    pub tag: Option<String>,
    /// A part of the name, the target or a tag, in any letter case.
    pub q: Option<String>,
    /// Nothing: all of them.
    pub limit: Option<u32>,
    /// Those behind this one.
    pub after: Option<MonitorId>,
}

/// What came of saving a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    Done,
    /// The team has no such monitor.
    NoMonitor,
    /// It was changed since it was read; nothing was saved.
    Overtaken,
    /// The team has as many active monitors as it may; nothing was saved.
    Full,
    /// The team has no such notifiers; nothing was saved.
    NoNotifiers(Vec<NotifierId>),
}

pub(crate) fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("stored values are plain data")
}

fn in_seconds(span: Duration) -> i64 {
    i64::try_from(span.as_secs()).unwrap_or(i64::MAX)
}

/// Seconds between reminders; 0 for none.
pub(crate) fn resend_interval(monitor: &Monitor) -> i64 {
    monitor.resend_interval.map_or(0, in_seconds)
}
