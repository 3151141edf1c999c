//! Our own network is down: a test that runs itself again in a network
//! namespace without any route, where nothing but loopback can be reached.

use std::process::Command;
use wakeful_core::verdict::{Beat, Status};
use wakeful_engine::Draft;
use wakeful_testkit::{Engine, Setup};

use crate::bench::{Bench, Target, beats, becomes, tcp};

const INSIDE: &str = "WAKEFUL_TEST_INSIDE_NAMESPACE";

#[tokio::test]
async fn our_own_network_is_nobodys_outage_and_a_refusal_still_is() {
    if std::env::var_os(INSIDE).is_some() {
        return inside().await;
    }
    let test = "network::our_own_network_is_nobodys_outage_and_a_refusal_still_is";
    let script = "ip link set lo up && exec \"$0\" --exact \"$1\" --nocapture";
    let exe = std::env::current_exe().expect("this test");
    let inner = Command::new("unshare")
        .args(["--net", "--map-root-user", "sh", "-c", script])
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
