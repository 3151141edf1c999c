//! A million monitors in one process: how soon it is ready, how much memory it
//! takes, and how fast the list stays.

use std::time::Duration;
use tokio::time::{Instant, sleep};

use crate::reader::times;
use crate::report::Report;
use crate::seed::MonitorSet;
use crate::service::Service;
use crate::stats::{Spread, percentile};
use crate::target::Target;
use crate::{Outcome, Run};

const COUNT: u32 = 1_000_000;
/// An hour: 278 checks per second run in the meantime.
const INTERVAL: u64 = 3_600;
const PAGES: usize = 500;

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!("a million monitors");
    let began = Instant::now();
    let monitors_to_seed = MonitorSet::paced(COUNT, INTERVAL, target.http);
    let service = Service::start(run, target, &monitors_to_seed).await?;
    println!("  created and loaded in {:.0} s", began.elapsed().as_secs_f64());
    report.at_most("start, 1000000 monitors: ready, s", service.watching.as_secs_f64(), 15.0);
    sleep(Duration::from_secs(5)).await;
    let each = |bytes: u64| bytes as f64 / f64::from(COUNT);
    report.at_most("memory, 1000000 monitors: bytes each", each(service.resident()?), 1_024.0);
    let pages = times(&service, &pages(&service).await?).await?;
    let Spread { p50, p99, .. } = Spread::of(&pages);
    println!("  pages: p50 {p50:.1} ms, slowest {:.1} ms", percentile(&pages, 1.0));
    report.at_most("API, 1000000 monitors: limit=100 p99, ms", p99, 20.0);
    println!("  memory: {:.0} bytes each at its peak", each(service.peak()?));
    service.stop().await
}

/// The first page repeatedly, and pages from all over the list.
async fn pages(service: &Service) -> Outcome<Vec<String>> {
    let first = "/api/v1/monitors?limit=100";
    let mut paths = vec![first.to_owned()];
    for place in 0..PAGES {
        let number = (place as u32).wrapping_mul(2_654_435_761) % COUNT;
        paths.push(match place % 2 {
            0 => first.to_owned(),
            _ => format!("{first}&cursor={}", crate::site::id(number)),
        });
    }
    let page = service.get_json(first).await?;
    let shown = page["monitors"].as_array().map(Vec::len);
    match shown {
        Some(100) => Ok(paths),
        _ => Err(format!("a page of 100 has {shown:?}").into()),
    }
}
