//! Encodes the bins of a sketch: a bin is expected to be about as full as the
//! two before it.

use crate::history::bit_stream::{BitCoder, BitCounter, bits_of};
use crate::history::range_coder::{unzigzag, zigzag};
use crate::history::sketch::{LAST_BIN, Sketch};

/// `total` is the number of values: the sketch ends when all have been counted.
/// Coarsely measured times leave gaps between full bins; then each bin starts
/// with a flag that says whether it is empty.
pub(super) fn code(coder: &mut impl BitCoder, low: usize, total: u64, input: &[u32]) -> Sketch {
    let has_gaps = coder.flag(is_shorter_with_gaps(low, total, input));
    Sketch { low, counts: counts(coder, has_gaps, low, total, input) }
}

/// While decoding, the input is empty and the result is not used.
fn is_shorter_with_gaps(low: usize, total: u64, input: &[u32]) -> bool {
    if input.is_empty() {
        return false;
    }
    let cost = |has_gaps| {
        let mut counter = BitCounter::default();
        counts(&mut counter, has_gaps, low, total, input);
        counter.bits
    };
    cost(true) < cost(false)
}

fn counts(
    coder: &mut impl BitCoder,
    has_gaps: bool,
    low: usize,
    total: u64,
    input: &[u32],
) -> Vec<u32> {
    let mut counts = Vec::with_capacity(input.len().max(96));
    let mut near = [0_u32; 2];
    let mut left = total;
    while left > 0 && low + counts.len() <= LAST_BIN {
        let input = input.get(counts.len()).copied().unwrap_or(0);
        let mut count = 0;
        if !has_gaps || coder.flag(input > 0) {
            let least = u32::from(has_gaps);
            count = one(coder, near, input.wrapping_sub(least)).saturating_add(least);
            near = [near[1], count];
        }
        left = left.saturating_sub(count.into());
        counts.push(count);
    }
    counts
}

/// Small counts are encoded directly, large ones relative to the two before.
fn one(coder: &mut impl BitCoder, near: [u32; 2], input: u32) -> u32 {
    const MANY_VALUES: u64 = 6;
    let both = u64::from(near[0]) + u64::from(near[1]);
    let count = if both < MANY_VALUES {
        coder.small(u32::from(both > MANY_VALUES / 2), input.into())
    } else {
        // Differences between counts grow with their square root.
        let offset = coder.small(bits_of(both) / 2, offset(both / 2, input.into()));
        at(both / 2, offset)
    };
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The position of a count around the middle, alternating between both sides;
/// beyond twice the middle only one side is left.
fn offset(middle: u64, count: u64) -> u64 {
    if count <= 2 * middle { zigzag(count.cast_signed() - middle.cast_signed()) } else { count }
}

fn at(middle: u64, offset: u64) -> u64 {
    if offset <= 2 * middle { middle.saturating_add_signed(unzigzag(offset)) } else { offset }
}
