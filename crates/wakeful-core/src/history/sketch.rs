//! A histogram of values in bins that are two percent wide, so that any
//! percentile is accurate to one percent and two sketches can be added.

/// The ratio of the end of a bin to its start; the largest error is half the
/// width: (1.02 - 1) / (1.02 + 1) < 1 %.
const BIN_RATIO: f64 = 1.02;

/// The bin of the longest possible time.
pub(super) const LAST_BIN: usize = 2_300;

/// The end of each bin. Computed by multiplication, not by powers: the result
/// is the same on every machine, so that all assign a value to the same bin.
static BIN_ENDS: [f64; LAST_BIN + 1] = ends();

const fn ends() -> [f64; LAST_BIN + 1] {
    let mut ends = [1.0; LAST_BIN + 1];
    let mut bin = 1;
    while bin < ends.len() {
        ends[bin] = ends[bin - 1] * BIN_RATIO;
        bin += 1;
    }
    ends
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// The index of the first bin in `counts`.
    pub(super) low: usize,
    pub(super) counts: Vec<u32>,
}

impl Sketch {
    pub fn add(&mut self, value: u64) {
        let bin = bin(value);
        self.grow_to(bin, bin);
        let count = &mut self.counts[bin - self.low];
        *count = count.saturating_add(1);
    }

    pub fn merge(&mut self, other: &Self) {
        if other.counts.is_empty() {
            return;
        }
        self.grow_to(other.low, other.low + other.counts.len() - 1);
        let from = other.low - self.low;
        for (ours, theirs) in self.counts[from..].iter_mut().zip(&other.counts) {
            *ours = ours.saturating_add(*theirs);
        }
    }

    pub fn count(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    /// The value that this share of all values does not exceed.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let rank = ((self.count() as f64) * share).ceil().max(1.0) as u64;
        let mut passed = 0;
        for (at, count) in self.counts.iter().enumerate() {
            passed += u64::from(*count);
            if passed >= rank {
                return Some(middle(self.low + at));
            }
        }
        None
    }

    /// The memory that its bins take.
    pub(super) fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<u32>()
    }

    /// How many values are at most this one, to the accuracy of a bin.
    pub fn count_up_to(&self, value: u64) -> u64 {
        let bins = (bin(value) + 1).saturating_sub(self.low).min(self.counts.len());
        self.counts[..bins].iter().map(|count| u64::from(*count)).sum()
    }

    /// Extends `counts` to cover the bins from `low` to `high`.
    fn grow_to(&mut self, low: usize, high: usize) {
        if self.counts.is_empty() {
            self.low = low;
        }
        if low < self.low {
            let more = self.low - low;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.low = low;
        }
        let needed = high + 1 - self.low;
        if self.counts.len() < needed {
            self.counts.resize(needed, 0);
        }
    }
}

/// Zero has a bin of its own.
pub(super) fn bin(value: u64) -> usize {
    if value == 0 {
        return 0;
    }
    let value = value as f64;
    // The logarithm may be off in its last digit.
    let mut bin = 1 + (value.ln() / BIN_RATIO.ln()) as usize;
    while value < BIN_ENDS[bin - 1] {
        bin -= 1;
    }
    while value >= BIN_ENDS[bin] {
        bin += 1;
    }
    bin
}

fn middle(bin: usize) -> f64 {
    match bin {
        0 => 0.0,
        bin => 2.0 * BIN_ENDS[bin.min(LAST_BIN)] / (BIN_RATIO + 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Sketch {
        let mut sketch = Sketch::default();
        values.iter().for_each(|value| sketch.add(*value));
        sketch
    }

    fn exact(values: &[u64], share: f64) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let rank = ((sorted.len() as f64) * share).ceil().max(1.0) as usize;
        sorted[rank - 1] as f64
    }

    proptest! {
        #[test]
        fn every_percentile_is_accurate_to_one_percent(
            values in prop::collection::vec((0_u32..37, any::<u64>()), 1..300),
            share in 0.0..=1.0_f64,
        ) {
            let values: Vec<u64> = values.iter().map(|(width, value)| value & ((1 << width) - 1)).collect();
            let (estimate, exact) = (of(&values).quantile(share).unwrap(), exact(&values, share));
            prop_assert!((estimate - exact).abs() <= exact * 0.01 + 1e-9, "{estimate} for {exact}");
        }

        #[test]
        fn two_merged_spans_equal_the_whole(
            one in prop::collection::vec(any::<u64>(), 0..50),
            two in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let mut merged = of(&one);
            merged.merge(&of(&two));
            let whole: Vec<u64> = one.iter().chain(&two).copied().collect();
            prop_assert_eq!(merged, of(&whole));
        }
    }

    #[test]
    fn a_value_is_within_its_bin() {
        let ends = BIN_ENDS.iter().take(2_235).map(|end| *end as u64);
        for value in ends.flat_map(|end| [end.saturating_sub(1), end, end + 1]).chain([u64::MAX]) {
            let bin = bin(value);
            let begins = if bin > 0 { BIN_ENDS[bin - 1] } else { 0.0 };
            assert!(
                value == 0 || (begins <= value as f64 && (value as f64) < BIN_ENDS[bin]),
                "{value}"
            );
        }
    }

    #[test]
    fn an_empty_sketch_has_no_percentiles() {
        assert_eq!(Sketch::default().quantile(0.5), None);
    }
}
