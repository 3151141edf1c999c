//! Entity tags: a hash of the content.

use axum::http::{HeaderMap, HeaderValue, header};
use data_encoding::HEXLOWER;
use wakeful_core::token::Digest;

/// Sixteen hexadecimal digits.
pub(super) fn short_hash(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Digest::of_bytes(bytes).0[..8])
}

/// A strong entity tag. The compressed form of a document has another one than the document.
pub(super) fn of(bytes: &[u8]) -> HeaderValue {
    let hash = HEXLOWER.encode(&Digest::of_bytes(bytes).0[..16]);
    HeaderValue::from_str(&format!("\"{hash}\"")).expect("hex in quotes is a header value")
}

/// Whether the client has the content already.
pub(super) fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let Ok(tag) = tag.to_str() else { return false };
    let mut known = headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim);
    known.any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}
