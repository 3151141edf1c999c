//! HTTP to third parties: a new connection for each request, bounded in time,
//! headers and body, with its phases recorded. Redirects are not followed here;
//! a `Session` stays open only for callers that need several requests on one
//! connection. Those and HTTP/2 use hyper; the plain case is in `http1`.

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use http::header::{CONNECTION, HOST, HeaderValue};
use http::{HeaderMap, Method, StatusCode, Uri, Version};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use std::error::Error as _;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use url::{Host, Position, Url};
use wakeful_core::heartbeat::Phases;
use wakeful_core::monitors::spec::HttpVersion;
use wakeful_core::observation::{Certificate, Contact, FaultKind};
use wakeful_core::reason::Reason;

use super::connection::{HttpConnection, Stream, Tasks};
use super::decode::{BodyReader, Encoding, End, Sink, too_many_windows};
use super::decode_turns::DecodeMeter;
use super::dial::DialOptions;
use super::error::ProbeError;
use super::http1::{Framing, Http1Exchange, MAX_INTERIM_RESPONSES, incomplete, only_interim};
use super::http2_frames::{CountedFrames, Excess};
use super::tls::{Offer, Trust, explain_tls};
use super::{Deadline, Net, Stage, Target, Trace, add};

/// Limits of a response's head.
pub(super) const MAX_HEADER_BYTES: usize = 64 * 1024;
pub(super) const MAX_HEADER_COUNT: usize = 100;

/// A request to a server.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub trust: Trust,
}

/// Its response.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Decoded, up to the limit.
    pub body: Vec<u8>,
    pub end: End,
    pub phases: Phases,
    pub certificate: Option<Certificate>,
}

/// Sends one request and reads at most `cap` bytes of the decoded body.
/// Redirects are not followed: they are responses like others.
pub fn fetch<'a>(
    net: &'a Net,
    request: &'a Request,
    cap: usize,
    deadline: Deadline,
) -> BoxFuture<'a, Result<Reply, ProbeError>> {
    fetch_by(net, None, request, cap, deadline)
}

/// Like `fetch`, connecting as these options say.
pub(crate) fn fetch_by<'a>(
    net: &'a Net,
    dial: Option<Arc<DialOptions>>,
    request: &'a Request,
    cap: usize,
    deadline: Deadline,
) -> BoxFuture<'a, Result<Reply, ProbeError>> {
    Box::pin(async move {
        let mut trace = Trace { dial, ..Trace::default() };
        let work = async {
            let (keep, version) = (ConnectionMode::Close, HttpVersion::Auto);
            let mut session =
                Session::open(net, request, keep, version, deadline, &mut trace).await?;
            let head = session.send(request, &mut trace).await?;
            let mut body = Vec::new();
            let encoding = Encoding::of(&head.headers);
            let end = session.read(head.body, encoding, cap, &mut body, &mut trace).await?;
            Ok((head.status, head.headers, body, end))
        };
        let done = deadline.limit(work).await;
        let (status, headers, body, end) =
            done.unwrap_or_else(|| Err(trace.timed_out(deadline)))?;
        let Trace { phases, certificate, .. } = trace;
        Ok(Reply { status, headers, body, end, phases, certificate })
    })
}

/// Whether the connection serves one request or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionMode {
    Close,
    /// On HTTP/1.1: for authentication that is bound to the connection.
    Open,
}

/// A response whose body has not been read yet.
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) version: Version,
    pub(crate) body: Body,
}

/// A body that has not been read yet.
pub(crate) enum Body {
    General(Incoming),
    Plain(Framing),
}

/// Beyond this many pieces of a body, such as chunks, their average size must be
/// `MIN_PIECE_BYTES`: each one costs as much as many bytes do.
pub(super) const MAX_SMALL_PIECES: usize = 65_536;
pub(super) const MIN_PIECE_BYTES: usize = 8;

/// An open HTTP connection.
pub(crate) enum Session {
    Plain(Http1Exchange),
    General(Box<HyperSession>),
}

pub(crate) struct HyperSession {
    sender: Sender,
    connection: HttpConnection,
    keep: ConnectionMode,
    /// Why the connection of HTTP/2 was ended, if the server sends too many frames.
    excess: Option<Arc<OnceLock<Excess>>>,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Session {
    /// Connects to the server of the request's URL, if the guard allows it.
    pub(crate) async fn open(
        net: &Net,
        request: &Request,
        keep: ConnectionMode,
        version: HttpVersion,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<Self, ProbeError> {
        let url = &request.url;
        net.guard().check_url(url)?;
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        let target = match url.host() {
            Some(Host::Ipv4(ip)) => Target::Address(ip.into()),
            Some(Host::Ipv6(ip)) => Target::Address(ip.into()),
            _ => Target::parse(host),
        };
        let tcp = net.connect_to(target, port, deadline, trace).await?;
        let plain = keep == ConnectionMode::Close && super::http1::is_supported(request);
        if url.scheme() != "https" && version == HttpVersion::Http2 {
            return Box::pin(Self::http2(Stream::Plain(tcp), keep)).await;
        }
        if url.scheme() != "https" {
            return Self::http1(Stream::Plain(tcp), keep, plain).await;
        }
        let offer = match (keep, version) {
            (ConnectionMode::Open, _) | (_, HttpVersion::Http11) => Offer::Http1,
            (ConnectionMode::Close, _) => Offer::Http2AndHttp1,
        };
        let securing = net.tls().secure(tcp, host, request.trust, offer, net.clock(), trace);
        let tls = Box::new(Box::pin(securing).await?);
        let chose_h2 = tls.get_ref().1.alpn_protocol() == Some(b"h2");
        let stream = Stream::Tls(tls);
        if chose_h2 {
            Box::pin(Self::http2(stream, keep)).await
        } else {
            Self::http1(stream, keep, plain).await
        }
    }

    async fn http1(stream: Stream, keep: ConnectionMode, plain: bool) -> Result<Self, ProbeError> {
        if plain {
            return Ok(Self::Plain(Http1Exchange::new(stream)));
        }
        // Boxed: few requests need its space.
        Box::pin(Self::general_http1(stream, keep)).await
    }

    async fn general_http1(stream: Stream, keep: ConnectionMode) -> Result<Self, ProbeError> {
        let (sender, connection) = http1::Builder::new()
            .max_headers(MAX_HEADER_COUNT)
            .max_header_size(MAX_HEADER_BYTES)
            // Also bounds the work done at once, as when a server floods us
            // with interim responses, and the memory of a slow reader.
            .max_buf_size(MAX_HEADER_BYTES)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| explain(&error))?;
        let connection = HttpConnection::Http1(connection);
        Ok(Self::General(Box::new(HyperSession {
            sender: Sender::Http1(sender),
            connection,
            keep,
            excess: None,
        })))
    }

    async fn http2(stream: Stream, keep: ConnectionMode) -> Result<Self, ProbeError> {
        let tasks = Tasks::default();
        let (stream, excess) = CountedFrames::new(stream);
        let (sender, connection) = http2::Builder::new(tasks.clone())
            .max_header_list_size(MAX_HEADER_BYTES as u32)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| explain(&error))?;
        let connection = HttpConnection::Http2(Box::new(connection), tasks);
        Ok(Self::General(Box::new(HyperSession {
            sender: Sender::Http2(sender),
            connection,
            keep,
            excess: Some(excess),
        })))
    }

    pub(crate) async fn send(
        &mut self,
        request: &Request,
        trace: &mut Trace,
    ) -> Result<Head, ProbeError> {
        trace.stage = Stage::Waiting;
        let began = Instant::now();
        let head = match self {
            Self::Plain(exchange) => {
                let (status, headers, body) = exchange.send_request(request).await?;
                let version = exchange.version();
                Head { status, headers, version, body: Body::Plain(body) }
            }
            Self::General(general) => Box::pin(general.send(request)).await?,
        };
        add(&mut trace.phases.first_byte, began.elapsed());
        if head.headers.len() > MAX_HEADER_COUNT { Err(too_many_headers()) } else { Ok(head) }
    }

    /// The headers of a response with status 200 may be left out if all of its body has arrived.
    pub(crate) fn skip_headers_of_ok(&mut self) {
        if let Self::Plain(exchange) = self {
            exchange.skip_headers_of_ok();
        }
    }

    /// Whether all of a body has arrived, as far as that is known without reading it.
    pub(crate) fn has_whole_body(&self, body: &Body) -> bool {
        match (self, body) {
            (Self::Plain(exchange), Body::Plain(framing)) => exchange.has_whole_body(framing),
            _ => false,
        }
    }

    /// Reads a body into the sink, at most `cap` bytes of it after decoding.
    pub(crate) async fn read<S: Sink>(
        &mut self,
        mut body: Body,
        encoding: Encoding,
        cap: usize,
        sink: &mut S,
        trace: &mut Trace,
    ) -> Result<End, ProbeError> {
        trace.stage = Stage::Reading;
        let began = Instant::now();
        let cannot_decode = |error: io::Error| {
            let kind = match error.kind() {
                io::ErrorKind::OutOfMemory => FaultKind::Resources,
                _ => FaultKind::Internal,
            };
            ProbeError::fault(kind, error.to_string())
        };
        let share = trace.decode_share.clone();
        let waited = || share.as_ref().map_or(Duration::ZERO, |share| share.waited());
        let waited_before = waited();
        let explain_read = |error: ProbeError| match &share {
            Some(share) => share.explain(error),
            None => error,
        };
        let mut meter = share.as_deref().map(DecodeMeter::new);
        let team = share.as_ref().map(|share| share.team());
        let mut reading = BodyReader::new(encoding, cap, sink, team).map_err(cannot_decode)?;
        let garbled = |_| {
            let message = format!("the response is not valid {encoding}");
            ProbeError::answered(Reason::HttpInvalid, message)
        };
        let (mut end, mut pieces, mut received) = (None, 0, 0);
        while end.is_none() {
            let piece = tokio::select! {
                piece = self.next_piece(&mut body, meter.as_mut()) => piece.map_err(explain_read)?,
                () = reading.given_up() => return Err(cannot_decode(too_many_windows(encoding))),
            };
            let Some(bytes) = piece else { break };
            pieces += 1;
            received += bytes.len();
            if pieces > MAX_SMALL_PIECES + received / MIN_PIECE_BYTES {
                return Err(ProbeError::answered(
                    Reason::HttpInvalid,
                    "the response is sent in too many small pieces",
                ));
            }
            let mut rest = &bytes[..];
            while end.is_none() && !reading.needs_more(rest) {
                let Some(meter) = &mut meter else {
                    end = reading.step(&mut rest).map_err(garbled)?;
                    continue;
                };
                if meter.must_wait() {
                    tokio::select! {
                        ready = meter.ready() => ready?,
                        () = reading.given_up() => {
                            return Err(cannot_decode(too_many_windows(encoding)));
                        }
                    }
                }
                let began = Instant::now();
                end = reading.step(&mut rest).map_err(garbled)?;
                meter.decoded(began.elapsed());
            }
        }
        add(&mut trace.phases.transfer, began.elapsed().saturating_sub(waited() - waited_before));
        match end {
            Some(end) => Ok(end),
            None => reading.finish().map_err(garbled),
        }
    }

    /// The next piece of a body. A turn to decode ends if that has not arrived: otherwise a
    /// target could take it away from others.
    async fn next_piece(
        &mut self,
        body: &mut Body,
        meter: Option<&mut DecodeMeter<'_>>,
    ) -> Result<Option<Bytes>, ProbeError> {
        let Some(meter) = meter.filter(|meter| meter.has_turn()) else {
            return self.piece(body).await;
        };
        let mut next = pin!(self.piece(body));
        tokio::select! {
            biased;
            piece = next.as_mut() => return piece,
            () = std::future::ready(()) => meter.end_turn(),
        }
        next.await
    }

    /// The next piece of a body; `None` at its end.
    async fn piece(&mut self, body: &mut Body) -> Result<Option<Bytes>, ProbeError> {
        match (self, body) {
            (Self::Plain(exchange), Body::Plain(framing)) => {
                Ok(exchange.piece(framing).await?.map(BytesMut::freeze))
            }
            (Self::General(general), Body::General(incoming)) => general.piece(incoming).await,
            // A body of another session has no data.
            _ => Ok(None),
        }
    }
}

/// Notified when the response to this request is preceded by too many interim ones. On HTTP/2
/// they are counted with the other frames.
fn limit_interim_responses<B>(message: &mut http::Request<B>) -> Arc<Notify> {
    let too_many = Arc::new(Notify::new());
    let (notify, seen) = (Arc::clone(&too_many), AtomicUsize::new(0));
    hyper::ext::on_informational(message, move |_| {
        if seen.fetch_add(1, Ordering::Relaxed) >= MAX_INTERIM_RESPONSES {
            notify.notify_one();
        }
    });
    too_many
}

impl HyperSession {
    async fn send(&mut self, request: &Request) -> Result<Head, ProbeError> {
        let mut message = self.message(request)?;
        let too_many = limit_interim_responses(&mut message);
        let answer = async {
            match &mut self.sender {
                Sender::Http1(sender) => {
                    self.connection
                        .drive(async {
                            sender.ready().await?;
                            sender.send_request(message).await
                        })
                        .await
                }
                Sender::Http2(sender) => self.connection.drive(sender.send_request(message)).await,
            }
        };
        let answer = tokio::select! {
            answer = answer => answer,
            () = too_many.notified() => return Err(only_interim()),
        };
        let answer = answer.map_err(|error| self.excess().unwrap_or_else(|| explain(&error)));
        let (head, body) = answer?.into_parts();
        let http::response::Parts { status, headers, version, .. } = head;
        Ok(Head { status, headers, version, body: Body::General(body) })
    }

    async fn piece(&mut self, body: &mut Incoming) -> Result<Option<Bytes>, ProbeError> {
        loop {
            let Some(frame) = self.connection.drive(body.frame()).await else { return Ok(None) };
            // Trailers are ignored.
            let frame =
                frame.map_err(|error| self.excess().unwrap_or_else(|| explain_incomplete(&error)));
            if let Ok(bytes) = frame?.into_data() {
                return Ok(Some(bytes));
            }
        }
    }

    /// Why the connection was ended here.
    fn excess(&self) -> Option<ProbeError> {
        Some(self.excess.as_ref()?.get()?.explain())
    }

    fn message(&self, request: &Request) -> Result<http::Request<Full<Bytes>>, ProbeError> {
        let mut headers = request.headers.clone();
        let authority = &request.url[Position::BeforeHost..Position::AfterPort];
        let given = headers.get(HOST).and_then(|host| host.to_str().ok()).map(str::to_owned);
        let authority = given.as_deref().unwrap_or(authority);
        let path = &request.url[Position::BeforePath..Position::AfterQuery];
        let uri: Result<Uri, http::Error> = match self.sender {
            Sender::Http1(_) => {
                if !headers.contains_key(HOST) {
                    let host = HeaderValue::from_str(authority).map_err(|_| cannot_send_url());
                    headers.insert(HOST, host?);
                }
                if self.keep == ConnectionMode::Close {
                    headers.insert(CONNECTION, HeaderValue::from_static("close"));
                }
                Uri::builder().path_and_query(path).build()
            }
            Sender::Http2(_) => {
                headers.remove(HOST);
                headers.remove(CONNECTION);
                let scheme = request.url.scheme();
                Uri::builder().scheme(scheme).authority(authority).path_and_query(path).build()
            }
        };
        let mut message = http::Request::new(Full::new(request.body.clone()));
        *message.method_mut() = request.method.clone();
        *message.uri_mut() = uri.map_err(|_| cannot_send_url())?;
        *message.headers_mut() = headers;
        Ok(message)
    }
}

pub(super) fn cannot_send_url() -> ProbeError {
    ProbeError::fault(FaultKind::Config, "this URL cannot be sent in an HTTP request")
}

pub(super) fn too_many_headers() -> ProbeError {
    let message = format!(
        "the response headers exceed {} KiB or {MAX_HEADER_COUNT} lines",
        MAX_HEADER_BYTES / 1024
    );
    ProbeError::answered(Reason::HttpInvalid, message)
}

/// Why no response arrived.
fn explain(error: &hyper::Error) -> ProbeError {
    if let Some(io) = io_cause(error) {
        return explain_tls(io).unwrap_or_else(|| ProbeError::from_io(io));
    }
    if error.is_parse_too_large() {
        return too_many_headers();
    }
    if error.is_parse() {
        return ProbeError::answered(Reason::HttpInvalid, "the response is not valid HTTP");
    }
    if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        return ProbeError::answered(
            Reason::HttpIncomplete,
            "the server closed the connection without a response",
        );
    }
    ProbeError::answered(Reason::HttpInvalid, format!("HTTP failed: {}", last_cause(error)))
}

/// Why a body is incomplete.
fn explain_incomplete(error: &hyper::Error) -> ProbeError {
    io_cause(error).map_or_else(incomplete, explain_interrupted)
}

/// The same for an error of the connection.
pub(super) fn explain_interrupted(error: &io::Error) -> ProbeError {
    match ProbeError::from_io(error) {
        ProbeError::Down(Contact::Refused, ..) => ProbeError::Down(
            Contact::Refused,
            Reason::HttpIncomplete,
            "incomplete response: connection reset by the server".to_owned(),
        ),
        ProbeError::Fault(fault) if fault.kind != FaultKind::Internal => ProbeError::Fault(fault),
        _ => incomplete(),
    }
}

fn io_cause(error: &hyper::Error) -> Option<&io::Error> {
    causes(error).find_map(|cause| cause.downcast_ref::<io::Error>())
}

fn last_cause(error: &hyper::Error) -> String {
    causes(error).last().map_or_else(|| error.to_string(), ToString::to_string)
}

fn causes(error: &hyper::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), |cause| (*cause).source())
}
