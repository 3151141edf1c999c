//! The open connections by site, and the admission of new ones. A client at its limit
//! loses its own longest-idle connection, a site one of its clients; when all slots are
//! taken, the longest-idle connection of any client is closed, or else one that waits for its
//! client, of the site that has by far the most. If none can be closed, the new connection
//! gets a reserved slot, which serves reports and health checks only.

use axum::http::HeaderMap;
use ipnet::IpNet;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
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
/// A site is crowded if it has more than this part of all, and this many times as many as the
/// site of the newcomer. However its clients keep their connections from becoming idle, they
/// cannot keep others out.
const CROWD_PART: usize = 32;
const CROWD_FACTOR: usize = 4;
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
}

#[derive(Default)]
struct Table {
    /// All connections; those in reserved slots are in `reserved` as well.
    sites: HashMap<ClientNetwork, Vec<Connection>>,
    reserved: Vec<Connection>,
    total: usize,
    /// To be closed next, the longest-idle last.
    candidates: Vec<(Evictable, Connection)>,
    searched: Option<Instant>,
    crowd: Crowd,
    /// The same with requests whose bodies have not arrived.
    uploads: Crowd,
    searched_stalled: Option<Instant>,
    warned: Option<Instant>,
}

/// The connections that wait for their clients, of the site with the most of these.
#[derive(Default)]
struct Crowd {
    /// With the beginnings of their waits, the longest wait last.
    waiting: Vec<(u64, Connection)>,
    searched: Option<Instant>,
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
        Self { limits, trusted_proxies, epoch: Instant::now(), table: Mutex::default() }
    }

    /// A slot for a new connection; none if it must be closed at once.
    pub(super) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<Slot> {
        let limits = &self.limits;
        let (client, trusted) = (ClientNetwork::of(peer), self.is_trusted(peer));
        let mut table = self.table();
        let mut reserved = false;
        if !trusted {
            let (of_client, of_site) = table.counts(client);
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
            reserved = !table.evict(limits) && !table.evict_from_crowd(client, trusted, limits);
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
        self.table().evict(&self.limits);
    }

    /// Closes a connection with requests whose bodies have not arrived, in favor of a request
    /// of another site.
    pub(super) fn make_room_for(&self, client: Option<ClientNetwork>) -> bool {
        self.table().evict_uploads(client, &self.limits)
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
    /// The connections of a client, and those of its site in general slots.
    fn counts(&self, client: ClientNetwork) -> (usize, usize) {
        let mut counts = (0, 0);
        for other in self.of_site(client) {
            counts.0 += usize::from(other.client == client);
            counts.1 += usize::from(!other.reserved);
        }
        counts
    }

    /// The connections of a client's site, those of trusted proxies aside.
    fn of_site(&self, client: ClientNetwork) -> impl Iterator<Item = &Connection> {
        let of_site = self.sites.get(&client.site()).into_iter().flatten();
        of_site.filter(|other| !other.trusted)
    }

    fn general(&self) -> usize {
        self.total - self.reserved.len()
    }

    fn add(&mut self, connection: &Connection) {
        self.total += 1;
        self.sites.entry(connection.client.site()).or_default().push(connection.clone());
        if connection.reserved {
            self.reserved.push(connection.clone());
        }
    }

    /// Does nothing if the connection has been evicted.
    fn remove(&mut self, connection: &Connection) {
        let site = connection.client.site();
        let Some(of_site) = self.sites.get_mut(&site) else { return };
        if !take_out(of_site, connection) {
            return;
        }
        if of_site.is_empty() {
            self.sites.remove(&site);
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
        self.close(&connection);
        true
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
            return self.close_reserved(Some(site), RESERVED_MIN_AGE, limits);
        }
        if self.reserved.len() < limits.reserved {
            return true;
        }
        let most = sites.into_iter().max_by_key(|(_, number)| *number);
        let from_most = most.is_some_and(|(site, number)| {
            let crowded = is_crowded(number, own, limits.reserved);
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
            // Meanwhile another connection may have become the first to close.
            let outdated = !rank.is_idle() && !self.searched_recently();
            let activity = &connection.activity;
            let unchanged = activity.evictable(limits.min_idle, limits.min_stall) == Some(rank);
            if unchanged && !outdated && !activity.is_closed() {
                self.close(&connection);
                return true;
            }
        }
    }

    /// Closes a connection that waits for its client, of the most crowded site. It need not
    /// have waited for long: its clients could prevent that.
    fn evict_from_crowd(&mut self, client: ClientNetwork, trusted: bool, limits: &Limits) -> bool {
        if !is_recent(self.crowd.searched) {
            self.crowd = self.find_crowd(|_| 1);
        }
        let own = if trusted { 0 } else { self.in_general_slots(client.site()) };
        let crowd = self.crowd.site().map_or(0, |site| self.in_general_slots(site));
        let first = is_crowded(crowd, own, limits.connections).then(|| self.crowd.next()).flatten();
        first.inspect(|connection| self.close(connection)).is_some()
    }

    /// The same for a request: the sites are compared by requests that wait for their bodies.
    fn evict_uploads(&mut self, client: Option<ClientNetwork>, limits: &Limits) -> bool {
        if !is_recent(self.uploads.searched) {
            self.uploads = self.find_crowd(Activity::waiting_bodies);
        }
        let own = client.map_or(0, |client| self.uploads_of(client.site()));
        let crowd = self.uploads.site().map_or(0, |site| self.uploads_of(site));
        let first =
            is_crowded(crowd, own, limits.connections).then(|| self.uploads.next()).flatten();
        first.inspect(|connection| self.close(connection)).is_some()
    }

    /// One pass finds the connections to close for many newcomers: of the site with the largest
    /// sum of what `counted` returns, those of which it returns anything.
    fn find_crowd(&self, counted: impl Fn(&Activity) -> usize) -> Crowd {
        let count_site = |site: &Vec<Connection>| {
            let general = site.iter().filter(|other| !other.trusted && !other.reserved);
            let waiting = general.filter_map(|other| {
                let since = other.activity.waiting_since()?;
                let number = counted(&other.activity);
                (number > 0).then(|| (number, (since, other.clone())))
            });
            let (numbers, waiting): (Vec<usize>, Vec<_>) = waiting.unzip();
            (numbers.into_iter().sum::<usize>(), waiting)
        };
        let most = self.sites.values().map(count_site).max_by_key(|(sum, _)| *sum);
        let (_, mut waiting) = most.unwrap_or_default();
        waiting.sort_unstable_by_key(|(since, _)| Reverse(*since));
        Crowd { waiting, searched: Some(Instant::now()) }
    }

    /// The requests of a site that wait for their bodies.
    fn uploads_of(&self, site: ClientNetwork) -> usize {
        self.of_site(site).map(|other| other.activity.waiting_bodies()).sum()
    }

    /// The connections of a site in general slots, those of trusted proxies aside.
    fn in_general_slots(&self, site: ClientNetwork) -> usize {
        self.of_site(site).filter(|other| !other.reserved).count()
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
        let general = self.sites.values().flatten().filter(|other| !other.reserved);
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
        if self.warned.is_some_and(|at| at.elapsed() < WARNING_INTERVAL) {
            return;
        }
        self.warned = Some(Instant::now());
        tracing::warn!(
            sites = self.sites.len(),
            "all {} connections are taken, closing the longest-idle ones to accept others",
            limits.connections
        );
    }
}

/// Whether a site with `crowd` of `all` makes room for one of a site that has `own`.
fn is_crowded(crowd: usize, own: usize, all: usize) -> bool {
    crowd > all / CROWD_PART && crowd >= CROWD_FACTOR * (own + 1)
}

impl Crowd {
    fn site(&self) -> Option<ClientNetwork> {
        self.waiting.last().map(|(_, connection)| connection.client.site())
    }

    /// The connection with the longest wait, if that has not ended meanwhile.
    fn next(&mut self) -> Option<Connection> {
        while let Some((since, connection)) = self.waiting.pop() {
            let activity = &connection.activity;
            if activity.waiting_since() == Some(since) && !activity.is_closed() {
                return Some(connection);
            }
        }
        None
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
        assert!(is_crowded(1_024, 255, 4_096) && !is_crowded(1_024, 256, 4_096));
        assert!(!is_crowded(128, 0, 4_096), "a crowd has more than its part");
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
