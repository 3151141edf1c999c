//! HTTP to a stranger: a fresh connection for each request, bounded in time,
//! headers and body, its phases noted. Redirects are nobody's business here;
//! a `Session` stays open only for those who must speak twice on one connection.
//! Those and HTTP/2 are hyper's; the plain case is `exchange`.

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use http::header::{CONNECTION, HOST, HeaderValue};
use http::{HeaderMap, Method, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use std::error::Error as _;
use std::io;
use tokio::time::Instant;
use url::{Position, Url};
use wakeful_core::observation::{Certificate, Evidence, FaultKind, Phases};

use super::decode::{Encoding, End, Reading, Sink};
use super::exchange::{self, Exchange, Framing};
use super::tls::{Offer, Trust, explain_tls};
use super::trouble::Trouble;
use super::wire::{Stream, Tasks, Wire};
use super::{Deadline, Net, Stage, Target, Trace, add};

/// Bounds of an answer's head.
pub(super) const HEADER_BYTES: usize = 64 * 1024;
pub(super) const HEADER_COUNT: usize = 100;

/// What is asked of a server.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub trust: Trust,
}

/// What it answered.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Decoded, as far as the bound allowed.
    pub body: Vec<u8>,
    pub end: End,
    pub phases: Phases,
    pub certificate: Option<Certificate>,
}

/// Sends one request and reads at most `cap` bytes of the decoded body.
/// Redirects are not followed: they are answers like others.
pub fn fetch<'a>(
    net: &'a Net,
    request: &'a Request,
    cap: usize,
    by: Deadline,
) -> BoxFuture<'a, Result<Reply, Trouble>> {
    Box::pin(async move {
        let mut trace = Trace::default();
        let work = async {
            let mut session = Session::open(net, request, Keep::Close, by, &mut trace).await?;
            let head = session.send(request, &mut trace).await?;
            let mut body = Vec::new();
            let encoding = Encoding::of(&head.headers);
            let end = session.read(head.body, encoding, cap, &mut body, &mut trace).await?;
            Ok((head.status, head.headers, body, end))
        };
        let done = by.limit(work).await;
        let (status, headers, body, end) = done.unwrap_or_else(|| Err(trace.timed_out(by)))?;
        let Trace { phases, certificate, .. } = trace;
        Ok(Reply { status, headers, body, end, phases, certificate })
    })
}

/// Whether the connection serves one request or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Close,
    /// On HTTP/1.1: those who need it prove who they are by connection.
    Open,
}

/// An answer whose body was not read yet.
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

/// A body on its way.
pub(crate) enum Body {
    General(Incoming),
    Plain(Framing),
}

/// A connection that speaks HTTP.
pub(crate) enum Session {
    Plain(Exchange),
    General(Box<General>),
}

pub(crate) struct General {
    sender: Sender,
    wire: Wire,
    keep: Keep,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Session {
    /// Connects to the server of the request's URL, if the guard agrees.
    pub(crate) async fn open(
        net: &Net,
        request: &Request,
        keep: Keep,
        by: Deadline,
        trace: &mut Trace,
    ) -> Result<Self, Trouble> {
        let url = &request.url;
        net.guard().check_url(url)?;
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        let tcp = net.reach(Target::parse(host), port, by, trace).await?;
        let plain = keep == Keep::Close && exchange::fits(request);
        if url.scheme() != "https" {
            return Self::http1(Stream::Plain(tcp), keep, plain).await;
        }
        let offer = match keep {
            Keep::Close => Offer::Http2AndHttp1,
            Keep::Open => Offer::Http1,
        };
        let tls = net.tls().secure(tcp, host, request.trust, offer, net.clock(), trace).await?;
        let chose_h2 = tls.get_ref().1.alpn_protocol() == Some(b"h2");
        let stream = Stream::Tls(Box::new(tls));
        match chose_h2 {
            true => Self::http2(stream, keep).await,
            false => Self::http1(stream, keep, plain).await,
        }
    }

    async fn http1(stream: Stream, keep: Keep, plain: bool) -> Result<Self, Trouble> {
        if plain {
            return Ok(Self::Plain(Exchange::new(stream)));
        }
        let (sender, connection) = http1::Builder::new()
            .max_headers(HEADER_COUNT)
            .max_header_size(HEADER_BYTES)
            // Also bounds what is worked off in one go, as when a server floods
            // us with interim answers, and the memory of a slow reader.
            .max_buf_size(HEADER_BYTES)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| explain(&error))?;
        let wire = Wire::Http1(connection);
        Ok(Self::General(Box::new(General { sender: Sender::Http1(sender), wire, keep })))
    }

    async fn http2(stream: Stream, keep: Keep) -> Result<Self, Trouble> {
        let tasks = Tasks::default();
        let (sender, connection) = http2::Builder::new(tasks.clone())
            .max_header_list_size(HEADER_BYTES as u32)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| explain(&error))?;
        let wire = Wire::Http2(Box::new(connection), tasks);
        Ok(Self::General(Box::new(General { sender: Sender::Http2(sender), wire, keep })))
    }

    pub(crate) async fn send(
        &mut self,
        request: &Request,
        trace: &mut Trace,
    ) -> Result<Head, Trouble> {
        trace.stage = Stage::Waiting;
        let began = Instant::now();
        let head = match self {
            Self::Plain(exchange) => {
                let (status, headers, body) = exchange.ask(request).await?;
                Head { status, headers, body: Body::Plain(body) }
            }
            Self::General(general) => general.send(request).await?,
        };
        add(&mut trace.phases.first_byte, began.elapsed());
        match head.headers.len() > HEADER_COUNT {
            true => Err(too_many_headers()),
            false => Ok(head),
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
    ) -> Result<End, Trouble> {
        trace.stage = Stage::Reading;
        let began = Instant::now();
        let mut reading = Reading::new(encoding, cap, sink)
            .map_err(|error| Trouble::ours(FaultKind::Internal, error.to_string()))?;
        let garbled = |_| Trouble::answered(format!("the response is not valid {encoding}"));
        let mut end = None;
        while end.is_none() {
            match self.piece(&mut body).await? {
                Some(bytes) => end = reading.push(&bytes).map_err(garbled)?,
                None => break,
            }
        }
        add(&mut trace.phases.transfer, began.elapsed());
        match end {
            Some(end) => Ok(end),
            None => reading.finish().map_err(garbled),
        }
    }

    /// The next piece of a body; nothing at its end.
    async fn piece(&mut self, body: &mut Body) -> Result<Option<Bytes>, Trouble> {
        match (self, body) {
            (Self::Plain(exchange), Body::Plain(framing)) => {
                Ok(exchange.piece(framing).await?.map(BytesMut::freeze))
            }
            (Self::General(general), Body::General(incoming)) => general.piece(incoming).await,
            // A body of another session has nothing to bring.
            _ => Ok(None),
        }
    }
}

impl General {
    async fn send(&mut self, request: &Request) -> Result<Head, Trouble> {
        let message = self.message(request)?;
        let answer = match &mut self.sender {
            Sender::Http1(sender) => {
                self.wire
                    .drive(async {
                        sender.ready().await?;
                        sender.send_request(message).await
                    })
                    .await
            }
            Sender::Http2(sender) => self.wire.drive(sender.send_request(message)).await,
        };
        let (head, body) = answer.map_err(|error| explain(&error))?.into_parts();
        Ok(Head { status: head.status, headers: head.headers, body: Body::General(body) })
    }

    async fn piece(&mut self, body: &mut Incoming) -> Result<Option<Bytes>, Trouble> {
        loop {
            let Some(frame) = self.wire.drive(body.frame()).await else { return Ok(None) };
            // Trailers are nobody's business.
            if let Ok(bytes) = frame.map_err(|error| incomplete(&error))?.into_data() {
                return Ok(Some(bytes));
            }
        }
    }

    fn message(&self, request: &Request) -> Result<http::Request<Full<Bytes>>, Trouble> {
        let mut headers = request.headers.clone();
        let authority = &request.url[Position::BeforeHost..Position::AfterPort];
        let given = headers.get(HOST).and_then(|host| host.to_str().ok()).map(str::to_owned);
        let authority = given.as_deref().unwrap_or(authority);
        let path = &request.url[Position::BeforePath..Position::AfterQuery];
        let uri: Result<Uri, http::Error> = match self.sender {
            Sender::Http1(_) => {
                if !headers.contains_key(HOST) {
                    let host = HeaderValue::from_str(authority).map_err(|_| unspeakable());
                    headers.insert(HOST, host?);
                }
                if self.keep == Keep::Close {
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
        *message.uri_mut() = uri.map_err(|_| unspeakable())?;
        *message.headers_mut() = headers;
        Ok(message)
    }
}

pub(super) fn unspeakable() -> Trouble {
    Trouble::ours(FaultKind::Config, "this URL cannot be sent in an HTTP request")
}

pub(super) fn too_many_headers() -> Trouble {
    Trouble::answered(format!(
        "the response has more than {} KiB or {HEADER_COUNT} lines of headers",
        HEADER_BYTES / 1024
    ))
}

/// Why no answer came.
fn explain(error: &hyper::Error) -> Trouble {
    if let Some(io) = io_cause(error) {
        return explain_tls(io).unwrap_or_else(|| Trouble::from_io(io));
    }
    if error.is_parse_too_large() {
        return too_many_headers();
    }
    if error.is_parse() {
        return Trouble::answered("the response is not valid HTTP");
    }
    if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        return Trouble::answered("the server closed the connection without an answer");
    }
    Trouble::answered(format!("HTTP failed: {}", last_cause(error)))
}

/// Why a body did not come to its end.
fn incomplete(error: &hyper::Error) -> Trouble {
    io_cause(error).map_or_else(|| Trouble::answered("incomplete response"), broken_off)
}

/// The same, told by the connection.
pub(super) fn broken_off(error: &io::Error) -> Trouble {
    match Trouble::from_io(error) {
        Trouble::Down(Evidence::Refused, _) => Trouble::Down(
            Evidence::Refused,
            "incomplete response: connection reset by the server".to_owned(),
        ),
        Trouble::Ours(fault) if fault.kind != FaultKind::Internal => Trouble::Ours(fault),
        _ => Trouble::answered("incomplete response"),
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
