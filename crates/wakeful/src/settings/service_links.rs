//! Service links: the variables with which Kubernetes describes every service of a namespace
//! to its pods. A service named `wakeful`, or `wakeful-` and more, has the prefix of our own
//! variables. They are not settings, and are recognized by their names and their values, so
//! that a mistyped setting is still rejected.

use std::net::{IpAddr, SocketAddr};

const PROTOCOLS: [&str; 3] = ["tcp", "udp", "sctp"];

/// Whether a variable describes a service. For a service `wakeful-web` with a port 8080:
///
/// - `WAKEFUL_WEB_SERVICE_HOST` has the address
/// - `WAKEFUL_WEB_SERVICE_PORT`, and one more with the name of each port, the number
/// - `WAKEFUL_WEB_PORT` and `WAKEFUL_WEB_PORT_8080_TCP` are `tcp://`, the address and the port
/// - `WAKEFUL_WEB_PORT_8080_TCP_PROTO`, `_PORT` and `_ADDR` have the parts of the latter
///
/// With a service `wakeful-mail`, the name of `WAKEFUL_MAIL_PORT` is also that of a setting, to
/// which the value of a service link is never valid.
pub(super) fn is_service_link(name: &str, value: &str) -> bool {
    if !name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_') {
        return false;
    }
    if name.ends_with("_SERVICE_HOST") {
        return is_address(value);
    }
    if name.ends_with("_PORT") && is_target(value) {
        return true;
    }
    if let Some((_, port_name)) = name.split_once("_SERVICE_PORT")
        && (port_name.is_empty()
            || port_name.strip_prefix('_').is_some_and(|name| !name.is_empty()))
    {
        return is_port(value);
    }
    name.match_indices("_PORT").any(|(at, found)| {
        let rest = name[at + found.len()..].strip_prefix('_');
        rest.is_some_and(|rest| describes_port(rest, value))
    })
}

/// `8080_TCP`, `8080_TCP_PROTO`, `8080_TCP_PORT` and `8080_TCP_ADDR`.
fn describes_port(name: &str, value: &str) -> bool {
    let mut parts = name.split('_');
    let (Some(port), Some(protocol)) = (parts.next(), parts.next()) else { return false };
    let protocol = protocol.to_ascii_lowercase();
    if !is_port(port) || !PROTOCOLS.contains(&&*protocol) {
        return false;
    }
    match (parts.next(), parts.next()) {
        (None, None) => is_target(value),
        (Some("PROTO"), None) => value == protocol,
        (Some("PORT"), None) => value == port,
        (Some("ADDR"), None) => is_address(value),
        _ => false,
    }
}

/// `tcp://10.0.0.1:8080`
fn is_target(value: &str) -> bool {
    value.split_once("://").is_some_and(|(protocol, target)| {
        PROTOCOLS.contains(&protocol) && target.parse::<SocketAddr>().is_ok()
    })
}

fn is_address(value: &str) -> bool {
    value.parse::<IpAddr>().is_ok()
}

fn is_port(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit()) && value.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_of_a_service_is_recognized() {
        for (name, value) in [
            ("WAKEFUL_SERVICE_HOST", "10.96.12.7"),
            ("WAKEFUL_SERVICE_PORT", "8080"),
            ("WAKEFUL_SERVICE_PORT_HTTP", "8080"),
            ("WAKEFUL_SERVICE_PORT_HTTP_METRICS", "9090"),
            ("WAKEFUL_PORT", "tcp://10.96.12.7:8080"),
            ("WAKEFUL_PORT_8080_TCP", "tcp://10.96.12.7:8080"),
            ("WAKEFUL_PORT_8080_TCP_PROTO", "tcp"),
            ("WAKEFUL_PORT_8080_TCP_PORT", "8080"),
            ("WAKEFUL_PORT_8080_TCP_ADDR", "10.96.12.7"),
            ("WAKEFUL_PORT_53_UDP_PROTO", "udp"),
            ("WAKEFUL_WEB_SERVICE_HOST", "fd00::7"),
            ("WAKEFUL_WEB_SERVICE_PORT", "80"),
            ("WAKEFUL_WEB_PORT", "tcp://[fd00::7]:80"),
            ("WAKEFUL_WEB_PORT_80_TCP", "tcp://[fd00::7]:80"),
            ("WAKEFUL_WEB_PORT_80_TCP_ADDR", "fd00::7"),
            ("WAKEFUL_MAIL_PORT", "tcp://10.96.12.8:25"),
            // A service named `wakeful-port`.
            ("WAKEFUL_PORT_PORT_80_TCP_PORT", "80"),
        ] {
            assert!(is_service_link(name, value), "{name}={value}");
        }
    }

    #[test]
    fn a_setting_and_a_mistyped_setting_are_no_service_links() {
        for (name, value) in [
            ("WAKEFUL_MAIL_PORT", "587"),
            ("WAKEFUL_PORT", "8080"),
            ("WAKEFUL_SERVER_PORT", "8080"),
            ("WAKEFUL_SERVICE_HOST", "wakeful.example.com"),
            ("WAKEFUL_SERVICE_PORT", "tcp"),
            ("WAKEFUL_SERVICE_PORTS", "8080"),
            ("WAKEFUL_SERVICE_LISTEN", "127.0.0.1:8080"),
            ("WAKEFUL_LISTEN", "tcp://127.0.0.1:8080"),
            ("WAKEFUL_PORT", "http://10.96.12.7:8080"),
            ("WAKEFUL_PORT", "tcp://wakeful:8080"),
            ("WAKEFUL_PORT_8080_TCP_PROTO", "udp"),
            ("WAKEFUL_PORT_8080_TCP_PORT", "9090"),
            ("WAKEFUL_PORT_8080_TCP_HOST", "10.96.12.7"),
            ("WAKEFUL_PORT_8080_HTTP", "tcp://10.96.12.7:8080"),
            ("WAKEFUL_PORT_WEB_TCP", "tcp://10.96.12.7:8080"),
            ("WAKEFUL_NATS_URL", "tcp://10.96.12.7:4222"),
        ] {
            assert!(!is_service_link(name, value), "{name}={value}");
        }
    }
}
