//! The messages between nodes over NATS. They are sealed with the service's keys, so the
//! operator of the bus can neither read nor forge them, and each is accepted once and only
//! for a short time, so it cannot be replayed. They only speed things up: the store
//! contains everything they announce.

use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wakeful_core::id::{MonitorId, NodeId, TeamId};
use wakeful_core::time::Millis;

use super::nats::{Nats, Subscriber};
use super::{Bus, Edit, Event};
use crate::{Engine, random};

/// The subject of the messages between nodes. Probes need no access to it.
const SUBJECT: &str = "wakeful.nodes";
/// How many messages may wait to be sent; more are dropped and counted.
const MAX_QUEUED: usize = 8_192;
/// How many messages one envelope contains.
const MAX_BATCH: usize = 200;
/// NATS accepts a megabyte; sealing adds little.
const MAX_MESSAGE_BYTES: usize = 900_000;
/// How often a node announces the teams with open pages, and how long that is valid.
const PAGES_INTERVAL: Duration = Duration::from_secs(5);
const PAGES_LIFETIME: Duration = Duration::from_secs(15);
/// How many changed monitors one message names.
const MAX_CHANGED: usize = 1_000;
/// When a subscription that has ended is made again.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// How far the clocks of two nodes may differ, and how long an envelope is accepted.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(60);

/// A message to the other nodes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NodeMessage {
    Edited(Edit),
    /// For the pages of a team.
    Event(TeamId, Event),
    /// The sender has open pages of these teams.
    Listening(Vec<TeamId>),
    /// A node joined, left or released slots.
    Round,
    /// There is a new request to the owner of a monitor.
    Asked,
    /// A request has been answered.
    Answered,
    /// Status pages were edited.
    Statuspages,
    /// These monitors, which status pages show, have another status.
    Changed(Vec<MonitorId>),
}

/// An envelope without a time is refused: it comes from an older version or is replayed.
/// Its content can be found in the store.
#[derive(Serialize, Deserialize)]
struct Envelope {
    id: Uuid,
    from: NodeId,
    /// The sender's time, in milliseconds.
    at: i64,
    news: Vec<NodeMessage>,
}

/// The received envelopes, for as long as one of them could be replayed.
#[derive(Default)]
struct SeenEnvelopes {
    current: HashSet<Uuid>,
    previous: HashSet<Uuid>,
    rotated_at: Option<Millis>,
}

impl SeenEnvelopes {
    /// Whether an envelope is recent and has not been received before.
    fn is_new(&mut self, id: Uuid, at: Millis, now: Millis) -> bool {
        if Duration::from_millis(now.0.abs_diff(at.0)) > MAX_CLOCK_SKEW {
            return false;
        }
        // An envelope written a minute ahead of this clock is accepted for two minutes.
        if now.since(*self.rotated_at.get_or_insert(now)) > 2 * MAX_CLOCK_SKEW {
            (self.previous, self.rotated_at) = (std::mem::take(&mut self.current), Some(now));
        }
        !self.previous.contains(&id) && self.current.insert(id)
    }
}

/// The connection to the other nodes.
pub(super) struct RemoteNodes {
    nats: Nats,
    outgoing: mpsc::Sender<NodeMessage>,
    /// Taken by the sending loop.
    waiting: Mutex<Option<mpsc::Receiver<NodeMessage>>>,
    /// Teams with open pages on other nodes, and until when that is valid.
    pages: Mutex<HashMap<TeamId, Instant>>,
    /// Spares the result writer the lock while there are none.
    any_pages: AtomicBool,
}

impl RemoteNodes {
    pub(super) fn new(nats: Nats) -> Self {
        let (outgoing, waiting) = mpsc::channel(MAX_QUEUED);
        Self {
            nats,
            outgoing,
            waiting: Mutex::new(Some(waiting)),
            pages: Mutex::default(),
            any_pages: AtomicBool::new(false),
        }
    }

    pub(super) fn nats(&self) -> &Nats {
        &self.nats
    }

    pub(super) fn send_to_nodes(&self, message: NodeMessage) {
        if self.nats.is_connected() && self.outgoing.try_send(message).is_err() {
            metrics::counter!("wakeful_bus_dropped_total").increment(1);
        }
    }

    pub(super) fn has_pages_of(&self, team: TeamId) -> bool {
        self.any_pages.load(Ordering::Relaxed)
            && lock(&self.pages).get(&team).is_some_and(|until| Instant::now() < *until)
    }

    fn note_pages(&self, teams: Vec<TeamId>) {
        let mut pages = lock(&self.pages);
        let now = Instant::now();
        pages.retain(|_, until| now < *until);
        pages.extend(teams.into_iter().map(|team| (team, now + PAGES_LIFETIME)));
        self.any_pages.store(!pages.is_empty(), Ordering::Relaxed);
    }
}

impl Bus {
    /// Sends to the other nodes without the loop, which may have ended.
    pub(crate) async fn send_to_nodes_now(&self, message: NodeMessage, engine: &Engine) {
        if let Some(remote) = &self.remote {
            send(engine, remote, vec![message]).await;
        }
    }
}

/// Exchanges messages with the other nodes, if there are any, until shutdown.
pub(crate) async fn run(engine: Engine, shutdown: CancellationToken) {
    let Some(remote) = &engine.bus().remote else { return shutdown.cancelled().await };
    let mut known = SeenEnvelopes::default();
    loop {
        exchange(&engine, remote, &mut known, &shutdown).await;
        if shutdown.is_cancelled() {
            return;
        }
        tracing::error!(
            "the exchange of messages with other nodes ended, starting it again in {} s",
            RETRY_INTERVAL.as_secs()
        );
        tokio::select! {
            () = sleep(RETRY_INTERVAL) => {}
            () = shutdown.cancelled() => return,
        }
        note_lost_messages(&engine, remote);
    }
}

/// Messages sent meanwhile are lost, from here and to here: pages, status pages and slots have to
/// be read again. The other nodes may have been connected all the time.
fn note_lost_messages(engine: &Engine, remote: &RemoteNodes) {
    engine.bus().publish_to_all_pages(&Event::Missed);
    engine.cluster().signals.round.notify_one();
    engine.snapshots().note_lost_messages();
    remote.send_to_nodes(NodeMessage::Statuspages);
    for monitors in engine.snapshots().shown_monitors().chunks(MAX_CHANGED) {
        remote.send_to_nodes(NodeMessage::Changed(monitors.to_vec()));
    }
}

/// Exchanges messages until shutdown, or until the subscription ends.
async fn exchange(
    engine: &Engine,
    remote: &RemoteNodes,
    known: &mut SeenEnvelopes,
    shutdown: &CancellationToken,
) {
    let Some(mut envelopes) = remote.nats.subscribe(SUBJECT).await else { return };
    let Some(mut waiting) = lock(&remote.waiting).take() else { return };
    let mut connection = remote.nats.connection();
    let mut pages = interval(PAGES_INTERVAL);
    pages.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut batch = Vec::new();
    loop {
        tokio::select! {
            received = next_messages(engine, &mut envelopes, known) => match received {
                Some(messages) => {
                    messages.into_iter().for_each(|message| handle(engine, remote, message));
                }
                None => break,
            },
            _ = waiting.recv_many(&mut batch, MAX_BATCH) => {
                send(engine, remote, std::mem::take(&mut batch)).await;
            }
            _ = pages.tick() => {
                remote.note_pages(Vec::new());
                let teams = engine.bus().teams.all();
                if !teams.is_empty() {
                    remote.send_to_nodes(NodeMessage::Listening(teams.into_iter().collect()));
                }
                metrics::gauge!("wakeful_bus_connected")
                    .set(if remote.nats.is_connected() { 1.0 } else { 0.0 });
            }
            changed = connection.changed() => {
                if changed.is_err() {
                    break;
                }
                note_lost_messages(engine, remote);
            }
            () = shutdown.cancelled() => break,
        }
    }
    // The next run of the loop continues with the waiting messages.
    *lock(&remote.waiting) = Some(waiting);
}

/// The messages of the next envelope from another node; `None` after the last.
async fn next_messages(
    engine: &Engine,
    envelopes: &mut Subscriber,
    known: &mut SeenEnvelopes,
) -> Option<Vec<NodeMessage>> {
    loop {
        let message = envelopes.next().await?;
        let plain = engine.store().open_node_message(&message.payload);
        let envelope = plain.and_then(|plain| serde_json::from_slice::<Envelope>(&plain).ok());
        let Some(envelope) = envelope else {
            metrics::counter!("wakeful_bus_unreadable_total").increment(1);
            continue;
        };
        if envelope.from == engine.cluster().node() {
            continue;
        }
        if known.is_new(envelope.id, Millis(envelope.at), engine.now()) {
            return Some(envelope.news);
        } else {
            metrics::counter!("wakeful_bus_repeated_total").increment(1);
        }
    }
}

fn handle(engine: &Engine, remote: &RemoteNodes, message: NodeMessage) {
    let signals = &engine.cluster().signals;
    match message {
        NodeMessage::Edited(edit) if edit.check => {
            engine.0.recent_members.forget(edit.team);
            engine.scheduler().check_soon(edit.monitor);
        }
        NodeMessage::Edited(edit) => {
            engine.bus().reload_monitor(edit);
        }
        NodeMessage::Event(team, event) => engine.bus().teams.publish(team, || event),
        NodeMessage::Listening(teams) => remote.note_pages(teams),
        NodeMessage::Round => signals.round.notify_one(),
        NodeMessage::Asked => signals.request_added.notify_one(),
        NodeMessage::Answered => signals.response_added.notify_waiters(),
        NodeMessage::Statuspages => engine.snapshots().reload(),
        NodeMessage::Changed(monitors) => engine.snapshots().note_changes(&monitors),
    }
}

async fn send(engine: &Engine, remote: &RemoteNodes, messages: Vec<NodeMessage>) {
    let (id, from) = (Uuid::from_bytes(random::bytes()), engine.cluster().node());
    let envelope = Envelope { id, from, at: engine.now().0, news: messages.clone() };
    let envelope = serde_json::to_vec(&envelope);
    let envelope = envelope.expect("messages are plain data");
    if envelope.len() > MAX_MESSAGE_BYTES && messages.len() > 1 {
        let (one, other) = messages.split_at(messages.len() / 2);
        Box::pin(send(engine, remote, one.to_vec())).await;
        Box::pin(send(engine, remote, other.to_vec())).await;
        return;
    }
    remote.nats.publish(SUBJECT.to_owned(), engine.store().seal_node_message(&envelope)).await;
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_is_accepted_within_a_minute_and_once() {
        let mut received = SeenEnvelopes::default();
        let start = 1_000_000;
        let mut is_new = |id: u128, at: i64, now: i64| {
            received.is_new(Uuid::from_u128(id), Millis(start + at), Millis(start + now))
        };
        assert!(is_new(1, 0, 0));
        assert!(!is_new(1, 0, 0), "a replay");
        assert!(is_new(2, 0, 60_000));
        assert!(!is_new(3, 0, 60_001), "too old");
        assert!(is_new(4, 120_001, 60_001), "a clock that runs ahead");
        assert!(!is_new(5, 120_002, 60_001));
        // It is remembered for as long as it could be replayed.
        for now in (60_001..=180_001).step_by(10_000) {
            assert!(!is_new(4, 120_001, now), "{now}");
        }
        assert!(is_new(6, 500_000, 500_000));
    }

    #[test]
    fn old_envelopes_are_forgotten() {
        let mut received = SeenEnvelopes::default();
        for minute in 0..60_u32 {
            let now = Millis(i64::from(minute) * 60_000);
            for envelope in 0..10_u128 {
                assert!(received.is_new(
                    Uuid::from_u128(u128::from(minute) * 10 + envelope),
                    now,
                    now
                ));
            }
            assert!(received.current.len() + received.previous.len() <= 70);
        }
    }
}
