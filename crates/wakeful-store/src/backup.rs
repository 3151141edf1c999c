//! Online backup of a SQLite database, and its way back. The copy is one file,
//! consistent at one moment, checked before it takes the place of another.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::StoreError;

/// How long the copy waits for a writer that holds the whole file.
const BUSY: Duration = Duration::from_secs(30);

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{0} exists already: choose another name or remove it")]
    Exists(PathBuf),
    #[error("cannot write {path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("{path} is not a sound Wakeful backup: {why}")]
    Unsound { path: PathBuf, why: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Copies the database at `from` to a file that does not exist yet, while
/// others write.
pub async fn backup_sqlite(from: &Path, to: &Path) -> Result<(), BackupError> {
    if to.exists() {
        return Err(BackupError::Exists(to.to_owned()));
    }
    let options = SqliteConnectOptions::new().filename(from).create_if_missing(false);
    let mut db = options.busy_timeout(BUSY).connect().await.map_err(StoreError::from)?;
    // Created first and empty, so that nobody else can read what is written to it.
    let beside = beside(to, "partial");
    let made = create_private(&beside)?;
    let path = beside.to_str().ok_or_else(|| {
        file(&beside, io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8"))
    })?;
    sqlx::query("vacuum into $1").bind(path).execute(&mut db).await.map_err(StoreError::from)?;
    db.close().await.map_err(StoreError::from)?;
    made.sync_all().map_err(|source| file(&beside, source))?;
    sound(&beside).await?;
    fs::rename(&beside, to).map_err(|source| file(to, source))
}

/// Puts a backup in the place of the database at `path`. The caller holds the
/// data folder's lock: nothing may be running on it. What was there is kept
/// beside it and named in the answer.
pub async fn restore_sqlite(backup: &Path, path: &Path) -> Result<Option<PathBuf>, BackupError> {
    sound(backup).await?;
    let fresh = beside(path, "restoring");
    let mut from = fs::File::open(backup).map_err(|source| file(backup, source))?;
    // Not `fs::copy`, which would also copy the mode of the backup.
    let mut copied = create_private(&fresh)?;
    io::copy(&mut from, &mut copied).map_err(|source| file(&fresh, source))?;
    copied.sync_all().map_err(|source| file(&fresh, source))?;
    let mut kept = None;
    if path.exists() {
        let before = beside(path, "before-restore");
        fold_log(path).await;
        fs::rename(path, &before).map_err(|source| file(&before, source))?;
        // A log that could not be folded in stays beside its file.
        for log in ["-wal", "-shm"] {
            let log = |path: &Path| PathBuf::from(format!("{}{log}", path.display()));
            let (from, to) = (log(path), log(&before));
            match fs::rename(&from, &to) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => remove(&to)?,
                moved => moved.map_err(|source| file(&from, source))?,
            }
        }
        kept = Some(before);
    }
    fs::rename(&fresh, path).map_err(|source| file(path, source))?;
    Ok(kept)
}

/// Puts what is still in the log into the database file, so that the file alone
/// is all of it. A file that is no database any more is what restoring is for.
async fn fold_log(path: &Path) {
    let Ok(mut db) = SqliteConnectOptions::new().filename(path).connect().await else { return };
    let folded = sqlx::query("pragma wal_checkpoint(truncate)").execute(&mut db).await;
    if let (Err(error), _) | (_, Err(error)) = (folded, db.close().await) {
        let error: &dyn std::error::Error = &error;
        tracing::warn!(error, "{} is damaged and kept as it is", path.display());
    }
}

/// Creates a file that only its owner may read. One that a crash left behind is
/// replaced, whatever its mode was.
fn create_private(path: &Path) -> Result<fs::File, BackupError> {
    remove(path)?;
    let mut options = fs::OpenOptions::new();
    let created = options.write(true).create_new(true).mode(0o600).open(path);
    created.map_err(|source| file(path, source))
}

fn remove(path: &Path) -> Result<(), BackupError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(file(path, error)),
        _ => Ok(()),
    }
}

/// Whether a file is an undamaged database of ours.
async fn sound(path: &Path) -> Result<(), BackupError> {
    let unsound = |why: String| BackupError::Unsound { path: path.to_owned(), why };
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let mut db = options.connect().await.map_err(|error| unsound(error.to_string()))?;
    let verdict: String = sqlx::query_scalar("pragma integrity_check")
        .fetch_one(&mut db)
        .await
        .map_err(|error| unsound(error.to_string()))?;
    if verdict != "ok" {
        // The verdict is a list of pages, which helps nobody here.
        return Err(unsound("it is damaged".into()));
    }
    sqlx::query("select name from schema_migrations")
        .fetch_all(&mut db)
        .await
        .map_err(|_| unsound("it has no Wakeful tables".into()))?;
    db.close().await.map_err(StoreError::from)?;
    Ok(())
}

fn beside(path: &Path, what: &str) -> PathBuf {
    PathBuf::from(format!("{}.{what}", path.display()))
}

fn file(path: &Path, source: io::Error) -> BackupError {
    BackupError::File { path: path.to_owned(), source }
}
