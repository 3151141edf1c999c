//! Random bytes from the operating system, for ids, tokens, salts and jitter.

use zeroize::Zeroizing;

pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(bytes.as_mut()).expect("the operating system provides random bytes");
    *bytes
}
