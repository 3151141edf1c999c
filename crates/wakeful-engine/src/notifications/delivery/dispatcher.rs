//! Decides which message is sent next: teams take turns, and so do the notifiers of a team.
//! Each has a limited number of messages in flight. A message whose receiver takes long leaves
//! its place to others: receivers that never respond, of however many teams, delay nobody else.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;
use wakeful_core::backoff::MAX_CRASHES;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{DeliveryId, NotifierId, TeamId};
use wakeful_core::notifications::notifier::{DeliveryMode, Kind, Notifier};
use wakeful_core::time::Millis;
use wakeful_store::DueDelivery;

use super::LEASE;
use super::attempt::{self, ClaimedMessage, Completion};
use super::email::MINUTE;
use super::survive::without_crashed;
use crate::{Engine, Result};

/// Messages in flight at a time: per notifier, per team, and in total, slow ones aside.
const MAX_PER_NOTIFIER: usize = 10;
const MAX_PER_TEAM: usize = 50;
const MAX_IN_FLIGHT: usize = 512;
/// A message in flight for longer is slow.
const SLOW_AFTER: Duration = Duration::from_secs(5);
/// Slow messages at a time of a team, which sends no other ones meanwhile.
const MAX_SLOW_PER_TEAM: usize = 16;
/// Messages in total, slow or not: enough for 160 teams with `MAX_PER_TEAM`, more than one
/// client can sign up in an hour.
const MAX_WITH_SLOW: usize = 8_192;
/// A team gets at most this fraction of the free places, so that a few teams whose receivers
/// never respond cannot delay the others.
const FREE_PART_PER_TEAM: usize = 8;
/// The number of messages in flight during which a process has crashed before: after the
/// next crash, only these few are suspect.
const MAX_SUSPECTS: usize = 32;
/// After this many crashes a message is sent alone, so that the next crash identifies the
/// cause: no other suspect is started before it has finished, and no message at all before
/// `ALONE_FOR` has passed.
const ALONE_AFTER: u32 = MAX_CRASHES - 1;
const ALONE_FOR: Duration = Duration::from_secs(1);
/// Hints fetched at a time: per notifier, and in total.
const NOTIFIER_BATCH: u32 = 200;
const POLL_BATCH: u32 = 4_000;
/// Smaller corrections of the clock are normal.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(2);

pub(super) struct Dispatcher {
    engine: Engine,
    /// Teams in the order of their turns, with their waiting messages.
    waiting: VecDeque<(TeamId, VecDeque<NotifierQueue>)>,
    /// Messages that other processes crashed with.
    suspects: VecDeque<DueDelivery>,
    /// Notifiers with more due messages than were fetched.
    truncated: HashSet<NotifierId>,
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
        is_last_chance(self.crashes) && self.begun.elapsed() < ALONE_FOR
    }

    fn is_slow(&self) -> bool {
        self.begun.elapsed() >= SLOW_AFTER
    }
}

/// Whether a message is given up after one more crash.
fn is_last_chance(crashes: u32) -> bool {
    (ALONE_AFTER..MAX_CRASHES).contains(&crashes)
}

struct NotifierQueue {
    notifier: NotifierId,
    kind: Kind,
    ids: VecDeque<DeliveryId>,
}

/// What is sent next.
#[derive(Default)]
struct Picked {
    messages: Vec<Message>,
    digests: Vec<Digest>,
}

/// A message that is sent separately.
struct Message {
    id: DeliveryId,
    notifier: NotifierId,
}

/// All due messages of a notifier that have this number of crashes.
struct Digest {
    team: TeamId,
    notifier: NotifierId,
    crashes: u32,
}

/// The numbers of deliveries in flight.
#[derive(Default)]
struct InFlightCounts {
    per_team: HashMap<TeamId, usize>,
    per_notifier: HashMap<NotifierId, usize>,
    slow_per_team: HashMap<TeamId, usize>,
    suspects: usize,
    slow: usize,
    all: usize,
}

impl InFlightCounts {
    fn add(&mut self, team: TeamId, notifier: NotifierId, crashes: u32) {
        *self.per_team.entry(team).or_default() += 1;
        *self.per_notifier.entry(notifier).or_default() += 1;
        self.suspects += usize::from(crashes > 0);
        self.all += 1;
    }

    /// One of those that were added is slow.
    fn add_slow(&mut self, team: TeamId) {
        *self.slow_per_team.entry(team).or_default() += 1;
        self.slow += 1;
    }

    /// The number of places for more.
    fn free(&self) -> usize {
        let places = MAX_IN_FLIGHT.saturating_sub(self.all - self.slow);
        places.min(MAX_WITH_SLOW.saturating_sub(self.all))
    }

    /// Whether one more may be sent.
    fn has_room(&self, team: TeamId, notifier: NotifierId, mode: DeliveryMode) -> bool {
        let max = match mode {
            DeliveryMode::Single => MAX_PER_NOTIFIER,
            DeliveryMode::Digest => 1,
        };
        let free = self.free();
        let share = (free / FREE_PART_PER_TEAM).clamp(1, MAX_PER_TEAM);
        free > 0
            && self.per_team.get(&team).is_none_or(|number| *number < share)
            && self.slow_per_team.get(&team).is_none_or(|number| *number < MAX_SLOW_PER_TEAM)
            && self.per_notifier.get(&notifier).is_none_or(|number| *number < max)
    }
}

impl Dispatcher {
    pub(super) fn new(engine: Engine) -> Self {
        let last_poll = engine.now();
        Self {
            engine,
            waiting: VecDeque::new(),
            suspects: VecDeque::new(),
            truncated: HashSet::new(),
            paused: HashMap::new(),
            tasks: JoinSet::new(),
            in_flight: HashMap::new(),
            last_poll,
        }
    }

    /// Updates the gauge of waiting messages.
    pub(super) async fn update_metrics(&self) {
        if let Ok(waiting) = self.engine.store().deliveries_waiting().await {
            metrics::gauge!("wakeful_outbox_pending").set(waiting as f64);
        }
    }

    /// Fetches new hints of due messages.
    pub(super) async fn poll(&mut self) {
        let now = self.engine.now();
        self.handle_clock_jump(now).await;
        // No pause is longer than that, unless the clock was set back.
        self.paused.retain(|_, until| now < *until && *until <= now.after(MINUTE));
        match self.engine.store().due_deliveries(now, NOTIFIER_BATCH, POLL_BATCH).await {
            Ok(mut due) => {
                // Their leases seem to have expired if the clock was set forward.
                let in_flight: HashSet<DeliveryId> =
                    self.in_flight.values().filter_map(|attempt| attempt.message).collect();
                due.retain(|row| !in_flight.contains(&row.id));
                let (suspects, due): (Vec<_>, Vec<_>) =
                    due.into_iter().partition(|row| row.crashes > 0);
                self.suspects = suspects.into();
                self.group_by_team(due);
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

    fn group_by_team(&mut self, due: Vec<DueDelivery>) {
        let mut teams: Vec<(TeamId, Vec<NotifierQueue>)> = Vec::new();
        let mut place: HashMap<NotifierId, (usize, usize)> = HashMap::new();
        let mut team_place: HashMap<TeamId, usize> = HashMap::new();
        let all = due.len();
        for DueDelivery { id, team, notifier, kind, .. } in due {
            let at = *team_place.entry(team).or_insert_with(|| {
                teams.push((team, Vec::new()));
                teams.len() - 1
            });
            let (_, queues) = &mut teams[at];
            let (_, queue) = *place.entry(notifier).or_insert_with(|| {
                queues.push(NotifierQueue { notifier, kind, ids: VecDeque::new() });
                (at, queues.len() - 1)
            });
            queues[queue].ids.push_back(id);
        }
        let full = all >= POLL_BATCH as usize;
        let queues = teams.iter().flat_map(|(_, queues)| queues);
        let truncated = queues.filter(|queue| full || queue.ids.len() >= NOTIFIER_BATCH as usize);
        self.truncated = truncated.map(|queue| queue.notifier).collect();
        self.waiting = teams.into_iter().map(|(team, queues)| (team, queues.into())).collect();
    }

    /// Adds hints of new messages, behind the waiting ones.
    pub(super) fn add(&mut self, new: Vec<DueDelivery>) {
        for DueDelivery { id, team, notifier, kind, .. } in new {
            let place = self.waiting.iter().position(|(of, _)| *of == team);
            let place = place.unwrap_or_else(|| {
                self.waiting.push_back((team, VecDeque::new()));
                self.waiting.len() - 1
            });
            let (_, queues) = &mut self.waiting[place];
            match queues.iter_mut().find(|queue| queue.notifier == notifier) {
                Some(queue) => queue.ids.push_back(id),
                None => queues.push_back(NotifierQueue { notifier, kind, ids: [id].into() }),
            }
        }
    }

    /// Whether the hints of a notifier with more messages are used up, or a finished attempt
    /// may have released other messages.
    pub(super) fn needs_poll(&self) -> bool {
        let has_hints = |notifier: &NotifierId| {
            let mut queues = self.waiting.iter().flat_map(|(_, queues)| queues);
            queues.any(|queue| queue.notifier == *notifier && !queue.ids.is_empty())
        };
        self.waiting.is_empty() || self.truncated.iter().any(|notifier| !has_hints(notifier))
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
        let mut counts = InFlightCounts::default();
        for attempt in self.in_flight.values() {
            counts.add(attempt.team, attempt.notifier, attempt.crashes);
            if attempt.is_slow() {
                counts.add_slow(attempt.team);
            }
        }
        let mut picked = Picked::default();
        if self.pick_suspects(&mut counts, &mut picked) {
            return picked;
        }
        let mut idle_turns = 0;
        while idle_turns < self.waiting.len() && counts.free() > 0 {
            let Some((team, mut queues)) = self.waiting.pop_front() else { break };
            let took_turn = self.pick_for_team(team, &mut queues, &mut counts, &mut picked);
            idle_turns = if took_turn { 0 } else { idle_turns + 1 };
            if !queues.is_empty() {
                self.waiting.push_back((team, queues));
            }
        }
        picked
    }

    /// Picks for the first notifier of a team that may send; false if none may. All notifiers
    /// go round once, so that another one is first at the next turn.
    fn pick_for_team(
        &self,
        team: TeamId,
        queues: &mut VecDeque<NotifierQueue>,
        counts: &mut InFlightCounts,
        picked: &mut Picked,
    ) -> bool {
        let mut took_turn = false;
        for _ in 0..queues.len() {
            let Some(mut queue) = queues.pop_front() else { break };
            let (notifier, mode) = (queue.notifier, queue.kind.delivery_mode());
            let free =
                counts.has_room(team, notifier, mode) && !self.paused.contains_key(&notifier);
            if free && !took_turn {
                took_turn = true;
                counts.add(team, notifier, 0);
                match mode {
                    DeliveryMode::Single => {
                        let id = queue.ids.pop_front();
                        picked.messages.extend(id.map(|id| Message { id, notifier }));
                    }
                    DeliveryMode::Digest => {
                        queue.ids.clear();
                        picked.digests.push(Digest { team, notifier, crashes: 0 });
                    }
                }
            }
            if !queue.ids.is_empty() {
                queues.push_back(queue);
            }
        }
        took_turn
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
            let mode = kind.delivery_mode();
            let max = if is_last_chance(crashes) { 1 } else { MAX_SUSPECTS };
            let free = counts.has_room(team, notifier, mode)
                && counts.suspects < max
                && !self.paused.contains_key(&notifier);
            if !free {
                later.push_back(row);
                continue;
            }
            counts.add(team, notifier, crashes);
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
        let id = match ended {
            Ok((id, Completion::Done)) => id,
            Ok((id, Completion::Paused(notifier, until))) => {
                self.paused.insert(notifier, until);
                id
            }
            Err(error) => {
                tracing::error!(error = %ErrorChain(&error), "a delivery was aborted");
                error.id()
            }
        };
        self.in_flight.remove(&id);
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

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn eleven_teams_whose_receivers_never_respond_leave_room_for_a_twelfth() {
        let mut counts = InFlightCounts::default();
        let mut send = |team: u128, number: u128| {
            let (team, to) = (Uuid::from_u128(team), Uuid::from_u128((team << 64) | number));
            let room = counts.has_room(team.into(), to.into(), DeliveryMode::Single);
            if room {
                counts.add(team.into(), to.into(), 0);
            }
            room
        };
        let sent = |team, send: &mut dyn FnMut(u128, u128) -> bool| {
            (0..200).filter(|number| send(team, *number)).count()
        };
        assert_eq!(sent(1, &mut send), MAX_PER_TEAM, "a single team gets its full share");
        for team in 2..=11 {
            sent(team, &mut send);
        }
        assert!(sent(12, &mut send) >= MAX_PER_NOTIFIER);
    }

    #[test]
    fn a_hundred_teams_whose_receivers_never_respond_leave_room_once_they_are_slow() {
        let mut counts = InFlightCounts::default();
        let id = |team: u128, number: u128| Uuid::from_u128((team << 64) | number);
        let mut number = 0;
        // Until the first ones of a digest time out.
        for _ in 0..180 / SLOW_AFTER.as_secs() {
            let mut sent = Vec::new();
            for team in 1..=100 {
                let hanging = TeamId::from(id(team, 0));
                for _ in 0..200 {
                    number += 1;
                    let notifier = NotifierId::from(id(team, number));
                    if counts.has_room(hanging, notifier, DeliveryMode::Single) {
                        counts.add(hanging, notifier, 0);
                        sent.push(hanging);
                    }
                }
            }
            sent.into_iter().for_each(|team| counts.add_slow(team));
        }
        assert!(counts.all <= MAX_WITH_SLOW);
        let newcomer = (TeamId::from(id(999, 0)), NotifierId::from(id(999, 1)));
        assert!(counts.has_room(newcomer.0, newcomer.1, DeliveryMode::Single));
        assert!(counts.free() >= MAX_IN_FLIGHT / 4, "{}", counts.free());
    }
}
