//! A lock that allows one server at a time on a SQLite file. The operating system
//! releases it when the process ends, for whatever reason.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another wakeful is running on {0}: stop it first")]
    Held(PathBuf),
    #[error("cannot lock {path}: {source}")]
    File { path: PathBuf, source: std::io::Error },
}

/// Locks the database at `path` until dropped.
pub struct Lock {
    file: File,
}

impl Lock {
    /// The device and inode of the locked file.
    pub fn identity(&self) -> std::io::Result<(u64, u64)> {
        let known = self.file.metadata()?;
        Ok((known.dev(), known.ino()))
    }
}

pub fn take(path: &Path) -> Result<Lock, LockError> {
    let lock = PathBuf::from(format!("{}.lock", path.display()));
    let failed = |source| LockError::File { path: lock.clone(), source };
    let opened =
        OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&lock);
    let file = opened.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Lock { file }),
        Err(TryLockError::WouldBlock) => Err(LockError::Held(path.to_owned())),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}
