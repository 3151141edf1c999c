//! TLS with trusted certificates, and with each of the usual defects.

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use http_body_util::StreamBody;
use hyper::body::{Frame, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;
use wakeful_core::monitors::spec::{HttpSpec, Spec};
use wakeful_core::observation::{ChainCertificate, Contact};
use wakeful_core::reason::Reason;
use wakeful_core::time::Millis;
use wakeful_outbound::checks::CheckRequest;
use wakeful_outbound::net::Net;
use wakeful_outbound::net::guard::{Guard, Policy};
use wakeful_outbound::net::resolve::NameResolver;
use wakeful_outbound::net::tls::Tls;

use crate::assertions::assertions;
use crate::servers::{
    LONG_TIMEOUT, SHORT_TIMEOUT, TestServer, Today, assert_down, assert_up, check_with, http, page,
    read_request, run, team,
};

/// A test authority, and the net that trusts it.
struct Authority {
    key: KeyPair,
    params: CertificateParams,
    net: Net,
}

impl Authority {
    fn new() -> Self {
        Self::called("Test Authority")
    }

    fn called(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let root = params.self_signed(&key).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(root.der().clone()).unwrap();
        let guard = Guard::new(Policy::Private, Vec::new());
        let tls = Tls::with_roots(roots);
        let net = Net::with(guard, NameResolver::from_system(), tls, Arc::new(Today));
        Self { key, params, net }
    }

    /// A certificate for the names, valid until the given day.
    fn issue(&self, names: &[&str], until: (i32, u8, u8)) -> Shown {
        let issuer = Issuer::from_params(&self.params, &self.key);
        Self::issue_by(&issuer, names, until)
    }

    /// The same by an intermediate authority that is valid until `entrusted`.
    fn issue_through(&self, between: &str, entrusted: (i32, u8, u8)) -> Shown {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::CommonName, between);
        params.not_after = date_time_ymd(entrusted.0, entrusted.1, entrusted.2);
        let key = KeyPair::generate().unwrap();
        let root = Issuer::from_params(&self.params, &self.key);
        let sent_along = params.signed_by(&key, &root).unwrap();
        let mut shown = Self::issue_by(&Issuer::from_params(&params, &key), &["127.0.0.1"], FAR);
        shown.chain.push(sent_along.der().clone());
        shown
    }

    /// The certificate of another authority, for 127.0.0.1.
    fn issue_authority(&self) -> Shown {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, "Another Authority");
        let key = KeyPair::generate().unwrap();
        let issuer = Issuer::from_params(&self.params, &self.key);
        let chain = vec![params.signed_by(&key, &issuer).unwrap().der().clone()];
        Shown { chain, key: key.serialize_der() }
    }

    /// Signed with a certificate that is that of a server.
    fn issue_through_server(&self) -> Shown {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, "A Server");
        let key = KeyPair::generate().unwrap();
        let root = Issuer::from_params(&self.params, &self.key);
        let sent_along = params.signed_by(&key, &root).unwrap();
        let mut shown = Self::issue_by(&Issuer::from_params(&params, &key), &["127.0.0.1"], FAR);
        shown.chain.push(sent_along.der().clone());
        shown
    }

    fn issue_by(issuer: &Issuer<'_, &KeyPair>, names: &[&str], until: (i32, u8, u8)) -> Shown {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::CommonName, "the leaf");
        params.not_after = date_time_ymd(until.0, until.1, until.2);
        let key = KeyPair::generate().unwrap();
        let leaf = params.signed_by(&key, issuer).unwrap();
        Shown { chain: vec![leaf.der().clone()], key: key.serialize_der() }
    }
}

struct Shown {
    chain: Vec<CertificateDer<'static>>,
    key: Vec<u8>,
}

impl Shown {
    fn acceptor(self, alpn: &[&str]) -> TlsAcceptor {
        let key = PrivateKeyDer::try_from(self.key).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(self.chain, key)
            .unwrap();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }

    /// A server that presents this certificate and returns one page over
    /// HTTP/1.1.
    async fn serve(self) -> TestServer {
        let acceptor = self.acceptor(&[]);
        TestServer::new(move |tcp| {
            let acceptor = acceptor.clone();
            async move {
                let mut stream = acceptor.accept(tcp).await?;
                read_request(&mut stream).await?;
                stream.write_all(&page("secure")).await?;
                stream.shutdown().await
            }
        })
        .await
    }
}

fn https(server: &TestServer) -> HttpSpec {
    http(format!("https://127.0.0.1:{}/", server.addr.port()))
}

const FAR: (i32, u8, u8) = (2027, 2, 1);

#[tokio::test]
async fn the_certificate_and_the_session_are_judged() {
    let authority = Authority::new();
    let server = authority.issue(&["127.0.0.1", "b.example"], (2026, 11, 20)).serve().await;
    let spec = Spec::Http(https(&server));
    let judged = async |list: serde_json::Value| {
        let list = assertions(list);
        let request = CheckRequest { assertions: &list, ..CheckRequest::new(team(0), &spec) };
        run(&authority.net, &request, LONG_TIMEOUT).await.unwrap()
    };
    let passing = judged(json!([
        {"source": "tls", "property": "version", "comparison": "equals", "target": "1.3"},
        {"source": "tls", "property": "cipher", "comparison": "starts_with", "target": "TLS13_"},
        {"source": "certificate", "property": "days_left", "comparison": "less_than", "target": "5"},
        {"source": "certificate", "property": "chain_days_left", "comparison": "greater_than", "target": "4"},
        {"source": "certificate", "property": "name", "comparison": "equals", "target": "b.example"},
        {"source": "certificate", "property": "key", "comparison": "equals", "target": "ec p256"},
        {"source": "certificate", "property": "fingerprint", "comparison": "matches", "target": "^[0-9a-f]{64}$"},
        {"source": "certificate", "property": "trusted", "comparison": "equals", "target": "true"},
    ]))
    .await;
    assert!(passing.up, "{}", passing.message);
    for (property, comparison, target, reason) in [
        ("days_left", "at_least", "14", Reason::CertificateExpiring),
        ("fingerprint", "equals", "00", Reason::CertificateChanged),
    ] {
        let failing = judged(json!([{"source": "certificate", "property": property,
            "comparison": comparison, "target": target}]))
        .await;
        assert_eq!(failing.reason, Some(reason));
        let evidence = failing.evidence.unwrap();
        assert_eq!(evidence.certificate.unwrap().key, "ec p256");
        assert_eq!(evidence.connection.unwrap().tls.unwrap().version, "1.3");
    }
}

#[tokio::test]
async fn a_trusted_certificate_is_up_and_reported() {
    let authority = Authority::new();
    let server = authority.issue(&["127.0.0.1"], FAR).serve().await;
    let observation =
        check_with(&authority.net, &Spec::Http(https(&server)), LONG_TIMEOUT).await.unwrap();
    assert_up(&observation, "200 OK");
    assert!(observation.phases.tls.is_some());
    let certificate = observation.certificate.unwrap();
    assert!(certificate.trusted);
    assert_eq!(certificate.subject, "CN=the leaf");
    assert_eq!(certificate.issuer, "CN=Test Authority");
    assert_eq!(certificate.names, ["127.0.0.1"]);
    assert_eq!(certificate.not_after, Millis::parse("2027-02-01T00:00:00Z").unwrap());
    assert_eq!(certificate.chain, []);
}

#[tokio::test]
async fn the_chain_is_reported_whether_or_not_it_is_trusted() {
    let authority = Authority::new();
    let server = authority.issue_through("Between", (2027, 3, 1)).serve().await;
    let between = ChainCertificate {
        subject: "CN=Between".to_owned(),
        issuer: "CN=Test Authority".to_owned(),
        not_after: Millis::parse("2027-03-01T00:00:00Z").unwrap(),
    };
    for (net, trusted) in
        [(&authority.net, true), (&Authority::called("Unknown Authority").net, false)]
    {
        let observation = check_with(net, &Spec::Http(https(&server)), LONG_TIMEOUT).await.unwrap();
        assert_eq!(observation.up, trusted, "{observation:?}");
        let certificate = observation.certificate.unwrap();
        assert_eq!((certificate.trusted, certificate.issuer.as_str()), (trusted, "CN=Between"));
        assert_eq!(certificate.chain, std::slice::from_ref(&between));
    }
}

#[tokio::test]
async fn a_chain_with_an_expired_link_is_down_and_reported() {
    let authority = Authority::new();
    let shown = authority.issue_through("Between", (2026, 11, 12));
    shown_bad(&authority, shown, Reason::TlsExpired, "a certificate in the chain has expired")
        .await;
}

type Page = StreamBody<BoxStream<'static, Result<Frame<Bytes>, Infallible>>>;

/// An HTTP/2 server that returns this page, and whether its connection has
/// ended.
async fn serve_http2(
    shown: Shown,
    page: impl Fn(String) -> Page + Send + Sync + 'static,
) -> (TestServer, Arc<Notify>) {
    let acceptor = shown.acceptor(&["h2"]);
    let (page, ended) = (Arc::new(page), Arc::new(Notify::new()));
    let signal = ended.clone();
    let server = TestServer::new(move |tcp| {
        let (acceptor, page, signal) = (acceptor.clone(), page.clone(), signal.clone());
        async move {
            let stream = acceptor.accept(tcp).await?;
            let service = hyper::service::service_fn(move |request: http::Request<Incoming>| {
                let asked = format!("{:?} {}", request.version(), request.uri());
                let page = page(asked);
                async { Ok::<_, Infallible>(http::Response::new(page)) }
            });
            let served = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
            signal.notify_one();
            served.map_err(std::io::Error::other)
        }
    })
    .await;
    (server, ended)
}

fn piece(bytes: impl Into<Bytes>) -> Result<Frame<Bytes>, Infallible> {
    Ok(Frame::data(bytes.into()))
}

#[tokio::test]
async fn http2_is_used_when_negotiated() {
    let authority = Authority::new();
    let shown = authority.issue(&["127.0.0.1"], FAR);
    let (server, ended) =
        serve_http2(shown, |asked| StreamBody::new(stream::iter([piece(asked)]).boxed())).await;
    let url = format!("https://{}/path", server.addr);
    let spec = crate::servers::keyword(&url, &format!("HTTP/2.0 {url}"));
    let observation = check_with(&authority.net, &spec, LONG_TIMEOUT).await.unwrap();
    assert_up(&observation, "200 OK, keyword found");
    // Nothing of the session is left running.
    tokio::time::timeout(LONG_TIMEOUT, ended.notified()).await.unwrap();
}

#[tokio::test]
async fn an_endless_page_over_http2_is_read_to_the_limit_and_a_stalled_one_to_the_deadline() {
    let authority = Authority::new();
    let endless = |_| StreamBody::new(stream::repeat_with(|| piece(vec![b'a'; 16_384])).boxed());
    let (server, ended) = serve_http2(authority.issue(&["127.0.0.1"], FAR), endless).await;
    let observation =
        check_with(&authority.net, &Spec::Http(https(&server)), LONG_TIMEOUT).await.unwrap();
    assert_up(&observation, "200 OK");
    tokio::time::timeout(LONG_TIMEOUT, ended.notified()).await.unwrap();

    let stalled =
        |_| StreamBody::new(stream::iter([piece("one")]).chain(stream::pending()).boxed());
    let (server, ended) = serve_http2(authority.issue(&["127.0.0.1"], FAR), stalled).await;
    let observation =
        check_with(&authority.net, &Spec::Http(https(&server)), SHORT_TIMEOUT).await.unwrap();
    assert_down(&observation, Contact::Answered, "response not complete within 0.4 s");
    tokio::time::timeout(LONG_TIMEOUT, ended.notified()).await.unwrap();
}

#[tokio::test]
async fn without_a_closing_alert_the_length_decides_whether_a_body_is_complete() {
    let authority = Authority::new();
    for (answer, up) in [
        ("HTTP/1.0 200 OK\r\n\r\nall there is", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\ncut", false),
    ] {
        let acceptor = authority.issue(&["127.0.0.1"], FAR).acceptor(&[]);
        let server = TestServer::new(move |tcp| {
            let acceptor = acceptor.clone();
            async move {
                let mut stream = acceptor.accept(tcp).await?;
                read_request(&mut stream).await?;
                stream.write_all(answer.as_bytes()).await?;
                stream.flush().await?;
                stream.into_inner().0.shutdown().await
            }
        })
        .await;
        let observation =
            check_with(&authority.net, &Spec::Http(https(&server)), LONG_TIMEOUT).await.unwrap();
        if up {
            assert_up(&observation, "200 OK");
        } else {
            assert_down(&observation, Contact::Answered, "incomplete response");
        }
    }
}

async fn shown_bad(authority: &Authority, shown: Shown, reason: Reason, message: &str) {
    let server = shown.serve().await;
    let observation =
        check_with(&authority.net, &Spec::Http(https(&server)), LONG_TIMEOUT).await.unwrap();
    assert_down(&observation, Contact::Answered, message);
    assert_eq!(observation.reason, Some(reason));
    assert!(!observation.certificate.unwrap().trusted, "the certificate is reported anyway");

    let ignoring = HttpSpec { ignore_tls_error: true, ..https(&server) };
    let observation =
        check_with(&authority.net, &Spec::Http(ignoring), LONG_TIMEOUT).await.unwrap();
    assert_up(&observation, "200 OK");
    assert!(!observation.certificate.unwrap().trusted);
}

#[tokio::test]
async fn an_expired_certificate_is_down_and_its_age_is_shown() {
    let authority = Authority::new();
    let shown = authority.issue(&["127.0.0.1"], (2026, 11, 12));
    shown_bad(&authority, shown, Reason::TlsExpired, "certificate expired 3 days ago").await;
}

#[tokio::test]
async fn a_certificate_for_another_name_is_down() {
    let authority = Authority::new();
    let shown = authority.issue(&["other.example", "10.0.0.1"], FAR);
    let message = "certificate is not for 127.0.0.1 but for other.example, 10.0.0.1";
    shown_bad(&authority, shown, Reason::TlsName, message).await;
}

#[tokio::test]
async fn a_self_signed_certificate_is_down() {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let chain = vec![params.self_signed(&key).unwrap().der().clone()];
    let shown = Shown { chain, key: key.serialize_der() };
    shown_bad(&Authority::new(), shown, Reason::TlsSelfSigned, "certificate is self-signed").await;
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_down() {
    let shown = Authority::called("Unknown Authority").issue(&["127.0.0.1"], FAR);
    let message = "certificate is not signed by a trusted authority";
    shown_bad(&Authority::new(), shown, Reason::TlsUntrusted, message).await;
}

#[tokio::test]
async fn a_certificate_of_an_authority_is_not_that_of_a_server() {
    let authority = Authority::new();
    let message = "certificate is that of an authority, not of a server";
    shown_bad(&authority, authority.issue_authority(), Reason::TlsUntrusted, message).await;
    let message = "certificate is signed with a certificate that is not that of an authority";
    shown_bad(&authority, authority.issue_through_server(), Reason::TlsUntrusted, message).await;
}

/// A server that sends these bytes in response to the first message.
async fn replies_with(bytes: &'static [u8]) -> TestServer {
    TestServer::new(async |mut stream| {
        let _ = stream.read(&mut [0; 4_096]).await?;
        stream.write_all(bytes).await?;
        stream.read_to_end(&mut Vec::new()).await?;
        Ok(())
    })
    .await
}

async fn message_for(bytes: &'static [u8]) -> String {
    let server = replies_with(bytes).await;
    let spec = Spec::Http(https(&server));
    let observation = check_with(&Authority::new().net, &spec, LONG_TIMEOUT).await.unwrap();
    assert!(!observation.up && observation.contact == Contact::Answered, "{observation:?}");
    observation.message
}

#[tokio::test]
async fn a_server_with_old_tls_is_reported() {
    let old = "the server only supports TLS versions older than 1.2";
    // A protocol_version alert, and a ServerHello of TLS 1.0.
    assert_eq!(message_for(b"\x15\x03\x01\x00\x02\x02\x46").await, old);
    let hello = b"\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x01\
        0123456789abcdef0123456789abcdef\x00\x00\x2f\x00";
    assert_eq!(message_for(hello).await, old);
}

#[tokio::test]
async fn a_server_without_tls_is_reported() {
    let plain = message_for(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    assert_eq!(plain, "the server does not speak TLS on this port");
    assert_eq!(
        message_for(b"\x15\x03\x03\x00\x02\x02\x28").await,
        "no TLS version and cipher in common with the server"
    );
    // The alert internal_error, and one that no standard defines.
    assert_eq!(
        message_for(b"\x15\x03\x03\x00\x02\x02\x50").await,
        "the server refused TLS: internal error"
    );
    assert_eq!(
        message_for(b"\x15\x03\x03\x00\x02\x02\xc8").await,
        "the server refused TLS: unknown alert"
    );
}

#[tokio::test]
async fn a_handshake_that_stalls_ends_at_the_deadline() {
    let server = replies_with(b"").await;
    let spec = Spec::Http(https(&server));
    let observation = check_with(&Authority::new().net, &spec, SHORT_TIMEOUT).await.unwrap();
    assert_down(&observation, Contact::Answered, "TLS handshake not finished within 0.4 s");
}

#[tokio::test]
async fn an_interrupted_handshake_is_down() {
    let server = TestServer::new(async |_| Ok(())).await;
    let observation =
        check_with(&Authority::new().net, &Spec::Http(https(&server)), LONG_TIMEOUT).await.unwrap();
    assert!(
        !observation.up && observation.message.contains("during the TLS handshake"),
        "{observation:?}"
    );
    assert!(observation.contact.proves_network());
}
