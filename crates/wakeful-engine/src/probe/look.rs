//! One check from several places: the regions are asked together, and what they
//! saw becomes one observation. While NATS is away the owner looks by itself;
//! when some see a failure and too few can look, its own look settles it; and
//! what one probe alone saw failing is looked at once more from elsewhere.

use futures_util::future::join_all;
use std::sync::Arc;
use std::time::Duration;
use wakeful_core::id::MonitorId;
use wakeful_core::monitor::Spec;
use wakeful_core::observation::{Fault, FaultKind, Observation};
use wakeful_core::poll::{Answer, Poll};
use wakeful_core::region::{Quorum, Region, RegionBeat, Regions};
use wakeful_core::verdict::Seen;

use super::Probes;
use super::protocol::Ask;
use crate::Engine;
use crate::watch::{Looked, look_here};

/// Where a monitor is checked from, when that is not only here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) regions: Regions,
    pub(crate) quorum: Quorum,
}

impl Place {
    /// Nothing for a monitor that only its owner looks at: it costs nothing.
    pub(crate) fn of(regions: &Regions, quorum: Quorum) -> Option<Arc<Self>> {
        (!regions.only_local()).then(|| Arc::new(Self { regions: regions.clone(), quorum }))
    }
}

/// What is looked at, for how long, and what counts as failing.
#[derive(Clone, Copy)]
struct Check<'a> {
    monitor: MonitorId,
    spec: &'a Spec,
    timeout: Duration,
    interval: Duration,
    upside_down: bool,
}

impl Check<'_> {
    /// The same, to be made by a probe.
    fn ask(&self) -> Ask {
        Ask::new(self.monitor, self.spec, self.timeout, self.interval)
    }
}

/// What is seen of a target from all the places it is to be seen from.
pub(crate) async fn look(
    engine: &Engine,
    monitor: MonitorId,
    spec: &Spec,
    (timeout, interval): (Duration, Duration),
    place: Option<&Place>,
    upside_down: bool,
) -> Seen {
    let check = Check { monitor, spec, timeout, interval, upside_down };
    let Some(place) = place else {
        return look_here(engine, monitor, spec, timeout, interval).await;
    };
    // Boxed: the many that are looked at from here only do without its space.
    match Box::pin(look_around(engine, check, place)).await {
        Ok(seen) => Seen::Observation(seen),
        Err(fault) => Seen::Fault(fault),
    }
}

async fn look_around(engine: &Engine, check: Check<'_>, place: &Place) -> Looked {
    let away = engine.why_no_probe();
    let Some(probes) = engine.probes() else { return blind(place, FaultKind::Config, away) };
    if !probes.is_connected() {
        return match probes.stands_in() {
            true => alone(look_locally(engine, check).await, place, away),
            false => blind(place, FaultKind::Probe, away),
        };
    }
    let regions = place.regions.iter().map(|region| answer(engine, probes, check, region));
    let mut poll = Poll {
        quorum: place.quorum,
        seats: place.regions.count(),
        upside_down: check.upside_down,
        answers: join_all(regions).await,
    };
    let mine = Region::local();
    if poll.in_doubt() && probes.stands_in() && place.regions.iter().all(|region| *region != mine) {
        poll.answers.push(Answer::of(mine, look_locally(engine, check).await));
    }
    if poll.wants_witness()
        && probes.stands_in()
        && let Some(region) = place.regions.iter().next()
    {
        poll.answers.push(witness(engine, probes, check, region).await);
    }
    poll.decide()
}

async fn answer(
    engine: &Engine,
    probes: &Arc<Probes>,
    check: Check<'_>,
    region: &Region,
) -> Answer {
    match region.is_local() {
        true => Answer::of(region.clone(), look_locally(engine, check).await),
        // Upside down, a target that answers is what fails.
        false => probes.look_from(region, &check.ask(), check.upside_down).await,
    }
}

/// What somebody outside of the region sees: a probe of another one, or else
/// this node.
async fn witness(
    engine: &Engine,
    probes: &Arc<Probes>,
    check: Check<'_>,
    region: &Region,
) -> Answer {
    match probes.look_from_elsewhere(region, &check.ask()).await {
        Some(answer) => answer,
        None => Answer::of(Region::local(), look_locally(engine, check).await),
    }
}

async fn look_locally(engine: &Engine, check: Check<'_>) -> Looked {
    let Check { monitor, spec, timeout, interval, .. } = check;
    match look_here(engine, monitor, spec, timeout, interval).await {
        Seen::Observation(seen) => Ok(seen),
        Seen::Fault(fault) => Err(fault),
        Seen::Report(_) | Seen::Missed(_) => {
            Err(Fault::new(FaultKind::Internal, "a look brings no report"))
        }
    }
}

/// Nobody could look, which is kept of each region.
fn blind(place: &Place, kind: FaultKind, why: &str) -> Looked {
    let beats = unseen(place, kind, why).map(|answer| answer.beat()).collect();
    Err(Fault::new(kind, why).with_regions(beats))
}

/// What was seen from here alone says so.
fn alone(looked: Looked, place: &Place, why: &str) -> Looked {
    let others = unseen(place, FaultKind::Probe, why).filter(|answer| !answer.region.is_local());
    let mut beats: Vec<RegionBeat> = others.map(|answer| answer.beat()).collect();
    beats.push(Answer::of(Region::local(), looked.clone()).beat());
    match looked {
        Ok(mut seen) => {
            seen.message = format!("{} (seen from this node alone: {why})", seen.message);
            Ok(Observation { regions: beats, ..seen })
        }
        Err(fault) => Err(fault.with_regions(beats)),
    }
}

fn unseen(place: &Place, kind: FaultKind, why: &str) -> impl Iterator<Item = Answer> {
    place.regions.iter().map(move |region| Answer::of(region.clone(), Err(Fault::new(kind, why))))
}
