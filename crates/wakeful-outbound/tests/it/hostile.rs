//! Hostile servers. Each check ends by its deadline, within its limits and with
//! a message for people; `check_with` verifies the deadline.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval};
use wakeful_core::monitors::headers::Headers;
use wakeful_core::monitors::spec::{HttpSpec, HttpVersion, RequestOptions, Spec};
use wakeful_core::observation::Contact;
use wakeful_testkit::Stopwatch;

use crate::servers::{
    LONG_TIMEOUT, SHORT_TIMEOUT, TestServer, assert_down, assert_up, check, check_for, check_with,
    http, keyword, net, page, read_request, redirect, team,
};

async fn check_short(spec: &Spec) -> wakeful_core::observation::Observation {
    check_with(&net(), spec, SHORT_TIMEOUT).await.unwrap()
}

/// Writes the start, then one byte repeatedly until the client disconnects.
pub(crate) async fn drip(mut stream: TcpStream, start: &str, byte: u8) -> std::io::Result<()> {
    read_request(&mut stream).await?;
    stream.write_all(start.as_bytes()).await?;
    let mut tick = interval(Duration::from_millis(20));
    loop {
        tick.tick().await;
        stream.write_all(&[byte]).await?;
    }
}

/// Writes the start, then more of the same as fast as possible.
pub(crate) async fn flood(mut stream: TcpStream, start: &str, more: &[u8]) -> std::io::Result<()> {
    read_request(&mut stream).await?;
    stream.write_all(start.as_bytes()).await?;
    loop {
        stream.write_all(more).await?;
    }
}

#[tokio::test]
async fn a_server_that_accepts_and_sends_nothing() {
    let server = TestServer::new(async |mut stream| {
        stream.read_to_end(&mut Vec::new()).await?;
        Ok(())
    })
    .await;
    let observation = check_short(&Spec::Http(http(server.url("/")))).await;
    // It accepted, so our network works: the evidence is not silence.
    assert_down(&observation, Contact::Answered, "no answer within 0.4 s");
    assert!(observation.phases.connect.is_some());
}

#[tokio::test]
async fn headers_that_arrive_slowly() {
    let server = TestServer::new(|stream| drip(stream, "HTTP/1.1 200 OK\r\nX-Slow: ", b'a')).await;
    let observation = check_short(&Spec::Http(http(server.url("/")))).await;
    assert_down(&observation, Contact::Answered, "no answer within 0.4 s");
}

#[tokio::test]
async fn a_body_that_arrives_slowly() {
    let start = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
    let server = TestServer::new(move |stream| drip(stream, start, b'a')).await;
    let observation = check_short(&Spec::Http(http(server.url("/")))).await;
    assert_down(&observation, Contact::Answered, "response not complete within 0.4 s");
}

#[tokio::test]
async fn endless_headers_and_too_many_headers() {
    let message = "the response headers exceed 64 KiB or 100 lines";
    let server =
        TestServer::new(|stream| flood(stream, "HTTP/1.1 200 OK\r\nX-Long: ", &[b'a'; 8_192]))
            .await;
    assert_down(&check(&Spec::Http(http(server.url("/")))).await, Contact::Answered, message);

    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X-A: b\r\n".repeat(101));
    let server = TestServer::answering(many).await;
    assert_down(&check(&Spec::Http(http(server.url("/")))).await, Contact::Answered, message);
}

#[tokio::test]
async fn an_endless_body_is_read_to_the_limit() {
    let start = "HTTP/1.1 200 OK\r\n\r\n";
    let server = TestServer::new(move |stream| flood(stream, start, &[b'a'; 65_536])).await;
    assert_up(&check(&Spec::Http(http(server.url("/")))).await, "200 OK");
    let observation = check(&keyword(server.url("/"), "needle")).await;
    assert_down(&observation, Contact::Answered, NOT_IN_10_MIB);
}

/// Ten gibibytes of zeros in ten mebibytes or less, by the name of their
/// encoding.
fn bombs() -> [(&'static str, Vec<u8>); 3] {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let mut ends = Vec::new();
    for _ in 0..3 {
        gzip.write_all(&vec![0; 1 << 20]).unwrap();
        gzip.flush().unwrap();
        ends.push(gzip.get_ref().len());
    }
    // After a flush the output is self-contained, so the last piece can be
    // repeated.
    let (start, piece) = (&gzip.get_ref()[..ends[1]], &gzip.get_ref()[ends[1]..ends[2]]);
    let gzip = [start, &piece.repeat(10 << 10)].concat();
    // The same for brotli, whose pieces take 13 bytes per mebibyte.
    let start = b"\xab\xff\xff\x07\x40\x02\x20\x1e\x0b\x24\xf7\xfe\xc1\x00";
    let piece = b"\xfa\xff\x7f\x00\x24\x00\xe2\xb0\x00\x74\xef\x1f\x0c";
    let brotli = [&start[..], &piece.repeat(10 << 10)].concat();
    let zstd = zstd::bulk::compress(&vec![0; 16 << 20], 1).unwrap().repeat(640);
    let bombs = [("gzip", gzip), ("br", brotli), ("zstd", zstd)];
    assert!(bombs.iter().all(|(_, bomb)| bomb.len() < 11 << 20));
    bombs
}

async fn encoded(encoding: &str, body: Vec<u8>) -> TestServer {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {length}\r\n\r\n"
    );
    TestServer::answering([head.into_bytes(), body].concat()).await
}

const NOT_IN_10_MIB: &str = "keyword \"needle\" not found in the first 10 MiB";

#[tokio::test]
async fn a_bomb_is_decoded_to_the_limit() {
    for (encoding, bomb) in bombs() {
        let server = encoded(encoding, bomb).await;
        let before = resident();
        let observation = check(&keyword(server.url("/"), "needle")).await;
        assert_down(&observation, Contact::Answered, NOT_IN_10_MIB);
        let grown = resident().saturating_sub(before);
        // The bomb itself is in memory, too: in the server, and in transit.
        assert!(grown < 48 << 20, "{encoding} grew by {} MiB", grown >> 20);
    }
}

#[tokio::test]
async fn a_body_that_does_not_match_its_encoding() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain";
    let server = TestServer::answering(answer).await;
    let observation = check(&keyword(server.url("/"), "plain")).await;
    assert_down(&observation, Contact::Answered, "the response is not valid gzip");
}

#[tokio::test]
async fn a_redirect_loop() {
    let server = TestServer::answering(redirect(302, "/again")).await;
    let observation = check(&Spec::Http(http(server.url("/")))).await;
    assert_down(&observation, Contact::Answered, "too many redirects (10)");
    assert_eq!(server.connection_count(), 11, "the first request and ten redirects");
    let observation =
        check(&Spec::Http(HttpSpec { max_redirects: 2, ..http(server.url("/")) })).await;
    assert_down(&observation, Contact::Answered, "too many redirects (2)");
}

#[tokio::test]
async fn a_truncated_body() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nnot five hundred",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\nhello\r\n0\r\n\r\n",
    ] {
        let server = TestServer::answering(answer).await;
        let observation = check(&Spec::Http(http(server.url("/")))).await;
        assert_down(&observation, Contact::Answered, "incomplete response");
    }
}

#[tokio::test]
async fn a_body_longer_than_declared_is_read_as_declared() {
    let server = TestServer::answering("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nneedle").await;
    assert_up(&check(&Spec::Http(http(server.url("/")))).await, "200 OK");
    let observation = check(&keyword(server.url("/"), "needle")).await;
    assert_down(&observation, Contact::Answered, "keyword \"needle\" not found in 4 B");
}

#[tokio::test]
async fn responses_that_are_not_http() {
    for answer in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "\0\0\0\0\0\0\0\0",
    ] {
        let server = TestServer::answering(answer).await;
        let observation = check(&Spec::Http(http(server.url("/")))).await;
        assert_down(&observation, Contact::Answered, "the response is not valid HTTP");
    }
}

#[tokio::test]
async fn a_server_that_closes_the_connection_without_a_response() {
    let server = TestServer::answering("").await;
    let observation = check(&Spec::Http(http(server.url("/")))).await;
    let message = "the server closed the connection without a response";
    assert_down(&observation, Contact::Answered, message);
}

#[tokio::test]
async fn a_server_that_resets() {
    let server = TestServer::new(async |stream| {
        stream.set_zero_linger()?;
        Ok(())
    })
    .await;
    let observation = check(&Spec::Http(http(server.url("/")))).await;
    assert!(!observation.up && observation.contact.proves_network(), "{observation:?}");
}

#[tokio::test]
async fn endless_interim_responses() {
    let more = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100);
    let server = TestServer::new(move |stream| {
        let more = more.clone();
        async move { flood(stream, "", &more).await }
    })
    .await;
    // The header is left to the general client.
    for headers in ["", "Expect: 100-continue"] {
        let headers = Headers::parse(headers).expect("valid");
        let spec = HttpSpec { headers, ..http(server.url("/")) };
        let observation = check(&Spec::Http(spec)).await;
        assert!(!observation.up, "{observation:?}");
        assert_eq!(observation.message, "the server sends only interim responses");
    }
}

#[tokio::test]
async fn endless_frames_of_http2() {
    let interim = b"\0\0\x05\x01\x04\0\0\0\x01\x08\x03100";
    let ping = b"\0\0\x08\x06\0\0\0\0\0pingping";
    let settings = b"\0\0\0\x04\0\0\0\0\0";
    for (frame, message) in [
        (&interim[..], "the server sends only interim responses"),
        (&ping[..], "the server sends too many small HTTP/2 frames"),
        (&settings[..], "the server sends too many small HTTP/2 frames"),
    ] {
        let more = frame.repeat(100);
        let server = TestServer::new(move |stream| {
            let more = more.clone();
            async move { flood(stream, "\0\0\0\x04\0\0\0\0\0", &more).await }
        })
        .await;
        let options = RequestOptions { version: HttpVersion::Http2, ..RequestOptions::default() };
        let spec = HttpSpec { options: options.boxed(), ..http(server.url("/")) };
        let observation = check(&Spec::Http(spec)).await;
        assert!(!observation.up, "{observation:?}");
        assert_eq!(observation.message, message);
    }
}

#[tokio::test]
async fn endless_tiny_chunks() {
    let chunks = b"1\r\nx\r\n".repeat(10_000);
    let server = TestServer::new(move |stream| {
        let chunks = chunks.clone();
        async move {
            flood(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", &chunks).await
        }
    })
    .await;
    for headers in ["", "TE: trailers"] {
        let headers = Headers::parse(headers).expect("valid");
        let spec = HttpSpec { headers, ..http(server.url("/")) };
        let observation = check(&Spec::Http(spec)).await;
        assert_eq!(observation.message, "the response is sent in too many small pieces");
    }
}

#[tokio::test]
async fn endless_empty_gzip_members() {
    let empty = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0].repeat(1_000);
    let server =
        TestServer::new(move |stream| {
            let empty = empty.clone();
            async move {
                flood(stream, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", &empty).await
            }
        })
        .await;
    let observation = check(&keyword(server.url("/"), "needle")).await;
    assert_eq!(observation.message, "the response is not valid gzip");
}

#[tokio::test]
async fn responses_that_cannot_have_a_body() {
    let server =
        TestServer::answering("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello").await;
    assert_up(&check(&Spec::Http(http(server.url("/")))).await, "204 No Content");
    let server = TestServer::answering(page("x")).await;
    let head = wakeful_core::monitors::spec::Method::Head;
    let observation = check(&Spec::Http(HttpSpec { method: head, ..http(server.url("/")) })).await;
    assert_up(&observation, "200 OK");
}

#[tokio::test]
async fn a_response_with_corrupt_bytes_ends_the_check_in_time() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-16\r\n\
        Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let turn = std::sync::atomic::AtomicUsize::new(1);
    let server = TestServer::replying(move |_| {
        let turn = turn.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let mut bytes = answer.to_vec();
        for nth in 0..1 + turn % 4 {
            let at = (turn * 31 + nth * 17) % bytes.len();
            bytes[at] = bytes[at].wrapping_add((turn * 7 + nth) as u8 | 1);
        }
        bytes
    })
    .await;
    let (net, spec) = (net(), keyword(server.url("/"), "needle"));
    for _ in 0..400 {
        assert!(!check_with(&net, &spec, LONG_TIMEOUT).await.unwrap().up);
    }
}

/// Servers that hang, trickle, flood and send bombs, each with a check of it.
async fn hostile() -> Vec<(Spec, TestServer)> {
    let silent = async |mut stream: TcpStream| {
        stream.read_to_end(&mut Vec::new()).await?;
        Ok(())
    };
    let (open, long) = ("HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nX-Long: ");
    let mut peers = vec![
        TestServer::new(silent).await,
        TestServer::new(move |stream| drip(stream, long, b'a')).await,
        TestServer::new(move |stream| drip(stream, open, b'a')).await,
        TestServer::new(move |stream| flood(stream, long, &[b'a'; 8_192])).await,
        TestServer::new(move |stream| flood(stream, open, &[b'a'; 65_536])).await,
        TestServer::answering(redirect(302, "/again")).await,
        TestServer::answering("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\ncut").await,
    ];
    for (encoding, bomb) in bombs() {
        peers.push(encoded(encoding, bomb).await);
    }
    peers.into_iter().map(|server| (keyword(server.url("/"), "needle"), server)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn healthy_targets_beside_hostile_servers_are_checked_in_time() {
    let (net, healthy) = (Arc::new(net()), TestServer::answering(page("fine")).await);
    let hostile = hostile().await;
    let mut attack = JoinSet::new();
    for (spec, _) in hostile.iter().cycle().take(40) {
        let (net, spec) = (net.clone(), spec.clone());
        attack.spawn(async move { check_with(&net, &spec, Duration::from_secs(2)).await.unwrap() });
    }
    let spec = Spec::Http(http(healthy.url("/")));
    let (mut checked, mut late) = (0, 0);
    while !attack.is_empty() {
        while let Some(observation) = attack.try_join_next() {
            assert!(!observation.unwrap().up);
        }
        let began = Stopwatch::start();
        let observation = check_with(&net, &spec, LONG_TIMEOUT).await.unwrap();
        assert_up(&observation, "200 OK");
        // A second is very long compared with a timeout of two; a few may be the
        // machine's fault.
        late += usize::from(began.elapsed() > Duration::from_secs(1));
        checked += 1;
    }
    assert!(checked > 10 && late * 10 <= checked, "{late} of {checked} late");
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    to.write_all(text).unwrap();
    to.finish().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_team_whose_pages_inflate_does_not_delay_the_checks_of_another() {
    let net = Arc::new(net());
    let bomb = encoded("gzip", gzip(&vec![b'a'; 11 << 20])).await;
    let mut attack = JoinSet::new();
    for _ in 0..300 {
        let (net, spec) = (net.clone(), keyword(bomb.url("/"), "needle"));
        attack.spawn(async move { check_for(&net, team(1), &spec, LONG_TIMEOUT).await });
    }
    let small = TestServer::answering(page("a needle")).await;
    let text = "a page of three megabytes\n".repeat((3 << 20) / 26);
    let large = encoded("gzip", gzip(format!("{text}needle").as_bytes())).await;
    for server in [small, large] {
        let spec = keyword(server.url("/"), "needle");
        let mut took = Vec::new();
        for _ in 0..5 {
            let (began, watch) = (Instant::now(), Stopwatch::start());
            let observation = check_for(&net, team(2), &spec, LONG_TIMEOUT).await.unwrap();
            assert_up(&observation, "200 OK, keyword found");
            assert!(observation.load_time.unwrap() <= began.elapsed());
            took.push(watch.elapsed());
        }
        took.sort();
        assert!(took[2] < Duration::from_millis(500), "{took:?}");
    }
    let ended = std::iter::from_fn(|| attack.try_join_next()).count();
    assert!(ended < 300, "the attack has not ended before");
}

#[tokio::test]
async fn many_hostile_servers_do_not_fill_the_memory() {
    let start = "HTTP/1.1 200 OK\r\n\r\n";
    let server = TestServer::new(move |stream| flood(stream, start, &[b'a'; 65_536])).await;
    let net = net();
    let spec = keyword(server.url("/"), "needle");
    let before = resident();
    let checks = (0..50).map(|_| check_with(&net, &spec, LONG_TIMEOUT * 4));
    for observation in futures_util::future::join_all(checks).await {
        assert!(!observation.unwrap().up);
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 << 20, "grew by {} MiB", grown >> 20);
}

pub(crate) fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}
