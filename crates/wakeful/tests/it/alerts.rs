//! What happened is told, whatever happens to the process that tells it: killed
//! at any moment, and at each of the places where something could get lost.

use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use wakeful_testkit::{Client, Engine, Hook, Receiver, User, until};

use crate::home::{Home, Server, random_below};

const MONITORS: usize = 5;
const CHANGES: usize = 100;
/// Where a change of status and its news could part. Only what dies between the
/// sending and writing it down is sent again.
const PLACES: [&str; 5] =
    ["before-enqueue", "after-enqueue", "after-claim", "after-send", "after-acknowledgement"];
const SENT_TWICE: &str = "after-send";
/// The visit at which each place is deadly: four changes live, the fifth dies.
const DEADLY: u32 = 5;

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

    /// Reports a status; false when nobody was there to hear it.
    async fn report(&self, server: &Server, id: &str, status: &str) -> bool {
        let answer = reqwest::Client::new()
            .post(format!("{}/api/v1/monitor/notify/{id}", server.url))
            .bearer_auth(&self.ann.token)
            .json(&json!({"status": status}))
            .send()
            .await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }

    /// Whether all that was said so far has arrived, as the service sees it.
    async fn is_settled(&self, server: &Server) -> bool {
        let url = format!("{}/api/v1/notifier/{}/deliveries", server.url, self.notifier);
        let asked = reqwest::Client::new().get(url).bearer_auth(&self.ann.token).send().await;
        let Ok(answer) = asked else { return false };
        let Ok(json) = answer.json::<Value>().await else { return false };
        let all = json["deliveries"].as_array().cloned().unwrap_or_default();
        all.len() == self.changes() && all.iter().all(|one| one["state"] == "delivered")
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

/// One change at a time, so that each death has one change to lose.
#[tokio::test]
async fn no_change_of_status_goes_untold_wherever_the_process_dies() {
    let mut home = Home::new(Engine::Sqlite).await.without_limits();
    let mut server = home.serve().await;
    let mut story = Story::begin(&server).await;
    server.kill().await;
    let mut places = PLACES.iter().copied().cycle();
    let mut deaths: HashMap<&str, usize> = HashMap::new();
    let mut place = places.next().unwrap();
    home = home.dying_at(place, DEADLY);
    server = home.serve().await;
    for change in 0..CHANGES {
        let (id, status) = story.next(change);
        let mut reported = false;
        while !(reported && story.is_settled(&server).await) {
            if server.is_dead() {
                *deaths.entry(place).or_default() += 1;
                place = places.next().unwrap();
                home = home.dying_at(place, DEADLY);
                server = home.serve().await;
            }
            // Who gets no answer says it again.
            if !reported {
                reported = story.report(&server, &id, status).await;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    server.kill().await;
    server = home.living().serve().await;
    let again = story.all_told().await;
    assert!(PLACES.iter().all(|place| deaths.get(place) >= Some(&3)), "{deaths:?}");
    assert_eq!(again, deaths[SENT_TWICE], "only what died there is heard again: {deaths:?}");
    println!("{CHANGES} changes, deaths {deaths:?}, {again} heard twice");
    server.stop().await;
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
    assert!(story.report(&server, id, "down").await);
    story.receiver.received(3).await;
    assert!(story.report(&server, id, "up").await);
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
