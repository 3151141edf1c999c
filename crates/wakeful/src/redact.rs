//! The last safeguard of the log: masks the values of fields that name a secret, and
//! digits that could be a card number. Secrets should never get this far; this catches
//! mistakes.

use std::borrow::Cow;
use std::io::{self, Write};

use wakeful_core::billing::luhn;

const MASK: &str = "[hidden]";
const QUOTED: &str = "\"[hidden]\"";

/// Fields whose values are never written, in lower case and without `_` and `-`.
const NAMES: [&str; 10] = [
    "cardnumber",
    "cvc",
    "cvv",
    "password",
    "password1",
    "password2",
    "mfacode",
    "enckey",
    "apikey",
    "authorization",
];

/// A writer of log lines. The formatter writes a whole line at a time.
pub struct Masked<W>(pub W);

impl<W: Write> Write for Masked<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(line) {
            Ok(text) => self.0.write_all(mask(text).as_bytes())?,
            Err(_) => self.0.write_all(line)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A part of a line that is not written.
struct Redaction {
    from: usize,
    until: usize,
    /// A bare number in JSON becomes a string, so that the line remains valid JSON.
    quoted: bool,
}

fn mask(line: &str) -> Cow<'_, str> {
    let mut spots = secret_fields(line);
    spots.extend(cards(line));
    if spots.is_empty() {
        return Cow::Borrowed(line);
    }
    spots.sort_by_key(|spot| spot.from);
    let mut masked = String::with_capacity(line.len());
    let mut at = 0;
    for Redaction { from, until, quoted } in spots {
        if from >= at {
            masked.push_str(&line[at..from]);
            masked.push_str(if quoted { QUOTED } else { MASK });
        }
        at = at.max(until);
    }
    masked.push_str(&line[at..]);
    Cow::Owned(masked)
}

/// Runs of 13 to 19 digits, possibly with spaces and dashes, that pass the checksum of
/// card numbers. Cards begin with 2 to 6; timestamps in milliseconds, a tenth of which
/// pass the checksum too, begin with 1.
fn cards(line: &str) -> Vec<Redaction> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() || (at > 0 && bytes[at - 1].is_ascii_alphanumeric()) {
            at += 1;
            continue;
        }
        let (digits, until) = digit_run(bytes, at);
        if (13..=19).contains(&digits.len())
            && (b'2'..=b'6').contains(&digits[0])
            && luhn(&digits)
            && !bytes.get(until).is_some_and(u8::is_ascii_alphanumeric)
        {
            let quoted = at >= 2 && &bytes[at - 2..at] == b"\":";
            found.push(Redaction { from: at, until, quoted });
        }
        at = until;
    }
    found
}

/// The digits that start here, and where they end.
fn digit_run(bytes: &[u8], from: usize) -> (Vec<u8>, usize) {
    let mut digits = Vec::new();
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        let more = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        match byte {
            b'0'..=b'9' => digits.push(byte),
            b' ' | b'-' if more => {}
            _ => break,
        }
        at += 1;
    }
    (digits, at)
}

/// The values in `name=value` and `"name":"value"` of the names above, quotes
/// left in place.
fn secret_fields(line: &str) -> Vec<Redaction> {
    let mut found = Vec::new();
    for (at, sign) in line.match_indices(['=', ':']) {
        let before = &line[..at];
        let name = before.trim_end_matches(['"', '\\']);
        let start = name.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
        let name = &name[start.map_or(0, |start| start + 1)..];
        let plain: String = name.chars().filter(|c| !matches!(c, '_' | '-')).collect();
        if !NAMES.contains(&plain.to_ascii_lowercase().as_str()) {
            continue;
        }
        let value = line[at + sign.len()..].trim_start_matches(' ');
        let from = line.len() - value.len();
        let quote = ["\\\"", "\""].into_iter().find(|quote| value.starts_with(quote));
        let spot = match quote {
            Some(quote) => {
                let inside = &value[quote.len()..];
                let from = from + quote.len();
                let until = from + inside.find(quote).unwrap_or(inside.len());
                Redaction { from, until, quoted: false }
            }
            None => {
                let length = value.find([' ', ',', '}', '\n', '"', '\\']).unwrap_or(value.len());
                let quoted = before.ends_with('"') && !before.ends_with("\\\"");
                Redaction { from, until: from + length, quoted }
            }
        };
        found.push(spot);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_number_is_masked_however_it_is_written() {
        for card in [
            "4242424242424242",
            "4242 4242 4242 4242",
            "4000-0025-0000-3155",
            "378282246310005",
            "5555555555554444",
        ] {
            let masked = mask(&format!("paid with {card}, thanks")).into_owned();
            assert_eq!(masked, "paid with [hidden], thanks", "{card}");
            assert!(!mask(&format!("{{\"x\":\"{card}\"}}")).contains(card));
        }
    }

    #[test]
    fn times_ids_and_other_numbers_are_not_masked() {
        for line in [
            "at 1794735000000 and 1794735000008",
            "monitor 019a8f3e-4242-7424-8242-424242424242",
            "took 4242 ms, 4242424242424241 bytes",
            "id x4242424242424242",
            "10.0.0.1:8080 answered 200",
        ] {
            assert_eq!(mask(line), line);
        }
    }

    #[test]
    fn the_value_of_a_field_that_names_a_secret_is_masked() {
        assert_eq!(mask("cvc=123 next=1"), "cvc=[hidden] next=1");
        assert_eq!(mask(r#"card_number: "42 42" ok"#), r#"card_number: "[hidden]" ok"#);
        assert_eq!(mask("service=cvcs password"), "service=cvcs password");
    }

    #[test]
    fn a_line_of_json_remains_valid() {
        for (line, masked) in [
            (r#"{"cardNumber":"4242","cvc":123}"#, r#"{"cardNumber":"[hidden]","cvc":"[hidden]"}"#),
            (r#"{"x":4242424242424242,"y":1}"#, r#"{"x":"[hidden]","y":1}"#),
            (
                r#"{"body":"{\"cvc\":123,\"cardNumber\":\"4242\"}"}"#,
                r#"{"body":"{\"cvc\":[hidden],\"cardNumber\":\"[hidden]\"}"}"#,
            ),
        ] {
            assert_eq!(mask(line), masked);
        }
    }

    #[test]
    fn the_writer_reports_the_length_of_the_original_line() {
        let mut out = Vec::new();
        let line = b"card 4242424242424242\n";
        let written = Masked(&mut out).write(line).unwrap();
        assert_eq!((written, out.as_slice()), (line.len(), &b"card [hidden]\n"[..]));
    }
}
