//! TCP checks on loopback.

use std::time::Duration;
use tokio::net::TcpListener;
use wakeful_core::monitors::spec::{Hostname, Spec, TcpSpec};
use wakeful_core::observation::{Contact, FaultKind};

use crate::servers::{
    LONG_TIMEOUT, TestServer, assert_down, assert_up, check, check_with, net, run_inside,
};

fn tcp(hostname: &str, port: u16) -> Spec {
    Spec::Tcp(TcpSpec::of(Hostname::parse(hostname).unwrap(), port))
}

#[tokio::test]
async fn an_open_port_is_up_on_both_families() {
    for addr in ["127.0.0.1", "::1"] {
        let listener = TcpListener::bind((addr, 0)).await.unwrap();
        let open = listener.local_addr().unwrap();
        let observation = check(&tcp(addr, open.port())).await;
        assert_up(&observation, &format!("connected to {open}"));
        assert!(observation.phases.connect.is_some() && observation.phases.resolve.is_none());
    }
}

#[tokio::test]
async fn a_closed_port_is_refused_and_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let observation = check(&tcp("127.0.0.1", port)).await;
    assert_down(&observation, Contact::Refused, "connection refused");
}

#[tokio::test]
async fn a_name_falls_back_to_the_family_that_listens() {
    let server = TestServer::new(async |_| Ok(())).await;
    let observation = check(&tcp("localhost", server.addr.port())).await;
    assert!(observation.up, "{observation:?}");
    assert!(observation.phases.resolve.is_some());
}

#[tokio::test]
async fn a_port_that_drops_everything_is_silent() {
    // A listener whose queue is full does not respond any more.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(0).unwrap();
    let port = listener.local_addr().unwrap().port();
    let net = net();
    let by = || wakeful_outbound::net::Deadline::within(Duration::from_millis(300));
    let mut held = Vec::new();
    let failure = loop {
        match net.connect("127.0.0.1", port, by()).await {
            Ok(connection) => held.push(connection),
            Err(failure) => break failure,
        }
        assert!(held.len() < 300, "the queue never filled");
    };
    assert_eq!(failure.message(), "no answer within 0.3 s");
    let observation =
        check_with(&net, &tcp("127.0.0.1", port), Duration::from_millis(300)).await.unwrap();
    assert_down(&observation, Contact::Silence, "no answer within 0.3 s");
}

#[tokio::test]
async fn an_api_monitor_is_never_checked() {
    let fault = check_with(&net(), &Spec::Api(Default::default()), LONG_TIMEOUT).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Config);
}

#[tokio::test]
async fn a_link_local_target_is_a_fault_and_not_down() {
    let fault = check_with(&net(), &tcp("169.254.169.254", 80), LONG_TIMEOUT).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Egress);
    assert_eq!(
        fault.message,
        "blocked by this server's network policy: 169.254.169.254 is a cloud metadata service"
    );
}

#[test]
fn without_file_descriptors_a_check_is_a_fault() {
    run_inside(&["sh"], "ulimit -n 64", "tcp::no_file_descriptor_is_left");
}

#[tokio::test]
#[ignore = "needs a low limit of file descriptors: started by the test above"]
async fn no_file_descriptor_is_left() {
    let server = TestServer::new(async |_| Ok(())).await;
    let (net, spec) = (net(), tcp("127.0.0.1", server.addr.port()));
    assert!(check_with(&net, &spec, LONG_TIMEOUT).await.unwrap().up);
    let mut held = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        held.push(file);
    }
    let fault = check_with(&net, &spec, LONG_TIMEOUT).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Resources);
    assert!(fault.message.contains("ulimit -n"), "{}", fault.message);
}
