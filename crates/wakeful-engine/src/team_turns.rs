//! Operations that read or change many monitors take turns, one of each team at a time, and
//! leave connections to the database for everyone else.

use std::time::Duration;
use wakeful_core::access::permission;
use wakeful_core::id::TeamId;
use wakeful_outbound::fair_queue::{Bounds, FairQueue, Turn};

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
/// Each reads as much as a status page shows.
const PREVIEWS: Bounds = Bounds { running: 4, waiting: 256, waiting_per_key: 16, share: |_free| 1 };
const MAX_WAIT: Duration = Duration::from_secs(10);

pub(crate) struct TeamTurns {
    lists: FairQueue<TeamId>,
    bulk: FairQueue<TeamId>,
    maintenance: FairQueue<TeamId>,
    histories: FairQueue<TeamId>,
    previews: FairQueue<TeamId>,
}

impl Default for TeamTurns {
    fn default() -> Self {
        Self {
            lists: FairQueue::new(LISTS),
            bulk: FairQueue::new(BULK),
            maintenance: FairQueue::new(MAINTENANCE),
            histories: FairQueue::new(HISTORIES),
            previews: FairQueue::new(PREVIEWS),
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
        self.bulk_turn_of(caller.team()).await
    }

    /// The same for a request without a caller.
    pub(crate) async fn bulk_turn_of(&self, team: TeamId) -> Result<Turn<TeamId>> {
        turn(&self.0.team_turns.bulk, team).await
    }

    /// The turn of a step of the maintenance clock.
    pub(crate) async fn maintenance_turn(&self, team: TeamId) -> Result<Turn<TeamId>> {
        turn(&self.0.team_turns.maintenance, team).await
    }

    /// The turn to read the histories of some monitors that a status page shows.
    pub(crate) async fn history_turn(&self, team: TeamId) -> Result<Turn<TeamId>> {
        turn(&self.0.team_turns.histories, team).await
    }

    /// The turn of a preview of a status page.
    pub(crate) async fn preview_turn(&self, team: TeamId) -> Result<Turn<TeamId>> {
        turn(&self.0.team_turns.previews, team).await
    }
}

async fn turn(queue: &FairQueue<TeamId>, team: TeamId) -> Result<Turn<TeamId>> {
    let turn = tokio::time::timeout(MAX_WAIT, queue.turn(team)).await;
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
}
