//! The owner's side: checks for the same probe are gathered for a moment and
//! sent together, and every answer finds the one who waits for it. An answer
//! that nobody waits for, that was not asked of this probe, or comes twice, is
//! dropped.

use async_nats::{Message, StatusCode};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::TaskTracker;
use uuid::Uuid;
use wakeful_core::observation::{Fault, FaultKind, Observation};
use wakeful_core::poll::Answer;
use wakeful_core::region::{ProbeName, Region};
use wakeful_core::seal::Key;
use wakeful_core::time::Clock;

use super::protocol::{self, Ask, Batch};
use super::roll::{Chosen, Roll};
use crate::bus::nats::Nats;
use crate::random;
use crate::watch::Looked;

/// How long checks for one probe are gathered.
const GATHER: Duration = Duration::from_millis(5);
const MOST_ASKS: usize = 64;
/// Well below what a NATS server carries in one message by default, 1 MiB.
const HEAVIEST: usize = 512 * 1024;
/// How much longer than the check itself its answer may take.
const ON_THE_WAY: Duration = Duration::from_secs(2);

/// The way to the probes.
pub struct Probes {
    nats: Nats,
    cluster: Vec<Key>,
    clock: Arc<dyn Clock>,
    /// Whether this node looks by itself when its probes cannot be reached.
    stands_in: bool,
    inbox: String,
    roll: Roll,
    desks: Mutex<HashMap<(Region, ProbeName), Vec<Waiting>>>,
    open: Mutex<HashMap<Uuid, Open>>,
    tasks: TaskTracker,
}

/// A check on its way to a probe, and who waits for it.
struct Waiting {
    ask: Ask,
    answer: oneshot::Sender<Answered>,
}

/// A batch that was sent.
struct Open {
    probe: Chosen,
    waiting: HashMap<usize, oneshot::Sender<Answered>>,
    until: Instant,
}

enum Answered {
    Looked(Box<Looked>),
    /// Nobody listens there any more.
    Gone,
    /// It could not be sent.
    Unsent,
}

impl Probes {
    pub fn new(nats: Nats, cluster: Vec<Key>, clock: Arc<dyn Clock>, stands_in: bool) -> Self {
        let inbox = format!("_INBOX.wakeful{}", Uuid::from_bytes(random::bytes()).simple());
        Self {
            nats,
            cluster,
            clock,
            stands_in,
            inbox,
            roll: Roll::default(),
            desks: Mutex::default(),
            open: Mutex::default(),
            tasks: TaskTracker::new(),
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.nats.is_connected()
    }

    pub(super) fn stands_in(&self) -> bool {
        self.stands_in
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

    pub(super) fn roll(&self) -> &Roll {
        &self.roll
    }

    /// What a region sees. A failure is looked at once more by another probe of
    /// the region, where there is one: its word that all is well is believed.
    pub(super) async fn look_from(
        self: &Arc<Self>,
        region: &Region,
        ask: &Ask,
        fails: bool,
    ) -> Answer {
        let answer = |looked, confirmed| Answer { region: region.clone(), looked, confirmed };
        let Some((first, looked)) = self.ask(ask, |roll| roll.choose(region, None)).await else {
            self.roll.missed(region);
            let fault = Fault::new(FaultKind::Probe, "no probe is connected");
            return answer(Err(fault), false);
        };
        if !looked.as_ref().is_ok_and(|seen| seen.up == fails) {
            return answer(looked, false);
        }
        match self.ask(ask, |roll| roll.choose(region, Some(&first.name))).await {
            Some((_, Ok(second))) if second.up != fails => answer(Ok(second), false),
            Some((_, Ok(_))) => answer(looked, true),
            Some((_, Err(_))) | None => answer(looked, false),
        }
    }

    /// What a probe of any other region sees; nothing when none could look.
    pub(super) async fn look_from_elsewhere(
        self: &Arc<Self>,
        region: &Region,
        ask: &Ask,
    ) -> Option<Answer> {
        let (probe, looked) = self.ask(ask, |roll| roll.choose_elsewhere(region)).await?;
        looked.is_ok().then(|| Answer::of(probe.region, looked))
    }

    /// Asks a probe; the next one when it has gone meanwhile. Nothing when there
    /// is none to be asked.
    async fn ask(
        self: &Arc<Self>,
        ask: &Ask,
        choose: impl Fn(&Roll) -> Option<Chosen>,
    ) -> Option<(Chosen, Looked)> {
        let patience = Duration::from_millis(ask.timeout) + ON_THE_WAY;
        loop {
            let probe = choose(&self.roll)?;
            let Chosen { region, name, .. } = &probe;
            let asked = Instant::now();
            let answer = timeout(patience, self.send(probe.clone(), ask.clone())).await;
            let looked = match answer {
                Ok(Ok(Answered::Looked(looked))) => *looked,
                Ok(Ok(Answered::Gone)) => {
                    self.roll.gone(region, name);
                    continue;
                }
                Ok(Ok(Answered::Unsent)) => {
                    Err(Fault::new(FaultKind::Probe, "the check could not be sent to a probe"))
                }
                Ok(Err(_)) | Err(_) => {
                    self.roll.silent(region, name, true);
                    Err(Fault::new(
                        FaultKind::Probe,
                        format!("probe {name} did not answer in time"),
                    ))
                }
            };
            count(region, &looked, asked.elapsed());
            return Some((probe, looked));
        }
    }

    /// Puts a check on the desk of a probe; who finds the desk empty clears it.
    fn send(self: &Arc<Self>, probe: Chosen, ask: Ask) -> oneshot::Receiver<Answered> {
        let (answer, receiver) = oneshot::channel();
        let place = (probe.region.clone(), probe.name.clone());
        let mut desks = lock(&self.desks);
        let desk = desks.entry(place).or_default();
        let first = desk.is_empty();
        desk.push(Waiting { ask, answer });
        drop(desks);
        if first {
            let this = Arc::clone(self);
            self.tasks.spawn(async move {
                sleep(GATHER).await;
                this.clear(&probe).await;
            });
        }
        receiver
    }

    async fn clear(&self, probe: &Chosen) {
        let place = (probe.region.clone(), probe.name.clone());
        let mut all = lock(&self.desks).remove(&place).unwrap_or_default();
        while !all.is_empty() {
            let count = fitting(&all);
            let rest = all.split_off(count);
            self.send_batch(probe, std::mem::replace(&mut all, rest)).await;
        }
    }

    async fn send_batch(&self, probe: &Chosen, batch: Vec<Waiting>) {
        let id = Uuid::from_bytes(random::bytes());
        let (mut asks, mut waiting) = (Vec::with_capacity(batch.len()), HashMap::new());
        for (place, Waiting { ask, answer }) in batch.into_iter().enumerate() {
            asks.push(ask);
            waiting.insert(place, answer);
        }
        let longest = asks.iter().map(|ask| ask.timeout).max().unwrap_or(0);
        let until = Instant::now() + Duration::from_millis(longest) + ON_THE_WAY * 2;
        lock(&self.open).insert(id, Open { probe: probe.clone(), waiting, until });
        let message = probe.key.seal_batch(&Batch { id, at: self.clock.now().0, asks });
        let subject = protocol::ask_subject(&probe.region, &probe.name);
        let reply = format!("{}.{}", self.inbox, id.simple());
        let sent = match self.is_connected() {
            true => {
                self.nats.client().publish_with_reply(subject, reply, message.into()).await.is_ok()
            }
            false => false,
        };
        if !sent && let Some(open) = lock(&self.open).remove(&id) {
            open.tell_all(|| Answered::Unsent);
        }
    }

    /// Takes in what came to the inbox.
    pub(super) fn take(&self, message: &Message) {
        let Some(id) = message.subject.rsplit('.').next().and_then(|id| Uuid::try_parse(id).ok())
        else {
            return;
        };
        let mut open = lock(&self.open);
        if message.status == Some(StatusCode::NO_RESPONDERS) {
            if let Some(open) = open.remove(&id) {
                open.tell_all(|| Answered::Gone);
            }
            return;
        }
        let Some(batch) = open.get_mut(&id) else { return refused("late") };
        if self.roll.is_revoked(&batch.probe.name) {
            return refused("revoked");
        }
        let Some(reply) = batch.probe.key.open_reply(id, &message.payload) else {
            return refused("seal");
        };
        for (place, looked) in reply.answers {
            match batch.waiting.remove(&place) {
                // Whoever waited may have left.
                Some(answer) => drop(answer.send(Answered::Looked(Box::new(sanitized(looked))))),
                None => refused("twice"),
            }
        }
        let Open { probe, waiting, .. } = batch;
        self.roll.silent(&probe.region, &probe.name, false);
        if waiting.is_empty() {
            open.remove(&id);
        }
    }

    /// Forgets batches that nobody waits for any more.
    pub(super) fn sweep(&self) {
        let now = Instant::now();
        lock(&self.open).retain(|_, open| open.until > now);
    }
}

impl Open {
    fn tell_all(self, answered: impl Fn() -> Answered) {
        for (_, answer) in self.waiting {
            let _ = answer.send(answered());
        }
    }
}

/// How many of these fit into one message: at least one.
fn fitting(all: &[Waiting]) -> usize {
    let mut weight = 0;
    let fit = all.iter().take(MOST_ASKS).take_while(|waiting| {
        weight += waiting.ask.weight();
        weight <= HEAVIEST
    });
    fit.count().max(1)
}

/// What a probe sends is bounded here as if this node had observed it.
fn sanitized(looked: Looked) -> Looked {
    looked.map(Observation::sanitized).map_err(|fault| Fault::new(fault.kind, &fault.message))
}

fn refused(why: &'static str) {
    metrics::counter!("wakeful_probe_refused_total", "why" => why).increment(1);
}

fn count(region: &Region, looked: &Looked, took: Duration) {
    let result = match looked {
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
    use wakeful_core::observation::{Certificate, Evidence};
    use wakeful_core::time::Millis;

    #[test]
    fn what_a_probe_reports_is_bounded_and_printable() {
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
            ..Observation::down(Evidence::Silence, "")
        };
        let seen = sanitized(Ok(reported)).expect("an observation");
        let text = serde_json::to_string(&seen).expect("serialises");
        assert!(text.len() < 6_000 && !text.contains("\\u00"), "{text}");
        let fault = Fault { message: "a\nb".into(), ..Fault::new(FaultKind::Probe, "") };
        assert_eq!(sanitized(Err(fault)).expect_err("a fault").message, "a b");
    }
}
