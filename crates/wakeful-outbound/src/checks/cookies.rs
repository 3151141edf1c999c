//! The cookies of one check: those that a response sets are sent to later hops of the same
//! check, and then dropped.

use http::HeaderMap;
use http::header::{COOKIE, HeaderValue, SET_COOKIE};
use url::{Host, Url};

use crate::net::http::Request;

const MAX_COOKIES: usize = 20;
const MAX_COOKIE_BYTES: usize = 4_096;

#[derive(Default)]
pub(super) struct CookieJar(Vec<Cookie>);

#[derive(Debug, PartialEq, Eq)]
struct Cookie {
    name: String,
    value: String,
    /// Also for the hosts below it if it was set for a domain.
    host: String,
    with_subdomains: bool,
    path: String,
    only_https: bool,
}

impl CookieJar {
    /// Takes over the cookies that a response sets.
    pub(super) fn store(&mut self, url: &Url, headers: &HeaderMap) {
        for value in headers.get_all(SET_COOKIE) {
            let text = String::from_utf8_lossy(value.as_bytes());
            let Some((cookie, is_deleted)) = Cookie::parse(url, &text) else { continue };
            self.0.retain(|old| !old.is_replaced_by(&cookie));
            if !is_deleted && self.0.len() < MAX_COOKIES {
                self.0.push(cookie);
            }
        }
    }

    /// A request with the cookies for its URL in addition to its own.
    pub(super) fn apply(&self, request: &Request) -> Request {
        let mut request = request.clone();
        let Request { url, headers, .. } = &mut request;
        let own = self.0.iter().filter(|cookie| cookie.is_for(url));
        let own = own.map(|cookie| format!("{}={}", cookie.name, cookie.value));
        let given = headers.get(COOKIE).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let all: Vec<String> = given.into_iter().chain(own).collect();
        let value = HeaderValue::from_str(&all.join("; ")).ok().filter(|_| !all.is_empty());
        if let Some(mut value) = value {
            value.set_sensitive(true);
            headers.insert(COOKIE, value);
        }
        request
    }
}

impl Cookie {
    /// A cookie, and whether it is deleted (RFC 6265, section 5.2).
    fn parse(url: &Url, text: &str) -> Option<(Self, bool)> {
        if text.len() > MAX_COOKIE_BYTES {
            return None;
        }
        let mut parts = text.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        let is_sendable = |text: &str| text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if name.is_empty() || !is_sendable(name) || !is_sendable(value) {
            return None;
        }
        let host = url.host_str()?.to_owned();
        let mut cookie = Self {
            name: name.to_owned(),
            value: value.to_owned(),
            host,
            with_subdomains: false,
            path: default_path(url).to_owned(),
            only_https: false,
        };
        let mut is_deleted = false;
        for part in parts {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match name.trim().to_ascii_lowercase().as_str() {
                "domain" if !value.is_empty() => cookie.set_domain(url, value)?,
                "path" if value.starts_with('/') => value.clone_into(&mut cookie.path),
                "secure" => cookie.only_https = true,
                "max-age" => is_deleted = value.parse::<i64>().is_ok_and(|age| age <= 0),
                _ => {}
            }
        }
        Some((cookie, is_deleted))
    }

    /// `None` if the host may not set a cookie for this domain.
    fn set_domain(&mut self, url: &Url, domain: &str) -> Option<()> {
        let domain = domain.trim_start_matches('.').to_ascii_lowercase();
        let Some(Host::Domain(host)) = url.host() else {
            return (domain == self.host).then_some(());
        };
        if !domain.contains('.') || !is_within(host, &domain) {
            return None;
        }
        self.host = domain;
        self.with_subdomains = true;
        Some(())
    }

    fn is_replaced_by(&self, new: &Self) -> bool {
        (&self.name, &self.host, &self.path) == (&new.name, &new.host, &new.path)
    }

    fn is_for(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        let host_fits = host == self.host || self.with_subdomains && is_within(host, &self.host);
        let path = url.path();
        let path_fits = path == self.path
            || path
                .strip_prefix(self.path.as_str())
                .is_some_and(|rest| self.path.ends_with('/') || rest.starts_with('/'));
        host_fits && path_fits && (!self.only_https || url.scheme() == "https")
    }
}

/// Whether a host is a domain, or below it.
fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The folder of a URL.
fn default_path(url: &Url) -> &str {
    match url.path().rfind('/') {
        None | Some(0) => "/",
        Some(end) => &url.path()[..end],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(set_at: &str, cookies: &[&str], to: &str) -> String {
        let mut headers = HeaderMap::new();
        for cookie in cookies {
            headers.append(SET_COOKIE, HeaderValue::from_str(cookie).unwrap());
        }
        let mut jar = CookieJar::default();
        jar.store(&set_at.parse().unwrap(), &headers);
        let request = jar.apply(&Request {
            method: http::Method::GET,
            url: to.parse().unwrap(),
            headers: HeaderMap::new(),
            body: bytes::Bytes::new(),
            trust: crate::net::tls::Trust::Required,
        });
        request
            .headers
            .get(COOKIE)
            .map(|value| value.to_str().unwrap().to_owned())
            .unwrap_or_default()
    }

    #[test]
    fn a_cookie_is_sent_where_it_belongs() {
        let login = "https://www.a.example/app/login";
        for (cookie, to, expected) in [
            ("s=1", "https://www.a.example/app/home", "s=1"),
            ("s=1", "https://www.a.example/app", "s=1"),
            ("s=1", "https://www.a.example/application", ""),
            ("s=1; Path=/", "https://www.a.example/", "s=1"),
            ("s=1; Path=/", "https://a.example/", ""),
            ("s=1; Path=/; Domain=.a.example", "https://a.example/", "s=1"),
            ("s=1; Path=/; Domain=a.example", "https://b.a.example/", "s=1"),
            ("s=1; Path=/; Domain=a.example", "https://ba.example/", ""),
            ("s=1; Path=/; Domain=b.example", "https://b.example/", ""),
            ("s=1; Path=/; Domain=example", "https://a.example/", ""),
            ("s=1; Path=/; Secure", "http://www.a.example/", ""),
            ("s=1; Path=/; Max-Age=0", "https://www.a.example/", ""),
            ("no cookie", "https://www.a.example/", ""),
        ] {
            assert_eq!(sent(login, &[cookie], to), expected, "{cookie} {to}");
        }
    }

    #[test]
    fn cookies_are_replaced_and_bounded() {
        let at = "http://a.example/";
        assert_eq!(sent(at, &["a=1", "b=2", "a=3"], at), "b=2; a=3");
        assert_eq!(sent(at, &["a=1", "a=; Max-Age=0"], at), "");
        let many: Vec<String> = (0..50).map(|number| format!("c{number}=x")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(sent(at, &many, at).split("; ").count(), MAX_COOKIES);
        let long = format!("a={}", "x".repeat(MAX_COOKIE_BYTES));
        assert_eq!(sent(at, &[&long], at), "");
    }
}
