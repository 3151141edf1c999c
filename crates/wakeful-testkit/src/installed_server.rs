//! A server that is installed on this machine, on a free port on loopback. It ends with the test.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::postgres::free_port;
use crate::wait::until;

pub struct InstalledServer {
    pub port: u16,
    folder: tempfile::TempDir,
    _child: Child,
}

impl InstalledServer {
    /// Runs a program. `arguments` gets its folder, in which it may write files, and its port.
    #[expect(clippy::disallowed_methods, reason = "a server of the test")]
    pub async fn start(program: &str, arguments: impl FnOnce(&Path, u16) -> Vec<String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Those that are started as root change to another user.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let port = free_port().await;
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let path = format!("{}:/usr/sbin", std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new(program);
        command.args(arguments(folder.path(), port)).env("PATH", path);
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .kill_on_drop(true);
        let mut child = command.spawn().unwrap_or_else(|error| {
            panic!("{program} cannot be started ({error}): run scripts/install-test-deps")
        });
        until(&format!("{program} to listen"), || {
            let ended = child.try_wait().unwrap();
            let log = folder.path().join("log");
            async move {
                assert!(ended.is_none(), "{}", fs::read_to_string(log).unwrap());
                TcpStream::connect(("127.0.0.1", port)).await.ok()
            }
        })
        .await;
        Self { port, folder, _child: child }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}
