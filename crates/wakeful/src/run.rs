//! `wakeful run`: runs a command and reports its start and its end to a ping URL. Whatever
//! becomes of the reports, the command runs, its output passes through, and its exit code is
//! that of this process.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::{JoinHandle, block_in_place};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use url::Url;
use wakeful_core::time::Clock as _;
use wakeful_outbound::net::{Net, guard::Policy};
use wakeful_outbound::notify::send_job_ping;

use crate::clock::SystemClock;

/// A ping is tried after each of these pauses.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_secs(2), Duration::from_secs(8)];
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long the output of a command that has ended is waited for: a process in the background
/// may hold it open.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(2);
const CANNOT_START: u8 = 127;
/// The exit code of a command that a signal has ended is this and the signal's number.
const BY_SIGNAL: i32 = 128;

#[derive(Args, Debug)]
pub struct RunArguments {
    /// The ping URL of the monitor; file:PATH reads it from a file [env: WAKEFUL_PING_URL]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The ping key of the team, instead of a URL; file:PATH reads it [env: WAKEFUL_PING_KEY]
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// The slug of the monitor, with a ping key [env: WAKEFUL_PING_SLUG]
    #[arg(long, value_name = "SLUG")]
    slug: Option<String>,
    /// The URL of the service, with a ping key [env: WAKEFUL_URL]
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Create the monitor if there is none with this slug
    #[arg(long)]
    create: bool,
    /// The schedule of a monitor that is created
    #[arg(long, value_name = "CRON")]
    schedule: Option<String>,
    /// The time zone of that schedule
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
    /// How late a report to a monitor that is created may be, in seconds
    #[arg(long, value_name = "SECONDS")]
    grace: Option<u64>,
    /// Do not send what the command prints
    #[arg(long)]
    no_output: bool,
    /// How many bytes of what the command prints are sent, from its end
    #[arg(long, value_name = "BYTES", default_value_t = 10_000)]
    tail: usize,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<OsString>,
}

/// Runs the command and returns its exit code.
pub fn run(arguments: &RunArguments) -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            report(&format!("cannot start: {error}"));
            return ExitCode::from(CANNOT_START);
        }
    };
    let _is_set_already = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let code = runtime.block_on(run_command(arguments));
    // Output that a background process holds open is not waited for.
    runtime.shutdown_background();
    ExitCode::from(code)
}

async fn run_command(arguments: &RunArguments) -> u8 {
    let pinger = match Pinger::of(arguments) {
        Ok(pinger) => Some(Arc::new(pinger)),
        Err(why) => {
            report(&format!("nothing is reported: {why}"));
            None
        }
    };
    let ended = CancellationToken::new();
    let started = pinger.clone().map(|pinger| {
        let ended = ended.clone();
        spawn(async move { pinger.send("start", Vec::new(), &ended).await })
    });
    let tail =
        Arc::new(Mutex::new(Tail::new(if arguments.no_output { 0 } else { arguments.tail })));
    let code = match start(arguments) {
        Ok(child) => wait(child, &tail).await,
        Err(error) => {
            let name = arguments.command[0].to_string_lossy();
            let message = format!("cannot run {name}: {error}");
            report(&message);
            lock(&tail).push(message.as_bytes());
            CANNOT_START
        }
    };
    // The end must not arrive before the start.
    ended.cancel();
    if let Some(started) = started {
        let _ended = started.await;
    }
    if let Some(pinger) = pinger {
        let output = lock(&tail).bytes();
        pinger.send(&code.to_string(), output, &CancellationToken::new()).await;
    }
    code
}

#[expect(clippy::disallowed_methods, reason = "the process ends when the command has")]
fn spawn<F: Future + Send + 'static>(task: F) -> JoinHandle<F::Output>
where
    F::Output: Send,
{
    tokio::spawn(task)
}

fn start(arguments: &RunArguments) -> std::io::Result<Child> {
    let (name, rest) = arguments.command.split_first().expect("clap requires a command");
    let mut command = Command::new(name);
    command.args(rest);
    if !arguments.no_output {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    command.spawn()
}

/// Waits for the end of a command, passes signals on to it, and its output through.
async fn wait(mut child: Child, tail: &Arc<Mutex<Tail>>) -> u8 {
    let forwarding = child.id().map(forward_signals);
    let readers = [
        child.stdout.take().map(|from| spawn(copy(from, std::io::stdout(), Arc::clone(tail)))),
        child.stderr.take().map(|from| spawn(copy(from, std::io::stderr(), Arc::clone(tail)))),
    ];
    let status = child.wait().await;
    for reader in readers.into_iter().flatten() {
        let _held_open = timeout(OUTPUT_TIMEOUT, reader).await;
    }
    for task in forwarding.into_iter().flatten() {
        task.abort();
    }
    status.map_or(CANNOT_START, exit_code)
}

fn exit_code(status: ExitStatus) -> u8 {
    let by_signal = status.signal().map(|number| BY_SIGNAL + number);
    let code = status.code().or(by_signal).unwrap_or(1);
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Passes signals on to the command; this process ends when that does.
fn forward_signals(id: u32) -> Vec<JoinHandle<()>> {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    let kinds = [
        (SignalKind::hangup(), Signal::HUP),
        (SignalKind::interrupt(), Signal::INT),
        (SignalKind::quit(), Signal::QUIT),
        (SignalKind::terminate(), Signal::TERM),
        (SignalKind::user_defined1(), Signal::USR1),
        (SignalKind::user_defined2(), Signal::USR2),
    ];
    let forward = |(kind, number): (SignalKind, Signal)| {
        let (mut signals, pid) = (signal(kind).ok()?, pid?);
        Some(spawn(async move {
            while signals.recv().await.is_some() {
                let _has_ended = kill_process(pid, number);
            }
        }))
    };
    kinds.into_iter().filter_map(forward).collect()
}

async fn copy(mut from: impl AsyncRead + Unpin, mut to: impl Write, tail: Arc<Mutex<Tail>>) {
    let mut buffer = vec![0; 16 * 1024];
    let mut is_open = true;
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        lock(&tail).push(&buffer[..length]);
        if is_open {
            // Nobody may read what passes through; the command still runs to its end.
            let write = || to.write_all(&buffer[..length]).and_then(|()| to.flush());
            is_open = block_in_place(write).is_ok();
        }
    }
}

fn lock(tail: &Mutex<Tail>) -> std::sync::MutexGuard<'_, Tail> {
    tail.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The last bytes of what a command has printed.
struct Tail {
    max: usize,
    bytes: Vec<u8>,
}

impl Tail {
    fn new(max: usize) -> Self {
        Self { max, bytes: Vec::new() }
    }

    fn push(&mut self, new: &[u8]) {
        self.bytes.extend_from_slice(new);
        // Not for each byte: removing from the front moves the rest.
        if self.bytes.len() > self.max.saturating_mul(2).max(64 * 1024) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let excess = self.bytes.len().saturating_sub(self.max);
        self.bytes.drain(..excess);
    }

    fn bytes(&mut self) -> Vec<u8> {
        self.cut();
        std::mem::take(&mut self.bytes)
    }
}

/// Where pings are sent.
struct Pinger {
    net: Net,
    url: Url,
}

impl Pinger {
    fn of(arguments: &RunArguments) -> Result<Self, String> {
        let url = target(arguments)?;
        let clock = Arc::new(SystemClock);
        Ok(Self { net: Net::new(Policy::Private, Vec::new(), clock), url })
    }

    /// Sends a ping, again after failures that may pass, until `stop`.
    async fn send(&self, end: &str, body: Vec<u8>, stop: &CancellationToken) {
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push(end);
        }
        let mut why = String::new();
        for pause in PAUSES {
            tokio::select! {
                () = sleep(pause) => {}
                () = stop.cancelled(), if !pause.is_zero() => break,
            }
            let ping = send_job_ping(&self.net, url.clone(), body.clone(), SystemClock.now());
            match timeout(TIMEOUT, ping).await {
                Ok(Ok(())) => return,
                Ok(Err(failed)) => {
                    why = failed.why;
                    if !failed.may_retry {
                        break;
                    }
                }
                Err(_) => why = format!("no response within {} s", TIMEOUT.as_secs()),
            }
        }
        report(&format!("reporting {end} failed: {why}"));
    }
}

/// The URL of this run's pings.
fn target(arguments: &RunArguments) -> Result<Url, String> {
    let given = |flag: &Option<String>, name: &str| {
        let value = flag.clone().or_else(|| std::env::var(name).ok());
        value.filter(|value| !value.is_empty()).map(|value| read(&value)).transpose()
    };
    let invalid = || "the URL is not valid".to_owned();
    // An argument comes before the environment, in which the URL of another job may be.
    let has_slug = arguments.key.is_some() || arguments.slug.is_some();
    let url = match &arguments.url {
        None if has_slug => None,
        argument => given(argument, "WAKEFUL_PING_URL")?,
    };
    let mut url = match url {
        Some(url) => Url::parse(&url).map_err(|_| invalid())?,
        None => {
            let missing = |what: &str| format!("{what} is missing");
            let key = given(&arguments.key, "WAKEFUL_PING_KEY")?;
            let key = key.ok_or_else(|| missing("--url, or --key with --slug,"))?;
            let slug = given(&arguments.slug, "WAKEFUL_PING_SLUG")?;
            let slug = slug.ok_or_else(|| missing("--slug"))?;
            let server = given(&arguments.server, "WAKEFUL_URL")?;
            let server = server.ok_or_else(|| missing("--server"))?;
            let mut url = Url::parse(&server).map_err(|_| invalid())?;
            let mut path = url.path_segments_mut().map_err(|()| invalid())?;
            path.pop_if_empty().extend(["ping", key.as_str(), slug.as_str()]);
            drop(path);
            url
        }
    };
    if !["http", "https"].contains(&url.scheme()) {
        return Err(invalid());
    }
    let mut query = url.query_pairs_mut();
    // All attempts of the pings of this run share its id.
    query.append_pair("rid", &wakeful_engine::random_uuid());
    if arguments.create {
        query.append_pair("create", "1");
        for (name, value) in [
            ("schedule", arguments.schedule.clone()),
            ("tz", arguments.tz.clone()),
            ("grace", arguments.grace.map(|grace| grace.to_string())),
        ] {
            if let Some(value) = value {
                query.append_pair(name, &value);
            }
        }
    }
    drop(query);
    Ok(url)
}

/// A value, or the content of the file that it names.
fn read(value: &str) -> Result<String, String> {
    let Some(path) = value.strip_prefix("file:") else { return Ok(value.to_owned()) };
    let text = std::fs::read_to_string(path);
    text.map(|text| text.trim().to_owned()).map_err(|error| format!("cannot read {path}: {error}"))
}

fn report(message: &str) {
    let _ = writeln!(std::io::stderr(), "wakeful run: {message}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_are_kept() {
        let mut tail = Tail::new(5);
        for _ in 0..100_000 {
            tail.push(b"abc");
        }
        tail.push(b"12");
        assert!(tail.bytes.len() <= 64 * 1024);
        assert_eq!(tail.bytes(), b"abc12");
        let mut none = Tail::new(0);
        none.push(b"abc");
        assert_eq!(none.bytes(), b"");
    }
}
