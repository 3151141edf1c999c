//! The rows about the options of requests and connections, and about the types tls and domain.

use serde_json::{Value, json};

use super::peers::Peers;
use super::{Degraded, Down, Row, Unknown, Up, http, row, with};

pub(super) fn rows(peers: &Peers) -> Vec<Row> {
    let mut rows = connection_rows(peers);
    rows.extend(http_rows(peers));
    rows.extend(tls_rows(peers));
    rows.extend(domain_rows(peers));
    rows
}

/// A monitor of a URL with options.
fn requesting(url: &str, options: Value) -> Value {
    json!({"type": "http", "http": with(json!({"url": url}), options)})
}

fn connection_rows(peers: &Peers) -> Vec<Row> {
    let url = |name: &str| format!("http://{name}:{}/ok", peers.http.port);
    let by = |port: u16| {
        requesting(&url("good.test"), json!({"proxy": format!("http://127.0.0.1:{port}")}))
    };
    let connecting = |name: &str, options: Value| with(http(url(name)), options);
    // Without IPv6, nothing is known about a target that is also checked over it.
    let routes = std::fs::read_to_string("/proc/net/ipv6_route").unwrap_or_default();
    let over_both = if routes.contains(" cable") { Degraded("partial_family") } else { Unknown };
    vec![
        row("IPv6 dead, both", connecting("dead-v6.test", json!({"ip_family": "both"})), over_both)
            // Each check lasts as long as it may, and then one is skipped.
            .after(&[], 8),
        row("IPv6 dead, IPv4", connecting("dead-v6.test", json!({"ip_family": "4"})), Up),
        row("another address", connecting("nxdomain.test", json!({"connect_to": "127.0.0.1"})), Up),
        row("another resolver", connecting("half.test", json!({"resolver": "127.0.0.2"})), Up),
        row(
            "own resolver of the monitor silent",
            connecting(
                "good.test",
                json!({"resolver": format!("127.0.0.1:{}", peers.closed_port)}),
            ),
            Unknown,
        ),
        row("proxy returns 502", by(peers.failing_proxy.port), Down("proxy")),
        row("proxy unreachable", by(peers.closed_port), Unknown),
    ]
}

fn http_rows(peers: &Peers) -> Vec<Row> {
    let url = |path: &str| format!("http://127.0.0.1:{}/{path}", peers.http.port);
    let oauth2 = |token_path: &str, path: &str| {
        let oauth2 =
            json!({"token_url": url(token_path), "client_id": "ann", "client_secret": "secret"});
        requesting(&url(path), json!({"authentication_type": "oauth2", "oauth2": oauth2}))
    };
    let digest = json!({"authentication_type": "digest", "username": "ann", "password": "wrong"});
    let good = format!("https://good.test:{}/", peers.https.port);
    let mutual = format!("https://mutual.test:{}/", peers.for_clients_with_certificate.port);
    let (certificate, key) = &peers.client.pem;
    vec![
        row(
            "HTTP/1.1 where 2 is required",
            requesting(&good, json!({"version": "2"})),
            Down("http_version"),
        ),
        row("token refused", oauth2("status/401", "ok"), Down("auth")),
        row("token accepted", oauth2("token", "bearer"), Up),
        row(
            "bearer token refused",
            requesting(&url("bearer"), json!({"authentication_type": "bearer", "token": "other"})),
            Down("http_status"),
        ),
        row("wrong digest password", requesting(&url("digest"), digest), Down("http_status")),
        row(
            "client certificate presented",
            requesting(&mutual, json!({"client_certificate": certificate, "client_key": key})),
            Up,
        ),
    ]
}

fn tls_rows(peers: &Peers) -> Vec<Row> {
    let tls = |hostname: &str, port: u16, tls: Value| json!({"type": "tls", "hostname": hostname, "port": port, "tls": tls});
    let plain = |name: &str| tls(name, peers.https.port, json!({}));
    let mail = |port: u16| tls("good.test", port, json!({"starttls": "smtp"}));
    vec![
        row("tls: trusted", plain("good.test"), Up),
        row("tls: expired", plain("expired.test"), Down("tls_expired"))
            .with_warning("monitor.certificate_expiring"),
        row("tls: wrong name", plain("wrong.test"), Down("tls_name")),
        row(
            "tls: any certificate",
            tls("wrong.test", peers.https.port, json!({"ignore_tls_error": true})),
            Up,
        ),
        row(
            "tls: plaintext",
            tls("good.test", peers.plaintext.port, json!({})),
            Down("tls_handshake"),
        ),
        row("tls: silence", tls("good.test", peers.stalling.port, json!({})), Down("tls_timeout")),
        row("STARTTLS not offered", mail(peers.mail_without_tls.port), Down("tls_handshake")),
        row("bytes injected before STARTTLS", mail(peers.injecting_mail.port), Down("protocol")),
        row("STARTTLS, server waits", mail(peers.http.port), Down("timeout_first_byte")),
    ]
}

/// Each registry has a name of its own, because one is asked once a second.
fn domain_rows(peers: &Peers) -> Vec<Row> {
    let domain = |state: &str| {
        let server = format!("http://{state}.registry.test:{}/rdap/{state}", peers.http.port);
        json!({"type": "domain", "hostname": "shop.test", "heartbeat_interval": 3_600,
            "domain": {"server": server}})
    };
    let no_registry =
        json!({"type": "domain", "hostname": "shop.nowhere", "heartbeat_interval": 3_600});
    vec![
        row("domain: registered", domain("good"), Up),
        row("domain: expired", domain("expired"), Down("domain_expired"))
            .with_warning("monitor.domain_expiring"),
        row("domain: on hold", domain("hold"), Down("domain_hold")),
        row("domain: 40 days left", domain("expiring"), Up).with_warning("monitor.domain_expiring"),
        row("domain: not registered", domain("unregistered"), Down("domain_unregistered")),
        row("domain: registry refuses", domain("busy"), Unknown),
        row("domain: no registry", no_registry, Unknown),
    ]
}
