//! Dns against a name server of our own, honest and not, and the net's own
//! resolving by such servers.

use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CAA, CNAME, MX, NS, PTR, SOA, SRV, TXT};
use hickory_proto::rr::{Name, RData, Record};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, UdpSocket};
use tokio::task::JoinSet;
use wakeful_core::monitor::spec::{DnsSpec, Hostname, RecordType, Resolver, Spec, TcpSpec};
use wakeful_core::observation::{Evidence, FaultKind};
use wakeful_outbound::net::Net;
use wakeful_outbound::net::guard::{Guard, Policy};
use wakeful_outbound::net::resolve::Names;
use wakeful_outbound::net::tls::Tls;

use crate::peer::{ENOUGH, Peer, SHORT, Today, assert_down, assert_up, look, look_by, net};

/// A name server: what it says to a question, by UDP and by TCP.
pub(crate) struct NameServer {
    pub(crate) addr: SocketAddr,
    _tasks: JoinSet<()>,
}

/// How the question came.
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

/// The answer to a question with these records.
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
        other => panic!("{other} was not to be asked for"),
    }
}

#[tokio::test]
async fn every_record_type_is_asked_for_and_told() {
    let server = NameServer::new(|question, _| {
        wire(&answer(question, [one_of_each(question.queries[0].query_type)]))
    })
    .await;
    for (kind, told) in [
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
        let seen = look(&server.spec("one.example", kind)).await;
        assert!(seen.up && seen.message.contains(told), "{kind}: {seen:?}");
    }
}

#[tokio::test]
async fn several_answers_are_the_message() {
    let server = NameServer::new(|question, _| {
        wire(&answer(question, (1..=3).map(|i| RData::A(A::new(10, 0, 0, i)))))
    })
    .await;
    let seen = look(&server.spec("one.example", "A")).await;
    assert_up(&seen, "10.0.0.1, 10.0.0.2, 10.0.0.3");
    assert!(seen.phases.first_byte.is_some());
}

#[tokio::test]
async fn the_name_of_an_address_is_asked_in_reverse() {
    let server = NameServer::new(|question, _| {
        assert_eq!(question.queries[0].name, name("4.3.2.1.in-addr.arpa."));
        wire(&answer(question, [RData::PTR(PTR(name("host.example.")))]))
    })
    .await;
    assert_up(&look(&server.spec("1.2.3.4", "PTR")).await, "host.example.");
}

#[tokio::test]
async fn what_the_server_says_is_told_apart() {
    for (code, told) in [
        (ResponseCode::NXDomain, "NXDOMAIN: one.example. does not exist"),
        (ResponseCode::ServFail, "SERVFAIL: the name server could not find out"),
        (ResponseCode::Refused, "REFUSED: the name server refuses to answer"),
        (ResponseCode::NoError, "no A records for one.example."),
    ] {
        let server = NameServer::new(move |question, _| {
            let mut message = answer(question, []);
            message.metadata.response_code = code;
            wire(&message)
        })
        .await;
        let seen = look(&server.spec("one.example", "A")).await;
        assert_down(&seen, Evidence::Answered, told);
    }
}

#[tokio::test]
async fn a_truncated_answer_is_fetched_by_tcp_and_a_huge_one_cut() {
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
    let seen = look(&server.spec("one.example", "A")).await;
    assert!(seen.up && seen.message.starts_with("10.0.0.0, 10.0.0.1, "), "{seen:?}");
    assert!(seen.phases.connect.is_some(), "TCP was used");
}

#[tokio::test]
async fn a_wrong_id_and_garbage_are_not_for_us() {
    let honest = NameServer::new(|question, _| {
        let good = answer(question, [RData::A(A::new(10, 0, 0, 1))]);
        let mut wrong = answer(question, [RData::A(A::new(6, 6, 6, 6))]);
        wrong.metadata.id = good.metadata.id.wrapping_add(1);
        vec![wrong.to_vec().unwrap(), b"garbage".to_vec(), Vec::new(), good.to_vec().unwrap()]
    })
    .await;
    assert_up(&look(&honest.spec("one.example", "A")).await, "10.0.0.1");

    let liar = NameServer::new(|question, _| {
        let mut wrong = answer(question, [RData::A(A::new(6, 6, 6, 6))]);
        wrong.metadata.id = wrong.metadata.id.wrapping_add(1);
        wire(&wrong)
    })
    .await;
    let seen = look_by(&net(), &liar.spec("one.example", "A"), SHORT).await.unwrap();
    assert_down(&seen, Evidence::Silence, "no answer within 0.4 s");
}

#[tokio::test]
async fn another_question_and_a_message_in_a_circle_are_told() {
    let other = NameServer::new(|question, _| {
        let mut message = answer(question, [RData::A(A::new(6, 6, 6, 6))]);
        message.queries[0].name = name("evil.example.");
        wire(&message)
    })
    .await;
    let seen = look(&other.spec("one.example", "A")).await;
    assert_down(&seen, Evidence::Answered, "the name server answered another question");

    let circle = NameServer::new(|question, _| {
        let id = question.metadata.id.to_be_bytes();
        // One question whose name points at itself.
        vec![
            [&id, &b"\x84\x00\x00\x01\x00\x00\x00\x00\x00\x00\xc0\x0c\x00\x01\x00\x01"[..]]
                .concat(),
        ]
    })
    .await;
    let seen = look(&circle.spec("one.example", "A")).await;
    assert_down(&seen, Evidence::Answered, "the name server's answer cannot be read");
}

#[tokio::test]
async fn aliases_in_a_circle_are_no_records() {
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
    let seen = look(&server.spec("one.example", "A")).await;
    assert_down(&seen, Evidence::Answered, "no A records for one.example.");
}

#[tokio::test]
async fn a_silent_server_and_a_closed_port_are_told_apart() {
    let silent = NameServer::new(|_, _| Vec::new()).await;
    let seen = look_by(&net(), &silent.spec("one.example", "A"), SHORT).await.unwrap();
    assert_down(&seen, Evidence::Silence, "no answer within 0.4 s");

    let spec = silent.spec("one.example", "A");
    drop(silent);
    // The tasks that hold the sockets end soon after, not at once.
    tokio::task::yield_now().await;
    let seen = look_by(&net(), &spec, SHORT).await.unwrap();
    assert_down(&seen, Evidence::Refused, "connection refused");
}

/// A net that resolves by this server alone.
pub(crate) fn net_by(policy: Policy, server: SocketAddr) -> Net {
    let guard = Guard::new(policy, Vec::new());
    Net::with(guard, Names::from_servers(&[server]), Tls::from_system(), Arc::new(Today))
}

fn tcp(hostname: &str, port: u16) -> Spec {
    Spec::Tcp(TcpSpec { hostname: Hostname::parse(hostname).unwrap(), port })
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
    let peer = Peer::new(async |_| Ok(())).await;
    let net = net_by(Policy::Private, server.addr);
    for _ in 0..5 {
        let seen = look_by(&net, &tcp("target.example", peer.addr.port()), ENOUGH).await.unwrap();
        assert!(seen.up && seen.phases.resolve.is_some(), "{seen:?}");
    }
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
    let seen = look_by(&net, &tcp("gone.example", 80), ENOUGH).await.unwrap();
    assert_down(&seen, Evidence::Answered, "the name gone.example does not exist");
}

#[tokio::test]
async fn a_resolver_of_ours_that_is_silent_is_our_fault() {
    let silent = NameServer::new(|_, _| Vec::new()).await;
    let net = net_by(Policy::Private, silent.addr);
    for allowed in [ENOUGH, SHORT] {
        let fault = look_by(&net, &tcp("one.example", 80), allowed).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Network, "{fault:?}");
    }
}

#[tokio::test]
async fn a_zone_whose_servers_are_silent_is_down_when_our_resolver_lives() {
    let server = NameServer::new(|question, _| match question.queries[0].name.is_root() {
        true => wire(&answer(question, [RData::NS(NS(name("a.root.example.")))])),
        false => Vec::new(),
    })
    .await;
    let net = net_by(Policy::Private, server.addr);
    let seen = look_by(&net, &tcp("dead.example", 80), SHORT).await.unwrap();
    assert_down(&seen, Evidence::Silence, "the name servers of dead.example do not answer");
}

/// Says one address for every name, and the next one at the next question.
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
async fn a_name_that_turns_to_a_denied_address_is_blocked_then() {
    let server = flipping(&["127.0.0.1", "127.0.0.2"]).await;
    let peer = Peer::at("127.0.0.1:0", async |_| Ok(())).await;
    let canary = Peer::at(&format!("127.0.0.2:{}", peer.addr.port()), async |_| Ok(())).await;
    let net = net_by(Policy::List(vec!["127.0.0.1/32".parse().unwrap()]), server.addr);
    let spec = tcp("flip.example", peer.addr.port());
    for _ in 0..3 {
        assert!(look_by(&net, &spec, ENOUGH).await.unwrap().up);
        let fault = look_by(&net, &spec, ENOUGH).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Egress);
        assert_eq!(
            fault.message,
            "blocked by the egress policy: the address of flip.example is in no allowed network"
        );
    }
    assert_eq!((peer.seen(), canary.seen()), (3, 0));
}

#[tokio::test]
async fn an_answer_with_any_bytes_wrong_ends_the_look_in_time() {
    let turn = std::sync::atomic::AtomicUsize::new(1);
    let server = NameServer::new(move |question, _| {
        let turn = turn.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let mut bytes =
            answer(question, [one_of_each(question.queries[0].query_type)]).to_vec().unwrap();
        // All but id and flags, which decide whether it is an answer at all.
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
        look_by(&net, &server.spec("one.example", kind), ENOUGH).await.unwrap();
    }
}
