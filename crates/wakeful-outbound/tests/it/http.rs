//! HTTP and http_keyword checks against well-behaved servers.

use data_encoding::BASE64;
use std::io::Write as _;
use wakeful_core::monitors::spec::{
    Authentication, Body, Headers, HttpSpec, Method, Spec, StatusCodes, Username,
};
use wakeful_core::observation::{Contact, FaultKind};
use wakeful_core::secret::Secret;
use wakeful_outbound::net::Deadline;
use wakeful_outbound::net::decode::End;
use wakeful_outbound::net::http::{Request, fetch};
use wakeful_outbound::net::tls::Trust;

use crate::servers::{
    LONG_TIMEOUT, TestServer, assert_down, assert_up, check, check_with, http, keyword, net, page,
    redirect,
};

#[tokio::test]
async fn an_accepted_code_is_up_and_another_is_down() {
    let server = TestServer::answering(page("hello")).await;
    let observation = check(&Spec::Http(http(server.url("/")))).await;
    assert_up(&observation, "200 OK");
    let phases = observation.phases;
    assert!(phases.connect.is_some() && phases.first_byte.is_some() && phases.transfer.is_some());
    assert!(phases.tls.is_none() && phases.resolve.is_none());

    let server =
        TestServer::answering("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
            .await;
    let observation = check(&Spec::Http(http(server.url("/")))).await;
    assert_down(&observation, Contact::Answered, "503 Service Unavailable");
    assert!(observation.load_time.is_some(), "a wrong response took time, too");

    let accepted = StatusCodes::parse("503").unwrap();
    let observation = check(&Spec::Http(HttpSpec { accepted, ..http(server.url("/")) })).await;
    assert_up(&observation, "503 Service Unavailable");
}

#[tokio::test]
async fn the_request_follows_the_monitors_settings() {
    let server = TestServer::answering(page("ok")).await;
    let spec = HttpSpec {
        method: Method::Post,
        body: Body::parse(r#"{"a":1}"#).unwrap(),
        headers: Headers::parse("X-One: 1\nUser-Agent: mine").unwrap(),
        authentication: Authentication::parse("Basic").unwrap(),
        username: Username::parse("ann").unwrap(),
        password: Secret::new("pass:word"),
        ..http(server.url("/path?q=1#fragment"))
    };
    assert_up(&check(&Spec::Http(spec)).await, "200 OK");
    let request = &server.requests()[0];
    assert!(request.starts_with("POST /path?q=1 HTTP/1.1\r\n"), "{request}");
    for line in [
        format!("host: {}", server.addr),
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
async fn a_keyword_is_found_or_reported_missing() {
    let server = TestServer::answering(page("All systems operational")).await;
    let observation = check(&keyword(server.url("/"), "systems operational")).await;
    assert_up(&observation, "200 OK, keyword found");
    let observation = check(&keyword(server.url("/"), "Systems")).await;
    assert_down(&observation, Contact::Answered, "keyword \"Systems\" not found in 23 B");
}

#[tokio::test]
async fn a_keyword_is_found_in_every_content_encoding() {
    let text = format!("{}needle{}", "hay ".repeat(20_000), "stack ".repeat(20_000));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for (name, body) in [("gzip", gzip.finish().unwrap()), ("zstd", zstd)] {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {name}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let server = TestServer::answering([head.into_bytes(), body].concat()).await;
        assert_up(&check(&keyword(server.url("/"), "needle")).await, "200 OK, keyword found");
        assert!(server.requests()[0].contains("\r\naccept-encoding: gzip\r\n"));
    }
}

#[tokio::test]
async fn a_chunked_page_and_one_that_ends_with_the_connection_are_complete() {
    for answer in [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nnee\r\n3\r\ndle\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\nneedle",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nneedle",
    ] {
        let server = TestServer::answering(answer).await;
        assert_up(&check(&keyword(server.url("/"), "needle")).await, "200 OK, keyword found");
    }
}

#[tokio::test]
async fn redirects_are_followed_unless_the_limit_is_zero() {
    let server = TestServer::replying(|request| {
        if request.starts_with("GET /a ") { redirect(302, "/b?x=1") } else { page("there") }
    })
    .await;
    assert_up(&check(&keyword(server.url("/a"), "there")).await, "200 OK, keyword found");
    assert!(server.requests()[1].starts_with("GET /b?x=1 "));

    let observation =
        check(&Spec::Http(HttpSpec { max_redirects: 0, ..http(server.url("/a")) })).await;
    assert_down(&observation, Contact::Answered, "302 Found");
}

#[tokio::test]
async fn a_post_becomes_a_get_after_303_and_stays_a_post_after_307() {
    let server = TestServer::replying(|request| match request.split(' ').nth(1) {
        Some("/303") => redirect(303, "/end"),
        Some("/307") => redirect(307, "/end"),
        _ => page("end"),
    })
    .await;
    for (path, expected) in [("/303", "GET /end "), ("/307", "POST /end ")] {
        let body = Body::parse("data").unwrap();
        let spec = HttpSpec { method: Method::Post, body, ..http(server.url(path)) };
        assert_up(&check(&Spec::Http(spec)).await, "200 OK");
        let last = server.requests().pop().unwrap();
        assert!(last.starts_with(expected), "{last}");
        assert_eq!(last.ends_with("data"), path == "/307", "{last}");
    }
}

/// Headers that can carry credentials.
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

/// The names of a request's headers.
fn header_names(request: &str) -> Vec<&str> {
    let lines = request.lines().skip(1).take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect()
}

#[tokio::test]
async fn another_origin_gets_no_header_that_may_contain_a_credential() {
    let other = TestServer::answering(page("other")).await;
    let to = other.url("/");
    // The same host on another port is another origin.
    let server = TestServer::replying(move |request| {
        if request.starts_with("GET /same ") { redirect(301, "/away") } else { redirect(301, &to) }
    })
    .await;
    let allowed = "Accept: text/plain\nAccept-Language: de\nUser-Agent: me";
    let secret: String = CREDENTIAL_HEADERS.map(|name| format!("\n{name}: s3cret")).concat();
    let spec = HttpSpec {
        headers: Headers::parse(&format!("{allowed}{secret}\nHost: a.example")).unwrap(),
        ..http(server.url("/same"))
    };
    assert_up(&check(&Spec::Http(spec)).await, "200 OK");
    let same_origin = &server.requests()[1];
    assert_eq!(same_origin.matches("s3cret").count(), CREDENTIAL_HEADERS.len(), "{same_origin}");
    let crossed = &other.requests()[0];
    assert!(!crossed.contains("s3cret"), "{crossed}");
    assert!(crossed.contains(&format!("host: {}", other.addr)), "{crossed}");
    for allowed in ["accept: text/plain", "accept-language: de", "user-agent: me"] {
        assert!(crossed.contains(allowed), "{crossed}");
    }
    let known = ["host", "accept", "accept-language", "user-agent", "accept-encoding"];
    for name in header_names(crossed) {
        assert!(known.contains(&name) || name == "connection", "{name} in {crossed}");
    }
}

#[tokio::test]
async fn credentials_are_not_sent_to_another_origin_nor_after_a_return() {
    // first -> other -> first again.
    let back = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let to = back.clone();
    let other = TestServer::replying(move |_| redirect(302, &to.lock().unwrap())).await;
    let to = other.url("/");
    let first = TestServer::replying(move |request| {
        if request.starts_with("GET /end ") { page("end") } else { redirect(302, &to) }
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
    assert_up(&check(&Spec::Http(spec)).await, "200 OK");
    let start = &first.requests()[0];
    for name in ["authorization", "cookie", "x-custom"] {
        assert!(header_names(start).contains(&name), "{start}");
        assert!(!header_names(&other.requests()[0]).contains(&name), "{name}");
        assert!(!header_names(&first.requests()[1]).contains(&name), "{name} was sent again");
    }
}

#[tokio::test]
async fn a_redirect_to_a_blocked_address_is_a_fault_and_not_down() {
    let server =
        TestServer::answering(redirect(302, "http://169.254.169.254/latest/meta-data")).await;
    let fault =
        check_with(&net(), &Spec::Http(http(server.url("/"))), LONG_TIMEOUT).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Egress);
    assert!(
        fault.message.starts_with("blocked by this server's network policy: "),
        "{}",
        fault.message
    );
}

#[tokio::test]
async fn a_redirect_to_another_scheme_reads_no_file() {
    let server = TestServer::answering(redirect(302, "file:///etc/passwd")).await;
    let fault =
        check_with(&net(), &Spec::Http(http(server.url("/"))), LONG_TIMEOUT).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Egress);
}

#[tokio::test]
async fn a_fetch_returns_a_redirect_without_following_it() {
    let server = TestServer::replying(|request| {
        if request.starts_with("POST /hook ") {
            page(&"x".repeat(5_000))
        } else {
            redirect(302, "/hook")
        }
    })
    .await;
    let request = |path: &str| Request {
        method: "POST".parse().unwrap(),
        url: server.url(path).parse().unwrap(),
        headers: Default::default(),
        body: "{}".into(),
        trust: Trust::Required,
    };
    let net = net();
    let reply =
        fetch(&net, &request("/hook"), 1_024, Deadline::within(LONG_TIMEOUT)).await.unwrap();
    assert_eq!((reply.status.as_u16(), reply.body.len(), reply.end), (200, 1_024, End::Capped));
    let reply =
        fetch(&net, &request("/moved"), 1_024, Deadline::within(LONG_TIMEOUT)).await.unwrap();
    assert_eq!((reply.status.as_u16(), reply.end), (302, End::Complete));
    assert_eq!(server.connection_count(), 2);
}
