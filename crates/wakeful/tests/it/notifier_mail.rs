//! Email notifiers against an independent mail server, with all kinds of settings: the
//! test message, an outage and its end.

use serde_json::{Value, json};
use wakeful_testkit::{DatabaseKind, User};

use crate::process::Installation;
use crate::smtp::{Certificate, Mail, MailServer, USER};

const PASSWORD: &str = "the mail password";

/// A notifier with all kinds of recipients for this server.
fn notifier(mail_server: &MailServer, password: Option<&str>) -> Value {
    json!({"name": "mail", "type": "email", "email": {
        "hostname": mail_server.host, "port": mail_server.port, "security": mail_server.security(),
        "ignore_tls_errors": false, "from_email": "Wakeful <wakeful@example.com>",
        "username": password.map_or("", |_| USER), "password": password.unwrap_or_default(),
        "to_email": "ann@example.com, Ben <ben@example.com>",
        "to_cc": "cleo@example.com, dora@example.com",
        "to_bcc": "eve@example.com, finn@example.com", "subject": ""}})
}

fn is_addressed(mail: &Mail) {
    let everyone = ["ann", "ben", "cleo", "dora", "eve", "finn"];
    assert_eq!(mail.to, everyone.map(|name| format!("{name}@example.com")));
    assert_eq!(mail.field("to"), "ann@example.com, Ben <ben@example.com>");
    assert_eq!(mail.field("cc"), "cleo@example.com, dora@example.com");
    assert!(!mail.head.contains("eve@") && !mail.head.contains("finn@"), "{}", mail.head);
    assert_eq!(mail.field("from"), "Wakeful <wakeful@example.com>");
    assert_eq!(mail.field("auto-submitted"), "auto-generated");
}

async fn notification_arrives_by(mode: &'static str, password: Option<&str>) {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let certificate = Certificate::make(&installation.data(), "good");
    let shown = (mode != "none").then_some(&certificate);
    let mut mail_server = MailServer::for_notifiers(mode, shown, password).await;
    let installation =
        installation.variable("SSL_CERT_FILE", certificate.authority.to_str().unwrap());
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let made = ann.client.post("notifier/save", &notifier(&mail_server, password)).await.json();

    let body = json!({"notifierid": made["notifierid"]});
    let answer = ann.client.post("notifier/test", &body).await.ok();
    assert_eq!(answer["message"], "250 taken");
    let test = mail_server.mail().await;
    is_addressed(&test);
    assert_eq!(test.tls, mode != "none", "{test:?}");
    assert_eq!(test.login.as_deref(), password.map(|_| USER));

    let body = json!({"name": "site", "type": "api", "heartbeat_interval": 86400,
        "isactive": true, "upside_down_mode": false, "notifiers": made["notifierid"]});
    let made = ann.client.post("monitor/save", &body).await.ok();
    let path = format!("monitor/notify/{}", made["monitor"]["monitorid"].as_str().unwrap());
    ann.client.post(&path, &json!({"status": "down"})).await.ok();
    let down = mail_server.mail().await;
    ann.client.post(&path, &json!({"status": "up"})).await.ok();
    let up = mail_server.mail().await;
    for mail in [&down, &up] {
        is_addressed(mail);
        assert_eq!(mail.tls, mode != "none", "{mail:?}");
    }
    assert_eq!(down.field("subject"), "[Down] site: reported down");
    assert!(up.field("subject").starts_with("[Up] site is up again after"), "{}", up.head);
    // Mail clients show both in one thread.
    assert_eq!(up.field("in-reply-to"), down.field("message-id"));
    assert_eq!(up.field("references"), down.field("message-id"));
    assert_eq!(down.field("in-reply-to"), "");
    let ids = [&test, &down, &up].map(|mail| mail.field("message-id"));
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
}

#[tokio::test]
async fn notification_arrives_in_clear() {
    notification_arrives_by("none", None).await;
}

#[tokio::test]
async fn notification_arrives_in_clear_with_a_login() {
    notification_arrives_by("none", Some(PASSWORD)).await;
}

#[tokio::test]
async fn notification_arrives_by_starttls() {
    notification_arrives_by("starttls", None).await;
}

#[tokio::test]
async fn notification_arrives_by_starttls_with_a_login() {
    notification_arrives_by("starttls", Some(PASSWORD)).await;
}

#[tokio::test]
async fn notification_arrives_by_tls_with_a_login() {
    let own = std::net::TcpListener::bind(("127.0.0.1", 465));
    if own.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied) {
        // Opening it requires root or net.ipv4.ip_unprivileged_port_start.
        eprintln!("skipped: implicit TLS, because port 465 cannot be opened");
        return;
    }
    notification_arrives_by("tls", Some(PASSWORD)).await;
}

#[tokio::test]
async fn a_test_reports_a_wrong_password_without_showing_it() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let mail_server = MailServer::start("none", None, Some(PASSWORD)).await;
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let wrong = notifier(&mail_server, Some("not the mail password"));
    let made = ann.client.post("notifier/save", &wrong).await.json();
    let body = json!({"notifierid": made["notifierid"]});
    let answer = ann.client.post("notifier/test", &body).await;
    assert_eq!(answer.status, 502, "{}", answer.text);
    assert!(answer.text.contains("535"), "{}", answer.text);
    assert!(!answer.text.contains("not the mail password"), "{}", answer.text);
    assert!(!installation.log().contains("not the mail password"));
}
