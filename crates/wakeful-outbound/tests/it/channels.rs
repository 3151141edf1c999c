//! Notifiers that send to known services, against strict fakes: every kind runs the same
//! scenarios, and the tests read the conversation that its users would see.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::notifications::notifier::service::Field;
use wakeful_core::notifications::notifier::{DeliveryMode, Kind, ServiceSpec};
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::severity::Severity;
use wakeful_core::time::Millis;
use wakeful_outbound::net::Net;
use wakeful_outbound::notify::call::{self, Call, Encoding, Role};
use wakeful_outbound::notify::digest;
use wakeful_outbound::notify::exchange::Reply;
use wakeful_outbound::notify::hidden::Hidden;
use wakeful_outbound::notify::kinds;
use wakeful_outbound::notify::scene::Scene;
use wakeful_outbound::notify::{Attempt, Message};
use wakeful_testkit::fakes::{FakeService, SENTINEL, Shown, Trouble};

use crate::notify::same;
use crate::servers::net;

pub(crate) const NOW: Millis = Millis(1_794_735_000_000);
pub(crate) const LINK: &str = "https://wakeful.example/alert/01a1dd16-3e86-7039-aa0a-37292a4ffff7";
const DOWN: &str = "Shop <b>& is down";
const UP: &str = "Shop <b>& is up again";
/// When the outage ended.
pub(crate) const ENDED: &str = "2026-11-15T09:30:00.000Z";

fn services() -> impl Iterator<Item = Kind> {
    Kind::ALL.iter().copied().filter(|kind| kind.service().is_some())
}

pub(crate) fn message(kind: &str) -> Event {
    let id = "01a1dd16-3e86-7039-aa0a-37292a4ffff7";
    let up = kind == event::UP;
    let number = event::TYPES.iter().position(|one| *one == kind).unwrap();
    let eventid = format!("01a1dd16-3e86-7039-aa0a-0000000000{number:02x}");
    let body = json!({"type": kind, "timestamp": "2026-11-15T09:30:00.000Z",
        "text": "[Shop <b>&] down: 503 Service Unavailable",
        "data": {"eventid": eventid, "alertid": id,
            "monitor": {"monitorid": id, "name": "Shop <b>&", "type": "http",
                "target": "https://shop.example/?a=1&b=2", "tags": ["web", "eu"]},
            "status": if up { "up" } else { "down" }, "previous_status": "up",
            "message": if up { "200 OK" } else { "503 Service Unavailable" },
            "load_time": 12.5, "down_since": "2026-11-15T09:25:50.000Z", "down_seconds": 250,
            "payload": null, "severity": "critical", "acknowledged_by": "Ann"}});
    let mut event = Event::parse(&body.to_string()).unwrap();
    if kind == event::DOWN {
        event.data.action_url = Some("https://wakeful.example/api/action/wkt_abc".to_owned());
        event.data.action_page = Some("https://wakeful.example/a/wkt_abc".to_owned());
    }
    event
}

pub(crate) fn spec(kind: Kind, settings: &Value) -> ServiceSpec {
    let sent = |field: &Field| match &settings[field.name()] {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    };
    ServiceSpec::changed(kind.service().unwrap(), sent, None).unwrap()
}

/// A service and a notifier that sends to it.
pub(crate) struct Channel {
    pub(crate) net: Net,
    fake: FakeService,
    pub(crate) spec: ServiceSpec,
    pub(crate) thread: Option<Thread>,
}

impl Channel {
    pub(crate) async fn new(kind: Kind) -> Self {
        let fake = FakeService::start(kind).await;
        let spec = spec(kind, &fake.settings());
        Self { net: net(), fake, spec, thread: None }
    }

    pub(crate) async fn attempt(&mut self, event: &Event) -> Attempt {
        let message =
            Message { event, link: LINK, thread: self.thread.as_ref(), left: None, browsers: None };
        let attempt = call::deliver(&self.net, &self.spec, message, NOW).await;
        self.thread = attempt.thread.clone().or(self.thread.take());
        let shown = format!("{:?}", attempt.outcome);
        assert!(!shown.contains(SENTINEL), "{}: {shown}", self.fake.kind);
        attempt
    }

    async fn send(&mut self, kind: &str) {
        let attempt = self.attempt(&message(kind)).await;
        let is_done = matches!(attempt.outcome, Outcome::Delivered(_));
        assert!(is_done, "{}: {:?}", self.fake.kind, attempt.outcome);
    }

    pub(crate) fn shown(&self) -> Vec<Shown> {
        self.fake.conversation()
    }
}

/// What users see, with escaped characters as they are shown.
fn is_about(shown: &Shown, title: &str) -> bool {
    let text = shown.text.replace('\\', "").replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&amp;", "&").contains(title)
}

#[tokio::test]
async fn an_outage_its_acknowledgement_and_its_end_are_one_conversation() {
    for kind in services() {
        for acknowledged in [false, true] {
            let mut channel = Channel::new(kind).await;
            channel.send(event::DOWN).await;
            let first = channel.shown();
            assert_eq!(first.len(), 1, "{kind}");
            let is_open = is_about(&first[0], DOWN) || kind == Kind::Pagerduty;
            assert!(is_open && first[0].text.contains("503"), "{kind}: {first:?}");
            if acknowledged {
                channel.send(event::ACKNOWLEDGED).await;
            }
            channel.send(event::REMINDER).await;
            channel.send(event::UP).await;
            let all = channel.shown();
            let more = usize::from(acknowledged);
            let root = &all[0];
            match kind {
                // The first message says how it ended, and the thread has it all.
                Kind::Slack | Kind::Telegram | Kind::Matrix => {
                    assert_eq!(all.len(), 3 + more, "{kind}: {all:?}");
                    assert!(root.is_edited && is_about(root, UP), "{kind}: {all:?}");
                    let in_thread = |one: &Shown| one.reply_to.as_ref() == Some(&root.id);
                    assert!(all[1..].iter().all(in_thread), "{kind}: {all:?}");
                }
                Kind::Discord => {
                    assert_eq!(all.len(), 3, "{all:?}");
                    assert!(root.is_edited && is_about(root, UP), "{all:?}");
                    assert!(is_about(&all[2], UP), "{all:?}");
                }
                Kind::Ntfy => {
                    assert_eq!(all.len(), 1, "{all:?}");
                    assert!(root.is_edited && is_about(root, UP), "{all:?}");
                }
                Kind::Pagerduty => {
                    assert_eq!((all.len(), root.state.as_str()), (1, "resolved"), "{all:?}");
                }
                Kind::Opsgenie => {
                    assert_eq!((all.len(), root.state.as_str()), (1, "closed"), "{all:?}");
                }
                Kind::GoogleChat => {
                    assert_eq!(all.len(), 3 + more, "{all:?}");
                    let in_thread = |one: &Shown| one.reply_to.as_ref() == Some(&root.id);
                    assert!(all[1..].iter().all(in_thread), "{all:?}");
                }
                Kind::Pushover => {
                    assert_eq!((all.len(), root.state.as_str()), (3, "canceled"), "{all:?}");
                }
                // The same alert, which has ended.
                Kind::Alertmanager => {
                    assert_eq!((all.len(), root.state.as_str()), (1, ENDED), "{all:?}");
                }
                // Everything quotes the first message.
                Kind::Signal => {
                    assert_eq!(all.len(), 3 + more, "{all:?}");
                    let quotes = |one: &Shown| one.reply_to.as_ref() == Some(&root.id);
                    assert!(all[1..].iter().all(quotes) && !root.is_edited, "{all:?}");
                }
                _ => {
                    assert_eq!(all.len(), 3 + more, "{kind}: {all:?}");
                    assert!(all.iter().all(|one| !one.is_edited), "{kind}: {all:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_digest_ends_the_emergencies_of_its_alerts() {
    let mut channel = Channel::new(Kind::Pushover).await;
    channel.attempt(&message(event::DOWN)).await;
    let outages = [message(event::DOWN), message(event::DOWN)];
    channel.attempt(&digest::event(outages[0].data.eventid, &outages, NOW)).await;
    let states = |channel: &Channel| -> Vec<String> {
        channel.shown().into_iter().map(|one| one.state).collect()
    };
    assert_eq!(states(&channel), ["repeats", "repeats"]);
    let news = [message(event::UP), message(event::COMMENTED)];
    channel.attempt(&digest::event(news[0].data.eventid, &news, NOW)).await;
    assert_eq!(states(&channel), ["canceled", "repeats", ""]);
}

#[tokio::test]
async fn forty_events_are_one_message() {
    let is_read_by_people = |kind: &Kind| kind.delivery_mode() == DeliveryMode::Digest;
    for kind in services().filter(is_read_by_people) {
        let mut channel = Channel::new(kind).await;
        let events: Vec<Event> = (1..=40)
            .map(|number| {
                let mut event = message(event::DOWN);
                event.data.monitor.as_mut().unwrap().name = format!("Site {number:02} <b>&");
                event
            })
            .collect();
        let digest = digest::event(events[0].data.eventid, &events, NOW);
        for _ in 0..2 {
            let attempt = channel.attempt(&digest).await;
            let is_done = matches!(attempt.outcome, Outcome::Delivered(_));
            assert!(is_done, "{kind}: {:?}", attempt.outcome);
            channel.thread = None;
        }
        let all = channel.shown();
        // Repeated with the same id.
        let replaces = [Kind::Ntfy, Kind::Matrix].contains(&kind);
        assert_eq!(all.len(), if replaces { 1 } else { 2 }, "{kind}");
        assert!(is_about(&all[0], "40 changes: 40 down"), "{kind}: {all:?}");
        let is_named = |number: &u32| is_about(&all[0], &format!("Site {number:02} <b>& is down"));
        let named = (1..=40).filter(is_named).count();
        // Its messages are short.
        let most = match kind {
            Kind::Twilio => 3..25,
            Kind::Pushover => 10..25,
            _ => 25..26,
        };
        assert!(most.contains(&named), "{kind}: {named} of 40, {}", all[0].text);
        let is_short = [Kind::Pushover, Kind::Twilio].contains(&kind);
        assert_eq!(is_about(&all[0], "… and 15 more"), !is_short, "{kind}");
        let requests = channel.fake.requests();
        assert_eq!(requests.len(), 2, "{kind}: not in plain text");
        // A form is encoded.
        let has_link = requests[0].body.contains(LINK) || all[0].text.contains(LINK);
        assert!(has_link, "{kind}: {}", requests[0].body);
    }
}

#[tokio::test]
async fn an_announcement_or_a_comment_is_one_message_to_people() {
    for kind in services() {
        for event in [event::MAINTENANCE_STARTED, event::HANDOVER, event::COMMENTED] {
            let mut channel = Channel::new(kind).await;
            let id = message(event::DOWN).data.eventid;
            let example = Event::example(event, id, "ops", NOW).unwrap();
            let attempt = channel.attempt(&example).await;
            let is_done = matches!(attempt.outcome, Outcome::Delivered(_));
            assert!(is_done, "{kind}: {:?}", attempt.outcome);
            let is_for_people = kind.delivery_mode() == DeliveryMode::Digest;
            assert_eq!(channel.shown().len(), usize::from(is_for_people), "{kind} {event}");
            assert!(channel.shown().iter().all(|one| !one.is_edited), "{kind} {event}");
        }
    }
}

#[tokio::test]
async fn a_lost_response_costs_a_duplicate_at_most() {
    for kind in services() {
        let mut channel = Channel::new(kind).await;
        channel.fake.next(Trouble::ResponseLost);
        let attempt = channel.attempt(&message(event::DOWN)).await;
        assert!(matches!(attempt.outcome, Outcome::Failed(_)), "{kind}: {:?}", attempt.outcome);
        channel.send(event::DOWN).await;
        let replaces =
            [Kind::Ntfy, Kind::Pagerduty, Kind::Matrix, Kind::Opsgenie, Kind::Alertmanager];
        let replaces = replaces.contains(&kind);
        assert_eq!(channel.shown().len(), if replaces { 1 } else { 2 }, "{kind}");
        channel.send(event::UP).await;
    }
}

#[tokio::test]
async fn a_service_says_when_it_wants_the_next_message() {
    for kind in services() {
        let mut channel = Channel::new(kind).await;
        channel.fake.next(Trouble::Limited);
        let attempt = channel.attempt(&message(event::DOWN)).await;
        let Outcome::Failed(failure) = attempt.outcome else { panic!("{kind}") };
        assert!(failure.overloaded, "{kind}");
        let wait = match kind {
            Kind::Slack => Some(90_000),
            Kind::Discord => Some(64_570),
            Kind::Telegram => Some(70_000),
            Kind::Teams => Some(75_000),
            Kind::Ntfy | Kind::Pagerduty => Some(60_000),
            Kind::Pushover => Some(3_600_000),
            Kind::Mattermost => Some(80_000),
            Kind::Matrix => Some(65_500),
            Kind::Opsgenie => Some(85_000),
            Kind::Alertmanager => Some(95_000),
            _ => None,
        };
        assert_eq!(failure.retry_after, wait.map(Duration::from_millis), "{kind}");
        assert_eq!(failure.quota, kind == Kind::Pushover, "{kind}");
        channel.send(event::DOWN).await;
        assert_eq!(channel.shown().len(), 1, "{kind}");
    }
}

#[tokio::test]
async fn a_rejected_token_is_retried_and_a_receiver_that_is_gone_is_not() {
    for kind in services() {
        let mut channel = Channel::new(kind).await;
        channel.fake.next(Trouble::TokenRejected);
        let outcome = channel.attempt(&message(event::DOWN)).await.outcome;
        match outcome {
            Outcome::Failed(failure) => {
                assert!(failure.answer.contains("check the token"), "{kind}: {failure:?}");
            }
            // Its documentation says that this is final.
            Outcome::Refused(_) if kind == Kind::Pushover => {}
            other => panic!("{kind}: {other:?}"),
        }
        channel.send(event::DOWN).await;
        assert_eq!(channel.shown().len(), 1, "{kind}");
        channel.fake.next(Trouble::Gone);
        let outcome = channel.attempt(&message(event::REMINDER)).await.outcome;
        match kind {
            // They have no word for it.
            Kind::Ntfy | Kind::Gotify | Kind::Matrix | Kind::Apprise | Kind::Signal => {
                assert!(matches!(outcome, Outcome::Failed(_)), "{kind}: {outcome:?}");
            }
            Kind::Pagerduty | Kind::Opsgenie | Kind::Alertmanager => {
                assert!(matches!(outcome, Outcome::Delivered(_)), "nothing to send");
            }
            // This number is; others may not be.
            Kind::Twilio => assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}"),
            _ => assert!(matches!(outcome, Outcome::Gone(_)), "{kind}: {outcome:?}"),
        }
    }
}

#[tokio::test]
async fn a_message_whose_markup_is_refused_is_sent_as_plain_text() {
    for kind in services() {
        let mut channel = Channel::new(kind).await;
        channel.fake.refuse_markup();
        channel.send(event::DOWN).await;
        let all = channel.shown();
        assert_eq!(all.len(), 1, "{kind}: {all:?}");
        assert!(all[0].text.contains("503"), "{kind}: {all:?}");
        let has_no_markup = [
            Kind::Pushover,
            Kind::Pagerduty,
            Kind::Opsgenie,
            Kind::Twilio,
            Kind::Signal,
            Kind::Alertmanager,
        ];
        let has_no_markup = has_no_markup.contains(&kind);
        assert_eq!(channel.fake.requests().len(), if has_no_markup { 1 } else { 2 }, "{kind}");
        channel.send(event::UP).await;
    }
}

#[tokio::test]
async fn a_deleted_message_is_replaced_by_a_new_one() {
    for kind in services() {
        for mode in ["both", "update"] {
            let mut channel = Channel::new(kind).await;
            channel.spec = channel.spec.with("on_recovery", mode);
            channel.send(event::DOWN).await;
            channel.fake.delete_messages();
            channel.send(event::UP).await;
            let all = channel.shown();
            // A room of Matrix accepts an edit of what is no longer there.
            let is_lost = kind == Kind::Matrix && mode == "update";
            if is_lost || [Kind::Pagerduty, Kind::Opsgenie].contains(&kind) {
                assert!(all.is_empty(), "{kind} {mode}: {all:?}");
            } else {
                assert_eq!(all.len(), 1, "{kind} {mode}: {all:?}");
                assert!(is_about(&all[0], UP), "{kind} {mode}: {all:?}");
            }
        }
    }
}

#[tokio::test]
async fn long_texts_and_markup_of_others_fit_at_the_first_attempt() {
    for kind in services() {
        let mut channel = Channel::new(kind).await;
        let mut event = message(event::DOWN);
        event.data.message =
            "🔥<script>*_[x](y)&amp; \u{7}\u{202e}@everyone <!channel>\n".repeat(200);
        event.data.monitor.as_mut().unwrap().name = "Größe 日本 <@U1> ".repeat(40);
        event.data.monitor.as_mut().unwrap().target = "https://x.example/ä?".repeat(90);
        event.text = event.data.message.clone();
        let attempt = channel.attempt(&event).await;
        assert!(matches!(attempt.outcome, Outcome::Delivered(_)), "{kind}: {:?}", attempt.outcome);
        assert_eq!(channel.fake.requests().len(), 1, "{kind}: not in plain text");
    }
}

#[tokio::test]
async fn a_test_closes_what_it_has_opened() {
    for kind in services() {
        let mut channel = Channel::new(kind).await;
        let test = Event::test(message(event::DOWN).data.eventid, "ops", NOW);
        let attempt = channel.attempt(&test).await;
        assert!(matches!(attempt.outcome, Outcome::Delivered(_)), "{kind}: {:?}", attempt.outcome);
        let all = channel.shown();
        let follows = [Kind::Slack, Kind::Discord, Kind::Telegram, Kind::Ntfy, Kind::Matrix];
        let follows = follows.contains(&kind) || kind == Kind::Alertmanager;
        assert_eq!(all[0].is_edited, follows, "{kind}: {all:?}");
        assert!(!["triggered", "open"].contains(&all[0].state.as_str()), "{kind}: {all:?}");
        assert_ne!(all[0].state, "repeats", "{kind}");
    }
}

#[tokio::test]
async fn a_group_that_has_moved_is_followed() {
    let receiver = wakeful_testkit::Receiver::start().await;
    let moved = json!({"ok": false, "error_code": 400, "description": "Bad Request: upgraded",
        "parameters": {"migrate_to_chat_id": -100_777}});
    receiver.answer_with(400, "", &moved.to_string());
    let url = receiver.url.replace("/hook", "");
    let settings = json!({"token": "1:abc", "chat_id": "-5", "api_url": url});
    let spec = spec(Kind::Telegram, &settings);
    let event = message(event::DOWN);
    let message = Message { event: &event, link: LINK, thread: None, left: None, browsers: None };
    let attempt = call::deliver(&net(), &spec, message, NOW).await;
    let chats: Vec<Value> =
        receiver.hooks().iter().map(|hook| hook.json()["chat_id"].clone()).collect();
    assert_eq!(chats, [json!(-5), json!(-100_777)]);
    assert_eq!(attempt.moved.unwrap().get("chat_id"), "-100777");
}

#[test]
fn the_requests_of_every_kind_are_as_they_were() {
    for kind in services() {
        let fake = format!("https://{kind}.example");
        let spec = spec(kind, &FakeService::settings_for(kind, &fake));
        let thread = Thread(json!({"channel": "C024BE91L", "ts": "1712000000.000001",
            "id": "1001", "message_id": 7, "event_id": "$1", "timestamp": 1_712_000_000_001_u64,
            "message": "Shop is down", "labels": {"alertname": "WakefulMonitorDown"}}));
        let mut all = Vec::new();
        for kind in [event::DOWN, event::ACKNOWLEDGED, event::UP] {
            let event = message(kind);
            let thread = Some(&thread).filter(|_| kind != event::DOWN);
            let calls = kinds::calls(&spec, &Scene::of(&event, LINK), thread, NOW).unwrap();
            all.push(json!({"event": kind, "requests": calls.iter().map(shown_call).collect::<Vec<_>>()}));
        }
        same(&format!("kind_{kind}.json"), &format!("{:#}\n", json!(all)));
    }
}

#[test]
fn each_service_gets_its_own_form_of_a_severity() {
    // Critical, warning, info, and the recovery.
    for (kind, emergency, field, expected) in [
        (Kind::Ntfy, false, "/priority", json!([5, 4, 2, 3])),
        (Kind::Pushover, false, "/priority", json!([1, 0, -1, -1])),
        (Kind::Pushover, true, "/priority", json!([2, 0, -1, -1])),
        (Kind::Gotify, false, "/priority", json!([8, 5, 2, 4])),
        (Kind::Pagerduty, false, "/payload/severity", json!(["critical", "warning", "info", null])),
        (
            Kind::Pagerduty,
            false,
            "/event_action",
            json!(["trigger", "trigger", "trigger", "resolve"]),
        ),
        (Kind::Opsgenie, false, "/priority", json!(["P1", "P3", "P5", null])),
        (Kind::Telegram, false, "/disable_notification", json!([false, false, true, true])),
        (Kind::Discord, false, "/flags", json!([null, null, 4096, 4096])),
        (Kind::Discord, false, "/allowed_mentions/roles", json!([["99"], null, null, null])),
    ] {
        let mut settings = FakeService::settings_for(kind, &format!("https://{kind}.example"));
        settings["emergency"] = json!(emergency);
        let spec = spec(kind, &settings);
        let shown = |event: &Event| {
            let calls = kinds::calls(&spec, &Scene::of(event, LINK), None, NOW).unwrap();
            calls.last().unwrap().body.pointer(field).cloned().unwrap_or_default()
        };
        let opened = [Severity::Critical, Severity::Warning, Severity::Info].map(|severity| {
            let mut event = message(event::DOWN);
            event.data.severity = Some(severity);
            shown(&event)
        });
        let mut all = opened.to_vec();
        all.push(shown(&message(event::UP)));
        assert_eq!(json!(all), expected, "{kind} {field}");
    }
}

#[test]
fn a_recovery_in_quiet_hours_makes_no_sound() {
    for (kind, field, usual, silent) in [
        (Kind::Ntfy, "priority", json!(3), json!(2)),
        (Kind::Gotify, "priority", json!(4), json!(2)),
        (Kind::Pushover, "priority", json!(-1), json!(-1)),
        (Kind::Discord, "flags", json!(4096), json!(4096)),
        (Kind::Telegram, "disable_notification", json!(true), json!(true)),
    ] {
        assert!(kind.can_be_silent());
        let fake = format!("https://{kind}.example");
        let spec = spec(kind, &FakeService::settings_for(kind, &fake));
        for (is_quiet, expected) in [(false, &usual), (true, &silent)] {
            let mut event = message(event::UP);
            event.data.silent = is_quiet;
            let calls = kinds::calls(&spec, &Scene::of(&event, LINK), None, NOW).unwrap();
            assert_eq!(&calls.last().unwrap().body[field], expected, "{kind}");
        }
    }
    let mut event = message(event::DOWN);
    event.data.silent = true;
    assert!(!Scene::of(&event, LINK).is_silent(), "an outage is as loud as its severity");
}

fn shown_call(call: &Call) -> Value {
    let headers: serde_json::Map<String, Value> =
        call.headers.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
    let instead = call.instead.as_ref().map(|other| shown_call(other));
    let mut shown = json!({"method": call.method.as_str(), "url": call.url.as_str(),
        "headers": headers, "body": call.body, "instead": instead});
    if call.encoding == Encoding::Form {
        shown["form"] = json!(true);
    }
    shown
}

/// What a response means, in one word, and how long to wait.
fn meaning(kind: Kind, role: Role, status: u16, header: &str, body: &str) -> (String, Option<u64>) {
    let mut headers = http::HeaderMap::new();
    if let Some((name, value)) = header.split_once(": ") {
        let name = http::HeaderName::try_from(name).unwrap();
        headers.insert(name, value.parse().unwrap());
    }
    let status = http::StatusCode::from_u16(status).unwrap();
    let reply = Reply {
        status,
        headers,
        body: body.as_bytes().to_vec(),
        now: NOW,
        hidden: Hidden::default(),
    };
    let call = Call::post("https://x.example/".parse().unwrap(), role, json!({}));
    let reading = kinds::read(kind, &call, &reply);
    let word = match &reading.outcome {
        Outcome::Delivered(_) if reading.thread.is_some() => "first",
        Outcome::Delivered(_) => "delivered",
        Outcome::Failed(failure) if failure.quota => "quota",
        Outcome::Failed(failure) if failure.overloaded => "limited",
        Outcome::Failed(_) => "failed",
        Outcome::Refused(_) => "refused",
        Outcome::Gone(_) => "gone",
        Outcome::Partial { .. } => "partial",
    };
    let wait = match &reading.outcome {
        Outcome::Failed(failure) => failure.retry_after,
        _ => reading.pause,
    };
    (word.to_owned(), wait.map(|wait| wait.as_secs()))
}

#[test]
fn a_reference_that_is_too_long_is_not_kept() {
    for (kind, body) in [
        (Kind::Slack, r#"{"ok": true, "channel": "C1", "ts": "T"}"#),
        (Kind::Discord, r#"{"id": "T"}"#),
        (Kind::Matrix, r#"{"event_id": "T"}"#),
    ] {
        for (length, word) in [(900, "first"), (60_000, "delivered")] {
            let body = body.replace('T', &"1".repeat(length));
            let (found, _) = meaning(kind, Role::First, 200, "", &body);
            assert_eq!(found, word, "{kind:?}, {length}");
        }
    }
}

#[test]
fn the_responses_of_every_service_are_understood() {
    use Kind::{
        Alertmanager, Apprise, Discord, GoogleChat, Gotify, Matrix, Mattermost, Ntfy, Opsgenie,
        Pagerduty, Pushover, Signal, Slack, Teams, Telegram, Twilio,
    };
    use Role::{Edit, First, Reply as Answer};
    let slack = |error: &str| format!(r#"{{"ok": false, "error": "{error}"}}"#);
    let twilio = |code: u32| format!(r#"{{"code": {code}, "message": "x", "status": 400}}"#);
    let telegram = |what: &str| format!(r#"{{"ok": false, "description": "Bad Request: {what}"}}"#);
    for (kind, role, status, header, body, expected, wait) in [
        (
            Slack,
            First,
            200,
            "",
            r#"{"ok": true, "channel": "C1", "ts": "1.2"}"#.to_owned(),
            "first",
            None,
        ),
        (
            Slack,
            Answer,
            200,
            "",
            r#"{"ok": true, "channel": "C1", "ts": "1.2"}"#.to_owned(),
            "delivered",
            None,
        ),
        (Slack, First, 200, "", "ok".to_owned(), "delivered", None),
        (Slack, First, 200, "", "<html>".to_owned(), "failed", None),
        (Slack, First, 400, "", "invalid_payload".to_owned(), "refused", None),
        (Slack, First, 403, "", "action_prohibited".to_owned(), "failed", None),
        (Slack, First, 404, "", "no_service".to_owned(), "gone", None),
        (Slack, First, 410, "", "channel_is_archived".to_owned(), "gone", None),
        (Slack, First, 500, "", "rollup_error".to_owned(), "failed", None),
        (Slack, First, 429, "retry-after: 30", slack("ratelimited"), "limited", Some(30)),
        (Slack, First, 200, "", slack("channel_not_found"), "failed", None),
        (Slack, First, 200, "", slack("not_in_channel"), "failed", None),
        (Slack, First, 200, "", slack("token_revoked"), "gone", None),
        (Slack, First, 200, "", slack("account_inactive"), "gone", None),
        (Slack, First, 200, "", slack("msg_too_long"), "refused", None),
        (Slack, Edit, 200, "", slack("cant_update_message"), "refused", None),
        (Slack, Edit, 200, "", slack("edit_window_closed"), "refused", None),
        (Discord, First, 200, "", r#"{"id": "7"}"#.to_owned(), "first", None),
        (Discord, Edit, 200, "", r#"{"id": "7"}"#.to_owned(), "delivered", None),
        (Discord, First, 401, "", r#"{"code": 50027}"#.to_owned(), "gone", None),
        (Discord, First, 404, "", r#"{"code": 10015}"#.to_owned(), "gone", None),
        (Discord, Edit, 404, "", r#"{"code": 10008}"#.to_owned(), "refused", None),
        (
            Discord,
            First,
            429,
            "retry-after: 9",
            r#"{"retry_after": 8.5}"#.to_owned(),
            "limited",
            Some(8),
        ),
        (Telegram, Edit, 400, "", telegram("message is not modified: same"), "delivered", None),
        (Telegram, First, 400, "", telegram("chat not found"), "gone", None),
        (Telegram, First, 400, "", telegram("can't parse entities: x"), "refused", None),
        (Telegram, First, 403, "", telegram("bot was blocked by the user"), "gone", None),
        (Telegram, First, 404, "", telegram("not found"), "failed", None),
        (Telegram, First, 502, "", "<html>".to_owned(), "failed", None),
        (Teams, First, 202, "", String::new(), "delivered", None),
        (
            Teams,
            First,
            400,
            "",
            r#"{"error": {"code": "WorkflowTriggerIsNotEnabled"}}"#.to_owned(),
            "failed",
            None,
        ),
        (Teams, First, 413, "", String::new(), "refused", None),
        (Teams, First, 404, "", String::new(), "gone", None),
        (Ntfy, First, 200, "", r#"{"id": "x"}"#.to_owned(), "delivered", None),
        (Ntfy, First, 429, "", r#"{"code": 42908, "http": 429}"#.to_owned(), "quota", Some(3_600)),
        (Ntfy, First, 413, "", r#"{"code": 41301}"#.to_owned(), "refused", None),
        (
            Pushover,
            First,
            200,
            "",
            r#"{"status": 1, "request": "r"}"#.to_owned(),
            "delivered",
            None,
        ),
        (Pushover, First, 200, "", r#"{"status": 0}"#.to_owned(), "failed", Some(5)),
        (Pushover, First, 500, "", String::new(), "failed", Some(5)),
        (Pushover, First, 429, "", "{}".to_owned(), "quota", Some(86_400)),
        (Gotify, First, 200, "", r#"{"id": 7}"#.to_owned(), "delivered", None),
        (Gotify, First, 200, "", "<html>".to_owned(), "failed", None),
        (
            GoogleChat,
            First,
            200,
            "",
            r#"{"name": "spaces/S/messages/1"}"#.to_owned(),
            "delivered",
            None,
        ),
        (GoogleChat, First, 404, "", "{}".to_owned(), "gone", None),
        (Mattermost, First, 200, "", "ok".to_owned(), "delivered", None),
        (Matrix, First, 200, "", r#"{"event_id": "$1"}"#.to_owned(), "first", None),
        (
            Matrix,
            First,
            429,
            "retry-after: 4",
            r#"{"retry_after_ms": 9000}"#.to_owned(),
            "limited",
            Some(4),
        ),
        (
            Opsgenie,
            First,
            202,
            "",
            r#"{"result": "x", "requestId": "r"}"#.to_owned(),
            "delivered",
            None,
        ),
        (Opsgenie, First, 422, "", r#"{"requestId": "r"}"#.to_owned(), "refused", None),
        (Apprise, First, 200, "", "sent".to_owned(), "delivered", None),
        (Apprise, First, 204, "", String::new(), "failed", None),
        (Apprise, First, 424, "", "{}".to_owned(), "failed", None),
        (Pagerduty, First, 202, "", r#"{"status": "success"}"#.to_owned(), "delivered", None),
        (Pagerduty, First, 400, "", r#"{"status": "invalid event"}"#.to_owned(), "refused", None),
        (Pagerduty, First, 429, "retry-after: 5", String::new(), "limited", Some(60)),
        (Twilio, First, 201, "", r#"{"sid": "SM1"}"#.to_owned(), "delivered", None),
        (Twilio, First, 200, "", "<html>".to_owned(), "failed", None),
        (Twilio, First, 400, "", twilio(21_211), "refused", None),
        (Twilio, First, 400, "", twilio(21_614), "refused", None),
        (Twilio, First, 400, "", twilio(21_610), "refused", None),
        (Twilio, First, 400, "", twilio(20_003), "failed", None),
        (Twilio, First, 429, "", twilio(20_429), "limited", None),
        (Twilio, First, 500, "", String::new(), "failed", None),
        (Signal, First, 201, "", r#"{"timestamp": "1712"}"#.to_owned(), "first", None),
        (Signal, Answer, 201, "", r#"{"timestamp": 1712}"#.to_owned(), "delivered", None),
        (Signal, First, 201, "", "{}".to_owned(), "failed", None),
        (Signal, First, 400, "", r#"{"error": "not registered"}"#.to_owned(), "failed", None),
        (
            Signal,
            First,
            400,
            "",
            r#"{"error": "x", "challenge_tokens": ["t"]}"#.to_owned(),
            "limited",
            None,
        ),
        (Alertmanager, First, 200, "", String::new(), "delivered", None),
        (Alertmanager, First, 400, "", "\"start time\"".to_owned(), "refused", None),
        (Alertmanager, First, 404, "", String::new(), "failed", None),
        (Alertmanager, First, 503, "", String::new(), "failed", None),
    ] {
        let found = meaning(kind, role, status, header, &body);
        assert_eq!(found, (expected.to_owned(), wait), "{kind} {status} {body}");
    }
    // Before the limit is reached, nothing else is sent for a while.
    let mut headers = http::HeaderMap::new();
    headers.insert("x-ratelimit-remaining", "0".parse().unwrap());
    headers.insert("x-ratelimit-reset-after", "1.5".parse().unwrap());
    let status = http::StatusCode::OK;
    let reply = Reply {
        status,
        headers,
        body: br#"{"id": "7"}"#.to_vec(),
        now: NOW,
        hidden: Hidden::default(),
    };
    let call = Call::post("https://x.example/".parse().unwrap(), First, json!({}));
    assert_eq!(kinds::read(Discord, &call, &reply).pause, Some(Duration::from_millis(1_500)));
}
