//! How long a heartbeat is valid if no other follows: for some intervals, or, if a job reports by a
//! schedule, until its next report is overdue.

use std::time::Duration;

use super::VALID_INTERVALS;
use crate::monitors::spec::ApiSpec;
use crate::monitors::{Interval, Spec, grace};
use crate::push::JobSchedule;
use crate::time::Millis;

/// What the validity of a monitor's heartbeats depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validity {
    /// For a job with a schedule, the longest time between its reports.
    interval: Interval,
    job: Option<Job>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Job {
    schedule: Box<JobSchedule>,
    grace: Duration,
}

impl Validity {
    pub fn of(spec: &Spec, interval: Interval) -> Self {
        let job = match spec {
            Spec::Api(ApiSpec { schedule: Some(schedule), .. }) => {
                Some(Job { schedule: schedule.clone(), grace: grace(spec, interval) })
            }
            _ => None,
        };
        Self { interval, job }
    }

    /// That of a monitor without a schedule.
    pub fn of_interval(interval: Interval) -> Self {
        Self { interval, job: None }
    }

    /// The monitor's interval in seconds.
    pub fn interval(&self) -> u32 {
        self.interval.seconds()
    }

    /// The interval to store with a heartbeat, in seconds.
    pub fn interval_at(&self, at: Millis) -> u32 {
        let overdue = || {
            let Job { schedule, grace } = self.job.as_ref()?;
            let span = schedule.expected(at)?.after(*grace).since(at);
            u32::try_from(span.div_f64(VALID_INTERVALS.into()).as_secs_f64().ceil() as u64).ok()
        };
        overdue().map_or(self.interval.seconds(), |seconds| seconds.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::zone::Zone;

    const MINUTE: i64 = 60_000;

    #[test]
    fn a_heartbeat_is_valid_for_two_intervals_or_until_the_next_scheduled_report_is_overdue() {
        let interval = Interval::of_api(60).expect("an interval");
        let plain = Validity::of(&Spec::Api(ApiSpec::default()), interval);
        assert_eq!(plain, Validity::of_interval(interval));
        assert_eq!(plain.interval_at(Millis(0)), 60);
        // Every minute of an hour of the day: its longest gap is not among the next ones.
        let schedule = JobSchedule::parse("* 9 * * *", Zone::utc()).expect("a schedule");
        let grace = Some(Duration::from_secs(600));
        let api = ApiSpec { schedule: Some(Box::new(schedule)), ..ApiSpec::with_grace(grace) };
        let daily = Validity::of(&Spec::Api(api), interval);
        assert_eq!(daily.interval(), 60);
        // 09:30: the next report is expected in a minute.
        assert_eq!(daily.interval_at(Millis(570 * MINUTE)), 330);
        // 09:59: the next report is expected on the next day, 23 h 01 min later, and 10 minutes late.
        let hours = 23 * 3_600 + 60 + 600;
        assert_eq!(daily.interval_at(Millis(599 * MINUTE)), hours / 2);
    }
}
