//! Maintenance: what the windows that are running mean for a monitor.

use crate::id::MaintenanceId;
use crate::time::Millis;

/// What the running windows mean for a monitor that they cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// The windows that cover it, at least one.
    pub windows: Vec<CoveringWindow>,
    /// When no window covers it any more; `None` until a window is ended by hand.
    pub until: Option<Millis>,
    /// It is not checked.
    pub pauses: bool,
    /// Its heartbeats do not count.
    pub excluded: bool,
    /// Nobody is notified of its outages. For alerts, this lasts until the grace of the windows
    /// has passed.
    pub suppresses: bool,
}

/// A window that covers a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveringWindow {
    pub id: MaintenanceId,
    pub name: String,
}
