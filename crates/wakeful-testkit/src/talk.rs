//! A client that sends bytes as they are, for what a decent one would not send.

use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Sends these bytes to a service and answers all it says until it hangs up,
/// which it must do soon.
#[expect(clippy::disallowed_methods, reason = "the peer is the test's own service")]
pub async fn talk(url: &str, bytes: &[u8]) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    // The service may hang up before it has read everything.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let reading = stream.read_to_end(&mut answer);
    let _ = tokio::time::timeout(Duration::from_secs(15), reading).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}
