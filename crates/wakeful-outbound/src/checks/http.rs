//! HTTP and http_keyword: up when the status code is accepted, the body is
//! complete as far as it is read, and it contains the keyword, if there is one.
//! Redirects are followed here, so that each hop passes the guard.

use bytes::Bytes;
use data_encoding::BASE64;
use http::header::{
    ACCEPT, ACCEPT_CHARSET, ACCEPT_ENCODING, ACCEPT_LANGUAGE, AUTHORIZATION, CACHE_CONTROL,
    CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue,
    LOCATION, PRAGMA, USER_AGENT,
};
use http::{HeaderMap, Method, StatusCode, Version};
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;
use wakeful_core::assert::{Found, Json, Source};
use wakeful_core::evidence::{self, EvidenceLevel, HopEvidence};
use wakeful_core::monitors::spec::{AuthenticationKind, HttpSpec};
use wakeful_core::observation::FaultKind;
use wakeful_core::reason::Reason;

use super::authenticate::{Sender, bearer, random_hex};
use super::cookies::CookieJar;
use super::keyword::{Finder, decode_text};
use super::{CheckRequest, TargetAnswer, facts};
use crate::net::buffered::{BodyBuffer, BodyPermit, MAX_BODY_BYTES};
use crate::net::decode::{ACCEPTED, Discard, Encoding, End, Sink, decode_start};
use crate::net::error::ProbeError;
use crate::net::http::{Body, Head, Request, Session};
use crate::net::tls::Trust;
use crate::net::{Deadline, Net, Stage, Trace, add};

const USER_AGENT_VALUE: &str = concat!("Wakeful/", env!("CARGO_PKG_VERSION"));
const MAX_QUOTE_LENGTH: usize = 60;
/// How much of a body is collected as evidence: redacting may shorten it.
const MAX_BEGINNING: usize = 2 * evidence::MAX_BODY_BYTES;

/// The headers of a request whose monitor has none of its own.
static DEFAULT_HEADERS: LazyLock<HeaderMap> = LazyLock::new(|| {
    let mut headers = HeaderMap::new();
    add_defaults(&mut headers);
    headers
});

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
    check: &CheckRequest<'_>,
    cap: usize,
    deadline: Deadline,
    trace: &mut Trace,
) -> Result<TargetAnswer, ProbeError> {
    let began = Instant::now();
    let options = spec.options.as_deref();
    let cap = options.and_then(|options| options.max_body).map_or(cap, |bytes| bytes as usize);
    let mut jar = options.filter(|options| options.cookies).map(|_| CookieJar::default());
    let status_is_enough = jar.is_none() && needs_only_status(spec, check);
    let sender = Sender { net, spec, team: check.team, deadline, status_is_enough };
    let mut hop = Hop::first(spec)?;
    for _ in 0..=spec.max_redirects {
        let with_cookies = jar.as_ref().map(|jar| Box::new(jar.apply(&hop.request)));
        let request = with_cookies.as_deref().unwrap_or(&hop.request);
        let (session, head) = sender.send(request, hop.trusted, trace).await?;
        if let Some(jar) = &mut jar {
            jar.store(&hop.request.url, &head.headers);
        }
        match hop.next(&head).filter(|_| spec.max_redirects > 0) {
            Some(next) => {
                trace.hops.push(HopEvidence {
                    status: head.status.as_u16(),
                    location: next.request.url.to_string(),
                });
                hop = next;
            }
            None if status_is_enough
                && spec.accepted.contains(head.status.as_u16())
                && session.has_whole_body(&head.body) =>
            {
                // Nothing is left to be read, or to go wrong. The headers may have been skipped.
                add(&mut trace.phases.transfer, Duration::ZERO);
                return Ok(TargetAnswer::up(status_line(head.status) + hop.note()));
            }
            None => {
                let answer = Answer::of(spec, hop, head, trace);
                return evaluate(net, spec, check, answer, session, cap, began, trace).await;
            }
        }
    }
    let message = format!("too many redirects ({})", spec.max_redirects);
    Ok(TargetAnswer::down(Reason::HttpRedirects, message))
}

/// Whether only the status matters of a response that is accepted: nothing is judged on the rest of
/// it, and it does not become evidence.
fn needs_only_status(spec: &HttpSpec, check: &CheckRequest<'_>) -> bool {
    check.assertions.is_empty()
        && check.slow.is_none()
        && !check.collects(true)
        && spec.keyword.is_empty()
}

/// The response that a check ended with.
pub(crate) struct HttpFacts {
    pub(super) request: Request,
    pub(super) status: StatusCode,
    pub(super) version: Version,
    pub(super) headers: HeaderMap,
    redirects: usize,
    /// The beginning of the body, unless `text` has it.
    start: Option<BodyStart>,
    /// The text of the body as far as it was buffered.
    text: String,
    /// How many bytes of the body were read, after decoding.
    pub(super) body_bytes: usize,
    /// There was more of it.
    pub(super) is_capped: bool,
    /// How many bytes of it are buffered at most, if there were more.
    cut_at: Option<usize>,
    /// The texts that the body was searched for, and whether they are in it.
    searched: Vec<(String, bool)>,
    /// The permission to buffer it.
    _permit: Option<BodyPermit>,
}

impl HttpFacts {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn json(&self) -> Json<'_> {
        Json::new(self.text.as_bytes()).cut_at(self.cut_at)
    }

    /// Decodes the beginning of a body that nothing was judged on, for the evidence.
    pub(super) fn decode_start(&mut self) {
        let Some(start) = self.start.take() else { return };
        let FirstBytes { bytes, read } = start.take_first();
        self.is_capped |= read > bytes.len();
        let decoded = decode_start(start.encoding, &bytes, MAX_BEGINNING);
        self.body_bytes = if start.encoding == Encoding::Plain { read } else { decoded.len() };
        self.text = decode_text(&self.headers, decoded);
    }

    /// Whether the body contains a text; `None` if it was not searched for that.
    pub(super) fn contains(&self, text: &str) -> Option<bool> {
        self.searched.iter().find(|(known, _)| known == text).map(|(_, found)| *found)
    }

    pub(super) fn find(&self, source: Source, property: &str) -> Found<'_> {
        match source {
            Source::Status => Found::Text(self.status.as_u16().to_string().into()),
            Source::Redirects => Found::Text(self.redirects.to_string().into()),
            Source::BodySize => Found::Text(self.body_bytes.to_string().into()),
            Source::FinalUrl => facts::text(Some(self.request.url.as_str())),
            Source::HttpVersion => facts::text(Some(version_text(self.version))),
            Source::Header => {
                let values = self.headers.get_all(property).iter();
                let texts = values.map(|value| String::from_utf8_lossy(value.as_bytes()));
                Found::Texts(texts.collect())
            }
            Source::Body => facts::text(Some(&self.text)),
            _ => Found::Missing,
        }
    }
}

pub(super) fn version_text(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "1.0",
        Version::HTTP_2 => "2",
        Version::HTTP_3 => "3",
        _ => "1.1",
    }
}

/// The beginning of a body, shared with the trace: it is known there even if reading the rest
/// fails or takes too long.
#[derive(Clone)]
struct BodyStart {
    /// That of the bytes here.
    encoding: Encoding,
    first: Arc<Mutex<FirstBytes>>,
}

#[derive(Default)]
struct FirstBytes {
    bytes: Vec<u8>,
    /// How many have arrived.
    read: usize,
}

impl BodyStart {
    fn new(encoding: Encoding) -> Self {
        Self { encoding, first: Arc::default() }
    }

    fn take_first(&self) -> FirstBytes {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, FirstBytes> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for BodyStart {
    fn take(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        let mut first = self.lock();
        first.read += bytes.len();
        let room = MAX_BEGINNING - first.bytes.len();
        first.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        ControlFlow::Continue(())
    }
}

/// Where a body goes while it is read.
struct BodySink<'a, 'n> {
    finder: Option<&'a mut Finder<'n>>,
    /// Whether nothing more is needed once the finder has found what it searches for.
    may_end_early: bool,
    /// All of it, for assertions.
    buffer: Option<&'a mut BodyBuffer<'n>>,
    /// Its beginning, as evidence.
    start: BodyStart,
}

impl Sink for BodySink<'_, '_> {
    fn take(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        let _ = self.start.take(bytes);
        let found = match &mut self.finder {
            Some(finder) => finder.take(bytes),
            None => ControlFlow::Continue(()),
        };
        match &mut self.buffer {
            Some(buffer) => {
                buffer.take(bytes);
                if buffer.is_starved { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            }
            None if self.may_end_early => found,
            None => ControlFlow::Continue(()),
        }
    }
}

/// A response whose body has not been read yet.
struct Answer {
    status: String,
    is_accepted: bool,
    note: &'static str,
    encoding: Encoding,
    /// How long the body is, if the response says so.
    announced: Option<u64>,
    body: Body,
}

impl Answer {
    /// The rest of the response is stored in the trace, so that one whose body fails is evidence,
    /// too.
    fn of(spec: &HttpSpec, hop: Hop, head: Head, trace: &mut Trace) -> Self {
        let announced = head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let answer = Self {
            status: status_line(head.status),
            is_accepted: spec.accepted.contains(head.status.as_u16()),
            note: hop.note(),
            encoding: Encoding::of(&head.headers),
            announced: announced.and_then(|value| value.parse().ok()),
            body: head.body,
        };
        trace.http = Some(Box::new(HttpFacts {
            request: hop.request,
            status: head.status,
            version: head.version,
            headers: head.headers,
            redirects: trace.hops.len(),
            start: None,
            text: String::new(),
            body_bytes: 0,
            is_capped: true,
            cut_at: None,
            searched: Vec::new(),
            _permit: None,
        }));
        answer
    }
}

#[expect(clippy::too_many_arguments, reason = "the parts of one check")]
async fn evaluate(
    net: &Net,
    spec: &HttpSpec,
    check: &CheckRequest<'_>,
    answer: Answer,
    mut session: Session,
    cap: usize,
    began: Instant,
    trace: &mut Trace,
) -> Result<TargetAnswer, ProbeError> {
    let reads_body = check.needs_body() || check.searched().next().is_some();
    // Boxed: most checks do not look at the body.
    if !answer.is_accepted || !spec.keyword.is_empty() || reads_body || check.always {
        return Box::pin(evaluate_body(net, spec, check, answer, session, cap, began, trace)).await;
    }
    // Without a keyword there is no need to decode.
    if check.may_collect_accepted() {
        return Box::pin(read_undecoded(answer, session, cap, trace)).await;
    }
    session.read(answer.body, Encoding::Plain, cap, &mut Discard, trace).await?;
    Ok(TargetAnswer::up(format!("{}{}", answer.status, answer.note)))
}

/// Reads a body that nothing is judged on. Its beginning is decoded only if it becomes evidence.
async fn read_undecoded(
    answer: Answer,
    mut session: Session,
    cap: usize,
    trace: &mut Trace,
) -> Result<TargetAnswer, ProbeError> {
    let mut start = BodyStart::new(answer.encoding);
    if let Some(facts) = &mut trace.http {
        facts.start = Some(start.clone());
    }
    let end = session.read(answer.body, Encoding::Plain, cap, &mut start, trace).await?;
    if let Some(facts) = &mut trace.http {
        facts.is_capped = end != End::Complete;
    }
    Ok(TargetAnswer::up(format!("{}{}", answer.status, answer.note)))
}

#[expect(clippy::too_many_arguments, reason = "the parts of one check")]
async fn evaluate_body(
    net: &Net,
    spec: &HttpSpec,
    check: &CheckRequest<'_>,
    answer: Answer,
    mut session: Session,
    cap: usize,
    began: Instant,
    trace: &mut Trace,
) -> Result<TargetAnswer, ProbeError> {
    let Answer { status, is_accepted, note, encoding, announced, body } = answer;
    let needs_body = check.needs_body();
    let reads_body = needs_body || check.searched().next().is_some();
    let is_shown = check.evidence == EvidenceLevel::Full && check.collects(false);
    if !is_accepted && !is_shown && !reads_body {
        return Ok(TargetAnswer::down(Reason::HttpStatus, status));
    }
    let mut buffer = None;
    if needs_body && let Some(share) = trace.decode_share.clone() {
        trace.stage = Stage::Judging;
        buffer = Some(BodyBuffer::new(net.buffers(), &share, announced).await);
    }
    let headers = trace.http.as_ref().map(|facts| facts.headers.clone()).unwrap_or_default();
    let keyword = Some(&*spec.keyword).filter(|keyword| is_accepted && !keyword.is_empty());
    let texts: Vec<&str> = keyword.into_iter().chain(check.searched()).collect();
    let mut finder = (!texts.is_empty()).then(|| Finder::new(texts.iter().copied(), &headers));
    let start = BodyStart::new(Encoding::Plain);
    if let Some(facts) = &mut trace.http {
        facts.start = Some(start.clone());
    }
    let mut sink = BodySink {
        finder: finder.as_mut(),
        // A monitor with assertions on the body is one that must be complete.
        may_end_early: !reads_body,
        buffer: buffer.as_mut(),
        start: start.clone(),
    };
    let phases = trace.phases;
    let waited = began.elapsed();
    let cap = match (is_accepted, reads_body) {
        (true, _) => cap,
        (false, true) => MAX_BODY_BYTES,
        (false, false) => MAX_BEGINNING,
    };
    let reading = session.read(body, encoding, cap, &mut sink, trace);
    let end = if is_accepted {
        reading.await
    } else {
        // The result is known; this is only for the evidence.
        let read = tokio::time::timeout(evidence::MAX_EXTRA_TIME, reading).await;
        read.unwrap_or(Ok(End::Capped)).or(Ok(End::Capped))
    };
    let FirstBytes { bytes: beginning, read } = start.take_first();
    let is_starved = buffer.as_ref().is_some_and(|buffer| buffer.is_starved);
    let found = finder.as_mut().map(Finder::found).unwrap_or_default();
    let (bytes, permit) = match buffer {
        Some(buffer) => buffer.into_parts(),
        None => (beginning, None),
    };
    let limit = cap.min(MAX_BODY_BYTES);
    let has_more = read > bytes.len() || matches!(end, Ok(End::Capped));
    if let Some(facts) = &mut trace.http {
        facts.start = None;
        facts.cut_at = (bytes.len() >= limit && has_more).then_some(limit);
        facts.text = decode_text(&headers, bytes);
        facts.body_bytes = read;
        facts.is_capped = !matches!(end, Ok(End::Complete));
        let searched = texts.iter().zip(&found).skip(usize::from(keyword.is_some()));
        facts.searched = searched.map(|(text, found)| ((*text).to_owned(), *found)).collect();
        facts._permit = permit;
    }
    if !is_accepted {
        trace.phases = phases;
        let down = TargetAnswer::down(Reason::HttpStatus, status);
        return Ok(TargetAnswer { load_time: Some(waited), ..down });
    }
    let end = end?;
    if is_starved {
        let message = "the response was not judged: other checks use the memory for bodies";
        return Err(ProbeError::fault(FaultKind::Resources, message));
    }
    let Some(keyword) = keyword else {
        return Ok(TargetAnswer::up(format!("{status}{note}")));
    };
    if found.first() == Some(&true) {
        return Ok(TargetAnswer::up(format!("{status}, keyword found{note}")));
    }
    let within = if end == End::Capped { "the first " } else { "" };
    let keyword = quote(keyword);
    let size = size(read);
    let message = format!("keyword \"{keyword}\" not found in {within}{size}");
    Ok(TargetAnswer::down(Reason::Keyword, message))
}

/// Whether a header describes the request and not its sender.
pub(super) fn may_cross_origins(name: &str) -> bool {
    CROSS_ORIGIN_HEADERS.iter().any(|known| known.as_str().eq_ignore_ascii_case(name))
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
            url: first_url(spec)?,
            headers: headers(spec)?,
            body: Bytes::copy_from_slice(spec.body.as_bytes()),
            trust: if spec.ignore_tls_error { Trust::Ignored } else { Trust::Required },
        };
        Ok(Self { request, trusted: true, downgraded: false })
    }

    /// What is added to the message of a response that is accepted.
    fn note(&self) -> &'static str {
        if self.downgraded { " (redirected from https to http)" } else { "" }
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

/// The URL of the monitor; one that no cache has seen, if that is wanted.
fn first_url(spec: &HttpSpec) -> Result<Url, ProbeError> {
    let mut url = spec.url.url().clone();
    if busts_caches(spec) {
        url.query_pairs_mut().append_pair("_wakeful", &random_hex(4)?);
    }
    Ok(url)
}

fn busts_caches(spec: &HttpSpec) -> bool {
    spec.options.as_ref().is_some_and(|options| options.cache_buster)
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
    if headers.is_empty() {
        // Usually: a copy costs less than three entries.
        headers.clone_from(&DEFAULT_HEADERS);
    } else {
        add_defaults(&mut headers);
    }
    if !spec.body.is_empty() {
        add_default(&mut headers, CONTENT_TYPE, content_type(&spec.body));
    }
    if busts_caches(spec) {
        add_default(&mut headers, CACHE_CONTROL, "no-cache");
    }
    match (spec.authentication.kind, &spec.options) {
        (AuthenticationKind::Basic, _) => {
            headers.insert(AUTHORIZATION, basic(spec)?);
        }
        (AuthenticationKind::Bearer, Some(options)) => {
            headers.insert(AUTHORIZATION, bearer(&options.token)?);
        }
        _ => {}
    }
    Ok(headers)
}

fn add_defaults(headers: &mut HeaderMap) {
    add_default(headers, USER_AGENT, USER_AGENT_VALUE);
    add_default(headers, ACCEPT, "*/*");
    add_default(headers, ACCEPT_ENCODING, ACCEPTED);
}

/// Adds a header, unless the monitor has its own.
fn add_default(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
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

pub(super) fn cannot_send(what: &str) -> ProbeError {
    ProbeError::fault(FaultKind::Config, format!("{what} cannot be sent in an HTTP request"))
}

fn status_line(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => [status.as_str(), " ", reason].concat(),
        None => status.as_str().to_owned(),
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
