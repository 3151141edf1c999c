//! The uptime of components. What was checked and what was down are spans; a sweep over the
//! spans of all monitors of a component yields how long it was up and down, in total and by
//! day.

use jiff::civil::Date;

use super::component::Needs;
use super::snapshot::{ComponentStatus, Day, DayColor, Days, Uptime};
use crate::calendar::zone::Zone;
use crate::history::rollup::{LastHeartbeat, Rollup};
use crate::history::{Exclusions, HistoryStatus, Outage};
use crate::time::Millis;

/// A day with at least this share of downtime, in percent, is colored as out.
const OUT_PERCENT: u64 = 5;
/// A partial outage of an incident counts as so many tenths of its time.
const PARTIAL_TENTHS: u64 = 3;

/// Spans of time in milliseconds, in order and without overlaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans(Vec<(i64, i64)>);

impl Spans {
    pub fn new(spans: impl IntoIterator<Item = (Millis, Millis)>) -> Self {
        let mut all: Vec<(i64, i64)> =
            spans.into_iter().map(|(from, to)| (from.0, to.0)).filter(|(f, t)| f < t).collect();
        all.sort_unstable();
        let mut merged: Vec<(i64, i64)> = Vec::with_capacity(all.len());
        for (from, to) in all {
            match merged.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        Self(merged)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How long they are between two times.
    pub fn millis(&self, from: Millis, to: Millis) -> u64 {
        let part = |(f, t): &(i64, i64)| (*t).min(to.0).saturating_sub((*f).max(from.0)).max(0);
        self.0.iter().map(part).sum::<i64>().cast_unsigned()
    }

    /// The parts of them between two times.
    #[must_use]
    pub fn within(&self, from: Millis, to: Millis) -> Self {
        let first = self.0.partition_point(|(_, t)| *t <= from.0);
        let touching = self.0[first..].iter().take_while(|(f, _)| *f < to.0);
        Self(touching.map(|(f, t)| ((*f).max(from.0), (*t).min(to.0))).collect())
    }

    /// The parts of them that are not in others.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        let mut parts = Vec::with_capacity(self.0.len());
        for (from, to) in self.iter() {
            let mut start = from.0;
            for (other, end) in others.within(from, to).0 {
                if start < other {
                    parts.push((start, other));
                }
                start = end;
            }
            if start < to.0 {
                parts.push((start, to.0));
            }
        }
        Self(parts)
    }

    /// The first of them, for so many milliseconds.
    fn first_millis(&self, millis: u64) -> Self {
        let mut left = i64::try_from(millis).unwrap_or(i64::MAX);
        let mut parts = Vec::new();
        for (from, to) in &self.0 {
            let length = left.min(to - from);
            if length > 0 {
                parts.push((*from, from + length));
            }
            left -= length;
        }
        Self(parts)
    }

    /// Together with others.
    #[must_use]
    pub fn joined(&self, others: &Self) -> Self {
        Self::new(self.iter().chain(others.iter()))
    }

    /// The memory that they take.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<(i64, i64)>()
    }

    /// When the first one begins.
    pub fn start(&self) -> Option<Millis> {
        self.0.first().map(|(from, _)| Millis(*from))
    }

    pub fn iter(&self) -> impl Iterator<Item = (Millis, Millis)> + '_ {
        self.0.iter().map(|(from, to)| (Millis(*from), Millis(*to)))
    }
}

/// What is known of one monitor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Track {
    /// When it was checked, so that it was either up or down.
    pub checked: Spans,
    pub down: Spans,
}

impl Spans {
    /// When a monitor was checked, from its roll-ups in their order and the last heartbeat before
    /// them. Where a roll-up has gaps, its downtime is that of the outages, and the rest counts
    /// from its first heartbeat on.
    pub fn checked(
        rollups: &[Rollup],
        before: Option<LastHeartbeat>,
        outages: &[Outage],
        exclusions: &Exclusions,
        (from, to): (Millis, Millis),
    ) -> Self {
        let down = Self::down(outages, exclusions, (from, to));
        let maintenance = Self::new(exclusions.maintenance());
        let whole = |outage: &Outage| (outage.started, outage.ended.unwrap_or(to));
        let never_up = Self::new(outages.iter().map(whole)).joined(&maintenance);
        let counts = |status: HistoryStatus| status.is_up() || status == HistoryStatus::Down;
        let cover = |last: Option<LastHeartbeat>, until: Millis| {
            let last = last.filter(|last| counts(last.standing))?;
            Some((last.at.max(from), last.valid_until.min(until)))
        };
        let mut checked: Vec<(Millis, Millis)> = Vec::new();
        let mut last = before;
        for rollup in rollups {
            checked.extend(cover(last, rollup.first));
            let (begins, ends) = (rollup.first.max(from), rollup.last.at.min(to));
            let known = rollup.millis.up() + rollup.millis[HistoryStatus::Down];
            let whole = Self::new([(begins, ends)]);
            if known >= whole.millis(begins, ends) {
                checked.extend(whole.iter());
            } else {
                let down = down.within(begins, ends);
                let down = down.first_millis(rollup.millis[HistoryStatus::Down]);
                let rest = known - down.millis(begins, ends);
                checked.extend(down.iter());
                checked.extend(whole.without(&never_up).first_millis(rest).iter());
            }
            last = Some(rollup.last);
        }
        checked.extend(cover(last, to));
        Self::new(checked).without(&maintenance)
    }

    /// When a monitor was down, without what does not count as that.
    pub fn down(outages: &[Outage], exclusions: &Exclusions, (from, to): (Millis, Millis)) -> Self {
        let clip = |outage: &Outage| (outage.started.max(from), outage.ended.unwrap_or(to).min(to));
        Self::new(outages.iter().map(clip)).without(&Self::new(exclusions.any()))
    }
}

impl Track {
    /// Without the outages that are shorter than this.
    #[must_use]
    pub fn without_short(&self, seconds: u32) -> Self {
        let least = i64::from(seconds) * 1_000;
        let down = self.down.0.iter().copied().filter(|(from, to)| to - from >= least).collect();
        Self { checked: self.checked.clone(), down: Spans(down) }
    }
}

/// How long a component was up and down, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    pub up: u64,
    pub down: u64,
}

impl Shares {
    pub fn uptime(self) -> Option<Uptime> {
        Uptime::of(self.up, self.down)
    }
}

/// How long a component was up and down between each two of the bounds, which are in order.
/// Excluded time counts as neither.
pub fn sweep(tracks: &[Track], needs: Needs, excluded: &Spans, bounds: &[Millis]) -> Vec<Shares> {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    enum Change {
        Checked(usize, bool),
        Down(usize, bool),
        Excluded(bool),
    }
    let (Some(first), Some(end)) = (bounds.first(), bounds.last()) else { return Vec::new() };
    let mut changes: Vec<(i64, Change)> = Vec::new();
    let mut add = |spans: &Spans, change: &dyn Fn(bool) -> Change| {
        for (from, to) in &spans.0 {
            if *to > first.0 && *from < end.0 {
                changes.push((*from, change(true)));
                changes.push((*to, change(false)));
            }
        }
    };
    for (place, track) in tracks.iter().enumerate() {
        add(&track.checked, &|begins| Change::Checked(place, begins));
        add(&track.down, &|begins| Change::Down(place, begins));
    }
    add(excluded, &Change::Excluded);
    changes.sort_unstable();

    let mut shares = vec![Shares::default(); bounds.len() - 1];
    let mut state = vec![(false, false); tracks.len()];
    let (mut checked, mut up, mut is_excluded) = (0_usize, 0_usize, false);
    let (mut at, mut bucket) = (i64::MIN, 0);
    let mut count = |from: i64, to: i64, checked: usize, up: usize| {
        let mut from = from.max(first.0);
        while from < to.min(end.0) {
            while bounds[bucket + 1].0 <= from {
                bucket += 1;
            }
            let until = to.min(bounds[bucket + 1].0);
            let length = (until - from).cast_unsigned();
            if up < needs.of(checked) {
                shares[bucket].down += length;
            } else {
                shares[bucket].up += length;
            }
            from = until;
        }
    };
    for (time, change) in changes {
        if time > at {
            if checked > 0 && !is_excluded {
                count(at, time, checked, up);
            }
            at = time;
        }
        match change {
            Change::Excluded(begins) => is_excluded = begins,
            Change::Checked(place, _) | Change::Down(place, _) => {
                let (was_checked, was_down) = state[place];
                checked -= usize::from(was_checked);
                up -= usize::from(was_checked && !was_down);
                match change {
                    Change::Checked(_, begins) => state[place].0 = begins,
                    Change::Down(_, begins) => state[place].1 = begins,
                    Change::Excluded(_) => {}
                }
                let (is_checked, is_down) = state[place];
                checked += usize::from(is_checked);
                up += usize::from(is_checked && !is_down);
            }
        }
    }
    shares
}

/// The same from incidents: major outages count in full, partial ones in part.
pub fn sweep_incidents(
    statuses: &[(Millis, Millis, ComponentStatus)],
    since: Millis,
    excluded: &Spans,
    bounds: &[Millis],
) -> Vec<Shares> {
    let of = |wanted: ComponentStatus| {
        let chosen = statuses.iter().filter(move |(_, _, status)| *status >= wanted);
        Spans::new(chosen.map(|(from, to, _)| (*from, *to)))
    };
    let (Some(_), Some(end)) = (bounds.first(), bounds.last()) else { return Vec::new() };
    let checked = Spans::new([(since, *end)]);
    let swept = |down: Spans| {
        let track = Track { checked: checked.clone(), down };
        sweep(&[track], Needs::All, excluded, bounds)
    };
    let major = swept(of(ComponentStatus::MajorOutage));
    let any = swept(of(ComponentStatus::PartialOutage));
    let both = major.into_iter().zip(any);
    both.map(|(major, any)| {
        let total = any.up + any.down;
        let partial = any.down - major.down;
        let down = major.down + partial * PARTIAL_TENTHS / 10;
        Shares { up: total - down, down }
    })
    .collect()
}

/// The last days of a page until `now`: their dates, and the times between them, one more.
pub fn days_until(now: Millis, count: usize, zone: &Zone) -> (Vec<Date>, Vec<Millis>) {
    let today = zone.local(now).date();
    let mut dates = Vec::with_capacity(count);
    let mut date = today;
    for _ in 0..count {
        dates.push(date);
        let Ok(earlier) = date.yesterday() else { break };
        date = earlier;
    }
    dates.reverse();
    let mut bounds: Vec<Millis> =
        dates.iter().map(|date| zone.instant(date.at(0, 0, 0, 0))).collect();
    bounds.push(Millis(now.0.saturating_add(1)));
    (dates, bounds)
}

/// The bars of a component: its downtime, and its color by the outages that are shown.
pub fn days(
    dates: &[Date],
    bounds: &[Millis],
    all: &[Shares],
    shown: &[Shares],
    maintenance: &Spans,
) -> Days {
    let day = |(place, date): (usize, &Date)| {
        let (all, shown) = (all[place], shown[place]);
        let planned = maintenance.millis(bounds[place], bounds[place + 1]) > 0;
        let total = shown.up + shown.down;
        let color = match shown.down {
            0 if planned => DayColor::Maintenance,
            0 if total == 0 => DayColor::NoData,
            0 => DayColor::Good,
            down if down * 100 < total * OUT_PERCENT => DayColor::Some,
            _ => DayColor::Out,
        };
        let down = u32::try_from(all.down / 1_000).unwrap_or(u32::MAX);
        Day { date: *date, color, down, uptime: all.uptime() }
    };
    dates.iter().enumerate().map(day).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const MINUTE: i64 = 60_000;

    fn spans(minutes: &[(i64, i64)]) -> Spans {
        let at = |minute: i64| Millis(minute * MINUTE);
        Spans::new(minutes.iter().map(|(from, length)| (at(*from), at(from + length))))
    }

    fn is_in(spans: &Spans, minute: i64) -> bool {
        spans.iter().any(|(from, to)| from.0 <= minute * MINUTE && minute * MINUTE < to.0)
    }

    fn any_spans() -> impl Strategy<Value = Spans> {
        vec((0_i64..300, 1_i64..60), 0..6).prop_map(|all| spans(&all))
    }

    proptest! {
        #[test]
        fn the_sweep_equals_a_count_of_every_minute(
            tracks in vec((any_spans(), any_spans()), 1..5),
            needs in prop_oneof![Just(Needs::All), Just(Needs::Any), (1_u32..6).prop_map(Needs::Count)],
            excluded in any_spans(),
        ) {
            let tracks: Vec<Track> =
                tracks.into_iter().map(|(checked, down)| Track { checked, down }).collect();
            let bounds = [Millis(0), Millis(100 * MINUTE), Millis(400 * MINUTE)];
            let mut expected = [Shares::default(); 2];
            for minute in 0..400 {
                let checked = tracks.iter().filter(|track| is_in(&track.checked, minute)).count();
                let is_up = |track: &&Track| {
                    is_in(&track.checked, minute) && !is_in(&track.down, minute)
                };
                let up = tracks.iter().filter(is_up).count();
                if checked == 0 || is_in(&excluded, minute) {
                    continue;
                }
                let shares = &mut expected[usize::from(minute >= 100)];
                if up < needs.of(checked) {
                    shares.down += MINUTE.cast_unsigned();
                } else {
                    shares.up += MINUTE.cast_unsigned();
                }
            }
            prop_assert_eq!(sweep(&tracks, needs, &excluded, &bounds), expected);
        }
    }

    #[test]
    fn partial_outages_of_incidents_count_in_part() {
        let at = |minute: i64| Millis(minute * MINUTE);
        let statuses = [
            (at(0), at(20), ComponentStatus::PartialOutage),
            (at(10), at(15), ComponentStatus::MajorOutage),
            (at(30), at(40), ComponentStatus::DegradedPerformance),
        ];
        let shares = sweep_incidents(&statuses, at(-5), &Spans::default(), &[at(-60), at(95)]);
        let minutes = |count: u64| count * MINUTE.cast_unsigned();
        // 100 minutes: 5 in full, and 15 of which three tenths count.
        let down = minutes(5) + minutes(15) * 3 / 10;
        assert_eq!(shares, [Shares { up: minutes(100) - down, down }]);
    }

    #[test]
    fn days_follow_the_clock_changes_of_their_zone() {
        let zone = Zone::parse("Europe/Berlin").unwrap();
        let now = Millis::parse("2026-03-30T12:00:00Z").unwrap();
        let (dates, bounds) = days_until(now, 3, &zone);
        assert_eq!(
            dates.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["2026-03-28", "2026-03-29", "2026-03-30"]
        );
        let hours: Vec<i64> =
            bounds.windows(2).map(|pair| (pair[1].0 - pair[0].0) / 3_600_000).collect();
        assert_eq!(hours, [24, 23, 14]);
    }

    #[test]
    fn the_color_of_a_day_follows_its_downtime() {
        let (dates, bounds) = days_until(Millis(5 * 86_400_000 - 1), 5, &Zone::utc());
        let of = |up: u64, down: u64| Shares { up: up * 1_000, down: down * 1_000 };
        let all = [of(0, 0), of(0, 0), of(100, 0), of(96, 4), of(95, 5)];
        let maintenance = Spans::new([(Millis(86_400_000 + 5), Millis(86_400_000 + 9))]);
        let days = days(&dates, &bounds, &all, &all, &maintenance).to_vec();
        let colors: Vec<DayColor> = days.iter().map(|day| day.color).collect();
        use DayColor::{Good, Maintenance, NoData, Out, Some};
        assert_eq!(colors, [NoData, Maintenance, Good, Some, Out]);
        assert_eq!(days[4].down, 5);
        assert_eq!(days[0].uptime, None);
    }
}
