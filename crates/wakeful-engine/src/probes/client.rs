//! The side of the node that owns a monitor. Checks for the same probe are collected for a
//! moment and sent together, and every reply goes to the check that waits for it. A reply
//! that was not requested from this probe, is late or repeated is dropped. Checks that are no
//! longer waited for, such as those of deleted monitors, are canceled.

use async_nats::{Message, StatusCode};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::TaskTracker;
use uuid::Uuid;
use wakeful_core::observation::{Fault, FaultKind, Observation};
use wakeful_core::quorum::RegionResult;
use wakeful_core::region::{ProbeName, Region};
use wakeful_core::seal::Key;
use wakeful_core::time::Clock;

use super::protocol::{self, Batch, Cancellation, CheckRequest};
use super::registry::{ProbeRegistry, SelectedProbe};
use crate::bus::nats::Nats;
use crate::random;
use crate::scheduler::CheckResult;

/// How long checks for one probe are collected.
const BATCH_WINDOW: Duration = Duration::from_millis(5);
const MAX_BATCH: usize = 64;
/// Well below the default message limit of a NATS server, 1 MiB.
const MAX_BATCH_BYTES: usize = 512 * 1024;
/// How much longer than the check itself its reply may take.
pub(super) const REPLY_MARGIN: Duration = Duration::from_secs(2);

/// The connection to the probes.
pub struct Probes {
    nats: Nats,
    cluster: Vec<Key>,
    clock: Arc<dyn Clock>,
    /// Whether this node checks a target itself when its probes cannot be reached.
    local_fallback: bool,
    inbox: String,
    registry: ProbeRegistry,
    queues: Mutex<HashMap<(Region, ProbeName), Vec<PendingCheck>>>,
    in_flight: Mutex<HashMap<Uuid, SentBatch>>,
    tasks: TaskTracker,
}

/// A check to be sent to a probe, and the receiver of its result.
struct PendingCheck {
    request: CheckRequest,
    answer: oneshot::Sender<ProbeReply>,
}

/// A batch whose replies are awaited.
struct SentBatch {
    probe: SelectedProbe,
    waiting: HashMap<usize, oneshot::Sender<ProbeReply>>,
    until: Instant,
}

enum ProbeReply {
    CheckResult(Box<CheckResult>),
    /// No probe is subscribed to the subject.
    NoResponder,
    NotSent,
}

impl Probes {
    pub fn new(nats: Nats, cluster: Vec<Key>, clock: Arc<dyn Clock>, local_fallback: bool) -> Self {
        let inbox = format!("_INBOX.wakeful{}", Uuid::from_bytes(random::bytes()).simple());
        Self {
            nats,
            cluster,
            clock,
            local_fallback,
            inbox,
            registry: ProbeRegistry::default(),
            queues: Mutex::default(),
            in_flight: Mutex::default(),
            tasks: TaskTracker::new(),
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.nats.is_connected()
    }

    pub(super) fn local_fallback(&self) -> bool {
        self.local_fallback
    }

    pub(super) fn nats(&self) -> &Nats {
        &self.nats
    }

    pub(super) fn cluster(&self) -> &[Key] {
        &self.cluster
    }

    pub(super) fn inbox(&self) -> &str {
        &self.inbox
    }

    pub(super) fn registry(&self) -> &ProbeRegistry {
        &self.registry
    }

    /// Checks from a region. A failure is checked again by another probe of the region, if
    /// there is one; if that one succeeds, its result counts.
    pub(super) async fn check_from_region(
        self: &Arc<Self>,
        region: &Region,
        request: &CheckRequest,
        fails: bool,
    ) -> RegionResult {
        let needs = request.needs();
        let answer =
            |result, confirmed| RegionResult { region: region.clone(), outcome: result, confirmed };
        let Some((first, result)) =
            self.request(request, |registry| registry.select(region, None, &needs)).await
        else {
            self.registry.add_region(region);
            let why = match self.registry.missing_feature(region, &needs) {
                Some(feature) => match feature.strip_prefix("kind:") {
                    Some(kind) => format!("no probe in {region} supports {kind} checks"),
                    None => format!("no probe in {region} supports {feature}"),
                },
                None => "no probe is connected".to_owned(),
            };
            let fault = Fault::new(FaultKind::Probe, why);
            return answer(Err(fault), false);
        };
        if !result.as_ref().is_ok_and(|seen| seen.up == fails) {
            return answer(result, false);
        }
        let other = |registry: &ProbeRegistry| registry.select(region, Some(&first.name), &needs);
        match self.request(request, other).await {
            Some((_, Ok(second))) if second.up != fails => answer(Ok(second), false),
            Some((_, Ok(_))) => answer(result, true),
            Some((_, Err(_))) | None => answer(result, false),
        }
    }

    /// Checks from any other region; `None` if no probe could check.
    pub(super) async fn check_from_other_region(
        self: &Arc<Self>,
        region: &Region,
        request: &CheckRequest,
    ) -> Option<RegionResult> {
        let (probe, result) = self
            .request(request, |registry| registry.select_in_other_region(region, &request.needs()))
            .await?;
        result.is_ok().then(|| RegionResult::of(probe.region, result))
    }

    /// Sends a check to a probe, or to the next one if it has left meanwhile. `None` if
    /// there is no probe.
    async fn request(
        self: &Arc<Self>,
        request: &CheckRequest,
        choose: impl Fn(&ProbeRegistry) -> Option<SelectedProbe>,
    ) -> Option<(SelectedProbe, CheckResult)> {
        let wait = Duration::from_millis(request.timeout) + REPLY_MARGIN;
        loop {
            let probe = choose(&self.registry)?;
            let SelectedProbe { region, name, .. } = &probe;
            let started = Instant::now();
            let answer = timeout(wait, self.send(probe.clone(), request.clone())).await;
            let result = match answer {
                Ok(Ok(ProbeReply::CheckResult(result))) => *result,
                Ok(Ok(ProbeReply::NoResponder)) => {
                    self.registry.remove(region, name);
                    continue;
                }
                Ok(Ok(ProbeReply::NotSent)) => {
                    Err(Fault::new(FaultKind::Probe, "the check could not be sent to the probe"))
                }
                Ok(Err(_)) | Err(_) => {
                    self.registry.set_silent(region, name, true);
                    Err(Fault::new(
                        FaultKind::Probe,
                        format!("probe {name} did not answer in time"),
                    ))
                }
            };
            record_metrics(region, &result, started.elapsed());
            return Some((probe, result));
        }
    }

    /// Adds a check to the queue of a probe. The first check in a queue starts the task
    /// that flushes it.
    fn send(
        self: &Arc<Self>,
        probe: SelectedProbe,
        request: CheckRequest,
    ) -> oneshot::Receiver<ProbeReply> {
        let (answer, receiver) = oneshot::channel();
        let key = (probe.region.clone(), probe.name.clone());
        let mut queues = lock(&self.queues);
        let queue = queues.entry(key).or_default();
        let first = queue.is_empty();
        queue.push(PendingCheck { request, answer });
        drop(queues);
        if first {
            let this = Arc::clone(self);
            self.tasks.spawn(async move {
                sleep(BATCH_WINDOW).await;
                this.flush(&probe).await;
            });
        }
        receiver
    }

    async fn flush(&self, probe: &SelectedProbe) {
        let key = (probe.region.clone(), probe.name.clone());
        let mut all = lock(&self.queues).remove(&key).unwrap_or_default();
        while !all.is_empty() {
            let count = batch_len(&all);
            let rest = all.split_off(count);
            self.send_batch(probe, std::mem::replace(&mut all, rest)).await;
        }
    }

    async fn send_batch(&self, probe: &SelectedProbe, batch: Vec<PendingCheck>) {
        let id = Uuid::from_bytes(random::bytes());
        let (mut asks, mut waiting) = (Vec::with_capacity(batch.len()), HashMap::new());
        for (position, PendingCheck { request, answer }) in batch.into_iter().enumerate() {
            asks.push(request);
            waiting.insert(position, answer);
        }
        let longest = asks.iter().map(|request| request.timeout).max().unwrap_or(0);
        let until = Instant::now() + Duration::from_millis(longest) + REPLY_MARGIN * 2;
        lock(&self.in_flight).insert(id, SentBatch { probe: probe.clone(), waiting, until });
        let message = probe.key.seal_batch(&Batch { id, at: self.clock.now().0, asks });
        let subject = protocol::request_subject(&probe.region, &probe.name);
        let reply = format!("{}.{}", self.inbox, id.simple());
        let sent = if self.is_connected() {
            self.nats.client().publish_with_reply(subject, reply, message.into()).await.is_ok()
        } else {
            false
        };
        if !sent && let Some(batch) = lock(&self.in_flight).remove(&id) {
            batch.resolve_all(|| ProbeReply::NotSent);
        }
    }

    /// Handles a message in the reply inbox.
    pub(super) fn receive(&self, message: &Message) {
        let Some(id) = message.subject.rsplit('.').next().and_then(|id| Uuid::try_parse(id).ok())
        else {
            return;
        };
        let mut in_flight = lock(&self.in_flight);
        if message.status == Some(StatusCode::NO_RESPONDERS) {
            if let Some(batch) = in_flight.remove(&id) {
                batch.resolve_all(|| ProbeReply::NoResponder);
            }
            return;
        }
        let Some(batch) = in_flight.get_mut(&id) else { return count_refused("late") };
        if self.registry.is_revoked(&batch.probe.name) {
            return count_refused("revoked");
        }
        let Some(reply) = batch.probe.key.open_reply(id, &message.payload) else {
            return count_refused("seal");
        };
        for (position, result) in reply.answers {
            match batch.waiting.remove(&position) {
                // The receiver may be gone.
                Some(answer) => {
                    drop(answer.send(ProbeReply::CheckResult(Box::new(sanitized(result)))));
                }
                None => count_refused("twice"),
            }
        }
        let SentBatch { probe, waiting, .. } = batch;
        self.registry.set_silent(&probe.region, &probe.name, false);
        if waiting.is_empty() {
            in_flight.remove(&id);
        }
    }

    /// Cancels the checks that nobody waits for any more.
    pub(super) async fn cancel_abandoned(&self) {
        let mut cancellations = Vec::new();
        for (id, batch) in lock(&self.in_flight).iter_mut() {
            let asks = batch.take_abandoned();
            if !asks.is_empty() {
                cancellations.push((batch.probe.clone(), Cancellation { batch: *id, asks }));
            }
        }
        for (probe, cancellation) in cancellations {
            let subject = protocol::request_subject(&probe.region, &probe.name);
            // The probe ends the checks itself, only later.
            self.nats.publish(subject, probe.key.seal_cancellation(&cancellation)).await;
        }
        lock(&self.in_flight).retain(|_, batch| !batch.waiting.is_empty());
    }

    /// Drops batches whose time has expired.
    pub(super) fn drop_expired(&self) {
        let now = Instant::now();
        lock(&self.in_flight).retain(|_, batch| batch.until > now);
    }
}

impl SentBatch {
    /// Removes the checks whose receivers are gone, and returns their positions.
    fn take_abandoned(&mut self) -> Vec<usize> {
        let abandoned = self.waiting.extract_if(|_, answer| answer.is_closed());
        abandoned.map(|(position, _)| position).collect()
    }

    fn resolve_all(self, reply: impl Fn() -> ProbeReply) {
        for (_, answer) in self.waiting {
            let _ = answer.send(reply());
        }
    }
}

/// How many of these checks fit into one message: at least one.
fn batch_len(all: &[PendingCheck]) -> usize {
    let mut size = 0;
    let fit = all.iter().take(MAX_BATCH).take_while(|waiting| {
        size += waiting.request.estimated_size();
        size <= MAX_BATCH_BYTES
    });
    fit.count().max(1)
}

/// Bounds a probe's result like one of this node.
fn sanitized(result: CheckResult) -> CheckResult {
    result.map(Observation::sanitized).map_err(|fault| Fault::new(fault.kind, &fault.message))
}

fn count_refused(why: &'static str) {
    metrics::counter!("wakeful_probe_refused_total", "why" => why).increment(1);
}

fn record_metrics(region: &Region, result: &CheckResult, took: Duration) {
    let result = match result {
        Ok(seen) if seen.up => "up",
        Ok(_) => "down",
        Err(fault) => fault.kind.as_str(),
    };
    let region = region.to_string();
    metrics::counter!("wakeful_probe_asks_total", "region" => region.clone(), "result" => result)
        .increment(1);
    metrics::histogram!("wakeful_probe_answer_seconds", "region" => region)
        .record(took.as_secs_f64());
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::ProbeKey;
    use wakeful_core::observation::{Certificate, Contact};
    use wakeful_core::reason::Reason;
    use wakeful_core::time::Millis;

    #[test]
    fn a_check_that_nobody_waits_for_is_canceled_once() {
        let (region, name) = (Region::parse("eu").unwrap(), ProbeName::parse("one").unwrap());
        let key = ProbeKey::of_cluster(&[Key::new([1; 32])], &region, &name);
        let (answers, mut receivers): (Vec<_>, Vec<_>) = (0..3).map(|_| oneshot::channel()).unzip();
        let mut batch = SentBatch {
            probe: SelectedProbe { region, name, key },
            waiting: answers.into_iter().enumerate().collect(),
            until: Instant::now(),
        };
        assert!(batch.take_abandoned().is_empty());
        drop(receivers.remove(1));
        assert_eq!(batch.take_abandoned(), [1]);
        assert!(batch.take_abandoned().is_empty());
        assert_eq!(batch.waiting.len(), 2);
    }

    #[test]
    fn a_result_of_a_probe_is_bounded_and_printable() {
        let certificate = Certificate {
            subject: format!("CN=\u{1b}]0;evil\u{7}\r\n{}", "x".repeat(100_000)),
            issuer: "\0".into(),
            names: vec!["n".repeat(1_000); 1_000],
            not_after: Millis(i64::MAX),
            trusted: true,
            chain: Vec::new(),
        };
        let reported = Observation {
            up: true,
            message: format!("200\u{1b}[2J{}", "y".repeat(100_000)),
            load_time: Some(Duration::MAX),
            certificate: Some(Box::new(certificate)),
            ..Observation::down(Contact::Silence, Reason::NoReply, "")
        };
        let seen = sanitized(Ok(reported)).expect("an observation");
        let text = serde_json::to_string(&seen).expect("serializes");
        assert!(text.len() < 6_000 && !text.contains("\\u00"), "{text}");
        let fault = Fault { message: "a\nb".into(), ..Fault::new(FaultKind::Probe, "") };
        assert_eq!(sanitized(Err(fault)).expect_err("a fault").message, "a b");
    }
}
