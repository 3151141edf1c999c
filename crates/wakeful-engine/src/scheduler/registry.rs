//! The monitors of a shard by id. An entry contains its id, so the table needs only the
//! entries: a map with ids as keys would take 32 more bytes for each of a million.

use hashbrown::HashTable;
use wakeful_core::id::MonitorId;

use super::entry::Entry;

#[derive(Default)]
pub(super) struct Registry(HashTable<Box<Entry>>);

impl Registry {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, id: MonitorId) -> Option<&Entry> {
        self.0.find(hash(id), |entry| entry.id == id).map(Box::as_ref)
    }

    pub(super) fn get_mut(&mut self, id: MonitorId) -> Option<&mut Entry> {
        self.0.find_mut(hash(id), |entry| entry.id == id).map(Box::as_mut)
    }

    /// Adds a monitor that is not there yet.
    pub(super) fn add(&mut self, entry: Box<Entry>) {
        self.0.insert_unique(hash(entry.id), entry, |entry| hash(entry.id));
    }

    pub(super) fn remove(&mut self, id: MonitorId) {
        if let Ok(found) = self.0.find_entry(hash(id), |entry| entry.id == id) {
            found.remove();
        }
    }

    pub(super) fn retain(&mut self, keep: impl Fn(MonitorId) -> bool) {
        self.0.retain(|entry| keep(entry.id));
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.0.iter_mut().map(Box::as_mut)
    }

    pub(super) fn ids(&self) -> Vec<MonitorId> {
        self.0.iter().map(|entry| entry.id).collect()
    }
}

/// Half of each id is random, and some of these bits selected the shard.
fn hash(id: MonitorId) -> u64 {
    let (_, low) = id.uuid().as_u64_pair();
    low.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
