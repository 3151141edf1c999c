//! `wakeful migrate --to`: an installation moves to another database, up to
//! PostgreSQL or back to a file. The master key stays what it is, so what is
//! sealed stays sealed.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use wakeful_store::{CopyStep, Keyring, Location, Options, Progress, copy, open_to_copy};

use crate::commands::print;
use crate::lock::{self, Lock};
use crate::settings::Settings;
use crate::wiring::{self, Failure, Outcome};

const DATABASE: &str = "wakeful.db";
const BAR: usize = 30;

pub async fn run(settings: &Settings, to: &str) -> Outcome {
    let source = wiring::location(settings)?;
    let (target, folder) = target(to)?;
    if let (Location::Sqlite(from), Location::Sqlite(to)) = (&source, &target)
        && same(from, to)
    {
        return Err("--to names the database that is copied: choose another".into());
    }
    let _locks = [hold(&source)?, hold(&target)?];
    if let Some(folder) = &folder {
        give_key(settings, folder)?;
    }
    let options = |location| Options { location, max_connections: 1 };
    let from = open_to_copy(&options(source), wiring::keyring(settings)?).await?;
    let to = open_to_copy(&options(target), wiring::keyring(settings)?).await?;
    let mut bar = Bar::new();
    let copied = copy(&from, &to, |progress| bar.show(&progress)).await;
    bar.end();
    from.close().await;
    to.close().await;
    let copied = copied?;
    let rows: u64 = copied.values().sum();
    print(&format!(
        "{rows} rows in {} tables are copied and checked. Start wakeful on the new database now; the old one is unchanged.\n",
        copied.len()
    ))
}

/// Where to copy to: a url, or a data folder that will hold the file.
fn target(to: &str) -> Result<(Location, Option<PathBuf>), Failure> {
    if to.contains(':') {
        let location = Location::parse(to).map_err(|why| format!("--to {why}"))?;
        return Ok((location, None));
    }
    let folder = PathBuf::from(to);
    wiring::make_folder(&folder)?;
    Ok((Location::Sqlite(folder.join(DATABASE)), Some(folder)))
}

/// A data folder opens with the key that is in it: it gets the one in use.
fn give_key(settings: &Settings, folder: &Path) -> Outcome {
    if !settings.secrets.master_keys.is_empty() {
        return Ok(());
    }
    let (from, to) = (wiring::key_file(settings), folder.join("master.key"));
    match to.exists() {
        true => Ok(()),
        false => Ok(Keyring::load_or_create(&from)?.replace(&to)?),
    }
}

fn hold(location: &Location) -> Result<Option<Lock>, Failure> {
    match location {
        Location::Sqlite(path) => Ok(Some(lock::take(path)?)),
        Location::Postgres(_) => Ok(None),
    }
}

fn same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

/// A bar on a terminal, and a line for each table elsewhere.
struct Bar {
    terminal: bool,
    table: String,
}

impl Bar {
    fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), table: String::new() }
    }

    fn show(&mut self, progress: &Progress<'_>) {
        let word = match progress.step {
            CopyStep::Copying => "copying",
            CopyStep::Checking => "checking",
        };
        let Progress { table, rows, of, .. } = progress;
        if self.terminal {
            let share = usize::try_from(rows * BAR as u64 / (*of).max(1)).unwrap_or(BAR).min(BAR);
            let bar = format!("{}{}", "#".repeat(share), "-".repeat(BAR - share));
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

/// Progress is for people who watch; a closed pipe is no reason to stop.
fn write(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
