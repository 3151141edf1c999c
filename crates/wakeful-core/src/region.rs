//! The regions that checks are made from, and how many of them must agree
//! before a target counts as down. `local` is the node that owns the monitor;
//! all other names are those of probes' regions.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

use crate::Invalid;
use crate::stored_as_text::stored_as_text;

const MAX_REGION_LENGTH: usize = 32;
const MAX_PROBE_LENGTH: usize = 64;
const MAX_REGIONS: usize = 16;

/// The name of a region: valid as part of a bus subject, in lower case. Nearly all are `local`,
/// which needs no memory of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region(Cow<'static, str>);

impl Region {
    pub const LOCAL: &str = "local";

    pub fn parse(text: &str) -> Result<Self, Invalid> {
        parse_name(text, MAX_REGION_LENGTH).map(|name| Self(Cow::Owned(name)))
    }

    /// The node that owns the monitor.
    pub fn local() -> Self {
        Self(Cow::Borrowed(Self::LOCAL))
    }

    pub fn is_local(&self) -> bool {
        self.0 == Self::LOCAL
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of one probe, by which it can be revoked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProbeName(String);

impl ProbeName {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        parse_name(text, MAX_PROBE_LENGTH).map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProbeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

stored_as_text!(Region, ProbeName, Quorum);

fn parse_name(text: &str, longest: usize) -> Result<String, Invalid> {
    let text = text.trim().to_ascii_lowercase();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if (1..=longest).contains(&text.len()) && text.chars().all(fits) {
        Ok(text)
    } else {
        Err(Invalid::new(format!("must be a name of 1 to {longest} letters, digits, - and _")))
    }
}

/// The regions a monitor is checked from, in the order given, never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Regions(Vec<Region>);

impl Regions {
    /// The regions of a list; an empty list means `local`.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, Invalid> {
        let mut regions: Vec<Region> = Vec::new();
        for name in names.into_iter().filter(|name| !name.trim().is_empty()) {
            let region = Region::parse(name)?;
            if !regions.contains(&region) {
                regions.push(region);
            }
        }
        match regions.len() {
            0 => Ok(Self::default()),
            1..=MAX_REGIONS => Ok(Self(regions)),
            _ => Err(Invalid::new(format!("must be at most {MAX_REGIONS} regions"))),
        }
    }

    /// The regions as stored.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        if text == r#"["local"]"# { Ok(Self::default()) } else { serde_json::from_str(text) }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Region> {
        self.0.iter()
    }

    /// The number of regions, at least one.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether only the owning node checks.
    pub fn only_local(&self) -> bool {
        self.0.iter().all(Region::is_local)
    }
}

impl Default for Regions {
    fn default() -> Self {
        Self(vec![Region::local()])
    }
}

impl TryFrom<Vec<String>> for Regions {
    type Error = Invalid;

    fn try_from(names: Vec<String>) -> Result<Self, Invalid> {
        Self::of(names.iter().map(String::as_str))
    }
}

impl From<Regions> for Vec<String> {
    fn from(regions: Regions) -> Self {
        regions.0.into_iter().map(|region| region.0.into_owned()).collect()
    }
}

/// How many regions must agree before a target counts as down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quorum {
    Any,
    #[default]
    Majority,
    All,
    Count(u8),
}

impl Quorum {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        let named = [("any", Self::Any), ("majority", Self::Majority), ("all", Self::All)];
        if let Some((_, quorum)) = named.iter().find(|(name, _)| text.eq_ignore_ascii_case(name)) {
            return Ok(*quorum);
        }
        match text.parse() {
            Ok(count) if usize::from(count) <= MAX_REGIONS && count > 0 => Ok(Self::Count(count)),
            _ => Err(Invalid::new("must be any, majority, all or a number of regions")),
        }
    }

    /// The same quorum, if there are enough regions for it.
    pub fn among(self, regions: &Regions) -> Result<Self, Invalid> {
        match self {
            Self::Count(count) if usize::from(count) > regions.count() => {
                Err(Invalid::new("must not be more than there are regions"))
            }
            quorum => Ok(quorum),
        }
    }

    /// The number of `regions` required: at least one, at most all.
    pub fn of(self, regions: usize) -> usize {
        let needed = match self {
            Self::Any => 1,
            Self::Majority => regions / 2 + 1,
            Self::All => regions,
            Self::Count(count) => count.into(),
        };
        needed.clamp(1, regions.max(1))
    }
}

impl fmt::Display for Quorum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Majority => f.write_str("majority"),
            Self::All => f.write_str("all"),
            Self::Count(count) => count.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_name_is_valid_in_a_subject() {
        for (text, name) in [("eu-west", "eu-west"), (" EU_1 ", "eu_1"), ("local", "local")] {
            assert_eq!(Region::parse(text).expect("a region").as_str(), name);
        }
        for text in ["", "a.b", "a b", "*", ">", "ü", &"x".repeat(33)] {
            assert!(Region::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn an_empty_list_is_local_and_duplicates_count_once() {
        assert_eq!(Regions::of([]).expect("regions"), Regions::default());
        assert!(Regions::of(["", " "]).expect("regions").only_local());
        let two = Regions::of(["eu", "us", "EU"]).expect("regions");
        assert_eq!((two.count(), two.only_local()), (2, false));
        assert!(!Regions::of(["local", "eu"]).expect("regions").only_local());
        for regions in [Regions::default(), two] {
            let stored = serde_json::to_string(&regions).expect("serializes");
            assert_eq!(Regions::from_json(&stored).expect("reads"), regions);
        }
        let many: Vec<String> = (0..17).map(|number| format!("r{number}")).collect();
        assert!(Regions::of(many.iter().map(String::as_str)).is_err());
    }

    #[test]
    fn a_quorum_is_a_name_or_a_number() {
        for (text, of_three) in [("any", 1), ("Majority", 2), ("all", 3), ("2", 2), ("9", 3)] {
            let quorum = Quorum::parse(text).expect("a quorum");
            assert_eq!(quorum.of(3), of_three, "{text}");
            assert_eq!(Quorum::parse(&quorum.to_string()), Ok(quorum));
        }
        for text in ["", "0", "17", "-1", "most", "1.5"] {
            assert!(Quorum::parse(text).is_err(), "{text:?}");
        }
        assert_eq!((Quorum::Majority.of(2), Quorum::Majority.of(1)), (2, 1));
        let two = Regions::of(["eu", "us"]).expect("regions");
        assert!(Quorum::Count(3).among(&two).is_err());
        assert_eq!(Quorum::Count(2).among(&two), Ok(Quorum::Count(2)));
    }
}
