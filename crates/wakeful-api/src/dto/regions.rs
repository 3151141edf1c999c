//! Regions and their probes as they are returned.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::time::Millis;
use wakeful_engine::{ProbeView, RegionView};

#[derive(Serialize, ToSchema)]
pub(crate) struct RegionList {
    pub(crate) success: bool,
    /// `local`, the service itself, comes first.
    pub(crate) regions: Vec<RegionBody>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Region)]
pub(crate) struct RegionBody {
    region: String,
    /// The number of live probes.
    live: usize,
    probes: Vec<ProbeBody>,
    /// The number of the team's active monitors that are checked from here.
    monitors: usize,
    /// Why monitors cannot be checked from here; null if they can.
    problem: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Probe)]
pub(crate) struct ProbeBody {
    name: String,
    version: String,
    /// Milliseconds that recent checks waited before they started.
    lag: u64,
    #[schema(value_type = String, format = DateTime)]
    since: Millis,
    #[schema(value_type = String, format = DateTime)]
    last_seen: Millis,
}

impl RegionBody {
    pub(crate) fn of(view: &RegionView) -> Self {
        Self {
            region: view.region.to_string(),
            live: view.probes.len(),
            probes: view.probes.iter().map(ProbeBody::of).collect(),
            monitors: view.monitors,
            problem: view.problem.clone(),
        }
    }
}

impl ProbeBody {
    pub(crate) fn of(view: &ProbeView) -> Self {
        Self {
            name: view.name.clone(),
            version: view.version.clone(),
            lag: view.lag,
            since: view.since,
            last_seen: view.last_seen,
        }
    }
}
