//! The service's own mail over real SMTP: in clear, with STARTTLS and with implicit TLS,
//! with a login, and never lost to a server that is temporarily unusable.

use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use wakeful_testkit::{DatabaseKind, User, until};

use crate::process::Installation;
use crate::smtp::{Certificate, MailServer, USER};

const PASSWORD: &str = "the mail password";

/// A mail server of this kind receives the welcome mail and the reset link.
async fn mail_arrives_by(mode: &'static str, password: Option<&str>) {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let certificate = Certificate::make(&installation.data(), "good");
    let shown = (mode != "none").then_some(&certificate);
    let mut mail_server = MailServer::start(mode, shown, password).await;
    let installation = mail_server
        .settings(installation)
        .variable("SSL_CERT_FILE", certificate.authority.to_str().unwrap());
    let server = installation.serve().await;
    // The first visit says that mail works.
    let visit = server.anonymous().get("session").await.ok();
    assert_eq!((&visit["first_signup"], &visit["mail_server"]), (&json!(true), &json!(true)));
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let welcome = mail_server.mail().await;
    assert_eq!(welcome.to, ["ann@example.com"]);
    assert_eq!(welcome.tls, mode != "none", "{welcome:?}");
    assert_eq!(welcome.login.as_deref(), password.map(|_| USER));

    server.anonymous().post("password/lost", &json!({"email": ann.email})).await.ok();
    let reset = mail_server.mail().await;
    let token = token_in(&reset.body);
    let new = "another horse 10";
    let body = json!({"email": ann.email, "password1": new, "password2": new, "tokenid": token});
    server.anonymous().post("password/update", &body).await.ok();
    assert!(!installation.data().join("mail").exists(), "mails became files too");
}

/// The reset token in a mail's text.
pub(crate) fn token_in(text: &str) -> String {
    let (_, rest) = text.split_once("#tokenid=").unwrap_or_else(|| panic!("no link in {text}"));
    rest.split_whitespace().next().unwrap().to_owned()
}

#[tokio::test]
async fn mail_arrives_in_clear() {
    mail_arrives_by("none", None).await;
}

#[tokio::test]
async fn mail_arrives_in_clear_with_a_login() {
    mail_arrives_by("none", Some(PASSWORD)).await;
}

#[tokio::test]
async fn mail_arrives_by_starttls() {
    mail_arrives_by("starttls", None).await;
}

#[tokio::test]
async fn mail_arrives_by_starttls_with_a_login() {
    mail_arrives_by("starttls", Some(PASSWORD)).await;
}

#[tokio::test]
async fn mail_arrives_by_tls_with_a_login() {
    mail_arrives_by("tls", Some(PASSWORD)).await;
}

/// The first attempt finds an untrusted certificate; the process is killed; the next one
/// finds a trusted certificate and delivers.
async fn mail_waits_for_a_certificate(mode: &'static str) {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let good = Certificate::make(&installation.data(), "good");
    let untrusted = Certificate::make(&installation.data(), "untrusted");
    let mut mail_server = MailServer::start(mode, Some(&untrusted), Some(PASSWORD)).await;
    let installation = mail_server
        .settings(installation)
        .variable("SSL_CERT_FILE", good.authority.to_str().unwrap());
    let server = installation.serve().await;
    User::sign_up(&server.anonymous(), "ann@example.com").await;
    until("the mail to wait", || async { failed_once(&installation).await.then_some(()) }).await;
    server.kill().await;
    assert!(installation.log().contains("ertificate"), "{}", installation.log());

    mail_server.show(&good).await;
    let _server = installation.serve().await;
    let welcome = mail_server.mail().await;
    assert_eq!(welcome.to, ["ann@example.com"]);
    assert!(welcome.tls);
}

/// Whether a mail is in the queue with the error of its last attempt.
async fn failed_once(installation: &Installation) -> bool {
    let mut db = SqliteConnectOptions::new().filename(installation.file()).connect().await.unwrap();
    let failed: i64 = sqlx::query_scalar("select count(*) from mails where last_error <> ''")
        .fetch_one(&mut db)
        .await
        .unwrap();
    db.close().await.unwrap();
    failed == 1
}

#[tokio::test]
async fn mail_waits_for_a_trusted_certificate_by_starttls() {
    mail_waits_for_a_certificate("starttls").await;
}

#[tokio::test]
async fn mail_waits_for_a_trusted_certificate_by_tls() {
    mail_waits_for_a_certificate("tls").await;
}

#[tokio::test]
async fn a_server_without_starttls_gets_no_mail_if_starttls_is_required() {
    let mut mail_server = MailServer::start("none", None, None).await;
    let installation = mail_server.settings(Installation::new(DatabaseKind::Sqlite).await);
    let strict = installation.set("MAIL_SECURITY", "starttls");
    let server = strict.serve().await;
    User::sign_up(&server.anonymous(), "ann@example.com").await;
    until("the refusal", || async { failed_once(&strict).await.then_some(()) }).await;
    server.stop().await;
    assert!(strict.log().contains("STARTTLS"), "{}", strict.log());
    // The operator allows plain text, and the same mail is sent.
    let installation = strict.set("MAIL_SECURITY", "none");
    let _server = installation.serve().await;
    assert_eq!(mail_server.mail().await.to, ["ann@example.com"]);
}

#[tokio::test]
async fn the_contact_form_cannot_inject_headers() {
    let mut mail_server = MailServer::start("none", None, None).await;
    let installation = mail_server.settings(Installation::new(DatabaseKind::Sqlite).await);
    let installation = installation.set("MAIL_CONTACT_TO", "desk@example.com");
    let server = installation.serve().await;
    let evil = "Hi\r\nBcc: victim@example.com\r\n\r\nfirst line";
    for field in ["contact-name", "contact-subject", "contact-message"] {
        let mut body = json!({"contact-name": "Ann", "contact-email": "ann@example.com",
            "contact-subject": "Hello", "contact-message": "How are you?"});
        body[field] = evil.into();
        let answer = server.anonymous().post("contactus", &body).await;
        if answer.status == 422 {
            assert_eq!(answer.wrong_fields(), [field]);
            continue;
        }
        answer.ok();
        let mail = mail_server.mail().await;
        assert_eq!(mail.to, ["desk@example.com"]);
        let mut fields = mail.fields();
        fields.sort();
        fields.dedup();
        assert_eq!(fields.len(), mail.fields().len(), "a field occurs twice: {mail:?}");
        assert!(!fields.iter().any(|field| field == "bcc"), "{mail:?}");
        assert!(fields.iter().any(|field| field == "subject"), "{mail:?}");
    }
    let mut body = json!({"contact-name": "Ann", "contact-email": "ann@example.com\r\nBcc: v@e.com",
        "contact-subject": "Hello", "contact-message": "x"});
    let answer = server.anonymous().post("contactus", &body).await;
    assert_eq!(answer.wrong_fields(), ["contact-email"]);
    body["contact-email"] = "ann@example.com".into();
    server.anonymous().post("contactus", &body).await.ok();
    assert!(mail_server.mail().await.head.contains("Reply-To: ann@example.com"));
}
