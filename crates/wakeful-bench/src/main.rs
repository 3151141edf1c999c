//! `make bench`: the cost of Wakeful, compared with loops that do the same work
//! and store nothing. Wakeful runs as its real release binary; the target and
//! the loops are here. Everything stays on loopback and ends automatically.

#![expect(unreachable_pub, reason = "in a binary, `pub` marks the interface of a module")]
#![expect(clippy::print_stdout, reason = "prints its measurements")]
#![expect(
    clippy::disallowed_methods,
    reason = "the bare loops have neither guard nor tracker, for comparison"
)]

mod alerts;
mod baseline;
mod chart;
mod clock;
mod compare;
mod degraded;
mod documents;
mod full;
mod history;
mod hostile;
mod jitter;
mod jobs;
mod kind;
mod million;
mod nodes;
mod paced;
mod paced_baseline;
mod policies;
mod process;
mod reader;
mod receiver;
mod remote;
mod report;
mod seed;
mod service;
mod site;
mod soak;
mod start;
mod stats;
mod statuspage_faults;
mod statuspages;
mod storm;
mod target;
mod visitors;

use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::Instant;

use kind::Kind;
use report::Report;
use target::Target;

pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
#[command(about = "Measures the cost of Wakeful, on loopback")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure everything, or only some parts, and print the figures
    Run(Run),
    /// Compare the cost of two versions, side by side
    Compare(compare::Compare),
    /// Fill a data folder with monitors that point at a port of this machine
    Seed {
        data: PathBuf,
        #[arg(long, default_value_t = 10_000)]
        monitors: u32,
        #[arg(long, default_value_t = 20)]
        interval: u64,
        #[arg(long, default_value_t = 9)]
        port: u16,
    },
    /// The loop at full speed: connect, send, read, store nothing
    #[command(hide = true)]
    Baseline(baseline::Baseline),
    /// A task for each monitor that does the same on schedule
    #[command(hide = true)]
    PacedBaseline(paced_baseline::PacedBaseline),
}

#[derive(Parser)]
pub struct Run {
    /// The release binary of Wakeful
    #[arg(long)]
    wakeful: PathBuf,
    /// How many seconds the schedule is measured; 600 for ten minutes
    #[arg(long, default_value_t = 45)]
    seconds: u64,
    /// How long the soak lasts, in minutes
    #[arg(long, default_value_t = 120)]
    soak_minutes: u64,
    /// Only these parts; `full` stands for the five types of checks, `history`
    /// for the month and the year
    #[arg(long, value_delimiter = ',')]
    parts: Vec<Part>,
    /// Update the figures in DIR/performance.md and the charts in DIR/pictures
    #[arg(long, value_name = "DIR")]
    docs: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    Full,
    Http,
    Tcp,
    Dns,
    Ping,
    Https,
    Paced,
    Policies,
    Documents,
    Hostile,
    Degraded,
    Jobs,
    Start,
    Storm,
    Statuspages,
    Million,
    History,
    Month,
    Year,
    Nodes,
    Remote,
    /// Two hours; runs only when named
    Soak,
}

impl Run {
    fn wants(&self, part: Part) -> bool {
        (self.parts.is_empty() && part != Part::Soak)
            || self.parts.contains(&part)
            || (part.is_full() && self.parts.contains(&Part::Full))
            || (part.is_history() && self.parts.contains(&Part::History))
    }

    fn window(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

impl Part {
    fn is_full(self) -> bool {
        matches!(self, Self::Http | Self::Tcp | Self::Dns | Self::Ping | Self::Https)
    }

    fn is_history(self) -> bool {
        matches!(self, Self::Month | Self::Year)
    }
}

fn main() -> Outcome<()> {
    let cli = Cli::parse();
    rustls::crypto::aws_lc_rs::default_provider()
        .install_default()
        .map_err(|_| "the TLS provider was set twice")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match cli.command {
            Command::Run(run) => measure(&run).await,
            Command::Compare(versions) => compare::run(&versions).await,
            Command::Baseline(baseline) => baseline::run(baseline).await,
            Command::PacedBaseline(baseline) => paced_baseline::run(&baseline).await,
            Command::Seed { data, monitors, interval, port } => {
                let monitors_to_seed = seed::MonitorSet::paced(monitors, interval, port);
                let token = seed::seed(&data, &monitors_to_seed).await?;
                println!("{monitors} monitors in {}; Bearer {token}", data.display());
                Ok(())
            }
        }
    })
}

async fn measure(run: &Run) -> Outcome<()> {
    let target = Target::start().await?;
    let mut report = Report::default();
    for part in [
        Part::Http,
        Part::Tcp,
        Part::Dns,
        Part::Ping,
        Part::Https,
        Part::Paced,
        Part::Policies,
        Part::Documents,
        Part::Hostile,
        Part::Degraded,
        Part::Jobs,
        Part::Start,
        Part::Storm,
        Part::Statuspages,
        Part::Million,
        Part::Month,
        Part::Year,
        Part::Nodes,
        Part::Remote,
        Part::Soak,
    ] {
        if !run.wants(part) {
            continue;
        }
        let began = Instant::now();
        // A part that fails must not discard the results of the others.
        if let Err(why) = measure_part(run, &target, part, &mut report).await {
            report.add_failure(&format!("{part:?}").to_lowercase(), &why.to_string());
        }
        println!("  ({:.0} s)", began.elapsed().as_secs_f64());
    }
    println!("\n{}", report.table());
    match &run.docs {
        Some(docs) => report.write(docs, run.parts.is_empty()),
        None => Ok(()),
    }
}

async fn measure_part(run: &Run, target: &Target, part: Part, report: &mut Report) -> Outcome<()> {
    match part {
        Part::Full | Part::History => Ok(()),
        Part::Http => full::measure(run, target, Kind::Http, report).await,
        Part::Tcp => full::measure(run, target, Kind::Tcp, report).await,
        Part::Dns => full::measure(run, target, Kind::Dns, report).await,
        Part::Ping => full::measure(run, target, Kind::Ping, report).await,
        Part::Https => full::measure(run, target, Kind::Https, report).await,
        Part::Paced => paced::measure(run, target, report).await,
        Part::Policies => policies::measure(run, target, report).await,
        Part::Documents => documents::measure(run, target, report).await,
        Part::Hostile => hostile::measure(run, target, report).await,
        Part::Degraded => degraded::measure(run, target, report).await,
        Part::Jobs => jobs::measure(run, target, report).await,
        Part::Start => start::measure(run, target, report).await,
        Part::Storm => storm::measure(run, target, report).await,
        Part::Statuspages => statuspages::measure(run, target, report).await,
        Part::Million => million::measure(run, target, report).await,
        Part::Month => history::month(target, report).await,
        Part::Year => history::year(run, target, report).await,
        Part::Nodes => nodes::measure(report).await,
        Part::Remote => remote::measure(run, target, report).await,
        Part::Soak => soak::measure(run, target, report).await,
    }
}
