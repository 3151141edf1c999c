//! HTTP and http_keyword: up when the status code is accepted, the body is
//! complete as far as it is read, and it contains the keyword, if there is one.
//! Redirects are followed here, so that each hop passes the guard.

use bytes::Bytes;
use data_encoding::BASE64;
use http::header::{
    ACCEPT, ACCEPT_CHARSET, ACCEPT_ENCODING, ACCEPT_LANGUAGE, AUTHORIZATION, CACHE_CONTROL,
    CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, PRAGMA,
    USER_AGENT,
};
use http::{HeaderMap, Method, StatusCode};
use url::Url;
use wakeful_core::monitors::spec::{AuthenticationKind, HttpSpec};
use wakeful_core::observation::FaultKind;

use super::TargetAnswer;
use super::keyword::Finder;
use super::ntlm;
use crate::net::decode::{ACCEPTED, Discard, Encoding, End};
use crate::net::error::ProbeError;
use crate::net::http::{ConnectionMode, Head, Request, Session};
use crate::net::tls::Trust;
use crate::net::{Deadline, Net, Trace};

const USER_AGENT_VALUE: &str = concat!("Wakeful/", env!("CARGO_PKG_VERSION"));
const MAX_QUOTE_LENGTH: usize = 60;

/// Headers that describe the request and not its sender.
const CROSS_ORIGIN_HEADERS: [HeaderName; 10] = [
    ACCEPT,
    ACCEPT_CHARSET,
    ACCEPT_ENCODING,
    ACCEPT_LANGUAGE,
    CACHE_CONTROL,
    CONTENT_ENCODING,
    CONTENT_LANGUAGE,
    CONTENT_TYPE,
    PRAGMA,
    USER_AGENT,
];

pub(super) async fn check(
    net: &Net,
    spec: &HttpSpec,
    cap: usize,
    deadline: Deadline,
    trace: &mut Trace,
) -> Result<TargetAnswer, ProbeError> {
    let mut hop = Hop::first(spec)?;
    for _ in 0..=spec.max_redirects {
        let (session, head) = hop.send(net, spec, deadline, trace).await?;
        match hop.next(&head).filter(|_| spec.max_redirects > 0) {
            Some(next) => hop = next,
            None => return evaluate(spec, &hop, session, head, cap, trace).await,
        }
    }
    Ok(TargetAnswer::down(format!("too many redirects ({})", spec.max_redirects)))
}

async fn evaluate(
    spec: &HttpSpec,
    hop: &Hop,
    mut session: Session,
    head: Head,
    cap: usize,
    trace: &mut Trace,
) -> Result<TargetAnswer, ProbeError> {
    let status = status_line(head.status);
    if !spec.accepted.contains(head.status.as_u16()) {
        return Ok(TargetAnswer::down(status));
    }
    let note = if hop.downgraded { " (redirected from https to http)" } else { "" };
    if spec.keyword.is_empty() {
        // Without a keyword there is no need to decode.
        session.read(head.body, Encoding::Plain, cap, &mut Discard, trace).await?;
        return Ok(TargetAnswer::up(format!("{status}{note}")));
    }
    let mut finder = Finder::new(&spec.keyword, &head.headers);
    let encoding = Encoding::of(&head.headers);
    let end = session.read(head.body, encoding, cap, &mut finder, trace).await?;
    if finder.found() {
        return Ok(TargetAnswer::up(format!("{status}, keyword found{note}")));
    }
    let within = if end == End::Capped { "the first " } else { "" };
    let keyword = quote(&spec.keyword);
    let size = size(finder.read());
    Ok(TargetAnswer::down(format!("keyword \"{keyword}\" not found in {within}{size}")))
}

/// One hop: the request, and whether the credentials may be sent.
struct Hop {
    request: Request,
    trusted: bool,
    downgraded: bool,
}

impl Hop {
    fn first(spec: &HttpSpec) -> Result<Self, ProbeError> {
        let method = Method::from_bytes(spec.method.as_str().as_bytes());
        let request = Request {
            method: method.map_err(|_| cannot_send("method"))?,
            url: spec.url.url().clone(),
            headers: headers(spec)?,
            body: Bytes::copy_from_slice(spec.body.as_bytes()),
            trust: if spec.ignore_tls_error { Trust::Ignored } else { Trust::Required },
        };
        Ok(Self { request, trusted: true, downgraded: false })
    }

    async fn send(
        &self,
        net: &Net,
        spec: &HttpSpec,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<(Session, Head), ProbeError> {
        let by_ntlm = spec.authentication.kind == AuthenticationKind::Ntlm && self.trusted;
        let keep = if by_ntlm { ConnectionMode::Open } else { ConnectionMode::Close };
        let mut session = Session::open(net, &self.request, keep, deadline, trace).await?;
        let head = if by_ntlm {
            let user = ntlm::Credentials::new(&spec.username, &spec.password);
            let now = net.clock().now();
            ntlm::send_authenticated(&mut session, &self.request, &user, now, trace).await?
        } else {
            session.send(&self.request, trace).await?
        };
        Ok((session, head))
    }

    /// The hop that the response redirects to, if any.
    fn next(&self, head: &Head) -> Option<Self> {
        if !matches!(head.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        let location = head.headers.get(LOCATION)?;
        let location = std::str::from_utf8(location.as_bytes()).ok()?;
        let from = &self.request.url;
        let mut url = from.join(location).ok()?;
        // A server must not choose the user name.
        let _ = url.set_username("").and_then(|()| url.set_password(None));

        let mut request = Request { url, ..self.request.clone() };
        if becomes_get(head.status, &request.method) {
            request.method = Method::GET;
            request.body = Bytes::new();
            request.headers.remove(CONTENT_TYPE);
        }
        let same_origin = same_origin(from, &request.url);
        if !same_origin {
            request.headers = cross_origin_headers(&request.headers);
        }
        let downgraded = from.scheme() == "https" && request.url.scheme() == "http";
        Some(Self {
            request,
            trusted: self.trusted && same_origin,
            downgraded: self.downgraded || downgraded,
        })
    }
}

/// RFC 9110, section 15.4: always after 303; after 301 and 302 as all clients
/// do.
fn becomes_get(status: StatusCode, method: &Method) -> bool {
    match status.as_u16() {
        303 => *method != Method::HEAD,
        301 | 302 => *method == Method::POST,
        _ => false,
    }
}

/// Scheme, host and port are the same; or the same host is now reached by
/// https, each on its default port.
fn same_origin(from: &Url, to: &Url) -> bool {
    let upgraded = from.scheme() == "http"
        && to.scheme() == "https"
        && from.port().is_none()
        && to.port().is_none();
    from.host() == to.host() && (upgraded || from.origin() == to.origin())
}

/// The headers that another origin may see. Any other header may be a
/// credential, whatever its name.
fn cross_origin_headers(headers: &HeaderMap) -> HeaderMap {
    let allowed = headers.iter().filter(|(name, _)| CROSS_ORIGIN_HEADERS.contains(name));
    allowed.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn headers(spec: &HttpSpec) -> Result<HeaderMap, ProbeError> {
    let mut headers = HeaderMap::new();
    for (name, value) in spec.headers.iter() {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| cannot_send(name))?;
        let value = HeaderValue::from_str(value).map_err(|_| cannot_send(name.as_str()))?;
        headers.append(name, value);
    }
    let mut default = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    default(USER_AGENT, USER_AGENT_VALUE);
    default(ACCEPT, "*/*");
    default(ACCEPT_ENCODING, ACCEPTED);
    if !spec.body.is_empty() {
        default(CONTENT_TYPE, content_type(&spec.body));
    }
    if spec.authentication.kind == AuthenticationKind::Basic {
        headers.insert(AUTHORIZATION, basic(spec)?);
    }
    Ok(headers)
}

fn content_type(body: &str) -> &'static str {
    if body.trim_start().starts_with(['{', '[']) {
        "application/json"
    } else {
        "text/plain; charset=utf-8"
    }
}

/// RFC 7617, in UTF-8.
fn basic(spec: &HttpSpec) -> Result<HeaderValue, ProbeError> {
    let pair = format!("{}:{}", &*spec.username, spec.password.expose());
    let mut value = HeaderValue::from_str(&format!("Basic {}", BASE64.encode(pair.as_bytes())))
        .map_err(|_| cannot_send("authorization"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn cannot_send(what: &str) -> ProbeError {
    ProbeError::fault(FaultKind::Config, format!("{what} cannot be sent in an HTTP request"))
}

fn status_line(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

fn quote(keyword: &str) -> String {
    match keyword.char_indices().nth(MAX_QUOTE_LENGTH) {
        Some((end, _)) => format!("{}…", &keyword[..end]),
        None => keyword.to_owned(),
    }
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} KiB", bytes / 1_024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_redirect_decides_about_method_and_body() {
        for (code, method, get) in [
            (301, Method::POST, true),
            (302, Method::POST, true),
            (303, Method::PUT, true),
            (303, Method::HEAD, false),
            (307, Method::POST, false),
            (308, Method::POST, false),
            (301, Method::PUT, false),
        ] {
            let status = StatusCode::from_u16(code).unwrap();
            assert_eq!(becomes_get(status, &method), get, "{code} {method}");
        }
    }

    #[test]
    fn credentials_stay_with_their_server() {
        let same = |a: &str, b: &str| same_origin(&a.parse().unwrap(), &b.parse().unwrap());
        assert!(same("http://a.example/x", "http://a.example/y"));
        assert!(same("http://a.example/", "https://a.example/"));
        assert!(!same("https://a.example/", "http://a.example/"));
        assert!(!same("http://a.example/", "http://b.example/"));
        assert!(!same("http://a.example/", "http://a.example:8080/"));
        assert!(!same("http://a.example:8080/", "https://a.example:8443/"));
    }

    #[test]
    fn sizes_are_shown_in_the_unit_that_fits() {
        assert_eq!(size(12), "12 B");
        assert_eq!(size(12 * 1_024 + 1), "12 KiB");
        assert_eq!(size(10 << 20), "10 MiB");
    }
}
