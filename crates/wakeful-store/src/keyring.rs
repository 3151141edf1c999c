//! The master keys. The first one seals, all of them open; each sealed value
//! names its key, so that keys can be rotated while the data stays readable. A
//! keyring loaded from a file follows the file: a key that another process adds
//! is used as soon as it is there.
//! A sealed value is one version byte, four bytes of key id, nonce and ciphertext.

use data_encoding::BASE64;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::seal::{Key, NONCE_LENGTH};
use wakeful_core::token::Digest;
use zeroize::Zeroizing;

const VERSION: u8 = 1;
const KEY_ID: usize = 4;

pub struct Keyring {
    ring: RwLock<Ring>,
    /// The file these keys were loaded from.
    file: Option<PathBuf>,
}

struct Ring {
    keys: Vec<(KeyId, Key)>,
    /// The version of the file they were loaded from.
    stamp: Option<Stamp>,
}

/// Identifies a version of a file by inode and modification time.
type Stamp = (u64, i64, i64);

pub(crate) type KeyId = [u8; KEY_ID];

#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    #[error("cannot use the key file {path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("the key file {0} can be read by others: run chmod 600 on it")]
    Open(PathBuf),
    #[error("{0} is not a valid key file: each line must be 32 bytes as base64")]
    Malformed(String),
}

impl Keyring {
    /// Keys given by the operator; at least one.
    pub fn from_keys(keys: &[Key]) -> Option<Self> {
        (!keys.is_empty()).then(|| Self::of(keys.to_vec()))
    }

    /// The keys in the text of a key file, one per line.
    fn parse(text: &str, from: &str) -> Result<Vec<Key>, KeyringError> {
        let malformed = || KeyringError::Malformed(from.to_owned());
        let keys = text
            .lines()
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(|part| {
                let bytes =
                    Zeroizing::new(BASE64.decode(part.as_bytes()).map_err(|_| malformed())?);
                Ok(Key::new(bytes.as_slice().try_into().map_err(|_| malformed())?))
            })
            .collect::<Result<Vec<Key>, KeyringError>>()?;
        if keys.is_empty() {
            return Err(malformed());
        }
        Ok(keys)
    }

    /// The keys in a file, which is created with a new key if it does not exist.
    pub fn load_or_create(path: &Path) -> Result<Self, KeyringError> {
        match Ring::load(path) {
            Err(KeyringError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Self::of(vec![Self::generate_key()]).create(path)?;
            }
            loaded => return Ok(Self { ring: RwLock::new(loaded?), file: Some(path.to_owned()) }),
        }
        // Another process may have created the file first: its content counts.
        let ring = RwLock::new(Ring::load(path)?);
        Ok(Self { ring, file: Some(path.to_owned()) })
    }

    /// A new key from the system's random number generator.
    pub fn generate_key() -> Key {
        let mut bytes = Zeroizing::new([0; 32]);
        fill(bytes.as_mut());
        Key::new(*bytes)
    }

    /// The keys in a file that only its owner may read.
    pub fn read_keys(path: &Path) -> Result<Vec<Key>, KeyringError> {
        Ok(Ring::load(path)?.keys.into_iter().map(|(_, key)| key).collect())
    }

    /// A keyring with a new key in front of these.
    #[must_use]
    pub fn rotated(&self) -> Self {
        let mut keys = vec![Self::generate_key()];
        keys.extend(self.read().keys.iter().map(|(_, key)| key.clone()));
        Self::of(keys)
    }

    /// The key that new values are sealed and signed with.
    pub(crate) fn first_key(&self) -> Key {
        self.read().keys[0].1.clone()
    }

    /// All keys, the first one first.
    pub(crate) fn all_keys(&self) -> Vec<Key> {
        self.read().keys.iter().map(|(_, key)| key.clone()).collect()
    }

    /// A keyring with only the first key.
    #[must_use]
    pub fn pruned(&self) -> Self {
        Self::of(vec![self.read().keys[0].1.clone()])
    }

    /// Whether there are keys besides the one that seals.
    pub fn has_old_keys(&self) -> bool {
        self.read().keys.len() > 1
    }

    /// Atomically replaces the keys in the file with these.
    pub fn replace(&self, path: &Path) -> Result<(), KeyringError> {
        let sibling = path.with_extension("new");
        self.write_new(&sibling)?;
        fs::rename(&sibling, path).map_err(|source| file(path, source))?;
        sync_folder(path)
    }

    /// Creates the file, unless another process just did. Linking a finished
    /// file is atomic, so no process can read an incomplete key.
    fn create(&self, path: &Path) -> Result<(), KeyringError> {
        let sibling = path.with_extension(format!("{}", std::process::id()));
        self.write_new(&sibling)?;
        let linked = fs::hard_link(&sibling, path);
        fs::remove_file(&sibling).map_err(|source| file(&sibling, source))?;
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(file(path, error)),
            _ => sync_folder(path),
        }
    }

    /// Writes the keys to a new file. A process killed at this point may have
    /// left one behind, and in a container the next process has the same pid.
    fn write_new(&self, path: &Path) -> Result<(), KeyringError> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(file(path, error));
            }
            _ => {}
        }
        let lines: Vec<String> =
            self.read().keys.iter().map(|(_, key)| BASE64.encode(key.bytes())).collect();
        let text = Zeroizing::new(lines.join("\n") + "\n");
        fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .and_then(|mut out| out.write_all(text.as_bytes()).and_then(|()| out.sync_all()))
            .map_err(|source| file(path, source))
    }

    fn of(keys: Vec<Key>) -> Self {
        Self { ring: RwLock::new(Ring::of(keys, None)), file: None }
    }

    fn read(&self) -> RwLockReadGuard<'_, Ring> {
        self.ring.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads the file again if it has changed. If that fails, the loaded keys
    /// stay in use.
    fn reload_if_changed(&self) {
        let Some(path) = &self.file else { return };
        if stamp(path).is_none_or(|now| self.read().stamp == Some(now)) {
            return;
        }
        match Ring::load(path) {
            Ok(ring) => *self.ring.write().unwrap_or_else(PoisonError::into_inner) = ring,
            Err(error) => {
                tracing::warn!(error = %ErrorChain(&error), "reloading the changed master key file failed, keeping the loaded keys");
            }
        }
    }

    /// The id of the key that seals, as found in sealed values.
    pub(crate) fn sealing_key_id(&self) -> KeyId {
        self.read().keys[0].0
    }

    pub(crate) fn seal(&self, context: &str, plain: &[u8]) -> Vec<u8> {
        self.reload_if_changed();
        let ring = self.read();
        let (id, key) = &ring.keys[0];
        let mut nonce = [0; NONCE_LENGTH];
        fill(&mut nonce);
        let mut sealed = vec![VERSION];
        sealed.extend_from_slice(id);
        sealed.extend(key.seal(nonce, context, plain));
        sealed
    }

    /// The plain bytes, or `None` when no key of this ring opens them.
    pub(crate) fn open(&self, context: &str, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (&[VERSION], rest) = sealed.split_first_chunk::<1>()? else { return None };
        let (id, body) = rest.split_first_chunk::<KEY_ID>()?;
        if !self.read().contains_key(*id) {
            self.reload_if_changed();
        }
        self.read().open(*id, context, body)
    }
}

impl Ring {
    fn of(keys: Vec<Key>, stamp: Option<Stamp>) -> Self {
        Self { keys: keys.into_iter().map(|key| (key_id(&key), key)).collect(), stamp }
    }

    fn load(path: &Path) -> Result<Self, KeyringError> {
        // The stamp first, so that a later change is detected.
        let stamp = stamp(path);
        let text = fs::read_to_string(path).map_err(|source| file(path, source))?;
        let text = Zeroizing::new(text);
        let mode = fs::metadata(path).map_err(|source| file(path, source))?;
        if mode.permissions().mode() & 0o077 != 0 {
            return Err(KeyringError::Open(path.to_owned()));
        }
        Ok(Self::of(Keyring::parse(&text, &path.display().to_string())?, stamp))
    }

    fn contains_key(&self, id: KeyId) -> bool {
        self.keys.iter().any(|(known, _)| *known == id)
    }

    fn open(&self, id: KeyId, context: &str, body: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let keys = self.keys.iter().filter(|(known, _)| *known == id);
        keys.map(|(_, key)| key).find_map(|key| key.open(context, body))
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let file = fs::metadata(path).ok()?;
    Some((file.ino(), file.mtime(), file.mtime_nsec()))
}

/// An id for a key that does not reveal it.
fn key_id(key: &Key) -> KeyId {
    let named = Zeroizing::new(format!("wakeful key id {}", BASE64.encode(key.bytes())));
    let Digest(digest) = Digest::of(&named);
    [digest[0], digest[1], digest[2], digest[3]]
}

pub(crate) fn fill(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the operating system provides random bytes");
}

fn file(path: &Path, source: io::Error) -> KeyringError {
    KeyringError::File { path: path.to_owned(), source }
}

fn sync_folder(path: &Path) -> Result<(), KeyringError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(|source| file(path, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_left_by_a_killed_process_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("master.key");
        for left in [std::process::id().to_string(), "new".to_owned()] {
            fs::write(path.with_extension(left), "half a k").expect("written");
        }
        let created = Keyring::load_or_create(&path).expect("created in spite of it");
        created.rotated().replace(&path).expect("replaced in spite of it");
        assert!(Keyring::load_or_create(&path).expect("read").has_old_keys());
    }

    #[test]
    fn a_keyring_follows_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("master.key");
        let ring = Keyring::load_or_create(&path).expect("created");
        let old = ring.seal("here", b"old");
        let other = Keyring::load_or_create(&path).expect("read").rotated();
        other.replace(&path).expect("replaced");
        // A value that another process sealed with the new key opens, and from now
        // on the new key seals here too; older values still open.
        let new = other.seal("here", b"new");
        assert_eq!(ring.open("here", &new).expect("opens").as_slice(), b"new");
        assert_eq!(ring.sealing_key_id(), other.sealing_key_id());
        assert_eq!(ring.open("here", &old).expect("opens").as_slice(), b"old");
    }
}
