//! Ping on loopback, with whatever right this machine gives us.

use socket2::{Domain, Protocol, Socket, Type};
use wakeful_core::monitor::spec::{Hostname, PingSpec, Spec};
use wakeful_core::observation::{Evidence, FaultKind};

use crate::peer::{ENOUGH, SHORT, assert_down, is_root, look_by, net, run_inside};

fn ping(hostname: &str) -> Spec {
    Spec::Ping(PingSpec::of(Hostname::parse(hostname).unwrap()))
}

fn allowed() -> bool {
    [Type::DGRAM, Type::RAW]
        .into_iter()
        .any(|kind| Socket::new(Domain::IPV4, kind, Some(Protocol::ICMPV4)).is_ok())
}

#[tokio::test]
async fn loopback_answers_or_the_message_says_how_to_grant_it() {
    let net = net();
    for host in ["127.0.0.1", "::1", "localhost"] {
        let seen = look_by(&net, &ping(host), ENOUGH).await;
        if allowed() {
            let seen = seen.unwrap();
            assert!(seen.up && seen.message.ends_with(" answered"), "{seen:?}");
            assert!(seen.load_time.unwrap() < ENOUGH);
        } else {
            let fault = seen.unwrap_err();
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
    let looks = specs.iter().map(|spec| look_by(&net, spec, ENOUGH));
    for (seen, i) in futures_util::future::join_all(looks).await.into_iter().zip(1..) {
        let seen = seen.unwrap();
        assert_eq!((seen.up, seen.message), (true, format!("127.0.0.{i} answered")));
    }
}

#[test]
fn silence_and_no_way_are_told_apart() {
    if is_root() {
        let setup = "ip link set lo up && echo 1 > /proc/sys/net/ipv4/icmp_echo_ignore_all";
        run_inside(&["unshare", "--net", "sh"], setup, "ping::where_nobody_answers");
    }
}

#[tokio::test]
#[ignore = "needs a network namespace: started by the test above"]
async fn where_nobody_answers() {
    let net = net();
    let seen = look_by(&net, &ping("127.0.0.1"), SHORT).await.unwrap();
    assert_down(&seen, Evidence::Silence, "no answer within 0.4 s");
    let seen = look_by(&net, &ping("192.0.2.1"), ENOUGH).await.unwrap();
    assert_down(&seen, Evidence::Unreachable, "network unreachable");
    // The other family still answers, so that the silence means something.
    assert!(look_by(&net, &ping("::1"), ENOUGH).await.unwrap().up);
}
