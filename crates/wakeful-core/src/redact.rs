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

// `"name": "value"`, where the text may be cut off.
pattern!(
    JSON_FIELD,
    r#"(?i)("[^"\\]*(?:auth|cookie|token|secret|key|pass|session|sign)[^"\\]*"\s*:\s*)("(?:[^"\\]|\\.)*"?|[^\s",\[\]{}]+)"#
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

    /// A text of any kind.
    pub fn text(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), REDACTED));
            }
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
        replace(&JSON_FIELD, &named);
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
        let mixed = redactor.text(r#"{"depth": 3, "token": "x1", "ok": true}"#);
        assert_eq!(mixed, r#"{"depth": 3, "token": "[redacted]", "ok": true}"#);
        assert_eq!(redactor.header("Set-Cookie", "a=b"), REDACTED);
        assert_eq!(redactor.header("Server", "nginx"), "nginx");
    }
}
