//! Evidence of real responses: what is in it, and which secrets are not.

use serde_json::{Value, json};
use std::io::Write as _;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;
use wakeful_core::monitors::spec::http::password;
use wakeful_core::monitors::spec::{
    Authentication, Body, Headers, Hostname, HttpSpec, Spec, Starttls, TlsSpec, Username,
};
use wakeful_core::reason::Reason;
use wakeful_outbound::checks::CheckRequest;

use crate::assertions::assertions;
use crate::servers::{
    LONG_TIMEOUT, SHORT_TIMEOUT, TestServer, http, keyword, net, page, read_request, redirect, run,
    team,
};

#[tokio::test]
async fn a_failing_check_says_what_it_saw() {
    let server = TestServer::replying(|request| {
        if request.starts_with("GET /go") {
            return redirect(302, "/end?token=sentinel");
        }
        let head = "HTTP/1.1 502 Bad\r\nServer: nginx\r\nSet-Cookie: a=sentinel";
        let body = "<h1>upstream</h1> token=sentinel";
        format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    })
    .await;
    let spec = Spec::Http(http(server.url("/go")));
    let observation = run(&net(), &CheckRequest::new(team(0), &spec), LONG_TIMEOUT).await.unwrap();
    assert_eq!(observation.reason, Some(Reason::HttpStatus));
    let evidence = observation.evidence.as_ref().unwrap();
    let request = evidence.request.as_ref().unwrap();
    assert_eq!(request.method, "GET");
    assert!(request.url.ends_with("/end?token=[redacted]"), "{}", request.url);
    assert!(request.headers.iter().any(|(name, value)| name == "accept" && value == "*/*"));
    assert_eq!(evidence.hops[0].status, 302);
    let response = evidence.response.as_ref().unwrap();
    assert_eq!(response.status, 502);
    assert!(response.headers.contains(&("server".into(), "nginx".into())));
    assert!(response.body.starts_with("<h1>upstream</h1> token="), "{}", response.body);
    let connection = evidence.connection.as_ref().unwrap();
    assert_eq!(connection.address.as_deref(), Some(server.addr.to_string().as_str()));
    assert_eq!(connection.http_version.as_deref(), Some("1.1"));
    assert!(evidence.phases.connect.is_some() && evidence.phases.transfer.is_none());
    assert!(!format!("{evidence:?}").contains("sentinel"), "{evidence:?}");
}

/// Of a response that is accepted, headers are not even read, but only if its body is there.
#[tokio::test]
async fn a_body_that_breaks_off_has_its_headers_as_evidence() {
    let head = "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Length: 10\r\n\r\n";
    let whole = TestServer::answering(format!("{head}0123456789")).await;
    let spec = Spec::Http(http(whole.url("/")));
    let observation = run(&net(), &CheckRequest::new(team(0), &spec), LONG_TIMEOUT).await.unwrap();
    assert!(observation.up && observation.evidence.is_none());

    let cut = TestServer::answering(format!("{head}01234")).await;
    let spec = Spec::Http(http(cut.url("/")));
    let observation = run(&net(), &CheckRequest::new(team(0), &spec), LONG_TIMEOUT).await.unwrap();
    assert_eq!(observation.reason, Some(Reason::HttpIncomplete));
    let evidence = observation.evidence.as_ref().unwrap();
    let response = evidence.response.as_ref().unwrap();
    assert_eq!(response.status, 200);
    assert!(response.headers.contains(&("server".into(), "nginx".into())));
}

/// A server that returns everything it was sent cannot make a check reveal it.
#[tokio::test]
async fn no_secret_of_the_monitor_is_in_its_evidence() {
    let server = TestServer::replying(|request| {
        let body = format!("{request}\n{}", request.replace("sentinel", "sentinel "));
        format!(
            "HTTP/1.1 500 No\r\nX-Echo: sentinel-pw1\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    })
    .await;
    let url = server.url("/?api_key=sentinel-q1&page=2");
    let spec = Spec::Http(HttpSpec {
        authentication: Authentication::parse("basic").unwrap(),
        username: Username::parse("ann").unwrap(),
        password: password("sentinel-pw1").unwrap(),
        headers: Headers::parse("X-Custom: sentinel-h1\nAuthorization: Bearer sentinel-h2")
            .unwrap(),
        body: Body::parse(r#"{"password": "sentinel-b1", "n": 1}"#).unwrap(),
        ..http(url)
    });
    let list = assertions(json!([
        {"source": "body", "comparison": "equals", "target": "x"},
        {"source": "header", "property": "x-echo", "comparison": "equals", "target": "x"},
    ]));
    let request = CheckRequest { assertions: &list, ..CheckRequest::new(team(0), &spec) };
    let observation = run(&net(), &request, LONG_TIMEOUT).await.unwrap();
    let text = serde_json::to_string(&observation).unwrap();
    for secret in [
        "sentinel-pw1",
        "sentinel-q1",
        "sentinel-h1",
        "sentinel-h2",
        "sentinel-b1",
        // Base64 of ann:sentinel-pw1.
        "YW5uOnNlbnRpbmVsLXB3MQ",
    ] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(text.contains("page=2"), "the rest is still there: {text}");
}

#[tokio::test]
async fn the_body_of_a_failed_response_is_read_for_a_second_only() {
    let server = TestServer::new(async |mut stream| {
        read_request(&mut stream).await?;
        stream.write_all(b"HTTP/1.1 500 No\r\nContent-Length: 900\r\n\r\nsome of it").await?;
        stream.read_to_end(&mut Vec::new()).await?;
        Ok(())
    })
    .await;
    let spec = Spec::Http(http(server.url("/")));
    let began = Instant::now();
    let observation =
        run(&net(), &CheckRequest::new(team(0), &spec), 4 * LONG_TIMEOUT).await.unwrap();
    assert!(began.elapsed() < 2 * LONG_TIMEOUT, "{:?}", began.elapsed());
    assert_eq!(observation.message, "500 Internal Server Error");
    assert!(observation.load_time.unwrap() < Duration::from_millis(900), "the target is not slow");
    let response = observation.evidence.unwrap().response.unwrap();
    assert_eq!((response.body.as_str(), response.truncated), ("some of it", true));
}

#[tokio::test]
async fn a_healthy_check_collects_nothing_unless_it_is_requested() {
    let server = TestServer::answering(page("fine")).await;
    let spec = Spec::Http(http(server.url("/")));
    let request = CheckRequest::new(team(0), &spec);
    assert_eq!(run(&net(), &request, LONG_TIMEOUT).await.unwrap().evidence, None);
    let request = CheckRequest { always: true, ..request };
    let observation = run(&net(), &request, LONG_TIMEOUT).await.unwrap();
    assert_eq!(observation.evidence.unwrap().response.unwrap().body, "fine");
}

/// Each of them fails, and none needs the body.
fn failing_assertions() -> Vec<Value> {
    [
        json!({"source": "status", "comparison": "equals", "target": "201"}),
        json!({"source": "header", "property": "x-none", "comparison": "exists"}),
        json!({"source": "final_url", "comparison": "ends_with", "target": "/none"}),
        json!({"source": "response_time", "comparison": "less_than", "target": "0"}),
        json!({"source": "status", "comparison": "equals", "target": "201", "fails_as": "degraded"}),
    ]
    .into()
}

#[tokio::test]
async fn the_body_is_shown_whatever_the_failing_assertion_is_about() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(b"an error token=sentinel").unwrap();
    let gzip = gzip.finish().unwrap();
    let head = format!("Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", gzip.len());
    let encoded = [format!("HTTP/1.1 200 OK\r\n{head}").as_bytes(), &gzip].concat();
    for answer in [page("an error token=sentinel"), encoded] {
        let server = TestServer::answering(answer).await;
        let spec = Spec::Http(http(server.url("/")));
        for assertion in failing_assertions() {
            let list = assertions(json!([assertion]));
            let request = CheckRequest { assertions: &list, ..CheckRequest::new(team(0), &spec) };
            let observation = run(&net(), &request, LONG_TIMEOUT).await.unwrap();
            let response = observation.evidence.unwrap().response.unwrap();
            let shown = (response.body.as_str(), response.body_bytes, response.truncated);
            assert_eq!(shown, ("an error token=[redacted]", 23, false), "{assertion}");
        }
    }
    let server = TestServer::answering(page(&"x".repeat(20_000))).await;
    let spec = Spec::Http(http(server.url("/")));
    let list = assertions(json!([failing_assertions()[0]]));
    let request = CheckRequest { assertions: &list, ..CheckRequest::new(team(0), &spec) };
    let observation = run(&net(), &request, LONG_TIMEOUT).await.unwrap();
    let response = observation.evidence.unwrap().response.unwrap();
    let shown = (response.body.len(), response.body_bytes, response.truncated);
    assert_eq!(shown, (4_096, 20_000, true));
}

#[tokio::test]
async fn a_body_that_is_not_complete_is_shown_as_far_as_it_was_read() {
    const PART: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nsome of it";
    let closing = TestServer::answering(PART).await;
    let stalling = TestServer::new(async |mut stream| {
        read_request(&mut stream).await?;
        stream.write_all(PART).await?;
        stream.read_to_end(&mut Vec::new()).await.map(drop)
    })
    .await;
    let list = assertions(json!([{"source": "status", "comparison": "equals", "target": "200"}]));
    for (server, reason) in [(&closing, Reason::HttpIncomplete), (&stalling, Reason::TimeoutBody)] {
        let (plain, with_keyword) =
            (Spec::Http(http(server.url("/"))), keyword(server.url("/"), "none"));
        for (spec, assertions) in [(&plain, &list[..]), (&with_keyword, &list[..0])] {
            let request = CheckRequest { assertions, ..CheckRequest::new(team(0), spec) };
            let observation = run(&net(), &request, SHORT_TIMEOUT).await.unwrap();
            assert_eq!(observation.reason, Some(reason), "{observation:?}");
            let response = observation.evidence.unwrap().response.unwrap();
            let shown = (response.body.as_str(), response.body_bytes, response.truncated);
            assert_eq!(shown, ("some of it", 10, true), "{reason:?}");
        }
    }
}

#[tokio::test]
async fn in_upside_down_mode_a_target_that_is_up_has_evidence() {
    let list = assertions(json!([{"source": "status", "comparison": "equals", "target": "200"}]));
    for (answer, is_up) in [
        (page("up again"), true),
        (b"HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\ndown".to_vec(), false),
    ] {
        let server = TestServer::answering(answer).await;
        let spec = Spec::Http(http(server.url("/")));
        for assertions in [&list[..0], &list[..]] {
            let request = CheckRequest::new(team(0), &spec);
            let request = CheckRequest { upside_down: true, assertions, ..request };
            let observation = run(&net(), &request, LONG_TIMEOUT).await.unwrap();
            assert_eq!(observation.up, is_up, "{observation:?}");
            let body = observation.evidence.map(|seen| seen.response.unwrap().body);
            assert_eq!(body.as_deref(), is_up.then_some("up again"));
        }
    }
}

/// Evidence of a slow check has what is known without reading more than a healthy check does.
#[tokio::test]
async fn a_slow_check_is_not_healthy() {
    let server = TestServer::answering(page("fine")).await;
    let spec = Spec::Http(http(server.url("/")));
    let request = CheckRequest::new(team(0), &spec);
    let fast = CheckRequest { slow: Some(2 * LONG_TIMEOUT), ..request };
    assert_eq!(run(&net(), &fast, LONG_TIMEOUT).await.unwrap().evidence, None);
    let slow = CheckRequest { slow: Some(Duration::ZERO), ..request };
    let observation = run(&net(), &slow, LONG_TIMEOUT).await.unwrap();
    assert!(observation.up && observation.warnings.is_empty(), "the verdict is that of the engine");
    let evidence = observation.evidence.unwrap();
    assert!(evidence.phases.first_byte.is_some());
    let response = evidence.response.unwrap();
    assert_eq!((response.status, response.truncated), (200, true));
}

#[tokio::test]
async fn what_was_said_before_tls_is_shown_without_secrets() {
    let server = TestServer::new(async |mut stream| {
        stream.write_all(b"220-session-token: s3ntinel-1\r\n").await?;
        stream.write_all(b"220 mail.example ready, key=s3ntinel-2\r\n").await?;
        stream.read_exact(&mut [0; 4]).await?;
        stream.write_all(b"250 nothing\r\n").await?;
        stream.read_to_end(&mut Vec::new()).await.map(drop)
    })
    .await;
    let host = Hostname::parse("127.0.0.1").unwrap();
    let tls = TlsSpec { starttls: Starttls::Smtp, ..TlsSpec::of(host, server.addr.port()) };
    let spec = Spec::Tls(tls);
    let observation = run(&net(), &CheckRequest::new(team(0), &spec), LONG_TIMEOUT).await.unwrap();
    assert_eq!(observation.reason, Some(Reason::TlsHandshake));
    assert_eq!(
        observation.evidence.unwrap().transcript,
        [
            "S: 220-session-token: [redacted]",
            "S: 220 mail.example ready, key=[redacted]",
            "C: EHLO wakeful.invalid",
            "S: 250 nothing",
        ]
    );
}
