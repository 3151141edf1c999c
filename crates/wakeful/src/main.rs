//! The binary: reads the command line and the settings, and runs the command. Only this
//! crate uses the real clock and handles signals.

#![expect(unreachable_pub, reason = "in a binary, `pub` marks the interface of a module")]

mod admin;
mod advice;
mod audit;
mod bootstrap;
mod cli;
mod clock;
mod commands;
mod demo;
mod doctor;
mod healthcheck;
mod lock;
mod logging;
mod metrics;
mod probe;
mod redact;
mod run;
mod serve;
mod settings;
mod transfer;

use clap::{CommandFactory as _, Parser as _};
use cli::{Cli, ClusterCommand, Command, ConfigCommand};
use rustix::process::{Resource, getrlimit, setrlimit};
use settings::{DEFAULT_TOML, Settings};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{self, ExitCode};
use wakeful_core::error_chain::ErrorChain;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How soon the allocator returns freed memory to the system, in milliseconds. Its
/// default of a second retains the peak of every second: a quarter more memory.
const PURGE_DELAY: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "100");

/// Threads for work that would delay checks and requests: hashing, rendering, packing and
/// serializing. Tokio's default of 512 needs hundreds of megabytes when all are in use.
const MAX_BLOCKING_THREADS: usize = 64;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let is_service = matches!(cli.command, Command::Serve { .. } | Command::Probe { .. });
    if is_service {
        start_again_with_purge_delay();
    }
    if let Command::Run(arguments) = &cli.command {
        // It needs no settings and logs nothing: its code is that of the command it runs.
        return run::run(arguments);
    }
    // Docker reserves all codes but 0 and 1 in a health check.
    let failure = if matches!(cli.command, Command::Healthcheck { .. }) { 1 } else { 2 };
    let level = std::env::var(logging::VARIABLE).ok();
    let done = logging::start(level.as_deref()).map_err(Into::into).and_then(|()| run_cli(cli));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            if is_service || !why.is::<commands::OutputClosed>() {
                let _ = writeln!(std::io::stderr(), "wakeful: {}", ErrorChain(why.as_ref()));
            }
            ExitCode::from(if why.is::<audit::Broken>() { 1 } else { failure })
        }
    }
}

/// The allocator reads its settings from the environment before `main`, so the process
/// replaces itself once, with the same process id. If that fails, it continues and uses
/// more memory.
fn start_again_with_purge_delay() {
    let (name, value) = PURGE_DELAY;
    let mut arguments = std::env::args_os();
    if std::env::var_os(name).is_some() {
        return;
    }
    if let (Some(called), Ok(binary)) = (arguments.next(), std::env::current_exe()) {
        let mut command = process::Command::new(binary);
        let _failed = command.arg0(called).args(arguments).env(name, value).exec();
    }
}

/// The usual limit of about a thousand open files can be raised by the process. Every
/// connection and every check needs one.
fn raise_open_file_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return;
    }
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(error = %ErrorChain(&error), "raising the limit of open files failed");
    }
}

fn run_cli(cli: Cli) -> bootstrap::Outcome {
    let Cli { mut flags, command } = cli;
    // These commands need no settings and must work with invalid ones.
    match command {
        Command::Config(ConfigCommand::Default) => return commands::print(DEFAULT_TOML),
        Command::Cluster(ClusterCommand::Key) => return probe::print_key(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "wakeful", &mut script);
            return commands::print(&String::from_utf8_lossy(&script));
        }
        _ => {}
    }
    if let Command::Probe { region, name } = &command {
        (flags.region, flags.name) = (region.clone(), name.clone());
    }
    let mut settings = Settings::load(&flags, std::env::vars_os())?;
    if let Command::Serve { demo: true } = command {
        settings.stay_on_loopback();
    }
    if let Command::Config(ConfigCommand::Check) = command {
        let summary = settings.network.summary();
        let report = settings.report();
        return commands::print(&format!("{report}# the settings are valid\n# {summary}\n"));
    }
    rustls::crypto::aws_lc_rs::default_provider()
        .install_default()
        .map_err(|_| "the TLS provider was set twice")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .build()?;
    if matches!(command, Command::Serve { .. } | Command::Probe { .. }) {
        raise_open_file_limit();
    }
    runtime.block_on(async {
        match command {
            Command::Serve { demo } => serve::run(&settings, demo).await,
            Command::Probe { .. } => probe::run(&settings).await,
            Command::Healthcheck { ready } => healthcheck::run(&settings, ready).await,
            command => commands::run(&settings, command).await,
        }
    })
}
