//! Searches a page for texts while it arrives, in any character set, buffering
//! no more than the length of the longest.

use encoding_rs::{Decoder, Encoding, UTF_8};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use memchr::memmem;
use std::ops::ControlFlow;

use crate::net::decode::Sink;

/// How far into a page its own charset declaration is searched for.
const CHARSET_SCAN_BYTES: usize = 1_024;
/// How much is decoded at a time; the window then fits into the L1 cache.
const DECODE_CHUNK_BYTES: usize = 8_192;

pub(super) struct Finder<'k> {
    searches: Vec<Search<'k>>,
    charset: Charset,
    /// Decoded text: the end of the part already searched, then the part to
    /// search. It only grows; `filled` is how much of it is in use.
    window: Vec<u8>,
    filled: usize,
}

struct Search<'k> {
    text: memmem::Finder<'k>,
    found: bool,
}

enum Charset {
    /// To be determined from the page's first bytes, which are buffered here.
    Pending(Vec<u8>),
    Known(Decoder),
}

impl<'k> Finder<'k> {
    pub(super) fn new(texts: impl IntoIterator<Item = &'k str>, headers: &HeaderMap) -> Self {
        let content_type = headers.get(CONTENT_TYPE).map(http::HeaderValue::as_bytes);
        let named = charset_in(content_type.unwrap_or_default());
        Self {
            searches: texts
                .into_iter()
                .map(|text| Search { text: memmem::Finder::new(text), found: false })
                .collect(),
            charset: named.map_or(Charset::Pending(Vec::new()), Charset::known),
            window: Vec::new(),
            filled: 0,
        }
    }

    /// Whether each of the texts is in the page, after all of it has been read.
    pub(super) fn found(&mut self) -> Vec<bool> {
        if let Charset::Pending(first) = &mut self.charset {
            let first = std::mem::take(first);
            self.begin(&first);
        }
        self.searches.iter().map(|search| search.found).collect()
    }

    fn has_found_all(&self) -> bool {
        self.searches.iter().all(|search| search.found)
    }

    /// Searches the page's first bytes in the character set they declare.
    fn begin(&mut self, first: &[u8]) {
        let declared = charset_in(&first[..first.len().min(CHARSET_SCAN_BYTES)]);
        self.charset = Charset::known(declared.unwrap_or(UTF_8));
        first.chunks(DECODE_CHUNK_BYTES).for_each(|piece| self.search(piece));
    }

    fn search(&mut self, piece: &[u8]) {
        let decoder = match &mut self.charset {
            Charset::Known(decoder) => decoder,
            Charset::Pending(first) => {
                first.extend_from_slice(piece);
                if first.len() >= CHARSET_SCAN_BYTES {
                    let first = std::mem::take(first);
                    self.begin(&first);
                } else {
                    // A page may contain it early and then be slow.
                    for search in &mut self.searches {
                        search.found = search.text.find(first).is_some();
                    }
                }
                return;
            }
        };
        let mut window = std::mem::take(&mut self.window);
        let max = decoder.max_utf8_buffer_length(piece.len()).unwrap_or_default();
        let (filled, needed) = (self.filled, self.filled + max);
        if window.len() < needed {
            window.resize(needed, 0);
        }
        let (_, _, written, _) = decoder.decode_to_utf8(piece, &mut window[filled..], false);
        let text = &window[..filled + written];
        let mut keep = 0;
        for search in self.searches.iter_mut().filter(|search| !search.found) {
            search.found = search.text.find(text).is_some();
            // The text may begin in the last bytes.
            keep = keep.max(search.text.needle().len().saturating_sub(1));
        }
        let end = text.len();
        let keep = keep.min(end);
        window.copy_within(end - keep..end, 0);
        self.filled = keep;
        self.window = window;
    }
}

impl Charset {
    /// A byte order mark takes precedence over header and page.
    fn known(encoding: &'static Encoding) -> Self {
        Self::Known(encoding.new_decoder())
    }
}

impl Sink for Finder<'_> {
    fn take(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        for piece in bytes.chunks(DECODE_CHUNK_BYTES) {
            if self.has_found_all() {
                break;
            }
            self.search(piece);
        }
        if self.has_found_all() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// A body as text, in the character set that it declares.
pub(super) fn decode_text(headers: &HeaderMap, bytes: Vec<u8>) -> String {
    let content_type = headers.get(CONTENT_TYPE).map(http::HeaderValue::as_bytes);
    let declared = || charset_in(&bytes[..bytes.len().min(CHARSET_SCAN_BYTES)]);
    let charset = charset_in(content_type.unwrap_or_default()).or_else(declared).unwrap_or(UTF_8);
    if charset == UTF_8 && !bytes.starts_with(b"\xff\xfe") && !bytes.starts_with(b"\xfe\xff") {
        return String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    }
    charset.decode(&bytes).0.into_owned()
}

/// The character set after `charset=`, in a header or in a page's `meta`.
fn charset_in(text: &[u8]) -> Option<&'static Encoding> {
    const CHARSET_ATTRIBUTE: &[u8] = b"charset";
    let words = text.windows(CHARSET_ATTRIBUTE.len()).enumerate();
    let mut places = words.filter(|(_, word)| word.eq_ignore_ascii_case(CHARSET_ATTRIBUTE));
    places.find_map(|(at, _)| charset_at(&text[at + CHARSET_ATTRIBUTE.len()..]))
}

fn charset_at(behind: &[u8]) -> Option<&'static Encoding> {
    let rest = behind.trim_ascii_start().strip_prefix(b"=")?;
    let is_quote = |byte: &&u8| matches!(byte, b'"' | b'\'') || byte.is_ascii_whitespace();
    let label: Vec<u8> = rest
        .iter()
        .skip_while(is_quote)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"-_:.+".contains(byte))
        .copied()
        .collect();
    Encoding::for_label(&label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(keyword: &str, content_type: &'static str, pieces: &[&[u8]]) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, http::HeaderValue::from_static(content_type));
        let mut finder = Finder::new([keyword], &headers);
        pieces.iter().any(|piece| finder.take(piece).is_break()) || finder.found() == [true]
    }

    #[test]
    fn a_keyword_is_found_across_pieces() {
        let page = b"<h1>All systems operational</h1>";
        for size in 1..page.len() {
            let pieces: Vec<&[u8]> = page.chunks(size).collect();
            assert!(search("systems operational", "text/html", &pieces), "{size}");
            assert!(!search("Systems operational", "text/html", &pieces), "{size}");
        }
    }

    #[test]
    fn the_character_set_is_respected() {
        let latin1 = b"<p>Verf\xfcgbar</p>".as_slice();
        let latin1_meta = b"<meta charset=\"iso-8859-1\"><p>Verf\xfcgbar</p>".as_slice();
        let sjis = [b"<p>".as_slice(), b"\x8a\xbf\x8e\x9a", b"</p>"].concat();
        let utf16 = b"\xff\xfeV\0e\0r\0f\0\xfc\0g\0b\0a\0r\0".as_slice();
        assert!(search("Verfügbar", "text/html; charset=ISO-8859-1", &[latin1]));
        assert!(search("Verfügbar", "text/html", &[latin1_meta]));
        assert!(search("漢字", "text/html; charset=\"Shift_JIS\"", &[&sjis]));
        assert!(search("Verfügbar", "text/html", &[utf16]));
        assert!(search("Verfügbar", "text/html", &["Verfügbar".as_bytes()]));
        assert!(!search("Verfügbar", "text/html", &[latin1]));
    }

    #[test]
    fn a_page_may_declare_its_character_set_in_any_of_its_first_pieces() {
        let page = b"<html><title>charset test</title><meta charset='iso-8859-1'>Verf\xfcgbar";
        for size in [1, 5, 12, 40, page.len()] {
            let pieces: Vec<&[u8]> = page.chunks(size).collect();
            assert!(search("Verf\u{fc}gbar", "text/html", &pieces), "{size}");
            assert!(!search("Verfugbar", "text/html", &pieces), "{size}");
        }
    }

    #[test]
    fn a_keyword_is_found_before_the_rest_arrives() {
        let mut finder = Finder::new(["ok"], &HeaderMap::new());
        assert!(finder.take(b"<p>ok").is_break());
    }

    #[test]
    fn several_texts_are_found_across_pieces_independently() {
        let page = [&[b'x'; 2_000][..], b"one and two", &[b'x'; 2_000], b"one"].concat();
        for size in [1, 7, 1_999, page.len()] {
            let mut finder = Finder::new(["two", "one and two", "three"], &HeaderMap::new());
            assert!(page.chunks(size).all(|piece| finder.take(piece).is_continue()), "{size}");
            assert_eq!(finder.found(), [true, true, false], "{size}");
        }
        let mut finder = Finder::new(["one", "two"], &HeaderMap::new());
        assert!(finder.take(&page).is_break());
    }

    #[test]
    fn the_window_stays_as_small_as_the_keyword() {
        let mut finder = Finder::new(["keyword", "key"], &HeaderMap::new());
        for _ in 0..1_000 {
            assert!(finder.take(&[b'x'; 4_096]).is_continue());
        }
        assert!(finder.filled < "keyword".len());
        assert!(finder.window.len() < 4 * DECODE_CHUNK_BYTES);
    }

    #[test]
    fn an_unknown_character_set_is_decoded_as_utf8() {
        assert!(search("ok", "text/html; charset=klingon", &[b"ok"]));
        assert!(search("ok", "text/html; charset", &[b"ok"]));
    }
}
