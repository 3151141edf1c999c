//! `wakeful probe`, which runs checks for the nodes of a service without a database, and
//! the keys of clusters and probes.

use data_encoding::BASE64;
use std::sync::Arc;
use wakeful_core::region::{ProbeName, Region};
use wakeful_core::seal::Key;
use wakeful_engine::probes::{self, Probe, ProbeIdentity, ProbeKey};
use wakeful_outbound::net::Net;
use wakeful_store::Keyring;

use crate::bootstrap::{self, Failure, Outcome};
use crate::clock::SystemClock;
use crate::commands::print;
use crate::serve::stop_signal;
use crate::settings::Settings;

pub async fn run(settings: &Settings) -> Outcome {
    let region = settings.probe.region.clone();
    let region = region.ok_or("probe.region is not set: set it with --region, such as eu-west")?;
    let name = match &settings.probe.name {
        Some(name) => name.clone(),
        None => own_name()?,
    };
    let key = key(settings, &region, &name)?;
    let shutdown = stop_signal()?;
    let nats = bootstrap::nats(settings).await?;
    let nats = nats.ok_or("nats.url is not set: a probe connects through NATS")?;
    let clock = Arc::new(SystemClock);
    let net =
        Net::new(bootstrap::policy(settings), bootstrap::own_addresses(settings), clock.clone());
    let net = net.with_max_buffered_bytes(bootstrap::buffered_bytes(settings));
    let net = net.with_rdap_bootstrap(&settings.checks.rdap_bootstrap);
    let net = Arc::new(net.with_proxy(settings.checks.proxy.clone()));
    let identity = ProbeIdentity { region: region.clone(), name: name.clone(), key };
    let checks = &settings.checks;
    let probe =
        Probe::new(identity, nats, net, clock, checks.at_once.into(), checks.sentinels.clone());
    tracing::info!(%region, probe = %name, "wakeful {} is probe {name} of region {region}", env!("CARGO_PKG_VERSION"));
    tracing::info!("{}", settings.network.summary());
    print(&format!("Probe {name} of region {region} is running.\n"))?;
    probes::serve(Arc::new(probe), shutdown).await?;
    tracing::info!("the probe has stopped");
    Ok(())
}

/// The probe's own key, or the one derived from the cluster's.
fn key(settings: &Settings, region: &Region, name: &ProbeName) -> Result<ProbeKey, Failure> {
    if !settings.probe.keys.is_empty() {
        if settings.probe.name.is_none() {
            return Err("probe.name is not set: set it with --name, as probe.key is valid for one name only".into());
        }
        return Ok(ProbeKey::from_keys(settings.probe.keys.clone(), region, name));
    }
    let cluster = bootstrap::cluster_keys(settings)?;
    if cluster.is_empty() {
        return Err("a probe requires probe.key or cluster.key: create one with `wakeful cluster probe-key` or `wakeful cluster key`".into());
    }
    Ok(ProbeKey::of_cluster(&cluster, region, name))
}

/// The host name with a random suffix, so that two probes on one host differ.
fn own_name() -> Result<ProbeName, Failure> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let host: String = host.trim().chars().take(48).map(fits).collect();
    let host = if host.is_empty() { "probe" } else { host.as_str() };
    let suffix = data_encoding::HEXLOWER.encode(&Keyring::generate_key().bytes()[..3]);
    Ok(ProbeName::parse(&format!("{host}-{suffix}"))?)
}

pub fn print_key() -> Outcome {
    print_base64(&Keyring::generate_key())
}

/// Prints the key of one probe, derived from the first cluster key.
pub fn print_probe_key(settings: &Settings, region: &Region, name: &ProbeName) -> Outcome {
    let cluster = bootstrap::cluster_keys(settings)?;
    let first = cluster.first().ok_or(
        "there is no cluster key: set cluster.key to the output of `wakeful cluster key`, here and on every node",
    )?;
    print_base64(&probes::probe_key(first, region, name))
}

fn print_base64(key: &Key) -> Outcome {
    print(&format!("{}\n", BASE64.encode(key.bytes())))
}
