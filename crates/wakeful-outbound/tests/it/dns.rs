//! DNS checks against test name servers, honest and not, and the resolver of
//! `Net` with such servers.

use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CAA, CNAME, MX, NS, PTR, SOA, SRV, TXT};
use hickory_proto::rr::{Name, RData, Record};
use serde_json::json;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, UdpSocket};
use tokio::task::JoinSet;
use wakeful_core::monitors::spec::{
    ConnectOptions, DnsSpec, Hostname, IpFamily, RecordType, Resolver, Spec, TcpSpec,
};
use wakeful_core::observation::{Contact, FaultKind};
use wakeful_core::reason::Reason;
use wakeful_outbound::checks::CheckRequest;
use wakeful_outbound::net::Net;
use wakeful_outbound::net::guard::{Guard, Policy};
use wakeful_outbound::net::resolve::NameResolver;
use wakeful_outbound::net::tls::Tls;

use crate::assertions::assertions;
use crate::servers::{
    LONG_TIMEOUT, SHORT_TIMEOUT, TestServer, Today, assert_down, assert_up, check, check_with,
    is_root, net, run, run_inside, team,
};

/// A name server with a function that produces its responses, by UDP and by
/// TCP.
pub(crate) struct NameServer {
    pub(crate) addr: SocketAddr,
    _tasks: JoinSet<()>,
}

/// The transport of the query.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum By {
    Udp,
    Tcp,
}

impl NameServer {
    pub(crate) async fn new(
        say: impl Fn(&Message, By) -> Vec<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        Self::at("127.0.0.1:0", say).await
    }

    pub(crate) async fn at(
        addr: &str,
        say: impl Fn(&Message, By) -> Vec<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        let tcp = TcpListener::bind(addr).await.unwrap();
        let addr = tcp.local_addr().unwrap();
        let udp = UdpSocket::bind(addr).await.unwrap();
        let say = Arc::new(say);
        let by_tcp = say.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut buffer = [0; 512];
            while let Ok((length, from)) = udp.recv_from(&mut buffer).await {
                let question = Message::from_vec(&buffer[..length]).unwrap();
                for datagram in say(&question, By::Udp) {
                    udp.send_to(&datagram, from).await.unwrap();
                }
            }
        });
        tasks.spawn(async move {
            while let Ok((mut stream, _)) = tcp.accept().await {
                let length = stream.read_u16().await.unwrap();
                let mut bytes = vec![0; length.into()];
                stream.read_exact(&mut bytes).await.unwrap();
                for message in by_tcp(&Message::from_vec(&bytes).unwrap(), By::Tcp) {
                    let length = u16::try_from(message.len()).unwrap();
                    stream.write_u16(length).await.unwrap();
                    stream.write_all(&message).await.unwrap();
                }
            }
        });
        Self { addr, _tasks: tasks }
    }

    pub(crate) fn spec(&self, hostname: &str, record_type: &str) -> Spec {
        Spec::Dns(DnsSpec {
            hostname: Hostname::parse(hostname).unwrap(),
            port: None,
            resolver_server: Resolver::parse(&self.addr.to_string()).unwrap(),
            record_type: RecordType::parse(record_type).unwrap(),
        })
    }
}

/// The response to a query with these records.
pub(crate) fn answer(question: &Message, records: impl IntoIterator<Item = RData>) -> Message {
    let mut message = question.clone();
    message.metadata.message_type = MessageType::Response;
    let name = question.queries[0].name.clone();
    message.add_answers(records.into_iter().map(|data| Record::from_rdata(name.clone(), 60, data)));
    message
}

fn wire(message: &Message) -> Vec<Vec<u8>> {
    vec![message.to_vec().unwrap()]
}

fn name(text: &str) -> Name {
    Name::from_ascii(text).unwrap()
}

fn one_of_each(kind: hickory_proto::rr::RecordType) -> RData {
    use hickory_proto::rr::RecordType as Kind;
    match kind {
        Kind::A => RData::A(A::new(93, 184, 216, 34)),
        Kind::AAAA => RData::AAAA(AAAA::new(0x2606, 0, 0, 0, 0, 0, 0, 1)),
        Kind::CAA => RData::CAA(CAA::new_issue(false, Some(name("ca.example.")), Vec::new())),
        Kind::CNAME => RData::CNAME(CNAME(name("alias.example."))),
        Kind::MX => RData::MX(MX::new(10, name("mail.example."))),
        Kind::NS => RData::NS(NS(name("ns1.example."))),
        Kind::PTR => RData::PTR(PTR(name("host.example."))),
        Kind::SOA => {
            RData::SOA(SOA::new(name("ns1.example."), name("root.example."), 7, 1, 2, 3, 4))
        }
        Kind::SRV => RData::SRV(SRV::new(1, 2, 443, name("srv.example."))),
        Kind::TXT => RData::TXT(TXT::new(vec!["v=spf1 -all".to_owned()])),
        other => panic!("unexpected query for {other}"),
    }
}

#[tokio::test]
async fn every_record_type_is_queried_and_reported() {
    let server = NameServer::new(|question, _| {
        wire(&answer(question, [one_of_each(question.queries[0].query_type)]))
    })
    .await;
    for (kind, expected) in [
        ("A", "93.184.216.34"),
        ("AAAA", "2606::1"),
        ("CAA", "ca.example"),
        ("CNAME", "alias.example."),
        ("MX", "10 mail.example."),
        ("NS", "ns1.example."),
        ("PTR", "host.example."),
        ("SOA", "ns1.example. root.example. 7 1 2 3 4"),
        ("SRV", "1 2 443 srv.example."),
        ("TXT", "v=spf1 -all"),
    ] {
        let observation = check(&server.spec("one.example", kind)).await;
        assert!(
            observation.up && observation.message.contains(expected),
            "{kind}: {observation:?}"
        );
    }
}

#[tokio::test]
async fn the_message_lists_all_records() {
    let server = NameServer::new(|question, _| {
        wire(&answer(question, (1..=3).map(|i| RData::A(A::new(10, 0, 0, i)))))
    })
    .await;
    let observation = check(&server.spec("one.example", "A")).await;
    assert_up(&observation, "10.0.0.1, 10.0.0.2, 10.0.0.3");
    assert!(observation.phases.first_byte.is_some());
}

#[tokio::test]
async fn an_address_is_queried_by_its_reverse_name() {
    let server = NameServer::new(|question, _| {
        assert_eq!(question.queries[0].name, name("4.3.2.1.in-addr.arpa."));
        wire(&answer(question, [RData::PTR(PTR(name("host.example.")))]))
    })
    .await;
    assert_up(&check(&server.spec("1.2.3.4", "PTR")).await, "host.example.");
}

#[tokio::test]
async fn server_errors_are_distinguished() {
    for (code, reason, expected) in [
        (ResponseCode::NXDomain, Reason::DnsNxdomain, "NXDOMAIN: one.example. does not exist"),
        (
            ResponseCode::ServFail,
            Reason::DnsServfail,
            "SERVFAIL: the name server failed to resolve the name",
        ),
        (ResponseCode::Refused, Reason::DnsRefused, "REFUSED: the name server refused the query"),
        (ResponseCode::NoError, Reason::DnsNoRecords, "no A records for one.example."),
    ] {
        let server = NameServer::new(move |question, _| {
            let mut message = answer(question, []);
            message.metadata.response_code = code;
            wire(&message)
        })
        .await;
        let observation = check(&server.spec("one.example", "A")).await;
        assert_down(&observation, Contact::Answered, expected);
        assert_eq!(observation.reason, Some(reason));
    }
}

#[tokio::test]
async fn the_answer_of_a_name_server_is_judged() {
    let server = NameServer::new(|question, _| {
        let mut message =
            answer(question, [RData::A(A::new(1, 2, 3, 4)), RData::A(A::new(1, 2, 3, 5))]);
        message.metadata.authentic_data = question.edns.is_some();
        wire(&message)
    })
    .await;
    let gone = NameServer::new(|question, _| {
        let mut message = answer(question, []);
        message.metadata.response_code = ResponseCode::NXDomain;
        wire(&message)
    })
    .await;
    for (spec, list, reason) in [
        (
            server.spec("one.example", "A"),
            json!([
                {"source": "code", "comparison": "equals", "target": "NOERROR"},
                {"source": "record", "comparison": "equals", "target": "1.2.3.5"},
                {"source": "records", "comparison": "equals", "target": "2"},
                {"source": "ttl", "comparison": "at_least", "target": "60"},
                {"source": "dnssec", "property": "authenticated", "comparison": "equals", "target": "true"},
                {"source": "dnssec", "property": "signature_days_left", "comparison": "not_exists"},
            ]),
            None,
        ),
        (
            server.spec("one.example", "A"),
            json!([{"source": "record", "comparison": "equals", "target": "9.9.9.9"}]),
            Some(Reason::DnsAnswer),
        ),
        (
            gone.spec("one.example", "A"),
            json!([{"source": "code", "comparison": "equals", "target": "NXDOMAIN"}]),
            None,
        ),
        (
            gone.spec("one.example", "A"),
            json!([{"source": "records", "comparison": "equals", "target": "0"}]),
            Some(Reason::DnsNxdomain),
        ),
    ] {
        let list = assertions(list);
        let request = CheckRequest { assertions: &list, ..CheckRequest::new(team(0), &spec) };
        let observation = run(&net(), &request, LONG_TIMEOUT).await.unwrap();
        assert_eq!(observation.reason, reason, "{}", observation.message);
        assert_eq!(observation.up, reason.is_none());
    }
}

#[tokio::test]
async fn a_truncated_response_is_fetched_by_tcp_and_a_huge_one_shortened() {
    let server = NameServer::new(|question, by| match by {
        By::Udp => {
            let mut message = answer(question, []);
            message.metadata.truncation = true;
            wire(&message)
        }
        By::Tcp => wire(&answer(
            question,
            (0..3_000).map(|i| RData::A(A::new(10, 0, (i / 256) as u8, (i % 256) as u8))),
        )),
    })
    .await;
    let observation = check(&server.spec("one.example", "A")).await;
    assert!(
        observation.up && observation.message.starts_with("10.0.0.0, 10.0.0.1, "),
        "{observation:?}"
    );
    assert!(observation.phases.connect.is_some(), "TCP was used");
}

#[tokio::test]
async fn what_a_name_server_says_is_shown_without_secrets_and_within_a_bound() {
    let text = format!("token=s3ntinel; {}", "x".repeat(230));
    let server = NameServer::new(move |question, by| match by {
        By::Udp => {
            let mut message = answer(question, []);
            message.metadata.truncation = true;
            wire(&message)
        }
        By::Tcp => {
            let record = || RData::TXT(TXT::new(vec![text.clone(), "y".repeat(250)]));
            wire(&answer(question, (0..64).map(|_| record())))
        }
    })
    .await;
    let list = assertions(json!([{"source": "records", "comparison": "equals", "target": "1"}]));
    let spec = server.spec("one.example", "TXT");
    let request = CheckRequest { assertions: &list, ..CheckRequest::new(team(0), &spec) };
    let evidence = run(&net(), &request, LONG_TIMEOUT).await.unwrap().evidence.unwrap();
    let shown = &evidence.transcript;
    assert_eq!(shown[..2], ["C: TXT one.example.", "S: NOERROR"]);
    assert!(shown[2].contains("[redacted]") && shown[2].contains("xxxyyy"), "{}", shown[2]);
    assert!(!shown.concat().contains("s3ntinel"), "{shown:?}");
    let bytes: usize = shown.iter().map(String::len).sum();
    assert!((3_500..=4_096).contains(&bytes), "{bytes}");
}

#[tokio::test]
async fn a_wrong_id_and_garbage_are_ignored() {
    let honest = NameServer::new(|question, _| {
        let good = answer(question, [RData::A(A::new(10, 0, 0, 1))]);
        let mut wrong = answer(question, [RData::A(A::new(6, 6, 6, 6))]);
        wrong.metadata.id = good.metadata.id.wrapping_add(1);
        vec![wrong.to_vec().unwrap(), b"garbage".to_vec(), Vec::new(), good.to_vec().unwrap()]
    })
    .await;
    assert_up(&check(&honest.spec("one.example", "A")).await, "10.0.0.1");

    let liar = NameServer::new(|question, _| {
        let mut wrong = answer(question, [RData::A(A::new(6, 6, 6, 6))]);
        wrong.metadata.id = wrong.metadata.id.wrapping_add(1);
        wire(&wrong)
    })
    .await;
    let observation =
        check_with(&net(), &liar.spec("one.example", "A"), SHORT_TIMEOUT).await.unwrap();
    assert_down(&observation, Contact::Silence, "no answer within 0.4 s");
}

#[tokio::test]
async fn another_question_and_a_circular_message_are_reported() {
    let other = NameServer::new(|question, _| {
        let mut message = answer(question, [RData::A(A::new(6, 6, 6, 6))]);
        message.queries[0].name = name("evil.example.");
        wire(&message)
    })
    .await;
    let observation = check(&other.spec("one.example", "A")).await;
    assert_down(&observation, Contact::Answered, "the name server responded to another query");

    let circle = NameServer::new(|question, _| {
        let id = question.metadata.id.to_be_bytes();
        // One question whose name points at itself.
        vec![
            [&id, &b"\x84\x00\x00\x01\x00\x00\x00\x00\x00\x00\xc0\x0c\x00\x01\x00\x01"[..]]
                .concat(),
        ]
    })
    .await;
    let observation = check(&circle.spec("one.example", "A")).await;
    assert_down(&observation, Contact::Answered, "the name server sent an invalid response");
}

#[tokio::test]
async fn circular_aliases_are_no_records() {
    let server = NameServer::new(|question, _| {
        let mut message = answer(question, []);
        let alias = |from: &str, to: &str| {
            Record::from_rdata(name(from), 60, RData::CNAME(CNAME(name(to))))
        };
        message.add_answers([
            alias("one.example.", "two.example."),
            alias("two.example.", "one.example."),
        ]);
        wire(&message)
    })
    .await;
    let observation = check(&server.spec("one.example", "A")).await;
    assert_down(&observation, Contact::Answered, "no A records for one.example.");
}

#[tokio::test]
async fn a_silent_server_and_a_closed_port_are_distinguished() {
    let silent = NameServer::new(|_, _| Vec::new()).await;
    let observation =
        check_with(&net(), &silent.spec("one.example", "A"), SHORT_TIMEOUT).await.unwrap();
    assert_down(&observation, Contact::Silence, "no answer within 0.4 s");

    let spec = silent.spec("one.example", "A");
    drop(silent);
    // The tasks that hold the sockets end soon after, not immediately.
    tokio::task::yield_now().await;
    let observation = check_with(&net(), &spec, SHORT_TIMEOUT).await.unwrap();
    assert_down(&observation, Contact::Refused, "connection refused");
}

/// A net that resolves with this server only.
pub(crate) fn net_by(policy: Policy, server: SocketAddr) -> Net {
    let guard = Guard::new(policy, Vec::new());
    Net::with(guard, NameResolver::from_servers(&[server]), Tls::from_system(), Arc::new(Today))
}

fn tcp(hostname: &str, port: u16) -> Spec {
    Spec::Tcp(TcpSpec::of(Hostname::parse(hostname).unwrap(), port))
}

#[tokio::test]
async fn a_name_is_resolved_once_while_its_time_to_live_lasts() {
    let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = asked.clone();
    let server = NameServer::new(move |question, _| {
        let kind = question.queries[0].query_type;
        let found = (kind == hickory_proto::rr::RecordType::A).then(|| {
            counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            RData::A(A::new(127, 0, 0, 1))
        });
        wire(&answer(question, found))
    })
    .await;
    let target = TestServer::new(async |_| Ok(())).await;
    let net = net_by(Policy::Private, server.addr);
    for _ in 0..5 {
        let observation =
            check_with(&net, &tcp("target.example", target.addr.port()), LONG_TIMEOUT)
                .await
                .unwrap();
        assert!(observation.up && observation.phases.resolve.is_some(), "{observation:?}");
    }
    let spec = tcp("target.example", target.addr.port());
    let request = CheckRequest { always: true, ..CheckRequest::new(team(0), &spec) };
    let evidence = run(&net, &request, LONG_TIMEOUT).await.unwrap().evidence.unwrap();
    let resolved = evidence.resolved.unwrap();
    assert_eq!((resolved.by.as_deref(), resolved.ttl), (Some("system"), Some(60)));
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_down() {
    let server = NameServer::new(|question, _| {
        let mut message = answer(question, []);
        message.metadata.response_code = ResponseCode::NXDomain;
        wire(&message)
    })
    .await;
    let net = net_by(Policy::Private, server.addr);
    let observation = check_with(&net, &tcp("gone.example", 80), LONG_TIMEOUT).await.unwrap();
    assert_down(&observation, Contact::Answered, "the name gone.example does not exist");
}

#[tokio::test]
async fn a_silent_resolver_is_a_fault() {
    let silent = NameServer::new(|_, _| Vec::new()).await;
    let net = net_by(Policy::Private, silent.addr);
    for allowed in [LONG_TIMEOUT, SHORT_TIMEOUT] {
        let fault = check_with(&net, &tcp("one.example", 80), allowed).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Network, "{fault:?}");
    }
}

#[tokio::test]
async fn a_zone_with_silent_servers_is_down_when_our_resolver_works() {
    let server = NameServer::new(|question, _| {
        if question.queries[0].name.is_root() {
            wire(&answer(question, [RData::NS(NS(name("a.root.example.")))]))
        } else {
            Vec::new()
        }
    })
    .await;
    let net = net_by(Policy::Private, server.addr);
    let observation = check_with(&net, &tcp("dead.example", 80), SHORT_TIMEOUT).await.unwrap();
    assert_down(&observation, Contact::Silence, "the name servers of dead.example do not answer");
}

#[test]
fn a_target_is_not_down_because_we_have_no_network_of_its_family() {
    if is_root() {
        let only_v4 = "ip link set lo up && ip route add default dev lo && \
            ip route add unreachable 198.51.100.0/24";
        let disabled = format!("{only_v4} && echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6");
        for setup in [only_v4, &disabled] {
            run_inside(&["unshare", "--net", "sh"], setup, "dns::in_a_namespace_without_ipv6");
        }
    }
}

#[tokio::test]
#[ignore = "needs a network namespace: started by the test above"]
async fn in_a_namespace_without_ipv6() {
    let target = TestServer::new(async |_| Ok(())).await;
    let server = NameServer::new(|question, _| {
        use hickory_proto::rr::RecordType;
        let v4 = |ip: &str| Some(RData::A(A(ip.parse().unwrap())));
        let found = match (question.queries[0].query_type, question.queries[0].name.to_ascii()) {
            (RecordType::AAAA, _) => Some(RData::AAAA(AAAA("2001:db8::1".parse().unwrap()))),
            (RecordType::A, name) if name.starts_with("near") => v4("127.0.0.1"),
            (RecordType::A, name) if name.starts_with("far") => v4("198.51.100.1"),
            _ => None,
        };
        wire(&answer(question, found))
    })
    .await;
    let net = net_by(Policy::Private, server.addr);
    let check_over = async |host: &str, ip_family: IpFamily| {
        let connect = ConnectOptions { ip_family, ..ConnectOptions::default() }.boxed();
        let host = Hostname::parse(host).unwrap();
        let spec = TcpSpec { connect, ..TcpSpec::of(host, target.addr.port()) };
        check_with(&net, &Spec::Tcp(spec), LONG_TIMEOUT).await
    };
    for family in [IpFamily::Any, IpFamily::V4] {
        assert!(check_over("near.example", family).await.unwrap().up, "{family}");
        let observation = check_over("far.example", family).await.unwrap();
        assert_down(&observation, Contact::Unreachable, "no route to the host");
    }
    for (host, family) in [
        ("near.example", IpFamily::V6),
        ("near.example", IpFamily::Both),
        ("only-v6.example", IpFamily::Any),
    ] {
        let fault = check_over(host, family).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Network, "{host} {family}");
        assert_eq!(fault.message, "this node has no IPv6 network", "{host} {family}");
    }
}

/// Returns one address for every name, and the next one for the next query.
pub(crate) async fn flipping(addrs: &'static [&'static str]) -> NameServer {
    flipping_at("127.0.0.1:0", addrs).await
}

pub(crate) async fn flipping_at(at: &str, addrs: &'static [&'static str]) -> NameServer {
    let turn = std::sync::atomic::AtomicUsize::new(0);
    NameServer::at(at, move |question, _| {
        let kind = question.queries[0].query_type;
        let found = (kind == hickory_proto::rr::RecordType::A).then(|| {
            let turn = turn.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let IpAddr::V4(ip) = addrs[turn % addrs.len()].parse().unwrap() else {
                panic!("only IPv4 here")
            };
            RData::A(A(ip))
        });
        let mut message = answer(question, found);
        for record in &mut message.answers {
            record.ttl = 0;
        }
        wire(&message)
    })
    .await
}

#[tokio::test]
async fn a_name_that_changes_to_a_blocked_address_is_blocked_then() {
    let server = flipping(&["127.0.0.1", "127.0.0.2"]).await;
    let target = TestServer::at("127.0.0.1:0", async |_| Ok(())).await;
    let canary =
        TestServer::at(&format!("127.0.0.2:{}", target.addr.port()), async |_| Ok(())).await;
    let net = net_by(Policy::List(vec!["127.0.0.1/32".parse().unwrap()]), server.addr);
    let spec = tcp("flip.example", target.addr.port());
    for _ in 0..3 {
        assert!(check_with(&net, &spec, LONG_TIMEOUT).await.unwrap().up);
        let fault = check_with(&net, &spec, LONG_TIMEOUT).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Egress);
        assert_eq!(
            fault.message,
            "blocked by this server's network policy: the address of flip.example is not in an allowed network"
        );
    }
    assert_eq!((target.connection_count(), canary.connection_count()), (3, 0));
}

#[tokio::test]
async fn a_response_with_corrupt_bytes_ends_the_check_in_time() {
    let turn = std::sync::atomic::AtomicUsize::new(1);
    let server = NameServer::new(move |question, _| {
        let turn = turn.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let mut bytes =
            answer(question, [one_of_each(question.queries[0].query_type)]).to_vec().unwrap();
        // Everything except id and flags, which decide whether it is a response
        // at all.
        for nth in 0..1 + turn % 4 {
            let at = 4 + (turn * 31 + nth * 17) % (bytes.len() - 4);
            bytes[at] = bytes[at].wrapping_add((turn * 7 + nth) as u8 | 1);
        }
        vec![bytes]
    })
    .await;
    let net = net();
    for turn in 0..400 {
        let kind = ["A", "TXT", "SOA", "CAA", "SRV"][turn % 5];
        check_with(&net, &server.spec("one.example", kind), LONG_TIMEOUT).await.unwrap();
    }
}
