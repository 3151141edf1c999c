//! Operations that read or change many monitors take turns, one of each team at a time, and
//! leave connections to the database for everyone else. Previews, and who is on call, are
//! expensive, so one person has one of each at a time, whatever the number of their teams.

use std::net::IpAddr;
use std::time::Duration;
use wakeful_core::access::{UserKind, permission};
use wakeful_core::client_network::ClientNetwork;
use wakeful_core::id::{TeamId, UserId};
use wakeful_outbound::fair_queue::{Bounds, FairQueue, Key, Turn};

use crate::{Authorized, Caller, Engine, Error, Result};

/// SQLite has at least four readers, unless `database.max_connections` is lower, so one is
/// left to others.
const LISTS: Bounds = Bounds { running: 3, waiting: 1_024, waiting_per_key: 64, share: |_free| 1 };
/// They take longer, and some of them write.
const BULK: Bounds = Bounds { running: 2, waiting: 256, waiting_per_key: 8, share: |_free| 1 };
/// Each step reads the monitors of a team.
const MAINTENANCE: Bounds =
    Bounds { running: 2, waiting: 1_024, waiting_per_key: 64, share: |_free| 1 };
/// Reading the histories that status pages show, some monitors at a time.
const HISTORIES: Bounds =
    Bounds { running: 2, waiting: 1_024, waiting_per_key: 64, share: |_free| 1 };
/// Each reads as much as a status page shows, and renders it.
const PREVIEWS: Bounds = Bounds { running: 4, waiting: 256, waiting_per_key: 16, share: |_free| 1 };
/// Each computes the shifts of all schedules of a team, on a processor of its own.
const ON_CALL: Bounds =
    Bounds { running: 2, waiting: 1_024, waiting_per_key: 64, share: |_free| 1 };
/// The same, for calendars, which programs read without a login.
const CALENDARS: Bounds = Bounds { running: 1, waiting: 256, waiting_per_key: 8, share: |_free| 1 };
/// Looking up who sent a request, and counting attempts. Strangers can send thousands of requests
/// at once; those of one network delay those of another by one, and nothing else at all.
const LOOKUPS: Bounds =
    Bounds { running: 4, waiting: 8_192, waiting_per_key: 1_024, share: |free| free };
const MAX_WAIT: Duration = Duration::from_secs(10);

pub(crate) struct TeamTurns {
    lists: FairQueue<TeamId>,
    bulk: FairQueue<TeamId>,
    maintenance: FairQueue<TeamId>,
    histories: FairQueue<TeamId>,
    previews: FairQueue<Party>,
    on_call: FairQueue<Party>,
    calendars: FairQueue<TeamId>,
    lookups: FairQueue<ClientNetwork>,
}

/// Who takes the turns of previews and of shifts. A person can have many teams, and a team many
/// service accounts, so neither gets a person or a team more turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Party {
    Person(UserId),
    /// The service accounts of a team.
    Services(TeamId),
}

impl Key for Party {}

impl Party {
    fn of(caller: &Caller) -> Self {
        Self::new(caller.kind(), caller.user(), caller.team())
    }

    fn new(kind: UserKind, user: UserId, team: TeamId) -> Self {
        match kind {
            UserKind::Person => Self::Person(user),
            UserKind::Service => Self::Services(team),
        }
    }
}

impl Default for TeamTurns {
    fn default() -> Self {
        Self {
            lists: FairQueue::new(LISTS),
            bulk: FairQueue::new(BULK),
            maintenance: FairQueue::new(MAINTENANCE),
            histories: FairQueue::new(HISTORIES),
            previews: FairQueue::new(PREVIEWS),
            on_call: FairQueue::new(ON_CALL),
            calendars: FairQueue::new(CALENDARS),
            lookups: FairQueue::new(LOOKUPS),
        }
    }
}

impl Engine {
    /// The turn to read a part of a list of monitors; it ends when it is dropped.
    pub async fn list_turn(&self, caller: &Authorized<permission::View>) -> Result<Turn<TeamId>> {
        turn(&self.0.team_turns.lists, caller.team()).await
    }

    /// The turn of an operation on many monitors.
    pub(crate) async fn bulk_turn(&self, caller: &Caller) -> Result<Turn<TeamId>> {
        turn(&self.0.team_turns.bulk, caller.team()).await
    }

    /// The turn to create a monitor unless the team has it, so that two calls do not create two.
    pub async fn unique_turn(&self, caller: &Authorized<permission::Edit>) -> Result<Turn<TeamId>> {
        turn(&self.0.team_turns.bulk, caller.team()).await
    }

    /// The turn to look up who sent a request.
    pub async fn lookup_turn(&self, client: IpAddr) -> Result<Turn<ClientNetwork>> {
        turn(&self.0.team_turns.lookups, ClientNetwork::of(client)).await
    }

    /// The turn of a step of the maintenance clock.
    pub(crate) async fn maintenance_turn(&self, team: TeamId) -> Result<Turn<TeamId>> {
        turn(&self.0.team_turns.maintenance, team).await
    }

    /// The turn to read the histories of some monitors that a status page shows.
    pub(crate) async fn history_turn(&self, team: TeamId) -> Result<Turn<TeamId>> {
        turn(&self.0.team_turns.histories, team).await
    }

    /// The turn to read and render a preview of a status page.
    pub(crate) async fn preview_turn(&self, caller: &Caller) -> Result<Turn<Party>> {
        turn(&self.0.team_turns.previews, Party::of(caller)).await
    }

    /// The turn to compute the shifts of schedules.
    pub(crate) async fn on_call_turn(&self, caller: &Caller) -> Result<Turn<Party>> {
        turn(&self.0.team_turns.on_call, Party::of(caller)).await
    }

    /// The turn to compute the calendar of a team.
    pub(crate) async fn calendar_turn(&self, team: TeamId) -> Result<Turn<TeamId>> {
        turn(&self.0.team_turns.calendars, team).await
    }
}

async fn turn<K: Key>(queue: &FairQueue<K>, key: K) -> Result<Turn<K>> {
    let turn = tokio::time::timeout(MAX_WAIT, queue.turn(key)).await;
    turn.map_err(|_| Error::Overloaded)?.map_err(|_| Error::Overloaded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::time::Millis;

    #[tokio::test(start_paused = true)]
    async fn one_team_with_many_lists_does_not_delay_another() {
        let turns = TeamTurns::default();
        let team = |number: u8| TeamId::new(Millis(0), [number; 10]);
        let _held = turns.lists.turn(team(1)).await.expect("a turn");
        let waiting: Vec<_> = (0..60).map(|_| Box::pin(turns.lists.turn(team(1)))).collect();
        let mut waiting = futures_util::future::join_all(waiting);
        assert!(futures_util::poll!(&mut waiting).is_pending());
        for number in 2..4 {
            turns.lists.turn(team(number)).await.expect("another team waits for nobody");
        }
    }

    fn person(number: u8) -> Party {
        Party::Person(UserId::new(Millis(0), [number; 10]))
    }

    #[tokio::test(start_paused = true)]
    async fn a_person_has_one_preview_at_a_time_and_few_that_wait() {
        let turns = TeamTurns::default();
        let held = turns.previews.turn(person(1)).await.expect("a turn");
        let waiting: Vec<_> =
            (0..100).map(|_| Box::pin(turn(&turns.previews, person(1)))).collect();
        let mut waiting = futures_util::future::join_all(waiting);
        assert!(futures_util::poll!(&mut waiting).is_pending());
        let _other = turns.previews.turn(person(2)).await.expect("another waits for nobody");
        // The preview never ends: those that wait are refused in time.
        let refused = waiting.await;
        assert!(refused.iter().all(|turn| matches!(turn, Err(Error::Overloaded))));
        let waiting = (0..100).map(|_| async { turn(&turns.previews, person(1)).await.map(drop) });
        let mut waiting = Box::pin(futures_util::future::join_all(waiting));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(held);
        assert_eq!(waiting.await.iter().filter(|turn| turn.is_ok()).count(), 16);
    }

    #[tokio::test(start_paused = true)]
    async fn the_previews_of_a_person_with_many_teams_do_not_delay_others() {
        let turns = TeamTurns::default();
        let team = |number: u8| TeamId::new(Millis(0), [number; 10]);
        let user = |number: u8| UserId::new(Millis(0), [number; 10]);
        let in_team = |number: u8| Party::new(UserKind::Person, user(1), team(number));
        let _held = turns.previews.turn(in_team(0)).await.expect("a turn");
        let waiting: Vec<_> =
            (1..13).map(|number| Box::pin(turn(&turns.previews, in_team(number)))).collect();
        let mut waiting = futures_util::future::join_all(waiting);
        assert!(futures_util::poll!(&mut waiting).is_pending());
        let mut others = Vec::new();
        for number in 2..5 {
            let other = Party::new(UserKind::Person, user(number), team(99));
            let turn = turns.previews.turn(other).await;
            others.push(turn.expect("another person waits for nobody"));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_shifts_of_a_person_with_many_teams_delay_no_lists_and_nobody_else() {
        let turns = TeamTurns::default();
        let team = |number: u8| TeamId::new(Millis(0), [number; 10]);
        let user = |number: u8| UserId::new(Millis(0), [number; 10]);
        let in_team = |number: u8| Party::new(UserKind::Person, user(1), team(number));
        let _held = turns.on_call.turn(in_team(0)).await.expect("a turn");
        let waiting: Vec<_> =
            (1..13).map(|number| Box::pin(turn(&turns.on_call, in_team(number)))).collect();
        let mut waiting = futures_util::future::join_all(waiting);
        assert!(futures_util::poll!(&mut waiting).is_pending());
        let _other = turns.on_call.turn(person(2)).await.expect("another waits for nobody");
        for number in 1..4 {
            turns.lists.turn(team(number)).await.expect("lists wait for nobody");
        }
        let _calendar = turns.calendars.turn(team(1)).await.expect("a turn");
        for number in 1..3 {
            turns.bulk.turn(team(number)).await.expect("changes of many wait for nobody");
        }
    }

    #[test]
    fn the_service_accounts_of_a_team_share_its_previews() {
        let team = |number: u8| TeamId::new(Millis(0), [number; 10]);
        let user = |number: u8| UserId::new(Millis(0), [number; 10]);
        let service = |number: u8, of: u8| Party::new(UserKind::Service, user(number), team(of));
        assert_eq!(service(1, 1), service(2, 1));
        assert_ne!(service(1, 1), service(1, 2));
        assert_ne!(service(1, 1), Party::new(UserKind::Person, user(1), team(1)));
    }
}
