//! Our own network is down: tests that run themselves again in a network
//! namespace, where nothing but loopback can be reached.

use std::process::Command;
use wakeful_core::verdict::{Beat, Status};
use wakeful_engine::Draft;
use wakeful_testkit::{Engine, Setup};

use crate::bench::{Bench, Target, beats, becomes, tcp};

const INSIDE: &str = "WAKEFUL_TEST_INSIDE_NAMESPACE";

/// A cable with a router's address behind it that nobody has.
const CABLE: &str = "ip link add cable type veth peer name far && ip addr add 10.9.0.2/24 dev cable \
    && ip link set cable up && ip link set far up && ip route add default via 10.9.0.1";

#[tokio::test]
async fn our_own_network_is_nobodys_outage_and_a_refusal_still_is() {
    in_namespace("our_own_network_is_nobodys_outage_and_a_refusal_still_is", "true").await;
}

#[tokio::test]
async fn a_router_that_does_not_answer_is_nobodys_outage() {
    in_namespace("a_router_that_does_not_answer_is_nobodys_outage", CABLE).await;
}

#[tokio::test]
async fn a_cable_that_was_pulled_is_nobodys_outage() {
    let pulled = format!("{CABLE} && ip link set far down");
    in_namespace("a_cable_that_was_pulled_is_nobodys_outage", &pulled).await;
}

async fn in_namespace(test: &str, set_up: &str) {
    if std::env::var_os(INSIDE).is_some() {
        return inside().await;
    }
    let test = format!("network::{test}");
    let script = format!("ip link set lo up && {set_up} && exec \"$0\" --exact \"$1\" --nocapture");
    let exe = std::env::current_exe().expect("this test");
    let inner = Command::new("unshare")
        .args(["--net", "--map-root-user", "sh", "-c", &script])
        .arg(exe)
        .arg(test)
        .env(INSIDE, "1")
        .output()
        .expect("unshare is part of util-linux");
    let said = String::from_utf8_lossy(&inner.stdout);
    let complained = String::from_utf8_lossy(&inner.stderr);
    assert!(inner.status.success(), "{said}{complained}");
    assert!(said.contains("1 passed"), "{said}");
}

async fn inside() {
    let bench = Bench::start(&Setup::on(Engine::Sqlite)).await;
    let mut events = bench.events();
    let mut remote = Vec::new();
    for host in 1..=6_u8 {
        let draft = Draft { retries: 2, ..tcp(([192, 0, 2, host], 80).into()) };
        remote.push(bench.save(draft).await.monitor.id);
    }
    let mut target = Target::new().await;
    let near = bench.save(tcp(target.address)).await.monitor.id;
    becomes(&mut events, near, Status::Up).await;
    target.go_down().await;
    becomes(&mut events, near, Status::Down).await;
    for id in &remote {
        beats(&mut events, *id, 2).await;
    }
    for id in remote {
        let state = bench.view(id).await.state;
        assert_eq!(state.status, Status::Pending, "{}", state.last_message);
        assert!(state.last_message.contains("our own network is down"), "{}", state.last_message);
        let beat = bench.engine.check_now(&bench.ann, id).await.expect("checked");
        assert_eq!(beat.status, Beat::Unknown);
        assert!(bench.told(id).await.is_empty());
    }
    let alerts = bench.engine.alerts(&bench.ann, None, None, None).await.expect("read").items;
    assert_eq!(alerts.len(), 1, "the refusal on loopback, and it alone");
    bench.stop().await;
}
