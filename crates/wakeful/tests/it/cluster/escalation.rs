//! Two nodes that decide about the same alerts: a frozen one delays an escalation step by a few
//! seconds, and none is taken twice; a check of a monitor that the other node owns is requested.

use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::sleep;
use wakeful_core::time::Millis;
use wakeful_testkit::{
    Client, Database, DatabaseKind, Hook, NatsServer, Receiver, User, until, until_within,
};

use super::testbed::KEY;
use crate::process::{Installation, Server};

const LEASE: u64 = 3;
const OUTAGES: usize = 6;
const STEPS: usize = 4;
/// Seconds between steps: a node is frozen for longer, so the other one takes those that are due.
const STEP: u64 = 4;
const MAX_LATE: u64 = 30;
/// How long all steps may take.
const MAX_ESCALATION: Duration = Duration::from_secs((STEP + MAX_LATE) * STEPS as u64);
/// So many that the slots of some of them are on both nodes.
const PAIRS: usize = 16;

struct Cluster {
    database: Database,
    /// Carries requests for checks to the nodes that own the monitors.
    _nats: NatsServer,
    nodes: [Server; 2],
    installations: [Installation; 2],
    receiver: Receiver,
    hook: Value,
    ann: User,
}

impl Cluster {
    async fn build() -> Self {
        let database = Database::new(DatabaseKind::Postgres).await;
        let nats = NatsServer::start().await;
        let node = async || {
            Installation::new(DatabaseKind::Sqlite)
                .await
                .without_limits()
                .set("DATABASE_URL", database.url())
                .set("DATABASE_ALLOW_UNSAFE", "true")
                .set("NATS_URL", &nats.url())
                .set("SECRETS_MASTER_KEY", KEY)
                .set("CLUSTER_KEY", KEY)
                .set("NODES_LEASE_SECONDS", &LEASE.to_string())
        };
        let installations = [node().await, node().await];
        let nodes = [installations[0].serve().await, installations[1].serve().await];
        let ann = User::sign_up(&nodes[0].anonymous(), "ann@example.com").await;
        let receiver = Receiver::start().await;
        let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let hook = ann.client.post("notifier/save", &body).await.json()["notifierid"].clone();
        let cluster = Self { database, _nats: nats, nodes, installations, receiver, hook, ann };
        cluster.wait_until_balanced().await;
        cluster
    }

    fn client(&self, node: usize) -> Client {
        self.nodes[node].anonymous().with_token(&self.ann.token)
    }

    async fn wait_until_balanced(&self) {
        let balanced = "select count(*) from (select owner from slots where owner is not null
            group by owner having count(*) > 400) as shares";
        until("both nodes to own slots", async || {
            (self.database.number(balanced).await == 2).then_some(())
        })
        .await;
    }

    async fn save(&self, body: &Value) -> String {
        let mut whole = json!({"isactive": true, "upside_down_mode": false});
        whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        let saved = self.client(0).post("monitor/save", &whole).await.ok();
        saved["monitor"]["monitorid"].as_str().unwrap().to_owned()
    }

    async fn report_down(&self, number: usize, monitor: &str) {
        let path = format!("monitor/notify/{monitor}");
        self.client(number % 2).post(&path, &json!({"status": "down"})).await.ok();
    }

    /// Waits until this many messages have been sent, and recorded as such.
    async fn wait_for_messages(&self, count: usize) {
        until_within(MAX_ESCALATION, "messages", async || {
            let delivered = "select count(*) from deliveries where state = 'delivered'";
            let done = self.database.number(delivered).await;
            (usize::try_from(done).unwrap() >= count).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes half a minute: make test-long"]
async fn a_frozen_node_delays_an_escalation_step_and_none_is_taken_twice() {
    let cluster = Cluster::build().await;
    let client = cluster.client(0);
    let step = |place: usize| json!({"after": if place == 0 { 0 } else { STEP }, "notify": [{"notifierid": cluster.hook}]});
    let steps: Vec<Value> = (0..STEPS).map(step).collect();
    let policy = json!({"name": "steps", "steps": steps});
    let policy = client.post("policy/save", &policy).await.ok()["policy"]["policyid"].clone();
    for number in 0..OUTAGES {
        let job = json!({"name": format!("job {number}"), "type": "api", "notifiers": "",
            "heartbeat_interval": 86400, "policyid": policy});
        let id = cluster.save(&job).await;
        cluster.report_down(number, &id).await;
    }
    for frozen in [0, 1] {
        cluster.wait_for_messages(OUTAGES * (frozen + 1)).await;
        cluster.nodes[frozen].signal("STOP").await;
        // Twice the lease: the other node takes over.
        sleep(Duration::from_secs(2 * LEASE)).await;
        cluster.nodes[frozen].signal("CONT").await;
    }
    cluster.wait_for_messages(OUTAGES * STEPS).await;
    let hooks = cluster.receiver.hooks();
    let distinct: HashSet<String> = hooks.iter().map(Hook::id).collect();
    assert_eq!((hooks.len(), distinct.len()), (OUTAGES * STEPS, OUTAGES * STEPS), "none twice");
    let mut times: HashMap<String, Vec<Millis>> = HashMap::new();
    for event in hooks.iter().map(Hook::json) {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let at = Millis::parse(&text(&event["timestamp"])).unwrap();
        times.entry(text(&event["data"]["alertid"])).or_default().push(at);
    }
    assert_eq!(times.len(), OUTAGES);
    let mut latest = 0;
    for mut of_alert in times.into_values() {
        of_alert.sort_unstable();
        for pair in of_alert.windows(2) {
            let waited = pair[1].since(pair[0]).as_secs();
            assert!((STEP - 1..=STEP + MAX_LATE).contains(&waited), "a step after {waited} s");
            latest = latest.max(waited.saturating_sub(STEP));
        }
    }
    assert!(latest <= MAX_LATE, "{latest} s late");
    for node in cluster.nodes {
        node.stop().await;
    }
    drop(cluster.installations);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes several seconds: make test-long"]
async fn a_check_of_a_parent_is_requested_from_the_node_that_owns_it() {
    let cluster = Cluster::build().await;
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = target.local_addr().unwrap().port().to_string();
    let mut children = Vec::new();
    for number in 0..PAIRS {
        let parent = cluster
            .save(&json!({"name": format!("parent {number}"), "type": "tcp",
                "hostname": "127.0.0.1", "port": port, "heartbeat_interval": 3600,
                "retries": 0, "notifiers": cluster.hook}))
            .await;
        let child = cluster
            .save(&json!({"name": format!("child {number}"), "type": "api",
                "heartbeat_interval": 86400, "notifiers": cluster.hook, "depends_on": parent}))
            .await;
        children.push(child);
    }
    let apart = "select count(*) from dependencies d
        join monitors c on c.id = d.child_id join slots cs on cs.slot = c.slot
        join monitors p on p.id = d.parent_id join slots ps on ps.slot = p.slot
        where cs.owner <> ps.owner";
    assert!(cluster.database.number(apart).await > 0, "some pairs are on both nodes");
    let up = "select count(*) from monitor_states where status = 'up'";
    until("the parents to be up", async || {
        (cluster.database.number(up).await >= PAIRS as i64).then_some(())
    })
    .await;
    drop(target);
    for (number, child) in children.iter().enumerate() {
        cluster.report_down(number, child).await;
    }
    let hooks = cluster.receiver.wait_for_hooks(PAIRS).await;
    let suppressed = "select count(*) from alerts where status = 'suppressed'";
    until("the children to be suppressed", async || {
        (cluster.database.number(suppressed).await == PAIRS as i64).then_some(())
    })
    .await;
    let names: HashSet<String> = hooks
        .iter()
        .map(|hook| hook.json()["data"]["monitor"]["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names.len(), PAIRS, "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("parent")), "{names:?}");
    assert_eq!(cluster.receiver.count(), PAIRS, "nothing about the children");
    for node in cluster.nodes {
        node.stop().await;
    }
    drop(cluster.installations);
}
