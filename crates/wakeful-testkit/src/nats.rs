//! A separate NATS server for a test, on a free port on loopback. It can be
//! stopped and started again on the same port, and it ends with the test.

use std::path::PathBuf;
use std::process::Stdio;
use tokio::process::{Child, Command};

use crate::wait::until;

pub struct NatsServer {
    folder: tempfile::TempDir,
    config: Option<PathBuf>,
    port: u16,
    child: Option<Child>,
}

impl NatsServer {
    /// A server without authentication.
    pub async fn start() -> Self {
        Self::run(None).await
    }

    /// A server with this configuration file.
    pub async fn with(config: &str) -> Self {
        Self::run(Some(config)).await
    }

    async fn run(config: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = config.map(|text| {
            let path = folder.path().join("nats.conf");
            std::fs::write(&path, text).unwrap();
            path
        });
        let mut server = Self { folder, config, port: 0, child: None };
        server.begin().await;
        server
    }

    /// The value for `--nats-url`.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends the server immediately, like a crash.
    pub async fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().await.unwrap();
        }
    }

    /// Starts the server again on its port, without its previous state.
    pub async fn start_again(&mut self) {
        self.kill().await;
        self.begin().await;
    }

    async fn begin(&mut self) {
        let ports = tempfile::tempdir_in(self.folder.path()).unwrap();
        // The server itself chooses a free port the first time, and reports it.
        let port = if self.port == 0 { "-1".to_owned() } else { self.port.to_string() };
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        let mut command = Command::new(binary());
        command.args(["-a", "127.0.0.1", "-p", &port, "--ports_file_dir"]).arg(ports.path());
        if let Some(config) = &self.config {
            command.arg("-c").arg(config);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
        let child = command.spawn().unwrap_or_else(|error| {
            panic!("nats-server cannot be started ({error}): run scripts/install-test-deps")
        });
        self.child = Some(child);
        self.port = until("nats-server to listen", || async {
            let file = std::fs::read_dir(ports.path()).unwrap().next()?.unwrap();
            let ports = std::fs::read_to_string(file.path()).unwrap();
            let ports: serde_json::Value = serde_json::from_str(&ports).ok()?;
            ports["nats"][0].as_str()?.rsplit_once(':')?.1.parse().ok()
        })
        .await;
    }
}

/// `NATS_BIN`, or the system's binary.
fn binary() -> PathBuf {
    match std::env::var_os("NATS_BIN") {
        Some(path) => path.into(),
        // Debian installs it where only root's PATH includes it.
        None if PathBuf::from("/usr/sbin/nats-server").exists() => "/usr/sbin/nats-server".into(),
        None => "nats-server".into(),
    }
}
