//! What the heartbeats of an hour or a day come to. A roll-up knows only its
//! own heartbeats: how many of each standing, for how long from the first to
//! the last, and how load times were spread. What lies between two roll-ups is
//! filled when they are put together, by what the last heartbeat of the first
//! still says. So a late heartbeat changes one hour and one day and no other.

use super::coder::{Bit, Decoder, Encoder, Number, Side, Tree};
use super::sketch::Sketch;
use super::{Entry, Shares, Standing, checksum, micros, spans};
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollup {
    pub first: Millis,
    pub last: Last,
    pub checks: Shares,
    /// Milliseconds between the first and the last heartbeat.
    pub millis: Shares,
    pub times: Times,
}

/// The last heartbeat of a span: it speaks until the next one, or `reach`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    pub at: Millis,
    pub standing: Standing,
    pub reach: Millis,
}

impl Last {
    pub fn of(entry: &Entry) -> Self {
        Self { at: entry.heartbeat.at, standing: entry.standing, reach: entry.reach() }
    }

    /// How long it speaks between two times, in milliseconds.
    pub(super) fn speaks(&self, from: Millis, until: Millis) -> u64 {
        let (from, until) = (from.max(self.at), until.min(self.reach));
        until.0.saturating_sub(from.0).max(0).cast_unsigned()
    }
}

/// How long checks that were up took, all in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    pub load: Spread,
    pub shortest: u64,
    pub longest: u64,
    /// In the order resolve, connect, TLS, first byte, transfer.
    pub phases: [Spread; 5],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    pub count: u64,
    pub sum: u64,
    pub sketch: Sketch,
}

impl Spread {
    fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
        self.sketch.add(value);
    }

    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.sketch.merge(&other.sketch);
    }

    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.sum as f64) / (self.count as f64))
    }
}

impl Times {
    fn add(&mut self, entry: &Entry) {
        let heartbeat = &entry.heartbeat;
        let Some(load) = heartbeat.load_time.filter(|_| entry.standing == Standing::Up) else {
            return;
        };
        let load = micros(load);
        self.shortest = if self.load.count == 0 { load } else { self.shortest.min(load) };
        self.longest = self.longest.max(load);
        self.load.add(load);
        for (spread, span) in self.phases.iter_mut().zip(spans(&heartbeat.phases)) {
            if let Some(span) = span {
                spread.add(micros(span));
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if other.load.count > 0 {
            self.shortest = match self.load.count {
                0 => other.shortest,
                _ => self.shortest.min(other.shortest),
            };
            self.longest = self.longest.max(other.longest);
        }
        self.load.merge(&other.load);
        for (ours, theirs) in self.phases.iter_mut().zip(&other.phases) {
            ours.merge(theirs);
        }
    }

    /// A percentile of the load time; never beyond what was measured.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let value = self.load.sketch.quantile(share)?;
        Some(value.clamp(self.shortest as f64, self.longest as f64))
    }
}

impl Rollup {
    fn begin(entry: &Entry) -> Self {
        let mut rollup = Self {
            first: entry.heartbeat.at,
            last: Last::of(entry),
            checks: Shares::default(),
            millis: Shares::default(),
            times: Times::default(),
        };
        rollup.checks[entry.standing] = 1;
        rollup.times.add(entry);
        rollup
    }

    /// What these heartbeats come to; they must be in their order.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Option<Self> {
        let mut rollup: Option<Self> = None;
        for entry in entries {
            match &mut rollup {
                None => rollup = Some(Self::begin(entry)),
                Some(rollup) => rollup.add(entry),
            }
        }
        rollup
    }

    /// Puts what came next behind it; between the two the last one speaks.
    pub fn merge(&mut self, next: &Self) {
        self.millis[self.last.standing] += self.last.speaks(self.last.at, next.first);
        self.millis.add(&next.millis);
        self.checks.add(&next.checks);
        self.times.merge(&next.times);
        self.last = next.last;
    }

    fn add(&mut self, entry: &Entry) {
        self.millis[self.last.standing] += self.last.speaks(self.last.at, entry.heartbeat.at);
        self.last = Last::of(entry);
        self.checks[entry.standing] += 1;
        self.times.add(entry);
    }
}

/// The bytes could not be what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what is kept of the past is damaged")]
pub struct Damaged;

/// Whether the percentiles of phases are there too; they are most of the work
/// and of the bytes, so hours go without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Means,
    Whole,
}

/// Roll-ups as bytes: those of the hours of a day, or of one day.
pub fn pack(rollups: &[Rollup], depth: Depth) -> Vec<u8> {
    let mut means = Encoder::default();
    let mut form = Form::new(rollups.len(), unit(rollups));
    form.head(&mut means);
    for rollup in rollups {
        form.code(&mut means, rollup.clone());
    }
    let mut bytes = means.finish();
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    bytes.splice(0..0, length.to_le_bytes());
    if depth == Depth::Whole {
        let mut phases = Encoder::default();
        let mut sketches: [Bins; 5] = std::array::from_fn(|_| Bins::default());
        for rollup in rollups {
            for (bins, spread) in sketches.iter_mut().zip(&rollup.times.phases) {
                bins.code(&mut phases, spread.count, &spread.sketch);
            }
        }
        // Where there are phases there is something behind the means.
        bytes.push(1);
        bytes.extend(phases.finish());
    }
    checksum::close(bytes)
}

/// What was packed; percentiles of phases only where both say so.
pub fn unpack(bytes: &[u8], depth: Depth) -> Result<Vec<Rollup>, Damaged> {
    let bytes = checksum::open(bytes).ok_or(Damaged)?;
    let (length, bytes) = bytes.split_first_chunk::<4>().ok_or(Damaged)?;
    let length = u32::from_le_bytes(*length) as usize;
    let (means, phases) = bytes.split_at_checked(length).ok_or(Damaged)?;
    let mut side = Decoder::new(means);
    let mut form = Form::new(0, 1);
    form.head(&mut side);
    let mut rollups: Vec<Rollup> =
        (0..form.count.min(MOST)).map(|_| form.code(&mut side, nothing())).collect();
    if let (Depth::Whole, Some((_, phases))) = (depth, phases.split_first()) {
        let mut side = Decoder::new(phases);
        let mut sketches: [Bins; 5] = std::array::from_fn(|_| Bins::default());
        for rollup in &mut rollups {
            for (bins, spread) in sketches.iter_mut().zip(&mut rollup.times.phases) {
                spread.sketch = bins.code(&mut side, spread.count, &Sketch::default());
            }
        }
    }
    Ok(rollups)
}

/// No list of roll-ups is longer: a day with a leap of the clock is far below.
const MOST: u64 = 1_000;

fn nothing() -> Rollup {
    let last = Last { at: Millis(0), standing: Standing::Up, reach: Millis(0) };
    let (checks, millis, times) = (Shares::default(), Shares::default(), Times::default());
    Rollup { first: Millis(0), last, checks, millis, times }
}

/// The largest step in which all times are whole: measured to a tenth of a
/// millisecond, they need not be kept to a thousandth.
fn unit(rollups: &[Rollup]) -> u64 {
    let mut unit = 0;
    for Rollup { times, .. } in rollups {
        let sums = times.phases.iter().map(|spread| spread.sum);
        for value in sums.chain([times.load.sum, times.shortest, times.longest]) {
            unit = greatest_divisor(unit, value);
        }
    }
    unit.max(1)
}

pub(super) fn greatest_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// How a list of roll-ups is written and read, in one text for both.
struct Form {
    count: u64,
    unit: u64,
    first: Number,
    length: Number,
    standing: Tree,
    reach: Number,
    checks: [Number; 5],
    idle: Number,
    millis: Number,
    load: Sums,
    extremes: [Number; 2],
    bins: Bins,
    phases: [Sums; 5],
    before: Option<Rollup>,
}

impl Form {
    fn new(count: usize, unit: u64) -> Self {
        Self {
            count: count as u64,
            unit,
            first: Number::new(2),
            length: Number::new(4),
            standing: Tree::new(3),
            reach: Number::new(2),
            checks: std::array::from_fn(|_| Number::new(3)),
            idle: Number::new(1),
            millis: Number::new(1),
            load: Sums::default(),
            extremes: std::array::from_fn(|_| Number::new(3)),
            bins: Bins::default(),
            phases: std::array::from_fn(|_| Sums::default()),
            before: None,
        }
    }

    fn head(&mut self, side: &mut impl Side) {
        let mut number = Number::new(0);
        self.count = number.code(side, self.count);
        self.unit = number.code(side, self.unit).max(1);
    }

    fn code(&mut self, side: &mut impl Side, mut told: Rollup) -> Rollup {
        self.span(side, &mut told);
        self.shares(side, &mut told);
        self.times(side, &mut told.times);
        self.before = Some(told.clone());
        told
    }

    /// The first and last heartbeat: hours begin about as the one before did.
    fn span(&mut self, side: &mut impl Side, told: &mut Rollup) {
        const HOUR: i64 = 3_600_000;
        let expected = self.before.as_ref().map_or(0, |before| before.first.0.wrapping_add(HOUR));
        let offset = self.first.signed(side, told.first.0.wrapping_sub(expected));
        told.first = Millis(expected.wrapping_add(offset));
        let length =
            self.length.code(side, told.last.at.0.wrapping_sub(told.first.0).cast_unsigned());
        told.last.at = Millis(told.first.0.wrapping_add(length.cast_signed()));
        told.last.standing = Standing::of(self.standing.code(side, told.last.standing as u64));
        let reach = told.last.reach.0.wrapping_sub(told.last.at.0).cast_unsigned();
        let reach = self.reach.code(side, reach);
        told.last.reach = Millis(told.last.at.0.wrapping_add(reach.cast_signed()));
    }

    /// Most of the time goes to the most frequent standing: what the others
    /// and the gaps leave of it is not written.
    fn shares(&mut self, side: &mut impl Side, told: &mut Rollup) {
        for (number, checks) in self.checks.iter_mut().zip(&mut told.checks.0) {
            *checks = number.code(side, *checks);
        }
        let most = (0..5).max_by_key(|standing| told.checks.0[*standing]).unwrap_or(0);
        let length = told.last.at.0.wrapping_sub(told.first.0).cast_unsigned();
        let mut rest =
            length.wrapping_sub(self.idle.code(side, length.wrapping_sub(told.millis.total())));
        for standing in (0..5).filter(|standing| *standing != most) {
            let millis = self.millis.code(side, told.millis.0[standing]);
            told.millis.0[standing] = millis;
            rest = rest.wrapping_sub(millis);
        }
        told.millis.0[most] = rest;
    }

    fn times(&mut self, side: &mut impl Side, told: &mut Times) {
        self.load.code(side, self.unit, &mut told.load);
        if told.load.count > 0 {
            let [shortest, longest] = &mut self.extremes;
            told.shortest =
                shortest.code(side, told.shortest / self.unit).saturating_mul(self.unit);
            told.longest = longest.code(side, told.longest / self.unit).saturating_mul(self.unit);
        }
        told.load.sketch = self.bins.code(side, told.load.count, &told.load.sketch);
        for (sums, spread) in self.phases.iter_mut().zip(&mut told.phases) {
            sums.code(side, self.unit, spread);
        }
    }
}

/// How many values there are and what they add up to.
struct Sums {
    same: Bit,
    count: Number,
    sum: Number,
    before: u64,
}

impl Default for Sums {
    fn default() -> Self {
        Self { same: Bit::default(), count: Number::new(3), sum: Number::new(4), before: 0 }
    }
}

impl Sums {
    fn code(&mut self, side: &mut impl Side, unit: u64, told: &mut Spread) {
        if side.bit(&mut self.same, told.count == self.before) {
            told.count = self.before;
        } else {
            told.count = self.count.code(side, told.count);
        }
        self.before = told.count;
        if told.count > 0 {
            told.sum = self.sum.code(side, told.sum / unit).saturating_mul(unit);
        }
    }
}

/// How the bins of sketches are written: a bin is as full as those around it
/// were in the hours before, and as its neighbours are in this one.
struct Bins {
    low: Number,
    counts: Vec<[Bit; Self::UNARY]>,
    large: Number,
    seen: Vec<u32>,
    hours: u32,
    before: usize,
}

impl Default for Bins {
    fn default() -> Self {
        Self {
            low: Number::new(3),
            counts: vec![[Bit::default(); Self::UNARY]; 16 * 4],
            large: Number::new(2),
            seen: Vec::new(),
            hours: 0,
            before: 0,
        }
    }
}

impl Bins {
    const UNARY: usize = 12;

    /// `total` says how many values there are: when they are all seen, the
    /// sketch ends.
    fn code(&mut self, side: &mut impl Side, total: u64, told: &Sketch) -> Sketch {
        if total == 0 {
            return Sketch::default();
        }
        let offset = (told.low as i64).wrapping_sub(self.before as i64);
        let low = (self.before as i64).wrapping_add(self.low.signed(side, offset));
        let low = usize::try_from(low).unwrap_or(0).min(LAST_BIN);
        let mut counts: Vec<u32> = Vec::with_capacity(told.counts.len());
        let mut left = total;
        while left > 0 && low + counts.len() <= LAST_BIN {
            let at = counts.len();
            let context = self.context(low + at, &counts);
            let told = told.counts.get(at).copied().unwrap_or(0);
            let count = self.count(side, context, told);
            left = left.saturating_sub(count.into());
            counts.push(count);
        }
        self.remember(low, &counts);
        Sketch { low, counts }
    }

    fn count(&mut self, side: &mut impl Side, context: usize, told: u32) -> u32 {
        for (below, bit) in self.counts[context].iter_mut().enumerate() {
            if !side.bit(bit, told as usize > below) {
                return below as u32;
            }
        }
        let beyond = u64::from(told).wrapping_sub(Self::UNARY as u64);
        let beyond = self.large.code(side, beyond).min(u64::from(u32::MAX) - Self::UNARY as u64);
        beyond as u32 + Self::UNARY as u32
    }

    fn context(&self, bin: usize, counts: &[u32]) -> usize {
        let near: u32 = counts.iter().rev().take(2).sum();
        let near = near.min(3) as usize;
        if self.hours == 0 {
            return near;
        }
        let around = (bin.saturating_sub(2)..bin + 3)
            .map(|bin| self.seen.get(bin).copied().unwrap_or(0))
            .fold(0_u32, u32::saturating_add);
        // In sixteenths of a value an hour and bin, by powers of two.
        let density = u64::from(around) * 16 / (5 * u64::from(self.hours));
        let density = (u64::BITS - density.leading_zeros()) as usize + 1;
        density.min(15) * 4 + near
    }

    fn remember(&mut self, low: usize, counts: &[u32]) {
        if self.seen.len() < low + counts.len() {
            self.seen.resize(low + counts.len(), 0);
        }
        for (seen, count) in self.seen[low..].iter_mut().zip(counts) {
            *seen = seen.saturating_add(*count);
        }
        self.hours += 1;
        self.before = low;
    }
}

/// The bin of the longest time that fits.
const LAST_BIN: usize = 2_300;

#[cfg(test)]
mod tests;
