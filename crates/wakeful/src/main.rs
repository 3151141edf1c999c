//! The binary: reads what is asked and the settings, and does it.

pub mod cli;
pub mod logging;
pub mod settings;

use clap::{CommandFactory as _, Parser as _};
use cli::{Cli, Command, ConfigCommand};
use settings::{DEFAULT_TOML, Settings};
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let level = std::env::var(logging::VARIABLE).ok();
    if let Err(why) = logging::start(level.as_deref()) {
        return refuse(&why);
    }
    let mut out = std::io::stdout().lock();
    let written = match cli.command {
        Command::Config(ConfigCommand::Default) => out.write_all(DEFAULT_TOML.as_bytes()),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "wakeful", &mut out);
            Ok(())
        }
        _ => match Settings::load(&cli.flags, std::env::vars_os()) {
            Ok(settings) => out.write_all(settings.report().as_bytes()),
            Err(why) => return refuse(&why),
        },
    };
    written.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

fn refuse(why: &dyn std::error::Error) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{why}");
    ExitCode::from(2)
}
