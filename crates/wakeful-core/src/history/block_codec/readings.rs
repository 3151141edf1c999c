//! The readings of heartbeats, stored separately beside a block: empty for nearly all. Each number
//! is encoded relative to the one before it.

use super::{close, open};
use crate::heartbeat::Readings;
use crate::history::Entry;
use crate::history::range_coder::{BitModel, Coder, Encoder, NumberModel};
use crate::history::rollup::Damaged;

pub(super) fn pack(entries: &[Entry]) -> Vec<u8> {
    if entries.iter().all(|entry| entry.heartbeat.readings.is_empty()) {
        return Vec::new();
    }
    let mut coder = Encoder::default();
    let mut codec = ReadingsCodec::default();
    for entry in entries {
        codec.code(&mut coder, entry.heartbeat.readings);
    }
    close(coder)
}

/// Decodes the readings and adds them to the heartbeats of the block.
pub fn unpack_readings(readings: &[u8], entries: &mut [Entry]) -> Result<(), Damaged> {
    if readings.is_empty() {
        return Ok(());
    }
    let mut coder = open(readings)?;
    let mut codec = ReadingsCodec::default();
    for entry in entries {
        entry.heartbeat.readings = codec.code(&mut coder, Readings::default());
    }
    Ok(())
}

/// Encodes and decodes them: one function describes both directions.
#[derive(Default)]
struct ReadingsCodec([ReadingModels; 2]);

struct ReadingModels {
    present: BitModel,
    change: NumberModel,
    last: i64,
}

impl Default for ReadingModels {
    fn default() -> Self {
        Self { present: BitModel::default(), change: NumberModel::new(4), last: 0 }
    }
}

impl ReadingsCodec {
    fn code(&mut self, coder: &mut impl Coder, input: Readings) -> Readings {
        let mut output = Readings::default();
        for (models, (input, output)) in
            self.0.iter_mut().zip(input.0.into_iter().zip(&mut output.0))
        {
            if coder.bit(&mut models.present, input.is_some()) {
                let change = input.unwrap_or(0).wrapping_sub(models.last);
                models.last = models.last.wrapping_add(models.change.signed(coder, change));
                *output = Some(models.last);
            }
        }
        output
    }
}
