//! `wakeful migrate --to`: moves an installation to another database, from SQLite to
//! PostgreSQL or back. The master key remains the same, so encrypted values are copied as
//! they are.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use wakeful_store::{
    Keyring, Location, Options, TransferProgress, TransferStep, open_for_transfer, transfer,
};

use crate::bootstrap::{self, Failure, Outcome};
use crate::commands::print;
use crate::lock::{self, Lock};
use crate::settings::Settings;

const DATABASE: &str = "wakeful.db";
const BAR_WIDTH: usize = 30;

pub async fn run(settings: &Settings, to: &str) -> Outcome {
    let source = bootstrap::location(settings)?;
    let (target, folder) = parse_target(to)?;
    if let (Location::Sqlite(from), Location::Sqlite(to)) = (&source, &target)
        && is_same_path(from, to)
    {
        return Err("--to is the database that is being copied: choose another one".into());
    }
    let options = |location| Options { location, max_connections: 1 };
    let _source_lock = take_lock(&source)?;
    let from = open_for_transfer(&options(source), bootstrap::keyring(settings)?).await?;
    from.ensure_exclusive("source").await?;
    // Nothing is created before the source is known to be usable.
    if let Some(folder) = &folder {
        bootstrap::make_folder(folder)?;
        copy_key(settings, folder)?;
    }
    let _target_lock = take_lock(&target)?;
    let to = open_for_transfer(&options(target), bootstrap::keyring(settings)?).await?;
    let mut bar = ProgressBar::new();
    let copied = transfer(&from, &to, |progress| bar.show(&progress)).await;
    bar.end();
    from.close().await;
    to.close().await;
    let copied = copied?;
    let rows: u64 = copied.values().sum();
    print(&format!(
        "Copied and verified {rows} rows in {} tables. Start wakeful on the new database now; the old one is unchanged.\n",
        copied.len()
    ))
}

/// The target: a URL, or a data folder for the SQLite file.
fn parse_target(to: &str) -> Result<(Location, Option<PathBuf>), Failure> {
    if to.contains(':') {
        let location = Location::parse(to).map_err(|why| format!("--to {why}"))?;
        return Ok((location, None));
    }
    let folder = PathBuf::from(to);
    Ok((Location::Sqlite(folder.join(DATABASE)), Some(folder)))
}

/// A data folder is opened with its own key file, so it gets a copy of the current key.
fn copy_key(settings: &Settings, folder: &Path) -> Outcome {
    if !settings.secrets.master_keys.is_empty() {
        return Ok(());
    }
    let (from, to) = (bootstrap::key_file(settings), folder.join("master.key"));
    if to.exists() { Ok(()) } else { Ok(Keyring::load_or_create(&from)?.replace(&to)?) }
}

fn take_lock(location: &Location) -> Result<Option<Lock>, Failure> {
    match location {
        Location::Sqlite(path) => Ok(Some(lock::take(path)?)),
        Location::Postgres(_) => Ok(None),
    }
}

fn is_same_path(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

/// A progress bar on a terminal, otherwise one line for each table.
struct ProgressBar {
    terminal: bool,
    table: String,
}

impl ProgressBar {
    fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), table: String::new() }
    }

    fn show(&mut self, progress: &TransferProgress<'_>) {
        let word = match progress.step {
            TransferStep::Copying => "copying",
            TransferStep::Checking => "checking",
        };
        let TransferProgress { table, rows, of, .. } = progress;
        if self.terminal {
            let share = usize::try_from(rows * BAR_WIDTH as u64 / (*of).max(1))
                .unwrap_or(BAR_WIDTH)
                .min(BAR_WIDTH);
            let bar = format!("{}{}", "#".repeat(share), "-".repeat(BAR_WIDTH - share));
            write(&format!("\r{word:<9}[{bar}] {rows}/{of} {table:<24}"));
        } else if self.table != format!("{word} {table}") {
            self.table = format!("{word} {table}");
            write(&format!("{word} {table} ({rows} of {of} rows)\n"));
        }
    }

    fn end(&self) {
        if self.terminal {
            write("\n");
        }
    }
}

/// Shows progress. A closed pipe must not stop the copy.
fn write(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
