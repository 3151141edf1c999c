//! Hostile peers beside the target, or before its TLS begins: registries, mail servers and databases
//! that offer STARTTLS, and proxies. Each check ends by its deadline, which `check_with` verifies,
//! and only what is the target's fault makes it down.

use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::interval;
use wakeful_core::monitors::spec::{
    DomainSpec, Hostname, HttpSpec, HttpUrl, Proxy, RequestOptions, Spec, Starttls, TlsSpec,
};
use wakeful_core::observation::FaultKind;
use wakeful_core::reason::Reason;

use crate::hostile::{drip, flood};
use crate::servers::{
    SHORT_TIMEOUT, TestServer, check_with, http, net, page, read_request, redirect,
};

/// Why the target is down, or why nothing is known about it.
async fn reason(spec: &Spec) -> Result<Option<Reason>, FaultKind> {
    let seen = check_with(&net(), spec, SHORT_TIMEOUT).await.map_err(|fault| fault.kind)?;
    Ok(seen.reason)
}

async fn silence(mut stream: TcpStream) -> std::io::Result<()> {
    stream.read_to_end(&mut Vec::new()).await.map(drop)
}

async fn hear(stream: &mut TcpStream) -> std::io::Result<usize> {
    stream.read(&mut [0; 4_096]).await
}

/// Says this at once, and then one byte repeatedly.
async fn drip_at_once(mut stream: TcpStream, start: &[u8], byte: u8) -> std::io::Result<()> {
    stream.write_all(start).await?;
    let mut tick = interval(Duration::from_millis(20));
    loop {
        tick.tick().await;
        stream.write_all(&[byte]).await?;
    }
}

#[tokio::test]
async fn a_hostile_registry_says_nothing_about_a_domain() {
    let slow_head = "HTTP/1.1 200 OK\r\nX-Slow: ";
    let slow_body = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{";
    let endless = "HTTP/1.1 200 OK\r\n\r\n[";
    for (name, registry) in [
        ("silence", TestServer::new(silence).await),
        ("a slow head", TestServer::new(move |peer| drip(peer, slow_head, b'a')).await),
        ("a slow body", TestServer::new(move |peer| drip(peer, slow_body, b' ')).await),
        ("a flood", TestServer::new(move |peer| flood(peer, endless, &[b'['; 65_536])).await),
        (
            "a false length",
            TestServer::answering("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}").await,
        ),
        ("nothing", TestServer::answering("").await),
        ("another protocol", TestServer::answering("220 mail.example ESMTP\r\n").await),
        ("redirects", TestServer::answering(redirect(302, "/again")).await),
        ("a page", TestServer::answering(page("{}")).await),
    ] {
        let server = Some(HttpUrl::parse(&registry.url("/rdap")).unwrap());
        let domain = DomainSpec::of(Hostname::parse("a.example").unwrap());
        let spec = Spec::Domain(DomainSpec { server, ..domain });
        assert_eq!(reason(&spec).await, Err(FaultKind::Network), "{name}");
        assert!(registry.connection_count() > 0, "{name}");
    }
}

#[tokio::test]
async fn a_peer_that_is_hostile_before_tls_begins_is_down() {
    // Says goodbye, and still listens.
    let half_close = async |mut stream: TcpStream| {
        stream.write_all(b"220 mail.example\r\n").await?;
        stream.shutdown().await?;
        silence(stream).await
    };
    let close_in_a_line = async |mut stream: TcpStream| {
        stream.write_all(b"220 mail.example\r\n").await?;
        hear(&mut stream).await?;
        stream.write_all(b"250-mail.example\r\n250 START").await
    };
    let close_in_the_handshake = async |mut stream: TcpStream| {
        for line in ["220 a\r\n", "250 STARTTLS\r\n", "220 go\r\n"] {
            stream.write_all(line.as_bytes()).await?;
            hear(&mut stream).await?;
        }
        Ok::<_, std::io::Error>(())
    };
    let silent = async |mut stream: TcpStream| {
        stream.write_all(b"220 a\r\n").await?;
        silence(stream).await
    };
    let (closed, late) = (Reason::TlsHandshake, Reason::TimeoutFirstByte);
    let (smtp, mysql, ldap) = (Starttls::Smtp, Starttls::Mysql, Starttls::Ldap);
    for (name, peer, protocol, expected) in [
        ("half-closed", TestServer::new(half_close).await, smtp, closed),
        ("closed in a line", TestServer::new(close_in_a_line).await, smtp, closed),
        ("closed in the handshake", TestServer::new(close_in_the_handshake).await, smtp, closed),
        ("silent at first", TestServer::new(silence).await, smtp, late),
        ("silent later", TestServer::new(silent).await, smtp, late),
        ("slow", TestServer::new(|peer| drip_at_once(peer, b"220-", b'a')).await, smtp, late),
        // More is announced than may be sent, and more than is sent.
        (
            "too long",
            TestServer::new(|peer| drip_at_once(peer, b"\xff\xff\xff\0", 10)).await,
            mysql,
            Reason::Protocol,
        ),
        (
            "never complete",
            TestServer::new(|peer| drip_at_once(peer, b"\xff\x01\0\0", 10)).await,
            mysql,
            late,
        ),
        (
            "too long",
            TestServer::new(|peer| drip_at_once(peer, b"\x30\x84\xff\xff\xff\xff", 2)).await,
            ldap,
            Reason::Protocol,
        ),
    ] {
        let host = Hostname::parse("127.0.0.1").unwrap();
        let tls = TlsSpec { starttls: protocol, ..TlsSpec::of(host, peer.addr.port()) };
        assert_eq!(reason(&Spec::Tls(tls)).await, Ok(Some(expected)), "{name}");
    }
}

#[tokio::test]
async fn a_proxy_that_takes_its_time_says_nothing_about_the_target() {
    let target = TestServer::answering(page("ok")).await;
    // The length of a name of which one byte is sent at a time.
    let socks: &[u8] = &[5, 0, 5, 0, 0, 3, 255];
    for (scheme, proxy) in [
        ("http", TestServer::new(|peer| drip_at_once(peer, b"HTTP/1.1 200 OK\r\nX: ", b'a')).await),
        ("socks5", TestServer::new(move |peer| drip_at_once(peer, socks, 0)).await),
        ("http", TestServer::new(half_closed).await),
        ("socks5", TestServer::new(half_closed).await),
    ] {
        let proxy = Proxy::parse(&format!("{scheme}://{}", proxy.addr)).ok();
        let options = RequestOptions { proxy, ..RequestOptions::default() };
        let spec = Spec::Http(HttpSpec { options: options.boxed(), ..http(target.url("/")) });
        assert_eq!(reason(&spec).await, Err(FaultKind::Network), "{scheme}");
    }
    assert_eq!(target.connection_count(), 0);
}

async fn half_closed(mut stream: TcpStream) -> std::io::Result<()> {
    stream.shutdown().await?;
    read_request(&mut stream).await.map(drop)
}
