//! Escalation policies as they are saved and returned. When a stored policy is changed, omitted
//! fields retain their values.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::escalation::{
    MAX_ACK_TIMEOUT, MAX_AFTER, MAX_EVERY, MAX_REPEAT, MAX_STEPS, MAX_TARGETS, MIN_EVERY, Policy,
    PolicyStep, Target,
};
use wakeful_core::id::{NotifierId, PolicyId, ScheduleId, UserId};
use wakeful_core::monitors::Name;
use wakeful_core::time::Millis;
use wakeful_engine::PolicyDraft;

use super::fields::Fields;

/// Half an hour between two rounds, unless set.
const DEFAULT_EVERY: u32 = 1_800;

/// An escalation policy to create (without `policyid`) or to change.
#[derive(ToSchema)]
#[schema(as = SavePolicy)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SavePolicy {
    policyid: Option<String>,
    /// Required for a new policy.
    #[schema(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// Required for a new policy.
    #[schema(min_items = 1, max_items = 10)]
    steps: Option<Vec<SavePolicyStep>>,
    /// How many rounds follow the first one. Default: 0.
    #[schema(maximum = 9)]
    repeat: Option<u32>,
    /// Seconds from the last step of a round to the next round. Default: 1800.
    #[schema(minimum = 60, maximum = 604800)]
    every: Option<u32>,
    /// Seconds after which follow-ups of an acknowledged alert that is still open resume; 0, the
    /// default, for never.
    #[schema(maximum = 2592000)]
    ack_timeout: Option<u32>,
}

/// A step of a policy.
#[derive(ToSchema)]
#[schema(as = SavePolicyStep)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SavePolicyStep {
    /// Seconds after the previous step, or after the outage was reported. Default: 0.
    #[schema(maximum = 86400)]
    after: Option<u32>,
    #[schema(min_items = 1, max_items = 20)]
    notify: Vec<PolicyTargetBody>,
}

/// Who a step notifies: exactly one of the fields.
#[derive(Serialize, ToSchema)]
#[schema(as = PolicyTarget)]
pub(crate) struct PolicyTargetBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    notifierid: Option<NotifierId>,
    /// The user on call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    scheduleid: Option<ScheduleId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    userid: Option<UserId>,
    /// True for every member of the team.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    everybody: Option<bool>,
}

/// The stored policy with the sent fields applied; `None` if some are invalid.
pub(crate) fn draft(fields: &mut Fields, stored: Option<&Policy>) -> Option<PolicyDraft> {
    let name = fields.optional("name", Name::parse).map(|name| name.to_string());
    let name = name.or_else(|| stored.map(|old| old.name.clone()));
    let name = fields.require("name", name);
    let steps = fields.optional_objects("steps", MAX_STEPS, step);
    if steps.as_ref().is_some_and(Vec::is_empty) {
        fields.refuse("steps", "must not be empty");
    }
    let steps = if fields.has("steps") { steps } else { stored.map(|old| old.steps.clone()) };
    let steps = fields.require("steps", steps);
    let repeat = number(fields, "repeat", 0, MAX_REPEAT);
    let every = number(fields, "every", MIN_EVERY, MAX_EVERY);
    let ack_timeout = number(fields, "ack_timeout", 0, MAX_ACK_TIMEOUT);
    Some(PolicyDraft {
        name: name?,
        steps: steps?,
        repeat: repeat.or(stored.map(|old| old.repeat)).unwrap_or(0),
        every: every.or(stored.map(|old| old.every)).unwrap_or(DEFAULT_EVERY),
        ack_timeout: ack_timeout.or(stored.map(|old| old.ack_timeout)).unwrap_or(0),
    })
}

fn step(fields: &mut Fields) -> Option<PolicyStep> {
    let after = number(fields, "after", 0, MAX_AFTER).unwrap_or(0);
    let notify = fields.optional_objects("notify", MAX_TARGETS, target);
    if notify.as_ref().is_some_and(Vec::is_empty) {
        fields.refuse("notify", "must not be empty");
    }
    let mut notify = fields.require("notify", notify)?;
    let mut seen = Vec::new();
    notify.retain(|target| {
        let is_new = !seen.contains(target);
        seen.push(*target);
        is_new
    });
    Some(PolicyStep { after, notify })
}

fn target(fields: &mut Fields) -> Option<Target> {
    let unknown = |what: &str| Invalid::new(format!("names an unknown {what}"));
    let notifier = fields.optional("notifierid", |text| {
        NotifierId::parse(text).map(Target::Notifier).ok_or_else(|| unknown("notifier"))
    });
    let schedule = fields.optional("scheduleid", |text| {
        ScheduleId::parse(text).map(Target::Schedule).ok_or_else(|| unknown("schedule"))
    });
    let user = fields.optional("userid", |text| {
        UserId::parse(text).map(Target::User).ok_or_else(|| unknown("user"))
    });
    let everybody = fields.optional_flag("everybody").filter(|all| *all).map(Target::Everybody);
    let sent = ["notifierid", "scheduleid", "userid"].iter().filter(|field| fields.has(field));
    if sent.count() + usize::from(everybody.is_some()) != 1 {
        fields
            .refuse("notifierid", "or exactly one of scheduleid, userid and everybody is required");
        return None;
    }
    notifier.or(schedule).or(user).or(everybody)
}

/// An optional number in a range.
pub(super) fn number(fields: &mut Fields, field: &str, min: u32, max: u32) -> Option<u32> {
    fields.optional_number(field, |number| {
        let allowed = u32::try_from(number).ok().filter(|number| (min..=max).contains(number));
        allowed.ok_or_else(|| Invalid::new(format!("must be from {min} to {max}")))
    })
}

/// An escalation policy.
#[derive(Serialize, ToSchema)]
#[schema(as = Policy)]
pub(crate) struct PolicyBody {
    #[schema(value_type = String, format = Uuid)]
    policyid: PolicyId,
    name: String,
    steps: Vec<PolicyStepBody>,
    /// How many rounds follow the first one.
    repeat: u32,
    /// Seconds from the last step of a round to the next round.
    every: u32,
    /// Seconds after which follow-ups of an acknowledged alert resume; 0 for never.
    ack_timeout: u32,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = String, format = DateTime)]
    modified: Millis,
}

/// A step of a policy.
#[derive(Serialize, ToSchema)]
#[schema(as = PolicyStep)]
struct PolicyStepBody {
    /// Seconds after the previous step, or after the outage was reported.
    after: u32,
    notify: Vec<PolicyTargetBody>,
}

impl PolicyBody {
    pub(crate) fn of(policy: Policy) -> Self {
        let steps = policy.steps.into_iter().map(|step| PolicyStepBody {
            after: step.after,
            notify: step.notify.into_iter().map(PolicyTargetBody::of).collect(),
        });
        Self {
            policyid: policy.id,
            name: policy.name,
            steps: steps.collect(),
            repeat: policy.repeat,
            every: policy.every,
            ack_timeout: policy.ack_timeout,
            created: policy.created,
            modified: policy.modified,
        }
    }
}

impl PolicyTargetBody {
    fn of(target: Target) -> Self {
        let none = Self { notifierid: None, scheduleid: None, userid: None, everybody: None };
        match target {
            Target::Notifier(id) => Self { notifierid: Some(id), ..none },
            Target::Schedule(id) => Self { scheduleid: Some(id), ..none },
            Target::User(id) => Self { userid: Some(id), ..none },
            Target::Everybody(all) => Self { everybody: Some(all), ..none },
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PolicyList {
    pub(crate) success: bool,
    pub(crate) policies: Vec<PolicyBody>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PolicyAnswer {
    success: bool,
    message: &'static str,
    policy: PolicyBody,
}

impl PolicyAnswer {
    pub(crate) fn of(message: &'static str, policy: Policy) -> Self {
        Self { success: true, message, policy: PolicyBody::of(policy) }
    }
}
