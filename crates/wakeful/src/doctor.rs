//! `wakeful doctor`: examines the files, the database, the history, the alerts, the clock, the
//! permission to ping and the duration of a check, and reports problems.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use wakeful_core::calendar::zone;
use wakeful_core::id::TeamId;
use wakeful_core::monitors::Spec;
use wakeful_core::monitors::spec::{Hostname, PingSpec, TcpSpec};
use wakeful_core::time::{Clock as _, Millis};
use wakeful_outbound::checks::{self, CheckRequest};
use wakeful_outbound::net::guard::Policy;
use wakeful_outbound::net::{Deadline, Net};
use wakeful_store::{HistoryInventory, Store, Table};

use crate::bootstrap::{self, Failure, Outcome};
use crate::clock::SystemClock;
use crate::commands::print;
use crate::settings::Settings;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The tolerated difference between this machine's clock and that of the database or of
/// the newest heartbeat.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(2);
/// Compaction that is overdue for longer than this is a problem.
const MAX_COMPACTION_AGE: Duration = Duration::from_secs(24 * 3600);
/// An alert is decided about within a second.
const MAX_ALERT_LAG: Duration = Duration::from_secs(60);
/// How many of the overdue alerts are listed.
const LISTED_ALERTS: u32 = 10;
/// The tables of the history.
const HISTORY_TABLES: [&str; 4] = ["heartbeats", "blocks", "rollups", "folds"];

/// The results, one per line.
#[derive(Default)]
struct Findings {
    text: String,
    problems: usize,
}

impl Findings {
    fn ok(&mut self, what: &str, found: impl AsRef<str>) {
        self.text.push_str(&format!("  ok    {what:<12} {}\n", found.as_ref()));
    }

    fn problem(&mut self, what: &str, found: impl AsRef<str>) {
        self.problems += 1;
        self.text.push_str(&format!("  FAIL  {what:<12} {}\n", found.as_ref()));
    }

    fn line(&mut self, ok: bool, what: &str, found: impl AsRef<str>) {
        if ok { self.ok(what, found) } else { self.problem(what, found) }
    }
}

pub async fn run(settings: &Settings) -> Outcome {
    let store = bootstrap::store(settings, bootstrap::keyring(settings)?).await?;
    let mut findings = Findings::default();
    let inspected = inspect(settings, &store, &mut findings).await;
    store.close().await;
    inspected?;
    let Findings { text, problems } = findings;
    print(&format!(
        "Wakeful {} with {}\n\n{text}",
        env!("CARGO_PKG_VERSION"),
        store.database_name()
    ))?;
    match problems {
        0 => print("\nNo problems found.\n"),
        1 => Err("1 problem found; see above".into()),
        many => Err(format!("{many} problems found; see above").into()),
    }
}

async fn inspect(
    settings: &Settings,
    store: &Store,
    findings: &mut Findings,
) -> Result<(), Failure> {
    files(settings, findings);
    integrity(store, findings).await?;
    history(settings, store, findings).await?;
    alerts(store, findings).await?;
    clock(store, findings).await?;
    time_zones(store, findings).await?;
    checks(findings).await?;
    Ok(())
}

fn files(settings: &Settings, findings: &mut Findings) {
    let key = bootstrap::key_file(settings);
    for path in [settings.data.as_path(), key.as_path()] {
        let Some(mode) = mode(path) else { continue };
        let private = mode & 0o077 == 0;
        let found = format!("{} has mode {mode:03o}", path.display());
        let advice = if private { "" } else { ": others can read it; chmod go-rwx" };
        findings.line(private, "files", format!("{found}{advice}"));
    }
}

fn mode(path: &Path) -> Option<u32> {
    Some(std::fs::metadata(path).ok()?.permissions().mode() & 0o777)
}

async fn integrity(store: &Store, findings: &mut Findings) -> Result<(), Failure> {
    let errors = store.integrity().await?;
    if errors.is_empty() {
        findings.ok("database", "intact");
    } else {
        findings.problem("database", errors.join("; "));
    }
    let damage = store.find_damage().await?;
    for part in &damage {
        let found = format!("{} of monitor {} from {}", part.what, part.monitor, part.at);
        findings.problem("damaged", found);
    }
    if damage.is_empty() {
        findings.ok("history", "every block and roll-up is intact");
    }
    Ok(())
}

async fn history(
    settings: &Settings,
    store: &Store,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let tables = store.tables().await?;
    for Table { name, bytes } in tables.iter().filter(|table| table.bytes >= 65_536).take(12) {
        findings.ok("table", format!("{name:<18} {}", size(*bytes)));
    }
    let empty = store.empty_pages().await?;
    if empty > 0 {
        findings.ok("free", format!("{empty} empty pages in the file will be reused"));
    }
    let held = store.history_inventory().await?;
    let bytes: i64 = tables
        .iter()
        .filter(|table| HISTORY_TABLES.contains(&&*table.name))
        .map(|table| table.bytes)
        .sum();
    let count = held.recent + held.compacted;
    if count > 0 {
        let each = (bytes as f64) / (count as f64);
        let HistoryInventory { recent, compacted, blocks, .. } = held;
        findings.ok(
            "heartbeats",
            format!("{count} ({recent} recent, {compacted} in {blocks} blocks), {each:.2} bytes each including roll-ups"),
        );
    }
    retention(settings, &held, findings);
    Ok(())
}

fn retention(settings: &Settings, held: &HistoryInventory, findings: &mut Findings) {
    let now = SystemClock.now();
    let late = held.oldest_recent.is_some_and(|at| now.since(at) > MAX_COMPACTION_AGE);
    findings.line(
        !late,
        "compaction",
        match held.oldest_recent {
            None => "up to date".to_owned(),
            Some(at) if late => {
                format!(
                    "the oldest uncompacted heartbeat is from {at}: start the service to compact it"
                )
            }
            Some(at) => format!("the oldest uncompacted heartbeat is from {at}"),
        },
    );
    let chosen = &settings.history;
    for (what, days, oldest) in [
        ("heartbeats", chosen.raw_days, held.oldest_compacted),
        ("phases", chosen.phase_days, held.oldest_phases),
        ("hours", chosen.hour_days, held.oldest_hour),
        ("days", chosen.day_days, held.oldest_day),
    ] {
        let oldest = oldest.map_or_else(|| "none yet".to_owned(), |at| format!("since {at}"));
        findings.ok("retention", format!("{what} for {days} days; {oldest}"));
    }
}

/// Alerts that the alert processor should have decided about: somebody waits for a notification.
async fn alerts(store: &Store, findings: &mut Findings) -> Result<(), Failure> {
    let before = SystemClock.now().before(MAX_ALERT_LAG);
    let (count, overdue) = store.overdue_alerts(before, LISTED_ALERTS).await?;
    if count == 0 {
        findings.ok("alerts", "none is overdue");
        return Ok(());
    }
    let listed: Vec<String> = overdue.iter().map(|(id, due)| format!("{id} since {due}")).collect();
    findings.problem(
        "alerts",
        format!(
            "{count} due for more than a minute, whose notifications are late; is the service running? {}",
            listed.join(", ")
        ),
    );
    Ok(())
}

async fn clock(store: &Store, findings: &mut Findings) -> Result<(), Failure> {
    let now = SystemClock.now();
    if let Some(theirs) = store.database_time().await? {
        let skew = Duration::from_millis(now.0.abs_diff(theirs.0));
        let found = format!("differs from the database's by {} ms", skew.as_millis());
        findings.line(skew <= MAX_CLOCK_SKEW, "clock", found);
    }
    let newest = store.history_inventory().await?.newest_recent.unwrap_or(Millis(0));
    let ahead = newest.since(now);
    findings.line(
        ahead <= MAX_CLOCK_SKEW,
        "clock",
        if ahead <= MAX_CLOCK_SKEW {
            format!("{now}; no heartbeat is in the future")
        } else {
            format!("{now}, but the newest heartbeat is dated {newest}: the clock was set back")
        },
    );
    Ok(())
}

/// The version of the time zone database, and windows whose zone it does not have.
async fn time_zones(store: &Store, findings: &mut Findings) -> Result<(), Failure> {
    let version = zone::database_version();
    match store.windows_without_zone().await? {
        windows if windows.is_empty() => findings.ok("time zones", format!("database {version}")),
        windows => findings.problem(
            "time zones",
            format!(
                "database {version} does not have the zones of these maintenance windows, which \
                 use UTC: {}",
                windows.join(", ")
            ),
        ),
    }
    Ok(())
}

/// Whether ping is permitted, and how long a local check takes.
async fn checks(findings: &mut Findings) -> Result<(), Failure> {
    let net = Net::new(Policy::Private, Vec::new(), std::sync::Arc::new(SystemClock));
    let loopback = Hostname::parse("127.0.0.1").map_err(|why| why.to_string())?;
    let ping = Spec::Ping(PingSpec::of(loopback.clone()));
    fn request(spec: &Spec) -> CheckRequest<'_> {
        CheckRequest::new(TeamId::new(Millis(0), [0; 10]), spec)
    }
    match checks::check(&net, &request(&ping), Deadline::within(CONNECT_TIMEOUT)).await {
        Ok(observation) if observation.up => findings.ok("ping", "permitted"),
        Ok(observation) => findings.problem("ping", observation.message),
        Err(fault) => findings.problem("ping", fault.message),
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    let tcp = Spec::Tcp(TcpSpec::of(loopback, port));
    let began = Instant::now();
    match checks::check(&net, &request(&tcp), Deadline::within(CONNECT_TIMEOUT)).await {
        Ok(observation) if observation.up => {
            let took = began.elapsed().as_secs_f64() * 1e3;
            findings.ok("check", format!("a check of a local port takes {took:.2} ms"));
        }
        Ok(observation) => findings.problem("check", observation.message),
        Err(fault) => findings.problem("check", fault.message),
    }
    Ok(())
}

/// `1.5 MiB`, `12.0 KiB`.
fn size(bytes: i64) -> String {
    let bytes = bytes as f64;
    match bytes {
        _ if bytes >= 1024.0 * 1024.0 * 1024.0 => format!("{:.1} GiB", bytes / 1024.0_f64.powi(3)),
        _ if bytes >= 1024.0 * 1024.0 => format!("{:.1} MiB", bytes / 1024.0_f64.powi(2)),
        _ => format!("{:.1} KiB", bytes / 1024.0),
    }
}
