//! Ping on loopback, with whatever right this machine gives us.

use socket2::{Domain, Protocol, Socket, Type};
use wakeful_core::monitor::spec::{Hostname, PingSpec, Spec};
use wakeful_core::observation::FaultKind;

use crate::peer::{ENOUGH, look_by, net};

fn ping(hostname: &str) -> Spec {
    Spec::Ping(PingSpec { hostname: Hostname::parse(hostname).unwrap() })
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
