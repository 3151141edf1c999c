//! NTLMv2 (MS-NLMP) as a client: negotiate, challenge, authenticate, all on one
//! HTTP/1.1 connection, which the server considers authenticated afterwards.
//! Implemented here because the server's message is untrusted: it is parsed
//! with bounds, and the time is an argument.

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use md4::{Digest as _, Md4};
use md5::Md5;
use wakeful_core::observation::FaultKind;
use wakeful_core::reason::Reason;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;

use crate::net::Trace;
use crate::net::decode::{Discard, Encoding, End};
use crate::net::error::ProbeError;
use crate::net::http::{Head, Request, Session};

const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";

/// Unicode, request target, NTLM, always sign, extended session security,
/// target info, 128 and 56 bit: supported by every server since Windows 2000.
const FLAGS: u32 = 0xA088_8205;

/// The attribute of the challenge that carries the server's time.
const TIMESTAMP: u16 = 7;

/// Lengths in our message have 16 bits; the target info of real servers is far
/// shorter.
const MAX_TARGET_INFO: u16 = 16_384;

/// The response with the challenge has a body of its own.
const MAX_REFUSAL_BYTES: usize = 1 << 20;

pub(super) struct Credentials<'a> {
    domain: &'a str,
    user: &'a str,
    password: &'a Secret,
}

impl<'a> Credentials<'a> {
    /// `DOMAIN\user`; `user@domain` is sent whole as the user, as Windows does.
    pub(super) fn new(username: &'a str, password: &'a Secret) -> Self {
        let (domain, user) = username.split_once('\\').unwrap_or(("", username));
        Self { domain, user, password }
    }
}

/// Sends the request as the user. A response other than the challenge is
/// returned as it is: then the server did not require authentication.
pub(super) async fn send_authenticated(
    session: &mut Session,
    request: &Request,
    credentials: &Credentials<'_>,
    now: Millis,
    trace: &mut Trace,
) -> Result<Head, ProbeError> {
    let opening = Request { body: bytes::Bytes::new(), ..with(request, &negotiate())? };
    let head = session.send(&opening, trace).await?;
    let Some(challenge) = challenge_in(&head.headers) else {
        return if request.body.is_empty() || head.status == http::StatusCode::UNAUTHORIZED {
            Ok(head)
        } else {
            session.send(request, trace).await
        };
    };
    let challenge = Challenge::read(&challenge).ok_or_else(|| {
        ProbeError::answered(Reason::Auth, "the server sent an invalid NTLM challenge")
    })?;
    let end =
        session.read(head.body, Encoding::Plain, MAX_REFUSAL_BYTES, &mut Discard, trace).await?;
    if end != End::Complete {
        return Err(ProbeError::answered(
            Reason::Auth,
            "the body of the server's NTLM challenge is too long",
        ));
    }
    let mut random = [0; 8];
    getrandom::fill(&mut random)
        .map_err(|error| ProbeError::fault(FaultKind::Internal, error.to_string()))?;
    let answer = challenge.answer(credentials, random, now);
    session.send(&with(request, &answer)?, trace).await
}

fn with(request: &Request, token: &[u8]) -> Result<Request, ProbeError> {
    let mut request = request.clone();
    let mut value = HeaderValue::from_str(&format!("NTLM {}", BASE64.encode(token)))
        .map_err(|error| ProbeError::fault(FaultKind::Internal, error.to_string()))?;
    value.set_sensitive(true);
    request.headers.insert(AUTHORIZATION, value);
    Ok(request)
}

fn challenge_in(headers: &HeaderMap) -> Option<Vec<u8>> {
    headers.get_all(WWW_AUTHENTICATE).iter().find_map(|value| {
        let (scheme, token) = value.to_str().ok()?.trim().split_once(' ')?;
        let known = scheme.eq_ignore_ascii_case("NTLM");
        known.then(|| BASE64.decode(token.trim().as_bytes()).ok()).flatten()
    })
}

fn negotiate() -> Vec<u8> {
    let mut message = SIGNATURE.to_vec();
    message.extend(1_u32.to_le_bytes());
    message.extend(FLAGS.to_le_bytes());
    // Domain and workstation are not disclosed before they are needed.
    message.extend([0; 16]);
    message
}

#[derive(Debug, PartialEq, Eq)]
struct Challenge {
    nonce: [u8; 8],
    target_info: Vec<u8>,
}

impl Challenge {
    fn read(message: &[u8]) -> Option<Self> {
        let rest = message.strip_prefix(SIGNATURE)?;
        if rest.get(..4)? != 2_u32.to_le_bytes() {
            return None;
        }
        let nonce = message.get(24..32)?.try_into().ok()?;
        let length = u16::from_le_bytes(message.get(40..42)?.try_into().ok()?);
        if length > MAX_TARGET_INFO {
            return None;
        }
        let offset = u32::from_le_bytes(message.get(44..48)?.try_into().ok()?);
        let begin = usize::try_from(offset).ok()?;
        let target_info = message.get(begin..)?.get(..length.into())?.to_vec();
        Some(Self { nonce, target_info })
    }

    fn answer(&self, credentials: &Credentials<'_>, random: [u8; 8], now: Millis) -> Vec<u8> {
        let key = response_key(credentials);
        let server_time = self.attribute(TIMESTAMP);
        let time =
            server_time.map_or_else(|| file_time(now).to_le_bytes().to_vec(), <[u8]>::to_vec);
        let blob = [
            &[1, 1, 0, 0, 0, 0, 0, 0],
            time.as_slice(),
            &random,
            &[0; 4],
            &self.target_info,
            &[0; 4],
        ]
        .concat();
        let proof = hmac_md5(&key, &[&self.nonce, &blob]);
        let nt = [proof.as_slice(), &blob].concat();
        // A server that sends its time does not expect an LM response.
        let lm = match server_time {
            Some(_) => vec![0; 24],
            None => [&hmac_md5(&key, &[&self.nonce, &random]), random.as_slice()].concat(),
        };
        authenticate(credentials, &lm, &nt)
    }

    fn attribute(&self, wanted: u16) -> Option<&[u8]> {
        let mut rest = self.target_info.as_slice();
        loop {
            let (head, tail) = rest.split_at_checked(4)?;
            let id = u16::from_le_bytes([head[0], head[1]]);
            let (value, next) =
                tail.split_at_checked(u16::from_le_bytes([head[2], head[3]]).into())?;
            match id {
                0 => return None,
                id if id == wanted && value.len() == 8 => return Some(value),
                _ => rest = next,
            }
        }
    }
}

fn authenticate(credentials: &Credentials<'_>, lm: &[u8], nt: &[u8]) -> Vec<u8> {
    const HEAD: usize = 64;
    let (domain, user) = (utf16(credentials.domain), utf16(credentials.user));
    let mut message = SIGNATURE.to_vec();
    let mut payload: Vec<u8> = Vec::new();
    message.extend(3_u32.to_le_bytes());
    for part in [lm, nt, &domain, &user, &[], &[]] {
        let length = u16::try_from(part.len()).expect("responses and names have bounded lengths");
        let offset = u32::try_from(HEAD + payload.len()).expect("their sum is bounded, too");
        message.extend(length.to_le_bytes());
        message.extend(length.to_le_bytes());
        message.extend(offset.to_le_bytes());
        payload.extend(part);
    }
    message.extend(FLAGS.to_le_bytes());
    message.extend(payload);
    message
}

/// NTOWFv2 of MS-NLMP, section 3.3.2.
fn response_key(credentials: &Credentials<'_>) -> [u8; 16] {
    let password = zeroize::Zeroizing::new(utf16(credentials.password.expose()));
    let hash: [u8; 16] = Md4::digest(&password).into();
    let name = format!("{}{}", credentials.user.to_uppercase(), credentials.domain);
    hmac_md5(&hash, &[&utf16(&name)])
}

fn hmac_md5(key: &[u8; 16], parts: &[&[u8]]) -> [u8; 16] {
    let mut mac = Hmac::<Md5>::new_from_slice(key).expect("any length is valid");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Units of 100 ns since 1601.
fn file_time(now: Millis) -> i64 {
    const MILLIS_TO_1970: i64 = 11_644_473_600_000;
    now.0.saturating_add(MILLIS_TO_1970).saturating_mul(10_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of MS-NLMP, section 4.2.4.
    #[test]
    fn the_example_of_the_specification_is_reproduced() {
        let password = Secret::new("Password");
        let credentials = Credentials::new("Domain\\User", &password);
        assert_eq!(
            response_key(&credentials),
            [
                0x0c, 0x86, 0x8a, 0x40, 0x3b, 0xfd, 0x7a, 0x93, 0xa3, 0x00, 0x1e, 0xf2, 0x2e, 0xf0,
                0x2e, 0x3f
            ]
        );
        let info =
            [&[2, 0, 12, 0][..], &utf16("Domain"), &[1, 0, 12, 0], &utf16("Server"), &[0, 0, 0, 0]]
                .concat();
        let challenge = Challenge {
            nonce: [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef],
            target_info: info,
        };
        // The time in the example is zero, which is 1601.
        let message = challenge.answer(&credentials, [0xaa; 8], Millis(-11_644_473_600_000));
        let proof = [
            0x68, 0xcd, 0x0a, 0xb8, 0x51, 0xe5, 0x1c, 0x96, 0xaa, 0xbc, 0x92, 0x7b, 0xeb, 0xef,
            0x6a, 0x1c,
        ];
        assert_eq!(message[64 + 24..64 + 40], proof);
        let lm = [
            0x86, 0xc3, 0x50, 0x97, 0xac, 0x9c, 0xec, 0x10, 0x25, 0x54, 0x76, 0x4a, 0x57, 0xcc,
            0xcc, 0x19, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa,
        ];
        assert_eq!(message[64..88], lm);
    }

    #[test]
    fn an_untrusted_challenge_is_parsed_with_bounds() {
        let mut good = [SIGNATURE.as_slice(), &[2, 0, 0, 0], &[0; 36]].concat();
        assert_eq!(good.len(), 48);
        good[44] = 48;
        assert_eq!(Challenge::read(&good).unwrap().target_info, b"");
        for cut in 0..good.len() {
            assert_eq!(Challenge::read(&good[..cut]), None, "{cut}");
        }
        let mut beyond = good.clone();
        beyond[40] = 1;
        assert_eq!(Challenge::read(&beyond), None);
        let mut far = good.clone();
        far[44..48].fill(0xFF);
        assert_eq!(Challenge::read(&far), None);
        let mut long = [good, vec![7; 65_535]].concat();
        long[40..42].fill(0xFF);
        assert_eq!(Challenge::read(&long), None);
    }

    #[test]
    fn attributes_with_a_wrong_length_are_ignored() {
        let with =
            |target_info: &[u8]| Challenge { nonce: [0; 8], target_info: target_info.to_vec() };
        assert_eq!(with(&[7, 0, 200, 0, 1]).attribute(TIMESTAMP), None);
        assert_eq!(with(&[7, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8]).attribute(TIMESTAMP).unwrap()[0], 1);
        assert_eq!(with(&[]).attribute(TIMESTAMP), None);
    }

    #[test]
    fn only_the_backslash_form_has_a_domain() {
        let password = Secret::new("");
        let of = |name: &'static str| {
            let credentials = Credentials::new(name, &password);
            (credentials.domain.to_owned(), credentials.user.to_owned())
        };
        assert_eq!(of("CORP\\ann"), ("CORP".into(), "ann".into()));
        assert_eq!(of("ann@corp.example"), (String::new(), "ann@corp.example".into()));
        assert_eq!(of("ann"), (String::new(), "ann".into()));
    }
}
