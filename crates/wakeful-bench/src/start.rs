//! The start with ten thousand monitors that were never checked: it listens
//! soon, checks all of them within their interval, and causes no burst.

use std::collections::HashSet;
use std::time::Duration;
use tokio::time::sleep;

use crate::report::Report;
use crate::seed::MonitorSet;
use crate::service::Service;
use crate::target::Target;
use crate::{Outcome, Run};

const COUNT: u32 = 10_000;
const INTERVAL: u64 = 20;
const LOADING: u64 = 1;

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!("start: {COUNT} monitors");
    let monitors_to_seed =
        MonitorSet { known: false, ..MonitorSet::paced(COUNT, INTERVAL, target.http) };
    target.state.start_recording();
    let service = Service::start(run, target, &monitors_to_seed).await?;
    report.at_most("start, 10000 monitors: listening, s", service.listening.as_secs_f64(), 0.2);
    // The last monitor is loaded a little later than the first.
    sleep(Duration::from_secs(INTERVAL + LOADING)).await;
    let arrivals = target.state.take_arrivals();
    let first = arrivals.iter().map(|arrival| arrival.at).min().unwrap_or_default();
    let soon: Vec<_> =
        arrivals.iter().filter(|arrival| arrival.at - first <= INTERVAL * 1_000_000_000).collect();
    let checked: HashSet<u32> = soon.iter().map(|arrival| arrival.number).collect();
    let missing = COUNT as usize - checked.len();
    let name = "start, 10000 monitors: not checked within the first interval";
    report.expect_none_of(name, missing, COUNT as usize);
    let mut seconds = vec![0_u32; (INTERVAL + LOADING) as usize];
    for arrival in soon {
        seconds[((arrival.at - first) / 1_000_000_000) as usize] += 1;
    }
    let busiest = f64::from(seconds.iter().copied().max().unwrap_or_default());
    let even = f64::from(COUNT) / INTERVAL as f64;
    report.ratio("start, 10000 monitors: checks in the busiest second", busiest, "even", even, 2.0);
    service.stop().await
}
