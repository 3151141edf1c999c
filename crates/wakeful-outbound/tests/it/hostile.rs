//! Servers that mean no good. Each look ends by its deadline, within its bounds
//! and with a word for people; `look_by` checks the deadline.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::interval;
use wakeful_core::monitor::spec::{HttpSpec, Spec};
use wakeful_core::observation::Evidence;

use crate::peer::{
    ENOUGH, Peer, SHORT, assert_down, assert_up, http, keyword, look, look_by, net, page,
    read_request, redirect,
};

async fn look_short(spec: &Spec) -> wakeful_core::observation::Observation {
    look_by(&net(), spec, SHORT).await.unwrap()
}

/// Writes the start, then one byte again and again until nobody listens.
async fn drip(mut stream: TcpStream, start: &str, byte: u8) -> std::io::Result<()> {
    read_request(&mut stream).await?;
    stream.write_all(start.as_bytes()).await?;
    let mut tick = interval(Duration::from_millis(20));
    loop {
        tick.tick().await;
        stream.write_all(&[byte]).await?;
    }
}

/// Writes the start, then more of the same as fast as it goes.
async fn flood(mut stream: TcpStream, start: &str, more: &[u8]) -> std::io::Result<()> {
    read_request(&mut stream).await?;
    stream.write_all(start.as_bytes()).await?;
    loop {
        stream.write_all(more).await?;
    }
}

#[tokio::test]
async fn a_server_that_takes_the_call_and_says_nothing() {
    let peer = Peer::new(async |mut stream| {
        stream.read_to_end(&mut Vec::new()).await?;
        Ok(())
    })
    .await;
    let seen = look_short(&Spec::Http(http(peer.url("/")))).await;
    // It accepted, so our network works: the evidence is not silence.
    assert_down(&seen, Evidence::Answered, "no answer within 0.4 s");
    assert!(seen.phases.connect.is_some());
}

#[tokio::test]
async fn headers_that_drip() {
    let peer = Peer::new(|stream| drip(stream, "HTTP/1.1 200 OK\r\nX-Slow: ", b'a')).await;
    let seen = look_short(&Spec::Http(http(peer.url("/")))).await;
    assert_down(&seen, Evidence::Answered, "no answer within 0.4 s");
}

#[tokio::test]
async fn a_body_that_drips() {
    let start = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
    let peer = Peer::new(move |stream| drip(stream, start, b'a')).await;
    let seen = look_short(&Spec::Http(http(peer.url("/")))).await;
    assert_down(&seen, Evidence::Answered, "response not complete within 0.4 s");
}

#[tokio::test]
async fn endless_headers_and_too_many_of_them() {
    let told = "the response has more than 64 KiB or 100 lines of headers";
    let peer =
        Peer::new(|stream| flood(stream, "HTTP/1.1 200 OK\r\nX-Long: ", &[b'a'; 8_192])).await;
    assert_down(&look(&Spec::Http(http(peer.url("/")))).await, Evidence::Answered, told);

    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X-A: b\r\n".repeat(101));
    let peer = Peer::answering(many).await;
    assert_down(&look(&Spec::Http(http(peer.url("/")))).await, Evidence::Answered, told);
}

#[tokio::test]
async fn an_endless_body_is_read_to_the_bound() {
    let start = "HTTP/1.1 200 OK\r\n\r\n";
    let peer = Peer::new(move |stream| flood(stream, start, &[b'a'; 65_536])).await;
    assert_up(&look(&Spec::Http(http(peer.url("/")))).await, "200 OK");
    let seen = look(&keyword(peer.url("/"), "needle")).await;
    assert_down(&seen, Evidence::Answered, NOT_IN_10_MIB);
}

/// Ten gibibytes of zeros in ten mebibytes or less, by the name of its encoding.
fn bombs() -> [(&'static str, Vec<u8>); 3] {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let mut ends = Vec::new();
    for _ in 0..3 {
        gzip.write_all(&vec![0; 1 << 20]).unwrap();
        gzip.flush().unwrap();
        ends.push(gzip.get_ref().len());
    }
    // What a flush ends with stands for itself, so the last piece can be said again.
    let (start, piece) = (&gzip.get_ref()[..ends[1]], &gzip.get_ref()[ends[1]..ends[2]]);
    let gzip = [start, &piece.repeat(10 << 10)].concat();
    // The same of brotli, whose pieces have 13 bytes a mebibyte.
    let start = b"\xab\xff\xff\x07\x40\x02\x20\x1e\x0b\x24\xf7\xfe\xc1\x00";
    let piece = b"\xfa\xff\x7f\x00\x24\x00\xe2\xb0\x00\x74\xef\x1f\x0c";
    let brotli = [&start[..], &piece.repeat(10 << 10)].concat();
    let zstd = zstd::bulk::compress(&vec![0; 16 << 20], 1).unwrap().repeat(640);
    let bombs = [("gzip", gzip), ("br", brotli), ("zstd", zstd)];
    assert!(bombs.iter().all(|(_, bomb)| bomb.len() < 11 << 20));
    bombs
}

async fn encoded(encoding: &str, body: Vec<u8>) -> Peer {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {length}\r\n\r\n"
    );
    Peer::answering([head.into_bytes(), body].concat()).await
}

const NOT_IN_10_MIB: &str = "keyword \"needle\" not found in the first 10 MiB";

#[tokio::test]
async fn a_bomb_is_decoded_to_the_bound() {
    for (encoding, bomb) in bombs() {
        let peer = encoded(encoding, bomb).await;
        let before = resident();
        let seen = look(&keyword(peer.url("/"), "needle")).await;
        assert_down(&seen, Evidence::Answered, NOT_IN_10_MIB);
        let grown = resident().saturating_sub(before);
        // The bomb itself is in memory, too: with the peer, and on its way.
        assert!(grown < 48 << 20, "{encoding} grew by {} MiB", grown >> 20);
    }
}

#[tokio::test]
async fn a_body_that_is_not_what_its_encoding_says() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain";
    let peer = Peer::answering(answer).await;
    let seen = look(&keyword(peer.url("/"), "plain")).await;
    assert_down(&seen, Evidence::Answered, "the response is not valid gzip");
}

#[tokio::test]
async fn a_redirect_loop() {
    let peer = Peer::answering(redirect(302, "/again")).await;
    let seen = look(&Spec::Http(http(peer.url("/")))).await;
    assert_down(&seen, Evidence::Answered, "too many redirects (10)");
    assert_eq!(peer.seen(), 11, "the first request and ten redirects");
    let seen = look(&Spec::Http(HttpSpec { max_redirects: 2, ..http(peer.url("/")) })).await;
    assert_down(&seen, Evidence::Answered, "too many redirects (2)");
}

#[tokio::test]
async fn a_body_cut_short() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nnot five hundred",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\nhello\r\n0\r\n\r\n",
    ] {
        let peer = Peer::answering(answer).await;
        let seen = look(&Spec::Http(http(peer.url("/")))).await;
        assert_down(&seen, Evidence::Answered, "incomplete response");
    }
}

#[tokio::test]
async fn a_body_longer_than_it_says_is_read_as_long_as_it_says() {
    let peer = Peer::answering("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nneedle").await;
    assert_up(&look(&Spec::Http(http(peer.url("/")))).await, "200 OK");
    let seen = look(&keyword(peer.url("/"), "needle")).await;
    assert_down(&seen, Evidence::Answered, "keyword \"needle\" not found in 4 B");
}

#[tokio::test]
async fn what_is_no_http() {
    for answer in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "\0\0\0\0\0\0\0\0",
    ] {
        let peer = Peer::answering(answer).await;
        let seen = look(&Spec::Http(http(peer.url("/")))).await;
        assert_down(&seen, Evidence::Answered, "the response is not valid HTTP");
    }
}

#[tokio::test]
async fn a_server_that_hangs_up_without_a_word() {
    let peer = Peer::answering("").await;
    let seen = look(&Spec::Http(http(peer.url("/")))).await;
    let told = "the server closed the connection without an answer";
    assert_down(&seen, Evidence::Answered, told);
}

#[tokio::test]
async fn a_server_that_resets() {
    let peer = Peer::new(async |stream| {
        stream.set_zero_linger()?;
        Ok(())
    })
    .await;
    let seen = look(&Spec::Http(http(peer.url("/")))).await;
    assert!(!seen.up && seen.evidence.proves_network(), "{seen:?}");
}

#[tokio::test]
async fn interim_answers_without_end() {
    let more = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100);
    let peer = Peer::new(move |stream| {
        let more = more.clone();
        async move { flood(stream, "", &more).await }
    })
    .await;
    let seen = look_short(&Spec::Http(http(peer.url("/")))).await;
    assert!(!seen.up, "{seen:?}");
}

#[tokio::test]
async fn answers_that_have_no_body_whatever_they_send() {
    let peer = Peer::answering("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello").await;
    assert_up(&look(&Spec::Http(http(peer.url("/")))).await, "204 No Content");
    let peer = Peer::answering(page("x")).await;
    let head = wakeful_core::monitor::spec::Method::Head;
    let seen = look(&Spec::Http(HttpSpec { method: head, ..http(peer.url("/")) })).await;
    assert_up(&seen, "200 OK");
}

#[tokio::test]
async fn an_answer_with_any_bytes_wrong_ends_the_look_in_time() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-16\r\n\
        Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let turn = std::sync::atomic::AtomicUsize::new(1);
    let peer = Peer::replying(move |_| {
        let turn = turn.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let mut bytes = answer.to_vec();
        for nth in 0..1 + turn % 4 {
            let at = (turn * 31 + nth * 17) % bytes.len();
            bytes[at] = bytes[at].wrapping_add((turn * 7 + nth) as u8 | 1);
        }
        bytes
    })
    .await;
    let (net, spec) = (net(), keyword(peer.url("/"), "needle"));
    for _ in 0..400 {
        assert!(!look_by(&net, &spec, ENOUGH).await.unwrap().up);
    }
}

/// Peers that hang, drip, flood and explode, with what to ask of each.
async fn hostile() -> Vec<(Spec, Peer)> {
    let silent = async |mut stream: TcpStream| {
        stream.read_to_end(&mut Vec::new()).await?;
        Ok(())
    };
    let (open, long) = ("HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nX-Long: ");
    let mut peers = vec![
        Peer::new(silent).await,
        Peer::new(move |stream| drip(stream, long, b'a')).await,
        Peer::new(move |stream| drip(stream, open, b'a')).await,
        Peer::new(move |stream| flood(stream, long, &[b'a'; 8_192])).await,
        Peer::new(move |stream| flood(stream, open, &[b'a'; 65_536])).await,
        Peer::answering(redirect(302, "/again")).await,
        Peer::answering("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\ncut").await,
    ];
    for (encoding, bomb) in bombs() {
        peers.push(encoded(encoding, bomb).await);
    }
    peers.into_iter().map(|peer| (keyword(peer.url("/"), "needle"), peer)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn healthy_neighbours_of_hostile_servers_are_looked_at_in_time() {
    let (net, healthy) = (Arc::new(net()), Peer::answering(page("fine")).await);
    let hostile = hostile().await;
    let mut attack = JoinSet::new();
    for (spec, _) in hostile.iter().cycle().take(40) {
        let (net, spec) = (net.clone(), spec.clone());
        attack.spawn(async move { look_by(&net, &spec, Duration::from_secs(2)).await.unwrap() });
    }
    let spec = Spec::Http(http(healthy.url("/")));
    let (mut looked, mut late) = (0, 0);
    while !attack.is_empty() {
        while let Some(seen) = attack.try_join_next() {
            assert!(!seen.unwrap().up);
        }
        let seen = look_by(&net, &spec, ENOUGH).await.unwrap();
        assert_up(&seen, "200 OK");
        // A second is an age beside a timeout of two; one may be the machine's.
        late += usize::from(seen.load_time.unwrap() > Duration::from_secs(1));
        looked += 1;
    }
    assert!(looked > 10 && late <= 1, "{late} of {looked} late");
}

#[tokio::test]
async fn many_hostile_servers_do_not_fill_the_memory() {
    let start = "HTTP/1.1 200 OK\r\n\r\n";
    let peer = Peer::new(move |stream| flood(stream, start, &[b'a'; 65_536])).await;
    let net = net();
    let spec = keyword(peer.url("/"), "needle");
    let before = resident();
    let looks = (0..50).map(|_| look_by(&net, &spec, ENOUGH * 4));
    for seen in futures_util::future::join_all(looks).await {
        assert!(!seen.unwrap().up);
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 << 20, "grew by {} MiB", grown >> 20);
}

fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}
