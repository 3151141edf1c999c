//! A minimal HTTP/1.1 client: one request and its response on a new connection,
//! which covers nearly every check. A general client prepares for further
//! requests, and that costs more than the check. Everything else is left to the
//! general client: see `is_supported`.

use bytes::BytesMut;
use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, HeaderValue, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, Method, StatusCode, Version};
use memchr::memchr;
use std::io;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use url::Position;

use super::connection::Stream;
use super::error::ProbeError;
use super::http::{
    MAX_HEADER_BYTES, MAX_HEADER_COUNT, Request, cannot_send_url, explain_interrupted,
    too_many_headers,
};
use super::tls::explain_tls;
use wakeful_core::reason::Reason;

/// The sizes of the first and of later reads.
const FIRST_READ_BYTES: usize = 2_048;
const READ_BYTES: usize = 16_384;
/// The longest line that begins a chunk, and the limit of the whole trailer.
const MAX_CHUNK_LINE: usize = 8_192;
/// Interim responses, such as 103 Early Hints, before the final one.
pub(super) const MAX_INTERIM_RESPONSES: usize = 8;

pub(crate) struct Http1Exchange {
    stream: Stream,
    /// Bytes that have arrived and have not been used yet.
    buffer: BytesMut,
    /// How much of it has been searched for the end of a head.
    searched: usize,
    /// Whether anything has been read.
    began: bool,
    /// Whether the server speaks HTTP/1.0.
    old: bool,
    /// Whether the headers of a response with status 200 matter only if its body is incomplete.
    skips_headers_of_ok: bool,
}

/// How the end of a body is determined.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Length(u64),
    Chunked(Chunk),
    UntilClose,
}

/// The position in a chunked body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Chunk {
    Size,
    /// This many bytes of it are still to come.
    Data(u64),
    End,
    /// This many bytes of it have arrived.
    Trailer(usize),
}

/// Whether a request has no headers that change how messages are framed.
pub(super) fn is_supported(request: &Request) -> bool {
    // A request has few headers: comparing their names is cheaper than looking up each of these.
    let is_special = |name: &HeaderName| {
        *name == CONNECTION
            || *name == CONTENT_LENGTH
            || *name == EXPECT
            || *name == TE
            || *name == TRAILER
            || *name == TRANSFER_ENCODING
            || *name == UPGRADE
    };
    request.method != Method::CONNECT && !request.headers.keys().any(is_special)
}

impl Http1Exchange {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            buffer: BytesMut::new(),
            searched: 0,
            began: false,
            old: false,
            skips_headers_of_ok: false,
        }
    }

    pub(super) fn skip_headers_of_ok(&mut self) {
        self.skips_headers_of_ok = true;
    }

    /// Sends the request and reads the head of its response.
    pub(super) async fn send_request(
        &mut self,
        request: &Request,
    ) -> Result<(StatusCode, HeaderMap, Framing), ProbeError> {
        let message = message(request)?;
        self.stream.write_all(&message).await.map_err(|error| failed(&error))?;
        self.stream.flush().await.map_err(|error| failed(&error))?;
        let mut interim = 0;
        loop {
            while self.has_head() {
                let answer = self.take_head(&request.method)?;
                // Interim responses announce that the final one is still to
                // come.
                if !answer.0.is_informational() || answer.0 == StatusCode::SWITCHING_PROTOCOLS {
                    return Ok(answer);
                }
                interim += 1;
                if interim > MAX_INTERIM_RESPONSES {
                    return Err(only_interim());
                }
            }
            if !begins_as_http(&self.buffer) {
                return Err(invalid());
            }
            if self.buffer.len() >= MAX_HEADER_BYTES {
                return Err(too_many_headers());
            }
            if self.fill().await.map_err(|error| failed(&error))? == 0 {
                return Err(ProbeError::answered(
                    Reason::HttpIncomplete,
                    "the server closed the connection without a response",
                ));
            }
        }
    }

    /// The version of the response.
    pub(super) fn version(&self) -> Version {
        if self.old { Version::HTTP_10 } else { Version::HTTP_11 }
    }

    /// Whether all of a body of known length has arrived.
    pub(super) fn has_whole_body(&self, body: &Framing) -> bool {
        matches!(body, Framing::Length(length) if *length <= self.buffer.len() as u64)
    }

    /// The next piece of the body; `None` at its end.
    pub(super) async fn piece(
        &mut self,
        body: &mut Framing,
    ) -> Result<Option<BytesMut>, ProbeError> {
        loop {
            match body {
                Framing::Length(0) => return Ok(None),
                Framing::Length(left) if !self.buffer.is_empty() => {
                    return Ok(Some(take(&mut self.buffer, left)));
                }
                Framing::UntilClose if !self.buffer.is_empty() => {
                    return Ok(Some(self.buffer.split()));
                }
                Framing::Chunked(chunk) => match chunk.next(&mut self.buffer) {
                    Some(Ok(piece)) => return Ok(piece),
                    Some(Err(Garbled)) => return Err(incomplete()),
                    None => {}
                },
                Framing::Length(_) | Framing::UntilClose => {}
            }
            let ended = self.fill().await.map_err(|error| explain_interrupted(&error))? == 0;
            match body {
                Framing::UntilClose if ended => return Ok(None),
                _ if ended => return Err(incomplete()),
                _ => {}
            }
        }
    }

    async fn fill(&mut self) -> io::Result<usize> {
        if self.buffer.capacity() - self.buffer.len() < FIRST_READ_BYTES / 2 {
            self.buffer.reserve(if self.began { READ_BYTES } else { FIRST_READ_BYTES });
        }
        self.began = true;
        self.stream.read_buf(&mut self.buffer).await
    }

    /// Whether an empty line has arrived. A head that arrives slowly is not
    /// parsed again for every byte.
    fn has_head(&mut self) -> bool {
        while let Some(found) = memchr(b'\n', &self.buffer[self.searched..]) {
            let behind = &self.buffer[self.searched + found + 1..];
            match behind {
                [b'\n', ..] | [b'\r', b'\n', ..] => return true,
                // It may be the start of one.
                [] | [b'\r'] => {
                    self.searched += found;
                    return false;
                }
                _ => self.searched += found + 1,
            }
        }
        self.searched = self.buffer.len();
        false
    }

    fn take_head(
        &mut self,
        method: &Method,
    ) -> Result<(StatusCode, HeaderMap, Framing), ProbeError> {
        let mut slots = [httparse::EMPTY_HEADER; MAX_HEADER_COUNT];
        let mut parsed = httparse::Response::new(&mut slots);
        let length = match parsed.parse(&self.buffer) {
            Ok(httparse::Status::Complete(length)) => length,
            Err(httparse::Error::TooManyHeaders) => return Err(too_many_headers()),
            // An empty line has arrived, so the head must be complete.
            Ok(httparse::Status::Partial) | Err(_) => return Err(invalid()),
        };
        if length > MAX_HEADER_BYTES {
            return Err(too_many_headers());
        }
        let status = parsed.code.and_then(|code| StatusCode::from_u16(code).ok());
        let status = status.ok_or_else(invalid)?;
        self.old = parsed.version == Some(0);
        if self.skips_headers_of_ok
            && status == StatusCode::OK
            && *method != Method::HEAD
            && let Some(body) = whole_length(parsed.headers, self.buffer.len() - length)
        {
            let _ = self.buffer.split_to(length);
            self.searched = 0;
            return Ok((status, HeaderMap::new(), Framing::Length(body)));
        }
        let mut headers = HeaderMap::with_capacity(parsed.headers.len());
        for header in parsed.headers.iter() {
            let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(|_| invalid())?;
            let value = HeaderValue::from_bytes(header.value).map_err(|_| invalid())?;
            headers.append(name, value);
        }
        let body = framing(method, status, &headers, self.old).ok_or_else(invalid)?;
        let _ = self.buffer.split_to(length);
        self.searched = 0;
        Ok((status, headers, body))
    }
}

/// Whether this can still become a response. Other protocols, such as SSH, may
/// never send an empty line.
fn begins_as_http(bytes: &[u8]) -> bool {
    const START: &[u8] = b"HTTP/1.";
    let first = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n'));
    let bytes = first.map_or(&[][..], |first| &bytes[first..]);
    let count = bytes.len().min(START.len());
    bytes[..count] == START[..count]
}

fn message(request: &Request) -> Result<Vec<u8>, ProbeError> {
    let url = &request.url;
    let path = &url[Position::BeforePath..Position::AfterQuery];
    let authority = &url[Position::BeforeHost..Position::AfterPort];
    if !path.bytes().chain(authority.bytes()).all(|byte| byte.is_ascii_graphic()) {
        return Err(cannot_send_url());
    }
    let mut message = Vec::with_capacity(256 + request.body.len());
    let mut line = |parts: &[&[u8]]| {
        parts.iter().for_each(|part| message.extend_from_slice(part));
        message.extend_from_slice(b"\r\n");
    };
    let path = if path.is_empty() { "/" } else { path };
    line(&[request.method.as_str().as_bytes(), b" ", path.as_bytes(), b" HTTP/1.1"]);
    if !request.headers.contains_key(HOST) {
        line(&[b"host: ", authority.as_bytes()]);
    }
    for (name, value) in &request.headers {
        line(&[name.as_str().as_bytes(), b": ", value.as_bytes()]);
    }
    line(&[b"connection: close"]);
    let expected = [Method::POST, Method::PUT, Method::PATCH].contains(&request.method);
    if expected || !request.body.is_empty() {
        line(&[b"content-length: ", request.body.len().to_string().as_bytes()]);
    }
    line(&[]);
    message.extend_from_slice(&request.body);
    Ok(message)
}

/// RFC 9112, section 6.3; `None` when the response contradicts itself.
fn framing(method: &Method, status: StatusCode, headers: &HeaderMap, old: bool) -> Option<Framing> {
    let bodiless = status.is_informational()
        || status == StatusCode::NO_CONTENT
        || status == StatusCode::NOT_MODIFIED;
    if *method == Method::HEAD || bodiless {
        return Some(Framing::Length(0));
    }
    if let Some(coding) = headers.get_all(TRANSFER_ENCODING).iter().next_back() {
        let last = coding.as_bytes().rsplit(|byte| *byte == b',').next().unwrap_or_default();
        let chunked = last.trim_ascii().eq_ignore_ascii_case(b"chunked");
        return match (old, chunked) {
            (true, _) => None,
            (false, true) => Some(Framing::Chunked(Chunk::Size)),
            (false, false) => Some(Framing::UntilClose),
        };
    }
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter().flat_map(|value| {
        value.as_bytes().split(|byte| *byte == b',').map(|text| number(text.trim_ascii(), 10))
    });
    let Some(first) = lengths.next() else { return Some(Framing::UntilClose) };
    let first = first?;
    lengths.all(|other| other == Some(first)).then_some(Framing::Length(first))
}

/// The length of a body of which so many bytes have arrived, if these are all of it and no header is
/// needed to know that but one: the rest is left to `framing`.
fn whole_length(headers: &[httparse::Header<'_>], arrived: usize) -> Option<u64> {
    let mut length: Option<u64> = None;
    for header in headers {
        if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return None;
        }
        if header.name.eq_ignore_ascii_case("content-length")
            && length.replace(number(header.value.trim_ascii(), 10)?).is_some()
        {
            return None;
        }
    }
    length.filter(|length| *length <= arrived as u64)
}

/// Digits only.
fn number(text: &[u8], radix: u32) -> Option<u64> {
    let digits = !text.is_empty() && text.iter().all(|byte| char::from(*byte).is_digit(radix));
    let text = std::str::from_utf8(text).ok().filter(|_| digits)?;
    u64::from_str_radix(text, radix).ok()
}

/// As much of the next `left` bytes as has arrived.
fn take(buffer: &mut BytesMut, left: &mut u64) -> BytesMut {
    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(buffer.len());
    *left -= count as u64;
    buffer.split_to(count)
}

/// A body with invalid chunks.
#[derive(Debug, PartialEq, Eq)]
struct Garbled;

impl Chunk {
    /// The next piece, `Ok(None)` at the end of the body, or `None` when more
    /// bytes are needed first. RFC 9112, section 7.1.
    fn next(&mut self, buffer: &mut BytesMut) -> Option<Result<Option<BytesMut>, Garbled>> {
        loop {
            match self {
                Self::Size => {
                    let line = match line(buffer, MAX_CHUNK_LINE)? {
                        Ok(line) => line,
                        Err(garbled) => return Some(Err(garbled)),
                    };
                    let size = line[..].split(|byte| *byte == b';').next().unwrap_or_default();
                    *self = match number(size.trim_ascii(), 16) {
                        None => return Some(Err(Garbled)),
                        Some(0) => Self::Trailer(0),
                        Some(size) => Self::Data(size),
                    };
                }
                Self::Data(0) => *self = Self::End,
                Self::Data(_) if buffer.is_empty() => return None,
                Self::Data(left) => return Some(Ok(Some(take(buffer, left)))),
                Self::End => match line(buffer, 2)? {
                    Ok(line) if line.is_empty() => *self = Self::Size,
                    _ => return Some(Err(Garbled)),
                },
                Self::Trailer(read) => {
                    match line(buffer, MAX_CHUNK_LINE - (*read).min(MAX_CHUNK_LINE))? {
                        Ok(line) if line.is_empty() => return Some(Ok(None)),
                        Ok(line) => *read += line.len() + 2,
                        Err(garbled) => return Some(Err(garbled)),
                    }
                }
            }
        }
    }
}

/// The next line without its end; `None` when it is not complete.
fn line(buffer: &mut BytesMut, longest: usize) -> Option<Result<BytesMut, Garbled>> {
    match memchr(b'\n', buffer) {
        Some(end) if end <= longest => {
            let mut line = buffer.split_to(end + 1);
            line.truncate(end);
            if line.ends_with(b"\r") {
                line.truncate(end - 1);
            }
            Some(Ok(line))
        }
        None if buffer.len() <= longest => None,
        _ => Some(Err(Garbled)),
    }
}

fn failed(error: &io::Error) -> ProbeError {
    explain_tls(error).unwrap_or_else(|| ProbeError::from_io(error))
}

/// The body ended early.
pub(super) fn incomplete() -> ProbeError {
    ProbeError::answered(Reason::HttpIncomplete, "incomplete response")
}

pub(super) const ONLY_INTERIM: &str = "the server sends only interim responses";

pub(super) fn only_interim() -> ProbeError {
    ProbeError::answered(Reason::HttpInvalid, ONLY_INTERIM)
}

fn invalid() -> ProbeError {
    ProbeError::answered(Reason::HttpInvalid, "the response is not valid HTTP")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = lines
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        pairs.fold(HeaderMap::new(), |mut map, (name, value)| {
            map.append(name, value);
            map
        })
    }

    #[test]
    fn the_head_determines_where_the_body_ends() {
        let of = |lines: &[(&'static str, &'static str)]| {
            framing(&Method::GET, StatusCode::OK, &headers(lines), false)
        };
        assert_eq!(of(&[]), Some(Framing::UntilClose));
        assert_eq!(of(&[("content-length", "12")]), Some(Framing::Length(12)));
        assert_eq!(of(&[("content-length", "12, 12")]), Some(Framing::Length(12)));
        for wrong in ["12, 13", "-1", "+1", "1 2", "", "0x10", "99999999999999999999"] {
            assert_eq!(of(&[("content-length", wrong)]), None, "{wrong}");
        }
        let chunked = Some(Framing::Chunked(Chunk::Size));
        assert_eq!(of(&[("transfer-encoding", "gzip, Chunked"), ("content-length", "1")]), chunked);
        assert_eq!(of(&[("transfer-encoding", "gzip")]), Some(Framing::UntilClose));
        let old = headers(&[("transfer-encoding", "chunked")]);
        assert_eq!(framing(&Method::GET, StatusCode::OK, &old, true), None);
        let long = headers(&[("content-length", "12")]);
        assert_eq!(framing(&Method::HEAD, StatusCode::OK, &long, false), Some(Framing::Length(0)));
        let none = framing(&Method::GET, StatusCode::NO_CONTENT, &long, false);
        assert_eq!(none, Some(Framing::Length(0)));
    }

    #[test]
    fn headers_are_skipped_only_if_a_single_length_says_that_the_body_is_there() {
        let of = |lines: &[(&'static str, &'static str)], arrived| {
            let headers = lines
                .iter()
                .map(|(name, value)| httparse::Header { name, value: value.as_bytes() });
            whole_length(&headers.collect::<Vec<_>>(), arrived)
        };
        let plain = [("Server", "x"), ("Content-Length", "12")];
        assert_eq!((of(&plain, 12), of(&plain, 13), of(&plain, 11)), (Some(12), Some(12), None));
        assert_eq!(of(&[("content-length", "0")], 0), Some(0));
        for other in [("transfer-encoding", "chunked"), ("content-length", "12")] {
            assert_eq!(of(&[plain[1], other], 12), None, "{other:?}");
        }
        for wrong in ["12, 12", "-1", "", "0x1"] {
            assert_eq!(of(&[("content-length", wrong)], 12), None, "{wrong}");
        }
        assert_eq!(of(&[("server", "x")], 12), None);
    }

    #[test]
    fn another_protocol_is_recognized_by_its_first_bytes() {
        for start in ["", "H", "HTTP/1.", "HTTP/1.1 200 OK", "\r\nHTTP/1.0"] {
            assert!(begins_as_http(start.as_bytes()), "{start}");
        }
        for start in ["SSH-2.0", "\0", "HTTP/2", "http/1.1", "<html>"] {
            assert!(!begins_as_http(start.as_bytes()), "{start}");
        }
    }

    /// Decodes a chunked body that arrives in pieces of this size.
    fn unchunk(wire: &[u8], size: usize) -> Option<Result<Vec<u8>, Garbled>> {
        let (mut chunk, mut buffer, mut body) = (Chunk::Size, BytesMut::new(), Vec::new());
        for piece in wire.chunks(size) {
            buffer.extend_from_slice(piece);
            while let Some(next) = chunk.next(&mut buffer) {
                match next {
                    Ok(Some(bytes)) => body.extend_from_slice(&bytes),
                    Ok(None) => return Some(Ok(body)),
                    Err(garbled) => return Some(Err(garbled)),
                }
            }
        }
        None
    }

    #[test]
    fn chunks_are_joined_however_they_arrive() {
        let wire = b"5;name=value\r\nhello\r\n1\n \n0A\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\nnext";
        for size in 1..wire.len() {
            assert_eq!(unchunk(wire, size), Some(Ok(b"hello 0123456789".to_vec())), "{size}");
        }
    }

    #[test]
    fn invalid_chunks_are_garbled_and_incomplete_ones_wait() {
        for wire in [
            &b"x\r\n"[..],
            b"-1\r\n",
            b"\r\nhello",
            b"5\r\nhelloworld\r\n",
            b"11111111111111111\r\n",
        ] {
            assert_eq!(unchunk(wire, 4), Some(Err(Garbled)), "{wire:?}");
        }
        assert_eq!(unchunk(&vec![b'1'; MAX_CHUNK_LINE + 2], 100), Some(Err(Garbled)));
        let trailer = [&b"0\r\n"[..], &b"a: b\r\n".repeat(MAX_CHUNK_LINE / 5)].concat();
        assert_eq!(unchunk(&trailer, 100), Some(Err(Garbled)));
        for wire in [&b"5\r\nhell"[..], b"5\r\nhello", b"5", b"0\r\n"] {
            assert_eq!(unchunk(wire, 3), None, "{wire:?}");
        }
    }

    proptest! {
        #[test]
        fn any_chunked_body_round_trips(body: Vec<Vec<u8>>, size in 1_usize..40) {
            let mut wire = Vec::new();
            for chunk in body.iter().filter(|chunk| !chunk.is_empty()) {
                wire.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                wire.extend_from_slice(chunk);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\n\r\n");
            prop_assert_eq!(unchunk(&wire, size), Some(Ok(body.concat())));
        }

        #[test]
        fn no_input_panics(wire: Vec<u8>, size in 1_usize..40) {
            unchunk(&wire, size);
        }
    }
}
