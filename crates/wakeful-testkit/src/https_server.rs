//! An HTTPS server on loopback with an untrusted certificate, which the test
//! can replace, or with a certificate for each name.

use rcgen::CertificateParams;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use wakeful_core::time::Millis;

use crate::authority::{Authority, Identity};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsecure";

/// The response to a path.
type Respond = Arc<dyn Fn(&str) -> Vec<u8> + Send + Sync>;

pub struct HttpsServer {
    pub url: String,
    pub port: u16,
    acceptor: Arc<Mutex<TlsAcceptor>>,
    _tasks: JoinSet<()>,
}

impl HttpsServer {
    /// A server whose certificate is for this name, until the end of that year.
    pub async fn start(name: &str, until: i32) -> Self {
        Self::with(acceptor(name, end_of(until)), Arc::new(|_| ANSWER.to_vec())).await
    }

    /// A server that presents the certificate of the name that is asked for, and responds by the
    /// path. With an authority of clients, it requires a certificate of them.
    pub async fn named(
        identities: Vec<(&str, Identity)>,
        clients: Option<&Authority>,
        respond: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let keys = identities.into_iter().map(|(name, identity)| {
            let key = provider.key_provider.load_private_key(identity.key()).unwrap();
            (name.to_owned(), Arc::new(CertifiedKey::new(identity.chain, key)))
        });
        let by_name = ByName(keys.collect());
        let config = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap();
        let config = match clients {
            None => config.with_no_client_auth(),
            Some(clients) => {
                let roots = Arc::new(clients.roots());
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
                config.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        let config = config.with_cert_resolver(Arc::new(by_name));
        Self::with(TlsAcceptor::from(Arc::new(config)), Arc::new(respond)).await
    }

    /// A server whose certificate is for this name, until then.
    pub async fn until(name: &str, until: Millis) -> Self {
        let seconds = until.0.div_euclid(1_000).cast_unsigned();
        let until = rcgen::date_time_ymd(1970, 1, 1) + std::time::Duration::from_secs(seconds);
        let acceptor = acceptor(name, |certificate| certificate.not_after = until);
        Self::with(acceptor, Arc::new(|_| ANSWER.to_vec())).await
    }

    async fn with(acceptor: TlsAcceptor, respond: Respond) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let acceptor = Arc::new(Mutex::new(acceptor));
        let shared = acceptor.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut serving = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, respond) = (shared.lock().unwrap().clone(), respond.clone());
                // A client that disconnects is not a failure.
                serving.spawn(async move { drop(serve(stream, &acceptor, &respond).await) });
                while serving.try_join_next().is_some() {}
            }
        });
        Self { url: format!("https://{address}/"), port: address.port(), acceptor, _tasks: tasks }
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
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.der().clone()], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

#[derive(Debug)]
struct ByName(HashMap<String, Arc<CertifiedKey>>);

impl ResolvesServerCert for ByName {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.get(hello.server_name()?).cloned()
    }
}

async fn serve(
    stream: TcpStream,
    acceptor: &TlsAcceptor,
    respond: &Respond,
) -> std::io::Result<()> {
    let mut stream = acceptor.accept(stream).await?;
    let mut request = [0; 4_096];
    let length = stream.read(&mut request).await?;
    let request = String::from_utf8_lossy(&request[..length]);
    let path = request.split(' ').nth(1).unwrap_or_default();
    stream.write_all(&respond(path)).await?;
    stream.shutdown().await
}
