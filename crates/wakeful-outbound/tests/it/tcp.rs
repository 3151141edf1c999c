//! Tcp against loopback.

use std::time::Duration;
use tokio::net::TcpListener;
use wakeful_core::monitor::spec::{Hostname, Spec, TcpSpec};
use wakeful_core::observation::{Evidence, FaultKind};

use crate::peer::{ENOUGH, Peer, assert_down, assert_up, look, look_by, net, run_inside};

fn tcp(hostname: &str, port: u16) -> Spec {
    Spec::Tcp(TcpSpec { hostname: Hostname::parse(hostname).unwrap(), port })
}

#[tokio::test]
async fn an_open_port_is_up_on_both_families() {
    for addr in ["127.0.0.1", "::1"] {
        let listener = TcpListener::bind((addr, 0)).await.unwrap();
        let open = listener.local_addr().unwrap();
        let seen = look(&tcp(addr, open.port())).await;
        assert_up(&seen, &format!("connected to {open}"));
        assert!(seen.phases.connect.is_some() && seen.phases.resolve.is_none());
    }
}

#[tokio::test]
async fn a_closed_port_is_refused_and_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let seen = look(&tcp("127.0.0.1", port)).await;
    assert_down(&seen, Evidence::Refused, "connection refused");
}

#[tokio::test]
async fn a_name_falls_back_to_the_family_that_listens() {
    let peer = Peer::new(async |_| Ok(())).await;
    let seen = look(&tcp("localhost", peer.addr.port())).await;
    assert!(seen.up, "{seen:?}");
    assert!(seen.phases.resolve.is_some());
}

#[tokio::test]
async fn a_port_that_drops_everything_is_silent() {
    // A listener whose queue is full answers no more.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(0).unwrap();
    let port = listener.local_addr().unwrap().port();
    let net = net();
    let by = || wakeful_outbound::net::Deadline::within(Duration::from_millis(300));
    let mut held = Vec::new();
    let trouble = loop {
        match net.connect("127.0.0.1", port, by()).await {
            Ok(connection) => held.push(connection),
            Err(trouble) => break trouble,
        }
        assert!(held.len() < 300, "the queue never filled");
    };
    assert_eq!(trouble.message(), "no answer within 0.3 s");
    let seen = look_by(&net, &tcp("127.0.0.1", port), Duration::from_millis(300)).await.unwrap();
    assert_down(&seen, Evidence::Silence, "no answer within 0.3 s");
}

#[tokio::test]
async fn an_api_monitor_is_never_called() {
    let fault = look_by(&net(), &Spec::Api(Default::default()), ENOUGH).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Config);
}

#[tokio::test]
async fn a_link_local_target_is_blocked_and_not_down() {
    let fault = look_by(&net(), &tcp("169.254.169.254", 80), ENOUGH).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Egress);
    assert_eq!(
        fault.message,
        "blocked by the egress policy: 169.254.169.254 is a cloud metadata service"
    );
}

#[test]
fn without_file_handles_we_cannot_look_and_say_so() {
    run_inside(&["sh"], "ulimit -n 64", "tcp::no_handle_is_left");
}

#[tokio::test]
#[ignore = "needs few file handles: started by the test above"]
async fn no_handle_is_left() {
    let peer = Peer::new(async |_| Ok(())).await;
    let (net, spec) = (net(), tcp("127.0.0.1", peer.addr.port()));
    assert!(look_by(&net, &spec, ENOUGH).await.unwrap().up);
    let mut held = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        held.push(file);
    }
    let fault = look_by(&net, &spec, ENOUGH).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Resources);
    assert!(fault.message.contains("ulimit -n"), "{}", fault.message);
}
