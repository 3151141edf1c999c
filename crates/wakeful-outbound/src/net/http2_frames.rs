//! Counts the frames that a server sends on an HTTP/2 connection. Each one costs processor time,
//! and interim responses also memory, that neither the time nor the size of a response bounds.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wakeful_core::reason::Reason;

use super::error::ProbeError;
use super::http::{MAX_SMALL_PIECES, MIN_PIECE_BYTES};
use super::http1::{MAX_INTERIM_RESPONSES, ONLY_INTERIM, only_interim};

const HEADER: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
/// Those with the header of the response and with its trailers, besides the interim ones.
const MAX_HEADERS: usize = MAX_INTERIM_RESPONSES + 2;
/// Settings, pings and the like.
const MAX_OTHERS: usize = 1_024;

const TOO_MANY_FRAMES: &str = "the server sends too many small HTTP/2 frames";

/// What a server sent too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    InterimResponses,
    Frames,
}

impl Excess {
    pub(super) fn explain(self) -> ProbeError {
        match self {
            Self::InterimResponses => only_interim(),
            Self::Frames => ProbeError::answered(Reason::HttpInvalid, TOO_MANY_FRAMES),
        }
    }

    /// Whether a check has failed for one of these reasons.
    pub(crate) fn is_message(message: &str) -> bool {
        message == TOO_MANY_FRAMES || message == ONLY_INTERIM
    }
}

/// A stream that fails once the server has sent too many frames. Why is known outside: the error
/// loses its type on its way.
#[derive(Debug)]
pub(super) struct CountedFrames<S> {
    stream: S,
    counter: FrameCounter,
    excess: Arc<OnceLock<Excess>>,
}

impl<S> CountedFrames<S> {
    pub(super) fn new(stream: S) -> (Self, Arc<OnceLock<Excess>>) {
        let excess = Arc::new(OnceLock::new());
        let counter = FrameCounter::default();
        (Self { stream, counter, excess: Arc::clone(&excess) }, excess)
    }
}

#[derive(Debug, Default)]
struct FrameCounter {
    /// The header of the next frame, as far as it has arrived.
    header: [u8; HEADER],
    filled: usize,
    /// Bytes of the current frame that have not arrived.
    rest: usize,
    headers: usize,
    data: usize,
    data_bytes: usize,
    others: usize,
}

impl FrameCounter {
    fn read(&mut self, mut bytes: &[u8]) -> Result<(), Excess> {
        while !bytes.is_empty() {
            let skipped = self.rest.min(bytes.len());
            self.rest -= skipped;
            bytes = &bytes[skipped..];
            let count = (HEADER - self.filled).min(bytes.len());
            self.header[self.filled..self.filled + count].copy_from_slice(&bytes[..count]);
            self.filled += count;
            bytes = &bytes[count..];
            if self.filled == HEADER {
                self.filled = 0;
                self.begin()?;
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), Excess> {
        let [a, b, c, kind, ..] = self.header;
        self.rest = u32::from_be_bytes([0, a, b, c]) as usize;
        match kind {
            HEADERS => self.headers += 1,
            DATA => (self.data, self.data_bytes) = (self.data + 1, self.data_bytes + self.rest),
            _ => self.others += 1,
        }
        let is_small = self.data > MAX_SMALL_PIECES + self.data_bytes / MIN_PIECE_BYTES;
        match () {
            () if self.headers > MAX_HEADERS => Err(Excess::InterimResponses),
            () if self.others > MAX_OTHERS || is_small => Err(Excess::Frames),
            () => Ok(()),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CountedFrames<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = into.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, into);
        if let Err(excess) = this.counter.read(&into.filled()[before..]) {
            // A second one changes nothing.
            let _ = this.excess.set(excess);
            return Poll::Ready(Err(io::Error::other("too many frames")));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CountedFrames<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, payload: usize) -> Vec<u8> {
        let [_, a, b, c] = u32::try_from(payload).expect("small").to_be_bytes();
        let mut frame = vec![a, b, c, kind, 0, 0, 0, 0, 1];
        frame.resize(HEADER + payload, 0);
        frame
    }

    /// How many of these frames are accepted.
    fn accepted(kind: u8, payload: usize, piece: usize) -> usize {
        let mut counter = FrameCounter::default();
        let frame = frame(kind, payload);
        let is_accepted = |_: &usize| frame.chunks(piece).all(|part| counter.read(part).is_ok());
        (0..200_000).take_while(is_accepted).count()
    }

    #[test]
    fn frames_are_counted_however_they_are_cut() {
        for piece in [1, 2, 9, 10, 4_096] {
            assert_eq!(accepted(HEADERS, 30, piece), MAX_HEADERS);
            assert_eq!(accepted(6, 8, piece), MAX_OTHERS);
        }
        assert_eq!(accepted(DATA, 0, 9), MAX_SMALL_PIECES);
        assert_eq!(accepted(DATA, 16, 25), 200_000);
    }
}
