//! A new id for each request, in its log line and its response; never taken from the
//! client.

use data_encoding::BASE32_NOPAD;

/// The id of a request, among its extensions.
#[derive(Clone)]
pub(crate) struct RequestId(pub(crate) String);

pub(crate) fn new() -> String {
    let mut bytes = [0; 10];
    getrandom::fill(&mut bytes).expect("the operating system provides random bytes");
    BASE32_NOPAD.encode(&bytes).to_ascii_lowercase()
}
