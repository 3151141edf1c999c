//! `wakeful healthcheck`: asks the service that runs with the same settings whether it is
//! alive or ready. A container needs no shell and no HTTP client for its health check.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::bootstrap::Outcome;
use crate::settings::Settings;

/// Docker and Kubernetes give a health check some seconds; a service that needs longer is
/// not healthy.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Longer than the status line of any response.
const MAX_STATUS_LINE: u64 = 256;

/// Succeeds if the service responds; with `ready`, if it also has its storage and monitors.
pub async fn run(settings: &Settings, ready: bool) -> Outcome {
    let address = reachable(settings.server.listen);
    let path = if ready { "/readyz" } else { "/healthz" };
    match tokio::time::timeout(TIMEOUT, status(address, path)).await {
        Ok(Ok(Some(200))) => Ok(()),
        Ok(Ok(Some(status))) => {
            Err(format!("http://{address}{path} returned {status}: see the log of the service")
                .into())
        }
        Ok(Ok(None)) => Err(format!(
            "{address} does not respond as Wakeful does: check server.listen and what runs there"
        )
        .into()),
        Ok(Err(error)) => Err(format!(
            "cannot reach {address}: {error}; check that the service runs with this server.listen"
        )
        .into()),
        Err(_) => Err(format!(
            "http://{address}{path} did not respond within {} seconds: see the log of the service",
            TIMEOUT.as_secs()
        )
        .into()),
    }
}

/// Where this machine reaches a listener: one on all networks is also on loopback.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

/// The status of a response; `None` if it is not HTTP.
async fn status(address: SocketAddr, path: &str) -> io::Result<Option<u16>> {
    #[expect(clippy::disallowed_methods, reason = "the service's own listener")]
    let mut connection = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).await?;
    let mut start = Vec::new();
    connection.take(MAX_STATUS_LINE).read_to_end(&mut start).await?;
    let start = String::from_utf8_lossy(&start);
    let status = start.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
    Ok(status.and_then(|status| status.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_on_all_networks_is_asked_on_loopback() {
        for (listen, asked) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:8080", "[::1]:8080"),
            ("192.0.2.1:80", "192.0.2.1:80"),
        ] {
            let listen = listen.parse().expect("an address");
            assert_eq!(reachable(listen).to_string(), asked);
        }
    }
}
