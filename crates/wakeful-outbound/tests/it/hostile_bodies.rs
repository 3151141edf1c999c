//! Hostile servers and settings of checks with assertions: documents and patterns that would take
//! much memory or time, and bodies that never end. Very many such checks at a time end by their
//! deadline, within the memory that all bodies, trees and patterns may take together.

use futures_util::future::join_all;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::interval;
use wakeful_core::assert::Assertion;
use wakeful_core::monitors::spec::Spec;
use wakeful_core::observation::{Fault, FaultKind, Observation};
use wakeful_core::reason::Reason;
use wakeful_outbound::checks::CheckRequest;
use wakeful_outbound::net::Net;

use crate::assertions::assertions;
use crate::hostile::{drip, flood, resident};
use crate::servers::{TestServer, http, net, page, read_request, run, team};

const CHECKS: u16 = 512;
const TEAMS: u16 = 16;
/// Enough for a debug build beside other tests.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Above idle. The most is held by bodies of 64 KiB, for which no check waits. The limit of the
/// service is 96 MiB, which `make bench parts=hostile` measures; here the allocator returns freed
/// memory later, and the servers and their connections count, too.
const MAX_GROWTH: usize = 144 << 20;

/// A server with the assertions that make it expensive.
struct Case {
    server: TestServer,
    assertions: Vec<Assertion>,
    /// What a check of it alone results in.
    reason: Option<Reason>,
}

fn case(server: TestServer, assertion: &Value, reason: Option<Reason>) -> Case {
    Case { server, assertions: assertions(json!([assertion])), reason }
}

/// Responds with the same bytes again and again, without a copy for each connection.
async fn serving(body: String) -> TestServer {
    let answer: Arc<[u8]> = page(&body).into();
    TestServer::new(move |mut stream| {
        let answer = answer.clone();
        async move {
            read_request(&mut stream).await?;
            stream.write_all(&answer).await?;
            stream.read_to_end(&mut Vec::new()).await?;
            Ok(())
        }
    })
    .await
}

async fn cases() -> Vec<Case> {
    let json = |path: &str| json!({"source": "json", "property": path, "comparison": "exists"});
    let pattern = |text: &str| json!({"source": "body", "comparison": "matches", "target": text});
    let assertion = Some(Reason::Assertion);
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk: Arc<[u8]> = format!("4000\r\n{}\r\n", "[".repeat(0x4000)).into_bytes().into();
    let flooding = TestServer::new(move |stream| {
        let chunk = chunk.clone();
        async move { flood(stream, chunked, &chunk).await }
    })
    .await;
    let dripping = TestServer::new(|stream| {
        drip(stream, "HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n[", b'[')
    })
    .await;
    vec![
        case(serving("[".repeat(1 << 20)).await, &json("$..a"), assertion),
        case(serving("[".repeat(1 << 20)).await, &json("$[0][0][0].a"), assertion),
        case(serving("..".repeat(1 << 19)).await, &json("$..a"), assertion),
        case(
            serving(format!("[{}1]", "{\"a\":{\"b\":1}},".repeat(34_000))).await,
            &json!({"source": "json", "property": "$..b", "comparison": "equals", "target": "2"}),
            assertion,
        ),
        case(serving("0110".repeat(16_000)).await, &pattern("(?:0?1?){40}x$"), assertion),
        case(serving("0110".repeat(200_000)).await, &pattern("[01]*1[01]{60}x"), assertion),
        // The first megabyte is judged.
        case(flooding, &json("$..a"), assertion),
        case(dripping, &json("$..a"), Some(Reason::TimeoutBody)),
    ]
}

async fn check(net: &Net, case: &Case, number: u16) -> Result<Observation, Fault> {
    let spec = Spec::Http(http(case.server.url("/")));
    let team = team(u8::try_from(number % TEAMS).unwrap());
    let request = CheckRequest { assertions: &case.assertions, ..CheckRequest::new(team, &spec) };
    run(net, &request, TIMEOUT).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_hostile_body_is_judged_in_time() {
    let net = net();
    for (number, case) in cases().await.iter().enumerate() {
        let observation = check(&net, case, 0).await.unwrap();
        assert_eq!(observation.reason, case.reason, "case {number}: {}", observation.message);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_hostile_bodies_at_a_time_end_in_time_and_memory() {
    let (net, cases) = (net(), cases().await);
    let idle = resident();
    let all = join_all(
        (0..CHECKS)
            .map(|number| check(&net, &cases[usize::from(number) % cases.len()], number / 8)),
    );
    let mut peak = idle;
    let mut ticks = interval(Duration::from_millis(5));
    let mut all = std::pin::pin!(all);
    let results = loop {
        tokio::select! {
            results = &mut all => break results,
            _ = ticks.tick() => peak = peak.max(resident()),
        }
    };
    let grown = peak.saturating_sub(idle);
    assert!(grown < MAX_GROWTH, "grew by {} MiB", grown >> 20);
    // A check that had no turn, or no memory, says nothing about its target.
    for (number, result) in results.iter().enumerate() {
        match result {
            Ok(seen) => assert!(!seen.up, "{number}: {}", seen.message),
            Err(fault) => assert_eq!(fault.kind, FaultKind::Resources, "{number}: {fault:?}"),
        }
    }
}
