//! `wakeful probe`: checks for the nodes of a service, without a database. And
//! the keys that it and they are given.

use data_encoding::BASE64;
use std::sync::Arc;
use wakeful_core::region::{ProbeName, Region};
use wakeful_core::seal::Key;
use wakeful_engine::probe::{self, Probe, ProbeKey};
use wakeful_outbound::net::Net;
use wakeful_store::Keyring;

use crate::clock::SystemClock;
use crate::commands::print;
use crate::serve::stop_signal;
use crate::settings::Settings;
use crate::wiring::{self, Failure, Outcome};

pub async fn run(settings: &Settings) -> Outcome {
    let region = settings.probe.region.clone();
    let region = region.ok_or("probe.region is not set: a probe stands in a region, as eu-west")?;
    let name = match &settings.probe.name {
        Some(name) => name.clone(),
        None => own_name()?,
    };
    let key = key(settings, &region, &name)?;
    let shutdown = stop_signal()?;
    let nats = wiring::nats(settings).await?;
    let nats = nats.ok_or("nats.url is not set: a probe is reached through NATS")?;
    let clock = Arc::new(SystemClock);
    let net = Arc::new(Net::new(wiring::policy(settings), wiring::own(settings), clock.clone()));
    let who = (region.clone(), name.clone(), key);
    let checks = &settings.checks;
    let probe = Probe::new(who, nats, net, clock, checks.at_once.into(), checks.sentinels.clone());
    tracing::info!(%region, probe = %name, "wakeful {} is probe {name} of region {region}", env!("CARGO_PKG_VERSION"));
    tracing::info!("{}", settings.network.summary());
    print(&format!("Probe {name} of region {region} is running.\n"))?;
    probe::serve(Arc::new(probe), shutdown).await?;
    tracing::info!("the probe has stopped");
    Ok(())
}

/// Its own key, or the one that follows from the cluster's.
fn key(settings: &Settings, region: &Region, name: &ProbeName) -> Result<ProbeKey, Failure> {
    if !settings.probe.keys.is_empty() {
        if settings.probe.name.is_none() {
            return Err("probe.name is not set: probe.key is good for one name only".into());
        }
        return Ok(ProbeKey::given(settings.probe.keys.clone(), region, name));
    }
    let cluster = wiring::cluster_keys(settings)?;
    if cluster.is_empty() {
        return Err("a probe needs probe.key or cluster.key: `wakeful cluster probe-key` and `wakeful cluster key` make them".into());
    }
    Ok(ProbeKey::of_cluster(&cluster, region, name))
}

/// The host's name with some letters behind it, so that two on one host differ.
fn own_name() -> Result<ProbeName, Failure> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let host: String = host.trim().chars().take(48).map(fits).collect();
    let host = if host.is_empty() { "probe" } else { host.as_str() };
    let letters = data_encoding::HEXLOWER.encode(&Keyring::fresh_key().bytes()[..3]);
    Ok(ProbeName::parse(&format!("{host}-{letters}"))?)
}

pub fn print_key() -> Outcome {
    print_one(&Keyring::fresh_key())
}

/// The key of one probe under the first of the cluster's.
pub fn print_probe_key(settings: &Settings, region: &Region, name: &ProbeName) -> Outcome {
    let cluster = wiring::cluster_keys(settings)?;
    let first = cluster.first().ok_or(
        "there is no cluster key: set cluster.key to what `wakeful cluster key` prints, here and on every node",
    )?;
    print_one(&probe::probe_key(first, region, name))
}

fn print_one(key: &Key) -> Outcome {
    print(&format!("{}\n", BASE64.encode(key.bytes())))
}
