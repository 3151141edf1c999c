//! The open connections by client, and who may have another. A client at its share
//! loses its own longest-idle connection; when all slots are taken, the longest-idle
//! of all is closed. When none can be closed, the new connection gets a reserved
//! slot, which serves reports and health checks only.

use ipnet::IpNet;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::client_network::ClientNetwork;

use super::Limits;
use super::activity::{Activity, Evictable};

/// How many connections to close next are found by one pass over all of them.
const EVICTION_BATCH: usize = 256;
/// The least time between two passes, which are too long for every new connection.
const SEARCH_INTERVAL: Duration = Duration::from_millis(20);
/// A client sends its request when it has connected, so little time is enough.
const RESERVED_MIN_IDLE: Duration = Duration::from_millis(50);
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

pub(super) struct Connections {
    limits: Limits,
    trusted_proxies: Vec<IpNet>,
    epoch: Instant,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// All connections; those in reserved slots are in `reserved` as well.
    clients: HashMap<ClientNetwork, Vec<Connection>>,
    reserved: Vec<Connection>,
    total: usize,
    /// To be closed next, the longest-idle last.
    candidates: Vec<(Evictable, Connection)>,
    searched: Option<Instant>,
    warned: Option<Instant>,
}

#[derive(Clone)]
struct Connection {
    client: ClientNetwork,
    reserved: bool,
    activity: Arc<Activity>,
}

/// The place of a connection among the others, until it is dropped.
pub(super) struct Slot {
    connections: Arc<Connections>,
    connection: Connection,
}

impl Slot {
    pub(super) fn activity(&self) -> &Arc<Activity> {
        &self.connection.activity
    }

    pub(super) fn is_reserved(&self) -> bool {
        self.connection.reserved
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connections.table().remove(&self.connection);
    }
}

impl Connections {
    pub(super) fn new(limits: Limits, trusted_proxies: Vec<IpNet>) -> Self {
        Self { limits, trusted_proxies, epoch: Instant::now(), table: Mutex::default() }
    }

    /// A slot for a new connection; none when it is to be closed at once.
    pub(super) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<Slot> {
        let limits = &self.limits;
        let client = ClientNetwork::of(peer);
        let mut table = self.table();
        if !self.is_trusted(peer)
            && table.count(client) >= limits.per_client
            && !table.evict_of(client, limits)
        {
            refused("client_share");
            return None;
        }
        let mut reserved = false;
        if table.general() >= limits.connections {
            table.warn(limits);
            reserved = !table.evict(limits);
        }
        if reserved && table.reserved.len() >= limits.reserved && !table.evict_reserved(limits) {
            refused("all_taken");
            return None;
        }
        let activity = Arc::new(Activity::new(self.epoch));
        let connection = Connection { client, reserved, activity };
        table.add(&connection);
        drop(table);
        Some(Slot { connections: Arc::clone(self), connection })
    }

    /// Closes the connection that has been idle the longest, if one is idle.
    pub(super) fn evict_longest_idle(&self) {
        self.table().evict(&self.limits);
    }

    fn is_trusted(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        self.trusted_proxies.iter().any(|network| network.contains(&peer))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused(reason: &'static str) {
    metrics::counter!("wakeful_connections_refused_total", "reason" => reason).increment(1);
}

impl Table {
    fn count(&self, client: ClientNetwork) -> usize {
        self.clients.get(&client).map_or(0, Vec::len)
    }

    fn general(&self) -> usize {
        self.total - self.reserved.len()
    }

    fn add(&mut self, connection: &Connection) {
        self.total += 1;
        self.clients.entry(connection.client).or_default().push(connection.clone());
        if connection.reserved {
            self.reserved.push(connection.clone());
        }
    }

    /// Does nothing when the connection was evicted before.
    fn remove(&mut self, connection: &Connection) {
        let Some(of_client) = self.clients.get_mut(&connection.client) else { return };
        if !take_out(of_client, connection) {
            return;
        }
        if of_client.is_empty() {
            self.clients.remove(&connection.client);
        }
        self.total -= 1;
        if connection.reserved {
            take_out(&mut self.reserved, connection);
        }
    }

    /// Its task closes it in a moment; its slot is free now.
    fn close(&mut self, connection: &Connection) {
        connection.activity.close();
        self.remove(connection);
    }

    /// Closes a connection of this client.
    fn evict_of(&mut self, client: ClientNetwork, limits: &Limits) -> bool {
        let of_client = self.clients.get(&client).into_iter().flatten();
        let Some(connection) = first_to_close(of_client, limits.min_idle, limits) else {
            return false;
        };
        self.close(&connection);
        true
    }

    /// Closes a connection in a reserved slot, which has less time than others.
    fn evict_reserved(&mut self, limits: &Limits) -> bool {
        let Some(connection) = first_to_close(&self.reserved, RESERVED_MIN_IDLE, limits) else {
            return false;
        };
        self.close(&connection);
        true
    }

    /// Closes a connection of any client in a general slot.
    fn evict(&mut self, limits: &Limits) -> bool {
        loop {
            let Some((rank, connection)) = self.candidates.pop() else {
                if !self.find_candidates(limits) {
                    return false;
                }
                continue;
            };
            // By now another may be idle, which is to be closed first.
            let outdated =
                matches!(rank, Evictable::WithoutProgress { .. }) && !self.searched_recently();
            let activity = &connection.activity;
            let unchanged = activity.evictable(limits.min_idle, limits.min_stall) == Some(rank);
            if unchanged && !outdated && !activity.is_closed() {
                self.close(&connection);
                return true;
            }
        }
    }

    /// One pass is good for many evictions: a connection that becomes idle later is
    /// to be closed later.
    fn find_candidates(&mut self, limits: &Limits) -> bool {
        if self.searched_recently() {
            return false;
        }
        let mut found = Vec::new();
        for connection in self.clients.values().flatten().filter(|other| !other.reserved) {
            let rank = connection.activity.evictable(limits.min_idle, limits.min_stall);
            found.extend(rank.map(|rank| (rank, connection.clone())));
        }
        found.sort_unstable_by_key(|(rank, _)| *rank);
        found.truncate(EVICTION_BATCH);
        found.reverse();
        self.searched = Some(Instant::now());
        self.candidates = found;
        !self.candidates.is_empty()
    }

    fn searched_recently(&self) -> bool {
        self.searched.is_some_and(|at| at.elapsed() < SEARCH_INTERVAL)
    }

    fn warn(&mut self, limits: &Limits) {
        if self.warned.is_some_and(|at| at.elapsed() < WARNING_INTERVAL) {
            return;
        }
        self.warned = Some(Instant::now());
        tracing::warn!(
            clients = self.clients.len(),
            "all {} connections are taken, closing the longest-idle ones to accept others",
            limits.connections
        );
    }
}

fn first_to_close<'a>(
    among: impl IntoIterator<Item = &'a Connection>,
    min_idle: Duration,
    limits: &Limits,
) -> Option<Connection> {
    let ranked = among.into_iter().filter_map(|connection| {
        Some((connection.activity.evictable(min_idle, limits.min_stall)?, connection))
    });
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, connection)| connection.clone())
}

/// False when it is not there.
fn take_out(connections: &mut Vec<Connection>, connection: &Connection) -> bool {
    let is_it = |other: &Connection| Arc::ptr_eq(&other.activity, &connection.activity);
    let place = connections.iter().position(is_it);
    place.map(|place| connections.swap_remove(place)).is_some()
}
