//! Three nodes on one PostgreSQL and one NATS, behind proxies that can be cut, and three
//! probes in two regions; monitors that are checked continuously, some of them from
//! probes, and a few on a target that goes down and up; and a receiver of notifications.
//! A trial causes a failure, takes the target down and up meanwhile, and counts the
//! notifications.

use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use wakeful_testkit::{
    Client, CuttableProxy, Database, DatabaseKind, Hook, NatsServer, PostgresServer, Receiver,
    User, until,
};

use crate::process::{Installation, Probe, Server, signal};

pub(crate) const NODES: usize = 3;
/// The region and name of each probe.
const PROBES: [(&str, &str); 3] = [("eu", "eu-1"), ("eu", "eu-2"), ("us", "us-1")];
/// One of the two in eu, and the only one in us.
pub(crate) const EU: usize = 0;
pub(crate) const US: usize = 2;
/// The regions of the monitors, in turn. None is checked from us alone: without its only
/// probe, an outage could not be detected.
const REGIONS: [&str; 4] = ["local", "eu,us", "local", "eu"];
/// Monitors whose target goes down and up.
const FLAPPING_MONITORS: usize = 6;
/// PostgreSQL's timeout for idle transactions.
const SILENT_HALFWAY: Duration = Duration::from_secs(5);
/// 32 bytes as base64; the same master key on all nodes.
pub(crate) const KEY: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";

/// The number of monitors and the length of the lease.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) monitors: usize,
    pub(crate) lease: u64,
}

impl Size {
    /// Small enough for every run of the tests. `WAKEFUL_TEST_LONG=1` selects 2,000 monitors
    /// and the default lease.
    pub(crate) fn chosen() -> Self {
        match std::env::var_os("WAKEFUL_TEST_LONG") {
            Some(_) => Self { monitors: 2_000, lease: 15 },
            None => Self { monitors: 60, lease: 3 },
        }
    }

    fn interval(self) -> usize {
        if self.monitors > 500 { 20 } else { 1 }
    }
}

pub(crate) struct NodeProcess {
    installation: Installation,
    pub(crate) server: Option<Server>,
    pub(crate) database: CuttableProxy,
    pub(crate) bus: CuttableProxy,
}

impl NodeProcess {
    pub(crate) async fn start(&mut self) {
        self.server = Some(self.installation.serve().await);
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().expect("it runs")
    }

    /// The output of `wakeful nodes`.
    pub(crate) async fn listed(&self) -> String {
        self.installation.run(&["nodes"]).await.ok()
    }

    pub(crate) async fn kill(&mut self) {
        self.server.take().expect("it runs").kill().await;
    }

    pub(crate) async fn stop(&mut self) {
        self.server.take().expect("it runs").stop().await;
    }

    /// Replaces a node of an earlier version.
    pub(crate) async fn upgrade(&mut self) {
        self.stop().await;
        self.installation.upgrade();
        self.start().await;
    }
}

pub(crate) struct Testbed {
    pub(crate) nodes: Vec<NodeProcess>,
    probes: Vec<Probe>,
    probe_home: Installation,
    pub(crate) nats: NatsServer,
    pub(crate) postgres: Option<PostgresServer>,
    database: Option<Database>,
    database_url: String,
    size: Size,
    ann: User,
    receiver: Receiver,
    target: Target,
    victims: HashSet<String>,
    /// The number of notifications before the current trial.
    notified_before: usize,
    /// The number of checks by probes before the current trial.
    seen_before: i64,
    lines: Vec<String>,
}

/// The target of the victims: open or closed, always on the same port.
struct Target {
    address: SocketAddr,
    open: Option<JoinHandle<()>>,
}

impl Target {
    async fn on(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepting = async move { while listener.accept().await.is_ok() {} };
        #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
        let open = Some(tokio::spawn(accepting));
        Self { address, open }
    }

    async fn go_down(&mut self) {
        let open = self.open.take().expect("it was up");
        open.abort();
        let _ = open.await;
    }

    async fn come_up(&mut self) {
        *self = Self::on(self.address).await;
    }
}

impl Testbed {
    /// With a separate PostgreSQL that can be restarted, or on the shared one.
    pub(crate) async fn build(own_postgres: bool) -> Self {
        Self::build_of(own_postgres, |installation| installation).await
    }

    /// Nodes and probes of an earlier version.
    pub(crate) async fn build_earlier() -> Self {
        Self::build_of(false, Installation::of_earlier_version).await
    }

    async fn build_of(own_postgres: bool, version: fn(Installation) -> Installation) -> Self {
        let size = Size::chosen();
        let (postgres, database, database_url) = if own_postgres {
            let server = PostgresServer::start().await;
            let url = server.url();
            (Some(server), None, url)
        } else {
            let database = Database::new(DatabaseKind::Postgres).await;
            let url = database.url().to_owned();
            (None, Some(database), url)
        };
        let nats = NatsServer::start().await;
        let mut nodes = Vec::new();
        for _ in 0..NODES {
            let mut node = start_node(&database_url, &nats, size, version).await;
            node.start().await;
            nodes.push(node);
        }
        let probe_home = Installation::new(DatabaseKind::Sqlite)
            .await
            .set("NATS_URL", &nats.url())
            .set("CLUSTER_KEY", KEY);
        let probe_home = version(probe_home);
        let probes =
            PROBES.iter().map(|(region, name)| probe_home.probe(region, name, &[])).collect();
        let ann = User::sign_up(&nodes[0].server().anonymous(), "ann@example.com").await;
        let receiver = Receiver::start().await;
        let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let hook = ann.client.post("notifier/save", &body).await.json();
        let target = Target::on("127.0.0.1:0".parse().unwrap()).await;
        let steady = Target::on("0.0.0.0:0".parse().unwrap()).await;
        let mut testbed = Self {
            nodes,
            probes,
            probe_home,
            nats,
            postgres,
            database,
            database_url,
            size,
            ann,
            receiver,
            target,
            victims: HashSet::new(),
            notified_before: 0,
            seen_before: 0,
            lines: Vec::new(),
        };
        testbed.wait_for_probes().await;
        testbed.create_monitors(&hook["notifierid"], steady.address.port()).await;
        // Remains open until the process ends.
        std::mem::forget(steady);
        testbed
    }

    async fn create_monitors(&mut self, hook: &Value, port: u16) {
        for number in 0..self.size.monitors {
            let is_victim = number < FLAPPING_MONITORS;
            // Each at a separate address, because checks per host are limited.
            let (host, port) = if is_victim {
                ("127.0.0.1".to_owned(), self.target.address.port())
            } else {
                (format!("127.1.{}.{}", number / 250, number % 250 + 1), port)
            };
            let body = json!({"name": format!("monitor {number}"), "type": "tcp",
                "hostname": host, "port": port.to_string(), "isactive": true,
                "heartbeat_interval": if is_victim { 1 } else { self.size.interval() },
                "regions": REGIONS[number % REGIONS.len()],
                "upside_down_mode": false, "notifiers": hook});
            // Saved through one node, checked by another.
            let client = self.client(number % NODES);
            let saved = client.post("monitor/save", &body).await.ok();
            let id = saved["monitor"]["monitorid"].as_str().unwrap().to_owned();
            if is_victim {
                self.victims.insert(id);
            }
        }
        self.wait_until_healthy().await;
        assert_eq!(self.receiver.count(), 0, "no notifications yet");
    }

    pub(crate) fn client(&self, node: usize) -> Client {
        self.nodes[node].server().anonymous().with_token(&self.ann.token)
    }

    /// The time of silence after which a node is replaced.
    pub(crate) fn lease(&self) -> Duration {
        Duration::from_secs(self.size.lease)
    }

    /// Waits until every node knows of every probe.
    pub(crate) async fn wait_for_probes(&self) {
        for node in 0..NODES {
            until("the probes to be known", || async {
                let response = self.client(node).get("regions").await.ok();
                let regions = response["regions"].as_array().unwrap().iter();
                let live: u64 = regions
                    .filter(|region| region["region"] != "local")
                    .map(|region| region["live"].as_u64().unwrap())
                    .sum();
                (live == PROBES.len() as u64).then_some(())
            })
            .await;
        }
    }

    pub(crate) async fn kill_probe(&mut self, probe: usize) {
        self.probes[probe].kill().await;
    }

    pub(crate) async fn signal_probe(&self, probe: usize, name: &str) {
        signal(name, self.probes[probe].pid).await;
    }

    pub(crate) async fn start_probe(&mut self, probe: usize) {
        let (region, name) = PROBES[probe];
        self.probes[probe] = self.probe_home.probe(region, name, &[]);
        self.wait_for_probes().await;
    }

    /// The index of a running node.
    fn running(&self) -> usize {
        self.nodes.iter().position(|node| node.server.is_some()).expect("one runs")
    }

    /// Waits until every monitor is up and was checked recently.
    pub(crate) async fn wait_until_healthy(&self) {
        let begun = Instant::now();
        let fresh = i64::try_from(self.size.interval()).unwrap() * 1_000 + 2_500;
        loop {
            let lists = self.client(self.running()).get("monitors").await.json();
            let monitors = lists["monitors"].as_array().cloned().unwrap_or_default();
            let now = self.now().await;
            let stale: Vec<&Value> = monitors
                .iter()
                .filter(|one| {
                    let last = one["last_check"].as_str().and_then(millis).unwrap_or(0);
                    one["status"] != "up" || now - last > fresh
                })
                .collect();
            if monitors.len() == self.size.monitors && stale.is_empty() {
                return;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(60) + 4 * self.lease(),
                "{} of {} are not healthy: {:?}",
                stale.len(),
                monitors.len(),
                stale.first()
            );
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Starts a trial: notifications are counted from here.
    pub(crate) async fn begin_trial(&mut self) -> Instant {
        self.notified_before = self.receiver.count();
        Instant::now()
    }

    pub(crate) async fn take_targets_down(&mut self) -> Duration {
        self.target.go_down().await;
        self.wait_for_events("monitor.down").await
    }

    pub(crate) async fn bring_targets_up(&mut self) -> Duration {
        self.target.come_up().await;
        self.wait_for_events("monitor.up").await
    }

    /// Waits until every victim's event has arrived; returns how long that took.
    async fn wait_for_events(&self, kind: &str) -> Duration {
        let begun = Instant::now();
        loop {
            let hooks = self.receiver.hooks();
            let notified: HashSet<String> = hooks[self.notified_before..]
                .iter()
                .filter(|hook| of(hook).0 == kind)
                .map(|hook| of(hook).1)
                .collect();
            if self.victims.is_subset(&notified) {
                return begun.elapsed();
            }
            assert!(
                begun.elapsed() < Duration::from_secs(30) + 4 * self.lease(),
                "{kind}: {} of {FLAPPING_MONITORS} were notified\n{}",
                notified.len(),
                self.logs()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until all is healthy again, and prints and checks the results of the trial.
    pub(crate) async fn end_trial(&mut self, name: &str, down: Duration, up: Duration) {
        self.wait_until_healthy().await;
        let hooks = self.receiver.hooks();
        let events: Vec<(String, String)> = hooks[self.notified_before..].iter().map(of).collect();
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        for one in &events {
            *counts.entry(one.clone()).or_default() += 1;
        }
        let mut ids: HashMap<String, usize> = HashMap::new();
        for hook in &hooks {
            *ids.entry(hook.id()).or_default() += 1;
        }
        let doubled = ids.values().filter(|count| **count > 1).count();
        let false_changes =
            events.iter().filter(|(_, monitor)| !self.victims.contains(monitor)).count();
        let repeated = counts.values().filter(|count| **count > 1).count();
        let missed = 2 * FLAPPING_MONITORS
            - counts.keys().filter(|(_, id)| self.victims.contains(id)).count();
        let two_writers = self
            .number(
                "select count(*) from (
                     select 1 from heartbeats group by monitor_id, seq having count(*) > 1) twice",
            )
            .await;
        let gap = self.longest_gap().await;
        let by_probes = self.seen_by_probes().await - self.seen_before;
        self.seen_before += by_probes;
        let line = format!(
            "{name}: false changes {false_changes}, missed alerts {missed}, doubled eventids {doubled}, \
             changes notified twice {repeated}, verdicts with two writers {two_writers}, \
             checks through probes {by_probes}, \
             longest gap {:.1} s, notified down in {:.1} s, up in {:.1} s",
            gap.as_secs_f64(),
            down.as_secs_f64(),
            up.as_secs_f64()
        );
        println!("{line}");
        self.lines.push(line.clone());
        assert_eq!(
            (false_changes, missed, doubled, repeated, two_writers),
            (0, 0, 0, 0, 0),
            "{line}\n{events:?}\n{}",
            self.logs()
        );
        assert!(by_probes > 0, "the probes were not involved: {line}");
        // Two leases with the default lease. With a short one, a node that is cut off during
        // a transaction holds its slots for longer.
        let most = (2 * self.lease()).max(self.lease() + SILENT_HALFWAY);
        // The regular interval between checks does not count as a gap.
        let most = most + Duration::from_secs(self.size.interval() as u64 + 2);
        assert!(gap <= most, "{line}\n{}", self.logs());
    }

    /// The number of heartbeats with results of probes.
    async fn seen_by_probes(&self) -> i64 {
        let either = ["up", "down"]
            .map(|status| format!("regions like '%\"region\":\"eu\",\"status\":\"{status}\"%'"));
        self.number(&format!("select count(*) from heartbeats where {}", either.join(" or "))).await
    }

    /// The longest time without a check of any monitor.
    async fn longest_gap(&self) -> Duration {
        let millis = self
            .number(
                "select cast(coalesce(max(at - before), 0) as bigint) from (
                     select at, lag(at) over (partition by monitor_id order by at, seq) as before
                     from heartbeats) beats",
            )
            .await;
        Duration::from_millis(u64::try_from(millis).unwrap())
    }

    /// The slots that a node owns, and the number of its rejected results.
    pub(crate) async fn slots_and_refusals(&self, node: usize) -> (i64, i64) {
        let url = format!("{}/metrics", self.nodes[node].server().url);
        let text = reqwest::Client::new()
            .get(url)
            .bearer_auth("metrics")
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        let value = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok()).unwrap_or(0.0)
        };
        #[expect(clippy::cast_possible_truncation, reason = "small whole numbers")]
        let figures =
            (value("wakeful_slots_held ") as i64, value("wakeful_records_stale_total ") as i64);
        figures
    }

    /// Waits until the slots are balanced between the nodes.
    pub(crate) async fn wait_until_balanced(&self) {
        let begun = Instant::now();
        loop {
            let mut held = Vec::new();
            for node in 0..NODES {
                held.push(self.slots_and_refusals(node).await.0);
            }
            let most = i64::try_from(1_024_usize.div_ceil(NODES)).unwrap();
            if held.iter().sum::<i64>() == 1_024 && held.iter().all(|one| *one <= most) {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(20) + 2 * self.lease(), "{held:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    async fn now(&self) -> i64 {
        self.number("select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)").await
    }

    /// A number from the database, not through a proxy.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        match &self.database {
            Some(database) => database.number(sql).await,
            None => wakeful_testkit::number(&self.database_url, sql).await,
        }
    }

    fn logs(&self) -> String {
        let end = |log: String| {
            let lines: Vec<&str> = log.lines().collect();
            lines[lines.len().saturating_sub(40)..].join("\n")
        };
        let homes = self.nodes.iter().map(|node| &node.installation).chain([&self.probe_home]);
        homes.map(|installation| end(installation.log())).collect::<Vec<_>>().join("\n---\n")
    }
}

async fn start_node(
    database_url: &str,
    nats: &NatsServer,
    size: Size,
    version: fn(Installation) -> Installation,
) -> NodeProcess {
    let (before, rest) = database_url.split_once("@127.0.0.1:").expect("on loopback");
    let (port, name) = rest.split_once('/').expect("a database");
    let database = CuttableProxy::to(([127, 0, 0, 1], port.parse().unwrap()).into()).await;
    let bus = CuttableProxy::to(([127, 0, 0, 1], nats.port()).into()).await;
    let installation = Installation::new(DatabaseKind::Sqlite)
        .await
        .without_limits()
        .set("DATABASE_URL", &format!("{before}@{}/{name}", database.address))
        .set("DATABASE_ALLOW_UNSAFE", "true")
        .set("NATS_URL", &format!("nats://{}", bus.address))
        .set("SECRETS_MASTER_KEY", KEY)
        .set("CLUSTER_KEY", KEY)
        .set("SERVER_METRICS_TOKEN", "metrics")
        .set("NODES_LEASE_SECONDS", &size.lease.to_string());
    NodeProcess { installation: version(installation), server: None, database, bus }
}

/// The event type and the monitor of a hook.
fn of(hook: &Hook) -> (String, String) {
    let event = hook.json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&event["type"]), text(&event["data"]["monitor"]["monitorid"]))
}

/// `2026-11-15T09:30:00.123Z` as milliseconds.
fn millis(text: &str) -> Option<i64> {
    wakeful_core::time::Millis::parse(text).map(|at| at.0)
}
