//! The guard from outside: every spelling of home against every sink, in a
//! network namespace where home answers and would be seen to be visited.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::UdpSocket;
use tokio::task::JoinSet;
use wakeful_core::monitor::spec::{
    DnsSpec, Hostname, HttpUrl, PingSpec, RecordType, Resolver, Spec, TcpSpec,
};
use wakeful_core::observation::FaultKind;
use wakeful_outbound::net::guard::Policy;
use wakeful_outbound::net::http::{Request, fetch};
use wakeful_outbound::net::tls::Trust;
use wakeful_outbound::net::trouble::Trouble;
use wakeful_outbound::net::{Deadline, Net};

use crate::dns::{flipping_at, net_by};
use crate::peer::{ENOUGH, Peer, http, is_root, look_by, page, redirect, run_inside};

/// Where home is, as far as a user can spell it.
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
    // Answered with home's address by the name server of the test.
    "home.example",
];

#[test]
fn in_public_no_spelling_reaches_home_by_any_sink() {
    if !is_root() {
        // Without a namespace of its own the test would have to leave the machine.
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

    let public = Peer::at("93.184.216.34:80", async |mut stream| {
        let request = crate::peer::read_request(&mut stream).await?;
        let to = request.split(' ').nth(1).and_then(|path| path.strip_prefix("/to/"));
        let answer =
            to.map_or_else(|| page("public"), |to| redirect(302, &format!("http://{to}/")));
        tokio::io::AsyncWriteExt::write_all(&mut stream, &answer).await
    })
    .await;
    let seen = look_by(&net, &Spec::Http(http("http://93.184.216.34/")), ENOUGH).await.unwrap();
    assert!(seen.up, "the namespace works, so that a block means something: {seen:?}");

    for spelling in SPELLINGS {
        for spec in sinks(spelling) {
            let Err(fault) = look_by(&net, &spec, ENOUGH).await else {
                panic!("{spelling} was looked at: {spec:?}")
            };
            assert_eq!(fault.kind, FaultKind::Egress, "{spelling}: {fault:?}");
        }
        if let Ok(url) = format!("http://{spelling}/").parse() {
            assert_blocked(deliver(&net, url).await, spelling);
        }
        // As a mail server would be.
        let connected = net.connect(spelling, 80, Deadline::within(ENOUGH)).await;
        assert_blocked(connected.map(drop), spelling);
    }
    assert!(public.seen() > 20, "the redirects were followed up to the guard");

    let flips = flipping_at("127.0.0.1:5454", &["93.184.216.34", "127.0.0.1"]).await;
    let net = net_by(Policy::Public, flips.addr);
    for expected_up in [true, false, true, false] {
        let seen = look_by(&net, &Spec::Http(http("http://flip.example/")), ENOUGH).await;
        assert_eq!(seen.is_ok(), expected_up, "{seen:?}");
    }
    assert_eq!(canaries.visits(), 0);

    // The canaries do sing when they are visited.
    let private = net_by(Policy::Private, resolver.addr);
    look_by(&private, &Spec::Http(http("http://10.0.0.5/")), ENOUGH).await.unwrap();
    assert_eq!(canaries.visits(), 1);
}

fn assert_blocked(sent: Result<(), Trouble>, spelling: &str) {
    match sent {
        Err(Trouble::Ours(fault)) if fault.kind == FaultKind::Egress => {}
        other => panic!("{spelling}: {other:?}"),
    }
}

/// The checks that a spelling can be given to.
fn sinks(spelling: &str) -> Vec<Spec> {
    let mut specs = Vec::new();
    if HttpUrl::parse(&format!("http://{spelling}/")).is_ok() {
        specs.push(Spec::Http(http(format!("http://{spelling}/"))));
    }
    let redirected = format!("http://93.184.216.34/to/{spelling}");
    specs.push(Spec::Http(http(redirected)));
    if let Ok(hostname) = Hostname::parse(spelling) {
        specs.push(Spec::Tcp(TcpSpec { hostname: hostname.clone(), port: 80 }));
        specs.push(Spec::Ping(PingSpec::of(hostname)));
    }
    if let Ok(resolver_server) = Resolver::parse(spelling) {
        let hostname = Hostname::parse("one.example").unwrap();
        let record_type = RecordType::A;
        specs.push(Spec::Dns(DnsSpec { hostname, port: None, resolver_server, record_type }));
    }
    specs
}

/// As a webhook would be.
async fn deliver(net: &Net, url: url::Url) -> Result<(), Trouble> {
    let request = Request {
        method: http::Method::POST,
        url,
        headers: http::HeaderMap::new(),
        body: "{}".into(),
        trust: Trust::Required,
    };
    fetch(net, &request, 1_024, Deadline::within(ENOUGH)).await.map(drop)
}

/// Listeners at home that count who comes by.
struct Canaries {
    tcp: Vec<Peer>,
    datagrams: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Canaries {
    async fn new() -> Self {
        let mut tcp = Vec::new();
        for addr in ["127.0.0.1:80", "10.0.0.5:80", "169.254.169.254:80", "[::1]:80"] {
            tcp.push(Peer::at(addr, async |_| Ok(())).await);
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

    fn visits(&self) -> usize {
        self.tcp.iter().map(Peer::seen).sum::<usize>() + self.datagrams.load(Ordering::SeqCst)
    }
}
