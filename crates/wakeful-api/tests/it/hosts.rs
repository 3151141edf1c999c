//! The hosts that a listener on loopback serves. The test's own name for the service
//! resolves to loopback, as that of a hostile page does after DNS rebinding.

use serde_json::json;
use std::net::SocketAddr;
use wakeful_testkit::{App, DatabaseKind, PASSWORD, Setup, send_raw};

use crate::http2;

async fn start() -> App {
    Setup::on(DatabaseKind::Sqlite).start().await
}

fn address(app: &App) -> SocketAddr {
    app.url.strip_prefix("http://").unwrap().parse().unwrap()
}

/// The response to a request with these header lines and this target.
async fn get(app: &App, target: &str, hosts: &str) -> String {
    let head = format!("GET {target} HTTP/1.1\r\n{hosts}connection: close\r\n\r\n");
    send_raw(&app.url, head.as_bytes()).await
}

#[tokio::test]
async fn a_site_that_rebinds_its_name_to_loopback_is_rejected() {
    let app = start().await;
    let page = reqwest::Client::builder().resolve("evil.example", address(&app)).build().unwrap();
    let url = |path: &str| format!("http://evil.example:{}{path}", address(&app).port());
    let body = json!({"firstname": "Eve", "lastname": "E", "email": "eve@example.com",
        "password1": PASSWORD, "password2": PASSWORD});
    let signup = page.post(url("/api/v1/signup")).json(&body);
    let reading =
        ["/", "/api/v1/users/me", "/healthz", "/api/openapi.json"].map(|path| page.get(url(path)));
    for request in reading.into_iter().chain([signup]) {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 421);
        assert!(response.headers().contains_key("x-request-id"));
        let error: serde_json::Value = response.json().await.unwrap();
        assert_eq!(
            (&error["success"], &error["code"]),
            (&json!(false), &json!("misdirected_request"))
        );
        assert!(error["message"].as_str().unwrap().contains("server.public_url"), "{error}");
    }
    // The sign-up had no effect.
    let login = json!({"email": "eve@example.com", "password": PASSWORD});
    app.anonymous().post("login", &login).await.refused(401, "bad_credentials");
}

#[tokio::test]
async fn the_hosts_of_loopback_are_served_in_every_form_of_a_request() {
    let app = start().await;
    let evil = "host: evil.example\r\n";
    for (target, hosts, status) in [
        ("/healthz", "host: localhost\r\n", 200),
        ("/healthz", "host: LOCALHOST:80\r\n", 200),
        ("/healthz", "host: [::1]:8080\r\n", 200),
        ("/healthz", "host: 127.0.0.1\r\n", 200),
        ("/healthz", evil, 421),
        ("/healthz", "host: localhost\r\nhost: evil.example\r\n", 421),
        ("/healthz", "host: localhost.evil.example\r\n", 421),
        ("http://localhost/healthz", "host: localhost\r\n", 200),
        ("http://evil.example/healthz", "host: localhost\r\n", 421),
        ("http://localhost/healthz", evil, 421),
    ] {
        let response = get(&app, target, hosts).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{target} {hosts}{response}");
    }
    let old = send_raw(&app.url, b"GET /healthz HTTP/1.0\r\n\r\n").await;
    assert!(old.starts_with("HTTP/1.0 200 "), "a simple health check names no host: {old}");
}

#[tokio::test]
async fn the_authority_of_http2_is_checked_like_the_host() {
    let mut setup = Setup::on(DatabaseKind::Sqlite);
    // Ends the connection, so that the test can read to its end.
    setup.connections.idle_timeout = std::time::Duration::from_millis(100);
    let app = setup.start().await;
    for (authority, served) in [("localhost:8080", true), ("evil.example", false)] {
        let bytes = [http2::PREFACE, &http2::settings(None), &http2::get(1, authority, "/healthz")]
            .concat();
        let response = send_raw(&app.url, &bytes).await;
        assert_eq!(response.contains("Wakeful is alive"), served, "{response}");
        assert_eq!(response.contains("misdirected_request"), !served, "{response}");
    }
}
