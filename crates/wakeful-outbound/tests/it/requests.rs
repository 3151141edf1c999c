//! The options of requests and connections: credentials, certificates, proxies, resolvers; and
//! the types tls and domain, each with servers that misbehave.

use futures_util::future::join_all;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use wakeful_core::monitors::spec::http::password;
use wakeful_core::monitors::spec::request::token;
use wakeful_core::monitors::spec::{
    Authentication, ClientAuth, ConnectOptions, DomainSpec, Hostname, HttpSpec, HttpUrl,
    HttpVersion, IpFamily, Oauth2, Proxy, RequestOptions, Resolver, Spec, Starttls, TcpSpec,
    TlsSpec, Username,
};
use wakeful_core::observation::FaultKind;
use wakeful_core::reason::Reason;
use wakeful_core::secret::Secret;
use wakeful_outbound::checks::CheckRequest;
use wakeful_outbound::net::Net;
use wakeful_outbound::net::client_auth::read_client_certificate;
use wakeful_outbound::net::guard::Policy;

use crate::dns::flipping;
use crate::servers::{
    LONG_TIMEOUT, SHORT_TIMEOUT, TestServer, check_for, check_with, http, net, net_with, page,
    read_request, redirect, run, team,
};

fn with_options(spec: HttpSpec, options: RequestOptions) -> Spec {
    Spec::Http(HttpSpec { options: options.boxed(), ..spec })
}

fn authenticated(url: &str, kind: &str, options: RequestOptions) -> Spec {
    let authentication = Authentication::parse(kind).unwrap();
    let username = Username::parse("ann").unwrap();
    let password = password("s3ntinel").unwrap();
    with_options(HttpSpec { authentication, username, password, ..http(url) }, options)
}

fn connecting(host: &str, port: u16, connect: ConnectOptions) -> Spec {
    let tcp = TcpSpec::of(Hostname::parse(host).unwrap(), port);
    Spec::Tcp(TcpSpec { connect: connect.boxed(), ..tcp })
}

/// What a check of this spec results in.
async fn reason(spec: &Spec) -> Result<Option<Reason>, FaultKind> {
    let seen = check_with(&net(), spec, LONG_TIMEOUT).await.map_err(|fault| fault.kind)?;
    assert_eq!(seen.up, seen.reason.is_none(), "{seen:?}");
    Ok(seen.reason)
}

#[tokio::test]
async fn a_token_is_sent_to_its_server_only() {
    let other = TestServer::answering(page("other")).await;
    let to = other.url("/");
    let server = TestServer::replying(move |_| redirect(302, &to)).await;
    let options = RequestOptions {
        token: token("abc.sentinel").unwrap(),
        cookies: true,
        cache_buster: true,
        ..RequestOptions::default()
    };
    let spec = authenticated(&server.url("/?a=b"), "bearer", options);
    assert_eq!(reason(&spec).await, Ok(None));
    let sent = &server.requests()[0];
    assert!(sent.contains("authorization: Bearer abc.sentinel\r\n"), "{sent}");
    assert!(sent.starts_with("GET /?a=b&_wakeful=") && sent.contains("no-cache"), "{sent}");
    assert!(!other.requests()[0].contains("sentinel"), "{:?}", other.requests());
}

#[tokio::test]
async fn cookies_are_sent_to_later_hops() {
    let server = TestServer::replying(|request| match request.starts_with("GET /home") {
        true if request.contains("cookie: sid=1\r\n") => page("in"),
        true => b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".to_vec(),
        false => b"HTTP/1.1 302 Found\r\nSet-Cookie: sid=1; Path=/\r\nLocation: /home\r\nContent-Length: 0\r\n\r\n".to_vec(),
    })
    .await;
    let options = |cookies| RequestOptions { cookies, ..RequestOptions::default() };
    assert_eq!(reason(&with_options(http(server.url("/")), options(true))).await, Ok(None));
    let without = reason(&with_options(http(server.url("/")), options(false))).await;
    assert_eq!(without, Ok(Some(Reason::HttpStatus)));
}

#[tokio::test]
async fn digest_authentication_answers_the_challenge() {
    let server = TestServer::replying(|request| {
        let accepted = request.contains("username=\"ann\"") && request.contains("algorithm=SHA-256");
        if accepted {
            page("in")
        } else {
            b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=MD5\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256\r\nContent-Length: 0\r\n\r\n".to_vec()
        }
    })
    .await;
    let spec = authenticated(&server.url("/x?y"), "digest", RequestOptions::default());
    assert_eq!(reason(&spec).await, Ok(None));
    assert_eq!(server.connection_count(), 2);
    assert!(server.requests()[1].contains("uri=\"/x?y\""));
    for (challenge, expected) in [
        ("Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\"", Reason::Auth),
        ("Basic realm=\"r\"", Reason::HttpStatus),
        // The password is wrong: the challenge is repeated.
        ("Digest realm=\"r\", nonce=\"n\", qop=\"auth\"", Reason::HttpStatus),
    ] {
        let answer = format!(
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: {challenge}\r\nContent-Length: 0\r\n\r\n"
        );
        let server = TestServer::answering(answer).await;
        let spec = authenticated(&server.url("/"), "digest", RequestOptions::default());
        assert_eq!(reason(&spec).await, Ok(Some(expected)), "{challenge}");
    }
}

fn oauth2(token_url: &str, url: &str, client_auth: ClientAuth) -> Spec {
    let oauth2 = Oauth2 {
        token_url: HttpUrl::parse(token_url).unwrap(),
        client_id: "wake ful".to_owned(),
        client_secret: Secret::new("s3ntinel/+"),
        scope: "read".to_owned(),
        audience: String::new(),
        client_auth,
    };
    let options = RequestOptions { oauth2: Some(oauth2), ..RequestOptions::default() };
    let authentication = Authentication::parse("oauth2").unwrap();
    with_options(HttpSpec { authentication, ..http(url) }, options)
}

#[tokio::test]
async fn a_token_is_cached_and_renewed_after_a_refusal() {
    let tokens = TestServer::replying(|_| {
        page(r#"{"access_token":"tok.sentinel","token_type":"bearer","expires_in":3600}"#)
    })
    .await;
    let server = TestServer::replying(|request| {
        if request.contains("Bearer tok.sentinel") {
            page("echo tok.sentinel")
        } else {
            b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n".to_vec()
        }
    })
    .await;
    let net = net();
    let spec = oauth2(&tokens.url("/token"), &server.url("/"), ClientAuth::Basic);
    for _ in 0..2 {
        let request = CheckRequest { always: true, ..CheckRequest::new(team(0), &spec) };
        let seen = run(&net, &request, LONG_TIMEOUT).await.unwrap();
        assert!(seen.up, "{seen:?}");
        let evidence = format!("{:?}", seen.evidence);
        assert!(!evidence.contains("sentinel") && !evidence.contains("s3ntinel"), "{evidence}");
    }
    assert_eq!(tokens.connection_count(), 1, "the second check has the token");
    let sent = &tokens.requests()[0];
    assert!(sent.contains("grant_type=client_credentials&scope=read"), "{sent}");
    let pair = data_encoding::BASE64.encode(b"wake+ful:s3ntinel%2F%2B");
    assert!(sent.contains(&format!("Basic {pair}")), "{sent}");
    let other_team = CheckRequest::new(team(1), &spec);
    assert!(run(&net, &other_team, LONG_TIMEOUT).await.unwrap().up);
    assert_eq!(tokens.connection_count(), 2, "a team has its own tokens");

    let refusing =
        TestServer::answering("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n").await;
    let spec = oauth2(&tokens.url("/token"), &refusing.url("/"), ClientAuth::Post);
    let seen = check_with(&net, &spec, LONG_TIMEOUT).await.unwrap();
    assert_eq!(seen.reason, Some(Reason::HttpStatus));
    assert_eq!((tokens.connection_count(), refusing.connection_count()), (4, 2));
    let sent = &tokens.requests()[3];
    assert!(sent.contains("client_id=wake+ful&client_secret=s3ntinel%2F%2B"), "{sent}");
}

#[tokio::test]
async fn a_token_endpoint_that_fails_is_down() {
    let target = TestServer::answering(page("ok")).await;
    let huge = format!(r#"{{"access_token":"{}"}}"#, "x".repeat(200_000));
    for (answer, message) in [
        (
            b"HTTP/1.1 400 Bad\r\nContent-Length: 26\r\n\r\n{\"error\":\"invalid_client\"} "
                .to_vec(),
            "no token: status 400 (invalid_client)",
        ),
        (page("<html>"), "no token: the response has none"),
        (page(r#"{"access_token":"a b"}"#), "no token: the one received cannot be sent"),
        (page(&huge), "no token: the response has none"),
        (b"garbage\r\n\r\n".to_vec(), "no token: the response is not valid HTTP"),
    ] {
        let tokens = TestServer::answering(answer).await;
        let spec = oauth2(&tokens.url("/"), &target.url("/"), ClientAuth::Basic);
        let seen = check_with(&net(), &spec, LONG_TIMEOUT).await.unwrap();
        assert_eq!((seen.reason, seen.message.as_str()), (Some(Reason::Auth), message));
    }
    let silent = TestServer::new(async |stream| {
        tokio::time::sleep(Duration::from_secs(20)).await;
        drop(stream);
        Ok(())
    })
    .await;
    let spec = oauth2(&silent.url("/"), &target.url("/"), ClientAuth::Basic);
    let seen = check_with(&net(), &spec, SHORT_TIMEOUT).await.unwrap();
    assert_eq!(seen.reason, Some(Reason::Auth), "{seen:?}");
    assert_eq!(target.connection_count(), 0, "no request without a token");
}

/// Opens the tunnel that a client asks for by CONNECT, and then is only a pipe.
#[expect(clippy::disallowed_methods, reason = "the test's own proxy on loopback")]
async fn serve_connect(mut client: TcpStream) -> std::io::Result<()> {
    let request = read_request(&mut client).await?;
    let to = request.split(' ').nth(1).unwrap_or_default().to_owned();
    if !request.contains("Proxy-Authorization: Basic YW5uOnMzbnRpbmVs\r\n") {
        let refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n";
        return client.write_all(refusal).await;
    }
    match TcpStream::connect(&to).await {
        Ok(mut target) => {
            client.write_all(b"HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n").await?;
            copy_bidirectional(&mut client, &mut target).await.map(drop)
        }
        Err(_) => client.write_all(b"HTTP/1.1 502 Bad Gateway\r\n\r\n").await,
    }
}

#[expect(clippy::disallowed_methods, reason = "the test's own proxy on loopback")]
async fn serve_socks(mut client: TcpStream) -> std::io::Result<()> {
    let mut greeting = [0; 4];
    client.read_exact(&mut greeting).await?;
    client.write_all(&[5, 2]).await?;
    let mut login = [0; 14];
    client.read_exact(&mut login).await?;
    if login[1..] != *b"\x03ann\x08s3ntinel" {
        return client.write_all(&[1, 1]).await;
    }
    client.write_all(&[1, 0]).await?;
    let mut request = [0; 10];
    client.read_exact(&mut request).await?;
    let port = u16::from_be_bytes([request[8], request[9]]);
    let ip = std::net::Ipv4Addr::new(request[4], request[5], request[6], request[7]);
    match TcpStream::connect((ip, port)).await {
        Ok(mut target) => {
            client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
            copy_bidirectional(&mut client, &mut target).await.map(drop)
        }
        Err(_) => client.write_all(&[5, 5, 0, 1, 0, 0, 0, 0, 0, 0]).await,
    }
}

fn through(url: &str, proxy: &str) -> Spec {
    let proxy = Some(Proxy::parse(proxy).unwrap());
    with_options(http(url), RequestOptions { proxy, ..RequestOptions::default() })
}

#[tokio::test]
async fn a_target_is_reached_through_a_proxy() {
    let target = TestServer::answering(page("ok")).await;
    let http_proxy = TestServer::new(serve_connect).await;
    let socks = TestServer::new(serve_socks).await;
    for (scheme, proxy) in [("http", &http_proxy), ("socks5", &socks)] {
        let with = |login: &str| format!("{scheme}://{login}@{}", proxy.addr);
        let spec = through(&target.url("/"), &with("ann:s3ntinel"));
        assert_eq!(reason(&spec).await, Ok(None), "{scheme}");
        // Port 1 of loopback is closed.
        let closed = through("http://127.0.0.1:1/", &with("ann:s3ntinel"));
        let seen = check_with(&net(), &closed, LONG_TIMEOUT).await.unwrap();
        assert_eq!(seen.reason, Some(Reason::Proxy), "{scheme}: {seen:?}");
        let shown = format!("{:?}", seen.evidence);
        assert!(shown.contains(&proxy.addr.to_string()) && !shown.contains("s3ntinel"), "{shown}");
        let wrong = through(&target.url("/"), &with("ann:0therpwd"));
        assert_eq!(reason(&wrong).await, Err(FaultKind::Config), "{scheme}");
    }
    assert_eq!(target.connection_count(), 2);
}

/// What everybody in the team sees does not repeat the login, whatever the proxy says.
#[tokio::test]
async fn a_proxy_that_repeats_the_login_is_not_quoted() {
    let proxy = TestServer::new(async |mut client| {
        let request = read_request(&mut client).await?;
        let login = request.split("Basic ").nth(1).and_then(|rest| rest.lines().next());
        let login = login.unwrap_or_default();
        let answer = format!("HTTP/1.1 502 ann:s3ntinel {login} s3ntinel\r\n\r\n");
        client.write_all(answer.as_bytes()).await
    })
    .await;
    let spec = through("http://127.0.0.1:1/", &format!("http://ann:s3ntinel@{}", proxy.addr));
    let seen = check_with(&net(), &spec, LONG_TIMEOUT).await.unwrap();
    assert_eq!(seen.reason, Some(Reason::Proxy));
    let shown = format!("{seen:?}");
    assert!(!shown.contains("YW5uOnMzbnRpbmVs"), "{shown}");
    assert!(seen.message.ends_with("502 [redacted] [redacted] [redacted]"), "{}", seen.message);
}

#[tokio::test]
async fn the_proxy_of_a_node_is_used_by_every_check_that_connects() {
    let target = TestServer::answering(page("ok")).await;
    let proxy = TestServer::new(serve_connect).await;
    let registry = TestServer::replying(|_| registration("2027-12-25T00:00:00Z", "active")).await;
    let proxy_url = format!("http://ann:s3ntinel@{}", proxy.addr);
    let with_proxy = |net: Net| net.with_proxy(Some(Proxy::parse(&proxy_url).unwrap()));
    let net = with_proxy(net());
    let domain = DomainSpec {
        server: Some(HttpUrl::parse(&registry.url("/rdap")).unwrap()),
        ..DomainSpec::of(Hostname::parse("a.test").unwrap())
    };
    let specs = [
        Spec::Http(http(target.url("/"))),
        connecting("127.0.0.1", target.addr.port(), ConnectOptions::default()),
        Spec::Domain(domain),
    ];
    for (count, spec) in specs.iter().enumerate() {
        let seen = check_with(&net, spec, LONG_TIMEOUT).await.unwrap();
        assert!(seen.up, "{seen:?}");
        assert_eq!(proxy.connection_count(), count + 1, "{spec:?}");
    }
    // A monitor's own proxy comes first.
    let own = through(&target.url("/"), "socks5://127.0.0.1:1");
    let fault = check_with(&net, &own, LONG_TIMEOUT).await.unwrap_err();
    assert!(fault.message.contains("127.0.0.1:1"), "{fault:?}");
    // The proxy may be at a private address; a target may not.
    let public = with_proxy(net_with(Policy::Public));
    let fault = check_with(&public, &specs[0], LONG_TIMEOUT).await.unwrap_err();
    assert!(fault.message.contains("network policy"), "{fault:?}");
    assert_eq!(proxy.connection_count(), specs.len());
}

#[tokio::test]
async fn a_proxy_that_misbehaves_says_nothing_about_the_target() {
    let target = TestServer::answering(page("ok")).await;
    let endless = || "X: y\r\n".repeat(20_000);
    for (answer, kind) in [
        (Vec::new(), FaultKind::Network),
        (b"SSH-2.0-x\r\n\r\n".to_vec(), FaultKind::Config),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n".to_vec(), FaultKind::Config),
        (format!("HTTP/1.1 200 OK\r\n{}", endless()).into_bytes(), FaultKind::Config),
    ] {
        let proxy = TestServer::new(move |mut stream| {
            let answer = answer.clone();
            async move {
                let mut bytes = [0; 4];
                stream.read_exact(&mut bytes).await?;
                stream.write_all(&answer).await?;
                stream.shutdown().await?;
                stream.read_to_end(&mut Vec::new()).await.map(drop)
            }
        })
        .await;
        for scheme in ["http", "socks5"] {
            let spec = through(&target.url("/"), &format!("{scheme}://a:b@{}", proxy.addr));
            let fault = check_with(&net(), &spec, LONG_TIMEOUT).await.unwrap_err();
            let expected = [kind, FaultKind::Config, FaultKind::Network];
            assert!(expected.contains(&fault.kind), "{scheme}: {fault:?}");
        }
    }
    let silent = TestServer::new(async |stream| {
        tokio::time::sleep(Duration::from_secs(20)).await;
        drop(stream);
        Ok(())
    })
    .await;
    for proxy in [format!("http://{}", silent.addr), "socks5://127.0.0.1:1".to_owned()] {
        let spec = through(&target.url("/"), &proxy);
        let fault = check_with(&net(), &spec, SHORT_TIMEOUT).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Network, "{fault:?}");
    }
    assert_eq!(target.connection_count(), 0);
}

#[tokio::test]
async fn a_monitor_may_have_a_resolver_and_another_address() {
    let server = TestServer::answering(page("ok")).await;
    let port = server.addr.port();
    let names = flipping(&["127.0.0.1"]).await;
    let resolver = |text: &str| Some(Resolver::parse(text).unwrap());
    let own = ConnectOptions {
        resolver: resolver(&names.addr.to_string()),
        ip_family: IpFamily::V4,
        connect_to: None,
    };
    let spec = connecting("only.here.example", port, own);
    let request = CheckRequest { always: true, ..CheckRequest::new(team(0), &spec) };
    let seen = run(&net(), &request, LONG_TIMEOUT).await.unwrap();
    let resolved = seen.evidence.unwrap().resolved.unwrap();
    assert_eq!((resolved.by, resolved.ttl), (Some(names.addr.to_string()), Some(0)));

    let dead = ConnectOptions { resolver: resolver("127.0.0.1:1"), ..ConnectOptions::default() };
    let spec = connecting("only.here.example", port, dead);
    assert_eq!(reason(&spec).await, Err(FaultKind::Network));

    let elsewhere = ConnectOptions {
        connect_to: Some(Hostname::parse("127.0.0.1").unwrap()),
        ..ConnectOptions::default()
    };
    let url = format!("http://unknown.invalid:{port}/");
    let spec = Spec::Http(HttpSpec { connect: elsewhere.boxed(), ..http(&url) });
    assert_eq!(reason(&spec).await, Ok(None));
    let sent = server.requests().pop().unwrap();
    assert!(sent.contains(&format!("host: unknown.invalid:{port}\r\n")), "{sent}");

    // The server listens on IPv4 only.
    for (family, is_up) in [(IpFamily::V4, true), (IpFamily::V6, false), (IpFamily::Both, true)] {
        let options = ConnectOptions { ip_family: family, ..ConnectOptions::default() };
        let spec = connecting("localhost", port, options);
        let seen = check_with(&net(), &spec, LONG_TIMEOUT).await.unwrap();
        assert_eq!(seen.up, is_up, "{family}: {seen:?}");
        let warnings: Vec<Reason> = seen.warnings.iter().map(|one| one.reason).collect();
        let partial = if family == IpFamily::Both { vec![Reason::PartialFamily] } else { vec![] };
        assert_eq!(warnings, partial, "{family}");
    }
}

#[tokio::test]
async fn another_version_than_the_required_one_is_down() {
    let server = TestServer::answering(page("ok")).await;
    let version = |version| {
        let options = RequestOptions { version, ..RequestOptions::default() };
        with_options(http(server.url("/")), options)
    };
    assert_eq!(reason(&version(HttpVersion::Http11)).await, Ok(None));
    assert_eq!(reason(&version(HttpVersion::Http2)).await, Ok(Some(Reason::HttpVersion)));
    let old = TestServer::answering("HTTP/1.0 200 OK\r\n\r\n").await;
    let options = RequestOptions { version: HttpVersion::Http11, ..RequestOptions::default() };
    let spec = with_options(http(old.url("/")), options);
    assert_eq!(reason(&spec).await, Ok(Some(Reason::HttpVersion)));
}

/// An authority with a certificate for 127.0.0.1 and one for a client, all as PEM.
struct Certificates {
    ca: String,
    root: CertificateDer<'static>,
    server: (CertificateDer<'static>, Vec<u8>),
    client: (String, String),
}

fn certificates(authority: &str) -> Certificates {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, authority);
    let key = KeyPair::generate().unwrap();
    let root = params.self_signed(&key).unwrap();
    let issuer = Issuer::from_params(&params, &key);
    let leaf = |name: &str, usage| {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &issuer).unwrap(), key)
    };
    let (server, server_key) = leaf("127.0.0.1", ExtendedKeyUsagePurpose::ServerAuth);
    let (client, client_key) = leaf("client.example", ExtendedKeyUsagePurpose::ClientAuth);
    Certificates {
        ca: root.pem(),
        root: root.der().clone(),
        server: (server.der().clone(), server_key.serialize_der()),
        client: (client.pem(), client_key.serialize_pem()),
    }
}

impl Certificates {
    /// A server that requires a client certificate of this authority.
    fn acceptor(&self) -> TlsAcceptor {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
                .build()
                .unwrap();
        let (chain, key) = self.server.clone();
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![chain], PrivateKeyDer::try_from(key).unwrap())
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}

#[tokio::test]
async fn a_certificate_is_presented_and_an_authority_trusted() {
    let own = certificates("Own Authority");
    let acceptor = own.acceptor();
    let server = TestServer::new(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let mut tls = match acceptor.accept(stream).into_fallible().await {
                Ok(tls) => tls,
                // Not reset, so that the client can read why.
                Err((_, mut stream)) => {
                    stream.shutdown().await?;
                    return stream.read_to_end(&mut Vec::new()).await.map(drop);
                }
            };
            read_request(&mut tls).await?;
            tls.write_all(&page("ok")).await?;
            tls.shutdown().await
        }
    })
    .await;
    let (chain, key) = &own.client;
    let certificate = read_client_certificate(chain, &Secret::new(key.as_str())).unwrap();
    assert_eq!(certificate.fingerprint.len(), 64);
    let stranger = certificates("Other Authority").client;
    let other = read_client_certificate(&stranger.0, &Secret::new(stranger.1.as_str())).unwrap();
    let mismatch = read_client_certificate(chain, &Secret::new(stranger.1.as_str())).unwrap_err();
    assert_eq!(
        (mismatch.0, mismatch.1.to_string().as_str()),
        ("client_key", "does not match the certificate")
    );
    for (text, key, field) in [
        ("", "", "client_certificate"),
        ("garbage", "", "client_certificate"),
        (chain.as_str(), "", "client_key"),
        (chain.as_str(), "garbage", "client_key"),
    ] {
        assert_eq!(read_client_certificate(text, &Secret::new(key)).unwrap_err().0, field);
    }
    let url = format!("https://{}/", server.addr);
    let options = |ca: &str, certificate| RequestOptions {
        ca: ca.to_owned(),
        client_certificate: certificate,
        ..RequestOptions::default()
    };
    for (ca, shown, expected) in [
        (own.ca.as_str(), Some(certificate.clone()), None),
        (own.ca.as_str(), None, Some(Reason::TlsClientCertificate)),
        (own.ca.as_str(), Some(other.clone()), Some(Reason::TlsClientCertificate)),
        ("", Some(certificate.clone()), Some(Reason::TlsUntrusted)),
    ] {
        let spec = with_options(http(&url), options(ca, shown));
        assert_eq!(reason(&spec).await, Ok(expected));
    }
    // The same for the type tls, which says nothing after the handshake.
    let host = Hostname::parse("127.0.0.1").unwrap();
    let tls = TlsSpec { ignore_tls_error: true, ..TlsSpec::of(host, server.addr.port()) };
    for (shown, expected) in [
        (Some(certificate), None),
        (None, Some(Reason::TlsClientCertificate)),
        (Some(other), Some(Reason::TlsClientCertificate)),
    ] {
        let client_certificate = shown.map(Box::new);
        let spec = Spec::Tls(TlsSpec { client_certificate, ..tls.clone() });
        assert_eq!(reason(&spec).await, Ok(expected));
    }
}

/// A server that says this before the handshake, line by line, each after a line of the client.
async fn mail_server(own: &Certificates, lines: &'static [&'static str]) -> TestServer {
    let (chain, key) = own.server.clone();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], PrivateKeyDer::try_from(key).unwrap())
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    TestServer::new(move |mut stream| {
        let acceptor = acceptor.clone();
        async move {
            for (place, line) in lines.iter().enumerate() {
                if place > 0 {
                    let mut bytes = [0; 256];
                    if stream.read(&mut bytes).await? == 0 {
                        return Ok(());
                    }
                }
                stream.write_all(line.as_bytes()).await?;
            }
            let mut tls = acceptor.accept(stream).await?;
            tls.read_to_end(&mut Vec::new()).await.map(drop)
        }
    })
    .await
}

#[tokio::test]
async fn tls_begins_after_starttls() {
    let own = certificates("Own Authority");
    let check = async |lines: &'static [&'static str], protocol: Starttls| {
        let server = mail_server(&own, lines).await;
        let host = Hostname::parse("127.0.0.1").unwrap();
        let spec = Spec::Tls(TlsSpec {
            starttls: protocol,
            ignore_tls_error: true,
            ..TlsSpec::of(host, server.addr.port())
        });
        let seen = check_with(&net(), &spec, Duration::from_secs(2)).await.unwrap();
        (seen.reason, seen.certificate.is_some())
    };
    let smtp: &[&str] = &["220 a\r\n", "250-a\r\n250 STARTTLS\r\n", "220 go\r\n"];
    assert_eq!(check(smtp, Starttls::Smtp).await, (None, true));
    assert_eq!(check(&["* OK\r\n", "* X\r\na1 OK\r\n"], Starttls::Imap).await, (None, true));
    assert_eq!(check(&["+OK\r\n", "+OK\r\n"], Starttls::Pop3).await, (None, true));
    assert_eq!(check(&["", "S"], Starttls::Postgresql).await, (None, true));
    let ldap =
        "\u{30}\u{0c}\u{02}\u{01}\u{01}\u{78}\u{07}\u{0a}\u{01}\u{00}\u{04}\u{00}\u{04}\u{00}";
    let ldap: &'static [&'static str] = Box::leak(vec!["", ldap].into_boxed_slice());
    assert_eq!(check(ldap, Starttls::Ldap).await, (None, true));
    assert_eq!(check(&[], Starttls::None).await, (None, true));
    for (lines, protocol, expected) in [
        (&["220 a\r\n", "250 a\r\n"][..], Starttls::Smtp, Reason::TlsHandshake),
        (
            &["220 a\r\n", "250 STARTTLS\r\n", "220 go\r\nEHLO evil\r\n"],
            Starttls::Smtp,
            Reason::Protocol,
        ),
        (&["SSH-2.0-x\r\n"], Starttls::Smtp, Reason::Protocol),
        (&["* OK\r\n", "a1 NO\r\n"], Starttls::Imap, Reason::TlsHandshake),
        (&["+OK\r\n", "-ERR\r\n"], Starttls::Pop3, Reason::TlsHandshake),
        (&["", "N"], Starttls::Postgresql, Reason::TlsHandshake),
        (&["", "HTTP/1.1 400\r\n"], Starttls::Ldap, Reason::Protocol),
        (&["220 a\r\n"], Starttls::Mysql, Reason::Protocol),
    ] {
        assert_eq!(check(lines, protocol).await, (Some(expected), false), "{protocol} {lines:?}");
    }
    // An endless greeting ends at its limit, and silence at the deadline.
    let endless = TestServer::new(flood).await;
    let host = Hostname::parse("127.0.0.1").unwrap();
    let spec = TlsSpec { starttls: Starttls::Smtp, ..TlsSpec::of(host, endless.addr.port()) };
    assert_eq!(reason(&Spec::Tls(spec)).await, Ok(Some(Reason::Protocol)));
}

async fn flood(mut stream: TcpStream) -> std::io::Result<()> {
    loop {
        stream.write_all(b"220-more and more\r\n").await?;
    }
}

fn registration(expires: &str, status: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"objectClassName":"domain","ldhName":"a.example","status":["{status}"],
            "events":[{{"eventAction":"expiration","eventDate":"{expires}"}}]}}"#
    );
    page(&body)
}

#[tokio::test]
async fn a_registration_is_read_from_its_registry() {
    let not_found = || b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec();
    let registry =
        TestServer::replying(move |request| match request.split(' ').nth(1).unwrap_or_default() {
            "/rdap/domain/a.test" => registration("2026-12-25T00:00:00Z", "active"),
            "/rdap/domain/b.test" => registration("2026-11-01T00:00:00Z", "active"),
            "/rdap/domain/c.test" => registration("2027-12-25T00:00:00Z", "client hold"),
            "/rdap/domain/d.test" => redirect(302, "/rdap/domain/a.test"),
            "/rdap/domain/busy.test" => b"HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n".to_vec(),
            "/rdap/domain/garbage.test" => page("<html>"),
            _ => not_found(),
        })
        .await;
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("dns.json");
    let base = registry.url("/rdap");
    std::fs::write(&list, format!(r#"{{"services":[[["test"],["{base}"]]]}}"#)).unwrap();
    let net = || net().with_rdap_bootstrap(list.to_str().unwrap());
    let spec = |name: &str| Spec::Domain(DomainSpec::of(Hostname::parse(name).unwrap()));
    let shared = net();
    for _ in 0..2 {
        let seen = check_with(&shared, &spec("www.a.test"), LONG_TIMEOUT).await.unwrap();
        assert_eq!((seen.up, seen.message.as_str()), (true, "registered until 2026-12-25"));
        assert!(seen.expiry.is_some());
    }
    assert_eq!(registry.connection_count(), 2, "www, and then the domain; later from the cache");
    for (name, expected) in [
        ("b.test", Ok(Some(Reason::DomainExpired))),
        ("c.test", Ok(Some(Reason::DomainHold))),
        ("d.test", Ok(None)),
        ("unknown.test", Ok(Some(Reason::DomainUnregistered))),
        ("busy.test", Err(FaultKind::Network)),
        ("garbage.test", Err(FaultKind::Network)),
        ("a.nowhere", Err(FaultKind::Config)),
    ] {
        let seen = check_with(&net(), &spec(name), LONG_TIMEOUT).await;
        let seen = seen.map(|seen| seen.reason).map_err(|fault| fault.kind);
        assert_eq!(seen, expected, "{name}");
    }
}

/// Otherwise one wrong answer would be an outage.
#[tokio::test]
async fn a_registry_that_knew_no_name_is_asked_again() {
    let queries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&queries);
    let registry = TestServer::replying(move |_| match counted.fetch_add(1, Ordering::SeqCst) {
        0 => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
        _ => registration("2026-12-25T00:00:00Z", "active"),
    })
    .await;
    let domain = DomainSpec::of(Hostname::parse("a.test").unwrap());
    let server = HttpUrl::parse(&registry.url("/")).unwrap();
    let (net, spec) = (net(), Spec::Domain(DomainSpec { server: Some(server), ..domain }));
    let seen = check_with(&net, &spec, LONG_TIMEOUT).await.unwrap();
    assert_eq!(seen.reason, Some(Reason::DomainUnregistered));
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(10)).await;
    tokio::time::resume();
    let seen = check_with(&net, &spec, LONG_TIMEOUT).await.unwrap();
    assert!(seen.up, "{}", seen.message);
}

#[tokio::test]
async fn the_many_domains_of_a_team_do_not_delay_that_of_another() {
    let registry = TestServer::replying(|_| registration("2026-12-25T00:00:00Z", "active")).await;
    let server = HttpUrl::parse(&registry.url("/rdap")).unwrap();
    let spec = |name: &str| {
        let domain = DomainSpec::of(Hostname::parse(name).unwrap());
        Spec::Domain(DomainSpec { server: Some(server.clone()), ..domain })
    };
    let net = net();
    let crowd: Vec<Spec> = (0..20).map(|number| spec(&format!("many-{number}.test"))).collect();
    let attack = join_all(crowd.iter().map(|spec| check_for(&net, team(1), spec, LONG_TIMEOUT)));
    let single = spec("single.test");
    let seen = tokio::select! {
        biased;
        _ = attack => panic!("the other team ends first"),
        seen = check_for(&net, team(2), &single, LONG_TIMEOUT) => seen.unwrap(),
    };
    assert!(seen.up, "{seen:?}");
    assert!(
        seen.load_time.unwrap() < Duration::from_secs(1),
        "it has waited for two turns: {seen:?}"
    );
    // Those of the other team that were before it in the queue, and its own.
    assert!(registry.connection_count() <= 4, "{:?}", registry.requests());
}
