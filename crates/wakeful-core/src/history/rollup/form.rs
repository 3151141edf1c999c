//! Roll-ups as bytes: those of the hours of a day, or of one day. A year of
//! them is read for one answer, so they are plain bits: each number is told by
//! what was to be expected after the roll-up before and the numbers it is with.

use super::bins;
use super::{Damaged, Last, Rollup, Times};
use crate::history::bits::{Lane, Reader, Side, Writer};
use crate::history::sketch::{LAST_BIN, Sketch, bin};
use crate::history::{Shares, Standing, checksum};
use crate::time::Millis;

/// What roll-ups of this version begin with.
const VERSION: u8 = 1;
/// No list of roll-ups is longer: a day with a leap of the clock is far below.
const MOST: u64 = 1_000;
const HOUR: i64 = 3_600_000;

/// Whether the percentiles of phases are there too; they are most of the work
/// and of the bytes, so hours go without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Means,
    Whole,
}

/// Roll-ups as bytes.
pub fn pack(rollups: &[Rollup], depth: Depth) -> Vec<u8> {
    let mut side = Writer::default();
    side.plain(VERSION.into(), 8);
    side.number(4, rollups.len() as u64);
    let mut form = Form::new(side.number(6, unit(rollups)));
    for rollup in rollups {
        form.code(&mut side, rollup.clone());
    }
    if side.flag(depth == Depth::Whole) {
        for rollup in rollups {
            for spread in &rollup.times.phases {
                phase(&mut side, spread.count, &spread.sketch);
            }
        }
    }
    checksum::close(side.finish())
}

/// What was packed; percentiles of phases only where both say so.
pub fn unpack(bytes: &[u8], depth: Depth) -> Result<Vec<Rollup>, Damaged> {
    let mut side = Reader::new(checksum::open(bytes).ok_or(Damaged)?);
    if side.plain(0, 8) != u64::from(VERSION) {
        return Err(Damaged);
    }
    let count = side.number(4, 0).min(MOST);
    let mut form = Form::new(side.number(6, 0));
    let mut rollups: Vec<Rollup> = (0..count).map(|_| form.code(&mut side, nothing())).collect();
    if depth == Depth::Whole && side.flag(false) {
        for rollup in &mut rollups {
            for spread in &mut rollup.times.phases {
                spread.sketch = phase(&mut side, spread.count, &Sketch::default());
            }
        }
    }
    Ok(rollups)
}

fn phase(side: &mut impl Side, count: u64, told: &Sketch) -> Sketch {
    match count {
        0 => Sketch::default(),
        count => {
            let low = (side.number(9, told.low as u64) as usize).min(LAST_BIN);
            bins::code(side, low, count, &told.counts)
        }
    }
}

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

pub(in crate::history) fn greatest_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// How a list of roll-ups is written and read, in one text for both.
struct Form {
    unit: u64,
    /// The hour that is expected next; nothing before the first.
    hour: Option<i64>,
    within: Lane,
    length: Lane,
    standing: Standing,
    reach: i64,
    checks: Shares,
    measured: [Measured; 5],
    phases: [Lane; 5],
    rest: Lane,
    shortest: Lane,
    longest: Lane,
}

/// Of how many of the load times a phase is known.
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

impl Form {
    fn new(unit: u64) -> Self {
        Self {
            unit: unit.max(1),
            hour: None,
            within: Lane::new(20),
            length: Lane::new(24),
            standing: Standing::Up,
            reach: 0,
            checks: Shares::default(),
            measured: [Measured::None; 5],
            phases: std::array::from_fn(|_| Lane::new(16)),
            rest: Lane::new(16),
            shortest: Lane::new(10),
            longest: Lane::new(10),
        }
    }

    fn code(&mut self, side: &mut impl Side, mut told: Rollup) -> Rollup {
        self.span(side, &mut told);
        self.shares(side, &mut told);
        self.counts(side, &mut told);
        self.times(side, &mut told.times);
        told
    }

    /// The first and last heartbeat: an hour follows the one before, and they
    /// begin at about the same minute.
    fn span(&mut self, side: &mut impl Side, told: &mut Rollup) {
        let hour = told.first.0.div_euclid(HOUR);
        let hour = match self.hour {
            None => side.signed(20, hour),
            Some(next) => next.wrapping_add(side.signed(0, hour.wrapping_sub(next))),
        };
        self.hour = Some(hour.wrapping_add(1));
        let start = hour.wrapping_mul(HOUR);
        let within = self.within.code(side, told.first.0.wrapping_sub(start));
        told.first = Millis(start.wrapping_add(within));
        let length = self.length.code(side, told.last.at.0.wrapping_sub(told.first.0));
        told.last.at = Millis(told.first.0.wrapping_add(length));
        self.last(side, &mut told.last);
    }

    fn last(&mut self, side: &mut impl Side, told: &mut Last) {
        let reach = told.reach.0.wrapping_sub(told.at.0);
        if !side.flag((told.standing, reach) == (self.standing, self.reach)) {
            self.standing = Standing::of(side.plain(told.standing as u64, 3));
            self.reach = side.signed(18, reach);
        }
        told.standing = self.standing;
        told.reach = Millis(told.at.0.wrapping_add(self.reach));
    }

    /// Most of the time goes to the most frequent standing: what the others
    /// and the gaps leave of it is not written.
    fn shares(&mut self, side: &mut impl Side, told: &mut Rollup) {
        if !side.flag(told.checks == self.checks) {
            self.checks = Shares(told.checks.0.map(|checks| side.number(2, checks)));
        }
        told.checks = self.checks;
        let most = (0..5).max_by_key(|standing| told.checks.0[*standing]).unwrap_or(0);
        let length = told.last.at.0.wrapping_sub(told.first.0).cast_unsigned();
        let only_most = told.millis.0[most] == length && told.millis.total() == length;
        if side.flag(only_most) {
            told.millis = Shares::default();
            told.millis.0[most] = length;
            return;
        }
        let idle = side.number(8, length.wrapping_sub(told.millis.total()));
        let mut rest = length.wrapping_sub(idle);
        for standing in (0..5).filter(|standing| *standing != most) {
            let millis = side.number(2, told.millis.0[standing]);
            told.millis.0[standing] = millis;
            rest = rest.wrapping_sub(millis);
        }
        told.millis.0[most] = rest;
    }

    /// How many times there are: usually one of each kind for each check that
    /// was up.
    fn counts(&mut self, side: &mut impl Side, told: &mut Rollup) {
        let up = told.checks[Standing::Up];
        let times = &mut told.times;
        let load = &mut times.load.count;
        *load = if side.flag(*load == up) { up } else { side.number(4, *load) };
        let all = *load;
        let measured = std::array::from_fn(|at| match times.phases[at].count {
            0 => Measured::None,
            count if count == all => Measured::All,
            _ => Measured::Some,
        });
        if !side.flag(measured == self.measured) {
            self.measured = measured.map(|phase| Measured::of(side.plain(phase as u64, 2)));
        }
        for (measured, phase) in self.measured.iter().zip(&mut times.phases) {
            phase.count = match measured {
                Measured::None => 0,
                Measured::All => all,
                Measured::Some => side.number(4, phase.count),
            };
        }
    }

    /// What they add up to: load times to little more than their phases.
    fn times(&mut self, side: &mut impl Side, told: &mut Times) {
        let unit = self.unit;
        let mut phases = 0_u64;
        for (lane, phase) in self.phases.iter_mut().zip(&mut told.phases) {
            if phase.count > 0 {
                let steps = lane.unsigned(side, phase.sum / unit);
                phase.sum = steps.saturating_mul(unit);
                phases = phases.wrapping_add(steps);
            }
        }
        if told.load.count == 0 {
            return;
        }
        let rest = (told.load.sum / unit).wrapping_sub(phases);
        let steps = phases.wrapping_add(self.rest.unsigned(side, rest));
        told.load.sum = steps.saturating_mul(unit);
        told.shortest = self.shortest.unsigned(side, told.shortest / unit).saturating_mul(unit);
        told.longest = self.longest.unsigned(side, told.longest / unit).saturating_mul(unit);
        let low = bin(told.shortest);
        told.load.sketch = bins::code(side, low, told.load.count, &told.load.sketch.counts);
    }
}
