//! A proxy between a program and a server that the test can cut: no data is
//! forwarded until it is restored, as in a network partition.

use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub struct CuttableProxy {
    pub address: SocketAddr,
    connected: watch::Sender<bool>,
    _tasks: JoinSet<()>,
}

impl CuttableProxy {
    /// A proxy from a free port on loopback to this server.
    pub async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connected, state) = watch::channel(true);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut carrying = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                carrying.spawn(proxy_connection(stream, server, state.clone()));
                while carrying.try_join_next().is_some() {}
            }
        });
        Self { address, connected, _tasks: tasks }
    }

    /// Stops forwarding. Neither side is informed: connections stay open, and
    /// data sent into them waits.
    pub fn cut(&self) {
        self.connected.send_replace(false);
    }

    pub fn restore(&self) {
        self.connected.send_replace(true);
    }
}

async fn proxy_connection(
    here: TcpStream,
    server: SocketAddr,
    mut connected: watch::Receiver<bool>,
) {
    if connected.wait_for(|connected| *connected).await.is_err() {
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "the test's own server on loopback")]
    let Ok(there) = TcpStream::connect(server).await else { return };
    let _ = (here.set_nodelay(true), there.set_nodelay(true));
    let (here_reads, here_writes) = here.into_split();
    let (there_reads, there_writes) = there.into_split();
    // When one side closes the connection, so does the other.
    tokio::select! {
        () = forward(here_reads, there_writes, connected.clone()) => {}
        () = forward(there_reads, here_writes, connected.clone()) => {}
    }
}

async fn forward(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut connected: watch::Receiver<bool>,
) {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let Ok(count) = from.read(&mut bytes).await else { return };
        if count == 0 || connected.wait_for(|connected| *connected).await.is_err() {
            return;
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
