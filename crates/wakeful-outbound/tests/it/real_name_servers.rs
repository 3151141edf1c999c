//! Dns checks with name servers that others have written: Knot DNS, which signs its zones, Unbound,
//! which verifies signatures, and dnslib, which compresses and truncates its answers in its own way.
//! `scripts/install-test-deps` installs them.

use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use wakeful_core::monitors::spec::{DnsSpec, Hostname, RecordType, Resolver, Spec};
use wakeful_core::observation::Observation;
use wakeful_core::reason::Reason;
use wakeful_core::time::{Clock, Millis};
use wakeful_outbound::checks::CheckRequest;
use wakeful_outbound::net::Net;
use wakeful_outbound::net::guard::Policy;
use wakeful_testkit::{InstalledServer, SignedZones};

use crate::assertions::assertions;
use crate::servers::{LONG_TIMEOUT, run, team};

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/venv/bin/python");

/// Signatures are as old as the test.
struct Now;

impl Clock for Now {
    #[expect(clippy::disallowed_methods, reason = "Knot has the clock of the machine")]
    fn now(&self) -> Millis {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Millis(i64::try_from(since.as_millis()).unwrap())
    }
}

/// A check of the records of a name at the server on this port.
async fn seen(port: u16, hostname: &str, kind: &str, list: Value) -> Observation {
    let spec = Spec::Dns(DnsSpec {
        hostname: Hostname::parse(hostname).unwrap(),
        port: None,
        resolver_server: Resolver::parse(&format!("127.0.0.1:{port}")).unwrap(),
        record_type: RecordType::parse(kind).unwrap(),
    });
    let list = assertions(list);
    let request = CheckRequest { assertions: &list, ..CheckRequest::new(team(0), &spec) };
    let net = Net::new(Policy::Private, Vec::new(), Arc::new(Now));
    run(&net, &request, LONG_TIMEOUT).await.unwrap()
}

#[tokio::test]
async fn signatures_of_knot_are_verified_by_unbound() {
    let zones = SignedZones::start().await;
    let (authority, resolver) = (zones.authority.port, zones.resolver.port);
    let (signed, forged) = (SignedZones::SIGNED, SignedZones::FORGED);
    let dnssec = |property: &str, comparison: &str, target: String| {
        json!([{"source": "dnssec", "property": property, "comparison": comparison,
            "target": target}])
    };
    let authenticated = || dnssec("authenticated", "equals", "true".to_owned());
    let days = |comparison, days: u32| dnssec("signature_days_left", comparison, days.to_string());
    let code = json!([{"source": "code", "comparison": "equals", "target": "SERVFAIL"}]);
    for (port, name, list, reason) in [
        (resolver, signed, json!([]), None),
        (resolver, signed, authenticated(), None),
        (resolver, signed, days("at_least", SignedZones::DAYS - 1), None),
        (resolver, signed, days("at_most", SignedZones::DAYS), None),
        (resolver, signed, days("at_least", SignedZones::DAYS + 1), Some(Reason::Dnssec)),
        // The name server itself sends its signatures, and verifies nothing.
        (authority, signed, days("at_least", SignedZones::DAYS - 1), None),
        (authority, signed, authenticated(), Some(Reason::Dnssec)),
        (resolver, forged, authenticated(), Some(Reason::Dnssec)),
        (resolver, forged, days("at_least", 1), Some(Reason::Dnssec)),
        // Without an assertion about signatures, nothing else than the code is known.
        (resolver, forged, json!([]), Some(Reason::DnsServfail)),
        (resolver, forged, code, None),
    ] {
        let row = format!("{name} at {port}: {list}");
        let observation = seen(port, name, "A", list).await;
        assert_eq!(observation.reason, reason, "{row}: {}", observation.message);
        if observation.up && name == signed {
            assert_eq!(observation.message, SignedZones::ADDRESS, "{row}");
        }
    }
    let observation = seen(resolver, forged, "A", authenticated()).await;
    let message = "SERVFAIL: the name server rejects the signatures of www.forged.example.";
    assert_eq!(observation.message, message);
}

#[tokio::test]
async fn answers_of_dnslib_are_read() {
    let mut zone = "$ORIGIN one.example.\n$TTL 60\n\
        @ IN SOA ns1 root 7 1 2 3 4\n\
        @ IN NS ns1\n\
        @ IN NS ns2\n\
        @ IN MX 10 mail\n\
        @ IN TXT \"v=spf1 -all\"\n\
        @ IN CAA 0 issue \"ca.example\"\n\
        @ IN A 192.0.2.1\n\
        @ IN AAAA 2001:db8::1\n\
        alias IN CNAME one.example.\n\
        _sip._tcp IN SRV 1 2 5060 sip.one.example.\n\
        1.2.0.192.in-addr.arpa. IN PTR host\n"
        .to_owned();
    for last in 1..=60 {
        writeln!(zone, "many IN A 192.0.2.{last}").unwrap();
    }
    let server = InstalledServer::start(PYTHON, |folder, port| {
        let path = folder.join("zone");
        fs::write(&path, zone).unwrap();
        let text = format!(
            "-m dnslib.zoneresolver --address 127.0.0.1 --port {port} --tcp --udplen 512 --zone {}",
            path.display()
        );
        text.split(' ').map(str::to_owned).collect()
    })
    .await;
    for (name, kind, expected) in [
        ("one.example", "A", "192.0.2.1"),
        ("one.example", "AAAA", "2001:db8::1"),
        ("one.example", "CAA", "ca.example"),
        ("alias.one.example", "CNAME", "one.example."),
        ("one.example", "MX", "10 mail.one.example."),
        ("one.example", "NS", "ns1.one.example., ns2.one.example."),
        ("192.0.2.1", "PTR", "host.one.example."),
        ("one.example", "SOA", "ns1.one.example. root.one.example. 7 1 2 3 4"),
        ("_sip._tcp.one.example", "SRV", "1 2 5060 sip.one.example."),
        ("one.example", "TXT", "v=spf1 -all"),
    ] {
        let observation = seen(server.port, name, kind, json!([])).await;
        assert!(observation.up, "{kind}: {observation:?}");
        assert!(observation.message.contains(expected), "{kind}: {}", observation.message);
        assert_eq!(observation.phases.connect, None, "{kind} fits into a datagram");
    }
    // It puts the addresses of an alias where they do not belong to the answer.
    let observation = seen(server.port, "alias.one.example", "A", json!([])).await;
    assert_eq!(observation.reason, Some(Reason::DnsNoRecords), "{observation:?}");
    let observation = seen(server.port, "none.one.example", "A", json!([])).await;
    assert_eq!(observation.reason, Some(Reason::DnsNxdomain), "{observation:?}");
    let all = json!([{"source": "records", "comparison": "equals", "target": "60"}]);
    let observation = seen(server.port, "many.one.example", "A", all).await;
    assert!(observation.up && observation.phases.connect.is_some(), "by TCP: {observation:?}");
}
