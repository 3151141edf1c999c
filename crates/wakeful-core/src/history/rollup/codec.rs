//! Encodes the roll-ups of the hours of a day, or of one day. A single request
//! may read a year of them, so they are plain bits: each number is encoded
//! relative to its expected value, given the previous roll-up and the other
//! numbers.

use super::bins;
use super::{Damaged, LastHeartbeat, LoadTimes, Rollup};
use crate::history::bit_stream::{BitCoder, DeltaCoder, Reader, Writer};
use crate::history::sketch::{LAST_BIN, Sketch, bin};
use crate::history::{HistoryStatus, PerStatus, checksum};
use crate::time::Millis;

/// The first byte of roll-ups without degraded heartbeats, and of those with some.
const VERSION: u8 = 1;
const DEGRADED_VERSION: u8 = 2;
/// No list of roll-ups is longer: even a day with a clock jump has far fewer.
const MAX_ROLLUPS: u64 = 1_000;
const HOUR: i64 = 3_600_000;

/// Whether the percentiles of phases are included; they take most of the time
/// and space, so hours omit them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Means,
    Full,
}

pub fn pack(rollups: &[Rollup], depth: Detail) -> Vec<u8> {
    let mut coder = Writer::default();
    let has_degraded = rollups.iter().any(|one| one.checks[HistoryStatus::Degraded] > 0);
    coder.plain(if has_degraded { DEGRADED_VERSION } else { VERSION }.into(), 8);
    coder.number(4, rollups.len() as u64);
    let mut codec = RollupCodec::new(coder.number(6, unit(rollups)), has_degraded);
    for rollup in rollups {
        codec.code(&mut coder, rollup.clone());
    }
    if coder.flag(depth == Detail::Full) {
        for rollup in rollups {
            for spread in &rollup.times.phases {
                phase(&mut coder, spread.count, &spread.sketch);
            }
        }
    }
    checksum::close(coder.finish())
}

/// Decodes roll-ups; the percentiles of phases are included only when both
/// sides ask for them.
pub fn unpack(bytes: &[u8], depth: Detail) -> Result<Vec<Rollup>, Damaged> {
    let mut coder = Reader::new(checksum::open(bytes).ok_or(Damaged)?);
    let has_degraded = match u8::try_from(coder.plain(0, 8)) {
        Ok(VERSION) => false,
        Ok(DEGRADED_VERSION) => true,
        _ => return Err(Damaged),
    };
    let count = coder.number(4, 0).min(MAX_ROLLUPS);
    let mut codec = RollupCodec::new(coder.number(6, 0), has_degraded);
    let mut rollups: Vec<Rollup> = (0..count).map(|_| codec.code(&mut coder, empty())).collect();
    if depth == Detail::Full && coder.flag(false) {
        for rollup in &mut rollups {
            for spread in &mut rollup.times.phases {
                spread.sketch = phase(&mut coder, spread.count, &Sketch::default());
            }
        }
    }
    Ok(rollups)
}

fn phase(coder: &mut impl BitCoder, count: u64, input: &Sketch) -> Sketch {
    match count {
        0 => Sketch::default(),
        count => {
            let low = (coder.number(9, input.low as u64) as usize).min(LAST_BIN);
            bins::code(coder, low, count, &input.counts)
        }
    }
}

fn empty() -> Rollup {
    let last = LastHeartbeat { at: Millis(0), standing: HistoryStatus::Up, valid_until: Millis(0) };
    let (checks, millis, times) =
        (PerStatus::default(), PerStatus::default(), LoadTimes::default());
    Rollup { first: Millis(0), last, checks, millis, times }
}

/// The greatest unit that divides all times: times measured in tenths of a
/// millisecond are not stored in microseconds.
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

pub(in crate::history) fn greatest_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Encodes and decodes a list of roll-ups: one function describes both
/// directions.
struct RollupCodec {
    unit: u64,
    /// How many statuses there are.
    statuses: usize,
    /// The expected next hour; `None` before the first.
    hour: Option<i64>,
    within: DeltaCoder,
    length: DeltaCoder,
    standing: HistoryStatus,
    valid_until: i64,
    checks: PerStatus,
    measured: [Measured; 5],
    phases: [DeltaCoder; 5],
    rest: DeltaCoder,
    shortest: DeltaCoder,
    longest: DeltaCoder,
}

/// Which of the load times have a phase.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measured {
    None,
    All,
    Some,
}

impl Measured {
    fn of(number: u64) -> Self {
        match number {
            0 => Self::None,
            1 => Self::All,
            _ => Self::Some,
        }
    }
}

impl RollupCodec {
    fn new(unit: u64, has_degraded: bool) -> Self {
        Self {
            unit: unit.max(1),
            statuses: if has_degraded { 6 } else { 5 },
            hour: None,
            within: DeltaCoder::new(20),
            length: DeltaCoder::new(24),
            standing: HistoryStatus::Up,
            valid_until: 0,
            checks: PerStatus::default(),
            measured: [Measured::None; 5],
            phases: std::array::from_fn(|_| DeltaCoder::new(16)),
            rest: DeltaCoder::new(16),
            shortest: DeltaCoder::new(10),
            longest: DeltaCoder::new(10),
        }
    }

    fn code(&mut self, coder: &mut impl BitCoder, mut input: Rollup) -> Rollup {
        self.span(coder, &mut input);
        self.shares(coder, &mut input);
        self.counts(coder, &mut input);
        self.times(coder, &mut input.times);
        input
    }

    /// The first and last heartbeat: an hour usually follows the previous one,
    /// and both begin at about the same minute.
    fn span(&mut self, coder: &mut impl BitCoder, input: &mut Rollup) {
        let hour = input.first.0.div_euclid(HOUR);
        let hour = match self.hour {
            None => coder.signed(20, hour),
            Some(next) => next.wrapping_add(coder.signed(0, hour.wrapping_sub(next))),
        };
        self.hour = Some(hour.wrapping_add(1));
        let start = hour.wrapping_mul(HOUR);
        let within = self.within.code(coder, input.first.0.wrapping_sub(start));
        input.first = Millis(start.wrapping_add(within));
        let length = self.length.code(coder, input.last.at.0.wrapping_sub(input.first.0));
        input.last.at = Millis(input.first.0.wrapping_add(length));
        self.last(coder, &mut input.last);
    }

    fn last(&mut self, coder: &mut impl BitCoder, input: &mut LastHeartbeat) {
        let valid_until = input.valid_until.0.wrapping_sub(input.at.0);
        if !coder.flag((input.standing, valid_until) == (self.standing, self.valid_until)) {
            self.standing = HistoryStatus::of(coder.plain(input.standing as u64, 3));
            self.valid_until = coder.signed(18, valid_until);
        }
        input.standing = self.standing;
        input.valid_until = Millis(input.at.0.wrapping_add(self.valid_until));
    }

    /// The time of the most frequent status is not written: it is the remainder
    /// after the others and the gaps.
    fn shares(&mut self, coder: &mut impl BitCoder, input: &mut Rollup) {
        if !coder.flag(input.checks == self.checks) {
            for (ours, input) in self.checks.0.iter_mut().zip(input.checks.0).take(self.statuses) {
                *ours = coder.number(2, input);
            }
        }
        input.checks = self.checks;
        let most = (0..self.statuses).max_by_key(|standing| input.checks.0[*standing]).unwrap_or(0);
        let length = input.last.at.0.wrapping_sub(input.first.0).cast_unsigned();
        let only_most = input.millis.0[most] == length && input.millis.total() == length;
        if coder.flag(only_most) {
            input.millis = PerStatus::default();
            input.millis.0[most] = length;
            return;
        }
        let idle = coder.number(8, length.wrapping_sub(input.millis.total()));
        let mut rest = length.wrapping_sub(idle);
        for standing in (0..self.statuses).filter(|standing| *standing != most) {
            let millis = coder.number(2, input.millis.0[standing]);
            input.millis.0[standing] = millis;
            rest = rest.wrapping_sub(millis);
        }
        input.millis.0[most] = rest;
    }

    /// The number of measured times: usually one of each kind per passing
    /// check.
    fn counts(&mut self, coder: &mut impl BitCoder, input: &mut Rollup) {
        let up = input.checks.up();
        let times = &mut input.times;
        let load = &mut times.load.count;
        *load = if coder.flag(*load == up) { up } else { coder.number(4, *load) };
        let all = *load;
        let measured = std::array::from_fn(|at| match times.phases[at].count {
            0 => Measured::None,
            count if count == all => Measured::All,
            _ => Measured::Some,
        });
        if !coder.flag(measured == self.measured) {
            self.measured = measured.map(|phase| Measured::of(coder.plain(phase as u64, 2)));
        }
        for (measured, phase) in self.measured.iter().zip(&mut times.phases) {
            phase.count = match measured {
                Measured::None => 0,
                Measured::All => all,
                Measured::Some => coder.number(4, phase.count),
            };
        }
    }

    /// The sums of the times: load times are little more than the sum of their
    /// phases.
    fn times(&mut self, coder: &mut impl BitCoder, input: &mut LoadTimes) {
        let unit = self.unit;
        let mut phases = 0_u64;
        for (delta, phase) in self.phases.iter_mut().zip(&mut input.phases) {
            if phase.count > 0 {
                let steps = delta.unsigned(coder, phase.sum / unit);
                phase.sum = steps.saturating_mul(unit);
                phases = phases.wrapping_add(steps);
            }
        }
        if input.load.count == 0 {
            return;
        }
        let rest = (input.load.sum / unit).wrapping_sub(phases);
        let steps = phases.wrapping_add(self.rest.unsigned(coder, rest));
        input.load.sum = steps.saturating_mul(unit);
        input.shortest = self.shortest.unsigned(coder, input.shortest / unit).saturating_mul(unit);
        input.longest = self.longest.unsigned(coder, input.longest / unit).saturating_mul(unit);
        let low = bin(input.shortest);
        input.load.sketch = bins::code(coder, low, input.load.count, &input.load.sketch.counts);
    }
}
