//! Jobs that report by themselves, all the time, to nodes that die and to a
//! database that goes away: whoever reports is never told to be down.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use wakeful_testkit::{Client, Engine, Hook, PostgresServer, Receiver, User, until};

use super::town::KEY;
use crate::home::{Home, Server};

const JOBS: usize = 12;
/// A job is late after both of them, in seconds.
const INTERVAL: u64 = 2;
const GRACE: u64 = 2;
const SILENCE: Duration = Duration::from_secs(INTERVAL + GRACE);
/// How often each job reports.
const EVERY: Duration = Duration::from_millis(300);
/// Longer than a job may be silent: a node that dies leaves its jobs unheard for so long.
const LEASE: u64 = 5;

/// What each job has been answered so far.
#[derive(Default)]
struct Answers {
    taken: [AtomicU64; JOBS],
    refused: [AtomicU64; JOBS],
}

impl Answers {
    /// Waits until each job was answered so many times more.
    async fn more(&self, which: &[AtomicU64; JOBS], count: u64) {
        let before: Vec<u64> = which.iter().map(|one| one.load(Ordering::SeqCst)).collect();
        until("reports to be answered", || async {
            let mut now = which.iter().zip(&before);
            now.all(|(now, before)| now.load(Ordering::SeqCst) >= before + count).then_some(())
        })
        .await;
    }
}

struct Works {
    postgres: PostgresServer,
    one: Home,
    two: Home,
    first: Server,
    receiver: Receiver,
    ann: User,
    jobs: Vec<String>,
    answers: Arc<Answers>,
    reporting: JoinSet<()>,
}

impl Works {
    async fn build() -> Self {
        let postgres = PostgresServer::start().await;
        let (one, two) = (node(&postgres).await, node(&postgres).await);
        let first = one.serve().await;
        let ann = User::sign_up(&first.anonymous(), "ann@example.com").await;
        let receiver = Receiver::start().await;
        let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let hook = ann.client.post("notifier/save", &body).await.json();
        let mut jobs = Vec::new();
        for number in 0..JOBS {
            jobs.push(save(&ann.client, number, &hook["notifierid"]).await);
        }
        let answers = Arc::new(Answers::default());
        let mut reporting = JoinSet::new();
        for (number, job) in jobs.iter().enumerate() {
            let (client, answers) = (ann.client.clone(), Arc::clone(&answers));
            reporting.spawn(report(client, job.clone(), number, answers));
        }
        answers.more(&answers.taken, 1).await;
        Self { postgres, one, two, first, receiver, ann, jobs, answers, reporting }
    }

    async fn owners(&self) -> i64 {
        let sql = "select count(distinct owner) from slots where owner in (select id from nodes)";
        wakeful_testkit::number(&self.postgres.url(), sql).await
    }

    /// Nobody was told of anything, and all are up.
    async fn nothing_was_told(&self, after: &str) {
        let logs = || format!("{}\n---\n{}", self.one.log(), self.two.log());
        let told: Vec<Value> = self.receiver.hooks().iter().map(Hook::json).collect();
        assert!(told.is_empty(), "{after}: {told:?}\n{}", logs());
        for job in &self.jobs {
            let seen = self.ann.client.get(&format!("monitor/{job}/get")).await.ok();
            assert_eq!(seen["monitor"]["status"], "up", "{after}\n{}", logs());
        }
    }
}

async fn node(postgres: &PostgresServer) -> Home {
    Home::new(Engine::Sqlite)
        .await
        .without_limits()
        .set("DATABASE_URL", &postgres.url())
        .set("DATABASE_ALLOW_UNSAFE", "true")
        .set("SECRETS_MASTER_KEY", KEY)
        .set("SERVER_METRICS_TOKEN", "metrics")
        .set("NODES_LEASE_SECONDS", &LEASE.to_string())
}

async fn save(client: &Client, number: usize, hook: &Value) -> String {
    let body = json!({"name": format!("job {number}"), "type": "api", "isactive": true,
        "heartbeat_interval": INTERVAL, "grace": GRACE, "upside_down_mode": false,
        "notifiers": hook});
    let saved = client.post("monitor/save", &body).await.ok();
    saved["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

/// Reports for ever, and does not mind what it is answered.
async fn report(client: Client, job: String, number: usize, answers: Arc<Answers>) {
    let path = format!("monitor/notify/{job}");
    loop {
        let answer = client.post(&path, &json!({"status": "up"})).await;
        let counted = if answer.status == 200 { &answers.taken } else { &answers.refused };
        counted[number].fetch_add(1, Ordering::SeqCst);
        sleep(EVERY).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_that_report_are_not_told_down_when_a_node_dies_or_the_database_is_away() {
    let mut works = Works::build().await;
    let second = works.two.serve().await;
    until("both to hold slots", || async { (works.owners().await == 2).then_some(()) }).await;
    works.answers.more(&works.answers.taken, 2).await;
    second.kill().await;
    until("one to hold all", || async {
        let held = format!("{}/metrics", works.first.url);
        let text = reqwest::Client::new().get(held).bearer_auth("metrics").send().await.ok()?;
        let text = text.text().await.ok()?;
        text.lines().any(|line| line == "wakeful_slots_held 1024").then_some(())
    })
    .await;
    works.answers.more(&works.answers.taken, 5).await;
    works.nothing_was_told("a node was killed").await;

    works.postgres.stop().await;
    let gone = Instant::now();
    works.answers.more(&works.answers.refused, 1).await;
    until("more than enough silence", || async { (gone.elapsed() > 2 * SILENCE).then_some(()) })
        .await;
    works.postgres.begin().await;
    works.answers.more(&works.answers.taken, 5).await;
    works.nothing_was_told("the database was away").await;

    // Now they fall silent, and that is told.
    works.reporting.shutdown().await;
    let hooks = works.receiver.received(JOBS).await;
    assert!(hooks.iter().all(|hook| hook.json()["type"] == "monitor.down"));
    works.first.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_of_one_name_at_one_path_do_not_bury_each_other() {
    let home = Home::new(Engine::Postgres).await.set("SECRETS_MASTER_KEY", KEY);
    let first = home.serve().await;
    // What a clone of the machine sees: the same path, and another folder there.
    let (data, before) = (home.data(), home.data().with_extension("first"));
    std::fs::rename(&data, &before).unwrap();
    std::fs::create_dir(&data).unwrap();
    let second = home.serve().await;
    assert_eq!(home.number("select count(*) from nodes").await, 2, "{}", home.log());
    assert_eq!(home.number("select count(distinct home) from nodes where home <> ''").await, 2);
    // Who starts again in the same folder follows at once.
    second.kill().await;
    let third = home.serve().await;
    assert_eq!(home.number("select count(*) from nodes").await, 2, "{}", home.log());
    third.stop().await;
    first.stop().await;
    std::fs::remove_dir_all(&before).unwrap();
}
