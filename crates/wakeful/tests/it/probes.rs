//! Probes as separate processes, in two regions, on one NATS server: their results are
//! combined by quorum, and problems of probes, NATS or keys are never taken for an outage
//! of the target.

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::Instant;
use wakeful_testkit::{Client, DatabaseKind, NatsServer, User, until};

use crate::process::{Installation, Probe, Server, signal};

pub(crate) const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const METRICS: &str = "metrics";
const OTHER_KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// A web server that responds with 503 to selected processes, and with 200 to others.
struct Target {
    url: String,
    seen: Arc<Mutex<TargetState>>,
    _server: JoinSet<()>,
}

#[derive(Default)]
struct TargetState {
    fails_for: HashSet<u32>,
    /// The process and the headers of each request.
    asked: Vec<(Option<u32>, String)>,
    known: Vec<u32>,
}

impl Target {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let seen: Arc<Mutex<TargetState>> = Arc::default();
        let mut server = JoinSet::new();
        let shared = Arc::clone(&seen);
        server.spawn(async move {
            let mut open = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                open.spawn(answer(stream, Arc::clone(&shared)));
            }
        });
        Self { url, seen, _server: server }
    }

    fn fails_for(&self, pids: &[u32]) {
        self.seen.lock().unwrap().fails_for = pids.iter().copied().collect();
    }

    fn asked_by(&self, pid: u32) -> usize {
        let seen = self.seen.lock().unwrap();
        seen.asked.iter().filter(|(who, _)| *who == Some(pid)).count()
    }

    fn heads(&self) -> String {
        let seen = self.seen.lock().unwrap();
        seen.asked.iter().map(|(_, head)| head.as_str()).collect()
    }
}

async fn answer(mut stream: TcpStream, seen: Arc<Mutex<TargetState>>) {
    let mut head = Vec::new();
    let mut part = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut part).await {
            Ok(0) | Err(_) => return,
            Ok(count) => head.extend_from_slice(&part[..count]),
        }
    }
    let ports = (stream.peer_addr().unwrap().port(), stream.local_addr().unwrap().port());
    let known = seen.lock().unwrap().known.clone();
    let who = socket(ports).and_then(|socket| known.into_iter().find(|pid| has(*pid, &socket)));
    let fails = {
        let mut seen = seen.lock().unwrap();
        seen.asked.push((who, String::from_utf8_lossy(&head).into_owned()));
        who.is_some_and(|pid| seen.fails_for.contains(&pid))
    };
    let status = if fails { "503 Service Unavailable" } else { "200 OK" };
    let text = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
    let _ = stream.write_all(text.as_bytes()).await;
}

/// The client's socket of a connection. All clients have the same address, so it is
/// identified by its ports. While many connections are opened and closed, the table may
/// omit one.
pub(crate) fn socket((from, to): (u16, u16)) -> Option<String> {
    let port = |address: &str| u16::from_str_radix(address.split_once(':')?.1, 16).ok();
    (0..10).find_map(|_| {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        table.lines().skip(1).find_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let is_this = (port(fields[1]), port(fields[2])) == (Some(from), Some(to));
            is_this.then(|| format!("socket:[{}]", fields[9]))
        })
    })
}

/// Whether a process has this socket open.
pub(crate) fn has(pid: u32, socket: &str) -> bool {
    let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    open.flatten().any(|fd| {
        std::fs::read_link(fd.path()).is_ok_and(|link| link.as_path() == Path::new(socket))
    })
}

/// A service with two probes in eu and one in us.
struct ProbeSetup {
    nats: NatsServer,
    installation: Installation,
    server: Server,
    client: Client,
    target: Target,
    eu: [Probe; 2],
    us: Probe,
}

impl ProbeSetup {
    async fn new() -> Self {
        Self::with(&[]).await
    }

    /// `us` are settings of the probe in us.
    async fn with(us: &[(&str, &str)]) -> Self {
        Self::made(&[], us).await
    }

    /// `all` are settings of the service and of every probe.
    async fn made(all: &[(&str, &str)], us: &[(&str, &str)]) -> Self {
        let nats = NatsServer::start().await;
        let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
        let installation = installation.set("NATS_URL", &nats.url()).set("CLUSTER_KEY", KEY);
        let installation = installation.set("SERVER_METRICS_TOKEN", METRICS);
        let installation = all
            .iter()
            .fold(installation, |installation, (name, value)| installation.set(name, value));
        let server = installation.serve().await;
        let eu = [installation.probe("eu", "eu-1", &[]), installation.probe("eu", "eu-2", &[])];
        let us = installation.probe("us", "us-1", us);
        let client = User::sign_up(&server.anonymous(), "ann@example.com").await.client;
        let target = Target::start().await;
        target.seen.lock().unwrap().known = vec![eu[0].pid, eu[1].pid, us.pid, server.pid];
        let setup = Self { nats, installation, server, client, target, eu, us };
        setup.wait_for_probes("eu", 2).await;
        setup.wait_for_probes("us", 1).await;
        setup
    }

    fn eu(&self) -> Vec<u32> {
        self.eu.iter().map(|probe| probe.pid).collect()
    }

    async fn region(&self, name: &str) -> Value {
        let regions = self.client.get("regions").await.ok()["regions"].clone();
        let found = regions.as_array().unwrap().iter().find(|region| region["region"] == name);
        found.cloned().unwrap_or(Value::Null)
    }

    async fn wait_for_probes(&self, region: &str, count: u64) {
        until(&format!("{count} probes in {region}"), || async {
            (self.region(region).await["live"].as_u64().unwrap_or(0) == count).then_some(())
        })
        .await;
    }

    /// A monitor of the target, after its first check. Afterward it is checked only on
    /// demand, without re-checks.
    async fn monitor(&self, extra: &Value) -> String {
        let mut body = json!({"name": "site", "type": "http", "heartbeat_interval": 3600,
            "isactive": true, "upside_down_mode": false, "retries": 0, "timeout": 5,
            "http": {"url": self.target.url, "accepted_status_codes": "200-299"}});
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let saved = self.client.post("monitor/save", &body).await.ok();
        let monitor = saved["monitor"]["monitorid"].as_str().unwrap().to_owned();
        let path = format!("monitor/{monitor}/heartbeats");
        until("the first check", || async {
            let page = self.client.get(&path).await.ok();
            (!page["heartbeats"].as_array().unwrap().is_empty()).then_some(())
        })
        .await;
        monitor
    }

    async fn check(&self, monitor: &str) -> Value {
        let checked = self.client.post(&format!("monitor/{monitor}/check"), &json!({})).await;
        checked.ok()["heartbeat"].clone()
    }

    /// The lines of a metric with regions, one for each region.
    async fn metric(&self, name: &str) -> Vec<String> {
        let asking = reqwest::Client::new().get(format!("{}/metrics", self.server.url));
        let text = asking.bearer_auth(METRICS).send().await.unwrap().text().await.unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix(name));
        let mut lines: Vec<String> = lines.map(str::to_owned).collect();
        lines.sort();
        lines
    }

    async fn get(&self, monitor: &str) -> Value {
        self.client.get(&format!("monitor/{monitor}/get")).await.ok()["monitor"].clone()
    }

    async fn alerts(&self) -> Vec<Value> {
        self.client.get("alerts").await.ok()["alerts"].as_array().unwrap().clone()
    }

    /// Waits for a check with this message.
    async fn wait_for_message(&self, monitor: &str, words: &str) -> Value {
        until(words, || async {
            let heartbeat = self.check(monitor).await;
            heartbeat["message"].as_str().unwrap().contains(words).then_some(heartbeat)
        })
        .await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_quorum_decides_by_the_results_of_the_regions() {
    let setup = ProbeSetup::new().await;
    let quorums = [json!("any"), json!(1), json!("majority"), json!("all"), json!("2")];
    let mut monitors = Vec::new();
    for quorum in &quorums {
        let regions = json!({"regions": "eu,us", "quorum": quorum});
        let monitor = setup.monitor(&regions).await;
        setup.wait_for_message(&monitor, "200 OK").await;
        monitors.push(monitor);
    }
    setup.target.fails_for(&setup.eu());
    let mut seen = Vec::new();
    for monitor in &monitors {
        seen.push(setup.check(monitor).await["status"].as_str().unwrap().to_owned());
    }
    assert_eq!(seen, ["down", "down", "up", "up", "up"]);

    let heartbeat = setup.check(&monitors[0]).await;
    let words = "failing in 1 of 2 regions: eu: 503 Service Unavailable; passing in us";
    assert_eq!(heartbeat["message"], words);
    let regions: Vec<_> = heartbeat["regions"].as_array().unwrap().iter().collect();
    assert_eq!((&regions[0]["region"], &regions[0]["status"]), (&json!("eu"), &json!("down")));
    assert_eq!((&regions[1]["region"], &regions[1]["status"]), (&json!("us"), &json!("up")));
    assert!(regions[1]["load_time"].as_f64().is_some());
    let alerts = setup.alerts().await;
    assert_eq!(alerts.len(), 2, "{alerts:?}");
    assert!(
        alerts.iter().all(|alert| alert["cause"].as_str().unwrap().starts_with("failing in 1"))
    );
    let path = format!("monitor/{}/heartbeats", monitors[0]);
    let stored = setup.client.get(&path).await.ok()["heartbeats"].clone();
    assert!(stored.as_array().unwrap().iter().any(|beat| beat["regions"] == heartbeat["regions"]));
    let path = format!("monitor/{}/series?by=region", monitors[0]);
    let lines = setup.client.get(&path).await.ok()["regions"].clone();
    let names: Vec<&Value> = lines.as_array().unwrap().iter().map(|line| &line["region"]).collect();
    assert_eq!(names, ["eu", "us"]);
    let failed = |line: &Value| -> u64 {
        let points = line["points"].as_array().unwrap().iter();
        points.map(|point| point["down"].as_u64().unwrap()).sum()
    };
    assert_eq!((failed(&lines[0]), failed(&lines[1])), (2, 0), "{lines}");

    setup.target.fails_for(&[setup.eu(), vec![setup.us.pid]].concat());
    for monitor in &monitors {
        assert_eq!(setup.check(monitor).await["status"], "down");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_is_confirmed_by_another_probe_of_the_region() {
    let setup = ProbeSetup::new().await;
    let monitor = setup.monitor(&json!({"regions": ["eu"]})).await;
    // Only one of the two probes sees the failure.
    setup.target.fails_for(&[setup.eu[0].pid]);
    for _ in 0..6 {
        let heartbeat = setup.check(&monitor).await;
        assert_eq!(
            (&heartbeat["status"], &heartbeat["message"]),
            (&json!("up"), &json!("200 OK (eu)"))
        );
    }
    assert!(setup.target.asked_by(setup.eu[0].pid) > 0);
    assert_eq!(setup.alerts().await.len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_of_a_single_probe_is_confirmed_from_another_region() {
    let setup = ProbeSetup::new().await;
    let monitor = setup.monitor(&json!({"regions": "us"})).await;
    setup.wait_for_message(&monitor, "200 OK (us)").await;
    let asked =
        || [setup.us.pid, setup.eu[0].pid, setup.eu[1].pid].map(|p| setup.target.asked_by(p));
    assert_eq!(asked()[1..], [0, 0], "no probe is asked unnecessarily");

    // No other probe sees it: it is not an outage, and the result of the probe is stored.
    setup.target.fails_for(&[setup.us.pid]);
    let before = asked();
    let heartbeat = setup.check(&monitor).await;
    assert_eq!(heartbeat["status"], "up", "{heartbeat}");
    assert_eq!(heartbeat["message"], "200 OK (eu; us: 503 Service Unavailable)");
    assert_eq!(by_region(&heartbeat), [("us", "down"), ("eu", "up")]);
    let after = asked();
    assert_eq!(after[0], before[0] + 1);
    assert_eq!(after[1] + after[2], before[1] + before[2] + 1);
    assert_eq!(setup.alerts().await.len(), 0);

    // A probe of each region sees it: the alert names both regions.
    setup.target.fails_for(&[setup.eu(), vec![setup.us.pid]].concat());
    let heartbeat = setup.check(&monitor).await;
    assert_eq!(heartbeat["status"], "down", "{heartbeat}");
    assert_eq!(heartbeat["message"], "503 Service Unavailable (us; confirmed from eu)");
    assert_eq!(by_region(&heartbeat), [("us", "down"), ("eu", "down")]);
    let alerts = setup.alerts().await;
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!(alerts[0]["cause"], "503 Service Unavailable (us; confirmed from eu)");
}

/// The regions of a heartbeat, with the status in each.
fn by_region(heartbeat: &Value) -> Vec<(&str, &str)> {
    let regions = heartbeat["regions"].as_array().unwrap().iter();
    regions
        .map(|beat| (beat["region"].as_str().unwrap(), beat["status"].as_str().unwrap()))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn if_no_other_region_has_a_probe_the_node_checks_itself() {
    let mut setup = ProbeSetup::new().await;
    let monitor = setup.monitor(&json!({"regions": "us"})).await;
    setup.wait_for_message(&monitor, "200 OK (us)").await;
    for probe in &mut setup.eu {
        probe.kill().await;
    }
    setup.target.fails_for(&[setup.us.pid]);
    let heartbeat = setup.check(&monitor).await;
    assert_eq!(heartbeat["message"], "200 OK (local; us: 503 Service Unavailable)");
    assert_eq!(by_region(&heartbeat), [("us", "down"), ("local", "up")]);
    assert_eq!(setup.alerts().await.len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_stand_in_only_the_monitors_own_region_decides() {
    let setup = ProbeSetup::made(&[("CLUSTER_STAND_IN", "false")], &[]).await;
    let monitor = setup.monitor(&json!({"regions": "us"})).await;
    setup.wait_for_message(&monitor, "200 OK (us)").await;
    setup.target.fails_for(&[setup.us.pid]);
    let checked = setup.client.post(&format!("monitor/{monitor}/check"), &json!({})).await.ok();
    let heartbeat = checked["heartbeat"].clone();
    assert_eq!(checked["evidence"]["response"]["status"], 503, "{checked}");
    assert_eq!(heartbeat["message"], "503 Service Unavailable (us)");
    assert_eq!(by_region(&heartbeat), [("us", "down")]);
    let others = [setup.eu[0].pid, setup.eu[1].pid, setup.server.pid];
    assert_eq!(others.map(|pid| setup.target.asked_by(pid)), [0, 0, 0]);
}

const INSIDE: &str = "WAKEFUL_TEST_INSIDE_NAMESPACE";

/// The test runs itself again in a network namespace without connectivity.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_probe_asks_its_sentinels_whether_its_own_network_is_down() {
    if std::env::var_os(INSIDE).is_some() {
        return in_a_network_without_connectivity().await;
    }
    let test = "probes::a_probe_asks_its_sentinels_whether_its_own_network_is_down";
    let script = "ip link set lo up && ip route add default dev lo && \
                  exec \"$0\" --exact \"$1\" --nocapture";
    let mut command = Command::new("unshare");
    command.args(["--net", "--map-root-user", "sh", "-c", script]);
    command.arg(std::env::current_exe().unwrap()).arg(test).env(INSIDE, "1").kill_on_drop(true);
    let inner = command.output().await.expect("unshare is part of util-linux");
    let stdout = String::from_utf8_lossy(&inner.stdout);
    let stderr = String::from_utf8_lossy(&inner.stderr);
    assert!(inner.status.success(), "{stdout}{stderr}");
    assert!(stdout.contains("1 passed"), "{stdout}");
}

async fn in_a_network_without_connectivity() {
    // Nothing listens on port 1: the sentinel does not answer.
    let setup = ProbeSetup::with(&[("WAKEFUL_CHECKS_SENTINELS", "127.0.0.1:1")]).await;
    let mut monitors = Vec::new();
    for host in 1..=3 {
        let target = json!({"regions": "us", "type": "tcp", "timeout": 1, "http": null,
            "hostname": format!("192.0.2.{host}"), "port": "80"});
        monitors.push(setup.monitor(&target).await);
    }
    for monitor in &monitors {
        let heartbeat = setup.wait_for_message(monitor, "us: our own network is down").await;
        assert_eq!(heartbeat["status"], "unknown");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undecided_check_stores_the_result_of_each_region() {
    let setup = ProbeSetup::new().await;
    // ap has no probe, and the node must not stand in, because it is a region itself.
    let regions = json!({"regions": "local,us,ap", "quorum": "all"});
    let monitor = setup.monitor(&regions).await;
    let lonely = setup.monitor(&json!({"regions": "ap"})).await;
    setup.wait_for_message(&monitor, "200 OK (2 of 3 regions").await;
    setup.target.fails_for(&[setup.us.pid, setup.server.pid]);
    let heartbeat = setup.wait_for_message(&monitor, "too few regions could check to decide").await;
    assert_eq!(heartbeat["status"], "unknown");
    assert_eq!(by_region(&heartbeat), [("local", "down"), ("us", "down"), ("ap", "unknown")]);
    let heartbeat = setup.check(&lonely).await;
    assert_eq!(heartbeat["status"], "unknown");
    assert_eq!(by_region(&heartbeat), [("ap", "unknown")]);
    assert_eq!(heartbeat["regions"][0]["message"], "no probe is connected");
    let path = format!("monitor/{lonely}/series?by=region");
    let lines = setup.client.get(&path).await.ok()["regions"].clone();
    assert_eq!(lines[0]["region"], "ap", "{lines}");
    let unknown = lines[0]["points"].as_array().unwrap().iter();
    assert!(unknown.map(|point| point["unknown"].as_u64().unwrap()).sum::<u64>() > 0, "{lines}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killing_probes_changes_no_status() {
    let mut setup = ProbeSetup::new().await;
    let quick = json!({"regions": "eu,us", "quorum": "any", "heartbeat_interval": 1});
    let monitor = setup.monitor(&quick).await;
    let lonely = setup.monitor(&json!({"regions": "us"})).await;
    setup.wait_for_message(&lonely, "200 OK (us)").await;
    setup.wait_for_message(&monitor, "2 of 2 regions").await;

    setup.eu[0].kill().await;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(3) {
        let heartbeat = setup.check(&monitor).await;
        assert_eq!(heartbeat["status"], "up", "{heartbeat}");
    }
    setup.wait_for_probes("eu", 1).await;

    setup.us.kill().await;
    let heartbeat = setup.wait_for_message(&lonely, "us: no probe is connected").await;
    assert_eq!(heartbeat["status"], "unknown");
    let heartbeat =
        setup.wait_for_message(&monitor, "1 of 2 regions; us: no probe is connected").await;
    assert_eq!(heartbeat["status"], "up");
    let view = setup.get(&lonely).await;
    assert_eq!(view["status"], "up");
    assert_eq!(view["last_message"], "us: no probe is connected");
    let region = setup.region("us").await;
    assert_eq!((&region["live"], &region["monitors"]), (&json!(0), &json!(2)));
    assert_eq!(region["problem"], "no probe is connected");
    assert_eq!(setup.alerts().await.len(), 0);

    // Half of the regions see a failure and the other half cannot check: the node checks
    // itself and sees no failure.
    let both = setup.monitor(&json!({"regions": "eu,us", "quorum": "all"})).await;
    setup.wait_for_message(&both, "200 OK").await;
    setup.target.fails_for(&setup.eu());
    let heartbeat = setup.check(&both).await;
    assert_eq!(heartbeat["status"], "up", "{heartbeat}");
    assert!(heartbeat["message"].as_str().unwrap().contains("eu: 503"), "{heartbeat}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_metrics_count_the_probes_of_each_region_including_zero() {
    let mut setup = ProbeSetup::new().await;
    let lonely = setup.monitor(&json!({"regions": "ap"})).await;
    setup.wait_for_message(&lonely, "no probe is connected").await;
    let live = |counts: [usize; 3]| {
        let [ap, eu, us] = counts;
        vec![
            format!("{{region=\"ap\"}} {ap}"),
            format!("{{region=\"eu\"}} {eu}"),
            format!("{{region=\"us\"}} {us}"),
        ]
    };
    until("the probes to be counted", || async {
        (setup.metric("wakeful_region_probes").await == live([0, 2, 1])).then_some(())
    })
    .await;
    setup.us.kill().await;
    // NATS reports to the next request that there is no subscriber.
    let monitor = setup.monitor(&json!({"regions": "us"})).await;
    setup.wait_for_message(&monitor, "us: no probe is connected").await;
    until("the loss to be counted", || async {
        (setup.metric("wakeful_region_probes").await == live([0, 2, 0])).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_probe_is_a_fault_and_another_replaces_it() {
    let setup = ProbeSetup::new().await;
    let monitor = setup.monitor(&json!({"regions": "eu", "timeout": 1})).await;
    setup.wait_for_message(&monitor, "200 OK (eu)").await;
    signal("STOP", setup.eu[0].pid).await;
    let mut unknown = 0;
    for _ in 0..6 {
        let heartbeat = setup.check(&monitor).await;
        assert_ne!(heartbeat["status"], "down", "{heartbeat}");
        unknown += usize::from(heartbeat["status"] == "unknown");
    }
    assert!(unknown <= 1, "at most one request is lost: {unknown}");
    assert_eq!(setup.get(&monitor).await["status"], "up");
    signal("CONT", setup.eu[0].pid).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_nats_is_down_the_owner_checks_itself() {
    let mut setup = ProbeSetup::new().await;
    let monitor = setup.monitor(&json!({"regions": "eu,us", "heartbeat_interval": 1})).await;
    setup.wait_for_message(&monitor, "2 of 2 regions").await;
    setup.nats.kill().await;
    let heartbeat = setup.wait_for_message(&monitor, "checked from this node only").await;
    assert_eq!(heartbeat["status"], "up");
    assert_eq!(by_region(&heartbeat), [("eu", "unknown"), ("us", "unknown"), ("local", "up")]);
    assert_eq!(setup.region("eu").await["problem"], "the connection to NATS is lost");
    setup.nats.start_again().await;
    setup.wait_for_message(&monitor, "2 of 2 regions").await;
    assert_eq!(setup.alerts().await.len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_probe_gets_no_work_and_is_not_trusted() {
    let setup = ProbeSetup::new().await;
    let monitor = setup.monitor(&json!({"regions": "us"})).await;
    setup.wait_for_message(&monitor, "200 OK (us)").await;
    setup.installation.run(&["cluster", "revoke", "us-1"]).await.ok();
    setup.wait_for_probes("us", 0).await;
    let before = setup.target.asked_by(setup.us.pid);
    let heartbeat = setup.check(&monitor).await;
    assert_eq!(
        (&heartbeat["status"], &heartbeat["message"]),
        (&json!("unknown"), &json!("us: no probe is connected"))
    );
    assert_eq!(setup.target.asked_by(setup.us.pid), before);
    setup.installation.run(&["cluster", "readmit", "us-1"]).await.ok();
    setup.wait_for_probes("us", 1).await;
    setup.wait_for_message(&monitor, "200 OK (us)").await;
    let again = setup.installation.run(&["cluster", "readmit", "us-1"]).await.refused();
    assert_eq!(again, "probe us-1 is not revoked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_probe_can_have_its_own_key_and_a_wrong_key_is_rejected() {
    let setup = ProbeSetup::new().await;
    let made =
        setup.installation.run(&["cluster", "probe-key", "--region", "ap", "ap-1"]).await.ok();
    let own = [("WAKEFUL_CLUSTER_KEY", ""), ("WAKEFUL_PROBE_KEY", made.trim())];
    let right = setup.installation.probe("ap", "ap-1", &own);
    // The key is valid for that name only, and a key of another cluster for none.
    let _misnamed = setup.installation.probe("ap", "ap-2", &own);
    let _stranger = setup.installation.probe("ap", "ap-3", &[("WAKEFUL_CLUSTER_KEY", OTHER_KEY)]);
    setup.wait_for_probes("ap", 1).await;
    let monitor = setup.monitor(&json!({"regions": "ap"})).await;
    setup.wait_for_message(&monitor, "200 OK (ap)").await;
    let region = setup.region("ap").await;
    let names: Vec<_> =
        region["probes"].as_array().unwrap().iter().map(|probe| &probe["name"]).collect();
    assert_eq!(names, ["ap-1"]);
    assert_eq!(region["probes"][0]["version"], env!("CARGO_PKG_VERSION"));

    right.stop().await;
    assert_eq!(setup.region("ap").await["live"], 0, "the probe announces its shutdown");
    assert_eq!(setup.check(&monitor).await["status"], "unknown");
    let unnamed =
        setup.installation.set("PROBE_KEY", made.trim()).run(&["probe", "--region", "ap"]).await;
    assert!(unnamed.refused().contains("probe.name is not set"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replayed_hello_does_not_revive_a_probe_that_has_left() {
    let setup = ProbeSetup::new().await;
    let listener = async_nats::connect(setup.nats.url()).await.unwrap();
    let hellos = listener.subscribe("wakeful.hello.ap.*").await.unwrap();
    listener.flush().await.unwrap();
    let probe = setup.installation.probe("ap", "ap-1", &[]);
    setup.wait_for_probes("ap", 1).await;
    probe.stop().await;
    setup.wait_for_probes("ap", 0).await;

    let recorded: Vec<_> = hellos.ready_chunks(1_000).next().await.unwrap();
    for hello in &recorded {
        listener.publish(hello.subject.clone(), hello.payload.clone()).await.unwrap();
    }
    listener.flush().await.unwrap();
    until("the node to ignore them", || async {
        let refused = setup.metric("wakeful_probe_refused_total{why=\"repeated\"} ").await;
        let refused = refused.first().and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
        (refused >= recorded.len()).then_some(())
    })
    .await;
    assert_eq!(setup.region("ap").await["live"].as_u64().unwrap_or(0), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_eavesdropper_on_the_bus_learns_no_password_and_cannot_replay_a_request() {
    let setup = ProbeSetup::new().await;
    let listener = async_nats::connect(setup.nats.url()).await.unwrap();
    let mut all = listener.subscribe(">").await.unwrap();
    let asks = listener.subscribe("wakeful.ask.us.*").await.unwrap();
    listener.flush().await.unwrap();
    let http = json!({"url": setup.target.url, "accepted_status_codes": "200-299",
        "authentication_type": "basic", "username": "ann", "password": "hunter2-secret",
        "headers": "X-Token: token-4711"});
    let monitor = setup.monitor(&json!({"regions": "us", "http": http})).await;
    setup.wait_for_message(&monitor, "200 OK (us)").await;
    // The target received the secrets that are not visible on the bus.
    let basic = "YW5uOmh1bnRlcjItc2VjcmV0";
    let heads = setup.target.heads();
    assert!(heads.contains(basic) && heads.contains("token-4711"), "{heads}");

    let mut messages = Vec::new();
    while let Ok(Some(message)) = tokio::time::timeout(Duration::from_millis(300), all.next()).await
    {
        messages.push(message);
    }
    assert!(messages.iter().any(|message| message.subject.starts_with("wakeful.ask.us.")));
    assert!(messages.iter().any(|message| message.subject.starts_with("_INBOX.")));
    for message in &messages {
        let payload = String::from_utf8_lossy(&message.payload);
        for secret in ["hunter2", basic, "token-4711", "127.0.0.1"] {
            assert!(!payload.contains(secret), "{secret} in {}", message.subject);
        }
    }

    // The same requests again, and one in plain text: the probe runs none of them.
    let before = setup.target.asked_by(setup.us.pid);
    let recorded: Vec<_> = asks.ready_chunks(1_000).next().await.unwrap();
    for ask in &recorded {
        let reply = "_INBOX.listener.1";
        let sent = listener.publish_with_reply(ask.subject.clone(), reply, ask.payload.clone());
        sent.await.unwrap();
    }
    let clear = json!({"id": "00000000-0000-0000-0000-000000000001", "at": 0, "asks": []});
    let sent = listener.publish_with_reply(
        "wakeful.ask.us.us-1",
        "_INBOX.listener.1",
        clear.to_string().into(),
    );
    sent.await.unwrap();
    listener.flush().await.unwrap();
    setup.check(&monitor).await;
    assert_eq!(setup.target.asked_by(setup.us.pid), before + 1);
    assert!(setup.installation.log().contains("rejected a repeated request"));
    assert!(
        setup
            .installation
            .log()
            .contains("rejected a request that is not encrypted for this probe")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_documented_nats_permissions_are_enough_for_a_probe() {
    let handbook = include_str!("../../../../docs/probes.md");
    let (_, rest) = handbook.split_once("permissions = {").unwrap();
    let (permissions, _) = rest.split_once('}').unwrap();
    let settings = format!(
        "authorization {{ users = [
             {{user: node, password: n}}
             {{user: probe, password: p, permissions = {{ {permissions} }} }}
         ] }}"
    );
    let nats = NatsServer::with(&settings).await;
    let installation = Installation::new(DatabaseKind::Sqlite)
        .await
        .set("NATS_URL", &nats.url())
        .set("CLUSTER_KEY", KEY);
    let installation = installation.set("NATS_USER", "node").set("NATS_PASSWORD", "n");
    let server = installation.serve().await;
    let who = [("WAKEFUL_NATS_USER", "probe"), ("WAKEFUL_NATS_PASSWORD", "p")];
    let _probe = installation.probe("eu-west", "probe-1", &who);
    let client = User::sign_up(&server.anonymous(), "ann@example.com").await.client;
    let target = Target::start().await;
    let body = json!({"name": "site", "type": "http", "heartbeat_interval": 3600, "isactive": true,
        "upside_down_mode": false, "regions": "eu-west",
        "http": {"url": target.url, "accepted_status_codes": "200-299"}});
    let saved = client.post("monitor/save", &body).await.ok();
    let path = format!("monitor/{}/check", saved["monitor"]["monitorid"].as_str().unwrap());
    until("a check through the probe", || async {
        let checked = client.post(&path, &json!({})).await.ok();
        (checked["heartbeat"]["message"] == "200 OK (eu-west)").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_egress_policy_of_a_probe_is_its_own() {
    let setup = ProbeSetup::with(&[("WAKEFUL_NETWORK_EGRESS", "public")]).await;
    let monitor = setup.monitor(&json!({"regions": "us"})).await;
    let heartbeat = setup.check(&monitor).await;
    assert_eq!(heartbeat["status"], "unknown", "{heartbeat}");
    assert_eq!(setup.target.asked_by(setup.us.pid), 0);
    let both = setup.monitor(&json!({"regions": "eu,us", "quorum": "any"})).await;
    let heartbeat = setup.check(&both).await;
    assert_eq!(heartbeat["status"], "up", "{heartbeat}");
    assert!(
        heartbeat["message"].as_str().unwrap().contains("(1 of 2 regions; us: "),
        "{heartbeat}"
    );
    drop(setup.server);
}
