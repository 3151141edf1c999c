//! The results of each region, stored separately beside a block: empty for
//! heartbeats that only the owning node made, which are nearly all.

use std::time::Duration;

use super::{TextCodec, close, open, unit};
use crate::heartbeat::{Beat, RegionBeat};
use crate::history::range_coder::{BitModel, Coder, Decoder, Encoder, NumberModel, SymbolModel};
use crate::history::rollup::Damaged;
use crate::history::{Entry, micros};
use crate::region::Region;

const BEATS: [Beat; 4] = [Beat::Up, Beat::Down, Beat::Unknown, Beat::Degraded];
/// More than a monitor can have; a block with a larger count is damaged.
const MAX_REGIONS: usize = 64;

pub(super) fn pack(entries: &[Entry]) -> Vec<u8> {
    let beats = || entries.iter().flat_map(|entry| &entry.heartbeat.regions);
    if beats().next().is_none() {
        return Vec::new();
    }
    let mut coder = Encoder::default();
    let mut codec = RegionsCodec::new(unit(beats().filter_map(|beat| beat.load_time)));
    codec.code_header(&mut coder);
    for entry in entries {
        codec.code(&mut coder, &entry.heartbeat.regions);
    }
    close(coder)
}

/// Decodes the results of regions and adds them to the heartbeats of the block.
pub fn unpack_regions(regions: &[u8], entries: &mut [Entry]) -> Result<(), Damaged> {
    if regions.is_empty() {
        return Ok(());
    }
    let mut coder: Decoder<'_> = open(regions)?;
    let mut codec = RegionsCodec::new(1);
    codec.code_header(&mut coder);
    for entry in entries {
        entry.heartbeat.regions = codec.code(&mut coder, &[]);
    }
    if codec.damaged || codec.names.damaged || codec.messages.damaged {
        Err(Damaged)
    } else {
        Ok(())
    }
}

/// Encodes and decodes them: one function describes both directions. Every
/// position has its own models, because regions come in the same order each
/// time.
struct RegionsCodec {
    unit: u64,
    count: NumberModel,
    positions: Vec<PositionModels>,
    names: TextCodec,
    messages: TextCodec,
    damaged: bool,
}

struct PositionModels {
    status: SymbolModel,
    timed: BitModel,
    load: NumberModel,
}

impl PositionModels {
    fn new() -> Self {
        Self { status: SymbolModel::new(2), timed: BitModel::default(), load: NumberModel::new(6) }
    }
}

impl RegionsCodec {
    fn new(unit: u64) -> Self {
        Self {
            unit,
            count: NumberModel::new(2),
            positions: Vec::new(),
            names: TextCodec::default(),
            messages: TextCodec::default(),
            damaged: false,
        }
    }

    fn code_header(&mut self, coder: &mut impl Coder) {
        self.unit = NumberModel::new(0).code(coder, self.unit).max(1);
    }

    fn code(&mut self, coder: &mut impl Coder, input: &[RegionBeat]) -> Vec<RegionBeat> {
        let count =
            usize::try_from(self.count.code(coder, input.len() as u64)).unwrap_or(MAX_REGIONS);
        if count >= MAX_REGIONS {
            self.damaged = true;
            return Vec::new();
        }
        (0..count).filter_map(|at| self.beat(coder, at, input.get(at))).collect()
    }

    fn beat(
        &mut self,
        coder: &mut impl Coder,
        at: usize,
        input: Option<&RegionBeat>,
    ) -> Option<RegionBeat> {
        let name = self.names.code(coder, input.map_or("", |beat| beat.region.as_str()));
        if self.positions.len() <= at {
            self.positions.push(PositionModels::new());
        }
        let position = &mut self.positions[at];
        let symbol = input.and_then(|input| BEATS.iter().position(|beat| *beat == input.status));
        let symbol = position.status.code(coder, symbol.unwrap_or(0) as u64);
        let load_time = input.and_then(|beat| beat.load_time);
        let timed = coder.bit(&mut position.timed, load_time.is_some());
        let load_time = timed.then(|| {
            let steps = position.load.code(coder, load_time.map_or(0, micros) / self.unit);
            Duration::from_micros(steps.saturating_mul(self.unit))
        });
        let message = self.messages.code(coder, input.map_or("", |beat| beat.message.as_str()));
        let (Ok(region), Some(status)) = (Region::parse(&name), BEATS.get(symbol as usize)) else {
            self.damaged = true;
            return None;
        };
        Some(RegionBeat { region, status: *status, load_time, message })
    }
}
