//! What clients can make the server hold: request bodies that are still arriving, requests
//! in progress, and responses that have not been read. There is a limit for all clients,
//! one for each site and one for each client, so that clients that never send or never read
//! cannot exhaust the process, however many addresses one of them has.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use wakeful_core::client_network::ClientNetwork;

const MAX_BYTES: usize = 256 * 1024 * 1024;
const MAX_BYTES_PER_CLIENT: usize = 32 * 1024 * 1024;

/// The clients of one site share this part of everything.
const SITE_PART: usize = 4;

#[derive(Clone)]
pub(crate) struct ClientShares(Arc<Shares>);

struct Shares {
    max: usize,
    max_per_site: usize,
    max_per_client: usize,
    usage: Mutex<Usage>,
}

#[derive(Default)]
struct Usage {
    total: usize,
    /// By client, and by site.
    networks: HashMap<ClientNetwork, usize>,
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
        let max_per_site = max_per_site(max, max_per_client);
        Self(Arc::new(Shares { max, max_per_site, max_per_client, usage: Mutex::default() }))
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
        self.grow_within(amount, self.shares.0.max)
    }

    /// Reserves more although everything may be taken, for one that others make room for.
    pub(crate) fn grow_beyond_total(&mut self, amount: usize) -> bool {
        self.grow_within(amount, usize::MAX)
    }

    fn grow_within(&mut self, amount: usize, max_total: usize) -> bool {
        // An entry of a client that holds nothing would never be removed.
        if amount == 0 {
            return true;
        }
        let shares = &self.shares.0;
        let mut usage = self.shares.usage();
        if usage.total.saturating_add(amount) > max_total {
            return false;
        }
        if let Some(client) = self.client {
            let limits = [(client, shares.max_per_client), (client.site(), shares.max_per_site)];
            if limits.iter().any(|(network, max)| usage.of(*network) + amount > *max) {
                return false;
            }
            for (network, _) in limits {
                *usage.networks.entry(network).or_default() += amount;
            }
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
        for network in [client, client.site()] {
            usage.release(network, self.amount);
        }
    }
}

impl Usage {
    fn of(&self, network: ClientNetwork) -> usize {
        self.networks.get(&network).copied().unwrap_or(0)
    }

    fn release(&mut self, network: ClientNetwork, amount: usize) {
        let left = self.of(network) - amount;
        if left == 0 {
            self.networks.remove(&network);
        } else {
            self.networks.insert(network, left);
        }
    }
}

/// The limit of a site, given those of all clients and of one.
pub(crate) fn max_per_site(max: usize, max_per_client: usize) -> usize {
    (max / SITE_PART).max(max_per_client)
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
        // Most requests have a body so short that it does not count.
        assert!(shares.reserve(client(3)).grow(0));
        assert!(shares.usage().networks.is_empty() && shares.usage().total == 0);
    }

    #[test]
    fn the_clients_of_a_site_share_a_quarter() {
        let shares = ClientShares::new(100, 10);
        let mut site: Vec<_> = (1..=3).map(|last| shares.reserve(client(last))).collect();
        assert!(site[0].grow(10) && site[1].grow(10) && !site[2].grow(10) && site[2].grow(5));
        assert!(!shares.reserve(client(4)).grow(1));
        assert!(shares.reserve(Some(ClientNetwork::of([10, 0, 1, 4].into()))).grow(10));
        drop(site);
        assert!(shares.usage().networks.is_empty());
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
