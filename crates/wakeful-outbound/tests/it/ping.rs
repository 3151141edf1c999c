//! Ping on loopback, with or without the privilege to do so.

use serde_json::json;
use socket2::{Domain, Protocol, Socket, Type};
use wakeful_core::heartbeat::Readings;
use wakeful_core::monitors::spec::{Echoes, Hostname, PingSpec, Spec};
use wakeful_core::observation::{Contact, FaultKind};
use wakeful_core::reason::Reason;
use wakeful_outbound::checks::CheckRequest;

use crate::assertions::assertions;
use crate::servers::{
    LONG_TIMEOUT, SHORT_TIMEOUT, assert_down, check_with, is_root, net, run, run_inside, team,
};

fn ping(hostname: &str) -> Spec {
    Spec::Ping(PingSpec::of(Hostname::parse(hostname).unwrap()))
}

fn allowed() -> bool {
    [Type::DGRAM, Type::RAW]
        .into_iter()
        .any(|kind| Socket::new(Domain::IPV4, kind, Some(Protocol::ICMPV4)).is_ok())
}

#[tokio::test]
async fn loopback_responds_or_the_message_says_how_to_grant_the_privilege() {
    let net = net();
    for host in ["127.0.0.1", "::1", "localhost"] {
        let observation = check_with(&net, &ping(host), LONG_TIMEOUT).await;
        if allowed() {
            let observation = observation.unwrap();
            assert!(
                observation.up && observation.message.ends_with(" answered"),
                "{observation:?}"
            );
            assert!(observation.load_time.unwrap() < LONG_TIMEOUT);
        } else {
            let fault = observation.unwrap_err();
            assert_eq!(fault.kind, FaultKind::Permission);
            assert!(fault.message.contains("ping_group_range"), "{}", fault.message);
            assert!(fault.message.contains("setcap cap_net_raw+ep"), "{}", fault.message);
        }
    }
}

#[tokio::test]
async fn many_pings_share_a_socket_and_none_takes_anothers_reply() {
    if !allowed() {
        return;
    }
    let net = net();
    let specs: Vec<Spec> = (1..=200).map(|i| ping(&format!("127.0.0.{i}"))).collect();
    let checks = specs.iter().map(|spec| check_with(&net, spec, LONG_TIMEOUT));
    for (observation, i) in futures_util::future::join_all(checks).await.into_iter().zip(1..) {
        let observation = observation.unwrap();
        assert_eq!((observation.up, observation.message), (true, format!("127.0.0.{i} answered")));
    }
}

#[test]
fn silence_and_no_route_are_distinguished() {
    if is_root() {
        let setup = "ip link set lo up && ip route add default dev lo && \
            ip route add unreachable 198.51.100.0/24 && \
            echo 1 > /proc/sys/net/ipv4/icmp_echo_ignore_all";
        run_inside(&["unshare", "--net", "sh"], setup, "ping::in_a_namespace_without_replies");
    }
}

#[tokio::test]
#[ignore = "needs a network namespace: started by the test above"]
async fn in_a_namespace_without_replies() {
    let net = net();
    let observation = check_with(&net, &ping("127.0.0.1"), SHORT_TIMEOUT).await.unwrap();
    assert_down(&observation, Contact::Silence, "no answer within 0.4 s");
    assert!(observation.readings.is_empty());
    // All of several echoes are lost, which is charted.
    let echoes = Echoes { count: 5, spacing: 20, ..Echoes::default() };
    let hostname = Hostname::parse("127.0.0.1").unwrap();
    let several = Spec::Ping(PingSpec { echoes, ..PingSpec::of(hostname) });
    let charting = |source: &str| {
        assertions(json!([{"source": source, "comparison": "at_most", "target": "20",
            "fails_as": "degraded", "chart": true}]))
    };
    let all_lost = Readings([Some(100_000), None]);
    for (list, readings) in [
        (Vec::new(), all_lost),
        (charting("loss"), all_lost),
        (charting("response_time"), Readings::default()),
    ] {
        let request = CheckRequest { assertions: &list, ..CheckRequest::new(team(0), &several) };
        let observation = run(&net, &request, SHORT_TIMEOUT).await.unwrap();
        assert_down(&observation, Contact::Silence, "no answer within 0.4 s");
        assert_eq!((observation.reason, observation.load_time), (Some(Reason::NoReply), None));
        assert!(observation.warnings.is_empty(), "{observation:?}");
        assert_eq!(observation.readings, readings);
    }
    let observation = check_with(&net, &ping("198.51.100.1"), LONG_TIMEOUT).await.unwrap();
    assert_down(&observation, Contact::Unreachable, "no route to the host");
    let fault = check_with(&net, &ping("2001:db8::1"), LONG_TIMEOUT).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Network);
    assert_eq!(fault.message, "this node has no IPv6 network");
    // The other family still responds, so the silence is meaningful.
    assert!(check_with(&net, &ping("::1"), LONG_TIMEOUT).await.unwrap().up);
}
