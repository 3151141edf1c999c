//! The requests that are being received or handled. A client may have as many as
//! connections: HTTP/2 would allow it many more, each with headers and a body in memory.
//! Beyond the limits only reports and health checks are served, and few at a time. Those with
//! a body, which may never arrive, cannot take the places of those without.

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

    /// None if the request must be rejected at once.
    pub(super) fn admit(&self, client: Option<ClientNetwork>, has_body: bool) -> Option<Admission> {
        if let Some(reservation) = one_of(&self.general, client) {
            return Some(Admission { lifetime: None, _reservation: reservation });
        }
        if self.general.is_full() {
            self.connections.evict_stalled();
        }
        let (shares, lifetime) = if has_body {
            (&self.reserved_with_body, self.reserved_lifetime / u32::from(BODY_PART))
        } else {
            (&self.reserved, self.reserved_lifetime)
        };
        let reservation = one_of(shares, client)?;
        Some(Admission { lifetime: Some(lifetime), _reservation: reservation })
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
