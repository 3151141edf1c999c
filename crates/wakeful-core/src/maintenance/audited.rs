//! The fields of a window in the audit log.

use serde_json::Value;

use super::Window;
use crate::audit::{Audited, View};
use crate::calendar::Rule;

impl Audited for Window {
    fn view(&self) -> View {
        let schedule = &self.schedule;
        let (rrule, cron) = match schedule.rule() {
            Rule::Once => (None, None),
            Rule::Rrule(rule) => (Some(rule.to_string()), None),
            Rule::Cron(rule) => (None, Some(rule.to_string())),
        };
        let selector = &self.selector;
        let ids = selector.monitors().iter().map(ToString::to_string).collect::<Vec<_>>();
        let groups = selector.groups().iter().map(ToString::to_string).collect::<Vec<_>>();
        let notifiers = &self.announce.notifiers;
        View::default()
            .with("name", self.name.as_str())
            .with("description", self.description.as_str())
            .with("isactive", self.isactive)
            .with("monitors", ids)
            .with("groups", groups)
            .with("tags", selector.tags().iter().collect::<Vec<_>>())
            .with("all_tags", selector.all_tags().iter().collect::<Vec<_>>())
            .with("everything", selector.is_everything())
            .with("starts", schedule.starts().local(schedule.zone()).to_string())
            .with("time_zone", schedule.zone().name())
            .with("duration", schedule.length().map(|length| length.as_secs()))
            .with("rrule", rrule)
            .with("cron", cron)
            .with("except", schedule.except().iter().map(ToString::to_string).collect::<Vec<_>>())
            .with("checks", self.checks.as_str())
            .with("counts", self.counts.as_str())
            .with("alerts", self.alerts.as_str())
            .with("dependents", self.dependents)
            .with("grace", self.grace.as_secs())
            .with(
                "announce.notifiers",
                notifiers.iter().map(ToString::to_string).collect::<Vec<_>>(),
            )
            .with("announce.before", self.announce.before.clone())
            .with("announce.start", self.announce.start)
            .with("announce.end", self.announce.end)
            .with(
                "ends",
                self.running
                    .and_then(|span| span.end())
                    .map_or(Value::Null, |end| Value::from(end.to_string())),
            )
    }
}
