//! Jobs that report continuously while nodes die and the database is down: a job that
//! reports is never marked as down.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use wakeful_testkit::{Client, DatabaseKind, Hook, PostgresServer, Receiver, User, until};

use super::testbed::KEY;
use crate::process::{Installation, Server};

const JOBS: usize = 12;
/// A job is late after both together, in seconds.
const INTERVAL: u64 = 2;
const GRACE: u64 = 2;
const MAX_SILENCE: Duration = Duration::from_secs(INTERVAL + GRACE);
/// How often each job reports.
const REPORT_INTERVAL: Duration = Duration::from_millis(300);
/// Longer than a job may be silent: after a node dies, reports of its jobs are not
/// processed for this long.
const LEASE: u64 = 5;

/// The number of accepted and rejected reports of each job.
#[derive(Default)]
struct Answers {
    taken: [AtomicU64; JOBS],
    refused: [AtomicU64; JOBS],
}

impl Answers {
    /// Waits for `count` more responses to each job.
    async fn more(&self, which: &[AtomicU64; JOBS], count: u64) {
        let before: Vec<u64> = which.iter().map(|one| one.load(Ordering::SeqCst)).collect();
        until("responses to reports", || async {
            let mut now = which.iter().zip(&before);
            now.all(|(now, before)| now.load(Ordering::SeqCst) >= before + count).then_some(())
        })
        .await;
    }
}

struct JobCluster {
    postgres: PostgresServer,
    one: Installation,
    two: Installation,
    first: Server,
    receiver: Receiver,
    ann: User,
    jobs: Vec<String>,
    answers: Arc<Answers>,
    reporting: JoinSet<()>,
}

impl JobCluster {
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

    /// Asserts that nothing was notified and all jobs are up.
    async fn assert_no_notifications(&self, after: &str) {
        let logs = || format!("{}\n---\n{}", self.one.log(), self.two.log());
        let events: Vec<Value> = self.receiver.hooks().iter().map(Hook::json).collect();
        assert!(events.is_empty(), "{after}: {events:?}\n{}", logs());
        for job in &self.jobs {
            let seen = self.ann.client.get(&format!("monitor/{job}/get")).await.ok();
            assert_eq!(seen["monitor"]["status"], "up", "{after}\n{}", logs());
        }
    }
}

async fn node(postgres: &PostgresServer) -> Installation {
    Installation::new(DatabaseKind::Sqlite)
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

/// Reports forever and only counts the responses.
async fn report(client: Client, job: String, number: usize, answers: Arc<Answers>) {
    let path = format!("monitor/notify/{job}");
    loop {
        let answer = client.post(&path, &json!({"status": "up"})).await;
        let counted = if answer.status == 200 { &answers.taken } else { &answers.refused };
        counted[number].fetch_add(1, Ordering::SeqCst);
        sleep(REPORT_INTERVAL).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reporting_jobs_stay_up_when_a_node_dies_or_the_database_is_down() {
    let mut works = JobCluster::build().await;
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
    works.assert_no_notifications("a node was killed").await;

    works.postgres.stop().await;
    let gone = Instant::now();
    works.answers.more(&works.answers.refused, 1).await;
    until("more than enough silence", || async {
        (gone.elapsed() > 2 * MAX_SILENCE).then_some(())
    })
    .await;
    works.postgres.begin().await;
    works.answers.more(&works.answers.taken, 5).await;
    works.assert_no_notifications("the database was down").await;

    // Now the jobs fall silent, and that is notified.
    works.reporting.shutdown().await;
    let hooks = works.receiver.wait_for_hooks(JOBS).await;
    assert!(hooks.iter().all(|hook| hook.json()["type"] == "monitor.down"));
    works.first.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_of_one_name_at_one_path_do_not_evict_each_other() {
    let installation =
        Installation::new(DatabaseKind::Postgres).await.set("SECRETS_MASTER_KEY", KEY);
    let first = installation.serve().await;
    // As on a clone of the machine: the same path, but another folder.
    let (data, before) = (installation.data(), installation.data().with_extension("first"));
    std::fs::rename(&data, &before).unwrap();
    std::fs::create_dir(&data).unwrap();
    let second = installation.serve().await;
    assert_eq!(
        installation.number("select count(*) from nodes").await,
        2,
        "{}",
        installation.log()
    );
    assert_eq!(
        installation.number("select count(distinct home) from nodes where home <> ''").await,
        2
    );
    // A node that restarts in the same folder replaces its predecessor at once.
    second.kill().await;
    let third = installation.serve().await;
    assert_eq!(
        installation.number("select count(*) from nodes").await,
        2,
        "{}",
        installation.log()
    );
    third.stop().await;
    first.stop().await;
    std::fs::remove_dir_all(&before).unwrap();
}
