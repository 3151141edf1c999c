//! Checks the host that a request names. A malicious site can have its own name resolve
//! to loopback (DNS rebinding) and then call a local service as its own origin, so a
//! loopback listener serves only its own names. Other listeners can be reached
//! directly, without such a trick, and serve any name.

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

use crate::app::Api;
use crate::error::{ApiError, ErrorCode};
use crate::serve::ConnectionContext;
use crate::statuspages::OnDomain;

const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Responds with 421 to a request for a host that a loopback listener does not serve.
pub(crate) async fn check(State(api): State<Api>, request: Request, next: Next) -> Response {
    let context = request.extensions().get::<ConnectionContext>();
    let listener = context.map(|context| context.listener.ip().to_canonical());
    if let Some(listener) = listener.filter(IpAddr::is_loopback) {
        let served = Served { public_url: api.engine().public_url(), listener };
        // The domains of status pages are served too, and lead to nothing but their page.
        let is_page = request.extensions().get::<OnDomain>().is_some();
        let snapshots = api.engine().snapshots();
        let is_served = |host: String| {
            served.includes(&host) || (is_page && snapshots.by_domain(&host).is_some())
        };
        if !hosts(&request).all(|host| host.is_some_and(is_served)) {
            return served.misdirected().into_response();
        }
    }
    next.run(request).await
}

/// Every host that the request names: in its target, which HTTP/2 calls `:authority`,
/// and in `Host`. Browsers always name one; a request without any is served.
pub(crate) fn hosts(request: &Request) -> impl Iterator<Item = Option<String>> {
    let target = request.uri().authority().cloned().map(Some);
    let named = request.headers().get_all(header::HOST).iter();
    let named = named.map(|value| value.to_str().ok()?.parse::<Authority>().ok());
    target.into_iter().chain(named).map(|authority| Some(normalized(authority?.host())))
}

/// Host names are case-insensitive and may end with the dot of the root.
pub(crate) fn normalized(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// The hosts that a loopback listener serves.
struct Served<'a> {
    public_url: &'a str,
    listener: IpAddr,
}

impl Served<'_> {
    fn includes(&self, host: &str) -> bool {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        LOOPBACK_HOSTS.contains(&host)
            || bare.parse::<IpAddr>().is_ok_and(|address| address == self.listener)
            || self.public_host().is_some_and(|public| public == host)
    }

    fn public_host(&self) -> Option<String> {
        let url: Uri = self.public_url.parse().ok()?;
        url.host().map(normalized)
    }

    fn misdirected(&self) -> ApiError {
        let mut names = LOOPBACK_HOSTS.map(str::to_owned).to_vec();
        names.extend(self.public_host().filter(|host| !LOOPBACK_HOSTS.contains(&host.as_str())));
        ApiError::new(
            StatusCode::MISDIRECTED_REQUEST,
            ErrorCode::MisdirectedRequest,
            format!(
                "This listener serves only the hosts {}; to use another name, set server.public_url to it.",
                names.join(", ")
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn is_served(request: &Request) -> bool {
        let served = Served {
            public_url: "https://Wakeful.example.com",
            listener: "127.0.0.5".parse().expect("an address"),
        };
        hosts(request).all(|host| host.is_some_and(|host| served.includes(&host)))
    }

    fn request(target: &str, hosts: &[&str]) -> Request {
        let mut request = Request::builder().uri(target);
        for host in hosts {
            request = request.header(header::HOST, *host);
        }
        request.body(Body::empty()).expect("a request")
    }

    #[test]
    fn a_loopback_listener_serves_its_own_names_and_the_public_one() {
        for host in [
            "localhost",
            "LocalHost:8080",
            "localhost.",
            "127.0.0.1",
            "127.0.0.1:1",
            "[::1]",
            "[::1]:8080",
            "127.0.0.5:8080",
            "wakeful.example.com",
            "WAKEFUL.example.com:443",
        ] {
            assert!(is_served(&request("/", &[host])), "{host}");
        }
        assert!(is_served(&request("/", &[])), "HTTP/1.0 without a host");
        assert!(is_served(&request("http://localhost:8080/", &[])), "an absolute target");
    }

    #[test]
    fn a_loopback_listener_serves_no_other_name() {
        for host in [
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "127.0.0.2",
            "0.0.0.0",
            "[::]",
            "[::ffff:127.0.0.1]",
            "127.1",
            "x.localhost",
            "",
            " ",
            "localhost@evil.example",
            "a b",
            "user@",
            "example.com",
        ] {
            assert!(!is_served(&request("/", &[host])), "{host}");
        }
        assert!(!is_served(&request("/", &["localhost", "evil.example"])), "two hosts");
        assert!(!is_served(&request("http://evil.example/", &["localhost"])), "the target");
        assert!(!is_served(&request("http://localhost/", &["evil.example"])), "the header");
    }
}
