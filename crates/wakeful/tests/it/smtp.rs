//! An independent mail server, a Python program, and its certificates.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::Value;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::process::{Installation, MAX_WAIT, python_tool};

pub(crate) const USER: &str = "wakeful";

pub(crate) struct MailServer {
    _child: Child,
    input: ChildStdin,
    /// Its messages. They are read as they arrive, because a full pipe would block it.
    messages: UnboundedReceiver<Value>,
    _reader: JoinSet<()>,
    mode: &'static str,
    /// The host for the settings of a notifier.
    pub(crate) host: String,
    pub(crate) port: u64,
    password: Option<String>,
}

impl MailServer {
    /// `mode` is none, starttls or tls. With a password it requires a login.
    pub(crate) async fn start(
        mode: &'static str,
        certificate: Option<&Certificate>,
        password: Option<&str>,
    ) -> Self {
        Self::on("localhost", 0, mode, certificate, password).await.expect("a free port")
    }

    /// The same for notifiers, which use implicit TLS on port 465 only.
    pub(crate) async fn for_notifiers(
        mode: &'static str,
        certificate: Option<&Certificate>,
        password: Option<&str>,
    ) -> Self {
        if mode != "tls" {
            return Self::start(mode, certificate, password).await;
        }
        let host = own_loopback().to_string();
        let mail_server = Self::on(&host, 465, mode, certificate, password).await;
        mail_server.expect("net.ipv4.ip_unprivileged_port_start allows port 465")
    }

    async fn on(
        host: &str,
        port: u16,
        mode: &'static str,
        certificate: Option<&Certificate>,
        password: Option<&str>,
    ) -> Option<Self> {
        let mut command = python_tool("python");
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/smtp_peer.py")).arg(mode);
        command.args(["--host", host, "--port", &port.to_string()]);
        if let Some(certificate) = certificate {
            command.arg("--cert").arg(&certificate.cert).arg("--key").arg(&certificate.key);
        }
        if let Some(password) = password {
            command.args(["--login", USER, password]);
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, messages) = unbounded_channel();
        let mut reader = JoinSet::new();
        reader.spawn(async move {
            while let Some(line) = lines.next_line().await.unwrap() {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        let password = password.map(str::to_owned);
        let host = host.to_owned();
        let mut mail_server =
            Self { _child: child, input, messages, _reader: reader, mode, host, port: 0, password };
        mail_server.port = mail_server.next().await["port"].as_u64()?;
        Some(mail_server)
    }

    /// The `security` of a notifier for this mode.
    pub(crate) fn security(&self) -> &'static str {
        if self.mode == "none" { "none" } else { "TLS" }
    }

    /// The settings of a service that sends through this server.
    pub(crate) fn settings(&self, installation: Installation) -> Installation {
        let installation = installation
            .set("MAIL_HOST", "localhost")
            .set("MAIL_PORT", &self.port.to_string())
            .set("MAIL_SECURITY", self.mode);
        match &self.password {
            Some(password) => {
                installation.set("MAIL_USERNAME", USER).set("MAIL_PASSWORD", password)
            }
            None => installation,
        }
    }

    /// Uses another certificate from now on.
    pub(crate) async fn show(&mut self, certificate: &Certificate) {
        let line = format!("{} {}\n", certificate.cert.display(), certificate.key.display());
        self.input.write_all(line.as_bytes()).await.unwrap();
        let message = self.next().await;
        assert!(message["certificate"].is_string(), "{message}");
    }

    /// The next mail it receives.
    pub(crate) async fn mail(&mut self) -> Mail {
        Mail::read(&self.next().await)
    }

    /// Stops it; returns the received mails that have not been read.
    pub(crate) async fn rest(self) -> Vec<Mail> {
        let Self { _child, input, mut messages, _reader, .. } = self;
        drop(input);
        let mut mails = Vec::new();
        while let Some(message) =
            timeout(MAX_WAIT, messages.recv()).await.expect("the mail server ends")
        {
            mails.push(Mail::read(&message));
        }
        mails
    }

    async fn next(&mut self) -> Value {
        let message =
            timeout(MAX_WAIT, self.messages.recv()).await.expect("a message of the mail server");
        message.expect("the mail server runs")
    }
}

/// An address that no other test uses at the same time: the loopback network is large,
/// and each test is a separate process.
fn own_loopback() -> Ipv4Addr {
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, 64 | high, middle, low)
}

/// A mail as the server received it.
#[derive(Debug)]
pub(crate) struct Mail {
    pub(crate) to: Vec<String>,
    pub(crate) head: String,
    pub(crate) body: String,
    pub(crate) tls: bool,
    pub(crate) login: Option<String>,
}

impl Mail {
    fn read(message: &Value) -> Self {
        let mail = &message["mail"];
        let data = mail["data"].as_str().unwrap_or_else(|| panic!("no mail: {message}"));
        let (head, body) = data.split_once("\r\n\r\n").unwrap();
        Self {
            to: mail["to"]
                .as_array()
                .unwrap()
                .iter()
                .map(|to| to.as_str().unwrap().into())
                .collect(),
            head: head.to_owned(),
            body: body.to_owned(),
            tls: mail["tls"].as_bool().unwrap(),
            login: mail["login"].as_str().map(str::to_owned),
        }
    }

    /// The value of a header field, unfolded; empty if it is missing.
    pub(crate) fn field(&self, name: &str) -> String {
        let unfolded = self.head.replace("\r\n ", " ").replace("\r\n\t", " ");
        let mut fields = unfolded.split("\r\n").filter_map(|line| line.split_once(':'));
        let found = fields.find(|(given, _)| given.eq_ignore_ascii_case(name));
        found.map_or(String::new(), |(_, value)| value.trim().to_owned())
    }

    /// The names of its header fields, in lower case.
    pub(crate) fn fields(&self) -> Vec<String> {
        let own = self.head.lines().filter(|line| !line.starts_with([' ', '\t']));
        own.map(|line| line.split(':').next().unwrap().to_lowercase()).collect()
    }
}

/// A certificate for localhost and this test's own address, and the authority that
/// signed it.
pub(crate) struct Certificate {
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) authority: PathBuf,
}

impl Certificate {
    /// Writes its files to `folder`, with names that begin with `name`.
    pub(crate) fn make(folder: &Path, name: &str) -> Self {
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let params =
            CertificateParams::new(vec!["localhost".to_owned(), own_loopback().to_string()])
                .unwrap();
        let cert = params.signed_by(&key, &issuer).unwrap();
        let write = |kind: &str, pem: String| {
            let path = folder.join(format!("{name}-{kind}.pem"));
            std::fs::write(&path, pem).unwrap();
            path
        };
        Self {
            cert: write("cert", cert.pem()),
            key: write("key", key.serialize_pem()),
            authority: write("authority", issuer.pem()),
        }
    }
}
