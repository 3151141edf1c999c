//! The rounds by which a node stays one of several: it says that it lives,
//! takes note of what it holds, buries who has not been heard of, comes to its
//! fair share, and looks for what others have asked or edited in case the bus
//! did not say. What is decided is in `wakeful_core::slot`.

use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use wakeful_core::chain::Chain;
use wakeful_core::id::MonitorId;
use wakeful_core::slot::{Move, RENEWALS, SLOTS, Slot, balance};
use wakeful_core::time::Millis;
use wakeful_store::Node;

use super::{Cluster, asks};
use crate::bus::{Edit, Event, News};
use crate::{Engine, Result};

/// How often free slots, questions and edits are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How far behind the last look edits are looked for: more than it takes to save
/// one, and than the nodes' ideas of the time they share differ.
const EDITS_BACK: Duration = Duration::from_secs(20);
/// How often pages are told to look for themselves while the bus is away.
const PAGES_LOOK_EVERY: Duration = Duration::from_secs(3);
/// How much clocks may differ before the operator is told.
const SKEW: Duration = Duration::from_secs(2);
/// How long what was found out may take to be written before slots are given
/// back. What is not written by then is refused, and found out again.
const WRITTEN_WITHIN: Duration = Duration::from_secs(2);
/// How long leaving may take when the service stops.
const LAST_WORDS: Duration = Duration::from_millis(700);

/// What is kept from one round to the next.
struct Rounds {
    engine: Engine,
    node: Node,
    next_renewal: Instant,
    /// Revisions that the watch was told of, with the time of the telling.
    told: HashMap<MonitorId, (i64, Instant)>,
    /// When edits were looked for last, and found.
    edits_found: Option<Millis>,
    pages_told: Instant,
    skew_told: bool,
}

/// Becomes one of the nodes and takes what is free. It is tried for as long as
/// the database is away.
pub(crate) async fn join(engine: &Engine) {
    if engine.cluster().is_alone() {
        return;
    }
    let mut rounds = Rounds::new(engine.clone());
    while let Err(error) = rounds.begin().await {
        tracing::warn!(error = %Chain(&error), "this node cannot join yet");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Does rounds until told to stop.
pub(crate) async fn run(engine: Engine, shutdown: CancellationToken) {
    if engine.cluster().is_alone() {
        return;
    }
    let mut rounds = Rounds::new(engine.clone());
    let signals = &engine.cluster().signals;
    while !shutdown.is_cancelled() {
        // A server that went silent must not hold up the next attempt, nor a stop.
        let done = tokio::select! {
            done = timeout(engine.cluster().lease, rounds.round()) => done,
            () = shutdown.cancelled() => break,
        };
        match done {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                rounds.next_renewal = Instant::now();
                tracing::warn!(error = %Chain(&error), "this node could not do its round");
            }
            Err(_) => {
                rounds.next_renewal = Instant::now();
                tracing::warn!("this node could not do its round: the database is silent");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = signals.round.notified() => rounds.next_renewal = Instant::now(),
            () = signals.asked.notified() => {}
            () = shutdown.cancelled() => {}
        }
    }
    engine.cluster().tasks.close();
    let _ = timeout(LAST_WORDS, engine.cluster().tasks.wait()).await;
}

/// Gives all slots back at once, so that others take them at once.
pub(crate) async fn leave(engine: &Engine) {
    let cluster = engine.cluster();
    if cluster.is_alone() {
        return;
    }
    lose(engine, &cluster.held().into_iter().collect());
    match timeout(LAST_WORDS, engine.store().leave(cluster.node())).await {
        Ok(Ok(())) => {
            engine.bus().say_now(News::Round, engine).await;
            tracing::info!("this node has given back its slots");
        }
        Ok(Err(error)) => {
            tracing::warn!(error = %Chain(&error), "this node's slots wait for their lease to end");
        }
        Err(_) => tracing::warn!("this node's slots wait for their lease to end"),
    }
}

impl Rounds {
    fn new(engine: Engine) -> Self {
        let settings = engine.settings();
        let node = Node {
            id: engine.cluster().node(),
            name: settings.node_name.clone(),
            home: settings.node_home.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let now = Instant::now();
        Self {
            engine,
            node,
            next_renewal: now,
            told: HashMap::new(),
            edits_found: None,
            pages_told: now,
            skew_told: false,
        }
    }

    fn cluster(&self) -> &Cluster {
        self.engine.cluster()
    }

    async fn begin(&mut self) -> Result<()> {
        // Who ran here before is dead: this place is ours alone.
        for before in self.engine.store().nodes_at(&self.node.home).await? {
            self.engine.store().bury_node(before, false).await?;
        }
        self.renew().await?;
        self.engine.bus().say(News::Round);
        tracing::info!(
            node.id = %self.node.id,
            slots = self.cluster().held().len(),
            nodes = self.cluster().live(),
            "this is node {}, one of {}",
            self.node.id,
            self.cluster().live()
        );
        Ok(())
    }

    async fn round(&mut self) -> Result<()> {
        if Instant::now() >= self.next_renewal {
            self.renew().await?;
        } else {
            self.come_to_share(false).await?;
        }
        asks::serve(&self.engine, &self.cluster().held()).await?;
        self.find_edits().await?;
        self.tell_pages();
        Ok(())
    }

    /// Says that this node lives, and takes note of what that brings.
    async fn renew(&mut self) -> Result<()> {
        let begun = Instant::now();
        let lease = self.cluster().lease;
        let renewal = self.engine.store().renew_node(&self.node, lease).await?;
        let steady_for = self.cluster().heard_of(begun);
        self.next_renewal = begun + lease / RENEWALS;
        self.cluster().live.store(renewal.live, std::sync::atomic::Ordering::Relaxed);
        let lost = self.cluster().lose_all_but(&renewal.held);
        if !lost.is_empty() {
            metrics::counter!("wakeful_slots_lost_total").increment(lost.len() as u64);
            tracing::warn!("{} slots were taken over by other nodes", lost.len());
            self.engine.watch().drop_slots(&lost);
        }
        self.cluster().gain(&renewal.held);
        self.look_at_clock().await?;
        // After a time of our own silence the others may be as alive as we are:
        // they are heard of before anything is taken from them.
        let steady = steady_for >= lease / RENEWALS;
        if steady {
            for dead in &renewal.dead {
                if self.engine.store().bury_node(*dead, true).await? {
                    tracing::warn!(node.id = %dead, "node {dead} has not been heard of: its work is free");
                }
            }
        }
        self.come_to_share(steady).await?;
        metrics::gauge!("wakeful_nodes_live").set(renewal.live as f64);
        metrics::gauge!("wakeful_slots_held").set(self.cluster().held().len() as f64);
        Ok(())
    }

    /// Takes what is free, or gives back what is too much.
    async fn come_to_share(&mut self, rebalance: bool) -> Result<()> {
        let (held, live) = (self.cluster().held(), self.cluster().live());
        match balance(SLOTS.into(), held.len(), live) {
            Move::Stay => {}
            Move::Take(most) => {
                let taken = self.engine.store().take_slots(self.node.id, most, rebalance).await?;
                let lost = self.cluster().lose_older(&taken);
                self.engine.watch().drop_slots(&lost);
                let gained = self.cluster().take(&taken);
                if gained > 0 {
                    tracing::info!("this node has taken {gained} slots");
                }
            }
            Move::Release(most) => {
                let slots: Vec<Slot> = held.into_iter().rev().take(most).collect();
                self.release(&slots).await?;
            }
        }
        Ok(())
    }

    /// Stops watching, writes what was found out, and gives the slots back.
    async fn release(&self, slots: &[Slot]) -> Result<()> {
        lose(&self.engine, &slots.iter().copied().collect());
        let _ = timeout(WRITTEN_WITHIN, self.cluster().written(slots)).await;
        self.engine.store().release_slots(self.node.id, slots).await?;
        self.engine.bus().say(News::Round);
        tracing::info!("this node has given back {} slots", slots.len());
        Ok(())
    }

    /// Finds edits of monitors held here that nobody told of.
    async fn find_edits(&mut self) -> Result<()> {
        let (now, looked) = (Instant::now(), self.engine.now());
        // A node that was held up for long looks back for as long.
        let since = self.edits_found.map_or(looked, |found| found.min(looked)).before(EDITS_BACK);
        let edits = self.engine.store().edited_since(since).await?;
        self.edits_found = Some(looked);
        self.told.retain(|_, (_, at)| now.duration_since(*at) < 2 * EDITS_BACK);
        for (team, monitor, revision) in edits {
            let known = self.told.get(&monitor).is_some_and(|(known, _)| *known >= revision);
            if known || !self.cluster().holds(monitor) {
                continue;
            }
            self.told.insert(monitor, (revision, now));
            self.engine.bus().look_again(Edit { team, monitor });
        }
        Ok(())
    }

    /// While the bus is away, open pages hear nothing of other nodes: they are
    /// told to read the list again, from time to time.
    fn tell_pages(&mut self) {
        let hears = self.engine.bus().hears_others();
        if hears || self.cluster().live() < 2 || self.pages_told.elapsed() < PAGES_LOOK_EVERY {
            return;
        }
        self.pages_told = Instant::now();
        self.engine.bus().tell_all(&Event::Missed);
    }

    async fn look_at_clock(&mut self) -> Result<()> {
        let skew = Duration::from_millis(self.engine.look_at_clock().await?);
        metrics::gauge!("wakeful_clock_skew_seconds").set(skew.as_secs_f64());
        if skew > SKEW && !self.skew_told {
            self.skew_told = true;
            tracing::warn!(
                "this machine's clock and the database's differ by {} s: set both by NTP",
                skew.as_secs()
            );
        }
        Ok(())
    }
}

/// Stops watching these slots, and writing for them.
fn lose(engine: &Engine, slots: &HashSet<Slot>) {
    engine.cluster().lose(slots);
    engine.watch().drop_slots(slots);
}
