//! The side of the probe: it receives requests, runs the checks with its own network policy,
//! and replies. It stores nothing and needs no database. A request that is not sealed for
//! it, is too old or repeated is rejected. The teams of its nodes take turns: the slow checks
//! of one cannot keep those of another from running.

use async_nats::Message;
use futures_util::StreamExt as _;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;
use wakeful_core::observation::{Fault, FaultKind};
use wakeful_core::region::{ProbeName, Region};
use wakeful_core::time::{Clock, Millis};
use wakeful_core::verdict::Input;
use wakeful_outbound::net::Net;

use super::client::REPLY_MARGIN;
use super::protocol::{
    self, Batch, Cancellation, CheckRequest, HELLO_INTERVAL, Hello, MAX_CLOCK_SKEW, ProbeKey, Reply,
};
use crate::bus::nats::Nats;
use crate::scheduler::{CheckResult, Connectivity, FairPlaces, check_through};
use crate::version;

/// How long results of one batch are collected.
const REPLY_WINDOW: Duration = Duration::from_millis(3);
/// How long running checks may take when the probe stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(8);
/// How much longer than its timeout a check may take, turns included. Nodes wait a little
/// longer.
const TURN_MARGIN: Duration = Duration::from_secs(1);
const _: () = assert!(TURN_MARGIN.as_millis() < REPLY_MARGIN.as_millis());
/// How often a probe answers requests for a hello at most.
const MIN_HELLO_INTERVAL: Duration = Duration::from_millis(200);

/// What a probe is known by, and the key for its messages.
pub struct ProbeIdentity {
    pub region: Region,
    pub name: ProbeName,
    pub key: ProbeKey,
}

/// The state of a probe.
pub struct Probe {
    region: Region,
    name: ProbeName,
    key: ProbeKey,
    nats: Nats,
    net: Arc<Net>,
    connectivity: Connectivity,
    clock: Arc<dyn Clock>,
    places: FairPlaces,
    since: Millis,
    /// The longest wait for a turn since the last hello, in milliseconds.
    lag: AtomicU64,
    seen_batches: Mutex<HashMap<Uuid, Instant>>,
    running: RunningBatches,
}

/// The batches whose checks have not all ended, with a token for each check.
#[derive(Default)]
struct RunningBatches(Mutex<HashMap<Uuid, Vec<CancellationToken>>>);

impl RunningBatches {
    fn begin(&self, batch: Uuid, checks: usize) -> Vec<CancellationToken> {
        let tokens: Vec<_> = (0..checks).map(|_| CancellationToken::new()).collect();
        self.lock().insert(batch, tokens.clone());
        tokens
    }

    fn cancel(&self, cancellation: &Cancellation) {
        let running = self.lock();
        let Some(tokens) = running.get(&cancellation.batch) else { return };
        let canceled = cancellation.asks.iter().filter_map(|position| tokens.get(*position));
        canceled.for_each(CancellationToken::cancel);
    }

    fn end(&self, batch: Uuid) {
        self.lock().remove(&batch);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Vec<CancellationToken>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Probe {
    /// `sentinels` respond as long as the probe's own network works.
    pub fn new(
        identity: ProbeIdentity,
        nats: Nats,
        net: Arc<Net>,
        clock: Arc<dyn Clock>,
        max_concurrent_checks: usize,
        sentinels: Vec<(String, u16)>,
    ) -> Self {
        let ProbeIdentity { region, name, key } = identity;
        Self {
            region,
            name,
            key,
            nats,
            net,
            connectivity: Connectivity::new(sentinels),
            since: clock.now(),
            clock,
            places: FairPlaces::new(max_concurrent_checks),
            lag: AtomicU64::new(0),
            seen_batches: Mutex::default(),
            running: RunningBatches::default(),
        }
    }

    /// The batch, if it is for this probe, recent and new.
    fn accept_batch(&self, message: &[u8]) -> Option<Batch> {
        let Some(batch) = self.key.open_batch(message) else {
            tracing::warn!("rejected a request that is not encrypted for this probe");
            return None;
        };
        let apart = Duration::from_millis(self.clock.now().0.abs_diff(batch.at));
        if apart > MAX_CLOCK_SKEW {
            tracing::warn!(
                "rejected a request: it is too old, or the clocks differ by {} s",
                apart.as_secs()
            );
            return None;
        }
        let mut seen_batches = self.seen_batches.lock().unwrap_or_else(PoisonError::into_inner);
        seen_batches.retain(|_, at| at.elapsed() < MAX_CLOCK_SKEW * 2);
        if seen_batches.insert(batch.id, Instant::now()).is_some() {
            tracing::warn!("rejected a repeated request");
            return None;
        }
        Some(batch)
    }

    async fn send_hello(&self, leaves: bool) {
        let hello = Hello {
            version: version::announced(),
            at: self.clock.now().0,
            since: self.since.0,
            lag: self.lag.swap(0, Ordering::Relaxed),
            leaves,
            features: protocol::FEATURES.iter().map(|&feature| feature.to_owned()).collect(),
        };
        let subject = protocol::hello_subject(&self.region, &self.name);
        self.nats.publish(subject, self.key.seal_hello(&hello)).await;
    }

    /// Runs one check when it is its turn.
    async fn run_check(&self, request: &CheckRequest) -> CheckResult {
        let (waited, limit) = (Instant::now(), Duration::from_millis(request.timeout));
        let (spec, interval) = (request.spec(), Duration::from_millis(request.interval));
        let mut has_begun = false;
        let check = || {
            if !std::mem::replace(&mut has_begun, true) {
                self.lag.fetch_max(protocol::millis(waited.elapsed()), Ordering::Relaxed);
            }
            let (net, connectivity) = (&self.net, &self.connectivity);
            let check = request.check(&spec);
            async move {
                check_through(net, connectivity, request.monitor, &check, limit, interval).await
            }
        };
        let until = waited + limit + TURN_MARGIN;
        let result = self.places.run(request.group(), request.monitor, until, check).await;
        let Some(result) = result else {
            return Err(Fault::new(FaultKind::Resources, "the probe is overloaded"));
        };
        match result {
            Input::Observation(seen) => Ok(seen),
            Input::Fault(fault) => Err(fault),
            Input::Report(_) | Input::Missed(_) | Input::Overran(_) => {
                Err(Fault::new(FaultKind::Internal, "a check returned a report"))
            }
        }
    }
}

/// Serves until shutdown, then says goodbye and finishes running checks.
pub async fn run(
    probe: Arc<Probe>,
    shutdown: CancellationToken,
) -> Result<(), async_nats::SubscribeError> {
    let client = probe.nats.client();
    let subject = protocol::request_subject(&probe.region, &probe.name);
    // Two processes with the same name share the work instead of doing it twice.
    let mut requests = client.queue_subscribe(subject, "probe".to_owned()).await?;
    let mut discovery = client.subscribe(protocol::DISCOVERY_SUBJECT).await?;
    let mut tick = interval(HELLO_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut connection = probe.nats.connection();
    let tasks = TaskTracker::new();
    let mut last_hello: Option<Instant> = None;
    let mut releasing = pin!(probe.places.release_waiting());
    loop {
        tokio::select! {
            Some(message) = requests.next() => start_batch(&probe, &tasks, message),
            Some(_) = discovery.next() => {
                if last_hello.is_none_or(|at| at.elapsed() > MIN_HELLO_INTERVAL) {
                    last_hello = Some(Instant::now());
                    probe.send_hello(false).await;
                }
            }
            Ok(()) = connection.changed() => probe.send_hello(false).await,
            _ = tick.tick() => probe.send_hello(false).await,
            () = &mut releasing => {}
            () = shutdown.cancelled() => break,
        }
    }
    probe.send_hello(true).await;
    let _ = requests.unsubscribe().await;
    tasks.close();
    let _ = timeout(SHUTDOWN_TIMEOUT, tasks.wait()).await;
    let _ = timeout(Duration::from_secs(1), client.flush()).await;
    Ok(())
}

fn start_batch(probe: &Arc<Probe>, tasks: &TaskTracker, message: Message) {
    let Some(reply) = message.reply else {
        if let Some(cancellation) = probe.key.open_cancellation(&message.payload) {
            probe.running.cancel(&cancellation);
        }
        return;
    };
    let Some(batch) = probe.accept_batch(&message.payload) else { return };
    let (answers, answered) = mpsc::unbounded_channel();
    let canceled = probe.running.begin(batch.id, batch.asks.len());
    for ((position, request), canceled) in batch.asks.into_iter().enumerate().zip(canceled) {
        let (probe, answers) = (Arc::clone(probe), answers.clone());
        tasks.spawn(async move {
            tokio::select! {
                result = probe.run_check(&request) => {
                    let _ = answers.send((position, result));
                }
                () = canceled.cancelled() => {}
            }
        });
    }
    tasks.spawn(send_replies(Arc::clone(probe), reply.to_string(), batch.id, answered));
}

/// Sends the results of a batch as they arrive, those of one moment together.
async fn send_replies(
    probe: Arc<Probe>,
    reply: String,
    batch: Uuid,
    mut answered: mpsc::UnboundedReceiver<(usize, CheckResult)>,
) {
    while let Some(first) = answered.recv().await {
        sleep(REPLY_WINDOW).await;
        let mut answers = vec![first];
        while let Ok(more) = answered.try_recv() {
            answers.push(more);
        }
        let message = probe.key.seal_reply(batch, &Reply { answers });
        if !probe.nats.publish(reply.clone(), message).await {
            tracing::warn!("sending results failed: not connected to NATS");
        }
    }
    probe.running.end(batch);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancellation_ends_the_checks_that_it_names() {
        let (running, batch) = (RunningBatches::default(), Uuid::from_u128(7));
        let tokens = running.begin(batch, 3);
        let canceled = || [0, 1, 2].map(|at: usize| tokens[at].is_cancelled());
        running.cancel(&Cancellation { batch: Uuid::from_u128(8), asks: vec![0, 1, 2] });
        assert_eq!(canceled(), [false; 3]);
        running.cancel(&Cancellation { batch, asks: vec![1, 99] });
        assert_eq!(canceled(), [false, true, false]);
        running.end(batch);
        assert!(running.lock().is_empty());
    }
}
