//! What a check of an outage saw contains no credential: neither those of the monitor, which the
//! target sends back, nor those of the target.

use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use wakeful_testkit::{Client, DatabaseKind, Receiver, User, until};

use crate::process::Installation;
use crate::secrets::{Sentinels, database};
use crate::smtp::MailServer;

const HEADER: &str = "header-Sentinel-4801";
const COOKIE: &str = "cookie-Sentinel-4802";
const BODY: &str = "body-Sentinel-4803";
const PASSWORD: &str = "password-Sentinel-4804";
const SET_COOKIE: &str = "set-cookie-Sentinel-4805";
const FIELD: &str = "field-Sentinel-4806";
const FORM: &str = "form-Sentinel-4807";
const LINE: &str = "line-Sentinel-4808";
const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJTZW50aW5lbCJ9.c2lnbmF0dXJlLTQ4MDk";
const CARD: &str = "4111 1111 1111 1111";
const PRIVATE_KEY: &str = "TUlJRXZRSUJBREFOLXNlbnRpbmVsLTQ4MTA";
const PING: &str = "ping-Sentinel-4811";
const LIST: &str = "list-Sentinel-4812";
const OBJECT: &str = "object-Sentinel-4813";
const QUOTED: &str = "quoted-Sentinel-4814";

fn sentinels() -> Sentinels {
    let mut sentinels = Sentinels::default();
    sentinels.add("a header of the request", HEADER);
    sentinels.add("a cookie of the request", COOKIE);
    sentinels.add("the body of the request", BODY);
    sentinels.add("the password", PASSWORD);
    sentinels.add("a cookie of the response", SET_COOKIE);
    sentinels.add("a field of the response", FIELD);
    sentinels.add("a field of a form", FORM);
    sentinels.add("a line of a log", LINE);
    sentinels.add("a token", JWT);
    sentinels.add("a card number", CARD);
    sentinels.add("a private key", PRIVATE_KEY);
    sentinels.add("the body of a ping", PING);
    sentinels.add("a list in the response", LIST);
    sentinels.add("an object in the response", OBJECT);
    sentinels.add("JSON within a string of the response", QUOTED);
    sentinels
}

/// A target in trouble that shows everything: the request, and its own secrets.
async fn leaking_target() -> (String, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/health", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 8_192];
            let Ok(length) = stream.read(&mut request).await else { continue };
            let request = String::from_utf8_lossy(&request[..length]);
            let body = format!(
                "Internal error. The request was:\n{request}\n\n\
                 {{\"api_key\": \"{FIELD}\", \"bearer\": \"{JWT}\"}}\n\
                 {{\"tokens\": [\"{LIST}\"], \"session\": {{\"id\": {{\"of\": \"{OBJECT}\"}}}}}}\n\
                 {{\"log\": \"{{\\\"auth\\\": {{\\\"value\\\": \\\"{QUOTED}\\\"}}}}\"}}\n\
                 <input type=hidden name=\"csrf_token\" value=\"{FORM}\">\n\
                 db_password: {LINE}\n paid with {CARD}\n\
                 -----BEGIN PRIVATE KEY-----\n{PRIVATE_KEY}\n-----END PRIVATE KEY-----\n"
            );
            let answer = format!(
                "HTTP/1.1 500 Internal Server Error\r\nSet-Cookie: id={SET_COOKIE}\r\n\
                 X-Debug-Token: {JWT}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            // A client that has left needs no answer.
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (url, tasks)
}

/// The responses that a viewer gets about a monitor and its alert.
async fn seen_by_viewer(viewer: &Client, monitor: &str, alert: &str) -> String {
    let paths = [
        format!("monitor/{monitor}/get"),
        format!("monitor/{monitor}/heartbeats"),
        format!("monitor/{monitor}/evidence"),
        format!("alert/{alert}/get"),
        "monitors".to_owned(),
        "alerts".to_owned(),
    ];
    let mut all = String::new();
    for path in paths {
        let answer = viewer.get(&path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        all.push_str(&answer.text);
    }
    all
}

async fn evidence_has_no_credential(kind: DatabaseKind) {
    let installation = Installation::new(kind).await.without_limits().set("LOG", "trace");
    let mut mail_server = MailServer::for_notifiers("none", None, None).await;
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let viewer = ann.colleague(&server.anonymous(), "vic@example.com").await;
    let role = json!({"userid": viewer.userid, "role": "viewer"});
    ann.client.post("member/save", &role).await.ok();
    let receiver = Receiver::start().await;
    let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
    let mail = json!({"name": "mail", "type": "email", "email": {"hostname": mail_server.host,
        "port": mail_server.port, "security": "none", "ignore_tls_errors": false,
        "from_email": "wakeful@example.com", "username": "", "password": "",
        "to_email": "ann@example.com", "to_cc": "", "to_bcc": "", "subject": ""}});
    let mut notifiers = Vec::new();
    for body in [hook, mail] {
        let saved = ann.client.post("notifier/save", &body).await.json();
        notifiers.push(saved["notifierid"].clone());
    }
    let (url, _target) = leaking_target().await;
    let monitor = json!({"name": "leaking", "type": "http", "heartbeat_interval": 3600,
        "isactive": true, "upside_down_mode": false, "retries": 0, "notifiers": notifiers,
        "http": {"url": url, "method": "POST", "authentication_type": "basic",
            "username": "watch", "password": PASSWORD,
            "headers": format!("X-Api-Key: {HEADER}\nCookie: id={COOKIE}"),
            "body": json!({"secret": BODY}).to_string()},
        "assertions": [{"source": "body", "comparison": "not_contains", "target": "error"},
            {"source": "header", "property": "x-debug-token", "comparison": "not_exists"}]});
    let saved = ann.client.post("monitor/save", &monitor).await.ok();
    let id = saved["monitor"]["monitorid"].as_str().unwrap();
    let event: Value = receiver.wait_for_hooks(1).await[0].json();
    let email = mail_server.mail().await;
    let alert = event["data"]["alertid"].as_str().unwrap();
    let checked = ann.client.post(&format!("monitor/{id}/check"), &json!({})).await.ok();
    let seen = seen_by_viewer(&viewer.client, id, alert).await;
    let stored = until("the evidence", || async {
        let evidence = ann.client.get(&format!("monitor/{id}/evidence")).await.ok();
        (evidence["evidence"] != json!([])).then_some(evidence)
    })
    .await;
    let job = json!({"name": "job", "type": "api", "heartbeat_interval": 3600, "isactive": true,
        "upside_down_mode": false, "notifiers": notifiers});
    let job = ann.client.post("monitor/save", &job).await.ok()["monitor"].clone();
    let (job_id, ping_url) = (&job["monitorid"], job["ping_url"].as_str().unwrap());
    let uuid = ping_url.rsplit('/').next().unwrap();
    let path = format!("/ping/{uuid}/fail");
    let ping = server.anonymous().raw(Method::POST, &path, Some("text/plain"), PING).await;
    assert_eq!(ping.status, 200, "{}", ping.text);
    let of_job = receiver.wait_for_hooks(2).await[1].json();
    let mail_of_job = mail_server.mail().await.body.replace("=\r\n", "");
    let job_id = job_id.as_str().unwrap();
    let body = viewer.client.get(&format!("monitor/{job_id}/pings/1/body")).await;
    assert_eq!(body.status, 403, "what jobs print is for those who may edit");
    let alert = of_job["data"]["alertid"].as_str().unwrap();
    let seen_of_job = seen_by_viewer(&viewer.client, job_id, alert).await;
    let pings = viewer.client.get(&format!("monitor/{job_id}/pings")).await;
    assert_eq!(pings.ok()["pings"][0]["bytes"], PING.len());
    let bytes = database(&installation).await;
    server.stop().await;

    // The search would find something: the page itself is there.
    let first = &stored["evidence"][0]["response"]["body"];
    let page = first.as_str().unwrap();
    assert!(page.starts_with("Internal error") && page.contains("[redacted]"), "{page}");
    assert!(event["data"]["evidence"]["excerpt"].as_str().unwrap().starts_with("Internal error"));
    // Long lines of a mail are broken.
    let email = format!("{}{}", email.head, email.body).replace("=\r\n", "");
    assert!(email.contains("What the check saw"), "{email}");
    let log = installation.log();
    assert!(log.contains("\"level\":\"TRACE\"") || log.contains("\"level\":\"DEBUG\""));
    let sentinels = sentinels();
    for (place, bytes) in [
        ("the database", bytes.as_slice()),
        ("the log", log.as_bytes()),
        ("the webhook", event.to_string().as_bytes()),
        ("the mail", email.as_bytes()),
        ("the API, for a viewer", seen.as_bytes()),
        ("an on-demand check", checked.to_string().as_bytes()),
        ("the list of evidence", stored.to_string().as_bytes()),
        ("the webhook of a job", of_job.to_string().as_bytes()),
        ("the mail of a job", mail_of_job.as_bytes()),
        ("the API for a viewer, about a job", seen_of_job.as_bytes()),
        ("the list of pings, for a viewer", pings.text.as_bytes()),
    ] {
        assert_eq!(sentinels.found_in(bytes), BTreeSet::new(), "{place}");
    }
    let mut urls = Sentinels::default();
    urls.add("the UUID of a ping URL", uuid);
    for (place, bytes) in [
        ("the database", bytes.as_slice()),
        ("the log", log.as_bytes()),
        ("the webhook of a job", of_job.to_string().as_bytes()),
        ("the mail of a job", mail_of_job.as_bytes()),
    ] {
        assert_eq!(urls.found_in(bytes), BTreeSet::new(), "{place}");
    }
}

#[tokio::test]
async fn evidence_has_no_credential_on_sqlite() {
    evidence_has_no_credential(DatabaseKind::Sqlite).await;
}

#[tokio::test]
async fn evidence_has_no_credential_on_postgres() {
    evidence_has_no_credential(DatabaseKind::Postgres).await;
}
