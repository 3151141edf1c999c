//! Assertions: what the result of a check must be like, beyond what its type demands. They are
//! validated when a monitor is saved, so that judging them cannot fail for a reason of ours.
//! Every one is bounded: paths and patterns are limited in length and in the work they cause.

mod compare;
mod judge;
mod path;
mod pattern;
mod source;
mod work;

use serde::{Deserialize, Serialize};

use crate::Invalid;
use crate::monitors::Kind;
use crate::named_enum;

pub use compare::number;
pub use judge::{AssertionResult, Facts, Fingerprint, Found, Judged, judge};
pub use path::{Json, MAX_TREE_BYTES, Path};
pub use pattern::Pattern;
pub use source::Source;

pub const MAX_ASSERTIONS: usize = 20;
const MAX_PROPERTY_LENGTH: usize = 256;
const MAX_TARGET_LENGTH: usize = 1_024;
const MAX_ITEMS: usize = 64;

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Comparison {
        Equals = "equals",
        NotEquals = "not_equals",
        Contains = "contains",
        NotContains = "not_contains",
        StartsWith = "starts_with",
        EndsWith = "ends_with",
        Matches = "matches",
        NotMatches = "not_matches",
        LessThan = "less_than",
        AtMost = "at_most",
        GreaterThan = "greater_than",
        AtLeast = "at_least",
        In = "in",
        NotIn = "not_in",
        Exists = "exists",
        NotExists = "not_exists",
        Empty = "empty",
        NotEmpty = "not_empty",
        /// The value is the same as before; what it was is in the state of the monitor.
        Unchanged = "unchanged",
    }
}

named_enum! {
    /// What a failing assertion makes of a target that is up otherwise.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FailsAs {
        #[default]
        Down = "down",
        Degraded = "degraded",
    }
}

named_enum! {
    /// Of several values, how many must satisfy the comparison.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Match {
        All = "all",
        Any = "any",
    }
}

/// One assertion, valid for the type of its monitor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Assertion {
    pub source: Source,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub property: String,
    pub comparison: Comparison,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    #[serde(default, skip_serializing_if = "is_down")]
    pub fails_as: FailsAs,
    /// `None`: the default of the source.
    #[serde(rename = "match", default, skip_serializing_if = "Option::is_none")]
    pub matching: Option<Match>,
    /// Whether its number is stored with each heartbeat, for a chart.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chart: bool,
    /// For a pinned value: how often a user has accepted a new one.
    #[serde(default, skip_serializing_if = "is_never")]
    pub accepted: u32,
}

/// The target of `unchanged` with which a new value must be accepted.
pub const PINNED: &str = "pinned";

fn is_never(count: &u32) -> bool {
    *count == 0
}

fn is_down(fails_as: &FailsAs) -> bool {
    *fails_as == FailsAs::Down
}

/// The assertions of a monitor. Nearly all monitors have none, which takes no memory.
pub type Assertions = Vec<Assertion>;

/// The field of an assertion that is invalid, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidField {
    pub field: &'static str,
    pub why: Invalid,
}

impl Assertion {
    /// How many values must satisfy the comparison.
    pub fn matching(&self) -> Match {
        self.matching.unwrap_or(self.source.default_match())
    }

    /// What is wrong with it for a monitor of this kind; nothing if it is valid.
    pub fn problems(&self, kind: Kind, upside_down: bool) -> Vec<InvalidField> {
        let mut problems = Vec::new();
        let mut check = |field, result: Result<(), Invalid>| {
            if let Err(why) = result {
                problems.push(InvalidField { field, why });
            }
        };
        if !self.source.is_supported(kind) {
            let why = format!("is not supported for {} monitors", kind.as_str());
            check("source", Err(Invalid::new(why)));
        }
        check("property", self.check_property(kind));
        check("target", self.check_target());
        if upside_down && self.fails_as == FailsAs::Degraded {
            let why = "must be down for a monitor in upside-down mode";
            check("fails_as", Err(Invalid::new(why)));
        }
        problems
    }

    fn check_property(&self, kind: Kind) -> Result<(), Invalid> {
        let property = &self.property;
        if property.chars().count() > MAX_PROPERTY_LENGTH {
            return Err(Invalid::new("must have at most 256 characters"));
        }
        self.source.check_property(property, kind)
    }

    fn check_target(&self) -> Result<(), Invalid> {
        use Comparison as C;
        let target = self.target.as_str();
        if target.chars().count() > MAX_TARGET_LENGTH {
            return Err(Invalid::new("must have at most 1024 characters"));
        }
        if target.contains('\0') {
            return Err(Invalid::new("must not contain the NUL character"));
        }
        match self.comparison {
            C::Exists | C::NotExists | C::Empty | C::NotEmpty if !target.is_empty() => {
                Err(Invalid::new("must be empty for this comparison"))
            }
            C::Exists | C::NotExists | C::Empty | C::NotEmpty => Ok(()),
            C::Unchanged if ["", PINNED].contains(&target) => Ok(()),
            C::Unchanged => Err(Invalid::new("must be empty or pinned for this comparison")),
            C::LessThan | C::AtMost | C::GreaterThan | C::AtLeast => {
                number(target).map(drop).ok_or_else(|| Invalid::new("must be a number"))
            }
            C::Matches | C::NotMatches => Pattern::parse(target).map(drop),
            C::In | C::NotIn => self.check_items(),
            C::Contains | C::NotContains | C::StartsWith | C::EndsWith if target.is_empty() => {
                Err(Invalid::new("must not be empty"))
            }
            C::Equals
            | C::NotEquals
            | C::Contains
            | C::NotContains
            | C::StartsWith
            | C::EndsWith => Ok(()),
        }
    }

    fn check_items(&self) -> Result<(), Invalid> {
        let items: Vec<&str> = compare::items(&self.target).collect();
        if items.is_empty() || items.len() > MAX_ITEMS {
            return Err(Invalid::new("must have 1 to 64 items, separated by commas"));
        }
        if self.source == Source::Address
            && items.iter().any(|item| compare::network(item).is_none())
        {
            return Err(Invalid::new("must be addresses or networks, separated by commas"));
        }
        Ok(())
    }

    /// Whether a body is searched for its target while it arrives, so that none is buffered.
    pub fn is_searched(&self) -> bool {
        self.source == Source::Body
            && matches!(self.comparison, Comparison::Contains | Comparison::NotContains)
    }

    /// Whether its target is a regular expression.
    pub fn has_pattern(&self) -> bool {
        matches!(self.comparison, Comparison::Matches | Comparison::NotMatches)
    }

    /// Whether its value must stay the same until a user accepts a new one.
    pub fn is_pinned(&self) -> bool {
        self.comparison == Comparison::Unchanged && self.target == PINNED
    }

    /// The source with its property, for messages: `json $.queue.depth`.
    pub fn label(&self) -> String {
        match self.property.as_str() {
            "" => self.source.as_str().to_owned(),
            property => format!("{} {property}", self.source.as_str()),
        }
    }
}

#[cfg(test)]
mod tests;
