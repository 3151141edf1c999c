//! Digest authentication (RFC 7616): MD5 and SHA-256, also with `-sess`, and `qop=auth`. The
//! challenge is untrusted: it is parsed with bounds, and never echoed unescaped.

use data_encoding::HEXLOWER;
use http::header::{HeaderValue, WWW_AUTHENTICATE};
use http::{HeaderMap, Method};
use md5::Md5;
use sha2::{Digest as _, Sha256};
use wakeful_core::reason::Reason;
use wakeful_core::secret::Secret;

use crate::net::error::ProbeError;

/// The longest challenge that is read.
const MAX_CHALLENGE_BYTES: usize = 8_192;

#[derive(Debug, Default, PartialEq, Eq)]
struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Option<String>,
    qop: Option<String>,
    hashes_user: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hash {
    Md5,
    Sha256,
}

impl Hash {
    fn of(self, text: &str) -> String {
        match self {
            Self::Md5 => HEXLOWER.encode(&Md5::digest(text.as_bytes())),
            Self::Sha256 => HEXLOWER.encode(&Sha256::digest(text.as_bytes())),
        }
    }
}

/// The header that answers the challenge in these headers, if they have one. An error if none of
/// them is supported.
pub(super) fn answer(
    headers: &HeaderMap,
    method: &Method,
    uri: &str,
    username: &str,
    password: &Secret,
    client_nonce: &str,
) -> Result<Option<HeaderValue>, ProbeError> {
    let challenges = challenges(headers);
    if challenges.is_empty() {
        return Ok(None);
    }
    let mut supported: Vec<(Hash, bool, &Challenge)> = challenges
        .iter()
        .filter_map(|challenge| {
            let (hash, session) = challenge.algorithm()?;
            challenge.offers_auth().then_some((hash, session, challenge))
        })
        .collect();
    // The strongest.
    supported.sort_by_key(|(hash, ..)| *hash == Hash::Md5);
    let Some((hash, session, challenge)) = supported.first() else {
        let message = "the server offers no digest authentication that Wakeful supports";
        return Err(ProbeError::answered(Reason::Auth, message));
    };
    let text = challenge.answer(*hash, *session, method, uri, username, password, client_nonce);
    let mut value = HeaderValue::from_str(&text).map_err(|_| {
        ProbeError::answered(Reason::Auth, "the server sent an invalid digest challenge")
    })?;
    value.set_sensitive(true);
    Ok(Some(value))
}

impl Challenge {
    /// The hash, and whether it covers the session.
    fn algorithm(&self) -> Option<(Hash, bool)> {
        let name = self.algorithm.as_deref().unwrap_or("MD5").to_ascii_uppercase();
        match name.as_str() {
            "MD5" => Some((Hash::Md5, false)),
            "MD5-SESS" => Some((Hash::Md5, true)),
            "SHA-256" => Some((Hash::Sha256, false)),
            "SHA-256-SESS" => Some((Hash::Sha256, true)),
            _ => None,
        }
    }

    fn offers_auth(&self) -> bool {
        let qop = self.qop.as_deref().unwrap_or_default();
        !self.nonce.is_empty()
            && qop.split(',').any(|word| word.trim().eq_ignore_ascii_case("auth"))
    }

    #[expect(clippy::too_many_arguments, reason = "what the hash covers")]
    fn answer(
        &self,
        hash: Hash,
        session: bool,
        method: &Method,
        uri: &str,
        username: &str,
        password: &Secret,
        client_nonce: &str,
    ) -> String {
        const COUNT: &str = "00000001";
        let Self { realm, nonce, .. } = self;
        let mut secret = hash.of(&format!("{username}:{realm}:{}", password.expose()));
        if session {
            secret = hash.of(&format!("{secret}:{nonce}:{client_nonce}"));
        }
        let request = hash.of(&format!("{method}:{uri}"));
        let response = hash.of(&format!("{secret}:{nonce}:{COUNT}:{client_nonce}:auth:{request}"));
        let user = if self.hashes_user {
            hash.of(&format!("{username}:{realm}"))
        } else {
            username.to_owned()
        };
        let mut header = format!(
            "Digest username={}, realm={}, nonce={}, uri={}, response=\"{response}\", qop=auth, \
             nc={COUNT}, cnonce=\"{client_nonce}\"",
            quoted(&user),
            quoted(realm),
            quoted(nonce),
            quoted(uri),
        );
        if let Some(algorithm) = &self.algorithm {
            // One of those that are known.
            header.push_str(&format!(", algorithm={algorithm}"));
        }
        if let Some(opaque) = &self.opaque {
            header.push_str(&format!(", opaque={}", quoted(opaque)));
        }
        if self.hashes_user {
            header.push_str(", userhash=true");
        }
        header
    }
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

/// The digest challenges in these headers; one header may have several, also of other schemes.
fn challenges(headers: &HeaderMap) -> Vec<Challenge> {
    let mut all = Vec::new();
    let values = headers.get_all(WWW_AUTHENTICATE).iter();
    for value in values.filter(|value| value.len() <= MAX_CHALLENGE_BYTES) {
        let text = String::from_utf8_lossy(value.as_bytes());
        let mut rest = text.as_ref();
        // That of another scheme is read, too, and ignored.
        let mut current: Option<Challenge> = None;
        while let Some((name, value, after)) = next_part(rest) {
            rest = after;
            match (value, &mut current) {
                (None, _) => {
                    all.extend(current.take());
                    current = name.eq_ignore_ascii_case("Digest").then(Challenge::default);
                }
                (Some(value), Some(challenge)) => challenge.set(name, value),
                (Some(_), None) => {}
            }
        }
        all.extend(current);
    }
    all
}

impl Challenge {
    fn set(&mut self, name: &str, value: String) {
        match name.to_ascii_lowercase().as_str() {
            "realm" => self.realm = value,
            "nonce" => self.nonce = value,
            "opaque" => self.opaque = Some(value),
            "algorithm" => self.algorithm = Some(value),
            "qop" => self.qop = Some(value),
            "userhash" => self.hashes_user = value.eq_ignore_ascii_case("true"),
            _ => {}
        }
    }
}

/// The next scheme, or the next parameter with its value, and the rest.
fn next_part(text: &str) -> Option<(&str, Option<String>, &str)> {
    let text = text.trim_start_matches([' ', '\t', ',']);
    let end = text.find([' ', '\t', ',', '=']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        // Such as a second equals sign.
        let mut chars = text.chars();
        chars.next()?;
        return Some(("", Some(String::new()), chars.as_str()));
    }
    let Some(value) = rest.trim_start().strip_prefix('=') else { return Some((name, None, rest)) };
    let value = value.trim_start();
    let Some(quoted) = value.strip_prefix('"') else {
        let end = value.find([' ', '\t', ',']).unwrap_or(value.len());
        let (value, rest) = value.split_at(end);
        return Some((name, Some(value.to_owned()), rest));
    };
    let mut content = String::new();
    let mut chars = quoted.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => break,
            '\\' => content.extend(chars.next()),
            char => content.push(char),
        }
    }
    Some((name, Some(content), chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    /// The examples of RFC 7616, section 3.9.1.
    #[test]
    fn the_examples_of_the_standard_are_answered() {
        const NONCE: &str = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v";
        const CLIENT: &str = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        let challenge = |algorithm: &str| {
            format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", \
                 algorithm={algorithm}, nonce=\"{NONCE}\", \
                 opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
            )
        };
        let password = Secret::new("Circle of Life");
        let of = |values: &[&str]| {
            let answer = answer(
                &headers(values),
                &Method::GET,
                "/dir/index.html",
                "Mufasa",
                &password,
                CLIENT,
            );
            answer.unwrap().unwrap().to_str().unwrap().to_owned()
        };
        let md5 = of(&[&challenge("MD5")]);
        assert!(md5.contains("response=\"8ca523f5e9506fed4657c9700eebdbec\""), "{md5}");
        let both = of(&[&challenge("MD5"), &challenge("SHA-256")]);
        let sha = "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1";
        assert!(both.contains(&format!("response=\"{sha}\"")), "{both}");
        assert!(both.contains("algorithm=SHA-256") && both.contains("nc=00000001"), "{both}");
    }

    #[test]
    fn a_challenge_may_be_one_of_several_in_a_header() {
        let found = challenges(&headers(&[
            "Basic realm=\"a, b\", Digest realm=\"x \\\"y\\\"\", nonce=n, qop=auth,userhash=true, Negotiate abc==",
        ]));
        let expected = Challenge {
            realm: "x \"y\"".to_owned(),
            nonce: "n".to_owned(),
            qop: Some("auth".to_owned()),
            hashes_user: true,
            ..Challenge::default()
        };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn other_challenges_are_refused_and_garbage_ends() {
        let password = Secret::new("p");
        let of = |value: &str| answer(&headers(&[value]), &Method::GET, "/", "u", &password, "c");
        assert_eq!(of("Basic realm=\"a\""), Ok(None));
        for unsupported in [
            "Digest realm=\"a\", nonce=\"n\", qop=\"auth-int\"",
            "Digest realm=\"a\", nonce=\"n\"",
            "Digest realm=\"a\", nonce=\"n\", qop=auth, algorithm=SHA-512-256",
            "Digest realm=\"a\", qop=auth",
        ] {
            assert!(of(unsupported).is_err(), "{unsupported}");
        }
        assert_eq!(of("Digest ===,,, =\"\" nonce=\"unterminated"), Ok(None));
    }
}
