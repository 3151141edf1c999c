//! How often values of about each size came: bins that are two percent wide,
//! so that any percentile is known to within one percent, and the bins of two
//! spans add up to those of both.

/// Each bin ends at this many times its beginning; half of that width is the
/// largest error: (1.02 - 1) / (1.02 + 1) < 1 %.
const WIDTH: f64 = 1.02;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// The number of the first bin in `counts`.
    pub(super) low: usize,
    pub(super) counts: Vec<u32>,
}

impl Sketch {
    pub fn add(&mut self, value: u64) {
        let bin = bin(value);
        self.reach(bin, bin);
        let count = &mut self.counts[bin - self.low];
        *count = count.saturating_add(1);
    }

    pub fn merge(&mut self, other: &Self) {
        if other.counts.is_empty() {
            return;
        }
        self.reach(other.low, other.low + other.counts.len() - 1);
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

    /// Makes room for the bins from one to another.
    fn reach(&mut self, low: usize, high: usize) {
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

/// Nothing has a bin of its own.
fn bin(value: u64) -> usize {
    match value {
        0 => 0,
        value => 1 + ((value as f64).ln() / WIDTH.ln()) as usize,
    }
}

fn middle(bin: usize) -> f64 {
    match bin {
        0 => 0.0,
        bin => {
            let exponent = i32::try_from(bin).unwrap_or(i32::MAX);
            2.0 * WIDTH.powi(exponent) / (WIDTH + 1.0)
        }
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
        fn every_percentile_is_right_within_one_percent(
            values in prop::collection::vec((0_u32..37, any::<u64>()), 1..300),
            share in 0.0..=1.0_f64,
        ) {
            let values: Vec<u64> = values.iter().map(|(width, value)| value & ((1 << width) - 1)).collect();
            let (told, exact) = (of(&values).quantile(share).unwrap(), exact(&values, share));
            prop_assert!((told - exact).abs() <= exact * 0.01 + 1e-9, "{told} for {exact}");
        }

        #[test]
        fn two_spans_merged_are_the_whole(
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
    fn no_values_have_no_percentile() {
        assert_eq!(Sketch::default().quantile(0.5), None);
    }
}
