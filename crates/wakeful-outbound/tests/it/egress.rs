//! The guard from outside: every spelling of a local address with every
//! protocol, in a network namespace where these addresses respond and record
//! connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::UdpSocket;
use tokio::task::JoinSet;
use wakeful_core::id::EventId;
use wakeful_core::monitors::spec::{
    Authentication, ClientAuth, ConnectOptions, DnsSpec, DomainSpec, Hostname, HttpSpec, HttpUrl,
    Kind, Oauth2, PingSpec, Proxy, RecordType, RequestOptions, Resolver, Spec, TcpSpec, TlsSpec,
};
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::notifications::notifier::service::Field;
use wakeful_core::notifications::notifier::{self, ServiceSpec};
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::observation::FaultKind;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use wakeful_outbound::net::error::ProbeError;
use wakeful_outbound::net::guard::Policy;
use wakeful_outbound::net::http::{Request, fetch};
use wakeful_outbound::net::tls::Trust;
use wakeful_outbound::net::{Deadline, Net};
use wakeful_outbound::notify::{Message, call};
use wakeful_testkit::fakes::FakeService;

use crate::dns::{flipping_at, net_by};
use crate::servers::{
    LONG_TIMEOUT, TestServer, check_with, http, is_root, page, redirect, run_inside,
};

/// Local addresses, in every spelling a user can enter.
const SPELLINGS: [&str; 27] = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0",
    "0.0.0.0",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:0:0:0:0:80ff:fffe]",
    "localhost",
    "LOCALHOST.",
    "a.localhost",
    "10.0.0.5",
    "169.254.169.254",
    "[::ffff:a9fe:a9fe]",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "metadata.google.internal",
    "printer.local",
    // The test's name server resolves it to a local address.
    "home.example",
];

#[test]
fn in_public_mode_no_spelling_reaches_a_local_address_by_any_protocol() {
    if !is_root() {
        // Without a network namespace the test would have to leave the machine.
        return;
    }
    let addrs = ["93.184.216.34", "169.254.169.254", "10.0.0.5"]
        .map(|ip| format!(" && ip addr add {ip}/32 dev lo"));
    let setup = format!("ip link set lo up{}", addrs.concat());
    run_inside(&["unshare", "--net", "sh"], &setup, "egress::inside_a_namespace");
}

#[tokio::test]
#[ignore = "needs a network namespace: started by the test above"]
async fn inside_a_namespace() {
    let canaries = Canaries::new().await;
    let resolver = flipping_at("127.0.0.1:5353", &["127.0.0.1"]).await;
    let net = net_by(Policy::Public, resolver.addr);

    let public = TestServer::at("93.184.216.34:80", async |mut stream| {
        let request = crate::servers::read_request(&mut stream).await?;
        let to = request.split(' ').nth(1).and_then(|path| path.strip_prefix("/to/"));
        let answer =
            to.map_or_else(|| page("public"), |to| redirect(302, &format!("http://{to}/")));
        tokio::io::AsyncWriteExt::write_all(&mut stream, &answer).await
    })
    .await;
    let observation =
        check_with(&net, &Spec::Http(http("http://93.184.216.34/")), LONG_TIMEOUT).await.unwrap();
    assert!(
        observation.up,
        "the namespace must work for a block to be meaningful: {observation:?}"
    );

    for spelling in SPELLINGS {
        for spec in sinks(spelling) {
            let Err(fault) = check_with(&net, &spec, LONG_TIMEOUT).await else {
                panic!("{spelling} was checked: {spec:?}")
            };
            assert_eq!(fault.kind, FaultKind::Egress, "{spelling}: {fault:?}");
        }
        if let Ok(url) = format!("http://{spelling}/").parse() {
            assert_blocked(deliver(&net, url).await, spelling);
        }
        send_to_services(&net, spelling).await;
        ask_registries(&net, Policy::Public, spelling, FaultKind::Egress).await;
        // As for a mail server.
        let connected = net.connect(spelling, 80, Deadline::within(LONG_TIMEOUT)).await;
        assert_blocked(connected.map(drop), spelling);
    }
    // A registry can redirect, too; it is queried only once a second.
    let server = HttpUrl::parse("http://93.184.216.34/to/127.0.0.1/").ok();
    let hostname = Hostname::parse("one.example").unwrap();
    let domain = Spec::Domain(DomainSpec { server, ..DomainSpec::of(hostname) });
    let Err(fault) = check_with(&net, &domain, LONG_TIMEOUT).await else { panic!("it was asked") };
    assert_eq!(fault.kind, FaultKind::Egress, "{fault:?}");
    assert!(public.connection_count() > 20, "the redirects must be followed up to the guard");

    let flips = flipping_at("127.0.0.1:5454", &["93.184.216.34", "127.0.0.1"]).await;
    let net = net_by(Policy::Public, flips.addr);
    for expected_up in [true, false, true, false] {
        let observation =
            check_with(&net, &Spec::Http(http("http://flip.example/")), LONG_TIMEOUT).await;
        assert_eq!(observation.is_ok(), expected_up, "{observation:?}");
    }
    assert_eq!(canaries.connection_count(), 0);

    // Verifies that the canaries do record connections.
    let private = net_by(Policy::Private, resolver.addr);
    check_with(&private, &Spec::Http(http("http://10.0.0.5/")), LONG_TIMEOUT).await.unwrap();
    assert_eq!(canaries.connection_count(), 1);
    ask_registries(&private, Policy::Private, "10.0.0.5", FaultKind::Network).await;
    assert_eq!(canaries.connection_count(), 4);
}

fn assert_blocked(sent: Result<(), ProbeError>, spelling: &str) {
    match sent {
        Err(ProbeError::Fault(fault)) if fault.kind == FaultKind::Egress => {}
        other => panic!("{spelling}: {other:?}"),
    }
}

/// The checks that can have this spelling as their target.
fn sinks(spelling: &str) -> Vec<Spec> {
    let direct = Kind::ALL.iter().filter_map(|kind| aimed_at(*kind, spelling));
    let redirected = Spec::Http(http(format!("http://93.184.216.34/to/{spelling}")));
    direct.chain([redirected]).chain(detours(spelling)).collect()
}

/// Checks of a public target that are to go through this spelling, or to ask it for something.
fn detours(spelling: &str) -> Vec<Spec> {
    let public = || http("http://93.184.216.34/");
    let with_options =
        |options: RequestOptions| Spec::Http(HttpSpec { options: options.boxed(), ..public() });
    let through = |connect: ConnectOptions| {
        Spec::Http(HttpSpec { connect: connect.boxed(), ..http("http://one.example/") })
    };
    let mut specs = Vec::new();
    for scheme in ["http", "socks5"] {
        let proxy = Proxy::parse(&format!("{scheme}://{spelling}:80")).ok();
        let defaults = RequestOptions::default;
        specs.extend(
            proxy.map(|proxy| with_options(RequestOptions { proxy: Some(proxy), ..defaults() })),
        );
    }
    if let Ok(resolver) = Resolver::parse(spelling) {
        specs.push(through(ConnectOptions {
            resolver: Some(resolver),
            ..ConnectOptions::default()
        }));
    }
    if let Ok(host) = Hostname::parse(spelling) {
        specs.push(through(ConnectOptions { connect_to: Some(host), ..ConnectOptions::default() }));
    }
    if let Ok(token_url) = HttpUrl::parse(&format!("http://{spelling}/token")) {
        let oauth2 = Oauth2 {
            token_url,
            client_id: "a".to_owned(),
            client_secret: Secret::new("b"),
            scope: String::new(),
            audience: String::new(),
            client_auth: ClientAuth::Basic,
        };
        let options = RequestOptions { oauth2: Some(oauth2), ..RequestOptions::default() };
        let authentication = Authentication::parse("oauth2").unwrap();
        specs.push(Spec::Http(HttpSpec { authentication, options: options.boxed(), ..public() }));
    }
    // The proxy may be used, but not to reach this.
    if let Ok(url) = HttpUrl::parse(&format!("http://{spelling}/")) {
        let proxy = Proxy::parse("http://93.184.216.34:80").ok();
        let options = RequestOptions { proxy, ..RequestOptions::default() };
        specs.push(Spec::Http(HttpSpec { options: options.boxed(), ..HttpSpec::new(url) }));
    }
    specs
}

/// A check of this type; `None` if its target cannot be spelled like this.
fn aimed_at(kind: Kind, spelling: &str) -> Option<Spec> {
    let hostname = Hostname::parse(spelling).ok();
    let url = HttpUrl::parse(&format!("http://{spelling}/")).ok();
    match kind {
        // They connect to nothing.
        Kind::Api | Kind::Group => None,
        Kind::Dns => Some(Spec::Dns(DnsSpec {
            hostname: Hostname::parse("one.example").unwrap(),
            port: None,
            resolver_server: Resolver::parse(spelling).ok()?,
            record_type: RecordType::A,
        })),
        Kind::Domain => url.map(|url| {
            let hostname = Hostname::parse("one.example").unwrap();
            Spec::Domain(DomainSpec { server: Some(url), ..DomainSpec::of(hostname) })
        }),
        Kind::Http => url.map(|url| Spec::Http(HttpSpec::new(url))),
        Kind::HttpKeyword => url.map(|url| Spec::HttpKeyword(HttpSpec::new(url))),
        Kind::Ping => hostname.map(|hostname| Spec::Ping(PingSpec::of(hostname))),
        Kind::Tcp => hostname.map(|hostname| Spec::Tcp(TcpSpec::of(hostname, 80))),
        Kind::Tls => hostname.map(|hostname| Spec::Tls(TlsSpec::of(hostname, 80))),
    }
}

/// A registry that redirects here, and a list of registries that is here or names one that is.
/// Each with a net of its own: there is one list, and a registry is not asked twice a second.
async fn ask_registries(net: &Net, policy: Policy, spelling: &str, expected: FaultKind) {
    let ask = async |spec: DomainSpec, list: &str| {
        let net = net.with_policy(policy.clone()).with_rdap_bootstrap(list);
        check_with(&net, &Spec::Domain(spec), LONG_TIMEOUT).await.unwrap_err().kind
    };
    let domain = || DomainSpec::of(Hostname::parse("one.example").unwrap());
    let redirecting = HttpUrl::parse(&format!("http://93.184.216.34/to/{spelling}")).ok();
    let redirected = DomainSpec { server: redirecting, ..domain() };
    assert_eq!(ask(redirected, "").await, expected, "{spelling}");

    let url = format!("http://{spelling}/");
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("dns.json");
    std::fs::write(&list, format!(r#"{{"services":[[["example"],["{url}"]]]}}"#)).unwrap();
    // Some spellings are not even a URL.
    let named = if HttpUrl::parse(&url).is_ok() { expected } else { FaultKind::Config };
    assert_eq!(ask(domain(), list.to_str().unwrap()).await, named, "{spelling}");
    // The list of this version is used instead, which does not have this zone.
    assert_eq!(ask(domain(), &url).await, FaultKind::Config, "{spelling}");
}

/// As for a webhook.
async fn deliver(net: &Net, url: url::Url) -> Result<(), ProbeError> {
    let request = Request {
        method: http::Method::POST,
        url,
        headers: http::HeaderMap::new(),
        body: "{}".into(),
        trust: Trust::Required,
    };
    fetch(net, &request, 1_024, Deadline::within(LONG_TIMEOUT)).await.map(drop)
}

/// Every address that can be set for a known service; the canaries count connections.
async fn send_to_services(net: &Net, spelling: &str) {
    let test = Event::example(event::DOWN, EventId::new(Millis(1), [1; 10]), "x", Millis(1));
    let test = test.unwrap();
    for kind in notifier::Kind::ALL.iter().filter(|kind| kind.service().is_some()) {
        let settings = FakeService::settings_for(*kind, &format!("http://{spelling}"));
        let sent = |field: &Field| match &settings[field.name()] {
            serde_json::Value::String(text) => Some(text.clone()),
            _ => None,
        };
        // Some spellings are not even a URL.
        let Ok(spec) = ServiceSpec::changed(kind.service().unwrap(), sent, None) else { continue };
        let allowed = spec.urls().map(|(_, url)| net.guard().validate_url(&url));
        // A name is resolved when it is connected to.
        assert!(
            allowed.last().unwrap().is_err() || spelling == "home.example",
            "{kind}: {spelling}"
        );
        let message = Message {
            event: &test,
            link: "https://w.example/",
            thread: None,
            left: None,
            browsers: None,
        };
        let attempt = call::deliver(net, &spec, message, Millis(1)).await;
        assert!(matches!(attempt.outcome, Outcome::Failed(_)), "{kind}: {spelling}");
    }
}

/// Listeners on local addresses that count connections.
struct Canaries {
    tcp: Vec<TestServer>,
    datagrams: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Canaries {
    async fn new() -> Self {
        let mut tcp = Vec::new();
        for addr in ["127.0.0.1:80", "10.0.0.5:80", "169.254.169.254:80", "[::1]:80"] {
            tcp.push(TestServer::at(addr, async |_| Ok(())).await);
        }
        let datagrams = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        for addr in ["127.0.0.1:53", "10.0.0.5:53", "169.254.169.254:53", "[::1]:53"] {
            let socket = UdpSocket::bind(addr).await.unwrap();
            let counter = datagrams.clone();
            tasks.spawn(async move {
                while socket.recv(&mut [0; 512]).await.is_ok() {
                    counter.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        Self { tcp, datagrams, _tasks: tasks }
    }

    fn connection_count(&self) -> usize {
        self.tcp.iter().map(TestServer::connection_count).sum::<usize>()
            + self.datagrams.load(Ordering::SeqCst)
    }
}
