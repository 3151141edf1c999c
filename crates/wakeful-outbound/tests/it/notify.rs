//! Notifications: the messages as snapshot files, and the handling of mail
//! servers and webhooks of every kind.

use data_encoding::BASE64;
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;
use wakeful_core::id::TeamId;
use wakeful_core::monitors::spec::{Headers, Hostname};
use wakeful_core::notifications::event::Event;
use wakeful_core::notifications::notifier::{
    BuiltinTemplate, EmailSpec, Keys, Mailbox, Mailboxes, Security, SigningSecret, Subject,
    Template, WebhookSpec, webhook as hooks,
};
use wakeful_core::notifications::retry::{Failure, Outcome};
use wakeful_core::secret::Secret;
use wakeful_core::template::UserTemplate;
use wakeful_core::time::Millis;
use wakeful_outbound::mail::Email;
use wakeful_outbound::net::Net;
use wakeful_outbound::net::guard::Policy;
use wakeful_outbound::notify::Attempt;
use wakeful_outbound::notify::renderers::Renderers;
use wakeful_outbound::notify::{email, email_template, webhook};
use wakeful_testkit::{Receiver, SmtpSecurity, SmtpServer};

use crate::servers::{TestServer, Today, net, redirect};

/// Whose templates are rendered.
fn team() -> TeamId {
    TeamId::parse("01a1dd16-3e86-7039-aa0a-37292a4ffff7").unwrap()
}

const NOW: Millis = Millis(1_794_735_000_000);
const LINK: &str = "https://wakeful.example/monitor/01a1dd16-3e86-7039-aa0a-37292a4ffff7";

fn event(kind: &str) -> Event {
    let id = "01a1dd16-3e86-7039-aa0a-37292a4ffff7";
    let up = kind == "monitor.up";
    let body = json!({"type": kind, "timestamp": "2026-11-15T09:30:00.000Z",
        "text": "[Shop <b>&] down: 503 Service Unavailable",
        "data": {"eventid": "01a1dd16-3e86-7039-aa0a-00000000000e", "alertid": id,
            "monitor": {"monitorid": id, "name": "Shop <b>&", "type": "http_keyword",
                "target": "https://shop.example/?a=1&b=2", "tags": ["web", "eu"]},
            "status": if up { "up" } else { "down" }, "previous_status": "up",
            "message": if up { "200 OK" } else { "503 Service Unavailable" },
            "load_time": 12.5, "down_since": "2026-11-15T09:25:50.000Z", "down_seconds": 250,
            "payload": null}});
    Event::parse(&body.to_string()).unwrap()
}

fn was_down() -> Event {
    Event::with_outage(&event("monitor.down"), event("monitor.up"))
}

fn certificate() -> Event {
    let mut event = event("monitor.certificate_expiring");
    event.data.message = "certificate expires in 7 days".into();
    event.data.down_since = None;
    event.data.down_seconds = None;
    event
}

fn test() -> Event {
    Event::test(event("monitor.down").data.eventid, "hook", NOW)
}

fn hook(url: &str, template: Template) -> WebhookSpec {
    WebhookSpec {
        url: hooks::url(url).unwrap(),
        headers: Headers::default(),
        template,
        keys: Keys::new(SigningSecret::issue([1; 32])),
    }
}

fn spec(port: u16) -> EmailSpec {
    EmailSpec {
        hostname: Hostname::parse("127.0.0.1").unwrap(),
        port,
        security: Security::default(),
        ignore_tls_errors: false,
        username: String::new(),
        password: Secret::new(""),
        from_email: Mailbox::parse("Wakeful <wakeful@example.com>").unwrap(),
        to_email: Mailboxes::parse("ann@example.com, Çiğdem <c@example.com>").unwrap(),
        to_cc: Mailboxes::parse("team@example.com").unwrap(),
        to_bcc: Mailboxes::parse("boss@example.com").unwrap(),
        subject: Subject::default(),
    }
}

/// Compares with the snapshot of that name; `WAKEFUL_UPDATE=1` writes it.
pub(crate) fn same(name: &str, text: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots");
    let path = folder.join(name);
    if std::env::var_os("WAKEFUL_UPDATE").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let snapshot = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(snapshot == text, "{name} is not as it was:\n{text}");
}

async fn sent(template: Template, path: &str, event: &Event) -> Value {
    let receiver = Receiver::start().await;
    let url = receiver.url.replace("/hook", path);
    let outcome = webhook::deliver(&net(), team(), &hook(&url, template), event, LINK, NOW).await;
    assert_eq!(outcome, Outcome::Delivered("taken".into()));
    receiver.hooks()[0].json()
}

#[tokio::test]
async fn every_builtin_template_renders_what_its_receiver_expects() {
    for ready in BuiltinTemplate::ALL {
        let path = match ready {
            BuiltinTemplate::Telegram => "/bot123/sendMessage?chat_id=-100",
            BuiltinTemplate::Ntfy => "/alerts",
            BuiltinTemplate::PagerDuty => "/v2/enqueue?routing_key=R0",
            _ => "/hook",
        };
        let mut all = serde_json::Map::new();
        for (name, event) in [
            ("down", event("monitor.down")),
            ("reminder", event("monitor.reminder")),
            ("up", event("monitor.up")),
            ("was down", was_down()),
            ("certificate", certificate()),
            ("test", test()),
        ] {
            let body = sent(Template::Builtin(*ready), path, &event).await;
            all.insert(name.to_owned(), body);
        }
        let text = serde_json::to_string_pretty(&all).unwrap() + "\n";
        same(&format!("{}.json", ready.as_str()), &text);
    }
}

#[tokio::test]
async fn a_degraded_monitor_is_an_incident_or_nothing_to_other_receivers() {
    let duty = || Template::Builtin(BuiltinTemplate::PagerDuty);
    for (kind, action, severity) in [
        ("monitor.degraded", "trigger", "warning"),
        ("monitor.restored", "resolve", "info"),
        ("alert.acknowledged", "acknowledge", "info"),
    ] {
        let body = sent(duty(), "/v2/enqueue?routing_key=R0", &event(kind)).await;
        assert_eq!(
            (&body["event_action"], &body["payload"]["severity"]),
            (&json!(action), &json!(severity))
        );
    }
    // Uptime Kuma has no such status.
    let receiver = Receiver::start().await;
    let kuma = hook(&receiver.url, Template::Builtin(BuiltinTemplate::UptimeKuma));
    for kind in ["monitor.degraded", "monitor.restored"] {
        let outcome = webhook::deliver(&net(), team(), &kuma, &event(kind), LINK, NOW).await;
        assert!(matches!(outcome, Outcome::Delivered(_)), "{outcome:?}");
    }
    assert_eq!(receiver.count(), 0);
}

#[tokio::test]
async fn a_custom_template_is_used_and_a_failing_one_falls_back() {
    let own = Template::parse(r#"{"say": {{ (title)|tojson }}, "n": {{ down_seconds }}}"#).unwrap();
    let body = sent(own, "/hook", &event("monitor.down")).await;
    assert_eq!(body, json!({"say": "Shop <b>& is down", "n": 250}));
    let broken = Template::Custom(UserTemplate::stored("{{ text.no_such_thing() }}"));
    let body = sent(broken, "/hook", &event("monitor.down")).await;
    assert_eq!(body["type"], "monitor.down");
}

#[tokio::test]
async fn a_large_payload_is_omitted_and_the_format_stays() {
    let mut large = event("monitor.down");
    large.data.payload = Some(json!({"log": "x".repeat(30_000)}));
    let duty = Template::Builtin(BuiltinTemplate::PagerDuty);
    let body = sent(duty.clone(), "/v2/enqueue?routing_key=R0", &large).await;
    assert_eq!(body, sent(duty, "/v2/enqueue?routing_key=R0", &event("monitor.down")).await);
    let own = Template::parse(r#"{"say": {{ title|tojson }}, "with": {{ payload|tojson }}}"#);
    let body = sent(own.unwrap(), "/hook", &large).await;
    assert_eq!(body, json!({"say": "Shop <b>& is down", "with": null}));
}

#[tokio::test]
async fn a_webhook_carries_its_headers_and_a_signature_for_each_secret() {
    let receiver = Receiver::start().await;
    let mut spec = hook(&receiver.url, Template::parse("plain {{ text }}").unwrap());
    spec.headers = hooks::headers("Authorization: Bearer t0ken\nX-Team: ops").unwrap();
    spec.keys = spec.keys.rotated(SigningSecret::issue([2; 32]), NOW);
    webhook::deliver(&net(), team(), &spec, &event("monitor.down"), LINK, NOW).await;
    let request = &receiver.hooks()[0];
    assert_eq!(request.header("authorization"), "Bearer t0ken");
    assert_eq!(request.header("x-team"), "ops");
    assert_eq!(request.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(request.header("webhook-timestamp"), "1794735000");
    assert_eq!(request.header("webhook-signature").split(' ').count(), 2);
    assert!(request.header("user-agent").starts_with("Wakeful/"));
}

/// A receiver's response is shown to everybody in the team, and cut: no part of a credential that
/// the receiver repeats is in it, wherever it is cut.
#[tokio::test]
async fn what_a_receiver_repeats_of_its_credentials_is_not_shown() {
    let secret = "Sentinel-4d1f9a7c-2b8e-4c55-9e0f-7a6b5c4d3e2f";
    for before in (900..990).step_by(9) {
        let server = TestServer::replying(move |request| {
            let body = format!("{}{secret} {request}", "x".repeat(before));
            let head = format!("HTTP/1.1 500 No\r\nContent-Length: {}\r\n\r\n", body.len());
            [head, body].concat().into_bytes()
        })
        .await;
        let url = server.url(&format!("/hook?token={secret}"));
        let mut spec = hook(&url, Template::parse("plain {{ text }}").unwrap());
        let headers =
            format!("Authorization: Basic {}\nX-Own: {secret}", BASE64.encode(secret.as_bytes()));
        spec.headers = hooks::headers(&headers).unwrap();
        let outcome =
            webhook::deliver(&net(), team(), &spec, &event("monitor.down"), LINK, NOW).await;
        let shown = format!("{outcome:?}");
        assert!(shown.contains("xxx") && shown.contains("***"), "{before}: {shown}");
        for part in ["Sentinel", &BASE64.encode(secret.as_bytes())[..8]] {
            assert!(!shown.contains(part), "{before}: {shown}");
        }
    }
}

/// Verified by the public library for receivers, on the raw bytes.
#[tokio::test]
async fn receivers_that_follow_the_standard_accept_every_signature() {
    const VERIFY: &str = "import json, sys
from standardwebhooks.webhooks import Webhook
given = json.load(sys.stdin)
for one in given:
    Webhook(one['secret']).verify(one['body'], one['headers'])
print(len(given))";
    let receiver = Receiver::start().await;
    let mut spec = hook(&receiver.url, Template::Standard);
    let old = spec.keys.current.clone();
    spec.keys = spec.keys.rotated(SigningSecret::issue([9; 32]), NOW);
    // The library rejects timestamps that are not current.
    let now = std::process::Command::new("date").arg("+%s").output().unwrap();
    let now: i64 = String::from_utf8(now.stdout).unwrap().trim().parse().unwrap();
    let mut given = Vec::new();
    for number in 0..100 {
        let mut event = event(if number % 2 == 0 { "monitor.down" } else { "monitor.up" });
        event.text = format!("{number} Ünïcödé \"quoted\" \\ 🔴");
        spec.keys.old = spec.keys.old.map(|(old, _)| (old, Millis(i64::MAX)));
        webhook::deliver(&net(), team(), &spec, &event, LINK, Millis(now * 1_000)).await;
        let request = receiver.hooks().pop().unwrap();
        let secret = if number % 3 == 0 { &old } else { &spec.keys.current };
        let names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
        let headers: serde_json::Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), json!(request.header(name)))).collect();
        given.push(json!({"secret": secret.expose(), "body": request.body, "headers": headers}));
    }
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/venv/bin/python");
    assert!(PathBuf::from(python).exists(), "{python} is missing: run scripts/install-test-deps");
    let mut child = std::process::Command::new(python)
        .args(["-c", VERIFY])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(
        &mut child.stdin.take().unwrap(),
        &serde_json::to_vec(&given).unwrap(),
    )
    .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "100");
}

#[tokio::test]
async fn no_redirect_is_followed() {
    let second = TestServer::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    for code in [301, 302, 303, 307, 308] {
        let first = TestServer::answering(redirect(code, &second.url("/"))).await;
        let spec = hook(&first.url("/"), Template::Standard);
        let outcome =
            webhook::deliver(&net(), team(), &spec, &event("monitor.down"), LINK, NOW).await;
        let Outcome::Failed(failure) = outcome else { panic!("{code}: {outcome:?}") };
        assert!(failure.answer.contains("redirects are not followed"), "{failure:?}");
    }
    assert_eq!(second.connection_count(), 0);
}

#[tokio::test]
async fn the_response_of_a_receiver_decides_the_outcome() {
    let receiver = Receiver::start().await;
    let spec = hook(&receiver.url, Template::Standard);
    let net = net();
    let failed = |answer: &str, after: Option<u64>, overloaded| {
        let retry_after = after.map(Duration::from_secs);
        let answer = answer.into();
        Outcome::Failed(Failure { answer, retry_after, overloaded, ..Failure::default() })
    };
    for (status, headers, body, outcome) in [
        (204, "", "", Outcome::Delivered("204 No Content".into())),
        (410, "", "no", Outcome::Gone("410 Gone: no".into())),
        (500, "", "a\u{7}b\r\nc", failed("500 Internal Server Error: a b  c", None, false)),
        (503, "retry-after: 7\r\n", "", failed("503 Service Unavailable", Some(7), false)),
        (429, "retry-after: x\r\n", "", failed("429 Too Many Requests", None, true)),
        (404, "", "", failed("404 Not Found", None, false)),
    ] {
        receiver.answer_with(status, headers, body);
        let request =
            webhook::deliver(&net, team(), &spec, &event("monitor.down"), LINK, NOW).await;
        assert_eq!(request, outcome, "{status}");
    }
}

#[tokio::test]
async fn webhooks_and_mail_do_not_connect_to_blocked_addresses() {
    let public = Net::new(Policy::Public, Vec::new(), std::sync::Arc::new(Today));
    let receiver = Receiver::start().await;
    let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
    let hook = hook(&receiver.url, Template::Standard);
    let outcome = webhook::deliver(&public, team(), &hook, &event("monitor.down"), LINK, NOW).await;
    assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
    let email = email_template::event_email(
        &Renderers::default(),
        team(),
        &spec(inbox.port),
        &test(),
        LINK,
        None,
        NOW,
    )
    .await;
    let outcome = email::deliver(&public, &spec(inbox.port), &email, None).await.outcome;
    assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
    assert_eq!((receiver.count(), inbox.connections()), (0, 0));
}

#[tokio::test]
async fn emails_match_their_snapshots() {
    let spec = spec(25);
    for (name, email) in [
        (
            "down",
            email_template::event_email(
                &Renderers::default(),
                team(),
                &spec,
                &event("monitor.down"),
                LINK,
                None,
                NOW,
            )
            .await,
        ),
        (
            "up",
            email_template::event_email(
                &Renderers::default(),
                team(),
                &spec,
                &event("monitor.up"),
                LINK,
                None,
                NOW,
            )
            .await,
        ),
        (
            "was_down",
            email_template::event_email(
                &Renderers::default(),
                team(),
                &spec,
                &was_down(),
                LINK,
                None,
                NOW,
            )
            .await,
        ),
        (
            "certificate",
            email_template::event_email(
                &Renderers::default(),
                team(),
                &spec,
                &certificate(),
                LINK,
                None,
                NOW,
            )
            .await,
        ),
        (
            "test",
            email_template::event_email(
                &Renderers::default(),
                team(),
                &spec,
                &test(),
                LINK,
                None,
                NOW,
            )
            .await,
        ),
        (
            "digest",
            email_template::digest(
                &spec,
                &[event("monitor.down"), was_down(), certificate()],
                LINK,
                NOW,
            ),
        ),
    ] {
        let Email { subject, text, html, .. } = email;
        same(&format!("mail_{name}.txt"), &format!("Subject: {subject}\n\n{text}\n"));
        same(&format!("mail_{name}.html"), &html.unwrap());
    }
}

#[tokio::test]
async fn an_email_reaches_all_recipients_and_injects_no_header() {
    let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
    let mut spec = spec(inbox.port);
    spec.subject = Subject::parse("[{{ status }}] {{ name }}").unwrap();
    let mut evil = event("monitor.down");
    evil.data.monitor.as_mut().unwrap().name = "x\r\nBcc: eve@example.com\r\n\r\nbody".into();
    let answers = Some(evil.data.eventid);
    let email = email_template::event_email(
        &Renderers::default(),
        team(),
        &spec,
        &evil,
        LINK,
        answers,
        NOW,
    )
    .await;
    let outcome = email::deliver(&net(), &spec, &email, None).await.outcome;
    assert_eq!(outcome, Outcome::Delivered("250 2.0.0 taken as 1".into()));
    let taken = &inbox.mails()[0];
    assert_eq!(
        taken.to,
        ["ann@example.com", "c@example.com", "team@example.com", "boss@example.com"]
    );
    assert_eq!(taken.from, "wakeful@example.com");
    assert_eq!(taken.header("subject"), "[down] x Bcc: eve@example.com body");
    assert_eq!(taken.header("bcc"), "", "bcc is not in the headers");
    assert_eq!(taken.header("cc"), "team@example.com");
    assert_eq!(taken.header("auto-submitted"), "auto-generated");
    assert_eq!(taken.header("message-id"), "<01a1dd16-3e86-7039-aa0a-00000000000e@wakeful>");
    assert_eq!(taken.header("in-reply-to"), taken.header("message-id"));
}

#[tokio::test]
async fn a_connection_uses_the_configured_tls_and_accepts_a_bad_certificate_only_when_allowed() {
    let net = net();
    for line in [SmtpSecurity::StartTls, SmtpSecurity::Tls] {
        // Port 465 means implicit TLS. Each test is a process, and uses its own
        // loopback address.
        let [_, high, middle, low] = std::process::id().to_be_bytes();
        let host = std::net::Ipv4Addr::new(127, 64 | high, middle, low);
        let port = if line == SmtpSecurity::Tls { 465 } else { 0 };
        let listener = tokio::net::TcpListener::bind((host, port)).await;
        if listener.as_ref().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
            // Only root may open it, unless net.ipv4.ip_unprivileged_port_start
            // allows it.
            eprintln!("SKIPPED: {line:?}, because port {port} cannot be opened without privileges");
            continue;
        }
        let listener = listener.expect("a port");
        let inbox = SmtpServer::on(listener, line);
        let mut spec = EmailSpec {
            hostname: Hostname::parse(&host.to_string()).unwrap(),
            security: Security::parse("TLS").unwrap(),
            ..spec(inbox.port)
        };
        let email = email_template::event_email(
            &Renderers::default(),
            team(),
            &spec,
            &event("monitor.down"),
            LINK,
            None,
            NOW,
        )
        .await;
        let outcome = email::deliver(&net, &spec, &email, None).await.outcome;
        assert!(matches!(outcome, Outcome::Failed(_)), "{line:?}: {outcome:?}");
        assert!(outcome.answer().contains("certificate"), "{line:?}: {outcome:?}");
        assert_eq!(inbox.mails().len(), 0);
        spec.ignore_tls_errors = true;
        spec.username = "user".into();
        spec.password = Secret::new("pass");
        let outcome = email::deliver(&net, &spec, &email, None).await.outcome;
        assert_eq!(outcome, Outcome::Delivered("250 2.0.0 taken as 1".into()), "{line:?}");
        let taken = &inbox.mails()[0];
        assert!(taken.secure, "{line:?}");
        assert_eq!((taken.user.as_str(), taken.password.as_str()), ("user", "pass"));
        spec.password = Secret::new("wrong");
        let outcome = email::deliver(&net, &spec, &email, None).await.outcome;
        assert!(matches!(outcome, Outcome::Failed(_)), "a login can be corrected: {outcome:?}");
        assert!(outcome.answer().contains("535"), "{line:?}: {outcome:?}");
    }
}

#[tokio::test]
async fn one_bad_address_does_not_stop_the_others() {
    let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
    let spec = spec(inbox.port);
    let email = email_template::event_email(
        &Renderers::default(),
        team(),
        &spec,
        &event("monitor.down"),
        LINK,
        None,
        NOW,
    )
    .await;
    inbox.reply_to("RCPT TO:<c@example.com>", "550 5.1.1 no such user");
    inbox.reply_to("RCPT TO:<team@example.com>", "450 4.2.0 greylisted");
    let Attempt { outcome, recipients, .. } = email::deliver(&net(), &spec, &email, None).await;
    let recipients = recipients.expect("the server responded to them");
    assert_eq!((recipients.accepted(), recipients.total), (2, 4));
    let Outcome::Partial { answer, left, .. } = &outcome else { panic!("{outcome:?}") };
    assert_eq!(left, &["team@example.com"]);
    assert_eq!(inbox.mails()[0].to, ["ann@example.com", "boss@example.com"]);
    for part in
        ["250 2.0.0 taken as 1; not accepted for ", "c@example.com: ", "550", "no such user"]
    {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    assert!(answer.contains("team@example.com: ") && answer.contains("greylisted"), "{answer}");

    inbox.stop_replying_to("RCPT TO:<team@example.com>");
    let outcome = email::deliver(&net(), &spec, &email, Some(left)).await.outcome;
    assert_eq!(outcome, Outcome::Delivered("250 2.0.0 taken as 2".into()));
    assert_eq!(inbox.mails()[1].to, ["team@example.com"]);
    let removed = ["who.left@example.com".to_owned()];
    let outcome = email::deliver(&net(), &spec, &email, Some(&removed)).await.outcome;
    assert!(outcome.answer().contains("removed from the notifier"), "{outcome:?}");

    inbox.reply_to("RCPT TO:<team@example.com>", "450 4.2.0 greylisted");
    inbox.reply_to("RCPT TO:<ann@example.com>", "550 5.1.1 no such user");
    inbox.reply_to("RCPT TO:<boss@example.com>", "550 5.1.1 no such user");
    let outcome = email::deliver(&net(), &spec, &email, None).await.outcome;
    assert!(matches!(outcome, Outcome::Failed(_)), "one may be accepted later: {outcome:?}");
    inbox.reply_to("RCPT TO:<team@example.com>", "550 5.1.1 no such user");
    let outcome = email::deliver(&net(), &spec, &email, None).await.outcome;
    assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
    assert_eq!(inbox.mails().len(), 2);
}

#[tokio::test]
async fn only_errors_about_the_email_are_permanent() {
    for (line, reply, is_final) in [
        ("MAIL", "530 5.7.0 authentication required", false),
        ("MAIL", "451 4.3.0 busy", false),
        ("MAIL", "550 5.7.1 not from you", true),
        ("DATA", "554 5.7.1 spam", true),
        ("EHLO", "554 5.7.1 your address is blocked", false),
    ] {
        let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
        inbox.reply_to(line, reply);
        let spec = spec(inbox.port);
        let email = email_template::event_email(
            &Renderers::default(),
            team(),
            &spec,
            &event("monitor.down"),
            LINK,
            None,
            NOW,
        )
        .await;
        let outcome = email::deliver(&net(), &spec, &email, None).await.outcome;
        assert_eq!(matches!(outcome, Outcome::Refused(_)), is_final, "{reply}: {outcome:?}");
        assert!(outcome.answer().contains(&reply[4..]), "{reply}: {outcome:?}");
    }
}

#[tokio::test]
async fn an_accepted_email_counts_even_when_quit_fails() {
    let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
    inbox.reply_to("QUIT", "");
    let spec = spec(inbox.port);
    let email = email_template::event_email(
        &Renderers::default(),
        team(),
        &spec,
        &event("monitor.down"),
        LINK,
        None,
        NOW,
    )
    .await;
    let outcome = email::deliver(&net(), &spec, &email, None).await.outcome;
    assert_eq!(outcome, Outcome::Delivered("250 2.0.0 taken as 1".into()));
}

#[tokio::test]
async fn addresses_as_people_write_them_are_accepted_by_servers() {
    let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
    let to = r#"Ops (night) <a@example.com>, Team: Ops <b@example.com>, a\b <c@example.com>,
        Team [prod] <d@example.com>, ops@team <e@example.com>, Ops; Night <f@example.com>,
        "g h"@example.com, i@exämple.com"#;
    let mut spec = spec(inbox.port);
    spec.to_email = Mailboxes::parse(&to.replace('\n', "")).unwrap();
    spec.to_cc = Mailboxes::default();
    spec.to_bcc = Mailboxes::default();
    let email = email_template::event_email(
        &Renderers::default(),
        team(),
        &spec,
        &event("monitor.down"),
        LINK,
        None,
        NOW,
    )
    .await;
    let outcome = email::deliver(&net(), &spec, &email, None).await.outcome;
    assert_eq!(outcome, Outcome::Delivered("250 2.0.0 taken as 1".into()));
    let mut all: Vec<String> = "abcdef".chars().map(|c| format!("{c}@example.com")).collect();
    all.extend(["\"g h\"@example.com".into(), "i@xn--exmple-cua.com".into()]);
    assert_eq!(inbox.mails()[0].to, all);
}

#[tokio::test]
async fn a_server_without_starttls_gets_no_email_when_tls_is_set() {
    let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
    let spec = EmailSpec { security: Security::parse("tls").unwrap(), ..spec(inbox.port) };
    let email = email_template::event_email(
        &Renderers::default(),
        team(),
        &spec,
        &event("monitor.down"),
        LINK,
        None,
        NOW,
    )
    .await;
    let outcome = email::deliver(&net(), &spec, &email, None).await.outcome;
    assert!(outcome.answer().contains("STARTTLS"), "{outcome:?}");
    assert_eq!(inbox.mails().len(), 0);
}
