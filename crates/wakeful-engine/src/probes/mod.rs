//! Probes: workers in other regions that run checks for the nodes that own the monitors.
//! `protocol` contains the messages and their encryption, `registry` the connected probes,
//! `client` the side of the node, and `server` the side of the probe. A probe that does not
//! respond is a fault of ours and never an outage of the target.

mod client;
mod protocol;
mod quorum_check;
mod registry;
mod server;

pub use client::Probes;
pub use protocol::{ProbeKey, probe_key};
pub(crate) use quorum_check::{RegionQuorum, check};
pub use registry::run as run_registry;
pub use server::{Probe, ProbeIdentity, run as serve};

use wakeful_core::access::permission;
use wakeful_core::region::{Region, Regions};
use wakeful_core::time::Millis;

use crate::{Authorized, Engine, Result};

/// The current state of a region.
#[derive(Clone, Debug)]
pub struct RegionView {
    pub region: Region,
    pub probes: Vec<ProbeView>,
    /// How many active monitors of the team are checked from this region.
    pub monitors: usize,
    /// Why nothing can be checked from this region.
    pub problem: Option<String>,
}

/// A connected probe that is not revoked.
#[derive(Clone, Debug)]
pub struct ProbeView {
    pub name: String,
    pub version: String,
    pub since: Millis,
    pub last_seen: Millis,
    /// How long checks recently waited for their turn, in milliseconds.
    pub lag: u64,
}

impl Engine {
    /// The regions with live probes, and those that the team's monitors use.
    pub async fn regions(&self, caller: &Authorized<permission::View>) -> Result<Vec<RegionView>> {
        let named = self.store().team(caller.team_access()).regions_in_use().await?;
        let mut views = self.live_regions();
        for (regions, monitors) in &named {
            count_monitors(&mut views, regions, *monitors, self.why_no_probe());
        }
        views.sort_by(|a, b| {
            (!a.region.is_local(), &a.region).cmp(&(!b.region.is_local(), &b.region))
        });
        Ok(views)
    }

    /// The regions with live probes.
    pub(crate) fn live_regions(&self) -> Vec<RegionView> {
        let mut views = vec![self.own_region()];
        // Without the bus, the probes that were connected cannot be reached.
        if let Some(probes) = self.probes().filter(|probes| probes.is_connected()) {
            views.extend(probes.registry().views());
        }
        views
    }

    fn own_region(&self) -> RegionView {
        let this = ProbeView {
            name: Region::LOCAL.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            since: self.0.started,
            last_seen: self.now(),
            lag: 0,
        };
        RegionView { region: Region::local(), probes: vec![this], monitors: 0, problem: None }
    }

    /// Why a region has no probe, for people to read.
    pub(crate) fn why_no_probe(&self) -> &'static str {
        match self.probes() {
            None => "probes cannot connect: nats.url and cluster.key are not set",
            Some(probes) if !probes.is_connected() => "the connection to NATS is lost",
            Some(_) => "no probe is connected",
        }
    }
}

fn count_monitors(views: &mut Vec<RegionView>, regions: &Regions, monitors: usize, why: &str) {
    for region in regions.iter() {
        match views.iter_mut().find(|view| view.region == *region) {
            Some(view) => view.monitors += monitors,
            None => views.push(RegionView {
                region: region.clone(),
                probes: Vec::new(),
                monitors,
                problem: Some(why.to_owned()),
            }),
        }
    }
}
