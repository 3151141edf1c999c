//! Online backup and restore of a SQLite database. A backup is one consistent
//! file, which is verified before it replaces anything. Another one is created
//! before this version upgrades a database, because migrations cannot be reversed.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wakeful_core::error_chain::ErrorChain;

use crate::{StoreError, migrate};

/// How long the backup waits for a writer that has locked the whole file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// The suffix of backups before upgrades, without the version.
const UPGRADE: &str = "before-";

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{0} already exists: choose another name or delete it")]
    Exists(PathBuf),
    #[error("the folder {0} does not exist: create it first")]
    NoFolder(PathBuf),
    #[error("cannot write {path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("{path} is not a valid Wakeful backup: {why}")]
    Unsound { path: PathBuf, why: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Copies the database at `from` to a new file. Others may write meanwhile.
pub async fn backup_sqlite(from: &Path, to: &Path) -> Result<(), BackupError> {
    if to.exists() {
        return Err(BackupError::Exists(to.to_owned()));
    }
    copy_verified(from, to).await
}

/// An upgrade that is about to begin. Hold it until the database is migrated: of processes that
/// start together, one makes the backup, and the others wait.
#[derive(Debug, Default)]
pub struct Upgrade {
    /// The backup, unless none was needed.
    pub backup: Option<PathBuf>,
    _lock: Option<fs::File>,
}

/// Backs up a database that this version is about to migrate, next to it, in place of the
/// backup of the previous upgrade.
pub async fn backup_before_upgrade(path: &Path) -> Result<Upgrade, BackupError> {
    if pending_migrations(path).await.is_none() {
        return Ok(Upgrade::default());
    }
    let lock = lock(sibling(path, "upgrade.lock")).await?;
    let backup = match pending_migrations(path).await {
        Some(applied) => back_up_migrations(path, &applied).await?,
        None => None,
    };
    Ok(Upgrade { backup, _lock: Some(lock) })
}

async fn back_up_migrations(
    path: &Path,
    applied: &[String],
) -> Result<Option<PathBuf>, BackupError> {
    let backup = sibling(path, &format!("{UPGRADE}{}", env!("CARGO_PKG_VERSION")));
    // An upgrade to this version that was interrupted has backed up the older database.
    if let Some(earlier) = applied_migrations(&backup).await
        && earlier.len() < applied.len()
    {
        return Ok(None);
    }
    copy_verified(path, &backup).await?;
    delete_earlier_upgrades(path, &backup)?;
    Ok(Some(backup))
}

/// The migrations of a database that lacks some of this version.
async fn pending_migrations(path: &Path) -> Option<Vec<String>> {
    applied_migrations(path).await.filter(|applied| migrate::is_pending(applied))
}

/// Waits until no other process has the file locked; the lock ends when it is closed.
async fn lock(path: PathBuf) -> Result<fs::File, BackupError> {
    let locking = tokio::task::spawn_blocking(move || {
        let locked = fs::File::create(&path).and_then(|lock| lock.lock().map(|()| lock));
        locked.map_err(|source| file(&path, source))
    });
    locking.await.expect("locking does not panic")
}

/// The migrations of a database, in order; `None` if there is no database of Wakeful.
async fn applied_migrations(path: &Path) -> Option<Vec<String>> {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(false);
    let mut db = options.busy_timeout(BUSY_TIMEOUT).connect().await.ok()?;
    let applied = sqlx::query_scalar("select name from schema_migrations order by name")
        .fetch_all(&mut db)
        .await;
    db.close().await.ok()?;
    applied.ok()
}

/// Deletes the backups of previous upgrades, `wakeful.db.before-0.1.0`, but not
/// `wakeful.db.before-restore`.
fn delete_earlier_upgrades(path: &Path, newest: &Path) -> Result<(), BackupError> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let prefix = format!("{}.{UPGRADE}", name.display());
    let files = fs::read_dir(folder).map_err(|source| file(folder, source))?;
    for found in files.flatten().map(|found| found.path()).filter(|found| found != newest) {
        let name = found.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let version = name.strip_prefix(&prefix).unwrap_or_default();
        if version.starts_with(|c: char| c.is_ascii_digit()) {
            remove(&found)?;
        }
    }
    Ok(())
}

/// Copies a database to a file that appears complete and verified, or not at all.
async fn copy_verified(from: &Path, to: &Path) -> Result<(), BackupError> {
    let options = SqliteConnectOptions::new().filename(from).create_if_missing(false);
    let mut db = options.busy_timeout(BUSY_TIMEOUT).connect().await.map_err(StoreError::from)?;
    // Created empty with a private mode, so that no other user can read the data.
    let sibling = sibling(to, "partial");
    let created = create_private(&sibling)?;
    let path = sibling.to_str().ok_or_else(|| {
        file(&sibling, io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8"))
    })?;
    sqlx::query("vacuum into $1").bind(path).execute(&mut db).await.map_err(StoreError::from)?;
    db.close().await.map_err(StoreError::from)?;
    created.sync_all().map_err(|source| file(&sibling, source))?;
    verify_backup(&sibling).await?;
    fs::rename(&sibling, to).map_err(|source| file(to, source))
}

/// Replaces the database at `path` with a backup. The caller holds the lock of
/// the data folder, so nothing else uses the database. The previous file stays
/// next to it; its path is returned.
pub async fn restore_sqlite(backup: &Path, path: &Path) -> Result<Option<PathBuf>, BackupError> {
    verify_backup(backup).await?;
    let restored = sibling(path, "restoring");
    let mut from = fs::File::open(backup).map_err(|source| file(backup, source))?;
    // Not `fs::copy`, which would also copy the mode of the backup.
    let mut copied = create_private(&restored)?;
    io::copy(&mut from, &mut copied).map_err(|source| file(&restored, source))?;
    copied.sync_all().map_err(|source| file(&restored, source))?;
    let mut previous = None;
    if path.exists() {
        let before = sibling(path, "before-restore");
        checkpoint_wal(path).await;
        fs::rename(path, &before).map_err(|source| file(&before, source))?;
        // A log that could not be checkpointed stays with its database file.
        for log in ["-wal", "-shm"] {
            let log = |path: &Path| PathBuf::from(format!("{}{log}", path.display()));
            let (from, to) = (log(path), log(&before));
            match fs::rename(&from, &to) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => remove(&to)?,
                moved => moved.map_err(|source| file(&from, source))?,
            }
        }
        previous = Some(before);
    }
    fs::rename(&restored, path).map_err(|source| file(path, source))?;
    Ok(previous)
}

/// Writes the write-ahead log into the database file, so that the file alone is
/// complete. Failures are not fatal: a damaged file is a reason to restore.
async fn checkpoint_wal(path: &Path) {
    let Ok(mut db) = SqliteConnectOptions::new().filename(path).connect().await else { return };
    let checkpointed = sqlx::query("pragma wal_checkpoint(truncate)").execute(&mut db).await;
    if let (Err(error), _) | (_, Err(error)) = (checkpointed, db.close().await) {
        tracing::warn!(error = %ErrorChain(&error), "{} is damaged, keeping it unchanged", path.display());
    }
}

/// Creates a file that only its owner may read. Replaces a file that a crash left
/// behind, whatever its mode.
fn create_private(path: &Path) -> Result<fs::File, BackupError> {
    remove(path)?;
    let mut options = fs::OpenOptions::new();
    let created = options.write(true).create_new(true).mode(0o600).open(path);
    created.map_err(|source| match path.parent() {
        Some(folder) if source.kind() == io::ErrorKind::NotFound => {
            BackupError::NoFolder(folder.to_owned())
        }
        _ => file(path, source),
    })
}

fn remove(path: &Path) -> Result<(), BackupError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(file(path, error)),
        _ => Ok(()),
    }
}

/// Verifies that a file is an undamaged Wakeful database.
async fn verify_backup(path: &Path) -> Result<(), BackupError> {
    let unsound = |why: String| BackupError::Unsound { path: path.to_owned(), why };
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let mut db = options.connect().await.map_err(|error| unsound(error.to_string()))?;
    let verdict: String = sqlx::query_scalar("pragma integrity_check")
        .fetch_one(&mut db)
        .await
        .map_err(|error| unsound(error.to_string()))?;
    if verdict != "ok" {
        // The result is a list of damaged pages, which is of no use here.
        return Err(unsound("it is damaged".into()));
    }
    sqlx::query("select name from schema_migrations")
        .fetch_all(&mut db)
        .await
        .map_err(|_| unsound("it has no Wakeful tables".into()))?;
    db.close().await.map_err(StoreError::from)?;
    Ok(())
}

fn sibling(path: &Path, what: &str) -> PathBuf {
    PathBuf::from(format!("{}.{what}", path.display()))
}

fn file(path: &Path, source: io::Error) -> BackupError {
    BackupError::File { path: path.to_owned(), source }
}
