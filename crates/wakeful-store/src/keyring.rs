//! The master keys. The first one seals, all of them open; each sealed value
//! names its key, so that keys can be changed while the data stays readable.
//! A sealed value is: one version byte, four bytes of key id, nonce and text.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use wakeful_core::seal::{Key, NONCE};
use wakeful_core::token::Digest;
use zeroize::Zeroizing;

const VERSION: u8 = 1;
const KEY_ID: usize = 4;

pub struct Keyring {
    keys: Vec<(KeyId, Key)>,
}

pub(crate) type KeyId = [u8; KEY_ID];

#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    #[error("cannot use the master key file {path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("the master key file {0} can be read by others: run chmod 600 on it")]
    Open(PathBuf),
    #[error("the master key in {0} is not one: each line must be 32 bytes as base64")]
    Malformed(String),
}

impl Keyring {
    /// Keys given by the operator; at least one.
    pub fn given(keys: &[Key]) -> Option<Self> {
        (!keys.is_empty()).then(|| Self::of(keys.to_vec()))
    }

    /// The keys in the text of a key file, one a line.
    fn parse(text: &str, from: &str) -> Result<Self, KeyringError> {
        let malformed = || KeyringError::Malformed(from.to_owned());
        let keys = text
            .lines()
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(|part| {
                let bytes = Zeroizing::new(
                    data_encoding::BASE64.decode(part.as_bytes()).map_err(|_| malformed())?,
                );
                Ok(Key::new(bytes.as_slice().try_into().map_err(|_| malformed())?))
            })
            .collect::<Result<Vec<Key>, KeyringError>>()?;
        if keys.is_empty() {
            return Err(malformed());
        }
        Ok(Self::of(keys))
    }

    /// The keys in a file, which is made with a fresh key when there is none.
    pub fn load_or_create(path: &Path) -> Result<Self, KeyringError> {
        match fs::read_to_string(path) {
            Ok(text) => {
                let text = Zeroizing::new(text);
                let mode = fs::metadata(path).map_err(|source| file(path, source))?;
                if mode.permissions().mode() & 0o077 != 0 {
                    return Err(KeyringError::Open(path.to_owned()));
                }
                Self::parse(&text, &path.display().to_string())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let ring = Self::of(vec![fresh_key()]);
                ring.create(path)?;
                // Another process may have been first: what is in the file counts.
                Self::load_or_create(path)
            }
            Err(source) => Err(file(path, source)),
        }
    }

    /// A keyring with a fresh first key in front of these.
    #[must_use]
    pub fn rotated(&self) -> Self {
        let mut keys = vec![fresh_key()];
        keys.extend(self.keys.iter().map(|(_, key)| key.clone()));
        Self::of(keys)
    }

    /// A keyring of the first key alone.
    #[must_use]
    pub fn pruned(&self) -> Self {
        Self::of(vec![self.keys[0].1.clone()])
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Puts these keys in place of those in the file, whole or not at all.
    pub fn replace(&self, path: &Path) -> Result<(), KeyringError> {
        let beside = path.with_extension("new");
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(file(&beside, error));
            }
            _ => {}
        }
        self.write_new(&beside)?;
        fs::rename(&beside, path).map_err(|source| file(path, source))?;
        sync_folder(path)
    }

    /// Makes the file, unless somebody else just did. A link from a finished
    /// file is all or nothing, so nobody ever reads half a key.
    fn create(&self, path: &Path) -> Result<(), KeyringError> {
        let beside = path.with_extension(format!("{}", std::process::id()));
        self.write_new(&beside)?;
        let linked = fs::hard_link(&beside, path);
        fs::remove_file(&beside).map_err(|source| file(&beside, source))?;
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(file(path, error)),
            _ => sync_folder(path),
        }
    }

    fn write_new(&self, path: &Path) -> Result<(), KeyringError> {
        let lines: Vec<String> =
            self.keys.iter().map(|(_, key)| data_encoding::BASE64.encode(key.bytes())).collect();
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
        Self { keys: keys.into_iter().map(|key| (key_id(&key), key)).collect() }
    }

    /// The id of the key that seals, as it stands in sealed values.
    pub(crate) fn sealing(&self) -> KeyId {
        self.keys[0].0
    }

    pub(crate) fn seal(&self, context: &str, plain: &[u8]) -> Vec<u8> {
        let (id, key) = &self.keys[0];
        let mut nonce = [0; NONCE];
        fill(&mut nonce);
        let mut sealed = vec![VERSION];
        sealed.extend_from_slice(id);
        sealed.extend(key.seal(nonce, context, plain));
        sealed
    }

    /// The plain bytes, or nothing when no key of this ring opens them.
    pub(crate) fn open(&self, context: &str, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (&[VERSION], rest) = sealed.split_first_chunk::<1>()? else { return None };
        let (id, body) = rest.split_first_chunk::<KEY_ID>()?;
        self.keys
            .iter()
            .filter(|(known, _)| known == id)
            .find_map(|(_, key)| key.open(context, body))
    }
}

fn fresh_key() -> Key {
    let mut bytes = Zeroizing::new([0; 32]);
    fill(bytes.as_mut());
    Key::new(*bytes)
}

/// A name for a key that says nothing of it.
fn key_id(key: &Key) -> KeyId {
    let named =
        Zeroizing::new(format!("wakeful key id {}", data_encoding::BASE64.encode(key.bytes())));
    let Digest(digest) = Digest::of(&named);
    [digest[0], digest[1], digest[2], digest[3]]
}

fn fill(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the operating system gives random bytes");
}

fn file(path: &Path, source: io::Error) -> KeyringError {
    KeyringError::File { path: path.to_owned(), source }
}

fn sync_folder(path: &Path) -> Result<(), KeyringError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(|source| file(path, source))
}
