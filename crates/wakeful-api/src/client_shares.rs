//! What clients can make the server hold: request bodies that are still arriving, requests
//! in progress, and responses that have not been read. There is a limit for all clients
//! and one for each, so that clients that never send or never read cannot exhaust the
//! process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use wakeful_core::client_network::ClientNetwork;

const MAX_BYTES: usize = 256 * 1024 * 1024;
const MAX_BYTES_PER_CLIENT: usize = 32 * 1024 * 1024;

#[derive(Clone)]
pub(crate) struct ClientShares(Arc<Shares>);

struct Shares {
    max: usize,
    max_per_client: usize,
    usage: Mutex<Usage>,
}

#[derive(Default)]
struct Usage {
    total: usize,
    clients: HashMap<ClientNetwork, usize>,
}

/// What one request or response holds, until it is dropped.
pub(crate) struct Reservation {
    shares: ClientShares,
    /// None for a trusted proxy, which speaks for many clients.
    client: Option<ClientNetwork>,
    amount: usize,
}

impl ClientShares {
    pub(crate) fn new(max: usize, max_per_client: usize) -> Self {
        Self(Arc::new(Shares { max, max_per_client, usage: Mutex::default() }))
    }

    /// Shares of the memory that is kept for clients, in bytes.
    pub(crate) fn of_memory() -> Self {
        Self::new(MAX_BYTES, MAX_BYTES_PER_CLIENT)
    }

    /// An empty reservation.
    pub(crate) fn reserve(&self, client: Option<ClientNetwork>) -> Reservation {
        Reservation { shares: self.clone(), client, amount: 0 }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.usage().total >= self.0.max
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.0.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// Reserves more; false if a limit would be exceeded.
    pub(crate) fn grow(&mut self, amount: usize) -> bool {
        let shares = &self.shares.0;
        let mut usage = self.shares.usage();
        if usage.total + amount > shares.max {
            return false;
        }
        if let Some(client) = self.client {
            let of_client = usage.clients.get(&client).copied().unwrap_or(0);
            if of_client + amount > shares.max_per_client {
                return false;
            }
            usage.clients.insert(client, of_client + amount);
        }
        usage.total += amount;
        self.amount += amount;
        true
    }

    pub(crate) fn amount(&self) -> usize {
        self.amount
    }

    /// An empty reservation of the same client.
    pub(crate) fn another(&self) -> Self {
        self.shares.reserve(self.client)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.amount == 0 {
            return;
        }
        let mut usage = self.shares.usage();
        usage.total -= self.amount;
        let Some(client) = self.client else { return };
        let left = usage.clients.get(&client).map_or(0, |of_client| of_client - self.amount);
        if left == 0 {
            usage.clients.remove(&client);
        } else {
            usage.clients.insert(client, left);
        }
    }
}

/// Keeps what a request holds until it has been handled, as an extension of the request.
#[derive(Clone, Default)]
pub(crate) struct HeldReservation(Arc<OnceLock<Reservation>>);

impl HeldReservation {
    pub(crate) fn hold(&self, reservation: Reservation) {
        // A request has one body. Dropping the reservation of another is harmless.
        let _ = self.0.set(reservation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(last: u8) -> Option<ClientNetwork> {
        Some(ClientNetwork::of([10, 0, 0, last].into()))
    }

    #[test]
    fn a_client_has_its_share_and_gives_it_back() {
        let shares = ClientShares::new(100, 10);
        let mut first = shares.reserve(client(1));
        assert!(first.grow(10));
        assert!(!shares.reserve(client(1)).grow(1));
        assert!(shares.reserve(client(2)).grow(1));
        drop(first);
        assert!(shares.reserve(client(1)).grow(10));
        assert!(shares.usage().clients.is_empty() && shares.usage().total == 0);
    }

    #[test]
    fn all_clients_together_have_a_limit_and_a_proxy_has_no_other() {
        let shares = ClientShares::new(100, 10);
        let mut proxy = shares.reserve(None);
        assert!(proxy.grow(90));
        let mut last = shares.reserve(client(1));
        assert!(last.grow(10) && shares.is_full());
        assert!(!shares.reserve(client(2)).grow(1));
        drop(last);
        assert!(shares.reserve(client(2)).grow(1));
    }
}
