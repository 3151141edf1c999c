//! `wakeful doctor`: looks at the database, the past it keeps, the clock, the
//! right to ping and what a check costs, and says of each whether it is well.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use wakeful_core::monitor::Spec;
use wakeful_core::monitor::spec::{Hostname, PingSpec, TcpSpec};
use wakeful_core::time::{Clock as _, Millis};
use wakeful_outbound::check;
use wakeful_outbound::net::guard::Policy;
use wakeful_outbound::net::{Deadline, Net};
use wakeful_store::{Holdings, Store, Table};

use crate::clock::SystemClock;
use crate::commands::print;
use crate::settings::Settings;
use crate::wiring::{self, Failure, Outcome};

const WITHIN: Duration = Duration::from_secs(5);
/// Between this machine and its database, or into the future of a heartbeat.
const CLOCK_MAY_DIFFER: Duration = Duration::from_secs(2);
/// A fold that has not come for so long does not come.
const FOLDED_WITHIN: Duration = Duration::from_secs(24 * 3600);
/// The tables that hold the past.
const PAST: [&str; 4] = ["heartbeats", "blocks", "rollups", "folds"];

/// What was found, line by line.
#[derive(Default)]
struct Findings {
    text: String,
    troubles: usize,
}

impl Findings {
    fn well(&mut self, what: &str, found: impl AsRef<str>) {
        self.text.push_str(&format!("  ok    {what:<12} {}\n", found.as_ref()));
    }

    fn trouble(&mut self, what: &str, found: impl AsRef<str>) {
        self.troubles += 1;
        self.text.push_str(&format!("  WRONG {what:<12} {}\n", found.as_ref()));
    }

    fn tell(&mut self, well: bool, what: &str, found: impl AsRef<str>) {
        match well {
            true => self.well(what, found),
            false => self.trouble(what, found),
        }
    }
}

pub async fn run(settings: &Settings) -> Outcome {
    let store = wiring::store(settings, wiring::keyring(settings)?).await?;
    let mut findings = Findings::default();
    let looked = look(settings, &store, &mut findings).await;
    store.close().await;
    looked?;
    let Findings { text, troubles } = findings;
    print(&format!("Wakeful {} with {}\n\n{text}", env!("CARGO_PKG_VERSION"), store.engine()))?;
    match troubles {
        0 => print("\nAll is well.\n"),
        1 => Err("one thing is wrong; see above".into()),
        many => Err(format!("{many} things are wrong; see above").into()),
    }
}

async fn look(settings: &Settings, store: &Store, findings: &mut Findings) -> Result<(), Failure> {
    files(settings, findings);
    integrity(store, findings).await?;
    past(settings, store, findings).await?;
    clock(store, findings).await?;
    checks(findings).await?;
    Ok(())
}

fn files(settings: &Settings, findings: &mut Findings) {
    let key = wiring::key_file(settings);
    for path in [settings.data.as_path(), key.as_path()] {
        let Some(mode) = mode(path) else { continue };
        let private = mode & 0o077 == 0;
        let found = format!("{} has mode {mode:03o}", path.display());
        let advice = if private { "" } else { ": others can read it; chmod go-rwx" };
        findings.tell(private, "files", format!("{found}{advice}"));
    }
}

fn mode(path: &Path) -> Option<u32> {
    Some(std::fs::metadata(path).ok()?.permissions().mode() & 0o777)
}

async fn integrity(store: &Store, findings: &mut Findings) -> Result<(), Failure> {
    let told = store.integrity().await?;
    match told.is_empty() {
        true => findings.well("database", "is sound"),
        false => findings.trouble("database", told.join("; ")),
    }
    let harm = store.harm().await?;
    for part in &harm {
        let found = format!("{} of monitor {} from {}", part.what, part.monitor, part.at);
        findings.trouble("damaged", found);
    }
    if harm.is_empty() {
        findings.well("history", "every block and roll-up is whole");
    }
    Ok(())
}

async fn past(settings: &Settings, store: &Store, findings: &mut Findings) -> Result<(), Failure> {
    let tables = store.tables().await?;
    for Table { name, bytes } in tables.iter().filter(|table| table.bytes >= 65_536).take(12) {
        findings.well("table", format!("{name:<18} {}", size(*bytes)));
    }
    let empty = store.empty_pages().await?;
    if empty > 0 {
        findings.well("free", format!("{empty} pages of the file are empty and will be reused"));
    }
    let held = store.holdings().await?;
    let bytes: i64 =
        tables.iter().filter(|table| PAST.contains(&&*table.name)).map(|table| table.bytes).sum();
    let count = held.fresh + held.packed;
    if count > 0 {
        let each = (bytes as f64) / (count as f64);
        let Holdings { fresh, packed, blocks, .. } = held;
        findings.well(
            "heartbeats",
            format!("{count} ({fresh} fresh, {packed} in {blocks} blocks), {each:.2} bytes each with all that is kept of them"),
        );
    }
    retention(settings, &held, findings);
    Ok(())
}

fn retention(settings: &Settings, held: &Holdings, findings: &mut Findings) {
    let now = SystemClock.now();
    let late = held.oldest_fresh.is_some_and(|at| now.since(at) > FOLDED_WITHIN);
    findings.tell(
        !late,
        "folding",
        match held.oldest_fresh {
            None => "nothing waits".to_owned(),
            Some(at) if late => {
                format!(
                    "the oldest fresh heartbeat is of {at}: start the service, it folds by itself"
                )
            }
            Some(at) => format!("the oldest fresh heartbeat is of {at}"),
        },
    );
    let chosen = &settings.history;
    for (what, days, oldest) in [
        ("heartbeats", chosen.raw_days, held.oldest_packed),
        ("phases", chosen.phase_days, held.oldest_phases),
        ("hours", chosen.hour_days, held.oldest_hour),
        ("days", chosen.day_days, held.oldest_day),
    ] {
        let oldest = oldest.map_or_else(|| "none yet".to_owned(), |at| format!("from {at}"));
        findings.well("kept", format!("{what} for {days} days; {oldest}"));
    }
}

async fn clock(store: &Store, findings: &mut Findings) -> Result<(), Failure> {
    let now = SystemClock.now();
    if let Some(theirs) = store.database_time().await? {
        let apart = Duration::from_millis(now.0.abs_diff(theirs.0));
        let found = format!("{} ms apart from the database's", apart.as_millis());
        findings.tell(apart <= CLOCK_MAY_DIFFER, "clock", found);
    }
    let newest = store.holdings().await?.newest_fresh.unwrap_or(Millis(0));
    let ahead = newest.since(now);
    findings.tell(
        ahead <= CLOCK_MAY_DIFFER,
        "clock",
        match ahead <= CLOCK_MAY_DIFFER {
            true => format!("{now}; no heartbeat lies ahead of it"),
            false => format!("{now}, but there is a heartbeat of {newest}: the clock was set back"),
        },
    );
    Ok(())
}

/// What may be checked from here, and what a check costs before any network.
async fn checks(findings: &mut Findings) -> Result<(), Failure> {
    let net = Net::new(Policy::Private, Vec::new(), std::sync::Arc::new(SystemClock));
    let loopback = Hostname::parse("127.0.0.1").map_err(|why| why.to_string())?;
    let ping = Spec::Ping(PingSpec::of(loopback.clone()));
    match check::look(&net, &ping, Deadline::within(WITHIN)).await {
        Ok(seen) if seen.up => findings.well("ping", "is allowed"),
        Ok(seen) => findings.trouble("ping", seen.message),
        Err(fault) => findings.trouble("ping", fault.message),
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    let tcp = Spec::Tcp(TcpSpec { hostname: loopback, port });
    let began = Instant::now();
    match check::look(&net, &tcp, Deadline::within(WITHIN)).await {
        Ok(seen) if seen.up => {
            let took = began.elapsed().as_secs_f64() * 1e3;
            findings.well("check", format!("of a port on this machine takes {took:.2} ms"));
        }
        Ok(seen) => findings.trouble("check", seen.message),
        Err(fault) => findings.trouble("check", fault.message),
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
