//! The bins of a sketch as bits: a bin is about as full as the two below it.

use crate::history::bits::{Meter, Side, bits_of};
use crate::history::coder::{fold, unfold};
use crate::history::sketch::{LAST_BIN, Sketch};

/// `total` says how many values there are: when they are all seen, the sketch
/// ends. Times that were measured coarsely leave gaps between bins that are
/// full; then each bin says first whether it is empty.
pub(super) fn code(side: &mut impl Side, low: usize, total: u64, told: &[u32]) -> Sketch {
    let has_gaps = side.flag(is_shorter_with_gaps(low, total, told));
    Sketch { low, counts: counts(side, has_gaps, low, total, told) }
}

/// Nothing to tell: it is being read.
fn is_shorter_with_gaps(low: usize, total: u64, told: &[u32]) -> bool {
    if told.is_empty() {
        return false;
    }
    let cost = |has_gaps| {
        let mut meter = Meter::default();
        counts(&mut meter, has_gaps, low, total, told);
        meter.bits
    };
    cost(true) < cost(false)
}

fn counts(side: &mut impl Side, has_gaps: bool, low: usize, total: u64, told: &[u32]) -> Vec<u32> {
    let mut counts = Vec::with_capacity(told.len().max(96));
    let mut near = [0_u32; 2];
    let mut left = total;
    while left > 0 && low + counts.len() <= LAST_BIN {
        let told = told.get(counts.len()).copied().unwrap_or(0);
        let mut count = 0;
        if !has_gaps || side.flag(told > 0) {
            let least = u32::from(has_gaps);
            count = one(side, near, told.wrapping_sub(least)).saturating_add(least);
            near = [near[1], count];
        }
        left = left.saturating_sub(count.into());
        counts.push(count);
    }
    counts
}

/// Few are told as they are, many by how far they are from the two before.
fn one(side: &mut impl Side, near: [u32; 2], told: u32) -> u32 {
    const MANY: u64 = 6;
    let both = u64::from(near[0]) + u64::from(near[1]);
    let count = if both < MANY {
        side.small(u32::from(both > MANY / 2), told.into())
    } else {
        // What counts differ by grows with their root.
        let offset = side.small(bits_of(both) / 2, offset(both / 2, told.into()));
        at(both / 2, offset)
    };
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Where a count lies around the middle: those on both sides come in turn, and
/// behind twice the middle there is but one side left.
fn offset(middle: u64, count: u64) -> u64 {
    match count <= 2 * middle {
        true => fold(count.cast_signed() - middle.cast_signed()),
        false => count,
    }
}

fn at(middle: u64, offset: u64) -> u64 {
    match offset <= 2 * middle {
        true => middle.saturating_add_signed(unfold(offset)),
        false => offset,
    }
}
