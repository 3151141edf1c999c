//! Claims and sends the messages whose turn it is (`turns.rs`), and separately those that
//! other processes crashed with. A message whose receiver takes long leaves its place to
//! others.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{DeliveryId, NotifierId, TeamId};
use wakeful_core::notifications::notifier::{DeliveryMode, Notifier};
use wakeful_core::time::Millis;
use wakeful_store::{DueDelivery, DueSearch, FoundDeliveries, QueuePosition};

use super::LEASE;
use super::attempt::{self, ClaimedMessage, Completion};
use super::limits::MINUTE;
use super::survive::without_crashed;
use super::turns::{Digest, InFlightCounts, Message, Picked, SLOW_AFTER, Turns};
use crate::suspects::{InFlight, is_last_chance};
use crate::{Engine, Result};

/// The number of messages in flight during which a process has crashed before: after the
/// next crash, only these few are suspect.
const MAX_SUSPECTS: usize = 32;
/// Hints fetched at a time: per notifier, and in total.
const NOTIFIER_BATCH: u32 = 200;
const POLL_BATCH: u32 = 4_000;
/// The queues of a team that are read at a time.
const QUEUE_BATCH: u32 = 1_000;
/// Teams that are not read from their first queue on: each costs a little for all others.
const MAX_POSITIONS: usize = 128;
/// With more than this many waiting messages, a team's outages that end before they could be
/// reported are no longer queued behind earlier ones. An outage of 10,000 monitors with two
/// notifiers each still is.
const MAX_WAITING_PER_TEAM: u32 = 20_000;
/// Smaller corrections of the clock are normal.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(2);

pub(super) struct Dispatcher {
    engine: Engine,
    waiting: Turns,
    /// Messages that other processes crashed with.
    suspects: VecDeque<DueDelivery>,
    /// Notifiers with more due messages than were fetched.
    truncated: HashSet<NotifierId>,
    /// Teams with more queues than were read, and how far.
    read_to: HashMap<TeamId, QueuePosition>,
    /// Teams that could not send more when the outbox was read, so it was not read for them.
    skipped: HashSet<TeamId>,
    /// Notifiers that have reached their rate limit or could not be read, and until when.
    paused: HashMap<NotifierId, Millis>,
    tasks: JoinSet<Completion>,
    in_flight: HashMap<Id, Attempt>,
    /// The time of the last poll.
    last_poll: Millis,
}

/// A delivery in flight.
struct Attempt {
    team: TeamId,
    notifier: NotifierId,
    /// The message; `None` for a digest of everything that is due.
    message: Option<DeliveryId>,
    /// How many other processes crashed with it.
    crashes: u32,
    begun: Instant,
}

impl Attempt {
    /// Whether nothing else may be started yet.
    fn is_standalone(&self) -> bool {
        InFlight { crashes: self.crashes, begun: self.begun }.is_alone()
    }

    fn is_slow(&self) -> bool {
        self.begun.elapsed() >= SLOW_AFTER
    }
}

impl Dispatcher {
    pub(super) fn new(engine: Engine) -> Self {
        let last_poll = engine.now();
        Self {
            engine,
            waiting: Turns::default(),
            suspects: VecDeque::new(),
            truncated: HashSet::new(),
            read_to: HashMap::new(),
            skipped: HashSet::new(),
            paused: HashMap::new(),
            tasks: JoinSet::new(),
            in_flight: HashMap::new(),
            last_poll,
        }
    }

    /// Updates the gauge of waiting messages, and which teams have too many.
    pub(super) async fn count_waiting(&self) {
        if let Ok(waiting) = self.engine.store().count_waiting(MAX_WAITING_PER_TEAM).await {
            metrics::gauge!("wakeful_outbox_pending").set(waiting as f64);
        }
    }

    /// Fetches new hints of due messages.
    pub(super) async fn poll(&mut self) {
        let now = self.engine.now();
        self.handle_clock_jump(now).await;
        // No pause is longer than that, unless the clock was set back.
        self.paused.retain(|_, until| now < *until && *until <= now.after(MINUTE));
        self.waiting.slow.expire();
        let counts = self.count_in_flight();
        self.skipped = counts.full_teams(&self.waiting.slow);
        let unread = self.read_to.values().map(|position| match self.skipped.get(&position.team) {
            Some(team) => QueuePosition::end(*team),
            None => *position,
        });
        let others = self.skipped.iter().filter(|team| !self.read_to.contains_key(team));
        let others = others.map(|team| QueuePosition::end(*team));
        let from: Vec<QueuePosition> = unread.chain(others).take(MAX_POSITIONS).collect();
        let search = DueSearch {
            now,
            each: NOTIFIER_BATCH,
            limit: POLL_BATCH,
            queues: QUEUE_BATCH,
            from: &from,
        };
        match self.engine.store().search_due_deliveries(search).await {
            Ok(FoundDeliveries { mut due, read_to }) => {
                self.read_to.retain(|team, _| self.skipped.contains(team));
                self.read_to.extend(read_to.into_iter().map(|position| (position.team, position)));
                let full = due.len() >= POLL_BATCH as usize;
                // Their leases seem to have expired if the clock was set forward.
                due.retain(|row| !counts.messages.contains(&row.id));
                let (suspects, due): (Vec<_>, Vec<_>) =
                    due.into_iter().partition(|row| row.crashes > 0);
                self.suspects = suspects.into();
                self.replace_waiting(due, full);
            }
            Err(error) => {
                tracing::warn!(
                    error = %ErrorChain(&error),
                    "reading the outbox failed, retrying"
                );
            }
        }
    }

    /// Moves retries forward when the clock is set back, so that they do not wait longer.
    /// Nodes that share a store follow its clock.
    async fn handle_clock_jump(&mut self, now: Millis) {
        let back = self.last_poll.since(now);
        if back > CLOCK_TOLERANCE && self.engine.cluster().is_standalone() {
            tracing::warn!("the clock was set back by {} s, moving retries", back.as_secs());
            if self.engine.store().shift_next_tries(back, now).await.is_err() {
                return;
            }
        }
        self.last_poll = now;
    }

    /// `full`: more may be due than were fetched.
    fn replace_waiting(&mut self, due: Vec<DueDelivery>, full: bool) {
        self.waiting.replace(due, !full);
        let notifiers = self.waiting.notifiers();
        let truncated = notifiers.filter(|(_, number)| full || *number >= NOTIFIER_BATCH as usize);
        self.truncated = truncated.map(|(notifier, _)| notifier).collect();
    }

    /// Adds hints of new messages, behind the waiting ones.
    pub(super) fn add(&mut self, new: Vec<DueDelivery>) {
        new.into_iter().for_each(|row| self.waiting.add(row));
    }

    /// Whether the hints of a notifier with more messages are used up, or a finished attempt
    /// may have released other messages.
    pub(super) fn needs_poll(&self) -> bool {
        if self.waiting.is_empty() {
            return true;
        }
        if self.has_unread_teams() {
            return true;
        }
        if self.truncated.is_empty() {
            return false;
        }
        let with_hints: HashSet<NotifierId> =
            self.waiting.notifiers().map(|(notifier, _)| notifier).collect();
        self.truncated.iter().any(|notifier| !with_hints.contains(notifier))
    }

    /// Whether a team could send more than what was read for it.
    fn has_unread_teams(&self) -> bool {
        if self.skipped.is_empty() && self.read_to.is_empty() {
            return false;
        }
        let counts = self.count_in_flight();
        let mut unread = self.skipped.iter().chain(self.read_to.keys());
        unread.any(|team| {
            !self.waiting.has(*team)
                && counts.has_team_room(*team, self.waiting.slow.is_slow(*team))
        })
    }

    /// Claims and sends as many messages as may be in flight.
    pub(super) async fn send(&mut self) {
        if !self.engine.cluster().lease_held_since(Instant::now()) {
            // Other nodes may consider this one dead and take over its claims.
            return;
        }
        if self.in_flight.values().any(Attempt::is_standalone) {
            return;
        }
        let Picked { messages, digests } = self.pick();
        for digest in digests {
            self.send_digest(&digest);
        }
        if messages.is_empty() {
            return;
        }
        if let Err(error) = self.send_messages(&messages).await {
            tracing::warn!(error = %ErrorChain(&error), "claiming messages failed, retrying");
        }
    }

    /// Picks messages in turn, until the limits are reached.
    fn pick(&mut self) -> Picked {
        for attempt in self.in_flight.values() {
            let waited = attempt.begun.elapsed();
            self.waiting.slow.record_waiting(attempt.team, attempt.notifier, waited);
        }
        let mut counts = self.count_in_flight();
        let mut picked = Picked::default();
        if self.pick_suspects(&mut counts, &mut picked) {
            return picked;
        }
        let paused = &self.paused;
        self.waiting.pick(&mut counts, |notifier| paused.contains_key(&notifier), &mut picked);
        picked
    }

    fn count_in_flight(&self) -> InFlightCounts {
        let mut counts = InFlightCounts::default();
        for attempt in self.in_flight.values() {
            let slow = self.waiting.slow.is_slow(attempt.team);
            counts.add(attempt.team, attempt.notifier, attempt.crashes, slow);
            counts.messages.extend(attempt.message);
            if attempt.is_slow() {
                counts.add_slow(attempt.team);
            }
        }
        counts
    }

    /// Picks from the messages that other processes crashed with, oldest first: either one
    /// that has to be sent alone, and then nothing else (true), or some of the others.
    fn pick_suspects(&mut self, counts: &mut InFlightCounts, picked: &mut Picked) -> bool {
        if self.in_flight.values().any(|attempt| is_last_chance(attempt.crashes)) {
            return false;
        }
        let mut later = VecDeque::new();
        let mut alone = false;
        self.suspects.make_contiguous().sort_by_key(|row| !is_last_chance(row.crashes));
        while let Some(row) = self.suspects.pop_front() {
            let DueDelivery { id, team, notifier, kind, crashes } = row;
            let (mode, slow) = (kind.delivery_mode(), self.waiting.slow.is_slow(team));
            let max = if is_last_chance(crashes) { 1 } else { MAX_SUSPECTS };
            let free = counts.has_room(team, notifier, mode, slow)
                && counts.suspects < max
                && !self.paused.contains_key(&notifier);
            if !free {
                later.push_back(row);
                continue;
            }
            counts.add(team, notifier, crashes, slow);
            match mode {
                DeliveryMode::Single => picked.messages.push(Message { id, notifier }),
                DeliveryMode::Digest => {
                    self.suspects
                        .retain(|other| other.notifier != notifier || other.crashes != crashes);
                    picked.digests.push(Digest { team, notifier, crashes });
                }
            }
            if is_last_chance(crashes) {
                alone = true;
                break;
            }
        }
        later.append(&mut self.suspects);
        self.suspects = later;
        alone
    }

    fn send_digest(&mut self, digest: &Digest) {
        let Digest { team, notifier, crashes } = *digest;
        let engine = self.engine.clone();
        let attempt = Attempt { team, notifier, message: None, crashes, begun: Instant::now() };
        self.spawn(attempt, async move { attempt::send_digest(&engine, notifier, crashes).await });
    }

    async fn send_messages(&mut self, messages: &[Message]) -> Result<()> {
        let (claimed_at, now) = (Instant::now(), self.engine.now());
        let ids: Vec<DeliveryId> = messages.iter().map(|message| message.id).collect();
        let notifiers: HashSet<NotifierId> =
            messages.iter().map(|message| message.notifier).collect();
        let notifiers: Vec<NotifierId> = notifiers.into_iter().collect();
        let store = self.engine.store();
        let (claimed, notifiers) = tokio::join!(
            store.claim_deliveries(&ids, now, now.after(LEASE)),
            store.notifiers_by_id(&notifiers),
        );
        let (claimed, notifiers) = (claimed?, notifiers?);
        for row in without_crashed(&self.engine, claimed).await {
            match notifiers.get(&row.notifier) {
                Some(notifier) => self.send_message(notifier, ClaimedMessage { row, claimed_at }),
                // The store has logged why.
                None => {
                    attempt::postpone(&self.engine, &row, "the notifier cannot be read").await;
                }
            }
        }
        Ok(())
    }

    fn send_message(&mut self, notifier: &Notifier, message: ClaimedMessage) {
        let (engine, notifier) = (self.engine.clone(), notifier.clone());
        let attempt = Attempt {
            team: message.row.team,
            notifier: message.row.notifier,
            message: Some(message.row.id),
            crashes: message.row.crashes,
            begun: message.claimed_at,
        };
        self.spawn(attempt, async move { attempt::send_single(&engine, &notifier, message).await });
    }

    fn spawn(
        &mut self,
        attempt: Attempt,
        future: impl Future<Output = Completion> + Send + 'static,
    ) {
        let id = self.tasks.spawn(future).id();
        self.in_flight.insert(id, attempt);
    }

    /// Waits until an attempt has finished; forever if there is none.
    pub(super) async fn next_completion(&mut self) {
        let Some(first) = self.tasks.join_next_with_id().await else {
            return std::future::pending().await;
        };
        self.finish(first);
        // Take all finished attempts, so that they are replaced with one claim.
        while let Some(next) = self.tasks.try_join_next_with_id() {
            self.finish(next);
        }
    }

    fn finish(&mut self, ended: std::result::Result<(Id, Completion), JoinError>) {
        let (id, is_done) = match ended {
            Ok((id, Completion::Done)) => (id, true),
            Ok((id, Completion::Paused(notifier, until))) => {
                self.paused.insert(notifier, until);
                (id, false)
            }
            Err(error) => {
                tracing::error!(error = %ErrorChain(&error), "a delivery was aborted");
                (error.id(), false)
            }
        };
        let Some(attempt) = self.in_flight.remove(&id) else { return };
        let (team, notifier, took) = (attempt.team, attempt.notifier, attempt.begun.elapsed());
        if is_done {
            self.waiting.slow.record(team, notifier, took);
        } else {
            // It may not have reached its receiver.
            self.waiting.slow.record_waiting(team, notifier, took);
        }
    }

    /// Aborts all attempts and releases the claims of this node.
    pub(super) async fn abandon(&mut self) {
        self.tasks.shutdown().await;
        self.engine.release_claims().await;
    }

    /// Waits until nothing is in flight.
    pub(super) async fn drain(&mut self) {
        while !self.tasks.is_empty() {
            self.next_completion().await;
        }
    }
}
