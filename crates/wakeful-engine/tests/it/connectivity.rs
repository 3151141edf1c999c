//! Tests of the detection that our own network is down. They run themselves again in a
//! network namespace, where only loopback can be reached.

use std::process::Command;
use wakeful_core::heartbeat::Beat;
use wakeful_core::verdict::Status;
use wakeful_engine::MonitorDraft;
use wakeful_testkit::{DatabaseKind, Setup};

use crate::fixture::{Fixture, Target, tcp, wait_for_heartbeats, wait_for_status};

const INSIDE: &str = "WAKEFUL_TEST_INSIDE_NAMESPACE";

/// A link with a default route to a router that does not exist.
const CABLE: &str = "ip link add cable type veth peer name far && ip addr add 10.9.0.2/24 dev cable \
    && ip link set cable up && ip link set far up && ip route add default via 10.9.0.1";

#[tokio::test]
async fn our_own_network_failure_is_no_outage_and_a_refusal_still_is() {
    in_namespace("our_own_network_failure_is_no_outage_and_a_refusal_still_is", "true").await;
}

#[tokio::test]
async fn a_silent_router_is_no_outage() {
    in_namespace("a_silent_router_is_no_outage", CABLE).await;
}

#[tokio::test]
async fn an_unplugged_cable_is_no_outage() {
    let pulled = format!("{CABLE} && ip link set far down");
    in_namespace("an_unplugged_cable_is_no_outage", &pulled).await;
}

async fn in_namespace(test: &str, set_up: &str) {
    if std::env::var_os(INSIDE).is_some() {
        return inside().await;
    }
    let test = format!("connectivity::{test}");
    let script = format!("ip link set lo up && {set_up} && exec \"$0\" --exact \"$1\" --nocapture");
    let exe = std::env::current_exe().expect("this test");
    let inner = Command::new("unshare")
        .args(["--net", "--map-root-user", "sh", "-c", &script])
        .arg(exe)
        .arg(test)
        .env(INSIDE, "1")
        .output()
        .expect("unshare is part of util-linux");
    let stdout = String::from_utf8_lossy(&inner.stdout);
    let stderr = String::from_utf8_lossy(&inner.stderr);
    assert!(inner.status.success(), "{stdout}{stderr}");
    assert!(stdout.contains("1 passed"), "{stdout}");
}

async fn inside() {
    let fixture = Fixture::start(&Setup::on(DatabaseKind::Sqlite)).await;
    let mut events = fixture.events().await;
    let mut remote = Vec::new();
    for host in 1..=6_u8 {
        let draft = MonitorDraft { retries: 2, ..tcp(([192, 0, 2, host], 80).into()) };
        remote.push(fixture.save(draft).await.monitor.id);
    }
    let mut target = Target::new().await;
    let near = fixture.save(tcp(target.address)).await.monitor.id;
    wait_for_status(&mut events, near, Status::Up).await;
    target.go_down().await;
    wait_for_status(&mut events, near, Status::Down).await;
    for id in &remote {
        wait_for_heartbeats(&mut events, *id, 2).await;
    }
    for id in remote {
        let state = fixture.view(id).await.state;
        assert_eq!(state.status, Status::Pending, "{}", state.last_message);
        assert!(state.last_message.contains("our own network is down"), "{}", state.last_message);
        let beat = fixture.engine.check_now(&fixture.ann(), id).await.expect("checked").heartbeat;
        assert_eq!(beat.status, Beat::Unknown);
        assert!(fixture.notified_kinds(id).await.is_empty());
    }
    let alerts = fixture.engine.alerts(&fixture.ann(), None, None, None).await.expect("read").items;
    assert_eq!(alerts.len(), 1, "only the refusal on loopback");
    fixture.stop().await;
}
