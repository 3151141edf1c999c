//! Every status change is notified, even if the process is killed at any moment, and at
//! each place where a notification could get lost.

use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use wakeful_testkit::{Client, DatabaseKind, Hook, Receiver, User, until, until_within};

use crate::process::{Installation, Server, random_below};
use crate::smtp::MailServer;

const MONITORS: usize = 5;
const CHANGES: usize = 100;
/// The places where a crash could separate a status change from its notification. Only
/// after a crash between sending and recording is a message sent again.
const FAILPOINTS: [&str; 7] = [
    "before-decision",
    "after-decision",
    "before-enqueue",
    "after-enqueue",
    "after-claim",
    "after-send",
    "after-acknowledgement",
];
/// Those that depend on how a message is sent.
const DELIVERY_FAILPOINTS: &[&str] = FAILPOINTS.split_at(2).1;
const SENT_TWICE: &str = "after-send";
/// The visit at which a failpoint crashes the process: at every fifth change.
const FAILPOINT_VISIT: u32 = 5;
/// An inbox accepts only a few mails per minute, so there are several.
const INBOXES: usize = 10;
const MAILS: usize = 20;
/// How long the steps of the most outages may take.
const MAX_ESCALATION: Duration = Duration::from_secs(120);
const MAIL_FAILPOINT_VISIT: u32 = 2;

struct Scenario {
    receiver: Receiver,
    ann: User,
    notifier: String,
    monitors: Vec<String>,
    /// The expected events of each monitor, in order.
    expected: HashMap<String, Vec<String>>,
}

impl Scenario {
    async fn begin(server: &Server) -> Self {
        let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
        let receiver = Receiver::start().await;
        let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let made = ann.client.post("notifier/save", &body).await.json();
        let notifier = made["notifierid"].as_str().unwrap().to_owned();
        let mut monitors = Vec::new();
        for number in 0..MONITORS {
            let body = json!({"name": format!("job {number}"), "type": "api", "isactive": true,
                "heartbeat_interval": 86400, "upside_down_mode": false, "notifiers": notifier});
            let made = ann.client.post("monitor/save", &body).await.ok();
            monitors.push(made["monitor"]["monitorid"].as_str().unwrap().to_owned());
        }
        Self { receiver, ann, notifier, monitors, expected: HashMap::new() }
    }

    /// The next monitor and the status it reports.
    fn next(&mut self, change: usize) -> (String, &'static str) {
        let id = self.monitors[change % MONITORS].clone();
        let events = self.expected.entry(id.clone()).or_default();
        let status = if events.len().is_multiple_of(2) { "down" } else { "up" };
        events.push(format!("monitor.{status}"));
        (id, status)
    }

    fn client(&self, server: &Server) -> Client {
        server.anonymous().with_token(&self.ann.token)
    }

    fn changes(&self) -> usize {
        self.expected.values().map(Vec::len).sum()
    }

    fn distinct(&self) -> usize {
        self.receiver.hooks().iter().map(Hook::id).collect::<HashSet<String>>().len()
    }

    /// Asserts that every change arrived, in order for each monitor. Returns the number of
    /// repeated messages.
    async fn distinct_deliveries(&self) -> usize {
        until("every change to be notified", || async {
            (self.distinct() >= self.changes()).then_some(())
        })
        .await;
        assert_eq!(
            self.distinct(),
            self.changes(),
            "an event has one id, even if it is sent twice"
        );
        let mut received: HashMap<String, Vec<String>> = HashMap::new();
        let mut known = HashSet::new();
        let hooks = self.receiver.hooks();
        for hook in hooks.iter().filter(|hook| known.insert(hook.id())) {
            let event = hook.json();
            let monitor = event["data"]["monitor"]["monitorid"].as_str().unwrap().to_owned();
            received.entry(monitor).or_default().push(event["type"].as_str().unwrap().to_owned());
        }
        assert_eq!(received, self.expected, "each monitor's events in order");
        hooks.len() - self.changes()
    }
}

#[tokio::test]
async fn no_status_change_is_lost_through_kill_9() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let mut server = installation.serve().await;
    let mut scenario = Scenario::begin(&server).await;
    scenario.receiver.answer_after(Duration::from_millis(20));
    let mut kills = 0;
    for change in 0..CHANGES {
        let (id, status) = scenario.next(change);
        let path = format!("monitor/notify/{id}");
        scenario.client(&server).post(&path, &json!({"status": status})).await.ok();
        if change % 8 == 7 {
            tokio::time::sleep(Duration::from_millis(random_below(60))).await;
            server.kill().await;
            kills += 1;
            server = installation.serve().await;
        }
    }
    let again = scenario.distinct_deliveries().await;
    println!("{CHANGES} changes, {kills} kills at random, {again} sent twice");
}

/// One status change: the monitor, the status it reports, the notifier, and the number of
/// the notifier's messages once this one has arrived.
struct Change {
    monitor: String,
    status: &'static str,
    notifier: String,
    arrived: usize,
}

impl Change {
    /// Reports it; false if the server was down.
    async fn report(&self, server: &Server, token: &str) -> bool {
        let answer = reqwest::Client::new()
            .post(format!("{}/api/v1/monitor/notify/{}", server.url, self.monitor))
            .bearer_auth(token)
            .json(&json!({"status": self.status}))
            .send()
            .await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }

    /// Whether it and all before it have arrived, according to the service.
    async fn has_arrived(&self, server: &Server, token: &str) -> bool {
        let url = format!("{}/api/v1/notifier/{}/deliveries", server.url, self.notifier);
        let asked = reqwest::Client::new().get(url).bearer_auth(token).send().await;
        let Ok(answer) = asked else { return false };
        let Ok(json) = answer.json::<Value>().await else { return false };
        let all = json["deliveries"].as_array().cloned().unwrap_or_default();
        all.len() == self.arrived && all.iter().all(|one| one["state"] == "delivered")
    }
}

/// Crashes the service at each failpoint in turn, at the given visit, while these changes
/// happen one after the other, so that each crash could lose one change. Returns the
/// number of crashes at each failpoint.
async fn run_with_crashes(
    mut installation: Installation,
    token: &str,
    changes: &[Change],
    failpoints: &[&'static str],
    visit: u32,
) -> (Installation, HashMap<&'static str, usize>) {
    let mut places = failpoints.iter().copied().cycle();
    let mut deaths: HashMap<&str, usize> = HashMap::new();
    let mut place = places.next().unwrap();
    installation = installation.with_failpoint(place, visit);
    let mut server = installation.serve().await;
    for change in changes {
        let mut reported = false;
        while !(reported && change.has_arrived(&server, token).await) {
            if server.is_dead() {
                *deaths.entry(place).or_default() += 1;
                place = places.next().unwrap();
                installation = installation.with_failpoint(place, visit);
                server = installation.serve().await;
            }
            // A report without a response is repeated.
            if !reported {
                reported = change.report(&server, token).await;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    server.kill().await;
    (installation.without_failpoint(), deaths)
}

#[tokio::test]
async fn no_status_change_is_lost_wherever_the_process_dies() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let server = installation.serve().await;
    let mut scenario = Scenario::begin(&server).await;
    server.kill().await;
    let mut changes = Vec::new();
    for arrived in 1..=CHANGES {
        let (monitor, status) = scenario.next(arrived);
        changes.push(Change { monitor, status, notifier: scenario.notifier.clone(), arrived });
    }
    let (installation, deaths) =
        run_with_crashes(installation, &scenario.ann.token, &changes, &FAILPOINTS, FAILPOINT_VISIT)
            .await;
    let server = installation.serve().await;
    let again = scenario.distinct_deliveries().await;
    assert!(FAILPOINTS.iter().all(|place| deaths.get(place) >= Some(&3)), "{deaths:?}");
    assert_eq!(
        again, deaths[SENT_TWICE],
        "only messages of that failpoint are repeated: {deaths:?}"
    );
    println!("{CHANGES} changes, deaths {deaths:?}, {again} sent twice");
    server.stop().await;
}

/// The same by mail, to an independent mail server.
#[tokio::test]
async fn no_mail_is_lost_wherever_the_process_dies() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let mail_server = MailServer::start("none", None, None).await;
    let mut jobs = Vec::new();
    for number in 0..INBOXES {
        let body = json!({"name": "mail", "type": "email", "email": {"hostname": "127.0.0.1",
            "port": mail_server.port, "from_email": "wakeful@example.com",
            "to_email": format!("inbox{number}@example.com")}});
        let made = ann.client.post("notifier/save", &body).await.json();
        let notifier = made["notifierid"].as_str().unwrap().to_owned();
        let body = json!({"name": format!("job {number}"), "type": "api", "isactive": true,
            "heartbeat_interval": 86400, "upside_down_mode": false, "notifiers": notifier});
        let made = ann.client.post("monitor/save", &body).await.ok();
        jobs.push((made["monitor"]["monitorid"].as_str().unwrap().to_owned(), notifier));
    }
    server.kill().await;
    let mut changes = Vec::new();
    for change in 0..MAILS {
        let (monitor, notifier) = jobs[change % INBOXES].clone();
        let arrived = change / INBOXES + 1;
        let status = if arrived % 2 == 1 { "down" } else { "up" };
        changes.push(Change { monitor, status, notifier, arrived });
    }
    let (_home, deaths) = run_with_crashes(
        installation,
        &ann.token,
        &changes,
        DELIVERY_FAILPOINTS,
        MAIL_FAILPOINT_VISIT,
    )
    .await;
    assert!(DELIVERY_FAILPOINTS.iter().all(|place| deaths.get(place) >= Some(&2)), "{deaths:?}");
    let mails = mail_server.rest().await;
    let mut known = HashSet::new();
    let mut received: HashMap<String, Vec<bool>> = HashMap::new();
    for mail in mails.iter().filter(|mail| known.insert(mail.field("message-id"))) {
        let is_down = mail.field("subject").starts_with("[Down]");
        received.entry(mail.to.join(" ")).or_default().push(is_down);
    }
    assert_eq!(received.len(), INBOXES);
    for (inbox, downs) in received {
        assert_eq!(downs, [true, false], "{inbox}: all mails, in order");
    }
    let again = mails.len() - MAILS;
    assert_eq!(
        again, deaths[SENT_TWICE],
        "only messages of that failpoint are repeated: {deaths:?}"
    );
}

#[tokio::test]
async fn reminders_of_an_outage_are_sent_at_the_configured_interval() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let server = installation.serve().await;
    let scenario = Scenario::begin(&server).await;
    let id = &scenario.monitors[0];
    let body = json!({"monitorid": id, "resend_interval": 1});
    let saved = scenario.client(&server).post("monitor/save", &body).await.ok();
    assert_eq!(saved["monitor"]["resend_interval"], 1);
    let path = format!("monitor/notify/{id}");
    scenario.client(&server).post(&path, &json!({"status": "down"})).await.ok();
    scenario.receiver.wait_for_hooks(3).await;
    scenario.client(&server).post(&path, &json!({"status": "up"})).await.ok();
    let kinds = until("the end", || async {
        let hooks = scenario.receiver.hooks();
        let kinds: Vec<String> =
            hooks.iter().map(|hook| hook.json()["type"].as_str().unwrap().to_owned()).collect();
        kinds.iter().any(|kind| kind == "monitor.up").then_some(kinds)
    })
    .await;
    assert_eq!((kinds[0].as_str(), kinds.last().unwrap().as_str()), ("monitor.down", "monitor.up"));
    assert!(kinds[1..kinds.len() - 1].iter().all(|kind| kind == "monitor.reminder"), "{kinds:?}");
    server.stop().await;
}

/// Outages with a policy of three steps a second apart, while the service is killed at random.
/// The first step reaches one receiver, the second one more, the third all three.
async fn escalate_through_kills(outages: usize) {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let mut server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let mut receivers = Vec::new();
    let mut targets = Vec::new();
    for name in ["a", "b", "c"] {
        let receiver = Receiver::start().await;
        let body = json!({"name": name, "type": "webhook", "webhook": {"url": receiver.url}});
        let made = ann.client.post("notifier/save", &body).await.json();
        targets.push(json!({"notifierid": made["notifierid"]}));
        receivers.push(receiver);
    }
    let step = |place: usize| json!({"after": place.min(1), "notify": targets[..=place]});
    let policy = json!({"name": "three steps", "steps": [step(0), step(1), step(2)]});
    let policy = ann.client.post("policy/save", &policy).await.ok()["policy"]["policyid"].clone();
    for number in 0..outages {
        let body = json!({"name": format!("job {number}"), "type": "api", "isactive": true,
            "heartbeat_interval": 86400, "upside_down_mode": false, "notifiers": "",
            "policyid": policy});
        let made = ann.client.post("monitor/save", &body).await.ok();
        let monitor = made["monitor"]["monitorid"].as_str().unwrap().to_owned();
        let client = server.anonymous().with_token(&ann.token);
        client.post(&format!("monitor/notify/{monitor}"), &json!({"status": "down"})).await.ok();
    }
    let mut kills = 0;
    let outages_at = |receiver: &Receiver| {
        let hooks = receiver.hooks();
        let downs = hooks.iter().filter(|hook| hook.json()["type"] == "monitor.down");
        downs.map(Hook::id).collect::<HashSet<String>>().len()
    };
    while outages_at(&receivers[2]) < outages && kills < 12 {
        tokio::time::sleep(Duration::from_millis(random_below(400))).await;
        server.kill().await;
        kills += 1;
        server = installation.serve().await;
    }
    until_within(MAX_ESCALATION, "the last step of every outage", || async {
        (outages_at(&receivers[2]) == outages).then_some(())
    })
    .await;
    let client = server.anonymous().with_token(&ann.token);
    let list = client.get("alerts").await.ok();
    let alerts = list["alerts"].as_array().unwrap();
    assert_eq!(alerts.len(), outages);
    let mut messages = 0;
    for alert in alerts {
        let id = alert["alertid"].as_str().unwrap();
        let detail = client.get(&format!("alert/{id}/get")).await.ok();
        let notes = detail["timeline"].as_array().unwrap().iter();
        let escalated: Vec<&Value> = notes.filter(|note| note["kind"] == "escalated").collect();
        let steps: Vec<&str> =
            escalated.iter().map(|note| note["text"].as_str().unwrap()).collect();
        assert_eq!(steps, ["step 1: a", "step 2: a, b", "step 3: a, b, c"], "each step once");
        // Steps that are due together are one message to all their targets, and each step has
        // those of the one before and one more.
        let mut targets: HashMap<&str, usize> = HashMap::new();
        for (place, note) in escalated.iter().enumerate() {
            targets.insert(note["at"].as_str().unwrap(), place + 1);
        }
        let expected: usize = targets.values().sum();
        messages += expected;
        assert_eq!(alert["deliveries"].as_array().unwrap().len(), expected, "steps × targets");
        let mut known = HashSet::new();
        for delivery in alert["deliveries"].as_array().unwrap() {
            let of = |field: &str| delivery[field].as_str().unwrap().to_owned();
            let is_outage = of("type") == "monitor.down";
            let first = is_outage.then(|| of("name"));
            assert!(first.is_none_or(|name| known.insert(name)), "the outage once to each");
        }
        assert_eq!(known.len(), 3, "every receiver was notified of the outage");
    }
    let ids_at = |receiver: &Receiver| {
        receiver.hooks().iter().map(Hook::id).collect::<HashSet<String>>().len()
    };
    until("a message for each step and target", || async {
        (receivers.iter().map(ids_at).sum::<usize>() == messages).then_some(())
    })
    .await;
    for event in receivers.iter().flat_map(Receiver::hooks).map(|hook| hook.json()) {
        let seconds = event["data"]["down_seconds"].as_u64().unwrap();
        let step = event["data"]["step"].as_u64().unwrap_or(1);
        assert!(seconds + 1 >= step, "never early: step {step} after {seconds} s");
    }
}

#[tokio::test]
async fn every_escalation_step_is_taken_once_through_kill_9() {
    escalate_through_kills(4).await;
}

#[tokio::test]
#[ignore = "100 outages"]
async fn every_escalation_step_is_taken_once_through_kill_9_100_times() {
    escalate_through_kills(100).await;
}
