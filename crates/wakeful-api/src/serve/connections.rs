//! The open connections by site, and the admission of new ones. A client at its limit
//! loses its own longest-idle connection, a site one of its clients; when all slots are
//! taken, the longest-idle connection of any client is closed, or else one of the sites that
//! have the most, if the site of the newcomer has far fewer. If none can be closed, the new
//! connection gets a reserved slot, which serves reports and health checks only.

use axum::http::HeaderMap;
use ipnet::IpNet;
use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::client_network::ClientNetwork;

use super::Limits;
use super::activity::{Activity, Evictable};
use crate::client_ip;
use crate::client_shares::max_per_site;

/// How many candidates for eviction one pass over all connections collects.
const EVICTION_BATCH: usize = 256;
/// How many connections without progress are closed at once when there are too many
/// requests.
const STALLED_BATCH: usize = 32;
/// A site makes room for another if it would still have this many times as many. However its
/// clients keep their connections from becoming idle, they cannot keep others out.
const CROWD_FACTOR: usize = 2;
/// How many sites are tried for one newcomer.
const MAX_CROWD_SITES: usize = 64;
/// The site of a newcomer is large compared to another with this many times as many. A browser
/// opens six connections at once.
const LARGE_FACTOR: usize = 8;
/// How long a connection must have been idle to be closed in favor of a large site, so that
/// one that opens connections all the time does not cost others theirs.
const MIN_IDLE_FOR_LARGE_SITE: Duration = Duration::from_secs(5);
/// A site is crowded in the reserved slots if it has more than this part of them, and this
/// many times as many as the site of the newcomer.
const RESERVED_CROWD_PART: usize = 32;
const RESERVED_CROWD_FACTOR: usize = 4;
/// The minimum time between two passes; a pass takes too long to run for every new
/// connection.
const SEARCH_INTERVAL: Duration = Duration::from_millis(20);
/// A client sends its request as soon as it has connected, so a short time is enough.
const RESERVED_MIN_IDLE: Duration = Duration::from_millis(50);
/// How long a reserved connection has at least before it makes room for another.
const RESERVED_MIN_AGE: Duration = Duration::from_millis(200);
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

pub(super) struct Connections {
    limits: Limits,
    trusted_proxies: Vec<IpNet>,
    epoch: Instant,
    table: Mutex<Table>,
    /// As in the table, to be read without a lock.
    general: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Table {
    /// All connections; those in reserved slots are in `reserved` as well.
    sites: HashMap<ClientNetwork, Site>,
    reserved: Vec<Connection>,
    total: usize,
    /// To be closed next, the longest-idle last.
    candidates: Vec<(Evictable, Connection)>,
    searched: Option<Instant>,
    crowd: Crowd,
    upload_crowd: Crowd,
    searched_stalled: Option<Instant>,
    warned: Option<Instant>,
    warned_of_requests: Option<Instant>,
    /// The connections in general slots.
    shared_general: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Site {
    connections: Vec<Connection>,
    /// Those in general slots, those of trusted proxies aside.
    general: usize,
}

/// The sites that make room for others.
#[derive(Default)]
struct Crowd {
    /// Those with the most, in the order of their turns.
    sites: VecDeque<ClientNetwork>,
    /// How many the largest one had.
    largest: usize,
    searched: Option<Instant>,
}

/// What sites are compared by.
#[derive(Clone, Copy)]
enum Measure {
    /// Connections in general slots.
    Connections,
    /// Requests that wait for their bodies.
    Uploads,
}

#[derive(Clone)]
struct Connection {
    client: ClientNetwork,
    /// Of a trusted proxy, which is limited neither as a client nor as part of a site.
    trusted: bool,
    reserved: bool,
    accepted: Instant,
    activity: Arc<Activity>,
}

/// The slot of a connection, released on drop.
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
        let general = Arc::new(AtomicUsize::new(0));
        let table = Table { shared_general: Arc::clone(&general), ..Table::default() };
        let table = Mutex::new(table);
        Self { limits, trusted_proxies, epoch: Instant::now(), table, general }
    }

    /// Whether half of the general slots are taken.
    pub(super) fn is_half_full(&self) -> bool {
        self.general.load(Ordering::Relaxed) >= self.limits.connections.div_ceil(2)
    }

    /// A slot for a new connection; none if it must be closed at once.
    pub(super) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<Slot> {
        let limits = &self.limits;
        let (client, trusted) = (ClientNetwork::of(peer), self.is_trusted(peer));
        let mut table = self.table();
        let mut reserved = false;
        if !trusted {
            let of_client = table.of_site(client).filter(|other| other.client == client).count();
            let of_site = table.in_general_slots(client.site());
            if of_client >= limits.per_client {
                if !table.evict_of(client, Some(client), limits) {
                    refused("client_share");
                    return None;
                }
            } else if of_site >= max_per_site(limits.connections, limits.per_client) {
                // Those that fill the site may have nothing to do with this client.
                reserved = !table.evict_of(client, None, limits);
            }
        }
        if !reserved && table.general() >= limits.connections {
            table.warn(limits);
            let own = if trusted { 0 } else { table.in_general_slots(client.site()) };
            reserved = !table.evict(own, limits)
                && !table.evict_from_crowd(Measure::Connections, own, limits);
        }
        if reserved && !table.has_reserved_slot(client, trusted, limits) {
            refused("all_taken");
            return None;
        }
        let activity = Arc::new(Activity::new(self.epoch));
        let accepted = Instant::now();
        let connection = Connection { client, trusted, reserved, accepted, activity };
        table.add(&connection);
        drop(table);
        Some(Slot { connections: Arc::clone(self), connection })
    }

    /// Closes the connection that has been idle the longest, if one is idle.
    pub(super) fn evict_longest_idle(&self) {
        self.table().evict(0, &self.limits);
    }

    /// Closes a connection with requests whose bodies have not arrived, in favor of a request
    /// of another site.
    pub(super) fn make_room_for(&self, client: Option<ClientNetwork>) -> bool {
        let mut table = self.table();
        table.warn_of_requests(&self.limits);
        let own = client.map_or(0, |client| table.measure(client.site(), Measure::Uploads));
        table.evict_from_crowd(Measure::Uploads, own, &self.limits)
    }

    /// Closes connections whose requests make no progress.
    pub(super) fn evict_stalled(&self) {
        self.table().evict_stalled(&self.limits);
    }

    /// The client that a limit for each client applies to; none for a trusted proxy that
    /// does not name its client.
    pub(super) fn client_to_limit(
        &self,
        peer: IpAddr,
        headers: &HeaderMap,
    ) -> Option<ClientNetwork> {
        let client = client_ip::client(peer, headers, &self.trusted_proxies);
        (!self.is_trusted(client)).then(|| ClientNetwork::of(client))
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
    /// The connections of a client's site, those of trusted proxies aside.
    fn of_site(&self, client: ClientNetwork) -> impl Iterator<Item = &Connection> {
        let of_site = self.sites.get(&client.site()).into_iter();
        of_site.flat_map(|site| &site.connections).filter(|other| !other.trusted)
    }

    fn general(&self) -> usize {
        self.total - self.reserved.len()
    }

    fn add(&mut self, connection: &Connection) {
        self.total += 1;
        let site = self.sites.entry(connection.client.site()).or_default();
        site.connections.push(connection.clone());
        site.general += usize::from(connection.is_general());
        if connection.reserved {
            self.reserved.push(connection.clone());
        }
        self.shared_general.store(self.general(), Ordering::Relaxed);
    }

    /// Returns false if the connection has been evicted, or closed by its client.
    fn remove(&mut self, connection: &Connection) -> bool {
        let network = connection.client.site();
        let Some(site) = self.sites.get_mut(&network) else { return false };
        if !take_out(&mut site.connections, connection) {
            return false;
        }
        site.general -= usize::from(connection.is_general());
        if site.connections.is_empty() {
            self.sites.remove(&network);
        }
        self.total -= 1;
        if connection.reserved {
            take_out(&mut self.reserved, connection);
        }
        self.shared_general.store(self.general(), Ordering::Relaxed);
        true
    }

    /// Its task closes it in a moment; its slot is free now. Returns false if it was free
    /// before.
    fn close(&mut self, connection: &Connection) -> bool {
        connection.activity.close();
        self.remove(connection)
    }

    /// Closes a connection of a client's site: of only one client, or in a general slot.
    fn evict_of(
        &mut self,
        client: ClientNetwork,
        only: Option<ClientNetwork>,
        limits: &Limits,
    ) -> bool {
        let of_site = self.of_site(client).filter(|other| match only {
            Some(only) => other.client == only,
            None => !other.reserved,
        });
        let Some(connection) = first_to_close(of_site, limits.min_idle, limits) else {
            return false;
        };
        self.close(&connection)
    }

    /// Whether a client gets a reserved slot. A site that has its part of them, or the most when
    /// all are taken, makes room: its oldest connection is closed, whatever it does, because a
    /// report or a health check takes less time.
    fn has_reserved_slot(&mut self, client: ClientNetwork, trusted: bool, limits: &Limits) -> bool {
        let of_client = self.reserved.iter().filter(|other| other.client == client).count();
        if !trusted && of_client >= limits.reserved_per_client {
            return false;
        }
        let mut sites: HashMap<ClientNetwork, usize> = HashMap::new();
        for other in self.reserved.iter().filter(|other| !other.trusted) {
            *sites.entry(other.client.site()).or_default() += 1;
        }
        let site = client.site();
        let own = if trusted { 0 } else { sites.get(&site).copied().unwrap_or(0) };
        if own >= max_per_site(limits.reserved, limits.reserved_per_client) {
            return self.close_reserved(Some(site), RESERVED_MIN_AGE, limits)
                || (!trusted && self.close_reserved_of_neighbor(client));
        }
        if self.reserved.len() < limits.reserved {
            return true;
        }
        let most = sites.into_iter().max_by_key(|(_, number)| *number);
        let from_most = most.is_some_and(|(site, number)| {
            let crowded = number > limits.reserved / RESERVED_CROWD_PART
                && number >= RESERVED_CROWD_FACTOR * (own + 1);
            let min_age = if crowded { Duration::ZERO } else { RESERVED_MIN_AGE };
            self.close_reserved(Some(site), min_age, limits)
        });
        from_most || self.close_reserved(None, RESERVED_MIN_AGE, limits)
    }

    /// Closes an idle connection in a reserved slot, of one site or of any, or else the oldest
    /// one, if it is old enough.
    fn close_reserved(
        &mut self,
        site: Option<ClientNetwork>,
        min_age: Duration,
        limits: &Limits,
    ) -> bool {
        let is_of_site = |other: &&Connection| {
            site.is_none_or(|site| !other.trusted && other.client.site() == site)
        };
        let among = || self.reserved.iter().filter(is_of_site);
        let idle = first_to_close(among(), RESERVED_MIN_IDLE, limits);
        let oldest = || among().min_by_key(|other| other.accepted).cloned();
        let oldest = || oldest().filter(|oldest| oldest.accepted.elapsed() >= min_age);
        let Some(connection) = idle.or_else(oldest) else { return false };
        self.close(&connection)
    }

    /// Closes the oldest connection in a reserved slot of the client that has the most
    /// general slots of its site, in favor of one that has far fewer.
    fn close_reserved_of_neighbor(&mut self, client: ClientNetwork) -> bool {
        let mut clients: HashMap<ClientNetwork, usize> = HashMap::new();
        for other in self.of_site(client).filter(|other| other.is_general()) {
            *clients.entry(other.client).or_default() += 1;
        }
        let of = |client| clients.get(&client).copied().unwrap_or(0);
        let neighbors = self.reserved.iter().filter(|other| {
            let is_neighbor = !other.trusted && other.client.site() == client.site();
            is_neighbor && of(other.client) >= RESERVED_CROWD_FACTOR * (of(client) + 1)
        });
        let oldest = neighbors.min_by_key(|other| (Reverse(of(other.client)), other.accepted));
        let Some(connection) = oldest.cloned() else { return false };
        self.close(&connection)
    }

    /// Closes a connection of any client in a general slot, in favor of a site that has `own`.
    fn evict(&mut self, own: usize, limits: &Limits) -> bool {
        loop {
            let first =
                self.candidates.iter().rposition(|(rank, other)| self.may_take(own, *rank, other));
            let Some(first) = first else {
                if !self.find_candidates(limits) {
                    return false;
                }
                continue;
            };
            let (rank, connection) = self.candidates.remove(first);
            // Meanwhile another connection may have become the first to close.
            let outdated = !rank.is_idle() && !self.searched_recently();
            let activity = &connection.activity;
            let unchanged = activity.evictable(limits.min_idle, limits.min_stall) == Some(rank);
            if unchanged && !outdated && !activity.is_closed() && self.close(&connection) {
                return true;
            }
        }
    }

    /// Whether a site that has `own` may take the slot of a connection.
    fn may_take(&self, own: usize, rank: Evictable, connection: &Connection) -> bool {
        connection.trusted
            || own < LARGE_FACTOR * self.in_general_slots(connection.client.site())
            || connection.activity.elapsed_since(rank.since()) >= MIN_IDLE_FOR_LARGE_SITE
    }

    /// Closes a connection of one of the sites with the most, in favor of a site that has
    /// `own`. It need not have waited for its client for long: that client could prevent it.
    fn evict_from_crowd(&mut self, by: Measure, own: usize, limits: &Limits) -> bool {
        if !is_recent(self.crowd(by).searched) {
            *self.crowd(by) = self.find_crowd(by);
        }
        // Nearly all newcomers of a crowd end here.
        if !makes_room(self.crowd(by).largest, own) {
            return false;
        }
        for _ in 0..self.crowd(by).sites.len().min(MAX_CROWD_SITES) {
            let Some(site) = self.crowd(by).sites.pop_front() else { return false };
            if !makes_room(self.measure(site, by), own) {
                self.crowd(by).sites.push_back(site);
            } else if let Some(connection) = self.first_yielding(site, by, limits) {
                self.crowd(by).sites.push_back(site);
                return self.close(&connection);
            }
            // A site that has nothing to close is not asked again until the next pass.
        }
        false
    }

    fn crowd(&mut self, by: Measure) -> &mut Crowd {
        match by {
            Measure::Connections => &mut self.crowd,
            Measure::Uploads => &mut self.upload_crowd,
        }
    }

    /// The sites that have at least half as many as the largest one. One pass serves many
    /// newcomers.
    fn find_crowd(&self, by: Measure) -> Crowd {
        let mut sites: Vec<(usize, ClientNetwork)> =
            self.sites.iter().map(|(network, site)| (site.measure(by), *network)).collect();
        let largest = sites.iter().map(|(number, _)| *number).max().unwrap_or(0);
        sites.retain(|(number, _)| *number > 0 && 2 * number >= largest);
        sites.sort_unstable_by_key(|(number, _)| Reverse(*number));
        let sites = sites.into_iter().map(|(_, network)| network).collect();
        Crowd { sites, largest, searched: Some(Instant::now()) }
    }

    /// The connection of a site that makes room first.
    fn first_yielding(
        &self,
        site: ClientNetwork,
        by: Measure,
        limits: &Limits,
    ) -> Option<Connection> {
        let general = self.sites.get(&site)?.connections.iter().filter(|other| other.is_general());
        let counted = general.filter(|other| match by {
            Measure::Connections => true,
            Measure::Uploads => other.activity.waiting_bodies() > 0,
        });
        let yielding =
            counted.filter_map(|other| Some((other.activity.yielding(limits.min_stall)?, other)));
        yielding.min_by_key(|(rank, _)| *rank).map(|(_, connection)| connection.clone())
    }

    fn measure(&self, site: ClientNetwork, by: Measure) -> usize {
        self.sites.get(&site).map_or(0, |site| site.measure(by))
    }

    /// The connections of a site in general slots, those of trusted proxies aside.
    fn in_general_slots(&self, site: ClientNetwork) -> usize {
        self.measure(site, Measure::Connections)
    }

    /// Closes some of the connections whose requests make no progress, or that send a body
    /// for long: the longest-stalled first.
    fn evict_stalled(&mut self, limits: &Limits) {
        if is_recent(self.searched_stalled) {
            return;
        }
        self.searched_stalled = Some(Instant::now());
        let mut stalled = self.ranked(limits);
        stalled.retain(|(rank, _)| !rank.is_idle());
        stalled.sort_unstable_by_key(|(rank, _)| *rank);
        for (_, connection) in stalled.iter().take(STALLED_BATCH) {
            self.close(connection);
        }
    }

    /// One pass serves many evictions: a connection that becomes idle later is closed
    /// later.
    fn find_candidates(&mut self, limits: &Limits) -> bool {
        if self.searched_recently() {
            return false;
        }
        let mut found = self.ranked(limits);
        found.sort_unstable_by_key(|(rank, _)| *rank);
        found.truncate(EVICTION_BATCH);
        found.reverse();
        self.searched = Some(Instant::now());
        self.candidates = found;
        !self.candidates.is_empty()
    }

    /// The connections in general slots that may be closed.
    fn ranked(&self, limits: &Limits) -> Vec<(Evictable, Connection)> {
        let all = self.sites.values().flat_map(|site| &site.connections);
        let general = all.filter(|other| !other.reserved);
        let ranked = general.filter_map(|connection| {
            let rank = connection.activity.evictable(limits.min_idle, limits.min_stall)?;
            Some((rank, connection.clone()))
        });
        ranked.collect()
    }

    fn searched_recently(&self) -> bool {
        is_recent(self.searched)
    }

    fn warn(&mut self, limits: &Limits) {
        if !is_due(&mut self.warned) {
            return;
        }
        tracing::warn!(
            sites = self.sites.len(),
            "all {} connections are taken, closing the longest-idle ones to accept others",
            limits.connections
        );
    }

    fn warn_of_requests(&mut self, limits: &Limits) {
        if is_due(&mut self.warned_of_requests) {
            tracing::warn!(
                sites = self.sites.len(),
                "{} requests are in progress, refusing others but reports and health checks",
                limits.connections
            );
        }
    }
}

/// Whether a warning is due, which is then taken as written.
fn is_due(warned: &mut Option<Instant>) -> bool {
    let due = warned.is_none_or(|at| at.elapsed() >= WARNING_INTERVAL);
    if due {
        *warned = Some(Instant::now());
    }
    due
}

/// Whether a site with so many makes room for one more of a site that has `own`.
fn makes_room(number: usize, own: usize) -> bool {
    number >= CROWD_FACTOR * (own + 1)
}

impl Site {
    fn measure(&self, by: Measure) -> usize {
        match by {
            Measure::Connections => self.general,
            Measure::Uploads => {
                let clients = self.connections.iter().filter(|other| !other.trusted);
                clients.map(|other| other.activity.waiting_bodies()).sum()
            }
        }
    }
}

impl Connection {
    /// In a general slot, and not of a trusted proxy.
    fn is_general(&self) -> bool {
        !self.trusted && !self.reserved
    }
}

fn is_recent(search: Option<Instant>) -> bool {
    search.is_some_and(|at| at.elapsed() < SEARCH_INTERVAL)
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

/// Returns false if it is not in the list.
fn take_out(connections: &mut Vec<Connection>, connection: &Connection) -> bool {
    let is_it = |other: &Connection| Arc::ptr_eq(&other.activity, &connection.activity);
    let place = connections.iter().position(is_it);
    place.map(|place| connections.swap_remove(place)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::activity::{Arrival, Exchange, Work};

    #[test]
    fn idle_connections_do_not_protect_stalled_ones() {
        let limits =
            Limits { min_idle: Duration::ZERO, min_stall: Duration::ZERO, ..Limits::default() };
        let connections = Arc::new(Connections::new(limits, Vec::new()));
        let admit = |last: u8| connections.admit([127, 0, 0, last].into()).unwrap();
        let idle: Vec<Slot> =
            (0..2 * EVICTION_BATCH).map(|n| admit(u8::from(n % 2 == 0))).collect();
        idle.iter().for_each(|slot| slot.activity().begin());
        let stalled = admit(9);
        let activity = stalled.activity();
        let _exchange = Exchange::begin(Arc::clone(activity));
        let _work = Work::begin(Arc::clone(activity));
        let mut arrival = Arrival::new(Arc::clone(activity));
        arrival.set_waiting(true);
        connections.evict_stalled();
        assert!(activity.is_closed());
        assert!(!idle.iter().any(|slot| slot.activity().is_closed()));
    }

    fn from(site: u8, host: usize) -> IpAddr {
        [10, 0, site, u8::try_from(host + 1).unwrap()].into()
    }

    /// A request whose handler waits for the rest of its body.
    fn upload(activity: &Arc<Activity>) -> (Arrival, Work, Exchange) {
        let exchange = Exchange::begin(Arc::clone(activity));
        let work = Work::begin(Arc::clone(activity));
        let mut arrival = Arrival::new(Arc::clone(activity));
        arrival.set_waiting(true);
        (arrival, work, exchange)
    }

    /// All general slots, taken by the clients of four sites.
    fn crowded(trusted: Vec<IpNet>) -> (Arc<Connections>, Vec<Slot>) {
        let limits = Limits::default();
        let connections = Arc::new(Connections::new(limits.clone(), trusted));
        let slots: Vec<Slot> = (0..limits.connections)
            .map(|at| connections.admit(from((at % 4) as u8, at / 4 / limits.per_client)).unwrap())
            .collect();
        slots.iter().for_each(|slot| slot.activity().begin());
        (connections, slots)
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_that_end_in_time_again_and_again_do_not_keep_other_sites_out() {
        let (connections, slots) = crowded(Vec::new());
        let mut uploads: Vec<_> = slots.iter().map(|slot| Some(upload(slot.activity()))).collect();
        let mut victims = Vec::new();
        for round in 0..5 {
            // Each request ends shortly before its connection could be closed.
            tokio::time::advance(Duration::from_millis(2_200)).await;
            for (upload_of, slot) in uploads.iter_mut().zip(&slots) {
                *upload_of = None;
                *upload_of = Some(upload(slot.activity()));
            }
            for host in 0..20 {
                tokio::time::advance(SEARCH_INTERVAL).await;
                let victim = connections.admit(from(100 + round, host)).unwrap();
                assert!(!victim.is_reserved(), "{round} {host}");
                victims.push(victim);
                // The crowd cannot take the slot back.
                let again = connections.admit(from((host % 4) as u8, 9)).unwrap();
                assert!(again.is_reserved());
            }
        }
        assert!(!victims.iter().any(|victim| victim.activity().is_closed()));
    }

    #[tokio::test(start_paused = true)]
    async fn new_streams_do_not_protect_those_that_are_not_read() {
        let (connections, slots) = crowded(Vec::new());
        let mut streams: Vec<_> =
            slots.iter().map(|slot| Exchange::begin(Arc::clone(slot.activity()))).collect();
        for _ in 0..3 {
            tokio::time::advance(Duration::from_millis(2_200)).await;
            streams.extend(slots.iter().map(|slot| Exchange::begin(Arc::clone(slot.activity()))));
        }
        let victim = connections.admit(from(100, 1)).unwrap();
        assert!(!victim.is_reserved());
        assert_eq!(slots.iter().filter(|slot| slot.activity().is_closed()).count(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn of_a_crowd_the_longest_wait_ends_and_no_request_that_is_being_handled() {
        let (connections, slots) = crowded(Vec::new());
        let (waiting, handled) = slots.split_at(8);
        let _handled: Vec<_> =
            handled.iter().map(|slot| Work::begin(Arc::clone(slot.activity()))).collect();
        // Two connections of each site wait, the first one for longest.
        let mut uploads = Vec::new();
        for slot in waiting {
            uploads.push(upload(slot.activity()));
            tokio::time::advance(Duration::from_millis(10)).await;
        }
        let mut victims = Vec::new();
        for host in 0..10 {
            tokio::time::advance(SEARCH_INTERVAL).await;
            victims.push(connections.admit(from(100, host)).unwrap());
            let first = waiting.iter().take(4).filter(|slot| slot.activity().is_closed()).count();
            assert_eq!(first, victims.len().min(4), "the longest wait of its site");
        }
        assert!(waiting.iter().all(|slot| slot.activity().is_closed()));
        assert!(!handled.iter().any(|slot| slot.activity().is_closed()));
        let reserved: Vec<_> = victims.iter().map(Slot::is_reserved).collect();
        assert_eq!(reserved, [vec![false; 8], vec![true; 2]].concat());
    }

    #[tokio::test(start_paused = true)]
    async fn neither_a_trusted_proxy_nor_a_site_like_others_is_a_crowd() {
        let proxies = (0..4).map(|site| format!("10.0.{site}.0/24").parse().unwrap()).collect();
        let (connections, slots) = crowded(proxies);
        let _uploads: Vec<_> = slots.iter().map(|slot| upload(slot.activity())).collect();
        assert!(connections.admit(from(100, 1)).unwrap().is_reserved());
        assert!(!slots.iter().any(|slot| slot.activity().is_closed()));
        assert!(makes_room(1_024, 511) && !makes_room(1_024, 512));
        assert!(makes_room(2, 0) && !makes_room(1, 0), "no site loses its only connection");
    }

    const SITES: usize = 33;

    /// All general slots, taken by clients of 33 sites, one after the other.
    async fn taken_by_many_sites() -> (Arc<Connections>, Vec<Slot>) {
        let connections = Arc::new(Connections::new(Limits::default(), Vec::new()));
        let mut slots = Vec::new();
        for at in 0..Limits::default().connections {
            let slot = connections.admit(from((at % SITES) as u8, 1)).unwrap();
            slot.activity().begin();
            slots.push(slot);
            tokio::time::advance(Duration::from_micros(1)).await;
        }
        (connections, slots)
    }

    #[tokio::test(start_paused = true)]
    async fn connections_that_are_opened_again_and_again_do_not_keep_other_sites_out() {
        let (connections, slots) = taken_by_many_sites().await;
        let mut slots = VecDeque::from(slots);
        let mut victims = Vec::new();
        for round in 0..50 {
            // Each is closed shortly before it could be closed in favor of another.
            tokio::time::advance(Duration::from_millis(40)).await;
            for at in 0..slots.len() / 10 {
                slots.pop_front();
                let opened = connections.admit(from((at % SITES) as u8, 1));
                slots.extend(opened.inspect(|slot| slot.activity().begin()));
            }
            let victim = connections.admit(from(100 + round, 1)).unwrap();
            victim.activity().begin();
            assert!(!victim.is_reserved(), "{round}");
            victims.push(victim);
            assert!(connections.table().general() <= Limits::default().connections);
            // Those that have been idle for longer may be closed in favor of another victim.
            let mut active = victims.iter().rev().take(10);
            assert!(!active.any(|victim| victim.activity().is_closed()), "{round}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slot_that_its_client_has_left_is_not_given_away_twice() {
        let limits = Limits::default();
        for wait in [SEARCH_INTERVAL, limits.min_idle] {
            let (connections, mut slots) = taken_by_many_sites().await;
            tokio::time::advance(wait).await;
            let mut opened = vec![connections.admit(from(200, 1)).unwrap()];
            // Those that would be closed next.
            slots.drain(..100);
            opened.extend((0..200).map(|site| connections.admit(from(site, 9)).unwrap()));
            assert!(!opened.iter().any(Slot::is_reserved), "{wait:?}");
            assert_eq!(connections.table().general(), limits.connections, "{wait:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_are_handled_for_long_do_not_keep_other_sites_out() {
        let limits = Limits::default();
        let (connections, slots) = taken_by_many_sites().await;
        let mut work: Vec<_> =
            slots.iter().map(|slot| Work::begin(Arc::clone(slot.activity()))).collect();
        tokio::time::advance(limits.min_stall / 2).await;
        // Another request of the same connection is not a new beginning.
        work.extend(slots.iter().map(|slot| Work::begin(Arc::clone(slot.activity()))));
        assert!(connections.admit(from(100, 1)).unwrap().is_reserved());
        tokio::time::advance(limits.min_stall / 2).await;
        assert!(!connections.admit(from(100, 1)).unwrap().is_reserved());
        assert_eq!(slots.iter().filter(|slot| slot.activity().is_closed()).count(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_site_takes_the_connection_of_a_small_one_only_after_a_long_idle_time() {
        let limits = Limits::default();
        let connections = Arc::new(Connections::new(limits.clone(), Vec::new()));
        let small = connections.admit(from(100, 1)).unwrap();
        small.activity().begin();
        tokio::time::advance(limits.min_idle).await;
        let slots: Vec<Slot> = (1..limits.connections)
            .map(|at| connections.admit(from((at % SITES) as u8, 1)).unwrap())
            .collect();
        slots.iter().for_each(|slot| slot.activity().begin());
        assert!(connections.admit(from(1, 1)).unwrap().is_reserved());
        let visitor = connections.admit(from(101, 1)).unwrap();
        assert!(!visitor.is_reserved() && small.activity().is_closed(), "it is idle");
        drop(visitor);
        let small = connections.admit(from(100, 1)).unwrap();
        small.activity().begin();
        let _work: Vec<_> =
            slots.iter().map(|slot| Work::begin(Arc::clone(slot.activity()))).collect();
        for (wait, reserved) in [(Duration::from_secs(4), true), (Duration::from_secs(1), false)] {
            tokio::time::advance(wait).await;
            assert_eq!(connections.admit(from(1, 1)).unwrap().is_reserved(), reserved, "{wait:?}");
            assert_eq!(small.activity().is_closed(), !reserved);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_site_full_of_busy_connections_still_serves_the_reports_of_a_neighbor() {
        let connections = Arc::new(Connections::new(Limits::default(), Vec::new()));
        let mut held = Vec::new();
        while let Some(slot) = connections.admit(from(50, held.len() % 100)) {
            slot.activity().begin();
            let work = Work::begin(Arc::clone(slot.activity()));
            held.push((slot, work));
        }
        assert!(held.last().unwrap().0.is_reserved(), "the site has all that it can have");
        for _ in 0..3 {
            let report = connections.admit(from(50, 200)).expect("a reserved slot");
            assert!(report.is_reserved());
            // Those that have many cannot take it.
            assert!(connections.admit(from(50, 1)).is_none());
            assert!(!report.activity().is_closed());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_clients_of_one_site_cannot_take_all_reserved_slots() {
        let (connections, slots) = crowded(Vec::new());
        // Nothing can be closed.
        let _work: Vec<_> =
            slots.iter().map(|slot| Work::begin(Arc::clone(slot.activity()))).collect();
        let limits = Limits::default();
        let take = |site: u8| -> Vec<Slot> {
            let clients =
                (0..limits.reserved).map(|at| from(site, at / limits.reserved_per_client));
            let slots: Vec<Slot> = clients.filter_map(|client| connections.admit(client)).collect();
            slots.iter().for_each(|slot| slot.activity().begin());
            assert!(slots.iter().all(Slot::is_reserved));
            slots
        };
        let held = take(50);
        assert_eq!(held.len(), limits.reserved / 4);
        let others: Vec<_> = (51..54).flat_map(take).collect();
        assert_eq!(held.len() + others.len(), limits.reserved, "all are taken");
        let victim = connections.admit(from(100, 1)).expect("a reserved slot");
        assert!(victim.is_reserved());
        // A site at its limit replaces its own connections, and only after a while.
        assert!(connections.admit(from(50, 99)).is_none());
        tokio::time::advance(RESERVED_MIN_AGE).await;
        assert!(connections.admit(from(50, 99)).is_some());
        let closed =
            |slots: &[Slot]| slots.iter().filter(|slot| slot.activity().is_closed()).count();
        assert_eq!(closed(&held) + closed(&others), 2);
        assert!(!victim.activity().is_closed());
    }
}
