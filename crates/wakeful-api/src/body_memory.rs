//! The memory that request bodies take while they arrive: at most so much for all
//! clients and so much for one, so that many bodies that are never finished cannot
//! fill the memory of the process.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wakeful_core::client_network::ClientNetwork;

const MAX_BYTES: usize = 256 * 1024 * 1024;
const MAX_BYTES_PER_CLIENT: usize = 32 * 1024 * 1024;

#[derive(Default)]
pub(crate) struct BodyMemory(Mutex<Usage>);

#[derive(Default)]
struct Usage {
    total: usize,
    clients: HashMap<ClientNetwork, usize>,
}

/// What one body takes, until it is dropped.
pub(crate) struct Reservation<'a> {
    memory: &'a BodyMemory,
    client: ClientNetwork,
    bytes: usize,
}

impl BodyMemory {
    pub(crate) fn reserve(&self, client: IpAddr) -> Reservation<'_> {
        Reservation { memory: self, client: ClientNetwork::of(client), bytes: 0 }
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation<'_> {
    /// Takes more; false when there is not as much for this client.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let mut usage = self.memory.usage();
        let of_client = usage.clients.get(&self.client).copied().unwrap_or(0);
        if of_client + bytes > MAX_BYTES_PER_CLIENT || usage.total + bytes > MAX_BYTES {
            return false;
        }
        usage.total += bytes;
        usage.clients.insert(self.client, of_client + bytes);
        self.bytes += bytes;
        true
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut usage = self.memory.usage();
        usage.total -= self.bytes;
        let left = usage.clients.get(&self.client).map_or(0, |of_client| of_client - self.bytes);
        if left == 0 {
            usage.clients.remove(&self.client);
        } else {
            usage.clients.insert(self.client, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_its_share_and_gives_it_back() {
        let memory = BodyMemory::default();
        let client = |last: u8| IpAddr::from([10, 0, 0, last]);
        let mut first = memory.reserve(client(1));
        assert!(first.grow(MAX_BYTES_PER_CLIENT));
        assert!(!memory.reserve(client(1)).grow(1));
        assert!(memory.reserve(client(2)).grow(1));
        drop(first);
        assert!(memory.reserve(client(1)).grow(MAX_BYTES_PER_CLIENT));
        assert!(memory.usage().clients.is_empty() && memory.usage().total == 0);
    }

    #[test]
    fn all_clients_together_have_a_limit_too() {
        let memory = BodyMemory::default();
        let clients = u8::try_from(MAX_BYTES / MAX_BYTES_PER_CLIENT).expect("a few");
        let held: Vec<_> = (0..clients)
            .map(|last| {
                let mut reserved = memory.reserve([10, 0, 0, last].into());
                assert!(reserved.grow(MAX_BYTES_PER_CLIENT));
                reserved
            })
            .collect();
        assert!(!memory.reserve([10, 0, 1, 1].into()).grow(1));
        drop(held);
        assert!(memory.reserve([10, 0, 1, 1].into()).grow(1));
    }
}
