//! The packed bytes of a fixed corpus, pinned: databases with the format exist. A change that
//! only adds to the format leaves them as they are.

use super::*;
use crate::heartbeat::RegionBeat;
use crate::history::rollup::{self, Detail, Rollup};
use crate::region::Region;
use sha2::{Digest as _, Sha256};

const BLOCKS: u64 = 24;
const HEARTBEATS_PER_BLOCK: u64 = 60;
/// The checksum of the corpus. It never changes.
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/history/block_codec/golden.sha256");

/// Numbers that depend on nothing but the ones before (Knuth's MMIX generator).
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn span(&mut self, millis: u64) -> Option<Duration> {
        (self.below(10) > 0).then(|| Duration::from_micros(self.below(millis * 1_000)))
    }
}

/// Heartbeats of every status, with and without phases and regions.
fn block(number: u64, random: &mut Sequence) -> Vec<Entry> {
    let beats = [Beat::Up, Beat::Down, Beat::Unknown];
    let messages = ["200 OK", "no answer within 24 s", "", "connection refused"];
    let start = 1_794_700_000_000 + number * 3_600_000;
    let entries = (0..HEARTBEATS_PER_BLOCK).map(|position| {
        let standing =
            HistoryStatus::of(if number.is_multiple_of(3) { random.below(5) } else { 0 });
        let at = start + position * 60_000 + random.below(50);
        let is_usual = number.is_multiple_of(2) || random.below(20) > 0;
        let status = if is_usual { Beat::Up } else { beats[random.below(3) as usize] };
        let message = if is_usual { "200 OK" } else { messages[random.below(4) as usize] };
        let load_time = random.span(300);
        let mut phases = Phases::default();
        if number.is_multiple_of(4) {
            phases.connect = random.span(30);
            phases.first_byte = random.span(200);
        }
        let regions = ["eu", "us"].map(|name| RegionBeat {
            region: Region::parse(name).expect("a region"),
            status: beats[random.below(3) as usize],
            load_time: random.span(400),
            message: messages[random.below(4) as usize].to_owned(),
        });
        Entry {
            seq: (number * HEARTBEATS_PER_BLOCK + position).cast_signed(),
            standing,
            interval: 60,
            heartbeat: Heartbeat {
                at: Millis(at.cast_signed()),
                status,
                message: message.to_owned(),
                load_time,
                phases,
                regions: if number.is_multiple_of(5) { regions.into() } else { Vec::new() },
                readings: Default::default(),
            },
        }
    });
    entries.collect()
}

#[test]
fn the_packed_bytes_of_the_corpus_are_those_of_earlier_versions() {
    let (mut random, mut digest) = (Sequence(7), Sha256::new());
    let mut rollups = Vec::new();
    for number in 0..BLOCKS {
        let entries = block(number, &mut random);
        let packed = pack(&entries);
        for part in [&packed.data, &packed.phases, &packed.regions] {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        rollups.extend(Rollup::of(&entries));
    }
    for detail in [Detail::Full, Detail::Means] {
        digest.update(rollup::pack(&rollups, detail));
    }
    let golden = std::fs::read_to_string(GOLDEN).expect("the checksum");
    assert_eq!(data_encoding::HEXLOWER.encode(&digest.finalize()), golden.trim());
}
