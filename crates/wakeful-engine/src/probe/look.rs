//! One check from several places: the regions are asked together, and what they
//! saw becomes one observation. While NATS is away the owner looks by itself;
//! when some see a failure and too few can look, its own look settles it.

use futures_util::future::join_all;
use std::sync::Arc;
use std::time::Duration;
use wakeful_core::id::MonitorId;
use wakeful_core::monitor::Spec;
use wakeful_core::observation::{Fault, FaultKind};
use wakeful_core::poll::{Answer, Poll};
use wakeful_core::region::{Quorum, Region, Regions};
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
    match look_around(engine, check, place).await {
        Ok(seen) => Seen::Observation(seen),
        Err(fault) => Seen::Fault(fault),
    }
}

async fn look_around(engine: &Engine, check: Check<'_>, place: &Place) -> Looked {
    let away = engine.why_no_probe();
    let Some(probes) = engine.probes() else { return Err(Fault::new(FaultKind::Config, away)) };
    if !probes.is_connected() {
        return match probes.stands_in() {
            true => alone(look_locally(engine, check).await, away),
            false => Err(Fault::new(FaultKind::Probe, away)),
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
        poll.answers.push(Answer { looked: look_locally(engine, check).await, region: mine });
    }
    poll.decide()
}

async fn answer(
    engine: &Engine,
    probes: &Arc<Probes>,
    check: Check<'_>,
    region: &Region,
) -> Answer {
    let looked = match region.is_local() {
        true => look_locally(engine, check).await,
        false => {
            let ask = Ask::new(check.monitor, check.spec, check.timeout, check.interval);
            // Upside down, a target that answers is what fails.
            probes.look_from(region, &ask, check.upside_down).await
        }
    };
    Answer { region: region.clone(), looked }
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

/// What was seen from here alone says so.
fn alone(looked: Looked, why: &str) -> Looked {
    looked.map(|mut seen| {
        seen.message = format!("{} (seen from this node alone: {why})", seen.message);
        seen
    })
}
