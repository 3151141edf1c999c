//! The fields of a policy in the audit log.

use super::{Policy, PolicyStep, Target};
use crate::audit::{Audited, View};

impl Audited for Policy {
    fn view(&self) -> View {
        View::default()
            .with("name", self.name.as_str())
            .with("steps", self.steps.iter().map(describe).collect::<Vec<_>>())
            .with("repeat", self.repeat)
            .with("every", self.every)
            .with("ack_timeout", self.ack_timeout)
    }
}

/// Such as "after 600 s: notifier …, everybody".
fn describe(step: &PolicyStep) -> String {
    let targets: Vec<String> = step
        .notify
        .iter()
        .map(|target| match target {
            Target::Notifier(id) => format!("notifier {id}"),
            Target::Schedule(id) => format!("schedule {id}"),
            Target::User(id) => format!("user {id}"),
            Target::Everybody(_) => "everybody".to_owned(),
        })
        .collect();
    format!("after {} s: {}", step.after, targets.join(", "))
}
