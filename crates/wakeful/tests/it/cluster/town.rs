//! Three nodes on one PostgreSQL and one NATS, each behind wires that can be
//! cut, and three probes in two regions; monitors that are checked all the time,
//! some of them from there, a few on a target that comes and goes; and a receiver
//! that hears of it. A trial brings trouble, breaks and repairs the target
//! meanwhile, and counts what was told.

use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use wakeful_testkit::{
    Client, Database, Engine, Hook, NatsServer, PostgresServer, Receiver, User, Wire, until,
};

use crate::home::{Home, Probe, Server, signal};

pub(crate) const NODES: usize = 3;
/// The region and name of each probe.
const PROBES: [(&str, &str); 3] = [("eu", "eu-1"), ("eu", "eu-2"), ("us", "us-1")];
/// One of the two in eu, and the only one in us.
pub(crate) const EU: usize = 0;
pub(crate) const US: usize = 2;
/// Where monitors are checked from, in turn. None is in us alone: with its probe
/// gone, nobody could say that such a target is down.
const PLACES: [&str; 4] = ["local", "eu,us", "local", "eu"];
/// Monitors whose target comes and goes.
const VICTIMS: usize = 6;
/// After so long PostgreSQL ends a transaction whose client says nothing.
const SILENT_HALFWAY: Duration = Duration::from_secs(5);
/// 32 bytes as base64: all nodes open what any has sealed.
pub(crate) const KEY: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";

/// How much is watched, and how long a node may be silent.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) monitors: usize,
    pub(crate) lease: u64,
}

impl Size {
    /// Small enough for every run of the tests. `WAKEFUL_TEST_LONG=1` asks for
    /// the whole: 2,000 monitors and the lease as it ships.
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

pub(crate) struct Seat {
    home: Home,
    pub(crate) server: Option<Server>,
    pub(crate) database: Wire,
    pub(crate) bus: Wire,
}

impl Seat {
    pub(crate) async fn start(&mut self) {
        self.server = Some(self.home.serve().await);
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().expect("it runs")
    }

    /// What `wakeful nodes` prints.
    pub(crate) async fn listed(&self) -> String {
        self.home.run(&["nodes"]).await.ok()
    }

    pub(crate) async fn kill(&mut self) {
        self.server.take().expect("it runs").kill().await;
    }

    pub(crate) async fn stop(&mut self) {
        self.server.take().expect("it runs").stop().await;
    }
}

pub(crate) struct Town {
    pub(crate) seats: Vec<Seat>,
    probes: Vec<Probe>,
    probe_home: Home,
    pub(crate) nats: NatsServer,
    pub(crate) postgres: Option<PostgresServer>,
    database: Option<Database>,
    database_url: String,
    size: Size,
    ann: User,
    receiver: Receiver,
    target: Target,
    victims: HashSet<String>,
    /// What was told before the trial that is under way.
    heard: usize,
    /// Checks through probes before the trial that is under way.
    seen_before: i64,
    lines: Vec<String>,
}

/// Where the victims are: open or not, on the same port.
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

impl Town {
    /// With a PostgreSQL of its own, which can be restarted, or on the shared one.
    pub(crate) async fn build(own_postgres: bool) -> Self {
        let size = Size::chosen();
        let (postgres, database, database_url) = match own_postgres {
            true => {
                let server = PostgresServer::start().await;
                let url = server.url();
                (Some(server), None, url)
            }
            false => {
                let database = Database::new(Engine::Postgres).await;
                let url = database.url().to_owned();
                (None, Some(database), url)
            }
        };
        let nats = NatsServer::start().await;
        let mut seats = Vec::new();
        for _ in 0..NODES {
            let mut seat = seat(&database_url, &nats, size).await;
            seat.start().await;
            seats.push(seat);
        }
        let probe_home =
            Home::new(Engine::Sqlite).await.set("NATS_URL", &nats.url()).set("CLUSTER_KEY", KEY);
        let probes =
            PROBES.iter().map(|(region, name)| probe_home.probe(region, name, &[])).collect();
        let ann = User::sign_up(&seats[0].server().anonymous(), "ann@example.com").await;
        let receiver = Receiver::start().await;
        let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let hook = ann.client.post("notifier/save", &body).await.json();
        let target = Target::on("127.0.0.1:0".parse().unwrap()).await;
        let steady = Target::on("0.0.0.0:0".parse().unwrap()).await;
        let mut town = Self {
            seats,
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
            heard: 0,
            seen_before: 0,
            lines: Vec::new(),
        };
        town.probes_are_heard().await;
        town.settle_in(&hook["notifierid"], steady.address.port()).await;
        // It stays open until the process ends.
        std::mem::forget(steady);
        town
    }

    async fn settle_in(&mut self, hook: &Value, port: u16) {
        for number in 0..self.size.monitors {
            let is_victim = number < VICTIMS;
            // Each at an address of its own: hosts are not called too often.
            let (host, port) = match is_victim {
                true => ("127.0.0.1".to_owned(), self.target.address.port()),
                false => (format!("127.1.{}.{}", number / 250, number % 250 + 1), port),
            };
            let body = json!({"name": format!("monitor {number}"), "type": "tcp",
                "hostname": host, "port": port.to_string(), "isactive": true,
                "heartbeat_interval": if is_victim { 1 } else { self.size.interval() },
                "regions": PLACES[number % PLACES.len()],
                "upside_down_mode": false, "notifiers": hook});
            // Saved at any node, watched at another.
            let client = self.client(number % NODES);
            let saved = client.post("monitor/save", &body).await.ok();
            let id = saved["monitor"]["monitorid"].as_str().unwrap().to_owned();
            if is_victim {
                self.victims.insert(id);
            }
        }
        self.all_is_well().await;
        assert_eq!(self.receiver.count(), 0, "nothing to tell so far");
    }

    pub(crate) fn client(&self, node: usize) -> Client {
        self.seats[node].server().anonymous().with_token(&self.ann.token)
    }

    /// One span of silence after which a node is replaced.
    pub(crate) fn lease(&self) -> Duration {
        Duration::from_secs(self.size.lease)
    }

    /// Waits until every node knows of every probe.
    pub(crate) async fn probes_are_heard(&self) {
        for node in 0..NODES {
            until("the probes to be heard of", || async {
                let told = self.client(node).get("regions").await.ok();
                let regions = told["regions"].as_array().unwrap().iter();
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
        self.probes_are_heard().await;
    }

    /// A node that runs.
    fn running(&self) -> usize {
        self.seats.iter().position(|seat| seat.server.is_some()).expect("one runs")
    }

    /// Waits until every monitor is up and was checked a moment ago.
    pub(crate) async fn all_is_well(&self) {
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
                "{} of {} are not well: {:?}",
                stale.len(),
                monitors.len(),
                stale.first()
            );
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Brings trouble, has the target fail and recover meanwhile, ends the
    /// trouble, and counts.
    pub(crate) async fn begin_trial(&mut self) -> Instant {
        self.heard = self.receiver.count();
        Instant::now()
    }

    pub(crate) async fn victims_fall(&mut self) -> Duration {
        self.target.go_down().await;
        self.told("monitor.down").await
    }

    pub(crate) async fn victims_rise(&mut self) -> Duration {
        self.target.come_up().await;
        self.told("monitor.up").await
    }

    /// Waits until every victim's news has come; how long that took.
    async fn told(&self, kind: &str) -> Duration {
        let begun = Instant::now();
        loop {
            let hooks = self.receiver.hooks();
            let told: HashSet<String> = hooks[self.heard..]
                .iter()
                .filter(|hook| of(hook).0 == kind)
                .map(|hook| of(hook).1)
                .collect();
            if self.victims.is_subset(&told) {
                return begun.elapsed();
            }
            assert!(
                begun.elapsed() < Duration::from_secs(30) + 4 * self.lease(),
                "{kind}: {} of {VICTIMS} were told\n{}",
                told.len(),
                self.logs()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// All is well again; what the trial came to is noted for the report.
    pub(crate) async fn end_trial(&mut self, name: &str, down: Duration, up: Duration) {
        self.all_is_well().await;
        let hooks = self.receiver.hooks();
        let news: Vec<(String, String)> = hooks[self.heard..].iter().map(of).collect();
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        for one in &news {
            *counts.entry(one.clone()).or_default() += 1;
        }
        let mut ids: HashMap<String, usize> = HashMap::new();
        for hook in &hooks {
            *ids.entry(hook.id()).or_default() += 1;
        }
        let doubled = ids.values().filter(|count| **count > 1).count();
        let false_changes =
            news.iter().filter(|(_, monitor)| !self.victims.contains(monitor)).count();
        let repeated = counts.values().filter(|count| **count > 1).count();
        let missed =
            2 * VICTIMS - counts.keys().filter(|(_, id)| self.victims.contains(id)).count();
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
             changes told twice {repeated}, verdicts with two writers {two_writers}, \
             checks through probes {by_probes}, \
             longest gap {:.1} s, told down in {:.1} s, up in {:.1} s",
            gap.as_secs_f64(),
            down.as_secs_f64(),
            up.as_secs_f64()
        );
        println!("{line}");
        self.lines.push(line.clone());
        assert_eq!(
            (false_changes, missed, doubled, repeated, two_writers),
            (0, 0, 0, 0, 0),
            "{line}\n{news:?}\n{}",
            self.logs()
        );
        assert!(by_probes > 0, "the probes had no part in it: {line}");
        // Two leases, as it ships. With a short one, a node that is cut off halfway
        // through a transaction holds its slots for longer than that.
        let most = (2 * self.lease()).max(self.lease() + SILENT_HALFWAY);
        // The regular pause between checks is no gap.
        let most = most + Duration::from_secs(self.size.interval() as u64 + 2);
        assert!(gap <= most, "{line}\n{}", self.logs());
    }

    /// How many heartbeats there are that a probe had a part in.
    async fn seen_by_probes(&self) -> i64 {
        let either = ["up", "down"]
            .map(|status| format!("regions like '%\"region\":\"eu\",\"status\":\"{status}\"%'"));
        self.number(&format!("select count(*) from heartbeats where {}", either.join(" or "))).await
    }

    /// The longest time that any monitor went unchecked.
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

    /// The slots that each node holds, and the results it was refused.
    pub(crate) async fn figures(&self, node: usize) -> (i64, i64) {
        let url = format!("{}/metrics", self.seats[node].server().url);
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

    /// Waits until the nodes hold about the same.
    pub(crate) async fn shared_fairly(&self) {
        let begun = Instant::now();
        loop {
            let mut held = Vec::new();
            for node in 0..NODES {
                held.push(self.figures(node).await.0);
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

    /// A number that the database answers, past all wires.
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
        let homes = self.seats.iter().map(|seat| &seat.home).chain([&self.probe_home]);
        homes.map(|home| end(home.log())).collect::<Vec<_>>().join("\n---\n")
    }
}

async fn seat(database_url: &str, nats: &NatsServer, size: Size) -> Seat {
    let (before, rest) = database_url.split_once("@127.0.0.1:").expect("on loopback");
    let (port, name) = rest.split_once('/').expect("a database");
    let database = Wire::to(([127, 0, 0, 1], port.parse().unwrap()).into()).await;
    let bus = Wire::to(([127, 0, 0, 1], nats.port()).into()).await;
    let home = Home::new(Engine::Sqlite)
        .await
        .without_limits()
        .set("DATABASE_URL", &format!("{before}@{}/{name}", database.address))
        .set("DATABASE_ALLOW_UNSAFE", "true")
        .set("NATS_URL", &format!("nats://{}", bus.address))
        .set("SECRETS_MASTER_KEY", KEY)
        .set("CLUSTER_KEY", KEY)
        .set("SERVER_METRICS_TOKEN", "metrics")
        .set("NODES_LEASE_SECONDS", &size.lease.to_string());
    Seat { home, server: None, database, bus }
}

/// What a hook tells, and of which monitor.
fn of(hook: &Hook) -> (String, String) {
    let told = hook.json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&told["type"]), text(&told["data"]["monitor"]["monitorid"]))
}

/// `2026-11-15T09:30:00.123Z` as milliseconds.
fn millis(text: &str) -> Option<i64> {
    wakeful_core::time::Millis::parse(text).map(|at| at.0)
}
