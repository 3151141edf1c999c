//! The hashes that connect the entries of a chain.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use std::fmt;

use super::entry::Entry;

/// Precedes what is hashed, so that no other hash of this program can equal one of an entry.
const DOMAIN: &str = "wakeful-audit-1";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash before the first entry.
    pub const ZERO: Self = Self([0; 32]);
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

/// The hash of an entry, given the hash of the previous one.
pub fn entry_hash(previous: &Hash, entry: &Entry) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(DOMAIN);
    hasher.update(previous.0);
    hasher.update(entry.canonical());
    Hash(hasher.finalize().into())
}

/// The hash that stands for the personal part of an entry.
pub fn person_hash(salt: &[u8; 16], canonical: &str) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(salt);
    hasher.update(canonical);
    Hash(hasher.finalize().into())
}

/// The first entry that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    pub seq: i64,
}

/// Verifies a chain, entry by entry.
#[derive(Clone, Debug)]
pub struct Verifier {
    next: i64,
    previous: Hash,
}

impl Verifier {
    /// Begins with the entry `first`; `previous` is the hash before it.
    pub fn new(first: i64, previous: Hash) -> Self {
        Self { next: first, previous }
    }

    pub fn check(&mut self, entry: &Entry, stored: &Hash) -> Result<(), Broken> {
        let broken = Broken { seq: self.next };
        let person_fits = entry
            .person
            .as_ref()
            .is_none_or(|(text, salt)| person_hash(salt, text) == entry.person_hash);
        let hash = entry_hash(&self.previous, entry);
        if entry.seq != self.next || !person_fits || hash != *stored {
            return Err(broken);
        }
        self.next += 1;
        self.previous = hash;
        Ok(())
    }

    /// Whether the chain ends where its head says.
    pub fn finish(&self, seq: i64, head: &Hash) -> Result<(), Broken> {
        if self.next == seq + 1 && self.previous == *head {
            Ok(())
        } else {
            Err(Broken { seq: self.next })
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::audit::{Change, Person, Reference};
    use crate::time::Millis;
    use serde_json::json;

    pub(in crate::audit) fn entry(seq: i64) -> Entry {
        let person = Person {
            actor: "ann@example.com".into(),
            address: "192.0.2.7".into(),
            agent: "curl/8".into(),
            object: None,
            changes: Vec::new(),
        };
        let (text, salt) = (person.canonical(), [7; 16]);
        Entry {
            seq,
            at: Millis(1_800_000_000_000),
            action: "monitor.update".into(),
            actor_kind: "person".into(),
            actor_id: "01a1de8a-c9c0-73e7-a0e2-002247190c98".into(),
            via: Reference { kind: "session".into(), id: "1".into() },
            object_kind: "monitor".into(),
            object_id: "2".into(),
            object_name: "shop".into(),
            request: "abc".into(),
            changes: vec![Change::new("name", Some(json!("old")), Some(json!("shop")))],
            person_hash: person_hash(&salt, &text),
            person: Some((text, salt)),
        }
    }

    fn chain() -> Vec<(Entry, Hash)> {
        let mut previous = Hash::ZERO;
        (1..=4)
            .map(|seq| {
                let entry = entry(seq);
                previous = entry_hash(&previous, &entry);
                (entry, previous)
            })
            .collect()
    }

    fn verify(chain: &[(Entry, Hash)], head: &(Entry, Hash)) -> Result<(), Broken> {
        let mut verifier = Verifier::new(1, Hash::ZERO);
        for (entry, hash) in chain {
            verifier.check(entry, hash)?;
        }
        verifier.finish(head.0.seq, &head.1)
    }

    #[test]
    fn a_hash_is_that_of_the_documented_bytes() {
        assert_eq!(
            entry(1).canonical(),
            r#"{"action":"monitor.update","actor":{"id":"01a1de8a-c9c0-73e7-a0e2-002247190c98","kind":"person"},"at":"2027-01-15T08:00:00.000Z","changes":[{"field":"name","from":"old","to":"shop"}],"object":{"id":"2","kind":"monitor","name":"shop"},"person_hash":"PERSON","request":"abc","seq":1,"via":{"id":"1","kind":"session"}}"#
                .replace("PERSON", &entry(1).person_hash.to_string())
        );
        let canonical = entry(1).canonical();
        let bytes = [b"wakeful-audit-1".as_slice(), &[0; 32], canonical.as_bytes()];
        let expected: [u8; 32] = Sha256::digest(bytes.concat()).into();
        assert_eq!(entry_hash(&Hash::ZERO, &entry(1)), Hash(expected));
    }

    #[test]
    fn changed_missing_swapped_and_truncated_entries_are_detected() {
        let chain = chain();
        let head = chain.last().unwrap().clone();
        assert_eq!(verify(&chain, &head), Ok(()));
        let mut changed = chain.clone();
        changed[1].0.object_name = "other".into();
        assert_eq!(verify(&changed, &head), Err(Broken { seq: 2 }));
        let mut forged = chain.clone();
        forged[1].0.person.as_mut().unwrap().0 = entry(1).person.unwrap().0.replace("ann", "bob");
        assert_eq!(verify(&forged, &head), Err(Broken { seq: 2 }));
        let mut missing = chain.clone();
        missing.remove(2);
        assert_eq!(verify(&missing, &head), Err(Broken { seq: 3 }));
        let mut swapped = chain.clone();
        swapped.swap(0, 1);
        assert_eq!(verify(&swapped, &head), Err(Broken { seq: 1 }));
        assert_eq!(verify(&chain[..3], &head), Err(Broken { seq: 4 }));
    }

    #[test]
    fn erasing_the_personal_part_leaves_the_chain_intact() {
        let mut chain = chain();
        let head = chain.last().unwrap().clone();
        for (entry, _) in &mut chain {
            entry.person = None;
        }
        assert_eq!(verify(&chain, &head), Ok(()));
    }
}
