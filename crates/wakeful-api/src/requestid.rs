//! A fresh id for each request: in its log line and in its answer, never taken
//! from the client.

use data_encoding::BASE32_NOPAD;

pub(crate) fn new() -> String {
    let mut bytes = [0; 10];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    BASE32_NOPAD.encode(&bytes).to_ascii_lowercase()
}
