//! What a user does with an alert.

use crate::id::UserId;
use crate::severity::Severity;
use crate::time::Millis;

/// An action on an alert and its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub by: Author,
    pub action: Action,
}

/// The author of an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Author {
    /// `None` for an action through a link that was sent to a channel.
    pub user: Option<UserId>,
    pub name: String,
    /// How: `web`, `api`, `link` or `webhook`.
    pub via: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Somebody is working on it: no follow-ups.
    Acknowledge {
        comment: String,
    },
    Unacknowledge,
    /// No follow-ups until then.
    Snooze {
        until: Millis,
        comment: String,
    },
    Assign(Option<Assignee>),
    Comment(String),
    Severity(Severity),
    /// It needs no more attention, although the outage lasts.
    Resolve {
        comment: String,
    },
}

/// The member of the team who an alert is assigned to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignee {
    pub user: UserId,
    pub name: String,
}

impl Action {
    /// Whether it is possible after the alert is over.
    pub fn is_for_any_alert(&self) -> bool {
        matches!(self, Self::Comment(_))
    }

    /// Whether it can be repeated without end, each time with an entry in the timeline. The
    /// first acknowledgement ends the possible ones, unless one of these follows it.
    pub fn is_repeatable(&self) -> bool {
        !matches!(self, Self::Acknowledge { .. } | Self::Resolve { .. })
    }

    /// Whether it is possible for a certificate warning, which has no follow-ups.
    pub fn is_for_warnings(&self) -> bool {
        matches!(self, Self::Comment(_))
    }
}
