//! Whose messages are sent next. Teams take turns, and so do the notifiers of a team; the
//! team that has waited the longest is next. A team whose receivers were slow comes after
//! the others and shares half of the places with its like: receivers that never respond, of
//! however many teams, do not delay a team whose receivers do.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::id::{DeliveryId, NotifierId, TeamId};
use wakeful_core::notifications::notifier::{DeliveryMode, Kind};
use wakeful_store::DueDelivery;

/// Messages in flight at a time: per notifier, per team, and in total, slow ones aside.
const MAX_PER_NOTIFIER: usize = 10;
const MAX_PER_TEAM: usize = 50;
const MAX_IN_FLIGHT: usize = 512;
/// A message in flight for longer is slow and leaves its place to others.
pub(super) const SLOW_AFTER: Duration = Duration::from_secs(5);
/// Slow messages at a time of a team, which sends no other ones meanwhile.
const MAX_SLOW_PER_TEAM: usize = 16;
/// Messages in total, slow or not: enough for 160 teams with `MAX_PER_TEAM`, more than one
/// client can sign up in an hour.
const MAX_WITH_SLOW: usize = 8_192;
/// Those of teams with slow receivers: in places, and in total.
const MAX_OF_SLOW_TEAMS: usize = MAX_IN_FLIGHT / 2;
const MAX_OF_SLOW_TEAMS_WITH_SLOW: usize = MAX_WITH_SLOW / 4 * 3;
/// A team gets at most this fraction of the free places, so that a few teams whose receivers
/// never respond cannot delay the others.
const FREE_PART_PER_TEAM: usize = 8;

/// A receiver is slow if its latest message took this long.
const SLOW_RECEIVER_AFTER: Duration = Duration::from_secs(3);
/// After this time it is no longer known as slow, unless it was slow again.
const SLOW_RECEIVER_FOR: Duration = Duration::from_secs(3_600);
/// Slow receivers to remember: of one team, and in total.
const MAX_SLOW_RECEIVERS_PER_TEAM: usize = 16;
const MAX_SLOW_RECEIVERS: usize = 65_536;

/// Messages that wait on although the outbox has too many to be read at once.
const MAX_UNREAD: usize = 4_000;

/// The messages that wait.
#[derive(Default)]
pub(super) struct Turns {
    teams: HashMap<TeamId, TeamQueue>,
    /// Counts the turns that teams were given.
    turns: u64,
    pub(super) slow: SlowReceivers,
}

struct TeamQueue {
    /// Larger, the later the team began to wait for its turn.
    turn: u64,
    notifiers: VecDeque<NotifierQueue>,
}

struct NotifierQueue {
    notifier: NotifierId,
    kind: Kind,
    ids: VecDeque<DeliveryId>,
}

/// What is sent next.
#[derive(Default)]
pub(super) struct Picked {
    pub(super) messages: Vec<Message>,
    pub(super) digests: Vec<Digest>,
}

/// A message that is sent separately.
pub(super) struct Message {
    pub(super) id: DeliveryId,
    pub(super) notifier: NotifierId,
}

/// All due messages of a notifier that have this number of crashes.
pub(super) struct Digest {
    pub(super) team: TeamId,
    pub(super) notifier: NotifierId,
    pub(super) crashes: u32,
}

impl Turns {
    pub(super) fn is_empty(&self) -> bool {
        self.teams.is_empty()
    }

    /// Whether a team has waiting messages.
    pub(super) fn has(&self, team: TeamId) -> bool {
        self.teams.contains_key(&team)
    }

    /// The notifiers with waiting messages, with the number of these.
    pub(super) fn notifiers(&self) -> impl Iterator<Item = (NotifierId, usize)> {
        let queues = self.teams.values().flat_map(|team| &team.notifiers);
        queues.map(|queue| (queue.notifier, queue.ids.len()))
    }

    /// Replaces the waiting messages. A team that still waits keeps its turn. If these are
    /// not `all` that are due, the messages of teams without any of these wait on.
    pub(super) fn replace(&mut self, due: Vec<DueDelivery>, all: bool) {
        let mut before = std::mem::take(&mut self.teams);
        for row in due {
            let turn = before.remove(&row.team).map(|team| team.turn);
            self.push(row, turn);
        }
        if all {
            return;
        }
        let mut others: Vec<_> = before.into_iter().collect();
        others.sort_by_key(|(id, team)| (self.slow.is_slow(*id), team.turn));
        let mut unread = 0;
        for (id, team) in others {
            unread += team.notifiers.iter().map(|queue| queue.ids.len()).sum::<usize>();
            if unread > MAX_UNREAD {
                return;
            }
            self.teams.insert(id, team);
        }
    }

    /// Adds a message behind the waiting ones of its notifier.
    pub(super) fn add(&mut self, row: DueDelivery) {
        self.push(row, None);
    }

    /// `turn` is that of a team without a queue, if it has one.
    fn push(&mut self, row: DueDelivery, turn: Option<u64>) {
        let DueDelivery { id, team, notifier, kind, .. } = row;
        let turns = &mut self.turns;
        let team = self.teams.entry(team).or_insert_with(|| {
            let turn = turn.unwrap_or_else(|| next_turn(turns));
            TeamQueue { turn, notifiers: VecDeque::new() }
        });
        match team.notifiers.iter_mut().find(|queue| queue.notifier == notifier) {
            Some(queue) => queue.ids.push_back(id),
            None => team.notifiers.push_back(NotifierQueue { notifier, kind, ids: [id].into() }),
        }
    }

    /// Picks messages in turn, until the limits are reached.
    pub(super) fn pick(
        &mut self,
        counts: &mut InFlightCounts,
        is_paused: impl Fn(NotifierId) -> bool,
        picked: &mut Picked,
    ) {
        if counts.free() == 0 {
            return;
        }
        let place = |(id, team): (&TeamId, &TeamQueue)| (self.slow.is_slow(*id), team.turn, *id);
        let mut order: BTreeSet<(bool, u64, TeamId)> = self.teams.iter().map(place).collect();
        while let Some((slow, _, id)) = order.pop_first() {
            if !counts.has_place(slow) {
                // The other ones are slow as well.
                return;
            }
            let Some(team) = self.teams.get_mut(&id) else { continue };
            let took_turn = team.pick(id, slow, counts, &is_paused, picked);
            if team.notifiers.is_empty() {
                self.teams.remove(&id);
            } else if took_turn {
                team.turn = next_turn(&mut self.turns);
                order.insert((slow, team.turn, id));
            }
        }
    }
}

fn next_turn(turns: &mut u64) -> u64 {
    *turns += 1;
    *turns
}

impl TeamQueue {
    /// Picks for the first notifier that may send; false if none may. All notifiers go round
    /// once, so that another one is first at the next turn.
    fn pick(
        &mut self,
        team: TeamId,
        slow: bool,
        counts: &mut InFlightCounts,
        is_paused: impl Fn(NotifierId) -> bool,
        picked: &mut Picked,
    ) -> bool {
        let mut took_turn = false;
        for _ in 0..self.notifiers.len() {
            let Some(mut queue) = self.notifiers.pop_front() else { break };
            queue.skip(&counts.messages);
            if queue.ids.is_empty() {
                continue;
            }
            let (notifier, mode) = (queue.notifier, queue.kind.delivery_mode());
            let free = counts.has_room(team, notifier, mode, slow) && !is_paused(notifier);
            if free && !took_turn {
                took_turn = true;
                counts.add(team, notifier, 0, slow);
                match mode {
                    DeliveryMode::Single => {
                        let id = queue.ids.pop_front();
                        counts.messages.extend(id);
                        picked.messages.extend(id.map(|id| Message { id, notifier }));
                    }
                    DeliveryMode::Digest => {
                        queue.ids.clear();
                        picked.digests.push(Digest { team, notifier, crashes: 0 });
                    }
                }
            }
            if !queue.ids.is_empty() {
                self.notifiers.push_back(queue);
            }
        }
        took_turn
    }
}

impl NotifierQueue {
    /// Drops the next ones that are in flight: a message that a poll finds is also announced. If
    /// the clock was set forward meanwhile, its lease would not keep it from being sent twice.
    fn skip(&mut self, in_flight: &HashSet<DeliveryId>) {
        while self.ids.front().is_some_and(|id| in_flight.contains(id)) {
            self.ids.pop_front();
        }
    }
}

/// The receivers that were slow at their latest message, of a bounded number: notifiers, or
/// subscribers of status pages.
pub(super) struct SlowReceivers<R = NotifierId> {
    /// Since when, by team and receiver.
    teams: HashMap<TeamId, HashMap<R, Instant>>,
    number: usize,
}

impl<R> Default for SlowReceivers<R> {
    fn default() -> Self {
        Self { teams: HashMap::new(), number: 0 }
    }
}

impl<R: Eq + Hash> SlowReceivers<R> {
    /// Whether any receiver of a team was slow: the team could send to another one instead.
    pub(super) fn is_slow(&self, team: TeamId) -> bool {
        self.teams.contains_key(&team)
    }

    /// Notes how long a message has been in flight.
    pub(super) fn record_waiting(&mut self, team: TeamId, receiver: R, waited: Duration) {
        if waited >= SLOW_RECEIVER_AFTER {
            self.record(team, receiver, waited);
        }
    }

    /// Notes how long a message took.
    pub(super) fn record(&mut self, team: TeamId, receiver: R, took: Duration) {
        if took < SLOW_RECEIVER_AFTER {
            return self.forget(team, &receiver);
        }
        let known = self.teams.get(&team);
        let is_known = known.is_some_and(|known| known.contains_key(&receiver));
        let of_team = known.map_or(0, HashMap::len);
        if !is_known {
            if of_team >= MAX_SLOW_RECEIVERS_PER_TEAM || self.number >= MAX_SLOW_RECEIVERS {
                return;
            }
            self.number += 1;
        }
        self.teams.entry(team).or_default().insert(receiver, Instant::now());
    }

    /// Forgets those that were slow long ago.
    pub(super) fn expire(&mut self) {
        self.teams.retain(|_, of_team| {
            of_team.retain(|_, since| since.elapsed() < SLOW_RECEIVER_FOR);
            !of_team.is_empty()
        });
        self.number = self.teams.values().map(HashMap::len).sum();
    }

    fn forget(&mut self, team: TeamId, receiver: &R) {
        let Some(of_team) = self.teams.get_mut(&team) else { return };
        self.number -= usize::from(of_team.remove(receiver).is_some());
        if of_team.is_empty() {
            self.teams.remove(&team);
        }
    }
}

/// The messages in flight, and their numbers.
#[derive(Default)]
pub(super) struct InFlightCounts {
    per_team: HashMap<TeamId, usize>,
    per_notifier: HashMap<NotifierId, usize>,
    slow_per_team: HashMap<TeamId, usize>,
    /// Those that are sent separately.
    pub(super) messages: HashSet<DeliveryId>,
    pub(super) suspects: usize,
    slow: usize,
    /// Those of teams with slow receivers.
    of_slow_teams: usize,
    all: usize,
}

impl InFlightCounts {
    pub(super) fn add(&mut self, team: TeamId, notifier: NotifierId, crashes: u32, slow: bool) {
        *self.per_team.entry(team).or_default() += 1;
        *self.per_notifier.entry(notifier).or_default() += 1;
        self.suspects += usize::from(crashes > 0);
        self.of_slow_teams += usize::from(slow);
        self.all += 1;
    }

    /// One of those that were added is slow, and so is its team.
    pub(super) fn add_slow(&mut self, team: TeamId) {
        *self.slow_per_team.entry(team).or_default() += 1;
        self.slow += 1;
    }

    /// The number of places for more.
    pub(super) fn free(&self) -> usize {
        let places = MAX_IN_FLIGHT.saturating_sub(self.all - self.slow);
        places.min(MAX_WITH_SLOW.saturating_sub(self.all))
    }

    /// Whether there is a place for a team, with slow receivers or without.
    fn has_place(&self, slow: bool) -> bool {
        let in_places = self.of_slow_teams.saturating_sub(self.slow);
        self.free() > 0
            && (!slow
                || (in_places < MAX_OF_SLOW_TEAMS
                    && self.of_slow_teams < MAX_OF_SLOW_TEAMS_WITH_SLOW))
    }

    /// Whether one more may be sent.
    pub(super) fn has_room(
        &self,
        team: TeamId,
        notifier: NotifierId,
        mode: DeliveryMode,
        slow: bool,
    ) -> bool {
        let max = match mode {
            DeliveryMode::Single => MAX_PER_NOTIFIER,
            DeliveryMode::Digest => 1,
        };
        self.has_team_room(team, slow)
            && self.per_notifier.get(&notifier).is_none_or(|number| *number < max)
    }

    /// Whether one more of a team may be sent, to a notifier that has room.
    pub(super) fn has_team_room(&self, team: TeamId, slow: bool) -> bool {
        let share = (self.free() / FREE_PART_PER_TEAM).clamp(1, MAX_PER_TEAM);
        self.has_place(slow)
            && self.per_team.get(&team).is_none_or(|number| *number < share)
            && self.slow_per_team.get(&team).is_none_or(|number| *number < MAX_SLOW_PER_TEAM)
    }

    /// The teams that cannot send more because of their own messages in flight.
    pub(super) fn full_teams(&self, slow: &SlowReceivers) -> HashSet<TeamId> {
        let teams = self.per_team.keys().copied();
        teams.filter(|team| !self.has_team_room(*team, slow.is_slow(*team))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn team(number: u128) -> TeamId {
        Uuid::from_u128(number << 64).into()
    }

    fn notifier(team: u128, number: u128) -> NotifierId {
        Uuid::from_u128((team << 64) | number).into()
    }

    /// A due message of a team to one of its notifiers.
    fn due(of: u128, to: u128, message: u128) -> DueDelivery {
        let id = Uuid::from_u128((of << 64) | (to << 32) | message).into();
        DueDelivery {
            id,
            team: team(of),
            notifier: notifier(of, to),
            kind: Kind::Webhook,
            crashes: 0,
        }
    }

    /// A dispatcher whose receivers never respond, except those of the victim.
    #[derive(Default)]
    struct Simulation {
        turns: Turns,
        in_flight: HashMap<DeliveryId, (TeamId, NotifierId, Instant)>,
        outbox: Vec<DueDelivery>,
    }

    /// After this time a webhook that does not respond has failed.
    const TIMEOUT: Duration = Duration::from_secs(30);

    impl Simulation {
        /// Polls and sends once; returns the teams whose messages were sent. A message that
        /// timed out is due again at once.
        fn step(&mut self) -> Vec<TeamId> {
            let Self { turns, in_flight, outbox } = self;
            in_flight.retain(|_, (team, notifier, begun)| {
                turns.slow.record_waiting(*team, *notifier, begun.elapsed());
                begun.elapsed() < TIMEOUT
            });
            let is_due = |row: &&DueDelivery| !in_flight.contains_key(&row.id);
            turns.replace(outbox.iter().filter(is_due).copied().collect(), true);
            let mut counts = InFlightCounts::default();
            for (team, notifier, begun) in in_flight.values() {
                counts.add(*team, *notifier, 0, turns.slow.is_slow(*team));
                if begun.elapsed() >= SLOW_AFTER {
                    counts.add_slow(*team);
                }
            }
            let mut picked = Picked::default();
            turns.pick(&mut counts, |_| false, &mut picked);
            let rows: HashMap<DeliveryId, &DueDelivery> =
                outbox.iter().map(|row| (row.id, row)).collect();
            let sent: Vec<&DueDelivery> =
                picked.messages.iter().map(|message| rows[&message.id]).collect();
            let now = Instant::now();
            in_flight.extend(sent.iter().map(|row| (row.id, (row.team, row.notifier, now))));
            sent.into_iter().map(|row| row.team).collect()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn more_teams_than_places_whose_receivers_never_respond_delay_no_other_team() {
        let mut simulation = Simulation::default();
        for of in 1..=620 {
            simulation.outbox.extend((1..=16).map(|to| due(of, to, 1)));
        }
        for _ in 0..40 {
            simulation.step();
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        for victim in 1_000..1_010 {
            // It is the newest, so it comes last in the outbox.
            simulation.outbox.push(due(victim, 1, 1));
            let sent = simulation.step();
            assert!(sent.contains(&team(victim)), "at once");
            simulation.outbox.pop();
            simulation.in_flight.retain(|_, (of, ..)| *of != team(victim));
            tokio::time::advance(Duration::from_secs(1)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn every_team_has_its_turn_before_any_has_two_even_if_all_are_slow() {
        let mut simulation = Simulation::default();
        for of in 1..=2_000 {
            simulation.outbox.push(due(of, 1, 1));
            simulation.turns.slow.record(team(of), notifier(of, 1), SLOW_RECEIVER_AFTER);
        }
        let mut sent = Vec::new();
        while sent.len() < 2_000 {
            sent.extend(simulation.step());
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        let teams: HashSet<_> = sent[..2_000].iter().collect();
        assert_eq!(teams.len(), 2_000);
    }

    #[test]
    fn a_team_that_waits_keeps_its_turn_when_the_outbox_is_read_again() {
        let mut turns = Turns::default();
        let next = |turns: &mut Turns| {
            // One place is left.
            let mut counts = InFlightCounts::default();
            (1..MAX_IN_FLIGHT)
                .for_each(|at| counts.add(team(9_000 + at as u128), notifier(9_000, 1), 0, false));
            let mut picked = Picked::default();
            turns.pick(&mut counts, |_| false, &mut picked);
            picked.messages.iter().map(|message| message.notifier).collect::<Vec<_>>()
        };
        let outbox = || (1..=3).flat_map(|of| [due(of, 1, 1), due(of, 1, 2)]).collect::<Vec<_>>();
        for of in [1, 2, 3, 1, 2, 3] {
            turns.replace(outbox(), true);
            assert_eq!(next(&mut turns), [notifier(of, 1)]);
        }
        // Teams that did not fit into a batch are not left out.
        turns.replace(vec![due(1, 1, 1)], false);
        assert_eq!(turns.notifiers().count(), 3);
    }

    #[test]
    fn a_message_in_flight_is_not_picked_again() {
        let (mut turns, mut counts) = (Turns::default(), InFlightCounts::default());
        let mut pick = |turns: &mut Turns| {
            let mut picked = Picked::default();
            turns.pick(&mut counts, |_| false, &mut picked);
            picked.messages.iter().map(|message| message.id).collect::<Vec<_>>()
        };
        // A poll has found it, and it is announced while it waits and while it is in flight.
        turns.replace(vec![due(1, 1, 1)], true);
        turns.add(due(1, 1, 1));
        assert_eq!(pick(&mut turns), [due(1, 1, 1).id]);
        turns.add(due(1, 1, 1));
        turns.add(due(1, 1, 2));
        assert_eq!(pick(&mut turns), [due(1, 1, 2).id]);
        assert!(turns.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_receiver_that_responds_again_is_no_longer_slow_and_the_memory_is_bounded() {
        let mut slow = SlowReceivers::default();
        slow.record(team(1), notifier(1, 1), SLOW_RECEIVER_AFTER);
        slow.record(team(1), notifier(1, 2), SLOW_RECEIVER_AFTER);
        slow.record(team(1), notifier(1, 1), Duration::ZERO);
        assert!(slow.is_slow(team(1)), "the other one is");
        slow.record(team(1), notifier(1, 2), Duration::ZERO);
        assert!(!slow.is_slow(team(1)) && slow.number == 0);
        for to in 0..1_000 {
            slow.record(team(2), notifier(2, to), SLOW_RECEIVER_AFTER);
        }
        assert_eq!(slow.number, MAX_SLOW_RECEIVERS_PER_TEAM);
        for of in 10..100_000 {
            slow.record(team(of), notifier(of, 1), SLOW_RECEIVER_AFTER);
        }
        assert_eq!(slow.number, MAX_SLOW_RECEIVERS);
        tokio::time::advance(SLOW_RECEIVER_FOR).await;
        slow.expire();
        assert!(slow.teams.is_empty() && slow.number == 0);
    }

    #[test]
    fn eleven_teams_whose_receivers_never_respond_leave_room_for_a_twelfth() {
        let mut counts = InFlightCounts::default();
        let mut send = |of: u128, number: u128| {
            let room = counts.has_room(team(of), notifier(of, number), DeliveryMode::Single, false);
            if room {
                counts.add(team(of), notifier(of, number), 0, false);
            }
            room
        };
        let sent = |of, send: &mut dyn FnMut(u128, u128) -> bool| {
            (0..200).filter(|number| send(of, *number)).count()
        };
        assert_eq!(sent(1, &mut send), MAX_PER_TEAM, "a single team gets its full share");
        for of in 2..=11 {
            sent(of, &mut send);
        }
        assert!(sent(12, &mut send) >= MAX_PER_NOTIFIER);
    }

    #[test]
    fn a_hundred_teams_whose_receivers_never_respond_leave_room_once_they_are_slow() {
        let mut counts = InFlightCounts::default();
        let mut number = 0;
        // Until the first ones of a digest time out.
        for _ in 0..180 / SLOW_AFTER.as_secs() {
            let mut sent = Vec::new();
            for of in 1..=100 {
                for _ in 0..200 {
                    number += 1;
                    let to = notifier(of, number);
                    if counts.has_room(team(of), to, DeliveryMode::Single, false) {
                        counts.add(team(of), to, 0, false);
                        sent.push(team(of));
                    }
                }
            }
            sent.into_iter().for_each(|team| counts.add_slow(team));
        }
        assert!(counts.all <= MAX_WITH_SLOW);
        assert!(counts.has_room(team(999), notifier(999, 1), DeliveryMode::Single, false));
        assert!(counts.free() >= MAX_IN_FLIGHT / 4, "{}", counts.free());
    }
}
