//! A wire between a program and a server that the test can cut: nothing comes
//! through any more, as when a network falls apart, and later it does again.

use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub struct Wire {
    pub address: SocketAddr,
    whole: watch::Sender<bool>,
    _tasks: JoinSet<()>,
}

impl Wire {
    /// A wire from a free port of loopback to this server.
    pub async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (whole, state) = watch::channel(true);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut carrying = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                carrying.spawn(carry(stream, server, state.clone()));
                while carrying.try_join_next().is_some() {}
            }
        });
        Self { address, whole, _tasks: tasks }
    }

    /// From now on nothing comes through. Nobody is told: connections stay
    /// open, and what is sent into them waits.
    pub fn cut(&self) {
        self.whole.send_replace(false);
    }

    pub fn mend(&self) {
        self.whole.send_replace(true);
    }
}

async fn carry(here: TcpStream, server: SocketAddr, mut whole: watch::Receiver<bool>) {
    if whole.wait_for(|whole| *whole).await.is_err() {
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "the test's own server on loopback")]
    let Ok(there) = TcpStream::connect(server).await else { return };
    let _ = (here.set_nodelay(true), there.set_nodelay(true));
    let (here_reads, here_writes) = here.into_split();
    let (there_reads, there_writes) = there.into_split();
    // When one side hangs up, so does the other.
    tokio::select! {
        () = pass(here_reads, there_writes, whole.clone()) => {}
        () = pass(there_reads, here_writes, whole.clone()) => {}
    }
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut whole: watch::Receiver<bool>) {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let Ok(count) = from.read(&mut bytes).await else { return };
        if count == 0 || whole.wait_for(|whole| *whole).await.is_err() {
            return;
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
