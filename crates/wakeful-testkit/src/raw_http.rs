//! A client that sends raw bytes, for requests that a regular one would not
//! send.

use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Sends these bytes to a service and returns everything it sends until it
/// closes the connection, which it must do soon.
pub async fn send_raw(url: &str, bytes: &[u8]) -> String {
    send_raw_in_parts(url, bytes, async || {}, b"").await
}

/// Like `send_raw`, with something that happens before the rest is sent.
#[expect(clippy::disallowed_methods, reason = "the peer is the test's own service")]
pub async fn send_raw_in_parts(
    url: &str,
    bytes: &[u8],
    meanwhile: impl AsyncFnOnce(),
    rest: &[u8],
) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    // The service may close the connection before it has read everything.
    let _ = stream.write_all(bytes).await;
    meanwhile().await;
    let _ = stream.write_all(rest).await;
    let mut answer = Vec::new();
    let reading = stream.read_to_end(&mut answer);
    let _ = tokio::time::timeout(Duration::from_secs(15), reading).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}
