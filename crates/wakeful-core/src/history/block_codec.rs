//! Lossless encoding of heartbeats as a block of bytes. Each column is encoded
//! relative to its expected value: the time by the interval and the duration of
//! the check, status and message by the previous ones, load times by their
//! frequency. Phases are stored separately, because they take most of the space
//! and are deleted first; the largest, the wait for the first byte, is derived
//! from the load time and the other phases.

mod readings;
mod regions;

pub use readings::unpack_readings;
pub use regions::unpack_regions;

use std::collections::HashMap;
use std::time::Duration;

use super::range_coder::{BitModel, Coder, Decoder, Encoder, NumberModel, SymbolModel};
use super::rollup::{Damaged, greatest_divisor};
use super::{Entry, HistoryStatus, checksum, micros, phase_durations};
use crate::heartbeat::{Beat, Heartbeat, Phases, Readings};
use crate::time::Millis;

/// The number of heartbeats in a full block: enough to make its overhead
/// negligible, and few enough to decode within milliseconds.
pub const BLOCK_CAPACITY: usize = 8_192;
/// The first byte of a block of this version.
const VERSION: u8 = 1;
/// A block with a larger count is damaged.
const MAX_ENTRIES: u64 = 1 << 24;

/// An encoded block; `phases` is empty when no heartbeat has any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedBlock {
    pub data: Vec<u8>,
    pub phases: Vec<u8>,
    /// Empty when only the owning node checked.
    pub regions: Vec<u8>,
    /// Empty for nearly all.
    pub readings: Vec<u8>,
}

/// Encodes heartbeats, which must be in order.
pub fn pack(entries: &[Entry]) -> PackedBlock {
    let mut coder = Encoder::default();
    let mut codec =
        EntryCodec::new(unit(entries.iter().filter_map(|entry| entry.heartbeat.load_time)));
    codec.code_header(&mut coder, entries.len() as u64);
    for entry in entries {
        codec.code(&mut coder, entry);
    }
    let (data, phases) = (close(coder), pack_phases(entries));
    let (regions, readings) = (regions::pack(entries), readings::pack(entries));
    PackedBlock { data, phases, regions, readings }
}

fn pack_phases(entries: &[Entry]) -> Vec<u8> {
    let all =
        || entries.iter().flat_map(|entry| phase_durations(&entry.heartbeat.phases)).flatten();
    if all().next().is_none() {
        return Vec::new();
    }
    let mut coder = Encoder::default();
    let loads = entries.iter().filter_map(|entry| entry.heartbeat.load_time);
    let mut codec = PhasesCodec::new(unit(all().chain(loads)));
    codec.code_header(&mut coder);
    for entry in entries {
        codec.code(&mut coder, &entry.heartbeat);
    }
    close(coder)
}

fn close(coder: Encoder) -> Vec<u8> {
    let mut bytes = coder.finish();
    bytes.insert(0, VERSION);
    checksum::close(bytes)
}

fn open(bytes: &[u8]) -> Result<Decoder<'_>, Damaged> {
    match checksum::open(bytes).and_then(<[u8]>::split_first) {
        Some((&VERSION, rest)) => Ok(Decoder::new(rest)),
        _ => Err(Damaged),
    }
}

/// Decodes the heartbeats of a block, without their phases.
pub fn unpack(data: &[u8]) -> Result<Vec<Entry>, Damaged> {
    let mut coder = open(data)?;
    let mut codec = EntryCodec::new(1);
    let count = codec.code_header(&mut coder, 0);
    if count > MAX_ENTRIES {
        return Err(Damaged);
    }
    let empty_entry = empty_entry();
    let entries: Vec<Entry> = (0..count).map(|_| codec.code(&mut coder, &empty_entry)).collect();
    if codec.messages.damaged { Err(Damaged) } else { Ok(entries) }
}

/// Decodes the phases and adds them to the heartbeats of the block.
pub fn unpack_phases(phases: &[u8], entries: &mut [Entry]) -> Result<(), Damaged> {
    if phases.is_empty() {
        return Ok(());
    }
    let mut coder = open(phases)?;
    let mut codec = PhasesCodec::new(1);
    codec.code_header(&mut coder);
    for entry in entries {
        entry.heartbeat.phases = codec.code(&mut coder, &entry.heartbeat);
    }
    Ok(())
}

fn empty_entry() -> Entry {
    let (at, message, phases) = (Millis(0), String::new(), Phases::default());
    let heartbeat = Heartbeat {
        at,
        status: Beat::Up,
        message,
        load_time: None,
        phases,
        regions: Vec::new(),
        readings: Readings::default(),
    };
    Entry { seq: 0, standing: HistoryStatus::Up, interval: 0, heartbeat }
}

/// The greatest unit that divides all these durations.
fn unit(times: impl Iterator<Item = Duration>) -> u64 {
    let mut unit = 0;
    for time in times {
        unit = greatest_divisor(unit, micros(time));
        if unit == 1 {
            break;
        }
    }
    unit.max(1)
}

/// Encodes and decodes heartbeats: one function describes both directions.
struct EntryCodec {
    unit: u64,
    standing: [SymbolModel; 6],
    status: SymbolModel,
    before: HistoryStatus,
    interval: u32,
    same_interval: BitModel,
    intervals: NumberModel,
    timed: [BitModel; 6],
    /// One for passing checks, one for failing ones.
    load: [NumberModel; 2],
    grid: TimeCodec,
    seq: i64,
    seqs: NumberModel,
    messages: TextCodec,
}

impl EntryCodec {
    fn new(unit: u64) -> Self {
        Self {
            unit,
            standing: std::array::from_fn(|_| SymbolModel::new(3)),
            status: SymbolModel::new(2),
            before: HistoryStatus::Up,
            interval: 0,
            same_interval: BitModel::default(),
            intervals: NumberModel::new(2),
            timed: [BitModel::default(); 6],
            load: std::array::from_fn(|_| NumberModel::new(6)),
            grid: TimeCodec::default(),
            seq: 0,
            seqs: NumberModel::new(2),
            messages: TextCodec::default(),
        }
    }

    fn code_header(&mut self, coder: &mut impl Coder, count: u64) -> u64 {
        let mut number = NumberModel::new(0);
        self.unit = number.code(coder, self.unit).max(1);
        number.code(coder, count)
    }

    fn code(&mut self, coder: &mut impl Coder, input: &Entry) -> Entry {
        let beat = &input.heartbeat;
        let standing = self.standing(coder, input.standing);
        let status = self.status(coder, standing, beat.status);
        let interval = self.interval(coder, input.interval);
        let load_time = self.load_time(coder, standing, beat.load_time);
        let at = self.grid.code(coder, beat.at, load_time.unwrap_or_default(), interval);
        let step = self.seqs.signed(coder, input.seq.wrapping_sub(self.seq).wrapping_sub(1));
        self.seq = self.seq.wrapping_add(1).wrapping_add(step);
        let message = self.messages.code(coder, &beat.message);
        let phases = Phases::default();
        let (regions, readings) = (Vec::new(), Readings::default());
        let heartbeat = Heartbeat { at, status, message, load_time, phases, regions, readings };
        Entry { seq: self.seq, standing, interval, heartbeat }
    }

    fn standing(&mut self, coder: &mut impl Coder, input: HistoryStatus) -> HistoryStatus {
        let symbol = self.standing[self.before as usize].code(coder, input as u64);
        self.before = HistoryStatus::of(symbol);
        self.before
    }

    /// The status of the check itself. It usually follows from the history
    /// status; otherwise, as during maintenance, it is written. The symbol of the usual status
    /// itself, which would never be written, means degraded.
    fn status(&mut self, coder: &mut impl Coder, standing: HistoryStatus, input: Beat) -> Beat {
        const BEATS: [Beat; 3] = [Beat::Up, Beat::Down, Beat::Unknown];
        let usual = match standing {
            HistoryStatus::Up => Beat::Up,
            HistoryStatus::Down | HistoryStatus::Pending => Beat::Down,
            HistoryStatus::Unknown | HistoryStatus::Maintenance => Beat::Unknown,
            HistoryStatus::Degraded => Beat::Degraded,
        };
        let symbol_of = |beat: Beat| BEATS.iter().position(|one| *one == beat).unwrap_or(0) as u64;
        let symbol = match input {
            input if input == usual => 3,
            Beat::Degraded => symbol_of(usual),
            input => symbol_of(input),
        };
        match BEATS.get(self.status.code(coder, symbol) as usize) {
            None => usual,
            Some(beat) if *beat == usual => Beat::Degraded,
            Some(beat) => *beat,
        }
    }

    fn interval(&mut self, coder: &mut impl Coder, input: u32) -> u32 {
        if !coder.bit(&mut self.same_interval, input == self.interval) {
            let interval = self.intervals.code(coder, input.into());
            self.interval = u32::try_from(interval).unwrap_or(u32::MAX);
        }
        self.interval
    }

    fn load_time(
        &mut self,
        coder: &mut impl Coder,
        standing: HistoryStatus,
        input: Option<Duration>,
    ) -> Option<Duration> {
        if !coder.bit(&mut self.timed[standing as usize], input.is_some()) {
            return None;
        }
        let number = &mut self.load[usize::from(!standing.is_up())];
        let steps = number.code(coder, input.map_or(0, micros) / self.unit);
        Some(Duration::from_micros(steps.saturating_mul(self.unit)))
    }
}

/// The start times of checks: one per interval, with small delays that do not
/// add up.
struct TimeCodec {
    expected: i64,
    offset: NumberModel,
}

impl Default for TimeCodec {
    fn default() -> Self {
        Self { expected: 0, offset: NumberModel::new(3) }
    }
}

impl TimeCodec {
    /// A greater difference is not a delay: a new grid starts there.
    const MAX_DRIFT_MS: u64 = 1_000;

    fn code(
        &mut self,
        coder: &mut impl Coder,
        input: Millis,
        took: Duration,
        interval: u32,
    ) -> Millis {
        let took = i64::try_from(took.as_millis()).unwrap_or(i64::MAX);
        let began = input.0.wrapping_sub(took);
        let offset = self.offset.signed(coder, began.wrapping_sub(self.expected));
        let began = self.expected.wrapping_add(offset);
        let line = match offset.unsigned_abs() {
            ..Self::MAX_DRIFT_MS => self.expected.wrapping_add(offset / 8),
            _ => began,
        };
        self.expected = line.wrapping_add(i64::from(interval) * 1_000);
        Millis(began.wrapping_add(took))
    }
}

/// Texts that mostly repeat: the previous one, a known one, or a new one that
/// shares a prefix with the previous one.
struct TextCodec {
    same: [BitModel; 2],
    was_same: bool,
    which: NumberModel,
    last: usize,
    known: Vec<String>,
    numbers: HashMap<String, usize>,
    shared: NumberModel,
    length: NumberModel,
    /// By the previous byte; allocated on first use.
    byte_models: Vec<Option<Box<SymbolModel>>>,
    damaged: bool,
}

impl Default for TextCodec {
    fn default() -> Self {
        Self {
            same: [BitModel::default(); 2],
            was_same: true,
            which: NumberModel::new(3),
            last: 0,
            known: vec![String::new()],
            numbers: HashMap::from([(String::new(), 0)]),
            shared: NumberModel::new(3),
            length: NumberModel::new(3),
            byte_models: vec![None; 256],
            damaged: false,
        }
    }
}

impl TextCodec {
    fn code(&mut self, coder: &mut impl Coder, input: &str) -> String {
        let model = &mut self.same[usize::from(self.was_same)];
        self.was_same = coder.bit(model, self.known[self.last] == input);
        if !self.was_same {
            // Zero means a new text; otherwise, the position counted from the
            // end.
            let place = self.numbers.get(input).map_or(0, |at| (self.known.len() - at) as u64);
            let place = self.which.code(coder, place) as usize;
            match self.known.len().checked_sub(place) {
                Some(at) if place > 0 => self.last = at,
                Some(_) => self.learn(coder, input),
                None => self.damaged = true,
            }
        }
        self.known[self.last].clone()
    }

    fn learn(&mut self, coder: &mut impl Coder, input: &str) {
        let mut bytes = self.known[self.last].as_bytes().to_vec();
        let shared =
            bytes.iter().zip(input.as_bytes()).take_while(|(ours, input)| ours == input).count();
        let shared = self.shared.code(coder, shared as u64) as usize;
        bytes.truncate(shared);
        let rest = input.as_bytes().get(shared..).unwrap_or_default();
        let length = self.length.code(coder, rest.len() as u64).min(MAX_ENTRIES);
        for at in 0..length as usize {
            let before = usize::from(bytes.last().copied().unwrap_or(0));
            let tree =
                self.byte_models[before].get_or_insert_with(|| Box::new(SymbolModel::new(8)));
            let byte = tree.code(coder, rest.get(at).copied().unwrap_or(0).into());
            bytes.push(byte as u8);
        }
        let Ok(text) = String::from_utf8(bytes) else {
            self.damaged = true;
            return;
        };
        self.last = self.known.len();
        self.numbers.insert(text.clone(), self.last);
        self.known.push(text);
    }
}

/// Encodes and decodes phases, given the load times.
struct PhasesCodec {
    unit: u64,
    reached: SymbolModel,
    phase_durations: [NumberModel; 5],
    rest: NumberModel,
}

impl PhasesCodec {
    /// The phase that is derived from the load time and the other phases.
    const FIRST_BYTE: usize = 3;

    fn new(unit: u64) -> Self {
        Self {
            unit,
            reached: SymbolModel::new(5),
            phase_durations: std::array::from_fn(|_| NumberModel::new(6)),
            rest: NumberModel::new(4),
        }
    }

    fn code_header(&mut self, coder: &mut impl Coder) {
        self.unit = NumberModel::new(0).code(coder, self.unit).max(1);
    }

    fn code(&mut self, coder: &mut impl Coder, input: &Heartbeat) -> Phases {
        let phase_durations = phase_durations(&input.phases);
        let reached =
            phase_durations.iter().enumerate().map(|(at, span)| u64::from(span.is_some()) << at);
        let reached = self.reached.code(coder, reached.sum());
        let mut steps = phase_durations.map(|span| span.map_or(0, micros) / self.unit);
        let is_reached = |at: usize| (reached >> at) & 1 == 1;
        let mut others = 0_u64;
        for at in (0..5).filter(|at| *at != Self::FIRST_BYTE && is_reached(*at)) {
            steps[at] = self.phase_durations[at].code(coder, steps[at]);
            others = others.wrapping_add(steps[at]);
        }
        if is_reached(Self::FIRST_BYTE) {
            let at = Self::FIRST_BYTE;
            steps[at] = match input.load_time {
                None => self.phase_durations[at].code(coder, steps[at]),
                Some(load) => {
                    let left = (micros(load) / self.unit).wrapping_sub(others);
                    let rest = self.rest.signed(coder, left.wrapping_sub(steps[at]).cast_signed());
                    left.wrapping_sub(rest.cast_unsigned())
                }
            };
        }
        let span = |at: usize| {
            let span = Duration::from_micros(steps[at].saturating_mul(self.unit));
            is_reached(at).then_some(span)
        };
        Phases {
            resolve: span(0),
            connect: span(1),
            tls: span(2),
            first_byte: span(3),
            transfer: span(4),
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
