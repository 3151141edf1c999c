//! Assertions on real responses, and the reasons of failing checks.

use futures_util::future::join_all;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;
use wakeful_core::assert::Assertion;
use wakeful_core::evidence::EvidenceLevel;
use wakeful_core::monitors::spec::{Hostname, HttpSpec, PingSpec, RequestOptions, Spec, TcpSpec};
use wakeful_core::observation::{Fault, FaultKind, Observation};
use wakeful_core::reason::Reason;
use wakeful_outbound::checks::CheckRequest;
use wakeful_outbound::net::Net;

use crate::servers::{
    LONG_TIMEOUT, SHORT_TIMEOUT, TestServer, http, keyword, net, page, read_request, redirect, run,
    team,
};

pub(crate) fn assertions(list: Value) -> Vec<Assertion> {
    serde_json::from_value(list).unwrap()
}

async fn check_through(net: &Net, spec: &Spec, list: Value) -> Result<Observation, Fault> {
    let assertions = assertions(list);
    for (place, assertion) in assertions.iter().enumerate() {
        assert_eq!(assertion.problems(spec.kind(), false), [], "{place}");
    }
    let request = CheckRequest::new(team(0), spec);
    let request = CheckRequest { assertions: &assertions, always: true, ..request };
    run(net, &request, LONG_TIMEOUT).await
}

async fn check(spec: &Spec, list: Value) -> Observation {
    check_through(&net(), spec, list).await.unwrap()
}

/// Whether each assertion passed, and what it found.
fn results(observation: &Observation) -> Vec<(bool, Option<&str>)> {
    let evidence = observation.evidence.as_ref().unwrap();
    evidence.assertions.iter().map(|one| (one.passed, one.found.as_deref())).collect()
}

#[tokio::test]
async fn every_source_of_http_is_judged() {
    let body = r#"{"queue": {"depth": 1834}, "items": [{"n": 1}, {"n": 2}], "ok": true}"#;
    let server = TestServer::replying(move |request| {
        if request.starts_with("GET /go") {
            return redirect(302, "/end");
        }
        format!(
            "HTTP/1.1 200 OK\r\nServer: nginx/1.2\r\nX-Two: a\r\nX-Two: b\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    })
    .await;
    let spec = Spec::Http(http(server.url("/go")));
    let observation = check(
        &spec,
        json!([
            {"source": "status", "comparison": "equals", "target": "200"},
            {"source": "redirects", "comparison": "at_most", "target": "1"},
            {"source": "body_size", "comparison": "greater_than", "target": "10"},
            {"source": "final_url", "comparison": "ends_with", "target": "/end"},
            {"source": "http_version", "comparison": "in", "target": "1.1, 2"},
            {"source": "header", "property": "server", "comparison": "matches", "target": "^nginx/\\d"},
            {"source": "header", "property": "X-Two", "comparison": "equals", "target": "b"},
            {"source": "header", "property": "x-none", "comparison": "not_exists"},
            {"source": "body", "comparison": "not_contains", "target": "error"},
            {"source": "json", "property": "$.queue.depth", "comparison": "less_than", "target": "2000"},
            {"source": "json", "property": "$.items[*].n", "comparison": "less_than", "target": "3"},
            {"source": "json", "property": "$.items[?@.n > 1].n", "comparison": "equals", "target": "2"},
            {"source": "json", "property": "$.ok", "comparison": "equals", "target": "true"},
            {"source": "response_time", "comparison": "less_than", "target": "5000"},
            {"source": "response_time", "property": "connect", "comparison": "exists"},
            {"source": "address", "comparison": "in", "target": "127.0.0.0/8"},
            {"source": "tls", "property": "version", "comparison": "not_exists"},
        ]),
    )
    .await;
    assert!(observation.up, "{:?}", observation.evidence);
    assert!(results(&observation).iter().all(|(passed, _)| *passed));
    assert_eq!(results(&observation)[9], (true, Some("1834")));
    assert_eq!(observation.message, "200 OK");
}

#[tokio::test]
async fn a_failing_assertion_is_down_or_a_warning() {
    let server =
        TestServer::answering(page(r#"{"queue": {"depth": 1834}, "token": "sentinel"}"#)).await;
    let spec = Spec::Http(http(server.url("/")));
    let depth = json!({"source": "json", "property": "$.queue.depth", "comparison": "less_than",
        "target": "1000"});
    let mut degraded = depth.clone();
    degraded["fails_as"] = json!("degraded");
    let down = check(&spec, json!([depth, degraded])).await;
    assert!(!down.up && down.load_time.is_some());
    assert_eq!(down.reason, Some(Reason::Assertion));
    assert_eq!(down.message, "json $.queue.depth is 1834, expected less than 1000");
    assert!(down.warnings.is_empty());

    let warned = check(&spec, json!([degraded])).await;
    assert!(warned.up && warned.reason.is_none());
    assert_eq!(warned.message, "200 OK", "no measured number in it");
    assert_eq!(warned.warnings[0].words, "json $.queue.depth is not less than 1000");

    let secret = json!([{"source": "json", "property": "$.token", "comparison": "equals", "target": "x"},
        {"source": "body", "comparison": "matches", "target": "never"}]);
    let secret = check(&spec, secret).await;
    assert!(!format!("{secret:?}").contains("sentinel"), "{secret:?}");
    assert_eq!(secret.message, "json $.token is [redacted], expected x (and 1 more)");
}

#[tokio::test]
async fn the_status_and_the_keyword_come_first() {
    let server = TestServer::answering("HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\ndown").await;
    let list = json!([{"source": "body", "comparison": "contains", "target": "ok"}]);
    let observation = check(&Spec::Http(http(server.url("/"))), list.clone()).await;
    assert_eq!(observation.reason, Some(Reason::HttpStatus));
    assert_eq!(observation.message, "500 Internal Server Error");
    assert_eq!(results(&observation), [(false, Some("down"))], "it is judged anyway");
    let page = TestServer::answering(page("fine")).await;
    let observation = check(&keyword(page.url("/"), "ok"), list).await;
    assert_eq!(observation.reason, Some(Reason::Keyword));
    assert_eq!(results(&observation), [(false, Some("fine"))]);
}

/// A text is searched for in all that is read, which is more than is buffered.
#[tokio::test]
async fn a_body_is_searched_as_far_as_it_is_read() {
    let server = TestServer::answering(page(&format!("{}needle", "x".repeat(3 << 20)))).await;
    let options = |max_body| RequestOptions { max_body, ..RequestOptions::default() }.boxed();
    let read =
        |max_body| Spec::Http(HttpSpec { options: options(max_body), ..http(server.url("/")) });
    let list = json!([
        {"source": "body", "comparison": "contains", "target": "xneedle"},
        {"source": "body", "comparison": "not_contains", "target": "needles"},
        {"source": "body", "comparison": "not_contains", "target": "needle", "fails_as": "degraded"},
    ]);
    let all = check(&read(Some(10 << 20)), list.clone()).await;
    assert_eq!(all.reason, None);
    assert_eq!(all.warnings[0].words, "body contains needle");
    assert!(results(&all)[0].1.unwrap().starts_with("xxx"), "its beginning is shown");
    assert_eq!(all.evidence.unwrap().response.unwrap().body_bytes, (3 << 20) + 6);
    let beginning = check(&read(None), list.clone()).await;
    assert_eq!(beginning.message, "body does not contain xneedle");
    assert!(beginning.warnings.is_empty());
    // Other comparisons see the buffered part, and a keyword is searched for beside them.
    let ends = json!([{"source": "body", "comparison": "ends_with", "target": "needle"}, list[0]]);
    let ends = check(&keyword(server.url("/"), "needle"), ends).await;
    assert_eq!(
        (ends.reason, ends.message.as_str()),
        (Some(Reason::Assertion), "body does not end with needle")
    );
    let incomplete =
        TestServer::answering("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nneedle").await;
    let found = json!([{"source": "body", "comparison": "contains", "target": "needle"}]);
    let incomplete = check(&Spec::Http(http(incomplete.url("/"))), found).await;
    assert_eq!(incomplete.reason, Some(Reason::HttpIncomplete));
}

#[tokio::test]
async fn tcp_and_ping_are_judged_by_time_and_address() {
    let server = TestServer::new(async |_| Ok(())).await;
    let hostname = Hostname::parse("127.0.0.1").unwrap();
    let tcp = Spec::Tcp(TcpSpec::of(hostname.clone(), server.addr.port()));
    for spec in [tcp, Spec::Ping(PingSpec::of(hostname))] {
        let passing = json!([{"source": "response_time", "comparison": "less_than", "target": "5000"},
            {"source": "address", "comparison": "equals", "target": "127.0.0.1"}]);
        assert!(check(&spec, passing).await.up);
        let slow = json!([{"source": "response_time", "comparison": "less_than", "target": "0"}]);
        let slow = check(&spec, slow).await;
        assert_eq!((slow.up, slow.reason), (false, Some(Reason::Slow)));
    }
}

/// The rows of the verdict matrix that a server on loopback can produce.
#[tokio::test]
async fn every_failure_has_its_reason() {
    let silent = TestServer::new(async |mut stream| {
        stream.read_to_end(&mut Vec::new()).await?;
        Ok(())
    })
    .await;
    let slow_body = TestServer::new(async |mut stream| {
        read_request(&mut stream).await?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx").await?;
        stream.read_to_end(&mut Vec::new()).await?;
        Ok(())
    })
    .await;
    let answering = async |answer: &str| TestServer::answering(answer.to_owned()).await;
    let page_of = async |body: &str| TestServer::answering(page(body)).await;
    let loop_server = TestServer::replying(|_| redirect(302, "/")).await;
    let none = json!([]);
    let rows: Vec<(TestServer, Value, Option<Reason>)> = vec![
        (
            answering("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n").await,
            none.clone(),
            Some(Reason::HttpStatus),
        ),
        (
            answering("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n").await,
            none.clone(),
            Some(Reason::HttpStatus),
        ),
        (
            answering("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nx").await,
            none.clone(),
            Some(Reason::HttpIncomplete),
        ),
        (
            answering("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx").await,
            none.clone(),
            Some(Reason::HttpInvalid),
        ),
        (answering("SSH-2.0-OpenSSH_9.2\r\n").await, none.clone(), Some(Reason::HttpInvalid)),
        (loop_server, none.clone(), Some(Reason::HttpRedirects)),
        (silent, none.clone(), Some(Reason::TimeoutFirstByte)),
        (slow_body, none.clone(), Some(Reason::TimeoutBody)),
        (
            page_of("").await,
            json!([{"source": "body_size", "comparison": "greater_than", "target": "0"}]),
            Some(Reason::Assertion),
        ),
        (
            page_of("<p>error</p>").await,
            json!([{"source": "body", "comparison": "not_contains", "target": "error"}]),
            Some(Reason::Assertion),
        ),
        (
            page_of("<SCRIPT src=x>").await,
            json!([{"source": "body", "comparison": "not_matches", "target": "(?i)<script"}]),
            Some(Reason::Assertion),
        ),
        (
            page_of("<html>").await,
            json!([{"source": "json", "property": "$.ok", "comparison": "equals", "target": "true"}]),
            Some(Reason::Assertion),
        ),
        (
            page_of("").await,
            json!([{"source": "header", "property": "x-a", "comparison": "exists"}]),
            Some(Reason::Assertion),
        ),
        (
            page_of("").await,
            json!([{"source": "http_version", "comparison": "equals", "target": "2"}]),
            Some(Reason::HttpVersion),
        ),
        (page_of("").await, none.clone(), None),
    ];
    for (row, (server, list, reason)) in rows.iter().enumerate() {
        let spec = Spec::Http(HttpSpec { max_redirects: 2, ..http(server.url("/")) });
        let list = assertions(list.clone());
        let request = CheckRequest { assertions: &list, ..CheckRequest::new(team(0), &spec) };
        let is_slow = matches!(reason, Some(Reason::TimeoutFirstByte | Reason::TimeoutBody));
        let timeout = if is_slow { SHORT_TIMEOUT } else { LONG_TIMEOUT };
        let observation = run(&net(), &request, timeout).await.unwrap();
        assert_eq!(observation.reason, *reason, "row {row}: {}", observation.message);
        assert_eq!(observation.up, reason.is_none(), "row {row}");
        assert_eq!(observation.evidence.is_some(), reason.is_some(), "row {row}");
    }
    let closed = Spec::Http(http(format!("http://127.0.0.1:{}/", closed_port())));
    let observation =
        run(&net(), &CheckRequest::new(team(0), &closed), SHORT_TIMEOUT).await.unwrap();
    assert_eq!(observation.reason, Some(Reason::ConnectRefused));
}

/// A port that nothing listens on.
fn closed_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[tokio::test]
async fn json_that_is_not_read_to_its_end_is_too_large() {
    let document = format!("{{\"a\":1,\"x\":\"{}\"}}", "y".repeat(2 << 20));
    let server = TestServer::answering(page(&document)).await;
    for (max_body, limit) in [(None, "1 MiB"), (Some(10 << 20), "1 MiB"), (Some(2_048), "2 KiB")] {
        let options = RequestOptions { max_body, ..RequestOptions::default() }.boxed();
        let spec = Spec::Http(HttpSpec { options, ..http(server.url("/")) });
        let list =
            json!([{"source": "json", "property": "$.a", "comparison": "equals", "target": "1"}]);
        let observation = check(&spec, list).await;
        let expected = format!("json $.a: the body is too large to be read as JSON ({limit})");
        assert_eq!(observation.message, expected);
    }
}

/// Huge documents, deep nesting, many matches and expensive patterns end in time and memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_content_is_judged_in_bounded_time() {
    let nested = format!("{}{}", "[".repeat(260_000), "]".repeat(260_000));
    let many = format!("[{}1]", "{\"a\":{\"b\":1}},".repeat(34_000));
    let huge = format!("{{\"x\":\"{}\"}}", "y".repeat(2 << 20));
    let zeros = "0110".repeat(20_000);
    for (body, list, message) in [
        (
            &nested,
            json!([{"source": "json", "property": "$[0][0].a", "comparison": "exists"}]),
            "is missing",
        ),
        (
            &nested,
            json!([{"source": "json", "property": "$..a", "comparison": "exists"}]),
            "not valid JSON",
        ),
        (
            &many,
            json!([{"source": "json", "property": "$..b", "comparison": "equals", "target": "2"}]),
            "json $..b is 1, expected 2",
        ),
        (
            &huge,
            json!([{"source": "json", "property": "$.x", "comparison": "exists"}]),
            "too large to be read as JSON (1 MiB)",
        ),
        (
            &zeros,
            json!([{"source": "body", "comparison": "matches", "target": "[01]*1[01]{60}x"}]),
            "body does not match",
        ),
        (
            &zeros,
            json!([{"source": "body", "comparison": "matches", "target": "(?:0?1?){30}x$"}]),
            "body does not match",
        ),
    ] {
        let server = TestServer::answering(page(body)).await;
        let spec = Spec::Http(http(server.url("/")));
        let list = assertions(list);
        let request = CheckRequest { assertions: &list, ..CheckRequest::new(team(0), &spec) };
        let began = Instant::now();
        let observation = run(&net(), &request, Duration::from_secs(20)).await.unwrap();
        assert!(!observation.up && observation.message.contains(message), "{observation:?}");
        assert!(began.elapsed() < Duration::from_secs(15), "{message}: {:?}", began.elapsed());
    }
}

/// The targets of one team announce large bodies and do not send them: what they hold is the
/// share of that team, and the checks of another are judged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_team_whose_bodies_never_end_leaves_memory_for_others() {
    let net = net();
    let stalling = TestServer::new(async |mut stream| {
        read_request(&mut stream).await?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\nx").await?;
        stream.read_to_end(&mut Vec::new()).await?;
        Ok(())
    })
    .await;
    let large = TestServer::answering(page(&format!("{}ok", "x".repeat(500_000)))).await;
    let (stalling_spec, large_spec) =
        (Spec::Http(http(stalling.url("/"))), Spec::Http(http(large.url("/"))));
    let list = assertions(json!([{"source": "body", "comparison": "ends_with", "target": "ok"}]));
    let of =
        |number, spec| CheckRequest { assertions: &list, ..CheckRequest::new(team(number), spec) };
    let hostile = of(1, &stalling_spec);
    let attack = join_all((0..40).map(|_| run(&net, &hostile, Duration::from_secs(2))));
    let victim = async {
        while stalling.connection_count() < 40 {
            tokio::task::yield_now().await;
        }
        for _ in 0..5 {
            let seen = run(&net, &of(2, &large_spec), LONG_TIMEOUT).await.unwrap();
            assert!(seen.up, "{}", seen.message);
        }
    };
    let (attacked, ()) = tokio::join!(attack, victim);
    let faults = attacked.iter().filter_map(|result| result.as_ref().err()).collect::<Vec<_>>();
    assert!(faults.len() > 20, "{faults:?}");
    assert!(faults.iter().all(|fault| fault.kind == FaultKind::Resources), "{faults:?}");
    // Afterward there is room again.
    let seen = run(&net, &of(1, &large_spec), LONG_TIMEOUT).await.unwrap();
    assert!(seen.up, "{}", seen.message);
}

/// The patterns of one team compare each byte of its responses with a thousand states, which once
/// took seconds of processor time: they are given up, and the checks of another team are judged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn costly_patterns_of_one_team_do_not_keep_others_from_being_judged() {
    let pattern = |n| {
        let target = format!("a{{{n},500}}b");
        json!({"source": "body", "comparison": "matches", "target": target})
    };
    let costly = assertions((0..4).map(pattern).collect());
    let answer = page(&"a".repeat(900_000));
    judged_beside_others(answer, costly, "takes too long, use a simpler pattern").await;
}

/// The same for paths, which compare each value of a nested document with everything in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn costly_paths_of_one_team_do_not_keep_others_from_being_judged() {
    let path = |comparison: &str| {
        let filter = vec![comparison; 40].join("||");
        json!({"source": "json", "property": format!("$..[?{filter}]"), "comparison": "exists"})
    };
    let costly =
        assertions((0..20).map(|n| path(if n % 2 == 0 { "@!=@" } else { "@<@" })).collect());
    let nested = format!("{}{}1{}", "[".repeat(125), "1,".repeat(250_000), "]".repeat(125));
    judged_beside_others(page(&nested), costly, "takes too long, use a simpler path").await;
}

/// What a hostile team checks is given up, and the checks of another team are judged.
async fn judged_beside_others(answer: Vec<u8>, costly: Vec<Assertion>, expected: &str) {
    let net = net();
    let hostile = TestServer::answering(answer).await;
    let fine = TestServer::answering(page(&"fine ".repeat(40_000))).await;
    let (hostile, fine) = (Spec::Http(http(hostile.url("/"))), Spec::Http(http(fine.url("/"))));
    let cheap = assertions(json!([{"source": "body", "comparison": "matches", "target": "fine"}]));
    let attacker = CheckRequest { assertions: &costly, ..CheckRequest::new(team(1), &hostile) };
    let victim = CheckRequest { assertions: &cheap, ..CheckRequest::new(team(2), &fine) };
    let attack = join_all((0..4).map(|_| run(&net, &attacker, LONG_TIMEOUT)));
    let checks = async {
        for _ in 0..3 {
            let seen = run(&net, &victim, LONG_TIMEOUT).await.unwrap();
            assert!(seen.up, "{}", seen.message);
        }
    };
    let (attacked, ()) = tokio::join!(attack, checks);
    for seen in attacked {
        let message = seen.unwrap().message;
        assert!(message.contains(expected), "{message}");
    }
}

#[tokio::test]
async fn a_level_of_evidence_leaves_out_the_body() {
    let server = TestServer::answering("HTTP/1.1 500 No\r\nContent-Length: 6\r\n\r\nsecret").await;
    let spec = Spec::Http(http(server.url("/")));
    for (level, has_evidence, has_body) in [
        (EvidenceLevel::Full, true, true),
        (EvidenceLevel::Head, true, false),
        (EvidenceLevel::None, false, false),
    ] {
        let request = CheckRequest { evidence: level, ..CheckRequest::new(team(0), &spec) };
        let evidence = run(&net(), &request, LONG_TIMEOUT).await.unwrap().evidence;
        assert_eq!(evidence.is_some(), has_evidence, "{level:?}");
        let body = evidence.and_then(|one| one.response).map(|one| one.body).unwrap_or_default();
        assert_eq!(body == "secret", has_body, "{level:?}");
    }
}
