//! The webhook templates for receivers with a format of their own: a name and a file in
//! `templates/` for each. Their variables are in `outbound/notify/template.rs`.

use crate::named_enum;
use crate::notifications::event;

named_enum! {
    /// Receivers whose format is built in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum BuiltinTemplate {
        Slack = "slack",
        Discord = "discord",
        Teams = "teams",
        Telegram = "telegram",
        Ntfy = "ntfy",
        PagerDuty = "pagerduty",
        UptimeKuma = "uptime_kuma",
    }
}

impl BuiltinTemplate {
    /// Renders to the JSON that the receiver expects.
    pub fn source(self) -> &'static str {
        match self {
            Self::Slack => include_str!("templates/slack.json"),
            Self::Discord => include_str!("templates/discord.json"),
            Self::Teams => include_str!("templates/teams.json"),
            Self::Telegram => include_str!("templates/telegram.json"),
            Self::Ntfy => include_str!("templates/ntfy.json"),
            Self::PagerDuty => include_str!("templates/pagerduty.json"),
            Self::UptimeKuma => include_str!("templates/uptime_kuma.json"),
        }
    }

    /// Whether the receiver has no equivalent of this type of event: nothing is sent to it.
    pub fn skips(self, kind: &str) -> bool {
        matches!(self, Self::UptimeKuma)
            && [event::DEGRADED, event::RESTORED, event::CHANGED].contains(&kind)
    }

    /// Whether the receiver expects JSON at the root of its server. The path of the URL is
    /// then a variable of the template only.
    pub fn posts_to_root(self) -> bool {
        matches!(self, Self::Ntfy)
    }

    pub fn parse(text: &str) -> Option<Self> {
        let word = text.trim().to_ascii_lowercase().replace('-', "_");
        Self::ALL.iter().copied().find(|builtin| builtin.as_str() == word)
    }

    pub(super) fn names() -> String {
        Self::ALL.iter().map(|builtin| builtin.as_str()).collect::<Vec<_>>().join(", ")
    }
}
