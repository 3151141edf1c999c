//! Whose messages to subscribers of status pages are sent next. As in `turns.rs`, teams take
//! turns, and a team whose receivers were slow comes after the others and shares half of the
//! places with its like: neither a long mailing nor receivers that never respond delay the
//! messages of another team.

use std::collections::{HashMap, HashSet, VecDeque};
use std::iter;
use tokio::time::Instant;
use wakeful_core::id::{StatuspageId, SubscriberId, TeamId};
use wakeful_store::{DuePage, DueSubscriber};

use super::turns::{SLOW_AFTER, SlowReceivers};
use crate::suspects::{InFlight, is_last_chance, may_start};

/// How many messages of a queue may be in flight at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// Slow ones aside.
    max: usize,
    /// Slow or not. If that is not more than `max`, none is considered slow.
    max_with_slow: usize,
    max_per_team: usize,
    /// Slow ones of a team, which sends no other ones meanwhile.
    max_slow_per_team: usize,
    max_per_page: usize,
    /// A team gets at most this fraction of the free places.
    free_part_per_team: Option<usize>,
}

impl Places {
    /// Messages to servers of others.
    pub(super) const REMOTE: Self = Self {
        max: 64,
        max_with_slow: 512,
        max_per_team: 16,
        max_slow_per_team: 16,
        max_per_page: 8,
        free_part_per_team: Some(4),
    };

    /// The service's own mail, over so many connections: how long its server takes says nothing
    /// about a team.
    pub(super) const fn mail(connections: usize) -> Self {
        Self {
            max: connections,
            max_with_slow: connections,
            max_per_team: connections,
            max_slow_per_team: connections,
            max_per_page: connections,
            free_part_per_team: None,
        }
    }

    const fn has_slow(&self) -> bool {
        self.max_with_slow > self.max
    }
}

/// The messages to subscribers that wait, and those that are in flight.
pub(super) struct PageTurns {
    places: Places,
    /// What has been read of each team.
    waiting: HashMap<TeamId, VecDeque<DueSubscriber>>,
    in_flight: HashMap<SubscriberId, Attempt>,
    /// The latest turn of each team with waiting messages.
    latest: HashMap<TeamId, u64>,
    /// Counts the turns that teams were given.
    turns: u64,
    slow: SlowReceivers<SubscriberId>,
}

struct Attempt {
    team: TeamId,
    page: StatuspageId,
    sent: InFlight,
}

impl PageTurns {
    pub(super) fn new(places: Places) -> Self {
        Self {
            places,
            waiting: HashMap::new(),
            in_flight: HashMap::new(),
            latest: HashMap::new(),
            turns: 0,
            slow: SlowReceivers::default(),
        }
    }

    pub(super) fn in_flight(&self) -> Vec<InFlight> {
        self.in_flight.values().map(|attempt| attempt.sent).collect()
    }

    /// The subscribers with a message in flight.
    pub(super) fn recipients(&self) -> Vec<SubscriberId> {
        self.in_flight.keys().copied().collect()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.in_flight.is_empty()
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether there is a place for a team whose receivers are not slow.
    pub(super) fn has_place(&self) -> bool {
        self.count().has_place(&self.places, false)
    }

    /// The pages to read: none of a team or a page that has no room, and the first of each team
    /// before the second of any. Replaces what was read before.
    pub(super) fn reading_order(&mut self, due: Vec<DuePage>) -> Vec<DuePage> {
        self.waiting.clear();
        self.slow.expire();
        self.record_waiting();
        let teams: HashSet<TeamId> = due.iter().map(|one| one.team).collect();
        self.latest.retain(|team, _| teams.contains(team));
        let counts = self.count();
        let mut pages_of: HashMap<TeamId, usize> = HashMap::new();
        let mut order = Vec::new();
        for one in due {
            let (is_slow, turn) = self.turn_of(one.team);
            if counts.has_team_room(&self.places, one.team, is_slow)
                && counts.has_page_room(&self.places, one.page)
            {
                let place = pages_of.entry(one.team).or_default();
                order.push(((is_slow, *place, turn), one));
                *place += 1;
            }
        }
        order.sort_by_key(|(key, _)| *key);
        order.into_iter().map(|(_, one)| one).collect()
    }

    /// Adds what was read of a page of a team. If that is nothing, the team has had its turn.
    pub(super) fn add(&mut self, team: TeamId, mut found: Vec<DueSubscriber>) {
        if found.is_empty() {
            return self.take_turn(team);
        }
        found.sort_by_key(|one| !is_last_chance(one.crashes));
        self.waiting.entry(team).or_default().extend(found);
    }

    /// The subscriber whose turn it is, besides the messages of the other queue; it is in flight
    /// from now on.
    pub(super) fn next(&mut self, others: &[InFlight]) -> Option<SubscriberId> {
        self.record_waiting();
        let counts = self.count();
        if !counts.has_place(&self.places, false) {
            return None;
        }
        loop {
            let has_room =
                |team: &TeamId| counts.has_team_room(&self.places, *team, self.slow.is_slow(*team));
            let with_room = self.waiting.keys().copied().filter(has_room);
            let Some(team) = with_room.min_by_key(|team| (self.turn_of(*team), *team)) else {
                // Others may have room when this is read again.
                self.waiting.clear();
                return None;
            };
            self.take_turn(team);
            let mut queue = self.waiting.remove(&team).unwrap_or_default();
            let next = iter::from_fn(|| queue.pop_front()).find(|one| {
                let sent = self.in_flight.values().map(|attempt| attempt.sent);
                !self.in_flight.contains_key(&one.id)
                    && counts.has_page_room(&self.places, one.page)
                    && may_start(one.crashes, sent.chain(others.iter().copied()))
            });
            if !queue.is_empty() {
                self.waiting.insert(team, queue);
            }
            if let Some(one) = next {
                let sent = InFlight { crashes: one.crashes, begun: Instant::now() };
                self.in_flight.insert(one.id, Attempt { team, page: one.page, sent });
                return Some(one.id);
            }
        }
    }

    pub(super) fn finish(&mut self, subscriber: SubscriberId) {
        let Some(attempt) = self.in_flight.remove(&subscriber) else { return };
        if self.places.has_slow() {
            self.slow.record(attempt.team, subscriber, attempt.sent.begun.elapsed());
        }
    }

    /// Nothing is in flight any longer.
    pub(super) fn finish_all(&mut self) {
        self.in_flight.clear();
    }

    /// Teams with slow receivers last, then the team that has waited the longest first.
    fn turn_of(&self, team: TeamId) -> (bool, u64) {
        (self.slow.is_slow(team), self.latest.get(&team).copied().unwrap_or(0))
    }

    fn take_turn(&mut self, team: TeamId) {
        self.turns += 1;
        self.latest.insert(team, self.turns);
    }

    fn record_waiting(&mut self) {
        if !self.places.has_slow() {
            return;
        }
        for (subscriber, Attempt { team, sent, .. }) in &self.in_flight {
            self.slow.record_waiting(*team, *subscriber, sent.begun.elapsed());
        }
    }

    fn count(&self) -> Counts {
        let mut counts = Counts::default();
        for Attempt { team, page, sent } in self.in_flight.values() {
            let is_slow = self.places.has_slow() && sent.begun.elapsed() >= SLOW_AFTER;
            counts.all += 1;
            counts.slow += usize::from(is_slow);
            counts.of_slow_teams += usize::from(self.slow.is_slow(*team));
            *counts.per_team.entry(*team).or_default() += 1;
            *counts.slow_per_team.entry(*team).or_default() += usize::from(is_slow);
            *counts.per_page.entry(*page).or_default() += 1;
        }
        counts
    }
}

/// The numbers of messages in flight.
#[derive(Default)]
struct Counts {
    all: usize,
    slow: usize,
    /// Those of teams with slow receivers.
    of_slow_teams: usize,
    per_team: HashMap<TeamId, usize>,
    slow_per_team: HashMap<TeamId, usize>,
    per_page: HashMap<StatuspageId, usize>,
}

impl Counts {
    fn free(&self, places: &Places) -> usize {
        let free = places.max.saturating_sub(self.all - self.slow);
        free.min(places.max_with_slow.saturating_sub(self.all))
    }

    /// Whether there is a place for a team, with slow receivers or without.
    fn has_place(&self, places: &Places, is_slow: bool) -> bool {
        let in_places = self.of_slow_teams.saturating_sub(self.slow);
        self.free(places) > 0
            && (!is_slow
                || (in_places < places.max / 2
                    && self.of_slow_teams < places.max_with_slow / 4 * 3))
    }

    /// Whether one more message of a team may be sent.
    fn has_team_room(&self, places: &Places, team: TeamId, is_slow: bool) -> bool {
        let share = match places.free_part_per_team {
            Some(part) => (self.free(places) / part).clamp(1, places.max_per_team),
            None => places.max_per_team,
        };
        let number = |of: &HashMap<TeamId, usize>| of.get(&team).copied().unwrap_or(0);
        self.has_place(places, is_slow)
            && number(&self.per_team) < share
            && number(&self.slow_per_team) < places.max_slow_per_team
    }

    fn has_page_room(&self, places: &Places, page: StatuspageId) -> bool {
        self.per_page.get(&page).copied().unwrap_or(0) < places.max_per_page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use uuid::Uuid;

    /// After this time a webhook that does not respond has failed.
    const TIMEOUT: Duration = Duration::from_secs(30);

    fn team(number: u128) -> TeamId {
        Uuid::from_u128(number << 64).into()
    }

    fn page(of: u128, number: u128) -> DuePage {
        DuePage { team: team(of), page: Uuid::from_u128((of << 64) | (number << 32)).into() }
    }

    fn subscriber(page: DuePage, number: u128) -> DueSubscriber {
        let id = Uuid::from_u128(page.page.uuid().as_u128() | number).into();
        DueSubscriber { id, page: page.page, crashes: 0 }
    }

    /// Starts what may be started of pages that have this many subscribers each; returns the
    /// teams in the order of their turns.
    fn start(turns: &mut PageTurns, pages: &[DuePage], subscribers: u128) -> Vec<TeamId> {
        for one in turns.reading_order(pages.to_vec()) {
            let all = (1..=subscribers).map(|number| subscriber(one, number));
            let due: Vec<DueSubscriber> =
                all.filter(|due| !turns.in_flight.contains_key(&due.id)).collect();
            turns.add(one.team, due);
        }
        let mut started = Vec::new();
        while let Some(next) = turns.next(&[]) {
            started.push(turns.in_flight[&next].team);
        }
        started
    }

    #[tokio::test(start_paused = true)]
    async fn teams_whose_webhooks_never_respond_delay_no_other_team() {
        let mut turns = PageTurns::new(Places::REMOTE);
        let hanging: Vec<DuePage> =
            (1..=40).flat_map(|of| (1..=20).map(move |number| page(of, number))).collect();
        for second in 0..90_u128 {
            let late: Vec<SubscriberId> = turns
                .in_flight
                .iter()
                .filter(|(_, attempt)| attempt.sent.begun.elapsed() >= TIMEOUT)
                .map(|(subscriber, _)| *subscriber)
                .collect();
            late.into_iter().for_each(|subscriber| turns.finish(subscriber));
            start(&mut turns, &hanging, 8);
            // From the time on when the receivers are known as slow.
            if second > 10 {
                let other = page(1_000 + second, 1);
                let all: Vec<DuePage> = hanging.iter().copied().chain([other]).collect();
                assert!(start(&mut turns, &all, 1).contains(&other.team), "at {second} s");
                turns.finish(subscriber(other, 1).id);
            }
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        assert!(turns.in_flight.len() <= Places::REMOTE.max_with_slow);
    }

    #[tokio::test(start_paused = true)]
    async fn a_single_team_leaves_most_places_to_others() {
        let mut turns = PageTurns::new(Places::REMOTE);
        let pages: Vec<DuePage> = (1..=60).map(|number| page(1, number)).collect();
        let started = start(&mut turns, &pages, 20).len();
        assert!((8..=Places::REMOTE.max_per_team).contains(&started), "{started}");
        assert_eq!(start(&mut turns, &[pages[0], page(2, 1)], 1), [team(2)]);
    }

    #[tokio::test(start_paused = true)]
    async fn teams_take_turns_for_the_connections_of_the_mail() {
        let mut turns = PageTurns::new(Places::mail(1));
        let (large, small) = (page(1, 1), page(2, 1));
        assert_eq!(start(&mut turns, &[large], 2_000), [team(1)]);
        assert!(start(&mut turns, &[large, small], 2_000).is_empty(), "no place");
        let mut sent = Vec::new();
        for _ in 0..4 {
            turns.finish_all();
            // It is only written now, behind the others.
            sent.extend(start(&mut turns, &[large, small], 2_000));
            tokio::time::advance(2 * SLOW_AFTER).await;
        }
        assert_eq!(sent, [team(2), team(1), team(2), team(1)]);
    }
}
