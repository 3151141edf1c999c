//! One check from several regions: all regions check concurrently, and their results become
//! one observation. While NATS is unavailable, the node that owns the monitor checks the
//! target itself. Its own result also decides when some regions report a failure and too
//! few could check. A failure that a single probe reports is confirmed from elsewhere.

use futures_util::future::join_all;
use std::sync::Arc;
use std::time::Duration;
use wakeful_core::heartbeat::RegionBeat;
use wakeful_core::id::MonitorId;
use wakeful_core::monitors::{Monitor, Spec};
use wakeful_core::observation::{Fault, FaultKind, Observation};
use wakeful_core::quorum::{RegionResult, RegionResults};
use wakeful_core::region::{Quorum, Region, Regions};
use wakeful_core::verdict::Input;
use wakeful_outbound::checks;

use super::Probes;
use super::protocol::CheckRequest;
use crate::Engine;
use crate::scheduler::{CheckParams, CheckResult, check_from_here};

/// The regions of a monitor that is not only checked by its own node.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RegionQuorum {
    pub(crate) regions: Regions,
    pub(crate) quorum: Quorum,
    /// How many regions must fail to make a target degraded that is up; 0: off.
    partial: u8,
}

impl RegionQuorum {
    /// `None` for a monitor that only its own node checks, so it takes no memory.
    pub(crate) fn of(monitor: &Monitor) -> Option<Arc<Self>> {
        let Monitor { regions, quorum, degraded, .. } = monitor;
        let partial = degraded.as_ref().map_or(0, |degraded| degraded.regions);
        (!regions.only_local())
            .then(|| Arc::new(Self { regions: regions.clone(), quorum: *quorum, partial }))
    }
}

/// The parameters of one check.
#[derive(Clone, Copy)]
struct RegionCheck<'a> {
    monitor: MonitorId,
    request: checks::CheckRequest<'a>,
    timeout: Duration,
    interval: Duration,
    upside_down: bool,
}

impl RegionCheck<'_> {
    /// The same check as a request to a probe.
    fn request(&self) -> CheckRequest {
        CheckRequest::new(self.monitor, &self.request, self.timeout, self.interval)
    }
}

/// Checks a target from all regions of its monitor.
pub(crate) async fn check(engine: &Engine, monitor: MonitorId, params: &CheckParams) -> Input {
    let CheckParams { team, timeout, interval, upside_down, .. } = *params;
    let spec = &*params.spec;
    if let Spec::Group(group) = spec {
        // Boxed, so that the checks of targets do not take its space.
        return Box::pin(engine.check_group(team, monitor, group)).await;
    }
    let Some(region_quorum) = &params.region_quorum else {
        return check_from_here(engine, monitor, &params.request(), timeout, interval).await;
    };
    let request = params.request();
    let check = RegionCheck { monitor, request, timeout, interval, upside_down };
    // Boxed, so that the many checks without regions do not take its space.
    match Box::pin(check_regions(engine, check, region_quorum)).await {
        Ok(seen) => Input::Observation(seen),
        Err(fault) => Input::Fault(fault),
    }
}

async fn check_regions(
    engine: &Engine,
    check: RegionCheck<'_>,
    region_quorum: &RegionQuorum,
) -> CheckResult {
    let problem = engine.why_no_probe();
    let Some(probes) = engine.probes() else {
        return no_result(region_quorum, FaultKind::Config, problem);
    };
    if !probes.is_connected() {
        return if probes.local_fallback() {
            from_this_node_only(local_result(engine, check).await, region_quorum, problem)
        } else {
            no_result(region_quorum, FaultKind::Probe, problem)
        };
    }
    let regions =
        region_quorum.regions.iter().map(|region| region_answer(engine, probes, check, region));
    let mut poll = RegionResults {
        quorum: region_quorum.quorum,
        expected: region_quorum.regions.count(),
        upside_down: check.upside_down,
        partial: region_quorum.partial,
        results: join_all(regions).await,
    };
    let local = Region::local();
    if poll.is_undecided()
        && probes.local_fallback()
        && region_quorum.regions.iter().all(|region| *region != local)
    {
        poll.results.push(RegionResult::of(local, local_result(engine, check).await));
    }
    if poll.needs_confirmation()
        && probes.local_fallback()
        && let Some(region) = region_quorum.regions.iter().next()
    {
        poll.results.push(confirmation(engine, probes, check, region).await);
    }
    poll.decide()
}

async fn region_answer(
    engine: &Engine,
    probes: &Arc<Probes>,
    check: RegionCheck<'_>,
    region: &Region,
) -> RegionResult {
    if region.is_local() {
        RegionResult::of(region.clone(), local_result(engine, check).await)
    } else {
        // In upside-down mode, a target that responds is the failure.
        probes.check_from_region(region, &check.request(), check.upside_down).await
    }
}

/// Confirms a result from outside the region: by a probe of another region, or else by
/// this node.
async fn confirmation(
    engine: &Engine,
    probes: &Arc<Probes>,
    check: RegionCheck<'_>,
    region: &Region,
) -> RegionResult {
    match probes.check_from_other_region(region, &check.request()).await {
        Some(answer) => answer,
        None => RegionResult::of(Region::local(), local_result(engine, check).await),
    }
}

async fn local_result(engine: &Engine, check: RegionCheck<'_>) -> CheckResult {
    let RegionCheck { monitor, request, timeout, interval, .. } = check;
    match check_from_here(engine, monitor, &request, timeout, interval).await {
        Input::Observation(seen) => Ok(seen),
        Input::Fault(fault) => Err(fault),
        Input::Report(_) | Input::Missed(_) | Input::Overran(_) => {
            Err(Fault::new(FaultKind::Internal, "a check returned a report"))
        }
    }
}

/// No region could check, which is recorded for each of them.
fn no_result(region_quorum: &RegionQuorum, kind: FaultKind, why: &str) -> CheckResult {
    let beats = unchecked_regions(region_quorum, kind, why).map(|answer| answer.beat()).collect();
    Err(Fault::new(kind, why).with_regions(beats))
}

/// Marks a result that comes from this node only.
fn from_this_node_only(
    result: CheckResult,
    region_quorum: &RegionQuorum,
    why: &str,
) -> CheckResult {
    let others = unchecked_regions(region_quorum, FaultKind::Probe, why)
        .filter(|answer| !answer.region.is_local());
    let mut beats: Vec<RegionBeat> = others.map(|answer| answer.beat()).collect();
    beats.push(RegionResult::of(Region::local(), result.clone()).beat());
    match result {
        Ok(mut seen) => {
            seen.message = format!("{} (checked from this node only: {why})", seen.message);
            if let Some(evidence) = &mut seen.evidence {
                evidence.region = Some(Region::local());
            }
            Ok(Observation { regions: beats, ..seen })
        }
        Err(fault) => Err(fault.with_regions(beats)),
    }
}

fn unchecked_regions(
    region_quorum: &RegionQuorum,
    kind: FaultKind,
    why: &str,
) -> impl Iterator<Item = RegionResult> {
    region_quorum
        .regions
        .iter()
        .map(move |region| RegionResult::of(region.clone(), Err(Fault::new(kind, why))))
}
