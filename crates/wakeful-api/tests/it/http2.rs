//! HTTP/2 by hand, for what a decent client would not send.

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The client's settings, with the window that each stream begins with.
pub(crate) fn settings(window: Option<u32>) -> Vec<u8> {
    let window = window.map(|size| [&[0, 4][..], &size.to_be_bytes()].concat());
    frame(4, 0, 0, &window.unwrap_or_default())
}

/// A complete GET on a stream.
pub(crate) fn get(stream: u32, authority: &str, path: &str) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    // GET and http by their index, the path and the authority as literals.
    let block = [&[0x82, 0x86, 0x04][..], &text(path), &[0x01], &text(authority)].concat();
    frame(1, 0x5, stream, &block)
}

pub(crate) fn ping() -> Vec<u8> {
    frame(6, 0, 0, &[0; 8])
}
