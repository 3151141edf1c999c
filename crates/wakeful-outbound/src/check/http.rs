//! Http and http_keyword: up when the answer's code is accepted, its body came
//! whole as far as it is read, and it holds the keyword, if there is one.
//! Redirects are followed by hand, so that each hop passes the guard.

use bytes::Bytes;
use data_encoding::BASE64;
use http::header::{
    ACCEPT, ACCEPT_CHARSET, ACCEPT_ENCODING, ACCEPT_LANGUAGE, AUTHORIZATION, CACHE_CONTROL,
    CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, PRAGMA,
    USER_AGENT,
};
use http::{HeaderMap, Method, StatusCode};
use url::Url;
use wakeful_core::monitor::spec::{AuthenticationKind, HttpSpec};
use wakeful_core::observation::FaultKind;

use super::Seen;
use super::find::Finder;
use super::ntlm;
use crate::net::decode::{ACCEPTED, Discard, Encoding, End};
use crate::net::http::{Head, Keep, Request, Session};
use crate::net::tls::Trust;
use crate::net::trouble::Trouble;
use crate::net::{Deadline, Net, Trace};

const AGENT: &str = concat!("Wakeful/", env!("CARGO_PKG_VERSION"));
const LONGEST_QUOTE: usize = 60;

/// What a request says about itself and not about its sender.
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

pub(super) async fn look(
    net: &Net,
    spec: &HttpSpec,
    cap: usize,
    by: Deadline,
    trace: &mut Trace,
) -> Result<Seen, Trouble> {
    let mut visit = Visit::first(spec)?;
    for _ in 0..=spec.max_redirects {
        let (session, head) = visit.ask(net, spec, by, trace).await?;
        match visit.next(&head).filter(|_| spec.max_redirects > 0) {
            Some(next) => visit = next,
            None => return judge(spec, &visit, session, head, cap, trace).await,
        }
    }
    Ok(Seen::down(format!("too many redirects ({})", spec.max_redirects)))
}

async fn judge(
    spec: &HttpSpec,
    visit: &Visit,
    mut session: Session,
    head: Head,
    cap: usize,
    trace: &mut Trace,
) -> Result<Seen, Trouble> {
    let status = status_line(head.status);
    if !spec.accepted.contains(head.status.as_u16()) {
        return Ok(Seen::down(status));
    }
    let note = if visit.downgraded { " (redirected from https to http)" } else { "" };
    if spec.keyword.is_empty() {
        // What nobody searches needs no decoding.
        session.read(head.body, Encoding::Plain, cap, &mut Discard, trace).await?;
        return Ok(Seen::up(format!("{status}{note}")));
    }
    let mut finder = Finder::new(&spec.keyword, &head.headers);
    let encoding = Encoding::of(&head.headers);
    let end = session.read(head.body, encoding, cap, &mut finder, trace).await?;
    if finder.found() {
        return Ok(Seen::up(format!("{status}, keyword found{note}")));
    }
    let within = if end == End::Capped { "the first " } else { "" };
    let keyword = quote(&spec.keyword);
    let size = size(finder.read());
    Ok(Seen::down(format!("keyword \"{keyword}\" not found in {within}{size}")))
}

/// One hop: what is asked, and whether the credentials belong there.
struct Visit {
    request: Request,
    trusted: bool,
    downgraded: bool,
}

impl Visit {
    fn first(spec: &HttpSpec) -> Result<Self, Trouble> {
        let method = Method::from_bytes(spec.method.as_str().as_bytes());
        let request = Request {
            method: method.map_err(|_| unsendable("method"))?,
            url: spec.url.url().clone(),
            headers: headers(spec)?,
            body: Bytes::copy_from_slice(spec.body.as_bytes()),
            trust: if spec.ignore_tls_error { Trust::Ignored } else { Trust::Required },
        };
        Ok(Self { request, trusted: true, downgraded: false })
    }

    async fn ask(
        &self,
        net: &Net,
        spec: &HttpSpec,
        by: Deadline,
        trace: &mut Trace,
    ) -> Result<(Session, Head), Trouble> {
        let by_ntlm = spec.authentication.kind == AuthenticationKind::Ntlm && self.trusted;
        let keep = if by_ntlm { Keep::Open } else { Keep::Close };
        let mut session = Session::open(net, &self.request, keep, by, trace).await?;
        let head = match by_ntlm {
            true => {
                let user = ntlm::Credentials::new(&spec.username, &spec.password);
                let now = net.clock().now();
                ntlm::ask(&mut session, &self.request, &user, now, trace).await?
            }
            false => session.send(&self.request, trace).await?,
        };
        Ok((session, head))
    }

    /// Where the answer sends us, if it does.
    fn next(&self, head: &Head) -> Option<Self> {
        if !matches!(head.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        let location = head.headers.get(LOCATION)?;
        let location = std::str::from_utf8(location.as_bytes()).ok()?;
        let from = &self.request.url;
        let mut url = from.join(location).ok()?;
        // A server has no business naming the user we are.
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

/// RFC 9110, section 15.4: after 303 always, after 301 and 302 as everybody does.
fn becomes_get(status: StatusCode, method: &Method) -> bool {
    match status.as_u16() {
        303 => *method != Method::HEAD,
        301 | 302 => *method == Method::POST,
        _ => false,
    }
}

/// Scheme, host and port are the same; or the same host is now reached by https, each
/// on its default port.
fn same_origin(from: &Url, to: &Url) -> bool {
    let upgraded = from.scheme() == "http"
        && to.scheme() == "https"
        && from.port().is_none()
        && to.port().is_none();
    from.host() == to.host() && (upgraded || from.origin() == to.origin())
}

/// The headers that another origin may see. Any other header may be a credential,
/// whatever its name is.
fn cross_origin_headers(headers: &HeaderMap) -> HeaderMap {
    let allowed = headers.iter().filter(|(name, _)| CROSS_ORIGIN_HEADERS.contains(name));
    allowed.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn headers(spec: &HttpSpec) -> Result<HeaderMap, Trouble> {
    let mut headers = HeaderMap::new();
    for (name, value) in spec.headers.iter() {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unsendable(name))?;
        let value = HeaderValue::from_str(value).map_err(|_| unsendable(name.as_str()))?;
        headers.append(name, value);
    }
    let mut default = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    default(USER_AGENT, AGENT);
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
    match body.trim_start().starts_with(['{', '[']) {
        true => "application/json",
        false => "text/plain; charset=utf-8",
    }
}

/// RFC 7617, in UTF-8.
fn basic(spec: &HttpSpec) -> Result<HeaderValue, Trouble> {
    let pair = format!("{}:{}", &*spec.username, spec.password.expose());
    let mut value = HeaderValue::from_str(&format!("Basic {}", BASE64.encode(pair.as_bytes())))
        .map_err(|_| unsendable("authorization"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn unsendable(what: &str) -> Trouble {
    Trouble::ours(FaultKind::Config, format!("{what} cannot be sent in an HTTP request"))
}

fn status_line(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

fn quote(keyword: &str) -> String {
    match keyword.char_indices().nth(LONGEST_QUOTE) {
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
    fn a_redirect_keeps_or_drops_method_and_body_by_its_code() {
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
    fn sizes_are_told_in_the_unit_that_fits() {
        assert_eq!(size(12), "12 B");
        assert_eq!(size(12 * 1_024 + 1), "12 KiB");
        assert_eq!(size(10 << 20), "10 MiB");
    }
}
