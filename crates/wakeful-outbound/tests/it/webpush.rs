//! Push messages against a strict push service: the tests read what the browsers decrypt.

use std::time::Duration;
use wakeful_core::id::{PushSubscriptionId, TeamId};
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::notifications::notifier::{Channel, PushReceiver, PushSubscription, webpush};
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::severity::Severity;
use wakeful_outbound::mail::MailTransport;
use wakeful_outbound::net::Net;
use wakeful_outbound::net::guard::Policy;
use wakeful_outbound::notify::webpush::Browsers;
use wakeful_outbound::notify::webpush::vapid::VapidKey;
use wakeful_outbound::notify::{self, Attempt, Message, ServiceMail};
use wakeful_testkit::fakes::{FakePush, Trouble};

use crate::channels::{LINK, NOW, message};
use crate::servers::{net, net_with};

/// A user with browsers.
struct Desk {
    net: Net,
    push: FakePush,
    key: VapidKey,
    subscriptions: Vec<PushSubscription>,
}

impl Desk {
    async fn with(names: &[&str]) -> Self {
        let push = FakePush::start(NOW).await;
        let subscriptions = names.iter().enumerate().map(|(number, name)| {
            let sent = push.subscribe(name);
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            let receiver = PushReceiver {
                endpoint: webpush::endpoint(&text(&sent["endpoint"])).unwrap(),
                public_key: webpush::public_key(&text(&sent["keys"]["p256dh"])).unwrap(),
                auth: webpush::auth(&text(&sent["keys"]["auth"])).unwrap(),
            };
            PushSubscription {
                id: PushSubscriptionId::new(NOW, [u8::try_from(number).unwrap(); 10]),
                receiver,
                agent: String::new(),
                created: NOW,
                last_used: None,
            }
        });
        let subscriptions = subscriptions.collect();
        Self { net: net(), push, key: VapidKey::from_private(&[7; 32]).unwrap(), subscriptions }
    }

    async fn attempt(&self, event: &Event) -> Attempt {
        let browsers = Browsers {
            key: &self.key,
            contact: "mailto:ops@example.com".to_owned(),
            subscriptions: self.subscriptions.clone(),
            is_retry: false,
        };
        let mail = ServiceMail { transport: &MailTransport::Folder("/nowhere".into()), from: "" };
        let message =
            Message { event, link: LINK, thread: None, left: None, browsers: Some(&browsers) };
        let team = TeamId::UNKNOWN;
        notify::deliver(&self.net, mail, team, &Channel::Webpush, message, NOW).await
    }
}

#[tokio::test]
async fn an_outage_and_its_end_are_one_notification_in_every_browser() {
    let desk = Desk::with(&["desktop", "phone"]).await;
    for kind in [event::DOWN, event::REMINDER, event::ACKNOWLEDGED, event::UP] {
        let attempt = desk.attempt(&message(kind)).await;
        assert!(matches!(attempt.outcome, Outcome::Delivered(_)), "{:?}", attempt.outcome);
        assert_eq!(attempt.push.accepted.len(), 2);
    }
    for name in ["desktop", "phone"] {
        let all = desk.push.messages(name);
        let of = |field: &str| all.iter().map(|one| one.data[field].clone()).collect::<Vec<_>>();
        assert_eq!(of("tag"), vec![of("tag")[0].clone(); 4], "each replaces the one before");
        assert!(all.iter().all(|one| one.topic == all[0].topic), "{all:?}");
        let urgencies: Vec<&str> = all.iter().map(|one| one.urgency.as_str()).collect();
        assert_eq!(urgencies, ["high", "high", "normal", "normal"]);
        assert_eq!(of("title")[0], "Shop <b>& is down");
        assert_eq!(of("title")[3], "Shop <b>& is up again");
        let body = of("body")[0].as_str().unwrap().to_owned();
        assert!(body.starts_with("503 Service Unavailable\nTarget: https://shop.exam"), "{body}");
        assert_eq!((&of("urgent")[0], &of("silent")[0]), (&true.into(), &false.into()));
        assert_eq!((&of("urgent")[3], &of("silent")[3]), (&false.into(), &true.into()));
        assert_eq!(of("action")[0], "https://wakeful.example/api/action/wkt_abc");
        assert!(of("action")[3].is_null() && of("url").iter().all(|url| url == LINK));
        assert_eq!(all[0].contact, "mailto:ops@example.com");
    }
    let mut info = message(event::DOWN);
    info.data.severity = Some(Severity::Info);
    desk.attempt(&info).await;
    assert_eq!(desk.push.messages("phone")[4].urgency, "low");
}

#[tokio::test]
async fn each_push_service_decides_what_happens_next() {
    let desk = Desk::with(&["desktop", "phone", "old"]).await;
    let id = |number: usize| desk.subscriptions[number].id;
    desk.push.next("phone", Trouble::Limited);
    desk.push.next("old", Trouble::Gone);
    let attempt = desk.attempt(&message(event::DOWN)).await;
    let Outcome::Partial { left, retry_after, answer } = attempt.outcome else { panic!() };
    assert_eq!((left, retry_after), (vec![id(1).to_string()], Some(Duration::from_secs(90))));
    assert!(answer.contains("1 of 3 browsers") && answer.contains("429"), "{answer}");
    assert_eq!((attempt.push.accepted, attempt.push.gone), (vec![id(0)], vec![id(2)]));

    let desk = Desk::with(&["phone"]).await;
    // A rejected token is retried, and so is a message whose response was lost: it replaces itself.
    for trouble in [Trouble::TokenRejected, Trouble::ResponseLost, Trouble::Limited] {
        desk.push.next("phone", trouble);
        let outcome = desk.attempt(&message(event::DOWN)).await.outcome;
        let Outcome::Failed(failure) = outcome else { panic!("{trouble:?}: {outcome:?}") };
        assert_eq!(failure.overloaded, trouble == Trouble::Limited, "{trouble:?}");
        assert!(!failure.answer.contains("/phone"), "the address is secret: {failure:?}");
    }
    desk.attempt(&message(event::DOWN)).await;
    let all = desk.push.messages("phone");
    assert_eq!((all.len(), &all[0].data), (2, &all[1].data));
    desk.push.next("phone", Trouble::Gone);
    let attempt = desk.attempt(&message(event::UP)).await;
    assert!(matches!(attempt.outcome, Outcome::Refused(_)), "{:?}", attempt.outcome);
}

#[tokio::test]
async fn long_texts_are_shortened_and_again_if_the_push_service_wants_less() {
    let desk = Desk::with(&["phone"]).await;
    let mut event = message(event::DOWN);
    event.data.message = "🔥<script>\"\\ \u{7}\u{202e}\n".repeat(400);
    event.data.monitor.as_mut().unwrap().name = "Größe 日本 ".repeat(40);
    for limit in [4_096, 2_000] {
        desk.push.limit(limit);
        let outcome = desk.attempt(&event).await.outcome;
        assert!(matches!(outcome, Outcome::Delivered(_)), "{limit}: {outcome:?}");
    }
    let lengths: Vec<usize> = desk
        .push
        .messages("phone")
        .iter()
        .map(|one| one.data["body"].as_str().unwrap().len())
        .collect();
    assert!(lengths[0] > 1_500 && (200..lengths[0]).contains(&lengths[1]), "{lengths:?}");
    desk.push.limit(100);
    let outcome = desk.attempt(&event).await.outcome;
    assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
}

#[tokio::test]
async fn the_address_of_a_browser_passes_the_egress_guard() {
    let mut desk = Desk::with(&["phone"]).await;
    desk.net = net_with(Policy::Public);
    let outcome = desk.attempt(&message(event::DOWN)).await.outcome;
    let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
    assert!(desk.push.messages("phone").is_empty(), "{failure:?}");
}
