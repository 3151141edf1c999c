//! What is left out of the response of a receiver: the credentials that it was sent. A receiver may
//! repeat them, and its response is stored and shown to everybody in the team.

use http::header::{CONTENT_TYPE, USER_AGENT};
use url::{Position, Url};
use wakeful_core::notifications::notifier::service::MASK;
use wakeful_core::redact::Redactor;

use crate::net::http::Request;

/// A shorter secret would be found in too many texts.
const MIN_MASKED: usize = 5;
/// The words of a secret that are shorter may be names, such as Bearer.
const MIN_HIDDEN_WORD: usize = 8;
/// The parts of a path that are shorter and have no digits are names.
const MIN_HIDDEN_PART: usize = 20;

/// Credentials, in every encoding.
#[derive(Clone, Debug, Default)]
pub struct Hidden(Redactor);

impl Hidden {
    pub(super) fn new<'a>(secrets: impl Iterator<Item = &'a str>) -> Self {
        let parts: Vec<String> =
            secrets.flat_map(parts).filter(|part| part.len() >= MIN_MASKED).collect();
        Self(Redactor::new(parts.iter().map(String::as_str)))
    }

    /// These and all headers of a request that may be credentials.
    pub(super) fn of_request<'a>(
        request: &'a Request,
        secrets: impl Iterator<Item = &'a str>,
    ) -> Self {
        let own = request.headers.iter().filter(|(name, _)| {
            !([USER_AGENT, CONTENT_TYPE].contains(name) || name.as_str().starts_with("webhook-"))
        });
        Self::new(secrets.chain(own.filter_map(|(_, value)| value.to_str().ok())))
    }

    /// A text without them. It is not cut yet: a part of a credential would not be found.
    pub(super) fn hide(&self, text: &str) -> String {
        self.0.hide(text, MASK).into_owned()
    }
}

/// The secret, for a URL its path, query and last part, and for headers their values.
fn parts(secret: &str) -> Vec<String> {
    let mut parts = vec![secret.to_owned()];
    let words = secret.split([' ', ';', '"', ',']);
    let is_value = |word: &&str| word.len() >= MIN_HIDDEN_WORD && !word.ends_with(':');
    parts.extend(words.filter(is_value).map(str::to_owned));
    if let Ok(url) = Url::parse(secret) {
        let last = url.path_segments().into_iter().flatten().next_back();
        let last = last.filter(|part| may_be_credential(part));
        if url.query().is_some() || last.is_some() {
            parts.push(url[Position::BeforePath..].to_owned());
        }
        parts.extend(last.map(str::to_owned));
        parts.extend(url.query().map(str::to_owned));
        parts.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
        parts.extend(url.password().map(str::to_owned));
    }
    parts
}

/// Whether a part of a path is more than a word such as `alerts`.
fn may_be_credential(part: &str) -> bool {
    part.len() >= MIN_HIDDEN_PART || part.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_secret_headers_are_secret_too() {
        let parts = parts("Authorization: Bearer hunter2-swordfish; X-Key: correct-horse");
        assert!(parts.contains(&"hunter2-swordfish".to_owned()), "{parts:?}");
        assert!(parts.contains(&"correct-horse".to_owned()), "{parts:?}");
        assert!(!parts.contains(&"Bearer".to_owned()), "{parts:?}");
    }

    #[test]
    fn the_parts_of_a_secret_url_are_secret_too() {
        let parts = parts("https://hooks.example.com/services/T0/B0/hunter2?key=swordfish");
        for part in
            ["/services/T0/B0/hunter2?key=swordfish", "hunter2", "key=swordfish", "swordfish"]
        {
            assert!(parts.contains(&part.to_owned()), "{part}: {parts:?}");
        }
        let url = "https://hooks.example.com/alerts/new";
        assert_eq!(super::parts(url), [url; 2], "the address itself, as a text and as a word");
    }
}
