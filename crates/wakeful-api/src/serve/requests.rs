//! The requests that are being received or handled. A client may have as many as
//! connections: HTTP/2 would allow it many more, each with headers and a body in memory.
//! When all places are taken, the sites with the most requests whose bodies have not arrived
//! make room for others. Beyond the limits only reports and health checks are served,
//! and few at a time. Those with a body, which may never arrive, cannot take the places of
//! those without.

use axum::http::HeaderMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use wakeful_core::client_network::ClientNetwork;

use super::Limits;
use super::connections::Connections;
use crate::client_shares::{ClientShares, Reservation};

/// A reserved request with a body has this part of the time and of the places of a client.
const BODY_PART: u8 = 4;

#[derive(Clone)]
pub(super) struct Requests {
    connections: Arc<Connections>,
    general: ClientShares,
    reserved: ClientShares,
    reserved_with_body: ClientShares,
    reserved_lifetime: Duration,
}

/// Which of the reserved places a request may take.
#[derive(Clone, Copy)]
pub(super) enum Reservable {
    /// It is neither a report nor a health check.
    No,
    WithoutBody,
    WithBody,
}

/// A request in progress, until it is dropped.
pub(super) struct Admission {
    /// How long a reserved request may take.
    pub(super) lifetime: Option<Duration>,
    _reservation: Reservation,
}

impl Requests {
    pub(super) fn new(limits: &Limits, connections: Arc<Connections>) -> Self {
        Self {
            connections,
            general: ClientShares::new(limits.connections, limits.per_client),
            reserved: ClientShares::new(limits.reserved, limits.reserved_per_client),
            reserved_with_body: ClientShares::new(
                limits.reserved,
                (limits.reserved_per_client / usize::from(BODY_PART)).max(1),
            ),
            reserved_lifetime: limits.reserved_lifetime,
        }
    }

    /// Whether half of the connections are taken.
    pub(super) fn is_half_full(&self) -> bool {
        self.connections.is_half_full()
    }

    /// None if the request must be rejected at once.
    pub(super) fn admit(
        &self,
        client: Option<ClientNetwork>,
        reservable: Reservable,
    ) -> Option<Admission> {
        if let Some(reservation) = one_of(&self.general, client) {
            return Some(Admission { lifetime: None, _reservation: reservation });
        }
        if self.general.is_full() {
            self.connections.evict_stalled();
            if let Some(reservation) = self.make_room(client) {
                return Some(Admission { lifetime: None, _reservation: reservation });
            }
        }
        let (shares, lifetime) = match reservable {
            Reservable::No => return None,
            Reservable::WithoutBody => (&self.reserved, self.reserved_lifetime),
            Reservable::WithBody => {
                (&self.reserved_with_body, self.reserved_lifetime / u32::from(BODY_PART))
            }
        };
        let reservation = one_of(shares, client)?;
        Some(Admission { lifetime: Some(lifetime), _reservation: reservation })
    }

    /// A place for a request beyond the total, if a crowded site loses a connection for it. The
    /// requests of that one end in a moment, so the total is exceeded only for as long: if the
    /// place had to become free first, those that take all places would take it as well.
    fn make_room(&self, client: Option<ClientNetwork>) -> Option<Reservation> {
        let mut reservation = self.general.reserve(client);
        let admitted = reservation.grow_beyond_total(1) && self.connections.make_room_for(client);
        admitted.then_some(reservation)
    }

    /// Makes room when clients have too many responses that they do not read.
    pub(super) fn evict_stalled(&self) {
        self.connections.evict_stalled();
    }

    /// The client that a limit for each client applies to; none for a trusted proxy that
    /// does not name its client.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Option<ClientNetwork> {
        self.connections.client_to_limit(peer, headers)
    }
}

fn one_of(shares: &ClientShares, client: Option<ClientNetwork>) -> Option<Reservation> {
    let mut reservation = shares.reserve(client);
    reservation.grow(1).then_some(reservation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::activity::{Arrival, Exchange, Work};
    use crate::serve::connections::Slot;

    const STREAMS: usize = 32;

    /// A connection with as many requests as it may have, whose bodies do not arrive.
    struct Held {
        slot: Slot,
        admissions: Vec<Admission>,
        arrivals: Vec<(Arrival, Work, Exchange)>,
    }

    fn client(site: u8, host: u8) -> IpAddr {
        [10, 0, site, host].into()
    }

    impl Held {
        fn open(requests: &Requests, from: IpAddr) -> Option<Self> {
            let slot = requests.connections.admit(from)?;
            let mut held = Self { slot, admissions: Vec::new(), arrivals: Vec::new() };
            held.fill(requests, from);
            Some(held)
        }

        /// Begins another request for each that was refused.
        fn fill(&mut self, requests: &Requests, from: IpAddr) {
            let activity = self.slot.activity();
            for _ in self.admissions.len()..STREAMS {
                let admission = requests.admit(Some(ClientNetwork::of(from)), Reservable::No);
                let Some(admission) = admission.filter(|admitted| admitted.lifetime.is_none())
                else {
                    return;
                };
                let exchange = Exchange::begin(Arc::clone(activity));
                let work = Work::begin(Arc::clone(activity));
                let mut arrival = Arrival::new(Arc::clone(activity));
                arrival.set_waiting(true);
                self.arrivals.push((arrival, work, exchange));
                self.admissions.push(admission);
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_sites_that_take_all_places_make_room_for_the_caller_and_do_not_take_it_back() {
        let limits = Limits::default();
        let connections = Arc::new(Connections::new(limits.clone(), Vec::new()));
        let requests = Requests::new(&limits, connections);
        let from = |at: usize| client((at % 4) as u8, (1 + at / 4 % 8) as u8);
        let mut held: Vec<(IpAddr, Held)> =
            (0..160).filter_map(|at| Some((from(at), Held::open(&requests, from(at))?))).collect();
        assert!(requests.general.is_full());
        let mut victims = Vec::new();
        for host in 1..=100 {
            // They are far from stalled.
            tokio::time::advance(Duration::from_millis(25)).await;
            let victim = Some(ClientNetwork::of(client(100, host)));
            let admission = requests.admit(victim, Reservable::No).expect("it is admitted");
            assert!(admission.lifetime.is_none(), "a general place, {host}");
            victims.push(admission);
            // The attackers open as many connections and streams as they can.
            for (from, held) in &mut held {
                if held.slot.activity().is_closed()
                    && let Some(again) = Held::open(&requests, *from)
                {
                    *held = again;
                }
                held.fill(&requests, *from);
            }
        }
        assert!(requests.general.is_full());
        let attacker = Some(ClientNetwork::of(client(0, 200)));
        let attacker = requests.admit(attacker, Reservable::WithBody);
        assert!(attacker.is_none_or(|admission| admission.lifetime.is_some()));
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_are_being_handled_make_room_for_none() {
        let limits = Limits::default();
        let connections = Arc::new(Connections::new(limits.clone(), Vec::new()));
        let requests = Requests::new(&limits, connections);
        let mut held: Vec<Held> = (0..128)
            .filter_map(|at: u8| Held::open(&requests, client(at % 4, 1 + at / 4 % 8)))
            .collect();
        held.iter_mut().flat_map(|held| &mut held.arrivals).for_each(|(arrival, ..)| {
            arrival.set_waiting(false);
        });
        assert!(requests.general.is_full());
        let victim = Some(ClientNetwork::of(client(100, 1)));
        // The reserved places are for reports and health checks only.
        assert!(requests.admit(victim, Reservable::No).is_none());
        for reservable in [Reservable::WithoutBody, Reservable::WithBody] {
            let admitted = requests.admit(victim, reservable);
            assert!(admitted.is_some_and(|admitted| admitted.lifetime.is_some()));
        }
        assert!(!held.iter().any(|held| held.slot.activity().is_closed()));
    }
}
