//! Faults of the service itself: no file descriptors left, or no database. They mark no
//! target as down, and real outages are notified afterward.

use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::JoinSet;
use wakeful_testkit::{Client, DatabaseKind, Hook, Receiver, User, until};

use crate::process::Installation;

/// A target that accepts connections and counts them.
struct Target {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
    tasks: JoinSet<()>,
}

impl Target {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let (mut tasks, count) = (JoinSet::new(), asked.clone());
        tasks.spawn(async move {
            while listener.accept().await.is_ok() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self { address, asked, tasks }
    }

    async fn wait_for_checks(&self, times: usize) {
        let until_then = self.asked.load(Ordering::SeqCst) + times;
        let asked = || async { (self.asked.load(Ordering::SeqCst) >= until_then).then_some(()) };
        until("more checks", asked).await;
    }

    async fn go_down(&mut self) {
        self.tasks.shutdown().await;
    }
}

async fn notifier(ann: &User, receiver: &Receiver) -> Value {
    let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
    ann.client.post("notifier/save", &body).await.json()["notifierid"].clone()
}

async fn monitor(ann: &User, target: &Target, notifier: &Value) -> String {
    let body = json!({"name": "site", "type": "tcp", "hostname": "127.0.0.1",
        "port": target.address.port().to_string(), "heartbeat_interval": 1, "isactive": true,
        "upside_down_mode": false, "notifiers": notifier});
    let json = ann.client.post("monitor/save", &body).await.ok();
    json["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

async fn statuses(client: &Client) -> Vec<String> {
    let list = client.get("monitors").await.ok();
    let monitors = list["monitors"].as_array().unwrap().iter();
    monitors.map(|monitor| monitor["status"].as_str().unwrap().to_owned()).collect()
}

async fn all_up(client: &Client) {
    let up = || async { statuses(client).await.iter().all(|status| status == "up").then_some(()) };
    until("all to be up", up).await;
}

/// Sets the limit of open files of a process.
async fn allow_files(pid: u32, most: u32) {
    let limit = format!("--nofile={most}:");
    let set = Command::new("prlimit").args(["--pid", &pid.to_string(), &limit]).status().await;
    assert!(set.unwrap().success(), "prlimit");
}

#[tokio::test]
async fn without_file_handles_no_status_changes_and_nothing_is_sent() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let (receiver, target) = (Receiver::start().await, Target::start().await);
    let hook = notifier(&ann, &receiver).await;
    for _ in 0..4 {
        monitor(&ann, &target, &hook).await;
    }
    all_up(&ann.client).await;

    // Fewer than are open already, so that no more can be opened.
    allow_files(server.pid, 8).await;
    let options = SqliteConnectOptions::new().filename(installation.file());
    let db = sqlx::SqlitePool::connect_with(options).await.unwrap();
    let unknown = || async {
        let sql = "select count(*) from heartbeats
                   where status = 'unknown' and message like 'out of file descriptors%'";
        let count: i64 = sqlx::query_scalar(sql).fetch_one(&db).await.unwrap();
        (count >= 8).then_some(())
    };
    until("checks that could not be performed", unknown).await;
    let down: i64 = sqlx::query_scalar("select count(*) from heartbeats where status = 'down'")
        .fetch_one(&db)
        .await
        .unwrap();
    assert_eq!(down, 0);
    db.close().await;

    allow_files(server.pid, 1_024).await;
    target.wait_for_checks(8).await;
    all_up(&ann.client).await;
    assert!(receiver.hooks().is_empty());
    server.stop().await;
}

#[tokio::test]
async fn the_limit_of_open_files_is_raised_at_startup() {
    // The service inherits the limit of its parent process, which is this test.
    allow_files(std::process::id(), 256).await;
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let server = installation.serve().await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.pid)).unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let numbers: Vec<&str> = line.split_whitespace().take(2).collect();
    assert_eq!(numbers[0], numbers[1], "{line}");
    assert_ne!(numbers[0], "256");
    server.stop().await;
}

/// A proxy to the database that can be cut.
struct DatabaseProxy {
    address: SocketAddr,
    open: watch::Sender<bool>,
    _tasks: JoinSet<()>,
}

impl DatabaseProxy {
    async fn to(database: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let open = watch::Sender::new(true);
        let is_open = open.subscribe();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut passing = JoinSet::new();
            while let Ok((from, _)) = listener.accept().await {
                passing.spawn(pass(from, database, is_open.clone()));
            }
        });
        Self { address, open, _tasks: tasks }
    }
}

async fn pass(mut from: TcpStream, database: SocketAddr, mut open: watch::Receiver<bool>) {
    if !*open.borrow() {
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "to the test's own database on loopback")]
    let mut to = TcpStream::connect(database).await.unwrap();
    tokio::select! {
        _ = tokio::io::copy_bidirectional(&mut from, &mut to) => {}
        _ = open.wait_for(|open| !open) => {}
    }
}

/// An installation whose connections to PostgreSQL can be cut.
async fn behind_proxy() -> (Installation, DatabaseProxy) {
    let installation = Installation::new(DatabaseKind::Postgres).await.without_limits();
    let mut url = url::Url::parse(installation.database_url()).unwrap();
    let host = url.host_str().unwrap_or("127.0.0.1").to_owned();
    let database = format!("{host}:{}", url.port().unwrap_or(5432)).parse().unwrap();
    let way = DatabaseProxy::to(database).await;
    url.set_host(Some("127.0.0.1")).unwrap();
    url.set_port(Some(way.address.port())).unwrap();
    (installation.set("DATABASE_URL", url.as_str()), way)
}

#[tokio::test]
async fn while_postgresql_is_down_status_pages_show_what_the_node_itself_sees() {
    let (installation, way) = behind_proxy().await;
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let (healthy, mut failing) = (Target::start().await, Target::start().await);
    let (fine, ill) =
        (monitor(&ann, &healthy, &json!([])).await, monitor(&ann, &failing, &json!([])).await);
    all_up(&ann.client).await;
    let page = json!({"name": "Acme", "slug": "acme", "published": true, "sections": [{"components": [
        {"name": "Fine", "monitors": [fine]}, {"name": "Ill", "monitors": [ill]}]}]});
    ann.client.post("statuspage/save", &page).await.ok();
    let shown = async |what: &str, wanted: &dyn Fn(&Value) -> bool| {
        let client = server.anonymous();
        until(what, || async {
            let answer = client.get("/status/acme/index.json").await;
            (answer.status == 200 && wanted(&answer.json())).then_some(())
        })
        .await;
    };
    let status = |page: &Value, place: usize| {
        page["sections"][0]["components"][place]["status"].as_str().unwrap().to_owned()
    };
    let is_fine =
        |page: &Value| status(page, 0) == "operational" && status(page, 1) == "operational";
    shown("the page", &is_fine).await;

    let (views, failed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut visitors = JoinSet::new();
    for _ in 0..4 {
        let client = server.anonymous().with("accept", "text/html");
        let (views, failed) = (views.clone(), failed.clone());
        visitors.spawn(async move {
            loop {
                let answer = client.get("/status/acme").await;
                views.fetch_add(1, Ordering::SeqCst);
                failed.fetch_add(usize::from(answer.status != 200), Ordering::SeqCst);
            }
        });
    }
    way.open.send_replace(false);
    failing.go_down().await;
    shown("the outage, from memory", &|page| {
        page["delayed_since"].is_string()
            && status(page, 0) == "operational"
            && status(page, 1) == "major_outage"
    })
    .await;
    let front = server.anonymous().with("accept", "text/html").get("/status/acme").await;
    assert!(front.text.contains("Live data has been delayed since"), "{}", front.text);
    way.open.send_replace(true);
    shown("the outage, as recorded", &|page| {
        page["delayed_since"].is_null() && status(page, 1) == "major_outage"
    })
    .await;
    visitors.shutdown().await;
    let counts = (views.load(Ordering::SeqCst), failed.load(Ordering::SeqCst));
    assert!(counts.0 > 100 && counts.1 == 0, "views and failures: {counts:?}");
    server.stop().await;
}

#[tokio::test]
async fn while_postgresql_is_down_nothing_changes_and_an_outage_is_notified_afterward() {
    let (installation, way) = behind_proxy().await;
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let receiver = Receiver::start().await;
    let (healthy, mut failing) = (Target::start().await, Target::start().await);
    let hook = notifier(&ann, &receiver).await;
    monitor(&ann, &healthy, &hook).await;
    let ill = monitor(&ann, &failing, &hook).await;
    all_up(&ann.client).await;

    way.open.send_replace(false);
    failing.go_down().await;
    healthy.wait_for_checks(6).await;
    assert!(receiver.hooks().is_empty(), "nothing is notified before it is recorded");
    way.open.send_replace(true);

    assert_eq!(first_notifications(&receiver).await, [(json!("monitor.down"), json!(ill))]);
    healthy.wait_for_checks(2).await;
    let mut statuses = statuses(&ann.client).await;
    statuses.sort();
    assert_eq!(statuses, ["down", "up"]);
    assert_eq!(receiver.hooks().len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_database_locked_for_twenty_seconds_rejects_writes_serves_reads_and_notifies_the_outage()
{
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let receiver = Receiver::start().await;
    let (healthy, mut failing) = (Target::start().await, Target::start().await);
    let hook = notifier(&ann, &receiver).await;
    monitor(&ann, &healthy, &hook).await;
    let ill = monitor(&ann, &failing, &hook).await;
    all_up(&ann.client).await;

    let options = SqliteConnectOptions::new().filename(installation.file());
    let mut other = options.connect().await.unwrap();
    other.execute("begin exclusive").await.unwrap();
    let locked = Instant::now();
    failing.go_down().await;
    while locked.elapsed() < Duration::from_secs(20) {
        let asked = Instant::now();
        let body = json!({"name": "another", "type": "webhook", "webhook": {"url": receiver.url}});
        ann.client.post("notifier/save", &body).await.refused(503, "unavailable");
        let waited = asked.elapsed();
        assert!(waited < Duration::from_secs(6), "{waited:?}");
        assert_eq!(statuses(&ann.client).await, ["up", "up"], "reads continue");
    }
    healthy.wait_for_checks(2).await;
    assert!(receiver.hooks().is_empty(), "nothing is notified before it is recorded");
    other.execute("rollback").await.unwrap();
    other.close().await.unwrap();

    assert_eq!(first_notifications(&receiver).await, [(json!("monitor.down"), json!(ill))]);
    server.stop().await;
}

/// The first notifications, once there are any.
async fn first_notifications(receiver: &Receiver) -> Vec<(Value, Value)> {
    let notified = || async { (!receiver.hooks().is_empty()).then(|| receiver.hooks()) };
    let hooks = until("the outage to be notified", notified).await;
    let kind_and_monitor =
        |hook: Value| (hook["type"].clone(), hook["data"]["monitor"]["monitorid"].clone());
    hooks.iter().map(Hook::json).map(kind_and_monitor).collect()
}
