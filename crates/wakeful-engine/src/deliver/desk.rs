//! Who is sent next: teams take turns, within a team its notifiers do, and
//! each has only so many messages on their way.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;
use wakeful_core::backoff::MAX_CRASHES;
use wakeful_core::id::{DeliveryId, NotifierId, TeamId};
use wakeful_core::notifier::{Channel, Kind};
use wakeful_core::time::Millis;
use wakeful_store::{ClaimedDelivery, DueDelivery};

use super::mail::{self, MINUTE};
use super::survive::without_crashed;
use super::{LEASE, webhook};
use crate::{Engine, Result};

/// On their way at a time: to one receiver, of one team, and in all.
const PER_NOTIFIER: usize = 10;
const PER_TEAM: usize = 50;
const IN_ALL: usize = 512;
/// Of those that a process did not survive, only so many are on their way at a time:
/// when it happens again, few are under suspicion.
const MAX_SUSPECTS: usize = 32;
/// After so many crashes a message is sent alone, so that the next crash tells which
/// one is the cause: no other that a process did not survive is begun before it has
/// ended, and nothing at all before this has passed.
const ALONE_AFTER: u32 = MAX_CRASHES - 1;
const ALONE_FOR: Duration = Duration::from_secs(1);
/// How long a message waits whose notifier cannot be read.
const UNREADABLE_WAIT: Duration = Duration::from_secs(60);
/// Hints fetched at a time: of one notifier, and in all.
const HINTS_EACH: u32 = 200;
const HINTS: u32 = 4_000;
/// Clocks are corrected by less all the time.
const NO_JUMP: Duration = Duration::from_secs(2);

pub(super) struct Desk {
    engine: Engine,
    /// Teams in the order of their turns, with what waits of each.
    waiting: VecDeque<(TeamId, VecDeque<Queue>)>,
    /// What other processes claimed and did not survive.
    suspects: VecDeque<DueDelivery>,
    /// Notifiers of which there was more than was fetched.
    cut: HashSet<NotifierId>,
    /// Inboxes that have had enough for now.
    resting: HashMap<NotifierId, Millis>,
    flights: JoinSet<Landed>,
    flying: HashMap<Id, Flight>,
    /// The time of the last look.
    looked: Millis,
}

/// What is on its way.
struct Flight {
    team: TeamId,
    notifier: NotifierId,
    /// The message; nothing when it is all that waits for an inbox.
    message: Option<DeliveryId>,
    /// Other processes that did not survive it.
    crashes: u32,
    begun: Instant,
}

impl Flight {
    /// Whether nothing else may be begun yet.
    fn is_alone(&self) -> bool {
        is_last_chance(self.crashes) && self.begun.elapsed() < ALONE_FOR
    }
}

/// Whether a message is given up when one more process does not survive it.
fn is_last_chance(crashes: u32) -> bool {
    (ALONE_AFTER..MAX_CRASHES).contains(&crashes)
}

struct Queue {
    notifier: NotifierId,
    kind: Kind,
    ids: VecDeque<DeliveryId>,
}

/// One message for a webhook.
type Message = (DeliveryId, NotifierId);
/// All that waits for an inbox and that so many processes did not survive.
type Mailbag = (TeamId, NotifierId, u32);

/// What is on its way, counted.
#[derive(Default)]
struct OnTheWay {
    of_team: HashMap<TeamId, usize>,
    of_notifier: HashMap<NotifierId, usize>,
    suspects: usize,
    all: usize,
}

impl OnTheWay {
    fn add(&mut self, team: TeamId, notifier: NotifierId, crashes: u32) {
        *self.of_team.entry(team).or_default() += 1;
        *self.of_notifier.entry(notifier).or_default() += 1;
        self.suspects += usize::from(crashes > 0);
        self.all += 1;
    }

    /// Whether one more may go.
    fn has_room(&self, team: TeamId, notifier: NotifierId, kind: Kind) -> bool {
        let most = if kind == Kind::Email { 1 } else { PER_NOTIFIER };
        self.all < IN_ALL
            && self.of_team.get(&team).is_none_or(|number| *number < PER_TEAM)
            && self.of_notifier.get(&notifier).is_none_or(|number| *number < most)
    }
}

/// How an attempt ended, as far as this desk is concerned.
pub(super) enum Landed {
    Done,
    /// Nothing may go to this notifier until then.
    Rest(NotifierId, Millis),
}

impl Desk {
    pub(super) fn new(engine: Engine) -> Self {
        let looked = engine.now();
        Self {
            engine,
            waiting: VecDeque::new(),
            suspects: VecDeque::new(),
            cut: HashSet::new(),
            resting: HashMap::new(),
            flights: JoinSet::new(),
            flying: HashMap::new(),
            looked,
        }
    }

    /// Tells the operator how much waits.
    pub(super) async fn count(&self) {
        if let Ok(waiting) = self.engine.store().deliveries_waiting().await {
            metrics::gauge!("wakeful_outbox_pending").set(waiting as f64);
        }
    }

    /// Fetches fresh hints of what is due.
    pub(super) async fn look(&mut self) {
        let now = self.engine.now();
        self.mind_clock(now).await;
        // Nobody rests for longer than that, unless the clock was set back.
        self.resting.retain(|_, until| now < *until && *until <= now.after(MINUTE));
        match self.engine.store().due_deliveries(now, HINTS_EACH, HINTS).await {
            Ok(mut due) => {
                // A clock that is set forward passes the end of their leases.
                let flying: HashSet<DeliveryId> =
                    self.flying.values().filter_map(|flight| flight.message).collect();
                due.retain(|row| !flying.contains(&row.id));
                let (suspects, due): (Vec<_>, Vec<_>) =
                    due.into_iter().partition(|row| row.crashes > 0);
                self.suspects = suspects.into();
                self.sort(due);
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the outbox cannot be read"
                );
            }
        }
    }

    /// What waits for another try waits no longer when the clock is set back.
    /// Nodes that share a store go by its clock.
    async fn mind_clock(&mut self, now: Millis) {
        let back = self.looked.since(now);
        if back > NO_JUMP && self.engine.cluster().is_alone() {
            tracing::warn!("the clock was set back by {} s", back.as_secs());
            if self.engine.store().bring_tries_forward(back, now).await.is_err() {
                return;
            }
        }
        self.looked = now;
    }

    fn sort(&mut self, due: Vec<DueDelivery>) {
        let mut teams: Vec<(TeamId, Vec<Queue>)> = Vec::new();
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
                queues.push(Queue { notifier, kind, ids: VecDeque::new() });
                (at, queues.len() - 1)
            });
            queues[queue].ids.push_back(id);
        }
        let full = all >= HINTS as usize;
        let queues = teams.iter().flat_map(|(_, queues)| queues);
        let cut = queues.filter(|queue| full || queue.ids.len() >= HINTS_EACH as usize);
        self.cut = cut.map(|queue| queue.notifier).collect();
        self.waiting = teams.into_iter().map(|(team, queues)| (team, queues.into())).collect();
    }

    /// Takes in hints of what has just been written, behind what waits.
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
                None => queues.push_back(Queue { notifier, kind, ids: [id].into() }),
            }
        }
    }

    /// Whether hints ran out where there was more than was fetched, or what
    /// ended may have let another through.
    pub(super) fn is_short(&self) -> bool {
        let left = |notifier: &NotifierId| {
            let mut queues = self.waiting.iter().flat_map(|(_, queues)| queues);
            queues.any(|queue| queue.notifier == *notifier && !queue.ids.is_empty())
        };
        self.waiting.is_empty() || self.cut.iter().any(|notifier| !left(notifier))
    }

    /// Claims and sends as much as may be on its way.
    pub(super) async fn send(&mut self) {
        if !self.engine.cluster().is_steady_since(Instant::now()) {
            // Others take this node for dead: what it claims now is soon theirs.
            return;
        }
        if self.flying.values().any(Flight::is_alone) {
            return;
        }
        let (messages, mailbags) = self.pick();
        for (team, notifier, crashes) in mailbags {
            let engine = self.engine.clone();
            let flight = Flight { team, notifier, message: None, crashes, begun: Instant::now() };
            self.fly(flight, async move { mail::deliver(&engine, notifier, crashes).await });
        }
        if messages.is_empty() {
            return;
        }
        if let Err(error) = self.send_messages(&messages).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the outbox cannot be claimed from"
            );
        }
    }

    /// Whose turn it is, until nobody may send more.
    fn pick(&mut self) -> (Vec<Message>, Vec<Mailbag>) {
        let mut on_way = OnTheWay::default();
        for Flight { team, notifier, crashes, .. } in self.flying.values() {
            on_way.add(*team, *notifier, *crashes);
        }
        let (mut messages, mut mailbags) = (Vec::new(), Vec::new());
        if self.pick_suspects(&mut on_way, &mut messages, &mut mailbags) {
            return (messages, mailbags);
        }
        let mut turns_without = 0;
        while turns_without < self.waiting.len() && on_way.all < IN_ALL {
            let Some((team, mut queues)) = self.waiting.pop_front() else { break };
            let mut picked = false;
            for _ in 0..queues.len() {
                let Some(mut queue) = queues.pop_front() else { break };
                let notifier = queue.notifier;
                let free = on_way.has_room(team, notifier, queue.kind)
                    && !self.resting.contains_key(&notifier);
                if free && !picked {
                    picked = true;
                    on_way.add(team, notifier, 0);
                    match queue.kind {
                        // Who fills an inbox sees to all that waits for it.
                        Kind::Email => {
                            queue.ids.clear();
                            mailbags.push((team, notifier, 0));
                        }
                        Kind::Webhook => {
                            messages.extend(queue.ids.pop_front().map(|id| (id, notifier)));
                        }
                    }
                }
                if !queue.ids.is_empty() {
                    queues.push_back(queue);
                }
            }
            turns_without = if picked { 0 } else { turns_without + 1 };
            if !queues.is_empty() {
                self.waiting.push_back((team, queues));
            }
        }
        (messages, mailbags)
    }

    /// What other processes did not survive, oldest first: one that has to be sent
    /// alone, and then nothing else (true), or some of the others.
    fn pick_suspects(
        &mut self,
        on_way: &mut OnTheWay,
        messages: &mut Vec<Message>,
        mailbags: &mut Vec<Mailbag>,
    ) -> bool {
        if self.flying.values().any(|flight| is_last_chance(flight.crashes)) {
            return false;
        }
        let mut later = VecDeque::new();
        let mut alone = false;
        self.suspects.make_contiguous().sort_by_key(|row| !is_last_chance(row.crashes));
        while let Some(row) = self.suspects.pop_front() {
            let DueDelivery { id, team, notifier, kind, crashes } = row;
            let most = if is_last_chance(crashes) { 1 } else { MAX_SUSPECTS };
            let free = on_way.has_room(team, notifier, kind)
                && on_way.suspects < most
                && !self.resting.contains_key(&notifier);
            if !free {
                later.push_back(row);
                continue;
            }
            on_way.add(team, notifier, crashes);
            match kind {
                Kind::Email => {
                    self.suspects
                        .retain(|other| other.notifier != notifier || other.crashes != crashes);
                    mailbags.push((team, notifier, crashes));
                }
                Kind::Webhook => messages.push((id, notifier)),
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

    async fn send_messages(&mut self, messages: &[Message]) -> Result<()> {
        let (begun, now) = (Instant::now(), self.engine.now());
        let ids: Vec<DeliveryId> = messages.iter().map(|(id, _)| *id).collect();
        let notifiers: HashSet<NotifierId> = messages.iter().map(|(_, to)| *to).collect();
        let notifiers: Vec<NotifierId> = notifiers.into_iter().collect();
        let store = self.engine.store();
        let (claimed, notifiers) = tokio::join!(
            store.claim_deliveries(&ids, now, now.after(LEASE)),
            store.notifiers_by_id(&notifiers),
        );
        let (claimed, notifiers) = (claimed?, notifiers?);
        for row in without_crashed(&self.engine, claimed).await {
            let channel = notifiers.get(&row.notifier).map(|notifier| &notifier.channel);
            let (Some(notifier), Some(Channel::Webhook(hook))) =
                (notifiers.get(&row.notifier), channel)
            else {
                self.put_off(&row, now.after(UNREADABLE_WAIT)).await;
                continue;
            };
            let (engine, notifier, hook) = (self.engine.clone(), notifier.clone(), hook.clone());
            let flight = Flight {
                team: row.team,
                notifier: row.notifier,
                message: Some(row.id),
                crashes: row.crashes,
                begun,
            };
            self.fly(flight, async move {
                webhook::deliver(&engine, &notifier, &hook, row, begun).await;
                Landed::Done
            });
        }
        Ok(())
    }

    /// A message whose notifier cannot be read, as the operator was told, waits.
    async fn put_off(&self, row: &ClaimedDelivery, until: Millis) {
        let answer = "the notifier cannot be read";
        let (store, now) = (self.engine.store(), self.engine.now());
        let ids = &[row.id];
        let written =
            store.deliveries_failed(row.notifier, ids, row.lease, answer, Some(until), now).await;
        if let Err(error) = written {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "a message waits for its lease to end"
            );
        }
    }

    fn fly(&mut self, flight: Flight, course: impl Future<Output = Landed> + Send + 'static) {
        let id = self.flights.spawn(course).id();
        self.flying.insert(id, flight);
    }

    /// Waits until something on its way has ended; for ever when nothing is.
    pub(super) async fn landed(&mut self) {
        let Some(first) = self.flights.join_next_with_id().await else {
            return std::future::pending().await;
        };
        self.note(first);
        // What ended meanwhile makes room too, and is replaced in one claim.
        while let Some(next) = self.flights.try_join_next_with_id() {
            self.note(next);
        }
    }

    fn note(&mut self, ended: std::result::Result<(Id, Landed), JoinError>) {
        let id = match ended {
            Ok((id, Landed::Done)) => id,
            Ok((id, Landed::Rest(notifier, until))) => {
                self.resting.insert(notifier, until);
                id
            }
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "a delivery broke off");
                error.id()
            }
        };
        self.flying.remove(&id);
    }

    /// Breaks off what is on its way and releases what this node has claimed.
    pub(super) async fn abandon(&mut self) {
        self.flights.shutdown().await;
        self.engine.release_claims().await;
    }

    /// Waits until nothing is on its way.
    pub(super) async fn drain(&mut self) {
        while !self.flights.is_empty() {
            self.landed().await;
        }
    }
}
