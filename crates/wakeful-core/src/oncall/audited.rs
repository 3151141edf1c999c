//! The fields of a schedule in the audit log.

use super::{Layer, OnCallSchedule, local_text};
use crate::audit::{Audited, View};

impl Audited for OnCallSchedule {
    fn view(&self) -> View {
        let notifiers: Vec<String> =
            self.announce.notifiers.iter().map(ToString::to_string).collect();
        View::default()
            .with("name", self.name.as_str())
            .with("time_zone", self.zone.name())
            .with("layers", self.layers.iter().map(describe).collect::<Vec<_>>())
            .with("announce.notifiers", notifiers)
            .with("announce.people", self.announce.people)
    }
}

/// Such as "week: every 1 week from 2026-01-05T09:00, 2 users: …". Users are ids, as
/// everywhere in the log.
fn describe(layer: &Layer) -> String {
    let users: Vec<String> = layer.users.iter().map(ToString::to_string).collect();
    let hours: Vec<String> = layer
        .hours
        .iter()
        .map(|one| {
            let days: Vec<&str> = one.days.iter().map(|day| day.as_str()).collect();
            format!(" {} {}-{}", days.join(","), one.from, one.to)
        })
        .collect();
    format!(
        "{}: every {} {} from {}{}: {}",
        layer.name,
        layer.every,
        layer.unit,
        local_text(layer.starts),
        hours.concat(),
        users.join(", ")
    )
}
