//! Reading of bodies: decoded, counted after decoding, and passed on piece by
//! piece, so that a decompression bomb stops at the limit and nothing is
//! buffered without need.

use brotli_decompressor::DecompressorWriter;
use flate2::write::MultiGzDecoder;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The value of `Accept-Encoding`. Brotli and zstd are decoded too, but not requested: their
/// windows take megabytes for each response, that of gzip takes 32 KiB.
pub const ACCEPTED: &str = "gzip";

/// How many responses with large windows are decoded at a time. When there are more, one that
/// has taken a while gives way.
const MAX_LARGE_WINDOWS: usize = 16;
const LARGE_WINDOW_TIME: Duration = Duration::from_secs(1);
/// Those in use, oldest first.
static LARGE_WINDOWS: Mutex<VecDeque<(Instant, Arc<Notify>)>> = Mutex::new(VecDeque::new());

struct LargeWindow(Arc<Notify>);

impl LargeWindow {
    /// `None` if all are in use, and none for long.
    fn take() -> Option<Self> {
        let (now, mut windows) = (Instant::now(), lock_windows());
        if windows.len() >= MAX_LARGE_WINDOWS {
            let is_old =
                |(since, _): &&(Instant, _)| now.duration_since(*since) >= LARGE_WINDOW_TIME;
            windows.front().filter(is_old)?;
            let (_, oldest) = windows.pop_front()?;
            oldest.notify_one();
        }
        let given_up = Arc::new(Notify::new());
        windows.push_back((now, Arc::clone(&given_up)));
        Some(Self(given_up))
    }
}

impl Drop for LargeWindow {
    fn drop(&mut self) {
        lock_windows().retain(|(_, window)| !Arc::ptr_eq(window, &self.0));
    }
}

fn lock_windows() -> MutexGuard<'static, VecDeque<(Instant, Arc<Notify>)>> {
    LARGE_WINDOWS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// RFC 9659 limits the window to 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;
const BROTLI_BUFFER: usize = 4_096;
/// How many encoded bytes may precede the first decoded ones. An encoding never doubles the
/// length of a body, but empty gzip members can follow each other forever.
const MAX_EMPTY_BYTES: usize = 65_536;
/// The first seven bits of a brotli stream whose window may take a gigabyte, which RFC 7932
/// does not allow.
const BROTLI_LARGE_WINDOW: u8 = 0x11;

/// Consumes a body piece by piece and can stop early.
pub trait Sink {
    fn take(&mut self, bytes: &[u8]) -> ControlFlow<()>;
}

/// For callers that do not need the content.
#[derive(Clone)]
pub struct Discard;

impl Sink for Discard {
    fn take(&mut self, _bytes: &[u8]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Collects the whole body; the reader sets the limit.
impl Sink for Vec<u8> {
    fn take(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        self.extend_from_slice(bytes);
        ControlFlow::Continue(())
    }
}

/// How much of a body was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Complete,
    /// Up to the limit.
    Capped,
    /// Until the sink stopped.
    Enough,
}

/// The encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Plain,
    Gzip,
    Brotli,
    Zstd,
}

impl Encoding {
    /// Anything unknown is passed on as it is.
    pub fn of(headers: &HeaderMap) -> Self {
        let text = headers.get(CONTENT_ENCODING).map(http::HeaderValue::as_bytes);
        match text.unwrap_or_default().trim_ascii().to_ascii_lowercase().as_slice() {
            b"gzip" | b"x-gzip" => Self::Gzip,
            b"br" => Self::Brotli,
            b"zstd" => Self::Zstd,
            _ => Self::Plain,
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain",
            Self::Gzip => "gzip",
            Self::Brotli => "brotli",
            Self::Zstd => "zstd",
        })
    }
}

/// Decodes a body into a sink.
pub(crate) struct BodyReader<'s, S: Sink> {
    decoder: Decoder<Bounded<'s, S>>,
    cap: usize,
    /// The encoded bytes so far.
    encoded: usize,
    large_window: Option<LargeWindow>,
}

impl<'s, S: Sink> BodyReader<'s, S> {
    pub(crate) fn new(encoding: Encoding, cap: usize, sink: &'s mut S) -> io::Result<Self> {
        let large_window = match encoding {
            Encoding::Plain | Encoding::Gzip => None,
            Encoding::Brotli | Encoding::Zstd => {
                Some(LargeWindow::take().ok_or_else(|| too_many_windows(encoding))?)
            }
        };
        let decoder = Decoder::new(encoding, Bounded { sink, left: cap, end: None })?;
        Ok(Self { decoder, cap, encoded: 0, large_window })
    }

    /// Completes when the reader has to give way to others.
    pub(crate) async fn given_up(&self) {
        match &self.large_window {
            Some(window) => window.0.notified().await,
            None => std::future::pending().await,
        }
    }

    /// Adds received bytes; returns the end when it is reached early.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<Option<End>> {
        if let (0, Decoder::Brotli(_), Some(first)) = (self.encoded, &self.decoder, bytes.first())
            && first & 0x7f == BROTLI_LARGE_WINDOW
        {
            return Err(io::Error::other("the window is too large"));
        }
        self.encoded = self.encoded.saturating_add(bytes.len());
        let written = self.decoder.writer().write_all(bytes);
        let end = self.settle(written)?;
        let decoded = self.cap - self.decoder.inner().left;
        if self.encoded > MAX_EMPTY_BYTES + 2 * decoded {
            return Err(io::Error::other("there is almost nothing in it"));
        }
        Ok(end)
    }

    /// No more bytes will arrive.
    pub(crate) fn finish(mut self) -> io::Result<End> {
        // An empty body is not an encoded body: responses to HEAD also name an
        // encoding.
        let finished = if self.encoded > 0 { self.decoder.finish() } else { Ok(()) };
        Ok(self.settle(finished)?.unwrap_or(End::Complete))
    }

    /// The limit stops the decoder with an error, which is not a failure.
    fn settle(&mut self, done: io::Result<()>) -> io::Result<Option<End>> {
        match (self.decoder.inner().end, done) {
            (Some(end), _) => Ok(Some(end)),
            (None, Err(error)) => Err(error),
            (None, Ok(())) => Ok(None),
        }
    }
}

pub(crate) fn too_many_windows(encoding: Encoding) -> io::Error {
    let why = format!("too many responses encoded with {encoding} at the same time");
    io::Error::new(io::ErrorKind::OutOfMemory, why)
}

struct Bounded<'s, S> {
    sink: &'s mut S,
    left: usize,
    end: Option<End>,
}

impl<S: Sink> Write for Bounded<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.end.is_some() {
            return Err(io::Error::other("the limit is reached"));
        }
        let taken = bytes.len().min(self.left);
        self.left -= taken;
        if self.sink.take(&bytes[..taken]).is_break() {
            self.end = Some(End::Enough);
        } else if taken < bytes.len() {
            self.end = Some(End::Capped);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Decoder<W: Write> {
    Plain(W),
    Gzip(Box<MultiGzDecoder<W>>),
    Brotli(Box<DecompressorWriter<W>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, W>>),
}

impl<W: Write> Decoder<W> {
    fn new(encoding: Encoding, to: W) -> io::Result<Self> {
        Ok(match encoding {
            Encoding::Plain => Self::Plain(to),
            Encoding::Gzip => Self::Gzip(Box::new(MultiGzDecoder::new(to))),
            Encoding::Brotli => Self::Brotli(Box::new(DecompressorWriter::new(to, BROTLI_BUFFER))),
            Encoding::Zstd => {
                let mut raw = zstd::stream::raw::Decoder::new()?;
                raw.set_parameter(zstd::stream::raw::DParameter::WindowLogMax(ZSTD_WINDOW_LOG))?;
                Self::Zstd(Box::new(zstd::stream::write::Decoder::with_decoder(to, raw)))
            }
        })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(to) => to,
            Self::Gzip(decoder) => decoder,
            Self::Brotli(decoder) => decoder,
            Self::Zstd(decoder) => decoder,
        }
    }

    fn inner(&self) -> &W {
        match self {
            Self::Plain(to) => to,
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Brotli(decoder) => decoder.get_ref(),
            Self::Zstd(decoder) => decoder.get_ref(),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Brotli(decoder) => decoder.close(),
            Self::Zstd(decoder) => decoder.do_finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        to.write_all(bytes).unwrap();
        to.finish().unwrap()
    }

    fn read(encoding: Encoding, wire: &[u8], cap: usize) -> io::Result<(Vec<u8>, End)> {
        let mut all = Vec::new();
        let mut reading = BodyReader::new(encoding, cap, &mut all)?;
        for piece in wire.chunks(7) {
            if let Some(end) = reading.push(piece)? {
                drop(reading);
                return Ok((all, end));
            }
        }
        let end = reading.finish()?;
        Ok((all, end))
    }

    #[test]
    fn each_encoding_is_decoded() {
        let text = b"what was sent is what is read".repeat(99);
        let zstd = zstd::encode_all(&text[..], 3).unwrap();
        for (encoding, wire) in [
            (Encoding::Plain, text.clone()),
            (Encoding::Gzip, gzip(&text)),
            (Encoding::Gzip, [gzip(&text[..999]), gzip(&text[999..])].concat()),
            (Encoding::Zstd, zstd),
        ] {
            let (all, end) = read(encoding, &wire, MIB).unwrap();
            assert_eq!(end, End::Complete, "{encoding:?}");
            assert!(all == text, "{encoding:?}");
        }
        // RFC 7932: a stored block of "hello" as the whole stream.
        let brotli = [0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];
        assert_eq!(read(Encoding::Brotli, &brotli, MIB).unwrap(), (b"hello".into(), End::Complete));
    }

    #[test]
    fn a_bomb_stops_at_the_limit() {
        let zeros = vec![0; 8 * MIB];
        for (encoding, wire) in [
            (Encoding::Gzip, gzip(&zeros)),
            (Encoding::Zstd, zstd::encode_all(&zeros[..], 3).unwrap()),
            (Encoding::Plain, zeros),
        ] {
            let (all, end) = read(encoding, &wire, MIB).unwrap();
            assert_eq!((all.len(), end), (MIB, End::Capped), "{encoding:?}");
        }
    }

    #[test]
    fn endless_empty_members_are_refused() {
        let empty = gzip(b"");
        let wire = empty.repeat(2 * MAX_EMPTY_BYTES / empty.len());
        let error = read(Encoding::Gzip, &wire, MIB).unwrap_err();
        assert_eq!(error.to_string(), "there is almost nothing in it");
        // Real content in many members is read.
        let member = gzip(b"a line of text that is as long as others are\n");
        let (all, end) = read(Encoding::Gzip, &member.repeat(5_000), 10 * MIB).unwrap();
        assert_eq!((all.len(), end), (45 * 5_000, End::Complete));
    }

    #[test]
    fn a_brotli_window_of_a_gigabyte_is_refused() {
        // 0x11: large window, 0x1e: 2^30 bytes.
        let wire = [0x11, 0x1e, 0x00, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];
        let error = read(Encoding::Brotli, &wire, MIB).unwrap_err();
        assert_eq!(error.to_string(), "the window is too large");
    }

    #[test]
    fn few_large_windows_are_held_at_a_time() {
        let mut sinks = vec![Discard; 40];
        let readers: Vec<_> =
            sinks.iter_mut().map(|sink| BodyReader::new(Encoding::Zstd, MIB, sink)).collect();
        let refused = readers.iter().filter_map(|reader| reader.as_ref().err());
        assert!(refused.clone().all(|error| error.kind() == io::ErrorKind::OutOfMemory));
        assert!(refused.count() >= 24);
        let mut all = Vec::new();
        BodyReader::new(Encoding::Gzip, MIB, &mut all).expect("needs no large window");
    }

    #[test]
    fn a_truncated_or_garbled_body_is_an_error() {
        let text = b"some text that is long enough to be cut".repeat(20);
        let zstd = zstd::encode_all(&text[..], 3).unwrap();
        for (encoding, wire) in [(Encoding::Gzip, gzip(&text)), (Encoding::Zstd, zstd)] {
            assert!(read(encoding, &wire[..wire.len() / 2], MIB).is_err(), "{encoding:?}");
        }
        for encoding in [Encoding::Gzip, Encoding::Brotli, Encoding::Zstd] {
            assert!(read(encoding, b"<html>not what it says</html>", MIB).is_err(), "{encoding:?}");
            assert_eq!(read(encoding, b"", MIB).unwrap(), (Vec::new(), End::Complete));
        }
    }

    #[test]
    fn a_sink_can_stop_reading() {
        struct First(usize);
        impl Sink for First {
            fn take(&mut self, bytes: &[u8]) -> ControlFlow<()> {
                self.0 += bytes.len();
                ControlFlow::Break(())
            }
        }
        let mut first = First(0);
        let mut reading = BodyReader::new(Encoding::Plain, MIB, &mut first).unwrap();
        assert_eq!(reading.push(b"one").unwrap(), Some(End::Enough));
        drop(reading);
        assert_eq!(first.0, 3);
    }
}
