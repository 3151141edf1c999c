//! What happened is told, whatever happens to the process that tells it: killed
//! at any moment, and at each of the places where something could get lost.

use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use wakeful_testkit::{Client, Engine, Hook, Receiver, User, until};

use crate::home::{Home, Server, random_below};
use crate::smtp::Peer;

const MONITORS: usize = 5;
const CHANGES: usize = 100;
/// Where a change of status and its news could part. Only what dies between the
/// sending and writing it down is sent again.
const PLACES: [&str; 5] =
    ["before-enqueue", "after-enqueue", "after-claim", "after-send", "after-acknowledgement"];
const SENT_TWICE: &str = "after-send";
/// The visit at which each place is deadly: four changes live, the fifth dies.
const DEADLY: u32 = 5;
/// The same for mail. An inbox takes only a few letters a minute, so there are
/// many, and each gets only a few.
const INBOXES: usize = 10;
const MAILS: usize = 20;
const DEADLY_TO_MAIL: u32 = 2;

struct Story {
    receiver: Receiver,
    ann: User,
    notifier: String,
    monitors: Vec<String>,
    /// What each monitor's news should be, in order.
    said: HashMap<String, Vec<String>>,
}

impl Story {
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
        Self { receiver, ann, notifier, monitors, said: HashMap::new() }
    }

    /// The monitor whose turn it is, and what it reports now.
    fn next(&mut self, change: usize) -> (String, &'static str) {
        let id = self.monitors[change % MONITORS].clone();
        let told = self.said.entry(id.clone()).or_default();
        let status = if told.len().is_multiple_of(2) { "down" } else { "up" };
        told.push(format!("monitor.{status}"));
        (id, status)
    }

    fn client(&self, server: &Server) -> Client {
        server.anonymous().with_token(&self.ann.token)
    }

    fn changes(&self) -> usize {
        self.said.values().map(Vec::len).sum()
    }

    fn distinct(&self) -> usize {
        self.receiver.hooks().iter().map(Hook::id).collect::<HashSet<String>>().len()
    }

    /// Every change arrived, each monitor's in their order; answers how many
    /// were heard again.
    async fn all_told(&self) -> usize {
        until("every change to be told", || async {
            (self.distinct() >= self.changes()).then_some(())
        })
        .await;
        assert_eq!(self.distinct(), self.changes(), "an event has one id, sent twice or not");
        let mut heard: HashMap<String, Vec<String>> = HashMap::new();
        let mut known = HashSet::new();
        let hooks = self.receiver.hooks();
        for hook in hooks.iter().filter(|hook| known.insert(hook.id())) {
            let told = hook.json();
            let monitor = told["data"]["monitor"]["monitorid"].as_str().unwrap().to_owned();
            heard.entry(monitor).or_default().push(told["type"].as_str().unwrap().to_owned());
        }
        assert_eq!(heard, self.said, "each monitor's news in order");
        hooks.len() - self.changes()
    }
}

#[tokio::test]
async fn no_change_of_status_goes_untold_through_kill_9() {
    let home = Home::new(Engine::Sqlite).await.without_limits();
    let mut server = home.serve().await;
    let mut story = Story::begin(&server).await;
    story.receiver.takes(Duration::from_millis(20));
    let mut kills = 0;
    for change in 0..CHANGES {
        let (id, status) = story.next(change);
        let path = format!("monitor/notify/{id}");
        story.client(&server).post(&path, &json!({"status": status})).await.ok();
        if change % 8 == 7 {
            tokio::time::sleep(Duration::from_millis(random_below(60))).await;
            server.kill().await;
            kills += 1;
            server = home.serve().await;
        }
    }
    let again = story.all_told().await;
    println!("{CHANGES} changes, {kills} kills at random, {again} heard twice");
}

/// One change of status: the monitor, what it reports, the notifier, and how
/// many messages that one has had when this one has arrived.
struct Change {
    monitor: String,
    status: &'static str,
    notifier: String,
    arrived: usize,
}

impl Change {
    /// Reports it; false when nobody was there to hear it.
    async fn is_heard(&self, server: &Server, token: &str) -> bool {
        let answer = reqwest::Client::new()
            .post(format!("{}/api/v1/monitor/notify/{}", server.url, self.monitor))
            .bearer_auth(token)
            .json(&json!({"status": self.status}))
            .send()
            .await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }

    /// Whether it has arrived, and all before it, as the service sees it.
    async fn is_settled(&self, server: &Server, token: &str) -> bool {
        let url = format!("{}/api/v1/notifier/{}/deliveries", server.url, self.notifier);
        let asked = reqwest::Client::new().get(url).bearer_auth(token).send().await;
        let Ok(answer) = asked else { return false };
        let Ok(json) = answer.json::<Value>().await else { return false };
        let all = json["deliveries"].as_array().cloned().unwrap_or_default();
        all.len() == self.arrived && all.iter().all(|one| one["state"] == "delivered")
    }
}

/// Lets the service die at each place in turn, at the given visit, while these
/// happen one after the other, so that each death has one change to lose.
/// Answers how often it died where.
async fn dying(
    mut home: Home,
    token: &str,
    changes: &[Change],
    visit: u32,
) -> (Home, HashMap<&'static str, usize>) {
    let mut places = PLACES.iter().copied().cycle();
    let mut deaths: HashMap<&str, usize> = HashMap::new();
    let mut place = places.next().unwrap();
    home = home.dying_at(place, visit);
    let mut server = home.serve().await;
    for change in changes {
        let mut heard = false;
        while !(heard && change.is_settled(&server, token).await) {
            if server.is_dead() {
                *deaths.entry(place).or_default() += 1;
                place = places.next().unwrap();
                home = home.dying_at(place, visit);
                server = home.serve().await;
            }
            // Who gets no answer says it again.
            if !heard {
                heard = change.is_heard(&server, token).await;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    server.kill().await;
    (home.living(), deaths)
}

#[tokio::test]
async fn no_change_of_status_goes_untold_wherever_the_process_dies() {
    let home = Home::new(Engine::Sqlite).await.without_limits();
    let server = home.serve().await;
    let mut story = Story::begin(&server).await;
    server.kill().await;
    let mut changes = Vec::new();
    for arrived in 1..=CHANGES {
        let (monitor, status) = story.next(arrived);
        changes.push(Change { monitor, status, notifier: story.notifier.clone(), arrived });
    }
    let (home, deaths) = dying(home, &story.ann.token, &changes, DEADLY).await;
    let server = home.serve().await;
    let again = story.all_told().await;
    assert!(PLACES.iter().all(|place| deaths.get(place) >= Some(&3)), "{deaths:?}");
    assert_eq!(again, deaths[SENT_TWICE], "only what died there is heard again: {deaths:?}");
    println!("{CHANGES} changes, deaths {deaths:?}, {again} heard twice");
    server.stop().await;
}

/// The same by mail, to a server that is not ours.
#[tokio::test]
async fn no_mail_goes_unsent_wherever_the_process_dies() {
    let home = Home::new(Engine::Sqlite).await.without_limits();
    let server = home.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let peer = Peer::start("none", None, None).await;
    let mut jobs = Vec::new();
    for number in 0..INBOXES {
        let body = json!({"name": "mail", "type": "email", "email": {"hostname": "127.0.0.1",
            "port": peer.port, "from_email": "wakeful@example.com",
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
    let (_home, deaths) = dying(home, &ann.token, &changes, DEADLY_TO_MAIL).await;
    assert!(PLACES.iter().all(|place| deaths.get(place) >= Some(&2)), "{deaths:?}");
    let mails = peer.rest().await;
    let mut known = HashSet::new();
    let mut heard: HashMap<String, Vec<bool>> = HashMap::new();
    for mail in mails.iter().filter(|mail| known.insert(mail.field("message-id"))) {
        let is_down = mail.field("subject").starts_with("[Down]");
        heard.entry(mail.to.join(" ")).or_default().push(is_down);
    }
    assert_eq!(heard.len(), INBOXES);
    for (inbox, news) in heard {
        assert_eq!(news, [true, false], "{inbox}: all of it, in order");
    }
    let again = mails.len() - MAILS;
    assert_eq!(again, deaths[SENT_TWICE], "only what died there is heard again: {deaths:?}");
}

#[tokio::test]
async fn an_outage_that_lasts_is_told_again_each_second_if_so_set() {
    let home = Home::new(Engine::Sqlite).await.without_limits();
    let server = home.serve().await;
    let story = Story::begin(&server).await;
    let id = &story.monitors[0];
    let body = json!({"monitorid": id, "resend_interval": 1});
    let saved = story.client(&server).post("monitor/save", &body).await.ok();
    assert_eq!(saved["monitor"]["resend_interval"], 1);
    let path = format!("monitor/notify/{id}");
    story.client(&server).post(&path, &json!({"status": "down"})).await.ok();
    story.receiver.received(3).await;
    story.client(&server).post(&path, &json!({"status": "up"})).await.ok();
    let told = until("the end", || async {
        let hooks = story.receiver.hooks();
        let kinds: Vec<String> =
            hooks.iter().map(|hook| hook.json()["type"].as_str().unwrap().to_owned()).collect();
        kinds.iter().any(|kind| kind == "monitor.up").then_some(kinds)
    })
    .await;
    assert_eq!((told[0].as_str(), told.last().unwrap().as_str()), ("monitor.down", "monitor.up"));
    assert!(told[1..told.len() - 1].iter().all(|kind| kind == "monitor.reminder"), "{told:?}");
    server.stop().await;
}
