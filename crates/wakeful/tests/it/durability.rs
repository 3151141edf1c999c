//! Data of a successful call survives a crash of the process, and is on disk before the
//! response is sent.

use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::timeout;
use wakeful_testkit::{DatabaseKind, User, until};

use crate::process::{Installation, MAX_WAIT, Server, random_below, signal};

/// `WAKEFUL_KILLS` sets more, for example before a release.
const ROUNDS: usize = 20;
const WRITERS: usize = 8;
/// The maximum of the median start time; single starts may be slow on a busy machine.
const MAX_START_TIME: Duration = Duration::from_secs(3);

/// The writes that the server has acknowledged.
#[derive(Default)]
struct Acknowledged {
    emails: BTreeSet<String>,
    monitors: BTreeSet<String>,
}

impl Acknowledged {
    fn add(&mut self, other: Self) {
        self.emails.extend(other.emails);
        self.monitors.extend(other.monitors);
    }
}

#[tokio::test]
async fn no_acknowledged_write_is_lost_to_kill_9() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let mut server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let (mut acknowledged, mut starts) = (Acknowledged::default(), Vec::new());
    let rounds = std::env::var("WAKEFUL_KILLS").map_or(ROUNDS, |text| text.parse().unwrap());
    for round in 0..rounds {
        let progress = Arc::new(Progress::default());
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let name = format!("r{round}w{writer}");
            writers.spawn(write(server.url.clone(), ann.token.clone(), name, progress.clone()));
        }
        until("a write of each kind", || async { progress.has_begun().then_some(()) }).await;
        tokio::time::sleep(Duration::from_millis(random_below(500))).await;
        server.kill().await;
        progress.server_is_gone.store(true, Ordering::SeqCst);
        for written in writers.join_all().await {
            acknowledged.add(written);
        }

        let begun = Instant::now();
        server = installation.serve().await;
        starts.push(begun.elapsed());
        assert_all_there(&installation, &server, &ann.token, &acknowledged).await;
    }
    assert!(acknowledged.emails.len() >= rounds && acknowledged.monitors.len() >= rounds);
    starts.sort();
    let usual = starts[rounds / 2];
    assert!(usual <= MAX_START_TIME, "ready after {usual:?}, at worst after {:?}", starts.last());
}

/// The progress of the writers of a round.
#[derive(Default)]
struct Progress {
    sign_ups: AtomicUsize,
    monitors: AtomicUsize,
    server_is_gone: AtomicBool,
}

impl Progress {
    fn has_begun(&self) -> bool {
        self.sign_ups.load(Ordering::SeqCst) > 0 && self.monitors.load(Ordering::SeqCst) > 0
    }
}

/// Signs up users and creates monitors in turn until the server is gone.
async fn write(url: String, token: String, name: String, progress: Arc<Progress>) -> Acknowledged {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut acknowledged = Acknowledged::default();
    for count in 0.. {
        if progress.server_is_gone.load(Ordering::SeqCst) {
            break;
        }
        let email = format!("{name}n{count}@example.com");
        let body = json!({"email": email, "password": "correct horse 9"});
        let sent = http.post(format!("{url}/api/v1/signup")).json(&body).send().await;
        if sent.is_ok_and(|answer| answer.status() == 200) {
            acknowledged.emails.insert(email);
            progress.sign_ups.fetch_add(1, Ordering::SeqCst);
        }
        let body = json!({"type": "api", "name": name, "heartbeat_interval": 86400,
            "isactive": false, "upside_down_mode": false});
        let save = http.post(format!("{url}/api/v1/monitor/save"));
        let save = save.bearer_auth(&token).json(&body).send().await;
        let Ok(answer) = save else { continue };
        if answer.status() == 200
            && let Ok(made) = answer.json::<serde_json::Value>().await
        {
            let monitor = made["monitor"]["monitorid"].as_str().unwrap();
            acknowledged.monitors.insert(monitor.to_owned());
            progress.monitors.fetch_add(1, Ordering::SeqCst);
        }
    }
    acknowledged
}

async fn assert_all_there(
    installation: &Installation,
    server: &Server,
    token: &str,
    acknowledged: &Acknowledged,
) {
    assert_eq!(integrity(&installation.file()).await, "ok");
    let listed = installation.run(&["user", "list"]).await.ok();
    let there: BTreeSet<&str> = listed.lines().filter_map(|line| line.split('\t').next()).collect();
    let lost: Vec<_> =
        acknowledged.emails.iter().filter(|email| !there.contains(email.as_str())).collect();
    assert!(lost.is_empty(), "sign-ups are lost: {lost:?}");
    let listed = server.anonymous().with_token(token).get("monitors").await.ok();
    let listed = listed["monitors"].as_array().unwrap();
    let there: BTreeSet<&str> =
        listed.iter().map(|monitor| monitor["monitorid"].as_str().unwrap()).collect();
    let lost: Vec<_> =
        acknowledged.monitors.iter().filter(|id| !there.contains(id.as_str())).collect();
    assert!(lost.is_empty(), "monitors are lost: {lost:?}");
    // Each monitor has its entry in the audit log, and each entry its monitor.
    let client = server.anonymous().with_token(token);
    let exported = client.get("audit/export").await.text;
    let recorded = exported.lines().filter(|line| line.contains("\"monitor.create\"")).count();
    assert_eq!(recorded, listed.len());
    assert_eq!(client.get("audit/verify").await.ok()["ok"], true);
}

/// The result of SQLite's integrity check.
pub(crate) async fn integrity(file: &Path) -> String {
    let mut db = SqliteConnectOptions::new().filename(file).connect().await.unwrap();
    let verdict = sqlx::query_scalar("pragma integrity_check").fetch_one(&mut db).await.unwrap();
    db.close().await.unwrap();
    verdict
}

#[tokio::test]
async fn a_write_is_on_disk_before_its_response() {
    const WRITES: usize = 5;
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let trace = installation.data().join("trace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-e", "trace=pwrite64,fsync,fdatasync,write,writev,sendto,sendmsg"]);
    strace.arg("-o").arg(&trace).args(["-p", &server.pid.to_string()]);
    let Ok(mut strace) = strace.stderr(Stdio::piped()).kill_on_drop(true).spawn() else {
        println!("skipped: strace is not installed");
        return;
    };
    let mut lines = BufReader::new(strace.stderr.take().unwrap()).lines();
    let attached =
        timeout(MAX_WAIT, lines.next_line()).await.expect("strace prints a line").unwrap();
    if !attached.as_deref().is_some_and(|line| line.contains("attached")) {
        println!("skipped: strace cannot trace here: {attached:?}");
        return;
    }
    for write in 0..WRITES {
        let body = json!({"name": format!("key {write}")});
        ann.client.post("integrations/apikey/save", &body).await.ok();
    }
    signal("INT", strace.id().unwrap()).await;
    timeout(MAX_WAIT, strace.wait()).await.expect("strace ends").unwrap();
    let answers = responses_after_sync(&std::fs::read_to_string(&trace).unwrap());
    assert_eq!(answers, WRITES);
}

/// Counts the responses. Each must follow a write to the log and a sync of all writes.
fn responses_after_sync(trace: &str) -> usize {
    let (mut answers, mut written, mut synced) = (0, false, false);
    for line in trace.lines() {
        let sync = line.contains("fdatasync") || line.contains("fsync");
        if line.contains("pwrite64(") && line.contains("-wal>") {
            (written, synced) = (true, false);
        } else if sync && line.ends_with("= 0") {
            synced = true;
        } else if line.contains("\"HTTP/1.1 200 OK") {
            assert!(written, "nothing was written before response {answers}:\n{trace}");
            assert!(synced, "response {answers} was sent before the sync:\n{trace}");
            answers += 1;
            (written, synced) = (false, false);
        }
    }
    answers
}
