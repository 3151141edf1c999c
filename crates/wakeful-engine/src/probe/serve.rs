//! The probe's side: hears what is asked of it, looks through a net and a policy
//! of its own, and answers. It keeps nothing and needs no database. What is not
//! sealed for it, is old, or was heard before is not done.

use async_nats::Message;
use futures_util::StreamExt as _;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;
use wakeful_core::observation::{Fault, FaultKind};
use wakeful_core::region::{ProbeName, Region};
use wakeful_core::time::{Clock, Millis};
use wakeful_core::verdict::Seen;
use wakeful_outbound::net::Net;

use super::protocol::{self, Ask, Batch, CLOCKS, HELLO, Hello, ProbeKey, Reply};
use crate::bus::nats::Nats;
use crate::watch::{Looked, Network, look_through};

/// How long answers to one batch are gathered.
const GATHER: Duration = Duration::from_millis(3);
/// How long the checks under way may take when the probe stops.
const LAST_CHECKS: Duration = Duration::from_secs(8);
/// Nobody calls the roll more often than this.
const BETWEEN_HELLOS: Duration = Duration::from_millis(200);

/// What a probe is made of.
pub struct Probe {
    region: Region,
    name: ProbeName,
    key: ProbeKey,
    nats: Nats,
    net: Arc<Net>,
    network: Network,
    clock: Arc<dyn Clock>,
    turns: Semaphore,
    since: Millis,
    /// The longest wait for a turn since the last hello, in milliseconds.
    lag: AtomicU64,
    heard: Mutex<HashMap<Uuid, Instant>>,
}

impl Probe {
    /// `sentinels` answer as long as the probe's own network works.
    pub fn new(
        (region, name, key): (Region, ProbeName, ProbeKey),
        nats: Nats,
        net: Arc<Net>,
        clock: Arc<dyn Clock>,
        checks_at_once: usize,
        sentinels: Vec<(String, u16)>,
    ) -> Self {
        Self {
            region,
            name,
            key,
            nats,
            net,
            network: Network::new(sentinels),
            since: clock.now(),
            clock,
            turns: Semaphore::new(checks_at_once.max(1)),
            lag: AtomicU64::new(0),
            heard: Mutex::default(),
        }
    }

    /// What is asked, if it is for this probe, of this moment, and new.
    fn opened(&self, message: &[u8]) -> Option<Batch> {
        let Some(batch) = self.key.open_batch(message) else {
            tracing::warn!("refused an ask that is not sealed for this probe");
            return None;
        };
        let apart = Duration::from_millis(self.clock.now().0.abs_diff(batch.at));
        if apart > CLOCKS {
            tracing::warn!(
                "refused an ask of another time: it is old, or the clocks differ by {} s",
                apart.as_secs()
            );
            return None;
        }
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.retain(|_, at| at.elapsed() < CLOCKS * 2);
        if heard.insert(batch.id, Instant::now()).is_some() {
            tracing::warn!("refused an ask that was heard before");
            return None;
        }
        Some(batch)
    }

    async fn say_hello(&self, leaves: bool) {
        let hello = Hello {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            at: self.clock.now().0,
            since: self.since.0,
            lag: self.lag.swap(0, Ordering::Relaxed),
            leaves,
        };
        let subject = protocol::hello_subject(&self.region, &self.name);
        self.nats.publish(subject, self.key.seal_hello(&hello)).await;
    }

    /// Makes one check when its turn has come.
    async fn make(&self, ask: &Ask) -> Looked {
        let (waited, limit) = (Instant::now(), Duration::from_millis(ask.timeout));
        let Ok(Ok(_turn)) = timeout(limit, self.turns.acquire()).await else {
            return Err(Fault::new(FaultKind::Resources, "the probe has too much to do"));
        };
        self.lag.fetch_max(protocol::millis(waited.elapsed()), Ordering::Relaxed);
        let (spec, interval) = (ask.spec(), Duration::from_millis(ask.interval));
        let looked = look_through(&self.net, &self.network, ask.monitor, &spec, limit, interval);
        match looked.await {
            Seen::Observation(seen) => Ok(seen),
            Seen::Fault(fault) => Err(fault),
            Seen::Report(_) | Seen::Missed(_) => {
                Err(Fault::new(FaultKind::Internal, "a look brings no report"))
            }
        }
    }
}

/// Serves until told to stop, then ends what has begun and says good-bye.
pub async fn run(
    probe: Arc<Probe>,
    shutdown: CancellationToken,
) -> Result<(), async_nats::SubscribeError> {
    let client = probe.nats.client();
    let subject = protocol::ask_subject(&probe.region, &probe.name);
    // Two processes of one name share the work instead of doing it twice.
    let mut asks = client.queue_subscribe(subject, "probe".to_owned()).await?;
    let mut calls = client.subscribe(protocol::ROLLCALL).await?;
    let mut tick = interval(HELLO);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut connection = probe.nats.connection();
    let tasks = TaskTracker::new();
    let mut said: Option<Instant> = None;
    loop {
        tokio::select! {
            Some(message) = asks.next() => begin(&probe, &tasks, message),
            Some(_) = calls.next() => {
                if said.is_none_or(|at| at.elapsed() > BETWEEN_HELLOS) {
                    said = Some(Instant::now());
                    probe.say_hello(false).await;
                }
            }
            Ok(()) = connection.changed() => probe.say_hello(false).await,
            _ = tick.tick() => probe.say_hello(false).await,
            () = shutdown.cancelled() => break,
        }
    }
    probe.say_hello(true).await;
    let _ = asks.unsubscribe().await;
    tasks.close();
    let _ = timeout(LAST_CHECKS, tasks.wait()).await;
    let _ = timeout(Duration::from_secs(1), client.flush()).await;
    Ok(())
}

fn begin(probe: &Arc<Probe>, tasks: &TaskTracker, message: Message) {
    let Some(reply) = message.reply else { return };
    let Some(batch) = probe.opened(&message.payload) else { return };
    let (answers, answered) = mpsc::unbounded_channel();
    for (place, ask) in batch.asks.into_iter().enumerate() {
        let (probe, answers) = (Arc::clone(probe), answers.clone());
        tasks.spawn(async move {
            let looked = probe.make(&ask).await;
            let _ = answers.send((place, looked));
        });
    }
    tasks.spawn(send(Arc::clone(probe), reply.to_string(), batch.id, answered));
}

/// Sends the answers to a batch as they come, those of one moment together.
async fn send(
    probe: Arc<Probe>,
    reply: String,
    batch: Uuid,
    mut answered: mpsc::UnboundedReceiver<(usize, Looked)>,
) {
    while let Some(first) = answered.recv().await {
        sleep(GATHER).await;
        let mut answers = vec![first];
        while let Ok(more) = answered.try_recv() {
            answers.push(more);
        }
        let message = probe.key.seal_reply(batch, &Reply { answers });
        if !probe.nats.publish(reply.clone(), message).await {
            tracing::warn!("an answer could not be sent: NATS is away");
        }
    }
}
