//! Ping on loopback, with or without the privilege to do so.

use socket2::{Domain, Protocol, Socket, Type};
use wakeful_core::monitors::spec::{Hostname, PingSpec, Spec};
use wakeful_core::observation::{Contact, FaultKind};

use crate::servers::{
    LONG_TIMEOUT, SHORT_TIMEOUT, assert_down, check_with, is_root, net, run_inside,
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
    let observation = check_with(&net, &ping("198.51.100.1"), LONG_TIMEOUT).await.unwrap();
    assert_down(&observation, Contact::Unreachable, "no route to the host");
    let fault = check_with(&net, &ping("2001:db8::1"), LONG_TIMEOUT).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Network);
    assert_eq!(fault.message, "this node has no IPv6 network");
    // The other family still responds, so the silence is meaningful.
    assert!(check_with(&net, &ping("::1"), LONG_TIMEOUT).await.unwrap().up);
}
