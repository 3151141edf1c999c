//! `wakeful serve --demo`: fills a new data folder, and runs the site that the monitors of
//! the demo check. It listens on loopback only.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use wakeful_engine::{Engine, demo};

use crate::bootstrap::{self, Failure, Outcome};
use crate::settings::Settings;

/// The file in the data folder with the port of the site, which the monitors name.
const PORT_FILE: &str = "demo.port";
/// More than the monitors of the demo send at once.
const MAX_CONNECTIONS: usize = 64;
const MAX_REQUEST_BYTES: usize = 16 * 1024;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

pub struct Demo {
    site: TcpListener,
    port_file: PathBuf,
    is_new: bool,
}

impl Demo {
    /// Binds the site. Fails if the data folder has data that is not the demo's.
    pub async fn prepare(settings: &Settings) -> Result<Self, Failure> {
        let port_file = settings.data.join(PORT_FILE);
        let in_use = bootstrap::location(settings)?.is_in_use().await? || has_files(&settings.data);
        let earlier = std::fs::read_to_string(&port_file).ok();
        let earlier = earlier.and_then(|port| port.trim().parse::<u16>().ok());
        if in_use && earlier.is_none() {
            return Err(format!(
                "--demo needs a new data folder, but {} is already in use: choose another one with --data, or start without --demo",
                settings.data.display()
            )
            .into());
        }
        let port = if in_use { earlier.unwrap_or(0) } else { 0 };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let site = TcpListener::bind(address).await.map_err(|error| {
            format!("the site of the demo cannot listen on {address}: {error}; stop what listens there, or choose a new data folder with --data")
        })?;
        Ok(Self { site, port_file, is_new: !in_use })
    }

    /// Creates the account, the monitors and their history, unless an earlier start did.
    pub async fn fill(&self, engine: &Engine) -> Outcome {
        if self.is_new {
            let port = self.site.local_addr()?.port();
            engine.create_demo(port).await?;
            std::fs::write(&self.port_file, format!("{port}\n"))
                .map_err(|error| format!("cannot write {}: {error}", self.port_file.display()))?;
        }
        Ok(())
    }

    /// Answers the checks until shutdown.
    pub async fn serve_site(self, shutdown: CancellationToken) {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.site.accept(), if connections.len() < MAX_CONNECTIONS => {
                    if let Ok((connection, _)) = accepted {
                        connections.spawn(tokio::time::timeout(REQUEST_TIMEOUT, respond(connection)));
                    }
                }
                Some(_) = connections.join_next() => {}
                () = shutdown.cancelled() => return,
            }
        }
    }
}

/// Whether a folder has files other than locks. The root of a volume may have `lost+found`.
fn has_files(folder: &Path) -> bool {
    let Ok(files) = std::fs::read_dir(folder) else { return false };
    let mut names = files.flatten().map(|file| file.file_name().to_string_lossy().into_owned());
    names.any(|name| !name.ends_with(".lock") && name != "lost+found")
}

/// Reads one request and answers it after the time that its host usually takes.
async fn respond(mut connection: TcpStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut chunk = [0; 2048];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = connection.read(&mut chunk).await?;
        if read == 0 || request.len() > MAX_REQUEST_BYTES {
            return Ok(());
        }
        request.extend_from_slice(&chunk[..read]);
    }
    let head = String::from_utf8_lossy(&request);
    let host = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    let (status, takes) = demo::response(host.unwrap_or_default());
    tokio::time::sleep(takes).await;
    let reason = if status == 200 { "OK" } else { "Service Unavailable" };
    let answer = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n"
    );
    connection.write_all(answer.as_bytes()).await?;
    connection.shutdown().await
}
