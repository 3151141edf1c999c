//! Heartbeats as a block of bytes and back, exactly. Each column is told by
//! what was to be expected: the time by the interval and how long the check
//! took, the standing and the message by the ones before, load times by how
//! often such ones came. Phases are bytes of their own, because they are most
//! of the block and are let go first; their largest part, the wait for the
//! first byte, is what the other phases leave of the load time.

mod regions;

pub use regions::unpack_regions;

use std::collections::HashMap;
use std::time::Duration;

use super::coder::{Bit, Decoder, Encoder, Number, Side, Tree};
use super::rollup::{Damaged, greatest_divisor};
use super::{Entry, Standing, checksum, micros, spans};
use crate::observation::Phases;
use crate::time::Millis;
use crate::verdict::{Beat, Heartbeat};

/// So many heartbeats fill a block: enough that its own cost does not count,
/// and few enough to be read within milliseconds.
pub const FULL: usize = 8_192;
/// What a block of this version begins with.
const VERSION: u8 = 1;
/// A block that says it has more is not believed.
const MOST: u64 = 1 << 24;

/// A block; its phases are empty when no heartbeat has any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    pub data: Vec<u8>,
    pub phases: Vec<u8>,
    /// Empty when nobody but their owner looked.
    pub regions: Vec<u8>,
}

/// Packs heartbeats, which must be in their order.
pub fn pack(entries: &[Entry]) -> Packed {
    let mut side = Encoder::default();
    let mut form = Form::new(unit(entries.iter().filter_map(|entry| entry.heartbeat.load_time)));
    form.head(&mut side, entries.len() as u64);
    for entry in entries {
        form.code(&mut side, entry);
    }
    let (data, phases) = (close(side), pack_phases(entries));
    Packed { data, phases, regions: regions::pack(entries) }
}

fn pack_phases(entries: &[Entry]) -> Vec<u8> {
    let all = || entries.iter().flat_map(|entry| spans(&entry.heartbeat.phases)).flatten();
    if all().next().is_none() {
        return Vec::new();
    }
    let mut side = Encoder::default();
    let loads = entries.iter().filter_map(|entry| entry.heartbeat.load_time);
    let mut form = PhasesForm::new(unit(all().chain(loads)));
    form.head(&mut side);
    for entry in entries {
        form.code(&mut side, &entry.heartbeat);
    }
    close(side)
}

fn close(side: Encoder) -> Vec<u8> {
    let mut bytes = side.finish();
    bytes.insert(0, VERSION);
    checksum::close(bytes)
}

fn open(bytes: &[u8]) -> Result<Decoder<'_>, Damaged> {
    match checksum::open(bytes).and_then(<[u8]>::split_first) {
        Some((&VERSION, rest)) => Ok(Decoder::new(rest)),
        _ => Err(Damaged),
    }
}

/// The heartbeats of a block, without their phases.
pub fn unpack(data: &[u8]) -> Result<Vec<Entry>, Damaged> {
    let mut side = open(data)?;
    let mut form = Form::new(1);
    let count = form.head(&mut side, 0);
    if count > MOST {
        return Err(Damaged);
    }
    let blank = blank();
    let entries: Vec<Entry> = (0..count).map(|_| form.code(&mut side, &blank)).collect();
    if form.messages.damaged { Err(Damaged) } else { Ok(entries) }
}

/// Gives the heartbeats of a block their phases back.
pub fn unpack_phases(phases: &[u8], entries: &mut [Entry]) -> Result<(), Damaged> {
    if phases.is_empty() {
        return Ok(());
    }
    let mut side = open(phases)?;
    let mut form = PhasesForm::new(1);
    form.head(&mut side);
    for entry in entries {
        entry.heartbeat.phases = form.code(&mut side, &entry.heartbeat);
    }
    Ok(())
}

fn blank() -> Entry {
    let (at, message, phases) = (Millis(0), String::new(), Phases::default());
    let heartbeat =
        Heartbeat { at, status: Beat::Up, message, load_time: None, phases, regions: Vec::new() };
    Entry { seq: 0, standing: Standing::Up, interval: 0, heartbeat }
}

/// The largest step in which all these times are whole.
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

/// How heartbeats are written and read, in one text for both.
struct Form {
    unit: u64,
    standing: [Tree; 5],
    status: Tree,
    before: Standing,
    interval: u32,
    same_interval: Bit,
    intervals: Number,
    timed: [Bit; 5],
    /// Failures take their own time.
    load: [Number; 2],
    grid: Grid,
    seq: i64,
    seqs: Number,
    messages: Texts,
}

impl Form {
    fn new(unit: u64) -> Self {
        Self {
            unit,
            standing: std::array::from_fn(|_| Tree::new(3)),
            status: Tree::new(2),
            before: Standing::Up,
            interval: 0,
            same_interval: Bit::default(),
            intervals: Number::new(2),
            timed: [Bit::default(); 5],
            load: std::array::from_fn(|_| Number::new(6)),
            grid: Grid::default(),
            seq: 0,
            seqs: Number::new(2),
            messages: Texts::default(),
        }
    }

    fn head(&mut self, side: &mut impl Side, count: u64) -> u64 {
        let mut number = Number::new(0);
        self.unit = number.code(side, self.unit).max(1);
        number.code(side, count)
    }

    fn code(&mut self, side: &mut impl Side, told: &Entry) -> Entry {
        let beat = &told.heartbeat;
        let standing = self.standing(side, told.standing);
        let status = self.status(side, standing, beat.status);
        let interval = self.interval(side, told.interval);
        let load_time = self.load_time(side, standing, beat.load_time);
        let at = self.grid.code(side, beat.at, load_time.unwrap_or_default(), interval);
        let step = self.seqs.signed(side, told.seq.wrapping_sub(self.seq).wrapping_sub(1));
        self.seq = self.seq.wrapping_add(1).wrapping_add(step);
        let message = self.messages.code(side, &beat.message);
        let phases = Phases::default();
        let regions = Vec::new();
        let heartbeat = Heartbeat { at, status, message, load_time, phases, regions };
        Entry { seq: self.seq, standing, interval, heartbeat }
    }

    fn standing(&mut self, side: &mut impl Side, told: Standing) -> Standing {
        let symbol = self.standing[self.before as usize].code(side, told as u64);
        self.before = Standing::of(symbol);
        self.before
    }

    /// What a standing does not tell of the status: it is written only where
    /// the two may differ, as in a maintenance.
    fn status(&mut self, side: &mut impl Side, standing: Standing, told: Beat) -> Beat {
        const BEATS: [Beat; 3] = [Beat::Up, Beat::Down, Beat::Unknown];
        let usual = match standing {
            Standing::Up => Beat::Up,
            Standing::Down | Standing::Pending => Beat::Down,
            Standing::Unknown | Standing::Maintenance => Beat::Unknown,
        };
        let symbol = BEATS.iter().position(|beat| *beat == told).unwrap_or(0) as u64;
        let symbol = if told == usual { 3 } else { symbol };
        let symbol = self.status.code(side, symbol) as usize;
        BEATS.get(symbol).copied().unwrap_or(usual)
    }

    fn interval(&mut self, side: &mut impl Side, told: u32) -> u32 {
        if !side.bit(&mut self.same_interval, told == self.interval) {
            let interval = self.intervals.code(side, told.into());
            self.interval = u32::try_from(interval).unwrap_or(u32::MAX);
        }
        self.interval
    }

    fn load_time(
        &mut self,
        side: &mut impl Side,
        standing: Standing,
        told: Option<Duration>,
    ) -> Option<Duration> {
        if !side.bit(&mut self.timed[standing as usize], told.is_some()) {
            return None;
        }
        let number = &mut self.load[usize::from(standing != Standing::Up)];
        let steps = number.code(side, told.map_or(0, micros) / self.unit);
        Some(Duration::from_micros(steps.saturating_mul(self.unit)))
    }
}

/// When checks begin: every interval, but for small delays that do not add up.
struct Grid {
    expected: i64,
    offset: Number,
}

impl Default for Grid {
    fn default() -> Self {
        Self { expected: 0, offset: Number::new(3) }
    }
}

impl Grid {
    /// Farther off the grid than this is not a delay: a new grid begins.
    const NEAR: u64 = 1_000;

    fn code(
        &mut self,
        side: &mut impl Side,
        told: Millis,
        took: Duration,
        interval: u32,
    ) -> Millis {
        let took = i64::try_from(took.as_millis()).unwrap_or(i64::MAX);
        let began = told.0.wrapping_sub(took);
        let offset = self.offset.signed(side, began.wrapping_sub(self.expected));
        let began = self.expected.wrapping_add(offset);
        let line = match offset.unsigned_abs() {
            ..Self::NEAR => self.expected.wrapping_add(offset / 8),
            _ => began,
        };
        self.expected = line.wrapping_add(i64::from(interval) * 1_000);
        Millis(began.wrapping_add(took))
    }
}

/// Texts that mostly repeat: the one before, one of those known, or a new one
/// that begins like the one before.
struct Texts {
    same: [Bit; 2],
    was_same: bool,
    which: Number,
    last: usize,
    known: Vec<String>,
    numbers: HashMap<String, usize>,
    shared: Number,
    length: Number,
    /// By the letter before; made when the first new text comes.
    letters: Vec<Option<Box<Tree>>>,
    damaged: bool,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            same: [Bit::default(); 2],
            was_same: true,
            which: Number::new(3),
            last: 0,
            known: vec![String::new()],
            numbers: HashMap::from([(String::new(), 0)]),
            shared: Number::new(3),
            length: Number::new(3),
            letters: vec![None; 256],
            damaged: false,
        }
    }
}

impl Texts {
    fn code(&mut self, side: &mut impl Side, told: &str) -> String {
        let model = &mut self.same[usize::from(self.was_same)];
        self.was_same = side.bit(model, self.known[self.last] == told);
        if !self.was_same {
            // Nothing means a new one, else so many places from the end.
            let place = self.numbers.get(told).map_or(0, |at| (self.known.len() - at) as u64);
            let place = self.which.code(side, place) as usize;
            match self.known.len().checked_sub(place) {
                Some(at) if place > 0 => self.last = at,
                Some(_) => self.learn(side, told),
                None => self.damaged = true,
            }
        }
        self.known[self.last].clone()
    }

    fn learn(&mut self, side: &mut impl Side, told: &str) {
        let mut bytes = self.known[self.last].as_bytes().to_vec();
        let shared =
            bytes.iter().zip(told.as_bytes()).take_while(|(ours, told)| ours == told).count();
        let shared = self.shared.code(side, shared as u64) as usize;
        bytes.truncate(shared);
        let rest = told.as_bytes().get(shared..).unwrap_or_default();
        let length = self.length.code(side, rest.len() as u64).min(MOST);
        for at in 0..length as usize {
            let before = usize::from(bytes.last().copied().unwrap_or(0));
            let tree = self.letters[before].get_or_insert_with(|| Box::new(Tree::new(8)));
            let letter = tree.code(side, rest.get(at).copied().unwrap_or(0).into());
            bytes.push(letter as u8);
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

/// How phases are written and read beside the load times that are known.
struct PhasesForm {
    unit: u64,
    reached: Tree,
    spans: [Number; 5],
    rest: Number,
}

impl PhasesForm {
    /// The phase that is told by what the others leave of the load time.
    const FIRST_BYTE: usize = 3;

    fn new(unit: u64) -> Self {
        Self {
            unit,
            reached: Tree::new(5),
            spans: std::array::from_fn(|_| Number::new(6)),
            rest: Number::new(4),
        }
    }

    fn head(&mut self, side: &mut impl Side) {
        self.unit = Number::new(0).code(side, self.unit).max(1);
    }

    fn code(&mut self, side: &mut impl Side, told: &Heartbeat) -> Phases {
        let spans = spans(&told.phases);
        let reached = spans.iter().enumerate().map(|(at, span)| u64::from(span.is_some()) << at);
        let reached = self.reached.code(side, reached.sum());
        let mut steps = spans.map(|span| span.map_or(0, micros) / self.unit);
        let is_reached = |at: usize| (reached >> at) & 1 == 1;
        let mut others = 0_u64;
        for at in (0..5).filter(|at| *at != Self::FIRST_BYTE && is_reached(*at)) {
            steps[at] = self.spans[at].code(side, steps[at]);
            others = others.wrapping_add(steps[at]);
        }
        if is_reached(Self::FIRST_BYTE) {
            let at = Self::FIRST_BYTE;
            steps[at] = match told.load_time {
                None => self.spans[at].code(side, steps[at]),
                Some(load) => {
                    let left = (micros(load) / self.unit).wrapping_sub(others);
                    let rest = self.rest.signed(side, left.wrapping_sub(steps[at]).cast_signed());
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
