//! The address of the client: that of the connection, unless the connection
//! comes from a proxy the operator trusts. Then it is the last address in
//! `X-Forwarded-For` that is no trusted proxy; what a client wrote before it
//! is never believed.

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
use ipnet::IpNet;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use wakeful_engine::Origin;

use crate::app::Api;

const FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-for");

pub(crate) struct ClientIp(pub(crate) IpAddr);

impl FromRequestParts<Api> for ClientIp {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |info| info.0.ip());
        Ok(Self(client(peer, &parts.headers, &api.settings().trusted_proxies)))
    }
}

/// The client's address, and what it calls itself.
pub(crate) struct From(pub(crate) Origin);

impl FromRequestParts<Api> for From {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Infallible> {
        let ClientIp(address) = ClientIp::from_request_parts(parts, api).await?;
        let agent = parts.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        Ok(Self(Origin { address, agent: agent.unwrap_or_default().to_owned() }))
    }
}

fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |ip: &IpAddr| trusted.iter().any(|net| net.contains(ip));
    let mut client = peer.to_canonical();
    let hops: Vec<&str> = headers
        .get_all(FORWARDED)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .collect();
    for hop in hops.iter().rev() {
        if !is_trusted(&client) {
            break;
        }
        match hop.trim().parse::<IpAddr>() {
            Ok(ip) => client = ip.to_canonical(),
            Err(_) => break,
        }
    }
    client
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(peer: &str, forwarded: &[&str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED, value.parse().unwrap());
        }
        let trusted: Vec<IpNet> = trusted.iter().map(|net| net.parse().unwrap()).collect();
        client(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn without_trusted_proxies_the_connection_counts() {
        assert_eq!(seen("9.9.9.9", &["1.2.3.4"], &[]), "9.9.9.9");
        assert_eq!(seen("9.9.9.9", &["1.2.3.4"], &["10.0.0.0/8"]), "9.9.9.9");
    }

    #[test]
    fn behind_a_trusted_proxy_the_last_stranger_counts() {
        let net = &["10.0.0.0/8"];
        assert_eq!(seen("10.0.0.1", &["1.2.3.4"], net), "1.2.3.4");
        assert_eq!(seen("10.0.0.1", &["6.6.6.6, 1.2.3.4, 10.0.0.2"], net), "1.2.3.4");
        assert_eq!(seen("10.0.0.1", &["6.6.6.6", "1.2.3.4"], net), "1.2.3.4");
        assert_eq!(seen("::ffff:10.0.0.1", &["1.2.3.4"], net), "1.2.3.4");
    }

    #[test]
    fn rubbish_stops_the_walk() {
        let net = &["10.0.0.0/8"];
        assert_eq!(seen("10.0.0.1", &["unknown"], net), "10.0.0.1");
        assert_eq!(seen("10.0.0.1", &[], net), "10.0.0.1");
    }
}
