//! What each region saw, as bytes of their own beside a block: nothing at all
//! for heartbeats that only their owner made, which are nearly all.

use std::time::Duration;

use super::{Texts, close, open, unit};
use crate::history::coder::{Bit, Decoder, Encoder, Number, Side, Tree};
use crate::history::rollup::Damaged;
use crate::history::{Entry, micros};
use crate::region::{Region, RegionBeat};
use crate::verdict::Beat;

const BEATS: [Beat; 3] = [Beat::Up, Beat::Down, Beat::Unknown];
/// More than a monitor can have; a block that says so is not believed.
const MOST: usize = 64;

pub(super) fn pack(entries: &[Entry]) -> Vec<u8> {
    let beats = || entries.iter().flat_map(|entry| &entry.heartbeat.regions);
    if beats().next().is_none() {
        return Vec::new();
    }
    let mut side = Encoder::default();
    let mut form = Form::new(unit(beats().filter_map(|beat| beat.load_time)));
    form.head(&mut side);
    for entry in entries {
        form.code(&mut side, &entry.heartbeat.regions);
    }
    close(side)
}

/// Gives the heartbeats of a block their regions back.
pub fn unpack_regions(regions: &[u8], entries: &mut [Entry]) -> Result<(), Damaged> {
    if regions.is_empty() {
        return Ok(());
    }
    let mut side: Decoder<'_> = open(regions)?;
    let mut form = Form::new(1);
    form.head(&mut side);
    for entry in entries {
        entry.heartbeat.regions = form.code(&mut side, &[]);
    }
    if form.damaged || form.names.damaged || form.messages.damaged { Err(Damaged) } else { Ok(()) }
}

/// How they are written and read, in one text for both. Every place in the row
/// has habits of its own, because the regions come in the same order each time.
struct Form {
    unit: u64,
    count: Number,
    places: Vec<Place>,
    names: Texts,
    messages: Texts,
    damaged: bool,
}

struct Place {
    status: Tree,
    timed: Bit,
    load: Number,
}

impl Place {
    fn new() -> Self {
        Self { status: Tree::new(2), timed: Bit::default(), load: Number::new(6) }
    }
}

impl Form {
    fn new(unit: u64) -> Self {
        Self {
            unit,
            count: Number::new(2),
            places: Vec::new(),
            names: Texts::default(),
            messages: Texts::default(),
            damaged: false,
        }
    }

    fn head(&mut self, side: &mut impl Side) {
        self.unit = Number::new(0).code(side, self.unit).max(1);
    }

    fn code(&mut self, side: &mut impl Side, told: &[RegionBeat]) -> Vec<RegionBeat> {
        let count = usize::try_from(self.count.code(side, told.len() as u64)).unwrap_or(MOST);
        if count >= MOST {
            self.damaged = true;
            return Vec::new();
        }
        (0..count).filter_map(|at| self.beat(side, at, told.get(at))).collect()
    }

    fn beat(
        &mut self,
        side: &mut impl Side,
        at: usize,
        told: Option<&RegionBeat>,
    ) -> Option<RegionBeat> {
        let name = self.names.code(side, told.map_or("", |beat| beat.region.as_str()));
        if self.places.len() <= at {
            self.places.push(Place::new());
        }
        let place = &mut self.places[at];
        let symbol = told.and_then(|told| BEATS.iter().position(|beat| *beat == told.status));
        let symbol = place.status.code(side, symbol.unwrap_or(0) as u64);
        let load_time = told.and_then(|beat| beat.load_time);
        let timed = side.bit(&mut place.timed, load_time.is_some());
        let load_time = timed.then(|| {
            let steps = place.load.code(side, load_time.map_or(0, micros) / self.unit);
            Duration::from_micros(steps.saturating_mul(self.unit))
        });
        let message = self.messages.code(side, told.map_or("", |beat| beat.message.as_str()));
        let (Ok(region), Some(status)) = (Region::parse(&name), BEATS.get(symbol as usize)) else {
            self.damaged = true;
            return None;
        };
        Some(RegionBeat { region, status: *status, load_time, message })
    }
}
