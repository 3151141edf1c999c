//! Raw HTTP/2 frames, for requests that a well-behaved client would not send.

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

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
    get_with(stream, authority, path, &[])
}

/// The same, with `accept-encoding: gzip, deflate`.
pub(crate) fn get_compressed(stream: u32, authority: &str, path: &str) -> Vec<u8> {
    get_with(stream, authority, path, &[0x90])
}

fn get_with(stream: u32, authority: &str, path: &str, more: &[u8]) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    // GET and http by their index, the path and the authority as literals.
    let block = [&[0x82, 0x86, 0x04][..], &text(path), &[0x01], &text(authority), more].concat();
    frame(1, 0x5, stream, &block)
}

/// The headers of a POST whose body never arrives.
pub(crate) fn post_without_body(stream: u32, authority: &str, path: &str) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    // POST and http by their index, and content-type as a literal with an indexed name.
    let address = [&[0x83, 0x86, 0x04][..], &text(path), &[0x01], &text(authority)].concat();
    frame(1, 0x4, stream, &[&address, &[0x0f, 0x10][..], &text("application/json")].concat())
}

/// Reads frames until so many responses have begun.
pub(crate) async fn read_responses(stream: &mut TcpStream, mut count: usize) {
    const HEADERS: u8 = 1;
    while count > 0 {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.unwrap();
        let [high, middle, low, kind, ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, high, middle, low]) as usize];
        stream.read_exact(&mut payload).await.unwrap();
        count -= usize::from(kind == HEADERS);
    }
}

pub(crate) fn ping() -> Vec<u8> {
    frame(6, 0, 0, &[0; 8])
}
