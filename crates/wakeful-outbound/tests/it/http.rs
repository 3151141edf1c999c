//! Http and http_keyword against well-behaved servers.

use data_encoding::BASE64;
use std::io::Write as _;
use wakeful_core::monitor::spec::{
    Authentication, Body, Headers, HttpSpec, Method, Spec, StatusCodes, Username,
};
use wakeful_core::observation::{Evidence, FaultKind};
use wakeful_core::secret::Secret;
use wakeful_outbound::net::Deadline;
use wakeful_outbound::net::decode::End;
use wakeful_outbound::net::http::{Request, fetch};
use wakeful_outbound::net::tls::Trust;

use crate::peer::{
    ENOUGH, Peer, assert_down, assert_up, http, keyword, look, look_by, net, page, redirect,
};

#[tokio::test]
async fn an_accepted_code_is_up_and_another_is_down() {
    let peer = Peer::answering(page("hello")).await;
    let seen = look(&Spec::Http(http(peer.url("/")))).await;
    assert_up(&seen, "200 OK");
    let phases = seen.phases;
    assert!(phases.connect.is_some() && phases.first_byte.is_some() && phases.transfer.is_some());
    assert!(phases.tls.is_none() && phases.resolve.is_none());

    let peer =
        Peer::answering("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n").await;
    let seen = look(&Spec::Http(http(peer.url("/")))).await;
    assert_down(&seen, Evidence::Answered, "503 Service Unavailable");
    assert!(seen.load_time.is_some(), "a wrong answer took time too");

    let accepted = StatusCodes::parse("503").unwrap();
    let seen = look(&Spec::Http(HttpSpec { accepted, ..http(peer.url("/")) })).await;
    assert_up(&seen, "503 Service Unavailable");
}

#[tokio::test]
async fn the_request_is_what_the_monitor_says() {
    let peer = Peer::answering(page("ok")).await;
    let spec = HttpSpec {
        method: Method::Post,
        body: Body::parse(r#"{"a":1}"#).unwrap(),
        headers: Headers::parse("X-One: 1\nUser-Agent: mine").unwrap(),
        authentication: Authentication::parse("Basic").unwrap(),
        username: Username::parse("ann").unwrap(),
        password: Secret::new("pass:word"),
        ..http(peer.url("/path?q=1#fragment"))
    };
    assert_up(&look(&Spec::Http(spec)).await, "200 OK");
    let request = &peer.requests()[0];
    assert!(request.starts_with("POST /path?q=1 HTTP/1.1\r\n"), "{request}");
    for line in [
        format!("host: {}", peer.addr),
        "x-one: 1".to_owned(),
        "user-agent: mine".to_owned(),
        "content-type: application/json".to_owned(),
        "content-length: 7".to_owned(),
        "connection: close".to_owned(),
        format!("authorization: Basic {}", BASE64.encode(b"ann:pass:word")),
    ] {
        assert!(request.contains(&format!("\r\n{line}\r\n")), "{line} in {request}");
    }
    assert!(request.ends_with("\r\n\r\n{\"a\":1}"), "{request}");
}

#[tokio::test]
async fn a_keyword_is_found_or_told_to_be_missing() {
    let peer = Peer::answering(page("All systems operational")).await;
    let seen = look(&keyword(peer.url("/"), "systems operational")).await;
    assert_up(&seen, "200 OK, keyword found");
    let seen = look(&keyword(peer.url("/"), "Systems")).await;
    assert_down(&seen, Evidence::Answered, "keyword \"Systems\" not found in 23 B");
}

#[tokio::test]
async fn a_keyword_is_found_in_any_encoding_of_the_page() {
    let text = format!("{}needle{}", "hay ".repeat(20_000), "stack ".repeat(20_000));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for (name, body) in [("gzip", gzip.finish().unwrap()), ("zstd", zstd)] {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {name}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let peer = Peer::answering([head.into_bytes(), body].concat()).await;
        assert_up(&look(&keyword(peer.url("/"), "needle")).await, "200 OK, keyword found");
        assert!(peer.requests()[0].contains("\r\naccept-encoding: gzip, br, zstd\r\n"));
    }
}

#[tokio::test]
async fn a_chunked_page_and_one_that_ends_with_the_connection_are_whole() {
    for answer in [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nnee\r\n3\r\ndle\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\nneedle",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nneedle",
    ] {
        let peer = Peer::answering(answer).await;
        assert_up(&look(&keyword(peer.url("/"), "needle")).await, "200 OK, keyword found");
    }
}

#[tokio::test]
async fn a_redirect_is_followed_and_zero_means_none() {
    let peer = Peer::replying(|request| match request.starts_with("GET /a ") {
        true => redirect(302, "/b?x=1"),
        false => page("there"),
    })
    .await;
    assert_up(&look(&keyword(peer.url("/a"), "there")).await, "200 OK, keyword found");
    assert!(peer.requests()[1].starts_with("GET /b?x=1 "));

    let seen = look(&Spec::Http(HttpSpec { max_redirects: 0, ..http(peer.url("/a")) })).await;
    assert_down(&seen, Evidence::Answered, "302 Found");
}

#[tokio::test]
async fn a_post_becomes_a_get_after_303_and_stays_a_post_after_307() {
    let peer = Peer::replying(|request| match request.split(' ').nth(1) {
        Some("/303") => redirect(303, "/end"),
        Some("/307") => redirect(307, "/end"),
        _ => page("end"),
    })
    .await;
    for (path, expected) in [("/303", "GET /end "), ("/307", "POST /end ")] {
        let body = Body::parse("data").unwrap();
        let spec = HttpSpec { method: Method::Post, body, ..http(peer.url(path)) };
        assert_up(&look(&Spec::Http(spec)).await, "200 OK");
        let last = peer.requests().pop().unwrap();
        assert!(last.starts_with(expected), "{last}");
        assert_eq!(last.ends_with("data"), path == "/307", "{last}");
    }
}

/// Headers in which people send credentials, or could.
const CREDENTIAL_HEADERS: [&str; 18] = [
    "Authorization",
    "Proxy-Authorization",
    "Cookie",
    "X-Api-Key",
    "Api-Key",
    "X-Password",
    "X-Session-Id",
    "X-Session",
    "X-Auth",
    "X-Access-Code",
    "X-Pin",
    "X-Jwt",
    "X-Signature",
    "X-Credential",
    "Token",
    "Bearer",
    "X-Custom",
    "Referer",
];

/// The headers of a request, by their names.
fn header_names(request: &str) -> Vec<&str> {
    let lines = request.lines().skip(1).take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect()
}

#[tokio::test]
async fn another_origin_sees_none_of_the_headers_that_may_hold_a_credential() {
    let other = Peer::answering(page("other")).await;
    let to = other.url("/");
    // The same host on another port is another origin.
    let peer = Peer::replying(move |request| match request.starts_with("GET /same ") {
        true => redirect(301, "/away"),
        false => redirect(301, &to),
    })
    .await;
    let allowed = "Accept: text/plain\nAccept-Language: de\nUser-Agent: me";
    let secret: String = CREDENTIAL_HEADERS.map(|name| format!("\n{name}: s3cret")).concat();
    let spec = HttpSpec {
        headers: Headers::parse(&format!("{allowed}{secret}\nHost: a.example")).unwrap(),
        ..http(peer.url("/same"))
    };
    assert_up(&look(&Spec::Http(spec)).await, "200 OK");
    let same_origin = &peer.requests()[1];
    assert_eq!(same_origin.matches("s3cret").count(), CREDENTIAL_HEADERS.len(), "{same_origin}");
    let crossed = &other.requests()[0];
    assert!(!crossed.contains("s3cret"), "{crossed}");
    assert!(crossed.contains(&format!("host: {}", other.addr)), "{crossed}");
    for kept in ["accept: text/plain", "accept-language: de", "user-agent: me"] {
        assert!(crossed.contains(kept), "{crossed}");
    }
    let known = ["host", "accept", "accept-language", "user-agent", "accept-encoding"];
    for name in header_names(crossed) {
        assert!(known.contains(&name) || name == "connection", "{name} in {crossed}");
    }
}

#[tokio::test]
async fn a_login_does_not_travel_to_another_origin_and_does_not_come_back() {
    // first -> other -> first again.
    let back = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let to = back.clone();
    let other = Peer::replying(move |_| redirect(302, &to.lock().unwrap())).await;
    let to = other.url("/");
    let first = Peer::replying(move |request| match request.starts_with("GET /end ") {
        true => page("end"),
        false => redirect(302, &to),
    })
    .await;
    *back.lock().unwrap() = first.url("/end");
    let spec = HttpSpec {
        headers: Headers::parse("Cookie: c=1\nX-Custom: x").unwrap(),
        authentication: Authentication::parse("basic").unwrap(),
        username: Username::parse("ann").unwrap(),
        password: Secret::new("secret"),
        ..http(first.url("/start"))
    };
    assert_up(&look(&Spec::Http(spec)).await, "200 OK");
    let start = &first.requests()[0];
    for name in ["authorization", "cookie", "x-custom"] {
        assert!(header_names(start).contains(&name), "{start}");
        assert!(!header_names(&other.requests()[0]).contains(&name), "{name}");
        assert!(!header_names(&first.requests()[1]).contains(&name), "{name} came back");
    }
}

#[tokio::test]
async fn a_redirect_to_a_denied_address_is_blocked_and_not_down() {
    let peer = Peer::answering(redirect(302, "http://169.254.169.254/latest/meta-data")).await;
    let fault = look_by(&net(), &Spec::Http(http(peer.url("/"))), ENOUGH).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Egress);
    assert!(fault.message.starts_with("blocked by the egress policy: "), "{}", fault.message);
}

#[tokio::test]
async fn a_redirect_to_another_scheme_reads_no_file() {
    let peer = Peer::answering(redirect(302, "file:///etc/passwd")).await;
    let fault = look_by(&net(), &Spec::Http(http(peer.url("/"))), ENOUGH).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Egress);
}

#[tokio::test]
async fn a_fetch_gives_the_answer_itself_and_follows_nothing() {
    let peer = Peer::replying(|request| match request.starts_with("POST /hook ") {
        true => page(&"x".repeat(5_000)),
        false => redirect(302, "/hook"),
    })
    .await;
    let request = |path: &str| Request {
        method: "POST".parse().unwrap(),
        url: peer.url(path).parse().unwrap(),
        headers: Default::default(),
        body: "{}".into(),
        trust: Trust::Required,
    };
    let net = net();
    let reply = fetch(&net, &request("/hook"), 1_024, Deadline::within(ENOUGH)).await.unwrap();
    assert_eq!((reply.status.as_u16(), reply.body.len(), reply.end), (200, 1_024, End::Capped));
    let reply = fetch(&net, &request("/moved"), 1_024, Deadline::within(ENOUGH)).await.unwrap();
    assert_eq!((reply.status.as_u16(), reply.end), (302, End::Complete));
    assert_eq!(peer.seen(), 2);
}
