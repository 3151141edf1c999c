//! The address of the client: the peer of the connection, unless that is a trusted
//! proxy. Then it is the last address in `X-Forwarded-For` that is not a trusted
//! proxy; entries before it come from the client and are never trusted.

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
use ipnet::IpNet;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use wakeful_engine::Origin;

use crate::app::Api;
use crate::request_id::RequestId;

const FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-for");

pub(crate) struct ClientIp(pub(crate) IpAddr);

impl FromRequestParts<Api> for ClientIp {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Infallible> {
        Ok(Self(of(parts, api)))
    }
}

/// The address of the client of a request.
pub(crate) fn of(parts: &Parts, api: &Api) -> IpAddr {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |info| info.0.ip());
    client(peer, &parts.headers, &api.settings().trusted_proxies)
}

/// The client's address and user agent, and the id of the request.
pub(crate) struct ClientOrigin(pub(crate) Origin);

impl FromRequestParts<Api> for ClientOrigin {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Infallible> {
        Ok(Self(origin(parts, api)))
    }
}

/// Where a request comes from.
pub(crate) fn origin(parts: &Parts, api: &Api) -> Origin {
    let agent = parts.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let request = parts.extensions.get::<RequestId>().map(|RequestId(id)| id.clone());
    Origin {
        address: of(parts, api),
        agent: agent.unwrap_or_default().to_owned(),
        request: request.unwrap_or_default(),
    }
}

pub(crate) fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |ip: &IpAddr| trusted.iter().any(|net| net.contains(ip));
    let mut client = peer.to_canonical();
    // A client may have sent bytes that are not text, to which the proxy has added.
    let hops: Vec<&[u8]> = headers
        .get_all(FORWARDED)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .collect();
    for hop in hops.iter().rev() {
        if !is_trusted(&client) {
            break;
        }
        match std::str::from_utf8(hop).ok().and_then(|hop| parse_hop(hop.trim())) {
            Some(ip) => client = ip.to_canonical(),
            None => break,
        }
    }
    client
}

/// Some proxies add the port and put IPv6 addresses in brackets.
fn parse_hop(hop: &str) -> Option<IpAddr> {
    let in_brackets = hop.strip_prefix('[').and_then(|hop| hop.strip_suffix(']'));
    let address = in_brackets.unwrap_or(hop);
    address.parse().ok().or_else(|| Some(hop.parse::<SocketAddr>().ok()?.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn client_for(peer: &str, forwarded: &[&str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED, value.parse().unwrap());
        }
        let trusted: Vec<IpNet> = trusted.iter().map(|net| net.parse().unwrap()).collect();
        client(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn without_trusted_proxies_the_connection_counts() {
        assert_eq!(client_for("9.9.9.9", &["1.2.3.4"], &[]), "9.9.9.9");
        assert_eq!(client_for("9.9.9.9", &["1.2.3.4"], &["10.0.0.0/8"]), "9.9.9.9");
    }

    #[test]
    fn behind_a_trusted_proxy_the_last_untrusted_address_counts() {
        let net = &["10.0.0.0/8"];
        assert_eq!(client_for("10.0.0.1", &["1.2.3.4"], net), "1.2.3.4");
        assert_eq!(client_for("10.0.0.1", &["6.6.6.6, 1.2.3.4, 10.0.0.2"], net), "1.2.3.4");
        assert_eq!(client_for("10.0.0.1", &["6.6.6.6", "1.2.3.4"], net), "1.2.3.4");
        assert_eq!(client_for("::ffff:10.0.0.1", &["1.2.3.4"], net), "1.2.3.4");
    }

    #[test]
    fn a_port_and_brackets_are_not_part_of_the_address() {
        let net = &["10.0.0.0/8"];
        assert_eq!(client_for("10.0.0.1", &["1.2.3.4:5678"], net), "1.2.3.4");
        assert_eq!(client_for("10.0.0.1", &["6.6.6.6, 1.2.3.4:80, 10.0.0.2:443"], net), "1.2.3.4");
        assert_eq!(client_for("10.0.0.1", &["[2001:db8::1]:5678"], net), "2001:db8::1");
        assert_eq!(client_for("10.0.0.1", &["[2001:db8::1]"], net), "2001:db8::1");
        assert_eq!(client_for("10.0.0.1", &["[1.2.3.4"], net), "10.0.0.1");
    }

    #[test]
    fn bytes_before_the_entry_of_the_proxy_do_not_hide_it() {
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_bytes(b"\xff, 1.2.3.4").unwrap();
        headers.append(FORWARDED, value);
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        let found = client("10.0.0.1".parse().unwrap(), &headers, &trusted);
        assert_eq!(found.to_string(), "1.2.3.4");
    }

    #[test]
    fn an_invalid_entry_ends_the_search() {
        let net = &["10.0.0.0/8"];
        assert_eq!(client_for("10.0.0.1", &["unknown"], net), "10.0.0.1");
        assert_eq!(client_for("10.0.0.1", &[], net), "10.0.0.1");
    }
}
