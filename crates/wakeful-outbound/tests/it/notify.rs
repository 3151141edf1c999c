//! Telling people: what leaves us, written down as files, and how mail servers
//! and webhooks of every kind are met.

use serde_json::{Value, json};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;
use wakeful_core::monitor::spec::{Headers, Hostname};
use wakeful_core::notice::Notice;
use wakeful_core::notice::retry::{Failure, Outcome};
use wakeful_core::notifier::{
    EmailSpec, Keys, Mailbox, Mailboxes, Ready, Security, SigningSecret, Subject, Template,
    WebhookSpec, webhook as hooks,
};
use wakeful_core::secret::Secret;
use wakeful_core::template::UserTemplate;
use wakeful_core::time::Millis;
use wakeful_outbound::mail::Letter;
use wakeful_outbound::net::Net;
use wakeful_outbound::net::guard::Policy;
use wakeful_outbound::notify::{email, letters, webhook};
use wakeful_testkit::{Inbox, Line, Receiver};

use crate::peer::{Peer, Today, net, redirect};

const NOW: Millis = Millis(1_794_735_000_000);
const LINK: &str = "https://wakeful.example/monitor/01a1dd16-3e86-7039-aa0a-37292a4ffff7";

fn notice(kind: &str) -> Notice {
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
    Notice::parse(&body.to_string()).unwrap()
}

fn was_down() -> Notice {
    Notice::was_down(&notice("monitor.down"), notice("monitor.up"))
}

fn certificate() -> Notice {
    let mut notice = notice("monitor.certificate_expiring");
    notice.data.message = "certificate expires in 7 days".into();
    notice.data.down_since = None;
    notice.data.down_seconds = None;
    notice
}

fn test() -> Notice {
    Notice::test(notice("monitor.down").data.eventid, "hook", NOW)
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

/// Compares with the file of that name; `WAKEFUL_UPDATE=1` writes it.
fn same(name: &str, text: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/told");
    let path = folder.join(name);
    if std::env::var_os("WAKEFUL_UPDATE").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{name} is not as it was:\n{text}");
}

async fn sent(template: Template, path: &str, notice: &Notice) -> Value {
    let receiver = Receiver::start().await;
    let url = receiver.url.replace("/hook", path);
    let outcome = webhook::deliver(&net(), &hook(&url, template), notice, LINK, NOW).await;
    assert_eq!(outcome, Outcome::Delivered("taken".into()));
    receiver.hooks()[0].json()
}

#[tokio::test]
async fn every_ready_template_gives_the_shape_its_receiver_wants() {
    for ready in Ready::ALL {
        let path = match ready {
            Ready::Telegram => "/bot123/sendMessage?chat_id=-100",
            Ready::Ntfy => "/alerts",
            Ready::PagerDuty => "/v2/enqueue?routing_key=R0",
            _ => "/hook",
        };
        let mut all = serde_json::Map::new();
        for (name, notice) in [
            ("down", notice("monitor.down")),
            ("reminder", notice("monitor.reminder")),
            ("up", notice("monitor.up")),
            ("was down", was_down()),
            ("certificate", certificate()),
            ("test", test()),
        ] {
            let body = sent(Template::Ready(*ready), path, &notice).await;
            all.insert(name.to_owned(), body);
        }
        let text = serde_json::to_string_pretty(&all).unwrap() + "\n";
        same(&format!("{}.json", ready.as_str()), &text);
    }
}

#[tokio::test]
async fn a_template_of_ones_own_is_used_and_one_that_fails_loses_nothing() {
    let own = Template::parse(r#"{"say": {{ (title)|tojson }}, "n": {{ down_seconds }}}"#).unwrap();
    let body = sent(own, "/hook", &notice("monitor.down")).await;
    assert_eq!(body, json!({"say": "Shop <b>& is down", "n": 250}));
    let broken = Template::Own(UserTemplate::stored("{{ text.no_such_thing() }}"));
    let body = sent(broken, "/hook", &notice("monitor.down")).await;
    assert_eq!(body["type"], "monitor.down");
}

#[tokio::test]
async fn a_large_report_is_left_out_and_the_shape_stays() {
    let mut large = notice("monitor.down");
    large.data.payload = Some(json!({"log": "x".repeat(30_000)}));
    let duty = Template::Ready(Ready::PagerDuty);
    let body = sent(duty.clone(), "/v2/enqueue?routing_key=R0", &large).await;
    assert_eq!(body, sent(duty, "/v2/enqueue?routing_key=R0", &notice("monitor.down")).await);
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
    webhook::deliver(&net(), &spec, &notice("monitor.down"), LINK, NOW).await;
    let seen = &receiver.hooks()[0];
    assert_eq!(seen.header("authorization"), "Bearer t0ken");
    assert_eq!(seen.header("x-team"), "ops");
    assert_eq!(seen.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(seen.header("webhook-timestamp"), "1794735000");
    assert_eq!(seen.header("webhook-signature").split(' ').count(), 2);
    assert!(seen.header("user-agent").starts_with("Wakeful/"));
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
    // The library refuses what is not of now.
    let now = std::process::Command::new("date").arg("+%s").output().unwrap();
    let now: i64 = String::from_utf8(now.stdout).unwrap().trim().parse().unwrap();
    let mut given = Vec::new();
    for number in 0..100 {
        let mut notice = notice(if number % 2 == 0 { "monitor.down" } else { "monitor.up" });
        notice.text = format!("{number} Ünïcödé \"quoted\" \\ 🔴");
        spec.keys.old = spec.keys.old.map(|(old, _)| (old, Millis(i64::MAX)));
        webhook::deliver(&net(), &spec, &notice, LINK, Millis(now * 1_000)).await;
        let seen = receiver.hooks().pop().unwrap();
        let secret = if number % 3 == 0 { &old } else { &spec.keys.current };
        let names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
        let headers: serde_json::Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), json!(seen.header(name)))).collect();
        given.push(json!({"secret": secret.expose(), "body": seen.body, "headers": headers}));
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
    let second = Peer::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    for code in [301, 302, 303, 307, 308] {
        let first = Peer::answering(redirect(code, &second.url("/"))).await;
        let spec = hook(&first.url("/"), Template::Standard);
        let outcome = webhook::deliver(&net(), &spec, &notice("monitor.down"), LINK, NOW).await;
        let Outcome::Failed(failure) = outcome else { panic!("{code}: {outcome:?}") };
        assert!(failure.answer.contains("redirects are not followed"), "{failure:?}");
    }
    assert_eq!(second.seen(), 0);
}

#[tokio::test]
async fn what_a_receiver_answers_decides_what_is_done() {
    let receiver = Receiver::start().await;
    let spec = hook(&receiver.url, Template::Standard);
    let net = net();
    let failed = |answer: &str, after: Option<u64>, overloaded| {
        let retry_after = after.map(Duration::from_secs);
        Outcome::Failed(Failure { answer: answer.into(), retry_after, overloaded })
    };
    for (status, headers, body, outcome) in [
        (204, "", "", Outcome::Delivered("204 No Content".into())),
        (410, "", "no", Outcome::Gone("410 Gone: no".into())),
        (500, "", "a\u{7}b\r\nc", failed("500 Internal Server Error: ab  c", None, false)),
        (503, "retry-after: 7\r\n", "", failed("503 Service Unavailable", Some(7), false)),
        (429, "retry-after: x\r\n", "", failed("429 Too Many Requests", None, true)),
        (404, "", "", failed("404 Not Found", None, false)),
    ] {
        receiver.answers(status, headers, body);
        let seen = webhook::deliver(&net, &spec, &notice("monitor.down"), LINK, NOW).await;
        assert_eq!(seen, outcome, "{status}");
    }
}

#[tokio::test]
async fn denied_addresses_are_not_dialled_by_webhooks_or_mail() {
    let public = Net::new(Policy::Public, Vec::new(), std::sync::Arc::new(Today));
    let receiver = Receiver::start().await;
    let inbox = Inbox::start(Line::Plain).await;
    let hook = hook(&receiver.url, Template::Standard);
    let told = webhook::deliver(&public, &hook, &notice("monitor.down"), LINK, NOW).await;
    assert!(matches!(told, Outcome::Failed(_)), "{told:?}");
    let letter = letters::letter(&spec(inbox.port), &test(), LINK, None, NOW).await;
    let told = email::deliver(&public, &spec(inbox.port), &letter, None).await;
    assert!(matches!(told, Outcome::Failed(_)), "{told:?}");
    assert_eq!((receiver.count(), inbox.connections()), (0, 0));
}

#[tokio::test]
async fn letters_read_well() {
    let spec = spec(25);
    for (name, letter) in [
        ("down", letters::letter(&spec, &notice("monitor.down"), LINK, None, NOW).await),
        ("up", letters::letter(&spec, &notice("monitor.up"), LINK, None, NOW).await),
        ("was_down", letters::letter(&spec, &was_down(), LINK, None, NOW).await),
        ("certificate", letters::letter(&spec, &certificate(), LINK, None, NOW).await),
        ("test", letters::letter(&spec, &test(), LINK, None, NOW).await),
        (
            "digest",
            letters::digest(&spec, &[notice("monitor.down"), was_down(), certificate()], LINK, NOW),
        ),
    ] {
        let Letter { subject, text, html, .. } = letter;
        same(&format!("mail_{name}.txt"), &format!("Subject: {subject}\n\n{text}\n"));
        same(&format!("mail_{name}.html"), &html.unwrap());
    }
}

#[tokio::test]
async fn a_letter_reaches_everybody_and_breaks_out_of_no_header() {
    let inbox = Inbox::start(Line::Plain).await;
    let mut spec = spec(inbox.port);
    spec.subject = Subject::parse("[{{ status }}] {{ name }}").unwrap();
    let mut evil = notice("monitor.down");
    evil.data.monitor.as_mut().unwrap().name = "x\r\nBcc: eve@example.com\r\n\r\nbody".into();
    let answers = Some(evil.data.eventid);
    let letter = letters::letter(&spec, &evil, LINK, answers, NOW).await;
    let outcome = email::deliver(&net(), &spec, &letter, None).await;
    assert_eq!(outcome, Outcome::Delivered("250 2.0.0 taken as 1".into()));
    let taken = &inbox.letters()[0];
    assert_eq!(
        taken.to,
        ["ann@example.com", "c@example.com", "team@example.com", "boss@example.com"]
    );
    assert_eq!(taken.from, "wakeful@example.com");
    assert_eq!(taken.header("subject"), "[down] x Bcc: eve@example.com body");
    assert_eq!(taken.header("bcc"), "", "blind copies stay blind");
    assert_eq!(taken.header("cc"), "team@example.com");
    assert_eq!(taken.header("auto-submitted"), "auto-generated");
    assert_eq!(taken.header("message-id"), "<01a1dd16-3e86-7039-aa0a-00000000000e@wakeful>");
    assert_eq!(taken.header("in-reply-to"), taken.header("message-id"));
}

#[tokio::test]
async fn a_line_is_secured_as_set_and_a_bad_certificate_is_only_taken_when_told_to() {
    let net = net();
    for line in [Line::StartTls, Line::Tls] {
        // Implicit TLS is what port 465 stands for. Each test is a process, and has
        // an address of its own.
        let [_, high, middle, low] = std::process::id().to_be_bytes();
        let host = std::net::Ipv4Addr::new(127, 64 | high, middle, low);
        let port = if line == Line::Tls { 465 } else { 0 };
        let listener = tokio::net::TcpListener::bind((host, port)).await;
        if listener.as_ref().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
            // Only root, or whom net.ipv4.ip_unprivileged_port_start lets, may open it.
            eprintln!("NOT TRIED: {line:?}, because port {port} is not ours to open");
            continue;
        }
        let listener = listener.expect("a port");
        let inbox = Inbox::on(listener, line);
        let mut spec = EmailSpec {
            hostname: Hostname::parse(&host.to_string()).unwrap(),
            security: Security::parse("TLS").unwrap(),
            ..spec(inbox.port)
        };
        let letter = letters::letter(&spec, &notice("monitor.down"), LINK, None, NOW).await;
        let told = email::deliver(&net, &spec, &letter, None).await;
        assert!(matches!(told, Outcome::Failed(_)), "{line:?}: {told:?}");
        assert!(told.answer().contains("certificate"), "{line:?}: {told:?}");
        assert_eq!(inbox.letters().len(), 0);
        spec.ignore_tls_errors = true;
        spec.username = "user".into();
        spec.password = Secret::new("pass");
        let told = email::deliver(&net, &spec, &letter, None).await;
        assert_eq!(told, Outcome::Delivered("250 2.0.0 taken as 1".into()), "{line:?}");
        let taken = &inbox.letters()[0];
        assert!(taken.secure, "{line:?}");
        assert_eq!((taken.user.as_str(), taken.password.as_str()), ("user", "pass"));
        spec.password = Secret::new("wrong");
        let told = email::deliver(&net, &spec, &letter, None).await;
        assert!(matches!(told, Outcome::Failed(_)), "a login can be set right: {told:?}");
        assert!(told.answer().contains("535"), "{line:?}: {told:?}");
    }
}

#[tokio::test]
async fn one_bad_address_keeps_nobody_else_from_being_told() {
    let inbox = Inbox::start(Line::Plain).await;
    let spec = spec(inbox.port);
    let letter = letters::letter(&spec, &notice("monitor.down"), LINK, None, NOW).await;
    inbox.says("RCPT TO:<c@example.com>", "550 5.1.1 no such user");
    inbox.says("RCPT TO:<team@example.com>", "450 4.2.0 greylisted");
    let told = email::deliver(&net(), &spec, &letter, None).await;
    let Outcome::Partly { answer, left } = &told else { panic!("{told:?}") };
    assert_eq!(left, &["team@example.com"]);
    assert_eq!(inbox.letters()[0].to, ["ann@example.com", "boss@example.com"]);
    for part in ["250 2.0.0 taken as 1; not for ", "c@example.com: ", "550", "no such user"] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    assert!(answer.contains("team@example.com: ") && answer.contains("greylisted"), "{answer}");

    inbox.says_no_more("RCPT TO:<team@example.com>");
    let told = email::deliver(&net(), &spec, &letter, Some(left)).await;
    assert_eq!(told, Outcome::Delivered("250 2.0.0 taken as 2".into()));
    assert_eq!(inbox.letters()[1].to, ["team@example.com"]);
    let nobody = ["who.left@example.com".to_owned()];
    let told = email::deliver(&net(), &spec, &letter, Some(&nobody)).await;
    assert!(told.answer().contains("no recipient any more"), "{told:?}");

    inbox.says("RCPT TO:<team@example.com>", "450 4.2.0 greylisted");
    inbox.says("RCPT TO:<ann@example.com>", "550 5.1.1 no such user");
    inbox.says("RCPT TO:<boss@example.com>", "550 5.1.1 no such user");
    let told = email::deliver(&net(), &spec, &letter, None).await;
    assert!(matches!(told, Outcome::Failed(_)), "one may be taken later: {told:?}");
    inbox.says("RCPT TO:<team@example.com>", "550 5.1.1 no such user");
    let told = email::deliver(&net(), &spec, &letter, None).await;
    assert!(matches!(told, Outcome::Refused(_)), "{told:?}");
    assert_eq!(inbox.letters().len(), 2);
}

#[tokio::test]
async fn only_what_is_said_against_the_letter_is_final() {
    for (line, reply, is_final) in [
        ("MAIL", "530 5.7.0 authentication required", false),
        ("MAIL", "451 4.3.0 busy", false),
        ("MAIL", "550 5.7.1 not from you", true),
        ("DATA", "554 5.7.1 spam", true),
        ("EHLO", "554 5.7.1 your address is blocked", false),
    ] {
        let inbox = Inbox::start(Line::Plain).await;
        inbox.says(line, reply);
        let spec = spec(inbox.port);
        let letter = letters::letter(&spec, &notice("monitor.down"), LINK, None, NOW).await;
        let told = email::deliver(&net(), &spec, &letter, None).await;
        assert_eq!(matches!(told, Outcome::Refused(_)), is_final, "{reply}: {told:?}");
        assert!(told.answer().contains(&reply[4..]), "{reply}: {told:?}");
    }
}

#[tokio::test]
async fn a_letter_that_was_taken_is_taken_however_the_goodbye_goes() {
    let inbox = Inbox::start(Line::Plain).await;
    inbox.says("QUIT", "");
    let spec = spec(inbox.port);
    let letter = letters::letter(&spec, &notice("monitor.down"), LINK, None, NOW).await;
    let outcome = email::deliver(&net(), &spec, &letter, None).await;
    assert_eq!(outcome, Outcome::Delivered("250 2.0.0 taken as 1".into()));
}

#[tokio::test]
async fn addresses_that_people_write_are_ones_that_servers_understand() {
    let inbox = Inbox::start(Line::Plain).await;
    let to = r#"Ops (night) <a@example.com>, Team: Ops <b@example.com>, a\b <c@example.com>,
        Team [prod] <d@example.com>, ops@team <e@example.com>, Ops; Night <f@example.com>,
        "g h"@example.com, i@exämple.com"#;
    let mut spec = spec(inbox.port);
    spec.to_email = Mailboxes::parse(&to.replace('\n', "")).unwrap();
    spec.to_cc = Mailboxes::default();
    spec.to_bcc = Mailboxes::default();
    let letter = letters::letter(&spec, &notice("monitor.down"), LINK, None, NOW).await;
    let outcome = email::deliver(&net(), &spec, &letter, None).await;
    assert_eq!(outcome, Outcome::Delivered("250 2.0.0 taken as 1".into()));
    let mut all: Vec<String> = "abcdef".chars().map(|c| format!("{c}@example.com")).collect();
    all.extend(["\"g h\"@example.com".into(), "i@xn--exmple-cua.com".into()]);
    assert_eq!(inbox.letters()[0].to, all);
}

#[tokio::test]
async fn a_server_without_starttls_gets_no_letter_when_tls_is_set() {
    let inbox = Inbox::start(Line::Plain).await;
    let spec = EmailSpec { security: Security::parse("tls").unwrap(), ..spec(inbox.port) };
    let letter = letters::letter(&spec, &notice("monitor.down"), LINK, None, NOW).await;
    let told = email::deliver(&net(), &spec, &letter, None).await;
    assert!(told.answer().contains("STARTTLS"), "{told:?}");
    assert_eq!(inbox.letters().len(), 0);
}
