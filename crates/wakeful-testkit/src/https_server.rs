//! An HTTPS server on loopback with an untrusted certificate, which the test
//! can replace.

use rcgen::CertificateParams;
use rustls::pki_types::PrivateKeyDer;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use wakeful_core::time::Millis;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsecure";

pub struct HttpsServer {
    pub url: String,
    acceptor: Arc<Mutex<TlsAcceptor>>,
    _tasks: JoinSet<()>,
}

impl HttpsServer {
    /// A server whose certificate is for this name, until the end of that year.
    pub async fn start(name: &str, until: i32) -> Self {
        Self::with(acceptor(name, end_of(until))).await
    }

    /// A server whose certificate is for this name, until then.
    pub async fn until(name: &str, until: Millis) -> Self {
        let seconds = until.0.div_euclid(1_000).cast_unsigned();
        let until = rcgen::date_time_ymd(1970, 1, 1) + std::time::Duration::from_secs(seconds);
        Self::with(acceptor(name, |certificate| certificate.not_after = until)).await
    }

    async fn with(acceptor: TlsAcceptor) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/", listener.local_addr().unwrap());
        let acceptor = Arc::new(Mutex::new(acceptor));
        let shared = acceptor.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut serving = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = shared.lock().unwrap().clone();
                // A client that disconnects is not a failure.
                serving.spawn(async move { drop(serve(stream, &acceptor).await) });
                while serving.try_join_next().is_some() {}
            }
        });
        Self { url, acceptor, _tasks: tasks }
    }

    /// Presents another certificate from now on.
    pub fn show_certificate(&self, name: &str, until: i32) {
        *self.acceptor.lock().unwrap() = acceptor(name, end_of(until));
    }
}

fn end_of(year: i32) -> impl FnOnce(&mut CertificateParams) {
    move |certificate| certificate.not_after = rcgen::date_time_ymd(year, 12, 31)
}

fn acceptor(name: &str, expire: impl FnOnce(&mut CertificateParams)) -> TlsAcceptor {
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    expire(&mut params);
    let key = rcgen::KeyPair::generate().unwrap();
    let made = params.self_signed(&key).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.der().clone()], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

async fn serve(stream: TcpStream, acceptor: &TlsAcceptor) -> std::io::Result<()> {
    let mut stream = acceptor.accept(stream).await?;
    let mut request = [0; 4_096];
    let _ = stream.read(&mut request).await?;
    stream.write_all(ANSWER).await?;
    stream.shutdown().await
}
