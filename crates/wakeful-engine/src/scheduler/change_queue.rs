//! Changes that wait to be written. Teams take turns, so that one with many changes delays no
//! other by more than a batch. Those of one team, and so those of one monitor, stay in order.

use std::collections::{HashMap, HashSet, VecDeque};
use wakeful_core::id::{MonitorId, TeamId};

use super::writer::PendingResult;

#[derive(Default)]
pub(super) struct ChangeQueue {
    teams: HashMap<TeamId, VecDeque<PendingResult>>,
    /// Each team with changes, in the order of their turns.
    turns: VecDeque<TeamId>,
}

impl ChangeQueue {
    pub(super) fn push(&mut self, item: PendingResult) {
        let of_team = self.teams.entry(item.team).or_default();
        if of_team.is_empty() {
            self.turns.push_back(item.team);
        }
        of_team.push_back(item);
    }

    /// Takes at most `max` changes, one of each team at a time.
    pub(super) fn take(&mut self, max: usize) -> Vec<PendingResult> {
        let mut taken = Vec::new();
        while taken.len() < max
            && let Some(team) = self.turns.pop_front()
        {
            let Some(of_team) = self.teams.get_mut(&team) else { continue };
            taken.extend(of_team.pop_front());
            if of_team.is_empty() {
                self.teams.remove(&team);
            } else {
                self.turns.push_back(team);
            }
        }
        taken
    }

    /// Removes the changes that somebody waits for, with the earlier ones of their monitors.
    pub(super) fn split_awaited(&mut self) -> Self {
        let (mut awaited, mut others) = (Self::default(), Self::default());
        for team in std::mem::take(&mut self.turns) {
            let of_team = self.teams.remove(&team).unwrap_or_default();
            let mut monitors: HashSet<MonitorId> = HashSet::new();
            let mut is_awaited: Vec<bool> = of_team
                .iter()
                .rev()
                .map(|item| {
                    if item.is_awaited() {
                        monitors.insert(item.monitor);
                    }
                    monitors.contains(&item.monitor)
                })
                .collect();
            for item in of_team {
                let part = if is_awaited.pop() == Some(true) { &mut awaited } else { &mut others };
                part.push(item);
            }
        }
        *self = others;
        awaited
    }

    pub(super) fn len(&self) -> usize {
        self.teams.values().map(VecDeque::len).sum()
    }
}
