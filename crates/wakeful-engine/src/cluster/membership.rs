//! The loop of a cluster node: it renews its lease, reads its slots, evicts nodes without a
//! heartbeat, balances the slots, and looks for requests and edits of other nodes in case the
//! bus lost them. The rules are in `wakeful_core::cluster::slot`.

use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use wakeful_core::cluster::slot::{RENEWALS_PER_LEASE, Rebalance, SLOT_COUNT, Slot, balance};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;
use wakeful_store::Node;

use super::{Cluster, requests};
use crate::bus::{Edit, Event, NodeMessage};
use crate::{Engine, Result, version};

/// How often free slots, requests and edits are looked for.
const ROUND_INTERVAL: Duration = Duration::from_secs(1);
/// How far before the last scan edits are looked for: longer than it takes to save one, and
/// longer than the clocks of the nodes differ.
const EDIT_LOOKBACK: Duration = Duration::from_secs(20);
/// How often open pages are refreshed while the bus is disconnected.
const PAGE_REFRESH_INTERVAL: Duration = Duration::from_secs(3);
/// How much clocks may differ before a warning is logged.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(2);
/// How long pending results may take to be written before slots are released. Later ones are
/// rejected, and the new owner checks again.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long leaving may take when the service stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(700);

/// The state between rounds.
struct MembershipLoop {
    engine: Engine,
    node: Node,
    next_renewal: Instant,
    /// Revisions that the scheduler was notified of, and when.
    known_revisions: HashMap<MonitorId, (i64, Instant)>,
    /// The time of the last successful scan for edits.
    last_edit_scan: Option<Millis>,
    pages_refreshed: Instant,
    skew_reported: bool,
}

/// Joins the cluster and takes free slots. Retries until the database is available.
pub(crate) async fn join(engine: &Engine) {
    if engine.cluster().is_standalone() {
        return;
    }
    let mut membership = MembershipLoop::new(engine.clone());
    while let Err(error) = membership.register().await {
        tracing::warn!(error = %ErrorChain(&error), "joining the cluster failed, retrying in {} s", ROUND_INTERVAL.as_secs());
        tokio::time::sleep(ROUND_INTERVAL).await;
    }
}

/// Runs rounds until shutdown.
pub(crate) async fn run(engine: Engine, shutdown: CancellationToken) {
    if engine.cluster().is_standalone() {
        return shutdown.cancelled().await;
    }
    let mut membership = MembershipLoop::new(engine.clone());
    let signals = &engine.cluster().signals;
    while !shutdown.is_cancelled() {
        // A database that does not respond must delay neither the next attempt nor shutdown.
        let done = tokio::select! {
            done = timeout(engine.cluster().lease, membership.round()) => done,
            () = shutdown.cancelled() => break,
        };
        match done {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                membership.next_renewal = Instant::now();
                tracing::warn!(error = %ErrorChain(&error), "the cluster round of this node failed, retrying in {} s", ROUND_INTERVAL.as_secs());
            }
            Err(_) => {
                membership.next_renewal = Instant::now();
                tracing::warn!(
                    "the cluster round of this node failed, retrying in {} s: the database does not respond",
                    ROUND_INTERVAL.as_secs()
                );
            }
        }
        tokio::select! {
            () = tokio::time::sleep(ROUND_INTERVAL) => {}
            () = signals.round.notified() => membership.next_renewal = Instant::now(),
            () = signals.request_added.notified() => {}
            () = shutdown.cancelled() => {}
        }
    }
    engine.cluster().tasks.close();
    let _ = timeout(SHUTDOWN_TIMEOUT, engine.cluster().tasks.wait()).await;
}

/// Releases all slots, so that other nodes take them over at once.
pub(crate) async fn leave(engine: &Engine) {
    let cluster = engine.cluster();
    if cluster.is_standalone() {
        return;
    }
    drop_slots(engine, &cluster.held().into_iter().collect());
    match timeout(SHUTDOWN_TIMEOUT, engine.store().leave_cluster(cluster.node())).await {
        Ok(Ok(())) => {
            engine.bus().send_to_nodes_now(NodeMessage::Round, engine).await;
            tracing::info!("released all slots of this node");
        }
        Ok(Err(error)) => {
            tracing::warn!(error = %ErrorChain(&error), "releasing the slots failed, other nodes take them when the lease expires");
        }
        Err(_) => tracing::warn!(
            "releasing the slots failed, other nodes take them when the lease expires: the database does not respond"
        ),
    }
}

impl MembershipLoop {
    fn new(engine: Engine) -> Self {
        let settings = engine.settings();
        let node = Node {
            id: engine.cluster().node(),
            name: settings.node_name.clone(),
            home: settings.node_home.clone(),
            version: version::announced(),
        };
        let now = Instant::now();
        Self {
            engine,
            node,
            next_renewal: now,
            known_revisions: HashMap::new(),
            last_edit_scan: None,
            pages_refreshed: now,
            skew_reported: false,
        }
    }

    fn cluster(&self) -> &Cluster {
        self.engine.cluster()
    }

    async fn register(&mut self) -> Result<()> {
        // A previous node with this data directory is dead: only one process can use it.
        for before in self.engine.store().nodes_at_home(&self.node.home).await? {
            self.engine.store().evict_node(before, false).await?;
        }
        self.renew().await?;
        self.engine.bus().send_to_nodes(NodeMessage::Round);
        tracing::info!(
            node.id = %self.node.id,
            slots = self.cluster().held().len(),
            nodes = self.cluster().live_nodes(),
            "joined the cluster as node {}, {} nodes are live",
            self.node.id,
            self.cluster().live_nodes()
        );
        Ok(())
    }

    async fn round(&mut self) -> Result<()> {
        if Instant::now() >= self.next_renewal {
            self.renew().await?;
        } else {
            self.balance_slots(false).await?;
        }
        requests::serve_requests(&self.engine, &self.cluster().held()).await?;
        self.find_edits().await?;
        self.engine.refresh_suspensions().await?;
        self.refresh_pages();
        Ok(())
    }

    /// Renews the lease of this node and reads its slots.
    async fn renew(&mut self) -> Result<()> {
        let begun = Instant::now();
        let lease = self.cluster().lease;
        let renewal = self.engine.store().renew_node(&self.node, lease).await?;
        let steady_for = self.cluster().note_renewal(begun);
        self.next_renewal = begun + lease / RENEWALS_PER_LEASE;
        self.cluster().live_nodes.store(renewal.live, std::sync::atomic::Ordering::Relaxed);
        let lost = self.cluster().retain_grants(&renewal.held);
        if !lost.is_empty() {
            metrics::counter!("wakeful_slots_lost_total").increment(lost.len() as u64);
            tracing::warn!("{} slots were taken over by other nodes", lost.len());
            self.engine.scheduler().drop_slots(&lost);
        }
        self.cluster().add_grants(&renewal.held);
        self.check_clock_skew().await?;
        // After a gap in our own renewals, the other nodes may be alive, too: give them time
        // to renew before evicting them.
        let steady = steady_for >= lease / RENEWALS_PER_LEASE;
        if steady {
            for dead in &renewal.dead {
                if self.engine.store().evict_node(*dead, true).await? {
                    tracing::warn!(node.id = %dead, "evicted node {dead}: its lease has expired");
                }
            }
        }
        self.balance_slots(steady).await?;
        metrics::gauge!("wakeful_nodes_live").set(renewal.live as f64);
        metrics::gauge!("wakeful_slots_held").set(self.cluster().held().len() as f64);
        Ok(())
    }

    /// Takes free slots, or releases excess ones.
    async fn balance_slots(&mut self, rebalance: bool) -> Result<()> {
        let (held, live) = (self.cluster().held(), self.cluster().live_nodes());
        match balance(SLOT_COUNT.into(), held.len(), live) {
            Rebalance::Stay => {}
            Rebalance::Take(max) => {
                let taken = self.engine.store().take_slots(self.node.id, max, rebalance).await?;
                let lost = self.cluster().drop_superseded(&taken);
                self.engine.scheduler().drop_slots(&lost);
                let gained = self.cluster().adopt_taken(&taken);
                if gained > 0 {
                    tracing::info!("took over {gained} slots");
                }
            }
            Rebalance::Release(count) => {
                let slots: Vec<Slot> = held.into_iter().rev().take(count).collect();
                self.release(&slots).await?;
            }
        }
        Ok(())
    }

    /// Stops checking, writes pending results, and releases the slots.
    async fn release(&self, slots: &[Slot]) -> Result<()> {
        drop_slots(&self.engine, &slots.iter().copied().collect());
        let _ = timeout(WRITE_TIMEOUT, self.cluster().wait_for_writes(slots)).await;
        self.engine.store().release_slots(self.node.id, slots).await?;
        self.engine.bus().send_to_nodes(NodeMessage::Round);
        tracing::info!("released {} slots", slots.len());
        Ok(())
    }

    /// Finds edits of this node's monitors that did not arrive over the bus.
    async fn find_edits(&mut self) -> Result<()> {
        let (now, scan) = (Instant::now(), self.engine.now());
        // After a stall, the scan covers the whole gap.
        let since = self.last_edit_scan.map_or(scan, |last| last.min(scan)).before(EDIT_LOOKBACK);
        let edits = self.engine.store().saved_since(since).await?;
        self.last_edit_scan = Some(scan);
        self.known_revisions.retain(|_, (_, at)| now.duration_since(*at) < 2 * EDIT_LOOKBACK);
        for (team, monitor, revision) in edits {
            let known =
                self.known_revisions.get(&monitor).is_some_and(|(known, _)| *known >= revision);
            if known || !self.cluster().holds(monitor) {
                continue;
            }
            self.known_revisions.insert(monitor, (revision, now));
            self.engine.bus().reload_monitor(Edit::new(team, monitor));
        }
        Ok(())
    }

    /// While the bus is disconnected, open pages receive no events from other nodes, so they
    /// are regularly made to read the list again.
    fn refresh_pages(&mut self) {
        let connected = self.engine.bus().is_connected();
        if connected
            || self.cluster().live_nodes() < 2
            || self.pages_refreshed.elapsed() < PAGE_REFRESH_INTERVAL
        {
            return;
        }
        self.pages_refreshed = Instant::now();
        self.engine.bus().publish_to_all_pages(&Event::Missed);
    }

    async fn check_clock_skew(&mut self) -> Result<()> {
        let skew = Duration::from_millis(self.engine.check_clock_skew().await?);
        metrics::gauge!("wakeful_clock_skew_seconds").set(skew.as_secs_f64());
        if skew > MAX_CLOCK_SKEW && !self.skew_reported {
            self.skew_reported = true;
            tracing::warn!(
                "this machine's clock and the database's differ by {} s, synchronize both with NTP",
                skew.as_secs()
            );
        }
        Ok(())
    }
}

/// Stops checking and writing for these slots.
fn drop_slots(engine: &Engine, slots: &HashSet<Slot>) {
    engine.cluster().drop_slots(slots);
    engine.scheduler().drop_slots(slots);
}
