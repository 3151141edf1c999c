//! Probes: workers in other places that make checks for the owners of monitors.
//! `protocol` is what travels and how it is sealed, `roll` who is there, `ask`
//! the owner's side, `serve` the probe's. A probe that does not answer is a
//! fault of ours and never an outage of the target.

mod ask;
mod look;
mod protocol;
mod roll;
mod serve;

pub use ask::Probes;
pub(crate) use look::{Place, look};
pub use protocol::{ProbeKey, probe_key};
pub use roll::run as keep_roll;
pub use serve::{Probe, run as serve};

use wakeful_core::region::{ProbeName, Region, Regions};
use wakeful_core::time::Millis;

use crate::{Caller, Engine, Result};

/// A region as it is right now.
#[derive(Clone, Debug)]
pub struct RegionView {
    pub region: Region,
    pub probes: Vec<ProbeView>,
    /// How many active monitors of the team are checked from here.
    pub monitors: usize,
    /// Why nothing can be checked from here.
    pub problem: Option<String>,
}

/// A probe that is there, and believed.
#[derive(Clone, Debug)]
pub struct ProbeView {
    pub name: String,
    pub version: String,
    pub since: Millis,
    pub last_seen: Millis,
    /// How long asks waited for their turn lately, in milliseconds.
    pub lag: u64,
}

impl Engine {
    /// The regions with live probes, and those that the team's monitors name.
    pub async fn regions(&self, caller: &Caller) -> Result<Vec<RegionView>> {
        let named = self.store().team(caller.team).regions_in_use().await?;
        let mut views = vec![self.own_region()];
        // Who was there when the bus went away cannot be asked.
        if let Some(probes) = self.probes().filter(|probes| probes.is_connected()) {
            views.extend(probes.roll().views());
        }
        for (regions, monitors) in &named {
            count(&mut views, regions, *monitors, self.why_no_probe());
        }
        views.sort_by(|a, b| {
            (!a.region.is_local(), &a.region).cmp(&(!b.region.is_local(), &b.region))
        });
        Ok(views)
    }

    /// Believes a probe no longer. It hears of it within seconds, everywhere.
    pub async fn revoke_probe(&self, name: &ProbeName) -> Result<()> {
        Ok(self.store().revoke_probe(name, self.now()).await?)
    }

    /// Believes a probe again; false when it was never revoked.
    pub async fn readmit_probe(&self, name: &ProbeName) -> Result<bool> {
        Ok(self.store().readmit_probe(name).await?)
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

    /// Why a region has no probe, in words for the page.
    pub(crate) fn why_no_probe(&self) -> &'static str {
        match self.probes() {
            None => "no probe can connect: the service runs without nats.url and cluster.key",
            Some(probes) if !probes.is_connected() => "the connection to NATS is lost",
            Some(_) => "no probe is connected",
        }
    }
}

fn count(views: &mut Vec<RegionView>, regions: &Regions, monitors: usize, why: &str) {
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
