//! The loop that sends the audit log to streams, in order and at least once. The leader runs it
//! for all nodes. Each stream has one request in flight; teams take turns, and a request that
//! takes long leaves its place to others, so that receivers that never respond delay nobody else.
//! The state in memory consists of hints only: the cursors are in the store.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use wakeful_core::access::Permission;
use wakeful_core::audit::{Stream, StreamTarget};
use wakeful_core::backoff::CRASHED;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{StreamId, TeamId};
use wakeful_core::monitors::spec::Headers;
use wakeful_core::notifications::retry::{self, FAILURE_STREAK_GAP, Failure, Outcome};
use wakeful_core::time::Millis;
use wakeful_outbound::fair_queue::{Bounds, FairQueue, Turn};
use wakeful_outbound::notify::signed_post::{SignedPost, TIMEOUT};
use wakeful_store::{AfterFailure, ClaimedBatch, DueStream, StreamTime};

use crate::due_work::DueWorkReader;
use crate::mail::templates;
use crate::notifications::delivery::survive::survived;
use crate::suspects::{InFlight, is_last_chance, may_start};
use crate::{Engine, Result, failpoint, random};

/// Requests in flight, slow ones aside.
const QUEUE: Bounds =
    Bounds { running: 128, waiting: MAX_STREAMS, waiting_per_key: 8, share: |_free| 2 };
/// A request in flight for longer leaves its place to others.
const SLOW_AFTER: Duration = Duration::from_secs(5);
/// Streams that send or wait for their turn.
const MAX_STREAMS: usize = 2_048;
/// Entries are claimed while they are sent: twice as long as any attempt may take.
const LEASE: Duration = Duration::from_secs(30);
const _: () = assert!(LEASE.as_secs() >= 2 * TIMEOUT.as_secs());
/// How long a stream pauses if storage fails, or if it cannot be read.
const ERROR_PAUSE: Duration = Duration::from_secs(10);
/// How often the entries that wait are counted, for the metrics.
const COUNT_INTERVAL: Duration = Duration::from_secs(15);
/// The pause between attempts to record an outcome.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Sends until shutdown. Requests in flight then have `shutdown_timeout` to finish: if they were
/// sent again after the next start, they would arrive twice.
pub async fn run(engine: Engine, shutdown: CancellationToken, shutdown_timeout: Duration) {
    let mut dispatcher = Dispatcher::new(engine.clone(), shutdown.clone());
    let mut due_work = DueWorkReader::default();
    while !shutdown.is_cancelled() {
        tokio::select! {
            due = due_work.next(&engine) => {
                if engine.cluster().is_leader() {
                    dispatcher.count_pending().await;
                    if due.audit_streams {
                        dispatcher.poll().await;
                    }
                }
            }
            () = shutdown.cancelled() => {}
        }
    }
    if timeout(shutdown_timeout, dispatcher.drain()).await.is_err() {
        // The next process sends the rest.
        dispatcher.tasks.shutdown().await;
        engine.release_claims().await;
    }
}

struct Dispatcher {
    engine: Engine,
    shutdown: CancellationToken,
    queue: Arc<FairQueue<TeamId>>,
    tasks: JoinSet<()>,
    in_flight: HashMap<StreamId, (AbortHandle, InFlight)>,
    counted: Option<Instant>,
}

impl Dispatcher {
    fn new(engine: Engine, shutdown: CancellationToken) -> Self {
        let queue = Arc::new(FairQueue::new(QUEUE));
        let (tasks, in_flight) = (JoinSet::new(), HashMap::new());
        Self { engine, shutdown, queue, tasks, in_flight, counted: None }
    }

    /// Starts the streams that are due, first those that are to be sent alone.
    async fn poll(&mut self) {
        self.in_flight.retain(|_, (task, _)| !task.is_finished());
        while self.tasks.try_join_next().is_some() {}
        let mut due = match self.engine.store().due_streams(time(self.engine.now())).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(error = %ErrorChain(&error), "reading streams of the audit log failed, retrying");
                return;
            }
        };
        due.sort_by_key(|stream| !is_last_chance(stream.crashes));
        for stream in due {
            if self.in_flight.len() >= MAX_STREAMS {
                return;
            }
            let crashes = stream.crashes;
            let others = self.in_flight.values().map(|(_, stream)| *stream);
            if !self.in_flight.contains_key(&stream.id) && may_start(crashes, others) {
                let sending = send_all(
                    self.engine.clone(),
                    Arc::clone(&self.queue),
                    stream,
                    self.shutdown.clone(),
                );
                let begun = InFlight { crashes, begun: Instant::now() };
                self.in_flight.insert(stream.id, (self.tasks.spawn(sending), begun));
            }
        }
    }

    async fn count_pending(&mut self) {
        if self.counted.is_some_and(|at| at.elapsed() < COUNT_INTERVAL) {
            return;
        }
        self.counted = Some(Instant::now());
        // If it fails, reading the streams does, too, which is reported.
        if let Ok(pending) = self.engine.store().pending_stream_entries().await {
            metrics::gauge!("wakeful_audit_stream_pending").set(pending as f64);
        }
    }

    async fn drain(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Sends the entries of a stream until there are none, or until an attempt fails.
async fn send_all(
    engine: Engine,
    queue: Arc<FairQueue<TeamId>>,
    stream: DueStream,
    shutdown: CancellationToken,
) {
    loop {
        let turn = tokio::select! {
            turn = queue.turn(stream.team) => turn,
            () = shutdown.cancelled() => return,
        };
        // Without a place, it is due again at the next poll.
        let Ok(turn) = turn else { return };
        if shutdown.is_cancelled() || !engine.cluster().is_leader() {
            return;
        }
        match send_next(&engine, stream.id, turn).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                let id = stream.id;
                tracing::warn!(stream.id = %id, error = %ErrorChain(&error), "sending the audit log to stream {id} failed, retrying in {} s", ERROR_PAUSE.as_secs());
                tokio::select! {
                    () = sleep(ERROR_PAUSE) => {}
                    () = shutdown.cancelled() => {}
                }
                return;
            }
        }
    }
}

/// Sends the next entries of a stream; true if they arrived, and there may be more.
async fn send_next(engine: &Engine, id: StreamId, turn: Turn<TeamId>) -> Result<bool> {
    let (claimed_at, now) = (Instant::now(), engine.now());
    let claimed = engine.store().claim_batch(id, time(now), now.after(LEASE)).await?;
    let Some(claimed) = claimed else { return Ok(false) };
    if !engine.cluster().lease_held_since(claimed_at) {
        // This node stalled after its claim, and another may be the leader.
        engine.store().release_batch(&claimed).await?;
        return Ok(false);
    }
    let ClaimedBatch { stream, batch, .. } = &claimed;
    let Some(batch) = batch else {
        disable(engine, &claimed, CRASHED, "several processes crashed while sending it").await?;
        return Ok(false);
    };
    let body = batch.body(stream.team, now);
    failpoint::with("while-streaming", &body);
    let mut sending = pin!(survived(post(engine, &stream.target, batch.id(id), body)));
    let sent = match timeout(SLOW_AFTER, &mut sending).await {
        Ok(sent) => sent,
        Err(_) => {
            drop(turn);
            sending.await
        }
    };
    let outcome = sent.unwrap_or_else(|_| Outcome::failed("Wakeful itself failed while sending"));
    let is_delivered = matches!(outcome, Outcome::Delivered(_));
    let result = if is_delivered { "delivered" } else { "failed" };
    metrics::counter!("wakeful_audit_stream_requests_total", "result" => result).increment(1);
    failpoint::here("after-stream");
    while let Err(error) = record(engine, &claimed, batch.last, &outcome).await {
        if engine.now().after(RETRY_PAUSE) >= claimed.lease {
            return Err(error);
        }
        sleep(RETRY_PAUSE).await;
    }
    Ok(is_delivered)
}

/// Sends a signed request to the receiver of a stream.
pub(super) async fn post(
    engine: &Engine,
    target: &StreamTarget,
    id: String,
    body: String,
) -> Outcome {
    let (now, headers) = (engine.now(), Headers::default());
    let url = target.url.url().clone();
    let message = SignedPost { url, headers: &headers, id, body, secrets: vec![&target.secret] };
    match message.prepare(now) {
        Ok(message) => message.send(engine.net(), now).await,
        Err(why) => Outcome::Refused(why),
    }
}

async fn record(
    engine: &Engine,
    claimed: &ClaimedBatch,
    last: i64,
    outcome: &Outcome,
) -> Result<()> {
    let (store, now) = (engine.store(), engine.now());
    let stream = &claimed.stream;
    let id = stream.id;
    let failure = match outcome {
        Outcome::Delivered(_) | Outcome::Partial { .. } => {
            return Ok(store.batch_delivered(id, stream.cursor, last).await?);
        }
        Outcome::Gone(_) => {
            let why = "its receiver responded with 410 Gone";
            return disable(engine, claimed, outcome.answer(), why).await;
        }
        Outcome::Failed(failure) => failure.clone(),
        Outcome::Refused(why) => Failure { answer: why.clone(), ..Failure::default() },
    };
    let answer = outcome.answer();
    tracing::info!(stream.id = %id, answer, "sending the audit log to stream {id} failed");
    let jitter = u32::from_ne_bytes(random::bytes());
    match retry::delay(stream.attempts.saturating_add(1), &failure, jitter) {
        Some(wait) => {
            let next = AfterFailure::RetryAt(now.after(wait));
            store.batch_failed(claimed, answer, next, now).await?;
            Ok(())
        }
        None => disable(engine, claimed, answer, "all attempts to reach its receiver failed").await,
    }
}

/// Disables a stream and notifies those who may change it.
async fn disable(engine: &Engine, claimed: &ClaimedBatch, answer: &str, why: &str) -> Result<()> {
    let Stream { id, team, target, .. } = &claimed.stream;
    let owners = engine.emails_of_members_with(*team, Permission::Own).await?;
    let text = templates::stream_disabled(engine.settings(), &target.origin(), why);
    let mails: Vec<_> = owners.iter().map(|email| engine.new_mail(email, text.clone())).collect();
    let next = AfterFailure::Disable(&mails);
    if engine.store().batch_failed(claimed, answer, next, engine.now()).await? {
        tracing::warn!(stream.id = %id, answer, "disabled stream {id} of the audit log: {why}");
        engine.0.mail_queued.notify_one();
    }
    Ok(())
}

pub(crate) fn time(now: Millis) -> StreamTime {
    StreamTime { now, latest: now.after(FAILURE_STREAK_GAP) }
}
