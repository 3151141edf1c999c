//! Removes credentials from what a check has seen, before it is stored or leaves a probe: values
//! with a telling name, every secret of the monitor in any usual encoding, and what looks like a
//! token, a private key or a card number wherever it occurs.

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

pub const REDACTED: &str = "[redacted]";

/// A name that contains one of these is that of a credential.
const SENSITIVE: [&str; 8] =
    ["auth", "cookie", "token", "secret", "key", "pass", "session", "sign"];
/// Shorter secrets occur in any text by chance.
const MIN_SECRET_LENGTH: usize = 4;

/// Whether a header, parameter or field of this name may be a credential.
pub fn is_sensitive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SENSITIVE.iter().any(|word| name.contains(word))
}

macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($text).expect("a valid pattern"));
    };
}

// `"name":`, before a value. In JSON within a string, quotes are escaped.
pattern!(
    JSON_NAME,
    r#"(?i)"[^"\\]*(?:auth|cookie|token|secret|key|pass|session|sign)[^"\\]*(\\*")(?:\s|\\+[nrt])*:(?:\s|\\+[nrt])*"#
);
// `name=value`, in a query, a form, a header or a page.
pattern!(
    PARAMETER,
    r#"(?i)([\w.\-\[\]]*(?:auth|cookie|token|secret|key|pass|session|sign)[\w.\-\[\]]*=)("[^"]*"?|'[^']*'?|[^&;,\s"'<>]+)"#
);
// `name: value`, as in a log or a dumped header.
pattern!(
    LINE,
    r"(?im)^([ \t]*[\w.\-]*(?:auth|cookie|token|secret|key|pass|session|sign)[\w.\-]*[ \t]*:[ \t]*)(\S.*)$"
);
// What a name announces across the markup of a form.
pattern!(
    FORM_FIELD,
    r#"(?i)(name=["']?[^"'\s>]*(?:auth|cookie|token|secret|key|pass|session|sign)[^"'\s>]*["']?[^>]*?\b(?:value|content)=)("[^"]*"?|'[^']*'?)"#
);
pattern!(JWT, r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?");
pattern!(SCHEME, r"(?i)\b(bearer|basic|digest|negotiate|ntlm) [A-Za-z0-9+/=_.~-]{6,}");
pattern!(
    PRIVATE_KEY,
    r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)"
);
pattern!(CARD, r"\b\d(?:[ -]?\d){12,18}\b");

/// Redacts with the secrets of one monitor.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    /// In every encoding, longest first.
    secrets: Vec<String>,
}

impl Redactor {
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut all: Vec<String> = secrets
            .into_iter()
            .filter(|secret| secret.len() >= MIN_SECRET_LENGTH)
            .flat_map(encodings)
            .collect();
        all.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
        all.dedup();
        Self { secrets: all }
    }

    /// A text without the secrets themselves, with a mask in their place.
    pub fn hide<'a>(&self, text: &'a str, mask: &str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), mask));
            }
        }
        text
    }

    /// A text of any kind.
    pub fn text(&self, text: &str) -> String {
        let mut text = self.hide(text, REDACTED);
        if let Some(redacted) = redact_fields(&text) {
            text = Cow::Owned(redacted);
        }
        let named = |found: &Captures<'_>| {
            let quote = found[2].chars().next().filter(|char| matches!(char, '"' | '\''));
            let quote = quote.map(String::from).unwrap_or_default();
            format!("{}{quote}{REDACTED}{quote}", &found[1])
        };
        let mut replace = |pattern: &Regex, with: &dyn Fn(&Captures<'_>) -> String| {
            if let Cow::Owned(replaced) = pattern.replace_all(&text, with) {
                text = Cow::Owned(replaced);
            }
        };
        replace(&PRIVATE_KEY, &|_| REDACTED.to_owned());
        replace(&FORM_FIELD, &named);
        replace(&PARAMETER, &named);
        replace(&LINE, &|found| format!("{}{REDACTED}", &found[1]));
        replace(&SCHEME, &|found| format!("{} {REDACTED}", &found[1]));
        replace(&JWT, &|_| REDACTED.to_owned());
        replace(&CARD, &|found| {
            if is_card(&found[0]) { REDACTED.to_owned() } else { found[0].to_owned() }
        });
        text.into_owned()
    }

    /// The value of a header.
    pub fn header(&self, name: &str, value: &str) -> String {
        if is_sensitive(name) { REDACTED.to_owned() } else { self.text(value) }
    }
}

/// Without the values of JSON fields that have a telling name; `None` if there are none.
fn redact_fields(text: &str) -> Option<String> {
    let (mut redacted, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(found) = JSON_NAME.captures_at(text, at) {
        let start = found.get(0)?.end();
        let value = &text[start..];
        let length = value_length(value);
        at = start + length;
        if length > 0 {
            let quote = match escapes_before_quote(value.as_bytes()) {
                Some(escapes) => &value[..=escapes],
                None if value.starts_with(['[', '{']) => &found[1],
                None => "",
            };
            redacted.push_str(&text[copied..start]);
            redacted.extend([quote, REDACTED, quote]);
            copied = at;
        }
    }
    if copied == 0 {
        return None;
    }
    redacted.push_str(&text[copied..]);
    Some(redacted)
}

/// The length of a JSON value, which may be cut off.
fn value_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    match (escapes_before_quote(bytes), bytes.first()) {
        (Some(escapes), _) => string_length(bytes, escapes),
        (None, Some(b'[' | b'{')) => nested_length(bytes),
        _ => {
            let is_end = |char: char| char.is_whitespace() || "\",[]{}".contains(char);
            text.find(is_end).unwrap_or(text.len())
        }
    }
}

fn nested_length(bytes: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < bytes.len() {
        let escapes = count_escapes(&bytes[at..]);
        match bytes.get(at + escapes) {
            Some(b'"') => {
                at += string_length(&bytes[at..], escapes);
                continue;
            }
            Some(b'[' | b'{') => depth += 1,
            Some(b']' | b'}') if depth <= 1 => return at + escapes + 1,
            Some(b']' | b'}') => depth -= 1,
            _ => {}
        }
        at += escapes + 1;
    }
    bytes.len()
}

/// The length of a string whose quotes have so many backslashes before them, as in JSON within
/// strings.
fn string_length(bytes: &[u8], escapes: usize) -> usize {
    let mut at = escapes + 1;
    while at < bytes.len() {
        let found = count_escapes(&bytes[at..]);
        if bytes.get(at + found) == Some(&b'"') {
            if found < escapes {
                // The string around it ends.
                return at;
            }
            // Otherwise the quote is escaped more often than the one at the beginning.
            if (found - escapes).is_multiple_of(2 * (escapes + 1)) {
                return at + found + 1;
            }
        }
        at += found + 1;
    }
    bytes.len()
}

/// The number of backslashes before a quote that begins here.
fn escapes_before_quote(bytes: &[u8]) -> Option<usize> {
    let escapes = count_escapes(bytes);
    (bytes.get(escapes) == Some(&b'"')).then_some(escapes)
}

fn count_escapes(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == b'\\').count()
}

/// A secret as it may occur.
fn encodings(secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    let mut all =
        vec![secret.to_owned(), BASE64_NOPAD.encode(bytes), BASE64URL_NOPAD.encode(bytes)];
    let percent = percent_encoded(secret);
    all.push(percent.to_ascii_lowercase());
    all.push(percent.replace("%20", "+"));
    all.push(percent);
    // As it is written in JSON.
    all.extend(serde_json::to_string(secret).map(|json| json.trim_matches('"').to_owned()));
    all.retain(|form| form.len() >= MIN_SECRET_LENGTH);
    all
}

pub(crate) fn percent_encoded(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut encoded, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(byte.into());
            }
            byte => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
        encoded
    })
}

/// Whether these digits pass the checksum of card numbers (Luhn).
fn is_card(text: &str) -> bool {
    let digits = text.chars().rev().filter_map(|char| char.to_digit(10));
    let sum: u32 = digits
        .enumerate()
        .map(|(at, digit)| match (at % 2, digit * 2) {
            (0, _) => digit,
            (_, doubled) if doubled > 9 => doubled - 9,
            (_, doubled) => doubled,
        })
        .sum();
    sum.is_multiple_of(10) && text.chars().any(|char| matches!(char, '1'..='9'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_credential_remains() {
        let redactor = Redactor::new(["hunter2 ä+/", "abc"]);
        for text in [
            "the password hunter2 ä+/ was wrong",
            "aHVudGVyMiDDpCsv",
            "?q=hunter2%20%C3%A4%2B%2F",
            "hunter2%20%c3%a4%2b%2f",
            r#"{"api_key": "sentinel", "depth": 3}"#,
            r#"{"a": {"Session-Id" : "sent\"inel"#,
            r#"{"token":12345678sentinel}"#,
            r#"{"tokens": ["sentinel", ["]", "sentinel"]], "depth": 3}"#,
            r#"{"session": {"id": "}", "of": {"user": "sentinel"}}, "ok": true}"#,
            r#"{"auth" : {"value": "sent\"inel]}"#,
            r#"{"keys":[[[{"a":["sentinel"#,
            r#"{"log": "{\"token\":\"sentinel\"}"}"#,
            r#"{"log": "{\"tokens\": [\"sent\\\"inel\", \"sentinel\"]}"}"#,
            r#"{"log": "{\n \"session\" :\n {\"id\": \"sentinel"#,
            r#""{\\\"token\\\":\\\"sentinel\\\"}""#,
            "https://a.example/?token=sentinel&x=1",
            "user=ann&password=sentinel",
            "Set-Cookie: sid=sentinel; Path=/",
            "x-api-key: sentinel",
            "Authorization: Bearer sentinel",
            "curl -H 'Bearer sentinel123'",
            r#"<input type="hidden" name="csrf_token" value="sentinel">"#,
            r#"<meta name="csrf-token" content="sentinel">"#,
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzZW50aW5lbCJ9.sentinel",
            "-----BEGIN RSA PRIVATE KEY-----\nsentinel\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\nsentinel",
            "card 4111 1111 1111 1111.",
        ] {
            let redacted = redactor.text(text);
            assert!(redacted.contains(REDACTED), "{redacted}");
            for secret in ["sentinel", "hunter2", "aHVudGVy", "4111 1111", "sent\\", "eyJz"] {
                assert!(!redacted.contains(secret), "{text} -> {redacted}");
            }
        }
    }

    #[test]
    fn the_rest_of_a_text_remains() {
        let redactor = Redactor::new(["hunter2"]);
        for text in [
            "200 OK",
            r#"{"queue": {"depth": 1834}, "status": "ok"}"#,
            "order 1234567890123456 shipped",
            "https://a.example/?page=2",
            "abc",
        ] {
            assert_eq!(redactor.text(text), text);
        }
        for (text, expected) in [
            (
                r#"{"depth": 3, "token": "x1", "ok": true}"#,
                r#"{"depth": 3, "token": "[redacted]", "ok": true}"#,
            ),
            (r#"{"token": "x1\\", "depth": 3}"#, r#"{"token": "[redacted]", "depth": 3}"#),
            (r#"{"token": 17, "depth": 3}"#, r#"{"token": [redacted], "depth": 3}"#),
            (
                r#"{"tokens": [1, ["a"]], "session": {"id": {}}, "depth": 3}"#,
                r#"{"tokens": "[redacted]", "session": "[redacted]", "depth": 3}"#,
            ),
            (
                r#"{"log": "{\"key\":\"a\\\"b\",\"depth\":3}", "n": 1}"#,
                r#"{"log": "{\"key\":\"[redacted]\",\"depth\":3}", "n": 1}"#,
            ),
            (
                r#"{"log": "{\"keys\": {\"a\": [1]}, \"depth\": 3}", "n": 1}"#,
                r#"{"log": "{\"keys\": \"[redacted]\", \"depth\": 3}", "n": 1}"#,
            ),
            // The string around it ends first.
            (r#"{"log": "{\"key\":\"a", "n": 1}"#, r#"{"log": "{\"key\":\"[redacted]\"", "n": 1}"#),
        ] {
            assert_eq!(redactor.text(text), expected);
        }
        assert_eq!(redactor.header("Set-Cookie", "a=b"), REDACTED);
        assert_eq!(redactor.header("Server", "nginx"), "nginx");
    }

    #[test]
    fn hostile_nesting_takes_neither_stack_nor_time() {
        let began = std::time::Instant::now();
        for part in ["[", "{\"key\":", "\\", "\"", "\"key\":[", "\\\"key\\\":\\\"", "\"key\":[]"] {
            let redacted = Redactor::default().text(&format!("\"key\":[{}", part.repeat(50_000)));
            assert_eq!(redacted, r#""key":"[redacted]""#, "{part}");
        }
        let many = Redactor::default().text(&"\"key\":[] ".repeat(20_000));
        assert_eq!(many, "\"key\":\"[redacted]\" ".repeat(20_000));
        assert!(began.elapsed() < std::time::Duration::from_secs(30), "{:?}", began.elapsed());
    }
}
