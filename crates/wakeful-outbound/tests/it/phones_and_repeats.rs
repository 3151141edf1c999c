//! What only some of the known services do: several phone numbers, calls, and alerts that are
//! repeated.

use serde_json::json;
use std::time::Duration;
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::notifications::notifier::Kind;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::severity::Severity;
use wakeful_outbound::notify::kinds::alertmanager::{self, Lasting};
use wakeful_outbound::notify::{Message, call};
use wakeful_testkit::fakes::{FakeService, OPTED_OUT, UNREACHABLE};

use crate::channels::{Channel, ENDED, LINK, NOW, message, spec};
use crate::servers::net;

#[tokio::test]
async fn each_number_gets_its_own_message_and_is_retried_on_its_own() {
    let fake = FakeService::start(Kind::Twilio).await;
    let mut settings = fake.settings();
    settings["to"] = json!(format!("+15005550006, {OPTED_OUT}, {UNREACHABLE}"));
    let spec = spec(Kind::Twilio, &settings);
    let (net, event) = (net(), message(event::DOWN));
    let send = async |left: Option<&[String]>| {
        let message = Message { event: &event, link: LINK, thread: None, left, browsers: None };
        call::deliver(&net, &spec, message, NOW).await
    };
    let attempt = send(None).await;
    let Outcome::Partial { left, answer, .. } = attempt.outcome else { panic!("{attempt:?}") };
    assert_eq!(left, [UNREACHABLE]);
    assert!(answer.starts_with("sent to 1 of 3; ") && answer.contains("21610"), "{answer}");
    let recipients = attempt.recipients.unwrap();
    assert_eq!((recipients.total, recipients.accepted()), (3, 1));
    assert_eq!(fake.conversation().len(), 1);
    // Only the one that is left is tried again.
    let again = send(Some(&left)).await;
    assert!(matches!(again.outcome, Outcome::Failed(_)), "{again:?}");
    assert_eq!(again.recipients.unwrap().total, 1);
    assert_eq!((fake.conversation().len(), fake.requests().len()), (1, 4));
}

#[tokio::test]
async fn calls_are_made_for_critical_outages_and_escalation_steps() {
    let fake = FakeService::start(Kind::Twilio).await;
    let mut settings = fake.settings();
    settings["via"] = json!("both");
    let both = spec(Kind::Twilio, &settings);
    let mut critical = message(event::DOWN);
    critical.data.monitor.as_mut().unwrap().name = "</Say><Dial>\"1\"".to_owned();
    let mut warning = message(event::DOWN);
    warning.data.severity = Some(Severity::Warning);
    let mut escalated = message(event::ESCALATED);
    escalated.data.severity = Some(Severity::Warning);
    let (net, up, reminder) = (net(), message(event::UP), message(event::REMINDER));
    for (event, calls) in [(&critical, 1), (&escalated, 2), (&warning, 2), (&reminder, 2), (&up, 2)]
    {
        let message = Message { event, link: LINK, thread: None, left: None, browsers: None };
        let attempt = call::deliver(&net, &both, message, NOW).await;
        assert!(matches!(attempt.outcome, Outcome::Delivered(_)), "{attempt:?}");
        let made = fake.conversation().iter().filter(|one| one.state == "call").count();
        assert_eq!(made, calls, "{}", event.kind);
    }
    assert_eq!(fake.conversation().len(), 5 + 2, "each event is a message, too");
    let call = fake.requests().into_iter().find(|one| one.path.ends_with("Calls.json")).unwrap();
    let twiml = url::form_urlencoded::parse(call.body.as_bytes());
    let twiml = twiml.into_iter().find(|(name, _)| name == "Twiml").unwrap().1;
    let action = r#"<Gather numDigits="1" action="https://wakeful.example/api/action/wkt_abc/call" method="POST">"#;
    assert!(twiml.contains(action) && !twiml.contains("<Dial>"), "{twiml}");
}

#[tokio::test]
async fn an_alert_that_lasts_is_repeated_with_the_labels_that_it_began_with() {
    let mut channel = Channel::new(Kind::Alertmanager).await;
    let down = message(event::DOWN);
    let attempt = channel.attempt(&down).await;
    assert_eq!(attempt.keepalive, Some(Duration::from_secs(300)));
    let thread = channel.thread.clone().unwrap();
    // Meanwhile the monitor has another name.
    let mut up = message(event::UP);
    up.data.monitor.as_mut().unwrap().name = "Store".to_owned();
    up.data.severity = Some(Severity::Info);
    let later = NOW.after(Duration::from_secs(300));
    for (event, state) in [(&down, "2026-11-15T09:50:00.000Z"), (&up, ENDED)] {
        let lasting = Lasting { event, link: LINK, thread: &thread };
        let call = alertmanager::repeat(&channel.spec, &[lasting], later).unwrap();
        let outcome = call::send_call(&channel.net, &channel.spec, call, later).await;
        assert!(matches!(outcome, Outcome::Delivered(_)), "{outcome:?}");
        let all = channel.shown();
        assert_eq!((all.len(), all[0].state.as_str()), (1, state));
    }
    assert_eq!(channel.attempt(&up).await.keepalive, Some(Duration::from_secs(60)));
    assert_eq!(channel.shown().len(), 1);
    let announced = Event::example(event::MAINTENANCE_STARTED, down.data.eventid, "x", NOW);
    channel.attempt(&announced.unwrap()).await;
    assert_eq!(channel.shown().len(), 1, "an announcement is no alert");
}
