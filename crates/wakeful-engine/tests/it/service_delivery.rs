//! Tests of notifications to services that people read: their rate limit, messages about many
//! events, and that one service does not delay another.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::HashSet;
use std::time::{Duration, Instant};
use wakeful_core::alerting::alert::{Alert, AlertKind};
use wakeful_core::heartbeat::{Beat, Heartbeat};
use wakeful_core::id::{AlertId, EventId, MonitorId, NotifierId};
use wakeful_core::monitors::Name;
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::notifications::notifier::Kind;
use wakeful_core::severity::Severity;
use wakeful_core::verdict::{State, Status};
use wakeful_engine::alerting::processor::process_due;
use wakeful_store::{NewEvent, Record};
use wakeful_testkit::fakes::{FakeService, Trouble};
use wakeful_testkit::{
    DatabaseKind, Receiver, Setup, both_databases, system, until, until_within, whole,
};

use crate::delivery_fixture::{DeliveryFixture, all_are, deliveries, job, mail, report};

const MINUTE: Duration = Duration::from_secs(61);
/// How long the longest storm may take.
const MAX_STORM: Duration = Duration::from_secs(300);

/// The events that each message was about, by its title.
fn counts(fixture: &DeliveryFixture<FakeService>) -> Vec<usize> {
    let number = |text: &str| {
        let (before, _) = text.split_once(" changes: ")?;
        before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    fixture.receiver.conversation().iter().map(|one| number(&one.text).unwrap_or(1)).collect()
}

async fn send_all(fixture: &DeliveryFixture<FakeService>) {
    let minutes = Cell::new(1);
    until("all to be delivered", || async {
        let all = fixture.deliveries().await;
        if all.iter().all(|one| one["state"] == "delivered") {
            return Some(());
        }
        let sent = fixture.receiver.conversation().len();
        assert!(sent <= 6 * minutes.get(), "six a minute: {sent}");
        if sent == 6 * minutes.get() {
            minutes.set(minutes.get() + 1);
            fixture.advance(MINUTE);
        }
        None
    })
    .await;
}

both_databases! {
    async fn a_channel_is_not_flooded_and_every_outage_is_named_or_counted(setup: Setup) {
        let fixture = DeliveryFixture::service(setup, Kind::Slack, &json!({})).await;
        let mut jobs = Vec::new();
        for number in 0..30 {
            jobs.push(fixture.monitor(&format!("job-{number:02}")).await);
        }
        for job in &jobs {
            fixture.report(job, "down").await;
        }
        until("30 to be queued", || async { (fixture.deliveries().await.len() == 30).then_some(()) }).await;
        send_all(&fixture).await;
        let counts = counts(&fixture);
        assert_eq!(counts.iter().sum::<usize>(), 30, "{counts:?}");
        let singles = counts.iter().filter(|count| **count == 1).count();
        let threads = fixture.app.database.number("select count(*) from threads").await;
        assert_eq!(threads, i64::try_from(singles).unwrap(), "a message about many has none");

        // The link selects the alerts of the message.
        let shown = fixture.receiver.conversation();
        let at = counts.iter().position(|count| *count > 1).unwrap();
        let requests: Vec<String> = fixture.receiver.requests().iter().map(|one| one.body.clone()).collect();
        let link = requests.iter().find_map(|body| body.split("/alerts?digest=").nth(1)).unwrap();
        let digest: String = link.chars().take_while(|c| c.is_ascii_hexdigit() || *c == '-').collect();
        let selected = fixture.ann.client.get(&format!("alerts?digest={digest}")).await.ok();
        let selected = selected["alerts"].as_array().unwrap();
        assert_eq!(selected.len(), counts[at], "{}", shown[at].text);
        for alert in selected {
            let name = alert["monitor"]["name"].as_str().unwrap();
            assert!(shown[at].text.contains(name) || counts[at] > 25, "{name}: {}", shown[at].text);
        }
        let bob = fixture.app.sign_up("bob@example.com").await;
        for (client, digest) in [(&bob.client, digest.as_str()), (&fixture.ann.client, "nonsense")] {
            assert_eq!(client.get(&format!("alerts?digest={digest}")).await.ok()["alerts"], json!([]));
        }

        // A recovery of an outage without a thread is a message of its own, and the order is kept.
        let named = selected[0]["monitor"]["monitorid"].as_str().unwrap().to_owned();
        fixture.advance(MINUTE);
        fixture.report(&named, "up").await;
        fixture.all_are("delivered").await;
        let last = fixture.receiver.conversation().last().unwrap().clone();
        assert!(last.text.contains("is up again") && last.reply_to.is_none(), "{last:?}");
    }

    async fn a_notifier_waits_for_more_and_repeats_a_message_with_its_id(setup: Setup) {
        let wait = json!({"group_wait": 60});
        let fixture = DeliveryFixture::service(setup, Kind::Matrix, &wait).await;
        assert_eq!(fixture.notifier["group_wait"], 60);
        let mut jobs = Vec::new();
        for name in ["one", "two", "three", "four"] {
            jobs.push(fixture.monitor(name).await);
        }
        fixture.report(&jobs[0], "down").await;
        fixture.advance(Duration::from_secs(30));
        fixture.report(&jobs[1], "down").await;
        fixture.report(&jobs[2], "down").await;
        until("three to be queued", || async { (fixture.deliveries().await.len() == 3).then_some(()) }).await;
        assert_eq!(fixture.receiver.requests().len(), 0, "the clock stands still");
        fixture.receiver.next(Trouble::ResponseLost);
        fixture.advance(Duration::from_secs(30));
        let waits = fixture.tried(1).await;
        assert!(waits.iter().all(|one| one["attempts"] == 1 && one["next_try"] == waits[0]["next_try"]));
        // What comes later is not added to the message that is repeated.
        fixture.report(&jobs[3], "down").await;
        fixture.advance_to_next_try(&waits[0]);
        // It is due while the other one waits for more, which is looked at every few seconds.
        fixture.advance(Duration::from_secs(5));
        until("three to be delivered", || async {
            let all = fixture.deliveries().await;
            (all.iter().filter(|one| one["state"] == "delivered").count() == 3).then_some(())
        }).await;
        let shown = fixture.receiver.conversation();
        assert_eq!(shown.len(), 1, "the room has seen it: {shown:?}");
        assert!(shown[0].text.contains("3 changes: 3 down"), "{shown:?}");
        for name in ["one is down", "two is down", "three is down"] {
            assert!(shown[0].text.contains(name), "{shown:?}");
        }
        fixture.advance(MINUTE);
        fixture.all_are("delivered").await;
        let shown = fixture.receiver.conversation();
        assert!(shown.len() == 2 && shown[1].text.contains("four is down"), "{shown:?}");

        let client = &fixture.ann.client;
        let id = fixture.notifier_id();
        let save = async |body: Value| client.post("notifier/save", &body).await;
        let long = save(json!({"notifierid": id, "group_wait": 301})).await;
        assert_eq!(long.wrong_fields(), ["group_wait"]);
        let hook = json!({"name": "h", "type": "webhook", "webhook": {"url": "http://127.0.0.1:1/"}, "group_wait": 5});
        assert_eq!(save(hook).await.wrong_fields(), ["group_wait"]);
    }
}

#[tokio::test]
async fn a_hanging_service_delays_no_mail() {
    let fixture = DeliveryFixture::email(Setup::on(DatabaseKind::Sqlite)).await;
    let client = &fixture.ann.client;
    // It never answers within a test.
    let hanging = Receiver::start().await;
    hanging.answer_after(Duration::from_secs(600));
    let url = hanging.url.replace("/hook", "");
    let body = json!({"name": "chat", "type": "telegram",
        "telegram": {"token": "1:abc", "chat_id": "-5", "api_url": url}});
    let telegram = client.post("notifier/save", &body).await.json();
    let both = json!({"notifierid": [telegram["notifierid"], fixture.notifier["notifierid"]]});
    for name in ["one", "two", "three"] {
        let job = job(client, name, &both).await;
        report(client, &job, "down").await;
    }
    let mails = fixture.receiver.wait_for_mails(3).await;
    assert_eq!(mails.len(), 3);
    assert!(deliveries(client, &telegram).await.iter().all(|one| one["state"] == "waiting"));
    let second = mail(&fixture.ann, &fixture.receiver).await;
    let job = job(client, "four", &second).await;
    report(client, &job, "down").await;
    all_are(client, &second, "delivered").await;
}

/// So many monitors go down at once. Returns when the first message arrived.
async fn storm(setup: Setup, number: u32) -> Duration {
    let fixture = DeliveryFixture::service(setup, Kind::Slack, &json!({})).await;
    let app = &fixture.app;
    let first = fixture.monitor("site-00000").await;
    let first = MonitorId::parse(&first).unwrap();
    let known = app.store.monitors_by_id(&[first]).await.unwrap().remove(0);
    let team = app.store.team(&whole(known.monitor.team));
    let now = app.engine.now();
    let mut records = Vec::new();
    for index in 1..=number {
        let [a, b, c, d] = index.to_be_bytes();
        let bytes = [a, b, c, d, 0, 0, 0, 0, 0, 1];
        let mut monitor = known.monitor.clone();
        monitor.id = MonitorId::new(now, bytes);
        monitor.push_token = None;
        monitor.name = Name::parse(&format!("site-{index:05}")).unwrap();
        monitor.notifiers = vec![NotifierId::parse(fixture.notifier_id()).unwrap()];
        team.add_monitor(&monitor, &system()).await.unwrap();
        let (alert, id) = (AlertId::new(now, bytes), EventId::new(now, bytes));
        let mut event = Event::example(event::DOWN, id, "", now).unwrap();
        event.data.alertid = Some(alert);
        event.data.monitor.as_mut().unwrap().name = monitor.name.to_string();
        records.push(Record {
            evidence: Vec::new(),
            monitor: monitor.id,
            seq: 1,
            heartbeat: Heartbeat {
                at: now,
                status: Beat::Down,
                message: "503".into(),
                load_time: None,
                phases: Default::default(),
                regions: Vec::new(),
                readings: Default::default(),
            },
            state: State {
                status: Status::Down,
                since: Some(now),
                last_check: Some(now),
                last_message: "503".into(),
                ..State::default()
            },
            opens: vec![Alert {
                reason: None,
                id: alert,
                team: known.monitor.team,
                monitor: monitor.id,
                kind: AlertKind::Outage,
                severity: Severity::Critical,
                cause: "503".into(),
                started: now,
                ended: None,
            }],
            closes: None,
            events: vec![NewEvent { id, kind: event::DOWN, alert, body: event.body() }],
            certificate: None,
            grant: None,
            state_only: false,
        });
    }
    let began = Instant::now();
    let recording = async {
        for part in records.chunks(500) {
            app.store.record(part).await.unwrap();
            process_due(&app.engine).await.unwrap();
        }
    };
    // It does not wait for the last outage.
    let first = async {
        until("the first message", || async {
            (!fixture.receiver.conversation().is_empty()).then_some(())
        })
        .await;
        began.elapsed()
    };
    let ((), first) = tokio::join!(recording, first);
    let waiting = "select count(*) from deliveries where state = 'waiting'";
    let total = "select count(*) from deliveries";
    until_within(MAX_STORM, "all to be queued", || async {
        (app.database.number(total).await == i64::from(number)).then_some(())
    })
    .await;
    let minutes = Cell::new(1);
    until_within(MAX_STORM, "all to be delivered", || async {
        let sent = fixture.receiver.conversation().len();
        assert!(sent <= 6 * minutes.get(), "six a minute: {sent} in {}", minutes.get());
        if app.database.number(waiting).await == 0 {
            return Some(());
        }
        if sent == 6 * minutes.get() {
            minutes.set(minutes.get() + 1);
            app.clock.advance(MINUTE);
        }
        None
    })
    .await;
    let counts = counts(&fixture);
    assert_eq!(counts.iter().sum::<usize>(), number as usize, "{counts:?}");
    let ids: HashSet<String> =
        fixture.receiver.conversation().into_iter().map(|one| one.id).collect();
    assert_eq!(ids.len(), counts.len());
    first
}

#[tokio::test]
async fn a_storm_of_outages_is_a_few_messages() {
    storm(Setup::on(DatabaseKind::Sqlite), 300).await;
}

#[tokio::test]
#[ignore = "takes minutes; run by make test-long"]
async fn a_storm_of_10_000_outages_is_a_few_messages_and_the_first_arrives_within_two_seconds() {
    let first = storm(Setup::on(DatabaseKind::Sqlite), 10_000).await;
    assert!(first <= Duration::from_secs(2), "{first:?}");
}
