//! What a caller can access in a team: everything, or the monitors of a filter.

use crate::id::{MonitorFilterId, TeamId};

/// Required to read or write a team's data, so that no statement can ignore the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TeamAccess {
    team: TeamId,
    filter: Option<MonitorFilterId>,
    has_caller: bool,
}

impl TeamAccess {
    /// Everything in the team, for work that has no caller.
    pub const fn whole(team: TeamId) -> Self {
        Self { team, filter: None, has_caller: false }
    }

    /// What a caller's membership or API key allows; without a filter, everything.
    pub const fn of_caller(team: TeamId, filter: Option<MonitorFilterId>) -> Self {
        Self { team, filter, has_caller: true }
    }

    pub const fn team(&self) -> TeamId {
        self.team
    }

    /// Whether a caller requests the work; it then takes turns with that of other teams.
    pub const fn has_caller(&self) -> bool {
        self.has_caller
    }

    pub const fn filter(&self) -> Option<MonitorFilterId> {
        self.filter
    }
}
