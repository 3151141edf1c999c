//! Reading of bodies: decoded, counted after decoding, and passed on piece by
//! piece, so that a decompression bomb stops at the limit and nothing is
//! buffered without need.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
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
use wakeful_core::id::TeamId;

/// The value of `Accept-Encoding`. Brotli and zstd are decoded too, but not requested: their
/// windows take megabytes for each response, that of gzip takes 32 KiB.
pub const ACCEPTED: &str = "gzip";

/// How many responses with large windows are decoded at a time. When there are more, one of a
/// team that has more of them than another gives way, or one that has taken a while.
const MAX_LARGE_WINDOWS: usize = 16;
const LARGE_WINDOW_TIME: Duration = Duration::from_secs(1);
/// Those in use, oldest first.
static LARGE_WINDOWS: Mutex<VecDeque<WindowInUse>> = Mutex::new(VecDeque::new());

struct WindowInUse {
    team: Option<TeamId>,
    since: Instant,
    given_up: Arc<Notify>,
}

struct LargeWindow(Arc<Notify>);

impl LargeWindow {
    /// `None` if all are in use, and none has to give way.
    fn take(team: Option<TeamId>) -> Option<Self> {
        let (now, mut windows) = (Instant::now(), lock_windows());
        if windows.len() >= MAX_LARGE_WINDOWS {
            let of_team = |team| windows.iter().filter(|window| window.team == team).count();
            let own = of_team(team);
            let crowded = windows.iter().position(|window| of_team(window.team) > own + 1);
            let is_old =
                |window: &WindowInUse| now.duration_since(window.since) >= LARGE_WINDOW_TIME;
            let first =
                crowded.or_else(|| windows.front().filter(|first| is_old(first)).map(|_| 0));
            windows.remove(first?)?.given_up.notify_one();
        }
        let given_up = Arc::new(Notify::new());
        windows.push_back(WindowInUse { team, since: now, given_up: Arc::clone(&given_up) });
        Some(Self(given_up))
    }
}

impl Drop for LargeWindow {
    fn drop(&mut self) {
        lock_windows().retain(|window| !Arc::ptr_eq(&window.given_up, &self.0));
    }
}

fn lock_windows() -> MutexGuard<'static, VecDeque<WindowInUse>> {
    LARGE_WINDOWS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// RFC 9659 limits the window to 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;
const BROTLI_BUFFER: usize = 16_384;
/// How much of a body that is not encoded is passed on in one step.
const MAX_PLAIN_STEP: usize = 32_768;
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

/// Decodes a body into a sink, in steps that are short however much it inflates.
pub(crate) struct BodyReader<'s, S: Sink> {
    decoder: Decoder<Bounded<'s, S>>,
    cap: usize,
    /// The encoded bytes so far.
    encoded: usize,
    large_window: Option<LargeWindow>,
}

impl<'s, S: Sink> BodyReader<'s, S> {
    pub(crate) fn new(
        encoding: Encoding,
        cap: usize,
        sink: &'s mut S,
        team: Option<TeamId>,
    ) -> io::Result<Self> {
        let large_window = match encoding {
            Encoding::Plain | Encoding::Gzip => None,
            Encoding::Brotli | Encoding::Zstd => {
                Some(LargeWindow::take(team).ok_or_else(|| too_many_windows(encoding))?)
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

    /// Decodes some of the received bytes and removes them; returns the end when it is reached
    /// early. The caller continues until `needs_more`.
    pub(crate) fn step(&mut self, bytes: &mut &[u8]) -> io::Result<Option<End>> {
        if let (0, Decoder::Brotli(_), Some(first)) = (self.encoded, &self.decoder, bytes.first())
            && first & 0x7f == BROTLI_LARGE_WINDOW
        {
            return Err(io::Error::other("the window is too large"));
        }
        let stepped = self.decoder.step(bytes);
        let used = *stepped.as_ref().unwrap_or(&0);
        let end = self.settle(stepped.map(drop))?;
        *bytes = &bytes[used..];
        self.encoded = self.encoded.saturating_add(used);
        let decoded = self.cap - self.decoder.inner().left;
        if self.encoded > MAX_EMPTY_BYTES + 2 * decoded {
            return Err(io::Error::other("there is almost nothing in it"));
        }
        Ok(end)
    }

    /// Whether everything that can be decoded from the bytes so far has been.
    pub(crate) fn needs_more(&self, bytes: &[u8]) -> bool {
        bytes.is_empty() && !self.decoder.has_output()
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

/// The beginning of a body of which only the first bytes are known, as far as they tell. It needs
/// no share of the large windows: it waits for nothing.
pub(crate) fn decode_start(encoding: Encoding, mut bytes: &[u8], cap: usize) -> Vec<u8> {
    let mut start = Vec::new();
    let bounded = Bounded { sink: &mut start, left: cap, end: None };
    if let Ok(decoder) = Decoder::new(encoding, bounded) {
        let mut reading = BodyReader { decoder, cap, encoded: 0, large_window: None };
        while !reading.needs_more(bytes) && matches!(reading.step(&mut bytes), Ok(None)) {}
        // Decoders hold back what they have decoded last.
        let _ = reading.finish();
    }
    start
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
    Brotli(Box<BrotliDecoder<W>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, W>>),
}

impl<W: Write> Decoder<W> {
    fn new(encoding: Encoding, to: W) -> io::Result<Self> {
        Ok(match encoding {
            Encoding::Plain => Self::Plain(to),
            Encoding::Gzip => Self::Gzip(Box::new(MultiGzDecoder::new(to))),
            Encoding::Brotli => Self::Brotli(Box::new(BrotliDecoder::new(to))),
            Encoding::Zstd => {
                let mut raw = zstd::stream::raw::Decoder::new()?;
                raw.set_parameter(zstd::stream::raw::DParameter::WindowLogMax(ZSTD_WINDOW_LOG))?;
                Self::Zstd(Box::new(zstd::stream::write::Decoder::with_decoder(to, raw)))
            }
        })
    }

    /// Decodes some of the bytes, and returns how many.
    fn step(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let used = match self {
            Self::Plain(to) => to.write(&bytes[..bytes.len().min(MAX_PLAIN_STEP)]),
            // They return as soon as they have filled their buffer of 32 KiB.
            Self::Gzip(decoder) => decoder.write(bytes),
            Self::Zstd(decoder) => decoder.write(bytes),
            Self::Brotli(decoder) => return decoder.step(bytes),
        }?;
        if used == 0 && !bytes.is_empty() { Err(after_the_end()) } else { Ok(used) }
    }

    /// Whether another step without bytes would continue.
    fn has_output(&self) -> bool {
        matches!(self, Self::Brotli(decoder) if decoder.has_output)
    }

    fn inner(&self) -> &W {
        match self {
            Self::Plain(to) => to,
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Brotli(decoder) => &decoder.to,
            Self::Zstd(decoder) => decoder.get_ref(),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Brotli(decoder) => decoder.finish(),
            Self::Zstd(decoder) => decoder.do_finish(),
        }
    }
}

/// A few bytes of brotli can become megabytes, so this stops whenever its buffer is full.
struct BrotliDecoder<W> {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    buffer: Vec<u8>,
    decoded: usize,
    has_output: bool,
    is_complete: bool,
    to: W,
}

impl<W: Write> BrotliDecoder<W> {
    fn new(to: W) -> Self {
        let memory = StandardAlloc::default;
        let state = BrotliState::new(memory(), memory(), memory());
        let buffer = vec![0; BROTLI_BUFFER];
        Self { state, buffer, decoded: 0, has_output: false, is_complete: false, to }
    }

    fn step(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (mut left, mut used, mut free, mut filled) = (bytes.len(), 0, BROTLI_BUFFER, 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut used,
            bytes,
            &mut free,
            &mut filled,
            &mut self.buffer,
            &mut self.decoded,
            &mut self.state,
        );
        self.to.write_all(&self.buffer[..filled])?;
        self.has_output = matches!(result, BrotliResult::NeedsMoreOutput);
        match result {
            BrotliResult::NeedsMoreOutput => Ok(used),
            BrotliResult::NeedsMoreInput if used == bytes.len() => Ok(used),
            BrotliResult::ResultSuccess if used == bytes.len() => {
                self.is_complete = true;
                Ok(used)
            }
            BrotliResult::ResultSuccess => Err(after_the_end()),
            BrotliResult::NeedsMoreInput | BrotliResult::ResultFailure => {
                Err(io::ErrorKind::InvalidData.into())
            }
        }
    }

    fn finish(&self) -> io::Result<()> {
        if self.is_complete { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

fn after_the_end() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "there are bytes after the end")
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
        let mut reading = BodyReader::new(encoding, cap, &mut all, None)?;
        for mut piece in wire.chunks(7) {
            while !reading.needs_more(piece) {
                if let Some(end) = reading.step(&mut piece)? {
                    drop(reading);
                    return Ok((all, end));
                }
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
    fn the_beginning_of_a_body_is_decoded_without_the_rest() {
        let numbers: Vec<String> = (0..5_000).map(|number| (number * 7_919).to_string()).collect();
        let text = numbers.join(" ").into_bytes();
        let wire = gzip(&text);
        assert!(wire.len() > 8_192);
        let start = decode_start(Encoding::Gzip, &wire[..8_192], 4_096);
        assert!(start == text[..4_096], "{}", String::from_utf8_lossy(&start));
        let start = decode_start(Encoding::Gzip, &wire[..1_000], 4_096);
        assert!(start.len() > 1_000 && text.starts_with(&start), "{}", start.len());
        for (encoding, wire) in
            [(Encoding::Plain, b"short".to_vec()), (Encoding::Gzip, gzip(b"short"))]
        {
            assert_eq!(decode_start(encoding, &wire, 4_096), b"short", "{encoding:?}");
            assert_eq!(decode_start(encoding, &wire, 3), b"sho", "{encoding:?}");
        }
        for encoding in [Encoding::Gzip, Encoding::Zstd] {
            assert_eq!(decode_start(encoding, b"<html>", 4_096), b"", "{encoding:?}");
        }
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
            sinks.iter_mut().map(|sink| BodyReader::new(Encoding::Zstd, MIB, sink, None)).collect();
        let refused = readers.iter().filter_map(|reader| reader.as_ref().err());
        assert!(refused.clone().all(|error| error.kind() == io::ErrorKind::OutOfMemory));
        assert!(refused.count() >= 24);
        let mut all = Vec::new();
        BodyReader::new(Encoding::Gzip, MIB, &mut all, None).expect("needs no large window");
        // A team gets some although another takes all.
        let team = Some(TeamId::new(wakeful_core::time::Millis(0), [1; 10]));
        let mut sinks = vec![Discard; 40];
        let taken = sinks.iter_mut().map(|sink| BodyReader::new(Encoding::Zstd, MIB, sink, team));
        let taken: Vec<_> = taken.filter_map(Result::ok).collect();
        assert_eq!(taken.len(), MAX_LARGE_WINDOWS / 2);
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
        let mut reading = BodyReader::new(Encoding::Plain, MIB, &mut first, None).unwrap();
        assert_eq!(reading.step(&mut &b"one"[..]).unwrap(), Some(End::Enough));
        drop(reading);
        assert_eq!(first.0, 3);
    }
}
