//! A separate PostgreSQL server for a test, which can be stopped and started
//! again. Most tests share the one that `scripts/with-postgres` started.

use std::path::PathBuf;
use std::process::Stdio;
use tokio::process::{Child, Command};

use crate::wait::until;

pub struct PostgresServer {
    folder: tempfile::TempDir,
    port: u16,
    child: Option<Child>,
}

impl PostgresServer {
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Self { folder, port: free_port().await, child: None };
        if is_root() {
            let owner = format!("{}:", user());
            let given = Command::new("chown").arg(owner).arg(server.folder.path()).status().await;
            assert!(given.unwrap().success());
        }
        let data = server.data();
        let made = server
            .command("initdb")
            .arg("-D")
            .arg(&data)
            .args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"])
            .output()
            .await
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        server.begin().await;
        server
    }

    /// The value for `--database-url`, for the superuser's own database.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends the server immediately: committed data is there after the next
    /// start.
    pub async fn stop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // SIGQUIT to the postmaster: an immediate shutdown, including its
        // children.
        let pid = child.id().unwrap().to_string();
        let killed = Command::new("kill").args(["-QUIT", &pid]).status().await;
        assert!(killed.unwrap().success());
        child.wait().await.unwrap();
    }

    pub async fn begin(&mut self) {
        let mut command = self.command("postgres");
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        command
            .arg("-D")
            .arg(self.data())
            .args(["-p", &self.port.to_string(), "-c", "listen_addresses=127.0.0.1", "-k"])
            .arg(self.folder.path())
            .args(["-c", "max_connections=200", "-c", "fsync=off"])
            .stderr(log);
        self.child = Some(command.spawn().unwrap());
        let status = self.data().join("postmaster.pid");
        until("PostgreSQL to be ready", || async {
            let lines = std::fs::read_to_string(&status).ok()?;
            lines.lines().last().is_some_and(|line| line.starts_with("ready")).then_some(())
        })
        .await;
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A PostgreSQL program; they refuse to run as root.
    fn command(&self, program: &str) -> Command {
        let path = binaries().join(program);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            let user = user();
            command
                .args([format!("--reuid={user}"), format!("--regid={}", group(user))])
                .args(["--clear-groups", "--pdeathsig", "QUIT"])
                .arg(path);
            command
        } else {
            Command::new(path)
        };
        command
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // SIGKILL would leave the postmaster's children running.
        let Some(pid) = self.child.as_ref().and_then(Child::id) else { return };
        let _ = std::process::Command::new("kill").args(["-QUIT", &pid.to_string()]).status();
    }
}

fn binaries() -> PathBuf {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/find-postgres");
    let found = std::process::Command::new(script).output().unwrap();
    assert!(found.status.success(), "no PostgreSQL 15 or later: run scripts/install-test-deps");
    String::from_utf8(found.stdout).unwrap().trim().into()
}

fn is_root() -> bool {
    let output = std::process::Command::new("id").arg("-u").output().unwrap();
    output.stdout.trim_ascii() == b"0"
}

fn user() -> &'static str {
    let known = std::process::Command::new("id").args(["-u", "postgres"]).output().unwrap();
    if known.status.success() { "postgres" } else { "nobody" }
}

fn group(user: &str) -> String {
    let output = std::process::Command::new("id").args(["-gn", user]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A port that is free now, and below the range of outgoing connections.
pub(crate) async fn free_port() -> u16 {
    loop {
        let [high, low, ..] = crate::database::random();
        let port = 10_000 + u16::from_be_bytes([high, low]) % 20_000;
        if tokio::net::TcpListener::bind(("127.0.0.1", port)).await.is_ok() {
            return port;
        }
    }
}
