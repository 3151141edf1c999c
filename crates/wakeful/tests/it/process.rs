//! Runs the binary: a data folder, a database and settings that outlive the process, and
//! the server itself, which ends with the test.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;
use wakeful_store::Store;
use wakeful_testkit::{Client, Database, DatabaseKind, until};

/// Longer than anything here takes, even on a busy machine.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(30);

pub(crate) struct Installation {
    database: Database,
    database_kind: DatabaseKind,
    logs: TempDir,
    binary: OsString,
    variables: Vec<(String, String)>,
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandOutput {
    /// The output of a command that must have succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// The one sentence that the command failed with.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_eq!(self.code, Some(2), "{self:?}");
        let lines: Vec<&str> = self.stderr.lines().filter(|line| !line.starts_with('{')).collect();
        let [sentence] = lines.as_slice() else { panic!("not one sentence: {self:?}") };
        let sentence = sentence.strip_prefix("wakeful: ").unwrap_or_else(|| panic!("{self:?}"));
        sentence.to_owned()
    }
}

impl Installation {
    pub(crate) async fn new(kind: DatabaseKind) -> Self {
        // Another test in the same process may have installed it.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let mut installation = Self {
            database: Database::new(kind).await,
            database_kind: kind,
            logs: tempfile::tempdir().unwrap(),
            binary: binary(),
            variables: Vec::new(),
        };
        if kind == DatabaseKind::Postgres {
            let url = installation.database.url().to_owned();
            // The tests' server runs without fsync.
            installation =
                installation.set("DATABASE_URL", &url).set("DATABASE_ALLOW_UNSAFE", "true");
        }
        installation
    }

    /// One setting, by the name of its variable without `WAKEFUL_`.
    #[must_use]
    pub(crate) fn set(self, name: &str, value: &str) -> Self {
        self.variable(&format!("WAKEFUL_{name}"), value)
    }

    #[must_use]
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The next servers crash at this failpoint, at the given visit.
    #[must_use]
    pub(crate) fn with_failpoint(self, place: &str, visit: u32) -> Self {
        self.variable("WAKEFUL_TEST_FAILPOINT", &format!("{place}:{visit}"))
    }

    /// The next servers crash at this failpoint whenever its text contains this word.
    #[must_use]
    pub(crate) fn dying_of(self, place: &str, word: &str) -> Self {
        self.variable("WAKEFUL_TEST_FAILPOINT", &format!("{place}={word}"))
    }

    /// The next servers do not crash.
    #[must_use]
    pub(crate) fn without_failpoint(self) -> Self {
        self.with_failpoint("nowhere", 1)
    }

    /// The next processes are of an earlier version: the binary in `WAKEFUL_TEST_OLDER`, or this
    /// one, which only announces the earlier version.
    #[must_use]
    pub(crate) fn of_earlier_version(mut self) -> Self {
        match std::env::var_os("WAKEFUL_TEST_OLDER") {
            Some(older) => self.binary = older,
            None => return self.set("TEST_VERSION", "0.2.0"),
        }
        self
    }

    /// The next processes are of this version.
    pub(crate) fn upgrade(&mut self) {
        self.binary = binary();
        self.variables.retain(|(name, _)| name != "WAKEFUL_TEST_VERSION");
    }

    /// Limits so high that a test that is not about them never reaches one.
    #[must_use]
    pub(crate) fn without_limits(self) -> Self {
        let names = ["FAILED_LOGINS_PER_MINUTE", "SIGNUPS_PER_HOUR", "CONTACTS_PER_HOUR"];
        let more = ["RESETS_PER_HOUR", "API_CALLS_PER_MINUTE", "DECLINED_CARDS_PER_HOUR"];
        let networks = ["FAILED_LOGINS_PER_NETWORK", "RESET_REQUESTS_PER_HOUR"];
        let pages = ["ADDED_SUBSCRIBERS_PER_HOUR", "INCIDENTS_PER_HOUR"];
        let all = names.into_iter().chain(more).chain(networks).chain(pages);
        all.fold(self, |installation, name| installation.set(&format!("LIMITS_{name}"), "1000000"))
    }

    pub(crate) fn database_kind(&self) -> DatabaseKind {
        self.database_kind
    }

    pub(crate) fn database_url(&self) -> &str {
        self.database.url()
    }

    /// The number that a statement returns.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        self.database.number(sql).await
    }

    /// Changes the database directly.
    pub(crate) async fn execute(&self, sql: &str) {
        self.database.execute(sql).await;
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.database.folder()
    }

    /// The SQLite file.
    pub(crate) fn file(&self) -> PathBuf {
        self.data().join("wakeful.db")
    }

    /// Opens the database; the server must not be running.
    pub(crate) async fn store(&self) -> Store {
        self.database.open().await
    }

    /// The standard error output of all servers of this installation.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    fn log_file(&self) -> PathBuf {
        self.logs.path().join("stderr")
    }

    /// The binary with these settings and nothing else from the environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .env_clear()
            .env("WAKEFUL_DATA", self.data())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    pub(crate) async fn run(&self, arguments: &[&str]) -> CommandOutput {
        run_command(self.command(arguments)).await
    }

    /// Starts a probe, without the database settings.
    pub(crate) fn probe(&self, region: &str, name: &str, extra: &[(&str, &str)]) -> Probe {
        let mut command = self.command(&["probe", "--region", region, "--name", name]);
        command.env_remove("WAKEFUL_DATABASE_URL").env("WAKEFUL_DATA", self.data().join("none"));
        let log = OpenOptions::new().create(true).append(true).open(self.log_file()).unwrap();
        let child = command.envs(extra.iter().copied()).stderr(log).spawn().unwrap();
        Probe { pid: child.id().unwrap(), child }
    }

    /// Where the server listens, according to its log; behind a proxy the public URL differs.
    fn listening_url(&self) -> String {
        let log = self.log();
        let (_, rest) = log.rsplit_once("listens on ").expect("the log has the address");
        let address = rest.split(|c: char| c == '"' || c.is_whitespace()).next().unwrap();
        format!("http://{address}")
    }

    /// Starts the server and waits until it crashes.
    pub(crate) async fn crash(&self) {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0"]);
        let log = OpenOptions::new().create(true).append(true).open(self.log_file()).unwrap();
        let mut child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let ended = timeout(MAX_WAIT, child.wait()).await.expect("it dies").unwrap();
        assert_eq!(ended.code(), None, "by a signal:\n{}", self.log());
    }

    /// Starts the server and waits until it is ready.
    pub(crate) async fn serve(&self) -> Server {
        self.serve_with(&[]).await
    }

    /// The same, with more flags.
    pub(crate) async fn serve_with(&self, flags: &[&str]) -> Server {
        let log: File = OpenOptions::new().create(true).append(true).open(self.log_file()).unwrap();
        self.serve_with_log(log.into(), flags).await
    }

    /// The same, with a log pipe whose reader is gone.
    pub(crate) async fn serve_unread(&self) -> Server {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        self.serve_with_log(writer.into(), &[]).await
    }

    async fn serve_with_log(&self, log: Stdio, flags: &[&str]) -> Server {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.args(flags).stderr(log).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let page = timeout(MAX_WAIT, async {
            loop {
                let line = lines.next_line().await.unwrap();
                let line = line.unwrap_or_else(|| panic!("it did not start:\n{}", self.log()));
                if let Some(url) = line.trim().strip_prefix("web app ") {
                    return url.trim().to_owned();
                }
            }
        });
        let page = page.await.expect("the server prints its URL");
        let url = if page.starts_with("https:") { self.listening_url() } else { page };
        let server = Server { pid: child.id().unwrap(), child, url };
        until("ready", || async { server.is_ready().await.then_some(()) }).await;
        server
    }
}

/// The binary under test. nextest knows its path if the tests run from an archive.
fn binary() -> OsString {
    let moved = std::env::var_os("NEXTEST_BIN_EXE_wakeful");
    moved.unwrap_or_else(|| env!("CARGO_BIN_EXE_wakeful").into())
}

/// Runs a command to its end.
pub(crate) async fn run_command(mut command: Command) -> CommandOutput {
    let output = timeout(MAX_WAIT, command.output()).await.expect("it ends in time").unwrap();
    CommandOutput {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A running probe, killed when dropped.
pub(crate) struct Probe {
    child: Child,
    pub(crate) pid: u32,
}

impl Probe {
    /// kill -9.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    /// SIGTERM, and a clean exit.
    pub(crate) async fn stop(mut self) {
        signal("TERM", self.pid).await;
        let ended = timeout(MAX_WAIT, self.child.wait()).await.expect("the probe ends").unwrap();
        assert_eq!(ended.code(), Some(0));
    }
}

/// A running server, killed when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) pid: u32,
    pub(crate) url: String,
}

impl Server {
    /// A caller without credentials.
    pub(crate) fn anonymous(&self) -> Client {
        Client::new(&self.url)
    }

    async fn is_ready(&self) -> bool {
        let answer = reqwest::get(format!("{}/readyz", self.url)).await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }

    /// kill -9.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Waits until the process has crashed.
    pub(crate) async fn died(mut self) {
        timeout(MAX_WAIT, self.child.wait()).await.expect("it dies").unwrap();
    }

    /// Whether the process has crashed.
    pub(crate) fn is_dead(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub(crate) async fn signal(&self, name: &str) {
        signal(name, self.pid).await;
    }

    /// Waits for the process; returns its exit code.
    pub(crate) async fn ended(mut self) -> Option<i32> {
        timeout(MAX_WAIT, self.child.wait()).await.expect("the server ends").unwrap().code()
    }

    /// SIGTERM, and a clean exit.
    pub(crate) async fn stop(self) {
        self.signal("TERM").await;
        assert_eq!(self.ended().await, Some(0));
    }

    pub(crate) async fn connect(&self) -> std::io::Result<TcpStream> {
        let address = self.url.strip_prefix("http://").unwrap();
        #[expect(clippy::disallowed_methods, reason = "to the test's own server on loopback")]
        TcpStream::connect(address).await
    }
}

pub(crate) async fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status().await;
    assert!(sent.unwrap().success(), "kill -{name} {pid}");
}

/// A random number below `end`.
pub(crate) fn random_below(end: u64) -> u64 {
    RandomState::new().hash_one(end) % end
}

/// The workspace's folder.
pub(crate) fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A program of the Python tools that `scripts/install-test-deps` installed.
pub(crate) fn python_tool(name: &str) -> Command {
    let path = workspace().join("target/venv/bin").join(name);
    assert!(path.exists(), "{} is missing: run scripts/install-test-deps", path.display());
    let mut command = Command::new(path);
    command.kill_on_drop(true);
    command
}
