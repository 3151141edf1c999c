//! Status pages under many visitors, beside an embedded file of about the same size: views on
//! kept and on new connections, 304, how punctual checks are meanwhile, sizes, how soon a change
//! is visible, the first view after a start, the memory of many pages, and the API while visitors
//! take all connections they can get. `statuspage_faults.rs` has the mailing and the outage of
//! the database.

use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

use crate::jitter::Schedule;
use crate::paced::INTERVAL;
use crate::report::Report;
use crate::seed::MonitorSet;
use crate::service::Service;
use crate::stats::percentile;
use crate::target::Target;
use crate::visitors::{Visit, Visits};
use crate::{Outcome, Run, clock, history, site, statuspage_faults};

const COMPONENTS: u32 = 100;
const PAGES: usize = 1_000;
const COMPONENTS_OF_EACH: u32 = 20;
/// The days of the bars.
const DAYS: u32 = 90;
/// How often a monitor goes down and up to measure when that is visible.
const CHANGES: usize = 6;
const VISITORS: usize = 64;
/// More than the service has connections for.
const CROWD: usize = 4_096;
const WINDOW: Duration = Duration::from_secs(5);
/// Each figure is the median of so many runs.
const RUNS: usize = 3;
const SERVED_TIMEOUT: Duration = Duration::from_secs(600);
const CHANGE_TIMEOUT: Duration = Duration::from_secs(60);
const MIB: f64 = 1_048_576.0;

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!("status pages: {COMPONENTS} components, {VISITORS} visitors");
    let monitors = MonitorSet::paced(COMPONENTS, INTERVAL, target.http);
    let service = history::launch_with_days(run, target, &monitors, DAYS).await?;
    service.post("statuspage/save", &page("bench", 0, COMPONENTS)).await?;
    served(&service, "bench").await?;
    sizes(&service, report).await?;
    views(&service, target, &monitors, report).await?;
    changes(&service, report).await?;
    crowd(&service, report).await?;
    let (data, token) = service.leave().await?;
    let service = Service::launch(run, target, data, token).await?;
    let began = Instant::now();
    served(&service, "bench").await?;
    let millis = began.elapsed().as_secs_f64() * 1_000.0;
    report.at_most(&name("first view after a start, ms"), millis, 300.0);
    memory(&service, report).await?;
    service.stop().await?;
    statuspage_faults::mailing(run, target, report).await?;
    statuspage_faults::outage(run, target, report).await
}

fn name(what: &str) -> String {
    format!("status page, {COMPONENTS} components: {what}")
}

/// A page with so many components, each with a monitor.
fn page(slug: &str, first: u32, count: u32) -> Value {
    let component = |number: u32| {
        let monitor = site::id((first + number) % COMPONENTS).to_string();
        json!({"name": format!("Component {number}"), "monitors": [monitor]})
    };
    let section = |ten: u32| {
        let components: Vec<Value> =
            (ten * 10..(ten * 10 + 10).min(count)).map(component).collect();
        json!({"name": format!("Section {ten}"), "components": components})
    };
    let sections: Vec<Value> = (0..count.div_ceil(10)).map(section).collect();
    json!({"name": slug, "slug": slug, "published": true, "sections": sections})
}

pub fn visit(service: &Service, path: &str) -> Outcome<Visit> {
    let (address, path) = (service.address()?, path.to_owned());
    Ok(Visit { address, path, etag: None, reconnect: false, every: Duration::ZERO })
}

/// Waits until a page is served.
pub async fn served(service: &Service, slug: &str) -> Outcome<()> {
    let visit = visit(service, &format!("/status/{slug}"))?;
    let until_served = async {
        while visit.once().await.map_or(true, |answer| answer.status != 200) {
            sleep(Duration::from_millis(2)).await;
        }
    };
    Ok(timeout(SERVED_TIMEOUT, until_served).await?)
}

/// The files that a document links to, with their sizes.
async fn linked(service: &Service, path: &str, prefix: &str) -> Outcome<Vec<(String, usize)>> {
    let html = String::from_utf8(service.get(path).await?)?;
    let mut found = Vec::new();
    for link in html.split('"').filter(|link| link.starts_with(prefix)) {
        found.push((link.to_owned(), visit(service, link)?.once().await?.bytes));
    }
    Ok(found)
}

async fn sizes(service: &Service, report: &mut Report) -> Outcome<()> {
    let html = visit(service, "/status/bench")?.once().await?.bytes;
    let files = linked(service, "/status/bench", "/status/assets/").await?;
    let all: usize = html + files.iter().map(|(_, bytes)| bytes).sum::<usize>();
    report.at_most(&name("HTML, gzip, kB"), html as f64 / 1e3, 16.0);
    for (what, end, bar) in [("style sheet", ".css", 6.0), ("script", ".js", 4.0)] {
        let of_kind = files.iter().filter(|(path, _)| path.ends_with(end));
        let bytes: usize = of_kind.map(|(_, bytes)| bytes).sum();
        report.at_most(&name(&format!("{what}, gzip, kB")), bytes as f64 / 1e3, bar);
    }
    report.at_most(&name("with style sheet and script, gzip, kB"), all as f64 / 1e3, 30.0);
    Ok(())
}

/// The embedded file whose size is nearest to that of the page.
async fn embedded(service: &Service) -> Outcome<Visit> {
    let wanted = visit(service, "/status/bench")?.once().await?.bytes;
    let files = linked(service, "/", "/assets/").await?;
    let nearest = files.into_iter().min_by_key(|(_, bytes)| bytes.abs_diff(wanted));
    let (path, bytes) = nearest.ok_or("the web app was not built")?;
    println!("  the page has {wanted} bytes, {path} has {bytes}");
    visit(service, &path)
}

async fn views(
    service: &Service,
    target: &Target,
    monitors: &MonitorSet,
    report: &mut Report,
) -> Outcome<()> {
    let (skew, from) = (clock::wall() - clock::mono(), clock::mono());
    target.state.start_recording();
    let page = visit(service, "/status/bench")?;
    let file = embedded(service).await?;
    let with_etag = async |visit: &Visit| -> Outcome<Visit> {
        let etag = Some(visit.once().await?.etag);
        Ok(Visit { etag, ..visit.clone() })
    };
    let reconnecting = |visit: &Visit| Visit { reconnect: true, ..visit.clone() };
    let known = (with_etag(&page).await?, with_etag(&file).await?);
    let new = (reconnecting(&page), reconnecting(&file));
    for (what, (page, file), least) in [
        ("views per second", (page, file), Some(5_000.0)),
        ("views per second, each on a new connection", new, Some(3_000.0)),
        ("304 responses per second", known, None),
    ] {
        let (ours, theirs) = alternating(&page, &file).await;
        report.at_least_share(
            &name(what),
            ours.per_second,
            "embedded file",
            theirs.per_second,
            0.8,
        );
        if let Some(least) = least {
            report.at_least(&name(&format!("{what}, in any case")), ours.per_second, least);
        }
        report.expect_none(&name(&format!("{what}: failed")), ours.failed + theirs.failed);
    }
    let (monitors, interval) = (monitors.count, monitors.every()?);
    let schedule = Schedule { monitors, interval, skew, from, to: clock::mono() };
    let seen = schedule.judge(&target.state.take_arrivals());
    report.at_most(&name("deviation of checks during views, p99, ms"), seen.deviation.p99, 50.0);
    report.expect_none_of(&name("checks missed during views"), seen.missed, seen.due);
    report.expect_none(
        &name("false results during views"),
        usize::try_from(service.stored().await?.1)?,
    );
    Ok(())
}

/// How long it takes until a page shows that a monitor is down, or up again.
async fn changes(service: &Service, report: &mut Report) -> Outcome<()> {
    let monitor = json!({"type": "api", "name": "job", "heartbeat_interval": 3600, "isactive": true,
        "upside_down_mode": false});
    let saved = service.post("monitor/save", &monitor).await?;
    let monitor = saved["monitor"]["monitorid"].as_str().ok_or("no monitor")?.to_owned();
    let path = format!("monitor/notify/{monitor}");
    service.post(&path, &json!({"status": "up"})).await?;
    let page = json!({"name": "live", "slug": "live", "published": true,
        "sections": [{"components": [{"name": "Job", "monitors": [monitor]}]}]});
    service.post("statuspage/save", &page).await?;
    served(service, "live").await?;
    let mut slowest = Duration::ZERO;
    for change in 0..CHANGES {
        let (status, indicator) =
            if change % 2 == 0 { ("down", "critical") } else { ("up", "none") };
        let began = Instant::now();
        service.post(&path, &json!({"status": status})).await?;
        let shown = async {
            while service.get_json("/status/live/live.json").await?["indicator"] != indicator {
                sleep(Duration::from_millis(20)).await;
            }
            Outcome::Ok(())
        };
        timeout(CHANGE_TIMEOUT, shown).await??;
        slowest = slowest.max(began.elapsed());
    }
    let name = "status page: a change is visible, slowest, s";
    report.at_most(name, slowest.as_secs_f64(), 2.0);
    Ok(())
}

/// The medians of both, measured in turns so that they meet the same conditions.
async fn alternating(page: &Visit, file: &Visit) -> (Visits, Visits) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        theirs.push(file.repeat(VISITORS, WINDOW).await);
        ours.push(page.repeat(VISITORS, WINDOW).await);
    }
    (median(&ours), median(&theirs))
}

fn median(runs: &[Visits]) -> Visits {
    let rates: Vec<f64> = runs.iter().map(|visits| visits.per_second).collect();
    let failed = runs.iter().map(|visits| visits.failed).sum();
    Visits { per_second: percentile(&rates, 0.5), failed }
}

/// The API while visitors occupy every connection.
async fn crowd(service: &Service, report: &mut Report) -> Outcome<()> {
    let page = visit(service, "/status/bench")?;
    let calls = async {
        // The visitors need a moment to connect.
        sleep(Duration::from_secs(2)).await;
        let mut slowest = Duration::ZERO;
        for _ in 0..20 {
            let began = Instant::now();
            let monitors = Visit { path: "/healthz".to_owned(), reconnect: true, ..page.clone() };
            monitors.once().await?;
            service.get("/api/v1/monitors?limit=1").await?;
            slowest = slowest.max(began.elapsed());
            sleep(Duration::from_millis(100)).await;
        }
        Outcome::Ok(slowest)
    };
    let (visits, slowest) = tokio::join!(page.repeat(CROWD, WINDOW + WINDOW), calls);
    let slowest = slowest?.as_secs_f64();
    report.at_most(&name(&format!("API call beside {CROWD} visitors, slowest, s")), slowest, 1.0);
    let views = format!("{:.0} per second, {} failed", visits.per_second, visits.failed);
    report.measured(&name(&format!("views of {CROWD} visitors")), views);
    Ok(())
}

/// The memory that many pages take once all of them were viewed.
async fn memory(service: &Service, report: &mut Report) -> Outcome<()> {
    // What a start takes, such as compacting the last day, is not the pages' memory.
    history::wait_until_idle(service).await?;
    let before = service.resident()?;
    // Two pages are there already, and a team has at most as many as this.
    for number in 2..PAGES {
        let first = u32::try_from(number)? * COMPONENTS_OF_EACH;
        let page = page(&format!("page-{number}"), first, COMPONENTS_OF_EACH);
        service.post("statuspage/save", &page).await?;
    }
    for number in 2..PAGES {
        served(service, &format!("page-{number}")).await?;
    }
    let grown = service.resident()?.saturating_sub(before) as f64 / MIB;
    let what = format!("memory of {PAGES} pages of {COMPONENTS_OF_EACH} components, MiB");
    report.at_most(&format!("status pages: {what}"), grown, 64.0);
    Ok(())
}
