//! The days of the bars of a component, in little memory: a page has thousands of them.

use jiff::civil::Date;
use serde::{Serialize, Serializer};
use std::iter::repeat_n;

use super::snapshot::{Day, DayColor, Uptime};

/// Days that follow each other, from the oldest to the newest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Days {
    first: Date,
    runs: Box<[Run]>,
}

/// Equal days that follow each other: in one number, from its lowest bits on, how many they are
/// and what each of them has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run(u64);

const COUNT_BITS: u32 = 9;
const COLOR_BITS: u32 = 3;
const DOWN_BITS: u32 = 24;

impl Run {
    const MAX_COUNT: u64 = (1 << COUNT_BITS) - 1;
    const MAX_DOWN: u32 = (1 << DOWN_BITS) - 1;

    /// A single day.
    fn of(day: &Day) -> Self {
        let color = DayColor::ALL.iter().position(|color| *color == day.color).unwrap_or(0) as u64;
        let down = u64::from(day.down.min(Self::MAX_DOWN));
        let uptime = u64::from(Uptime::stored(day.uptime));
        let fields = ((uptime << DOWN_BITS | down) << COLOR_BITS) | color;
        Self(fields << COUNT_BITS | 1)
    }

    fn count(self) -> usize {
        (self.0 & Self::MAX_COUNT) as usize
    }

    /// With another day, if that is equal and there is room for it.
    fn with(self, day: Self) -> Option<Self> {
        let is_equal = self.0 >> COUNT_BITS == day.0 >> COUNT_BITS;
        (is_equal && self.0 & Self::MAX_COUNT < Self::MAX_COUNT).then_some(Self(self.0 + 1))
    }

    fn day(self, date: Date) -> Day {
        let fields = self.0 >> COUNT_BITS;
        let color = (fields & ((1 << COLOR_BITS) - 1)) as usize;
        let down = (fields >> COLOR_BITS) as u32 & Self::MAX_DOWN;
        let uptime = Uptime::from_stored((fields >> (COLOR_BITS + DOWN_BITS)) as u32);
        Day { date, color: DayColor::ALL[color], down, uptime }
    }
}

impl Days {
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub fn len(&self) -> usize {
        self.runs.iter().map(|run| run.count()).sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = Day> + '_ {
        let mut next = self.first;
        self.runs.iter().flat_map(|run| repeat_n(*run, run.count())).map(move |run| {
            let date = next;
            next = date.tomorrow().unwrap_or(date);
            run.day(date)
        })
    }

    pub fn to_vec(&self) -> Vec<Day> {
        self.iter().collect()
    }

    /// The memory that they take.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.runs)
    }
}

/// From days that follow each other.
impl FromIterator<Day> for Days {
    fn from_iter<T: IntoIterator<Item = Day>>(days: T) -> Self {
        let mut first = None;
        let mut runs: Vec<Run> = Vec::new();
        for day in days {
            first.get_or_insert(day.date);
            let run = Run::of(&day);
            match runs.last_mut().and_then(|last| Some((last.with(run)?, last))) {
                Some((longer, last)) => *last = longer,
                None => runs.push(run),
            }
        }
        Self { first: first.unwrap_or_default(), runs: runs.into() }
    }
}

impl Serialize for Days {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const FIRST: Date = Date::constant(2025, 12, 30);

    fn consecutive(days: impl IntoIterator<Item = (DayColor, u32, Option<Uptime>)>) -> Vec<Day> {
        let mut date = FIRST.yesterday().expect("a date");
        let dated = |(color, down, uptime)| {
            date = date.tomorrow().expect("a date");
            Day { date, color, down, uptime }
        };
        days.into_iter().map(dated).collect()
    }

    #[test]
    fn equal_days_take_the_memory_of_one() {
        let good = (DayColor::Good, 0, Uptime::of(1, 0));
        let bad = (DayColor::Out, 86_400, Uptime::of(0, 1));
        let year = consecutive([good; 200].into_iter().chain([bad]).chain([good; 165]));
        let days = Days::from_iter(year.iter().copied());
        assert_eq!((days.len(), days.bytes(), days.to_vec()), (366, 24, year));
        let decade = consecutive([good; 3_650]);
        assert_eq!(Days::from_iter(decade.iter().copied()).to_vec(), decade);
        assert!(Days::default().is_empty() && Days::default().to_vec().is_empty());
    }

    #[test]
    fn the_largest_values_are_stored() {
        let most = (DayColor::Out, Run::MAX_DOWN, Uptime::of(1, 0));
        let days = consecutive(DayColor::ALL.iter().map(|color| (*color, most.1, most.2)));
        assert_eq!(Days::from_iter(days.iter().copied()).to_vec(), days);
        let more = consecutive([(DayColor::Out, u32::MAX, None)]);
        assert_eq!(Days::from_iter(more).to_vec()[0].down, Run::MAX_DOWN);
    }

    proptest! {
        #[test]
        fn days_are_what_they_were_made_of(
            parts in vec((0..DayColor::ALL.len(), 0_u32..100_000, 0_u64..3, 0_u64..3), 0..200)
        ) {
            let day = |(color, down, up, out): (usize, u32, u64, u64)| {
                (DayColor::ALL[color], down, Uptime::of(up, out))
            };
            let made = consecutive(parts.into_iter().map(day));
            let days = Days::from_iter(made.iter().copied());
            prop_assert_eq!(days.len(), made.len());
            prop_assert_eq!(days.to_vec(), made);
        }
    }
}
