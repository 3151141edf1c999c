//! Escalation policies: who is notified, step by step, until somebody responds. `advance` says
//! which steps are due; `alerting/step.rs` decides whether they may be taken.

mod audited;

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::id::{NotifierId, PolicyId, ScheduleId, TeamId, UserId};
use crate::serde_millis;
use crate::time::Millis;

/// The most policies of a team.
pub const MAX_POLICIES: usize = 50;
pub const MAX_STEPS: usize = 10;
/// The most targets of a step.
pub const MAX_TARGETS: usize = 20;
/// The most rounds after the first one.
pub const MAX_REPEAT: u32 = 9;
/// The longest time between two steps, in seconds.
pub const MAX_AFTER: u32 = 86_400;
/// The longest time between two rounds, in seconds; a round that begins sooner is noise.
pub const MAX_EVERY: u32 = 7 * 86_400;
pub const MIN_EVERY: u32 = 60;
/// The longest time after which an acknowledgement no longer stops follow-ups, in seconds.
pub const MAX_ACK_TIMEOUT: u32 = 30 * 86_400;

/// An escalation policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub id: PolicyId,
    pub team: TeamId,
    pub name: String,
    pub steps: Vec<PolicyStep>,
    /// How many rounds follow the first one.
    pub repeat: u32,
    /// Seconds from the last step of a round to the next round.
    pub every: u32,
    /// Seconds after which follow-ups of an acknowledged alert resume; 0: never.
    pub ack_timeout: u32,
    pub created: Millis,
    pub modified: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyStep {
    /// Seconds since the previous step.
    pub after: u32,
    pub notify: Vec<Target>,
}

/// Who a step notifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Target {
    #[serde(rename = "notifierid")]
    Notifier(NotifierId),
    /// The user on call.
    #[serde(rename = "scheduleid")]
    Schedule(ScheduleId),
    #[serde(rename = "userid")]
    User(UserId),
    /// Every member of the team.
    #[serde(rename = "everybody")]
    Everybody(bool),
}

/// Where the escalation of an alert is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub policy: PolicyId,
    pub round: u32,
    /// The next step of the round; after the last one, the round is over.
    pub step: u32,
    /// When the step before was due, or the escalation began.
    #[serde(with = "serde_millis::instant")]
    pub from: Millis,
    /// Whether a step of this round has reached somebody.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reached: bool,
    /// How often the escalation has begun again: messages of each time are different ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restarts: u32,
    /// Since when no time passes for the next step. Earlier versions stored it as `inactive_since`,
    /// for inactive monitors only, and add other pauses themselves: under that name they would add
    /// them twice.
    #[serde(
        default,
        alias = "inactive_since",
        with = "serde_millis::maybe_instant",
        skip_serializing_if = "Option::is_none"
    )]
    pub stopped_since: Option<Millis>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The steps that are due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advance {
    pub position: Position,
    /// The steps to take, in order, those that reach nobody among them. Several that are
    /// overdue are taken together.
    pub taken: Vec<TakenStep>,
    /// No step of a round has reached anybody: every member of the team is notified.
    pub everybody: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenStep {
    pub round: u32,
    pub step: u32,
    pub reached: bool,
}

impl Position {
    /// The beginning of an escalation.
    pub fn start(policy: PolicyId, now: Millis) -> Self {
        Self {
            policy,
            round: 0,
            step: 0,
            from: now,
            reached: false,
            restarts: 0,
            stopped_since: None,
        }
    }

    /// The same escalation from its first step on, which is due now.
    #[must_use]
    pub fn restarted(&self, policy: &Policy, now: Millis) -> Self {
        let first = policy.steps.first().map_or(0, |step| step.after);
        let from = now.before(seconds(first));
        Self { restarts: self.restarts + 1, ..Self::start(policy.id, from) }
    }

    /// No time passes for the next step from then on, unless that is so already.
    #[must_use]
    pub fn stopped(self, at: Millis) -> Self {
        Self { stopped_since: self.stopped_since.or(Some(at)), ..self }
    }

    /// Time passes again: the next step is due after what was left when it stopped.
    #[must_use]
    pub fn resumed(self, now: Millis) -> Self {
        let stopped = self.stopped_since.map_or(Duration::ZERO, |since| now.since(since));
        Self { from: self.from.after(stopped), stopped_since: None, ..self }
    }
}

impl Policy {
    /// When the next step is due, and which one it is; `None` after the last round.
    pub fn next(&self, position: &Position) -> Option<(Millis, u32, u32)> {
        match self.steps.get(position.step as usize) {
            Some(step) => {
                Some((position.from.after(seconds(step.after)), position.round, position.step))
            }
            None if position.round < self.repeat => {
                Some((position.from.after(seconds(self.every)), position.round + 1, 0))
            }
            None => None,
        }
    }

    /// Takes the steps that are due. After a step that reaches nobody, the next one of the round
    /// is taken immediately. `reaches` says whether a step reaches somebody now.
    pub fn advance(
        &self,
        position: &Position,
        reaches: impl Fn(u32) -> bool,
        now: Millis,
    ) -> Advance {
        let mut advance = Advance { position: *position, taken: Vec::new(), everybody: false };
        let count = self.steps.len() as u32;
        let mut immediately = false;
        while let Some((due, round, step)) = self.next(&advance.position) {
            let is_next_round = round != advance.position.round;
            if due > now && (is_next_round || !immediately) {
                break;
            }
            let reached = reaches(step);
            advance.taken.push(TakenStep { round, step, reached });
            let before = advance.position.reached && !is_next_round;
            advance.position = Position {
                round,
                step: step + 1,
                from: due.min(now),
                reached: before || reached,
                ..advance.position
            };
            advance.everybody |= step + 1 == count && !advance.position.reached;
            immediately = !reached;
        }
        advance
    }
}

fn seconds(number: u32) -> Duration {
    Duration::from_secs(number.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: i64) -> Millis {
        Millis(1_790_000_000_000 + seconds * 1_000)
    }

    fn policy(after: &[u32], repeat: u32, every: u32) -> Policy {
        let user = UserId::new(Millis(0), [1; 10]);
        let step = |after: &u32| PolicyStep { after: *after, notify: vec![Target::User(user)] };
        Policy {
            id: PolicyId::new(Millis(0), [1; 10]),
            team: TeamId::new(Millis(0), [2; 10]),
            name: "Production".to_owned(),
            steps: after.iter().map(step).collect(),
            repeat,
            every,
            ack_timeout: 0,
            created: Millis(0),
            modified: Millis(0),
        }
    }

    /// The steps taken at these times, such as `0.1` for the second step of the first round.
    fn taken(policy: &Policy, times: &[i64], reaches: impl Fn(u32) -> bool) -> Vec<String> {
        let mut position = Position::start(policy.id, at(0));
        let mut all = Vec::new();
        for time in times {
            let advance = policy.advance(&position, &reaches, at(*time));
            position = advance.position;
            let steps: Vec<String> = advance
                .taken
                .iter()
                .map(|one| {
                    format!("{}.{}{}", one.round, one.step, if one.reached { "" } else { "?" })
                })
                .collect();
            if !steps.is_empty() {
                let everybody = if advance.everybody { " everybody" } else { "" };
                all.push(format!("{time}: {}{everybody}", steps.join(" ")));
            }
        }
        all
    }

    #[test]
    fn steps_are_taken_in_order_and_never_early() {
        let policy = policy(&[0, 600, 900], 1, 1_800);
        let times = [0, 1, 599, 600, 601, 1_499, 1_500, 3_299, 3_300, 3_900, 4_800, 9_999];
        assert_eq!(
            taken(&policy, &times, |_| true),
            ["0: 0.0", "600: 0.1", "1500: 0.2", "3300: 1.0", "3900: 1.1", "4800: 1.2"]
        );
    }

    #[test]
    fn several_overdue_steps_are_taken_together() {
        let policy = policy(&[0, 600, 900], 0, 60);
        assert_eq!(taken(&policy, &[10_000], |_| true), ["10000: 0.0 0.1 0.2"]);
        assert_eq!(taken(&policy, &[0, 10_000], |_| true), ["0: 0.0", "10000: 0.1 0.2"]);
    }

    #[test]
    fn after_a_step_that_reaches_nobody_the_next_one_is_taken_immediately() {
        let policy = policy(&[0, 600, 900], 0, 60);
        assert_eq!(taken(&policy, &[0, 899, 900], |step| step != 0), ["0: 0.0? 0.1", "900: 0.2"]);
        assert_eq!(taken(&policy, &[0, 600], |step| step != 1), ["0: 0.0", "600: 0.1? 0.2"]);
    }

    #[test]
    fn if_no_step_of_a_round_reaches_anybody_everybody_is_notified() {
        let policy = policy(&[0, 600], 1, 3_600);
        assert_eq!(
            taken(&policy, &[0, 600, 3_600], |_| false),
            ["0: 0.0? 0.1? everybody", "3600: 1.0? 1.1? everybody"]
        );
        // One step was enough.
        assert_eq!(taken(&policy, &[0, 600], |step| step == 0), ["0: 0.0", "600: 0.1?"]);
    }

    #[test]
    fn a_shortened_policy_continues_with_its_repeat() {
        let long = policy(&[0, 600, 600, 600], 1, 1_800);
        let position = long.advance(&Position::start(long.id, at(0)), |_| true, at(1_200)).position;
        assert_eq!((position.round, position.step), (0, 3));
        let short = policy(&[0, 600], 1, 1_800);
        assert_eq!(short.next(&position), Some((at(3_000), 1, 0)));
        let once = Policy { repeat: 0, ..short };
        assert_eq!(once.next(&position), None);
    }

    #[test]
    fn an_edited_policy_applies_from_its_next_step_on() {
        let before = policy(&[0, 600], 0, 60);
        let position = before.advance(&Position::start(before.id, at(0)), |_| true, at(0)).position;
        let edited = policy(&[300, 120], 0, 60);
        assert_eq!(edited.next(&position), Some((at(120), 0, 1)));
    }

    #[test]
    fn a_restarted_escalation_begins_immediately() {
        let policy = policy(&[300, 600], 0, 60);
        let position = Position::start(policy.id, at(0)).restarted(&policy, at(5_000));
        assert_eq!(policy.next(&position), Some((at(5_000), 0, 0)));
        assert_eq!(position.restarts, 1);
    }

    #[test]
    fn time_that_stops_for_several_reasons_stops_once() {
        let policy = policy(&[0, 600], 0, 60);
        let position = policy.advance(&Position::start(policy.id, at(0)), |_| true, at(0)).position;
        let stopped = position.stopped(at(100)).stopped(at(300));
        assert_eq!(policy.next(&stopped.resumed(at(1_000))), Some((at(1_500), 0, 1)));
        assert_eq!(position.resumed(at(1_000)), position, "it has not stopped");
    }

    #[test]
    fn targets_are_stored_as_they_are_sent() {
        let notifier = NotifierId::new(Millis(0), [1; 10]);
        let step = PolicyStep {
            after: 5,
            notify: vec![Target::Notifier(notifier), Target::Everybody(true)],
        };
        let text = serde_json::to_string(&step).expect("plain data");
        let expected = format!(
            r#"{{"after":5,"notify":[{{"notifierid":"{notifier}"}},{{"everybody":true}}]}}"#
        );
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<PolicyStep>(&text).expect("readable"), step);
    }

    proptest! {
        #[test]
        fn every_step_of_every_round_is_taken_once_in_order_and_never_early(
            after in prop::collection::vec(0..100_u32, 1..6),
            repeat in 0..4_u32,
            every in 60..500_u32,
            mut times in prop::collection::vec(0..5_000_i64, 1..30),
            reached in any::<u8>(),
        ) {
            times.sort_unstable();
            times.push(100_000);
            let policy = policy(&after, repeat, every);
            let reaches = |step: u32| reached & (1 << step) != 0;
            let mut position = Position::start(policy.id, at(0));
            let mut seen = Vec::new();
            for time in times {
                let due = policy.next(&position).map(|(due, ..)| due);
                let advance = policy.advance(&position, reaches, at(time));
                prop_assert_eq!(advance.taken.is_empty(), due.is_none_or(|due| due > at(time)));
                seen.extend(advance.taken.iter().map(|one| (one.round, one.step)));
                position = advance.position;
            }
            let steps = 0..u32::try_from(after.len()).expect("few");
            let all: Vec<(u32, u32)> =
                (0..=repeat).flat_map(|round| steps.clone().map(move |step| (round, step))).collect();
            prop_assert_eq!(seen, all);
            prop_assert_eq!(policy.next(&position), None);
        }
    }
}
