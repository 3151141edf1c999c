//! Comparing one value with the target of an assertion.

use regex::bytes::{Regex, RegexBuilder};
use std::net::IpAddr;

use super::Comparison;
use crate::Invalid;

const MAX_PATTERN_LENGTH: usize = 512;
/// The memory of a compiled pattern, and of what it caches while it searches.
const MAX_PATTERN_BYTES: usize = 256 * 1024;
const MAX_CACHE_BYTES: usize = 64 * 1024;
/// A pattern that needs more than this compares each byte of a text with many states: it is
/// searched for in the first part of a text only.
const SMALL_PATTERN_BYTES: usize = 24 * 1024;
const MAX_TEXT_OF_LARGE_PATTERN: usize = 64 * 1024;

/// A regular expression, linear in the length of the text. Classes such as `\w` are ASCII, unless
/// the pattern says `(?u)`: with all of Unicode they take over a hundred kilobytes each.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    is_large: bool,
}

impl Pattern {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() || text.chars().count() > MAX_PATTERN_LENGTH {
            return Err(Invalid::new("must have 1 to 512 characters"));
        }
        let compile = |limit| {
            RegexBuilder::new(text)
                .unicode(false)
                .size_limit(limit)
                .dfa_size_limit(MAX_CACHE_BYTES)
                .build()
        };
        let (built, is_large) = match compile(SMALL_PATTERN_BYTES) {
            Err(regex::Error::CompiledTooBig(_)) => (compile(MAX_PATTERN_BYTES), true),
            built => (built, false),
        };
        match built {
            Ok(regex) => Ok(Self { regex, is_large }),
            Err(regex::Error::CompiledTooBig(_)) => {
                Err(Invalid::new("is a pattern that is too large"))
            }
            Err(_) => Err(Invalid::new("is not a valid regular expression")),
        }
    }

    pub fn is_match(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let limit = if self.is_large { MAX_TEXT_OF_LARGE_PATTERN } else { bytes.len() };
        self.regex.is_match(&bytes[..limit.min(bytes.len())])
    }
}

/// A finite decimal number, such as `-1.5` or `2e3`.
pub fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_decimal = text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let number: f64 = is_decimal.then(|| text.parse().ok()).flatten()?;
    number.is_finite().then_some(number)
}

/// The items of a list.
pub(super) fn items(target: &str) -> impl Iterator<Item = &str> {
    target.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// An address, or a network in the form `10.0.0.0/8`: its first address and its length.
pub(super) fn network(text: &str) -> Option<(IpAddr, u8)> {
    let (ip, length) = match text.split_once('/') {
        Some((ip, length)) => (ip.parse::<IpAddr>().ok()?, Some(length.parse::<u8>().ok()?)),
        None => (text.parse::<IpAddr>().ok()?, None),
    };
    let max = if ip.is_ipv4() { 32 } else { 128 };
    let length = length.unwrap_or(max);
    (length <= max).then_some((ip, length))
}

fn is_in_network(ip: IpAddr, (first, length): (IpAddr, u8)) -> bool {
    match (ip, first) {
        (IpAddr::V4(ip), IpAddr::V4(first)) => {
            let shift = 32 - u32::from(length);
            ip.to_bits().checked_shr(shift) == first.to_bits().checked_shr(shift)
        }
        (IpAddr::V6(ip), IpAddr::V6(first)) => {
            let shift = 128 - u32::from(length);
            ip.to_bits().checked_shr(shift) == first.to_bits().checked_shr(shift)
        }
        _ => false,
    }
}

/// The outcome for one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Holds,
    Fails,
    /// An ordering needs two numbers.
    NotANumber,
}

/// The target, prepared for several values.
pub(super) enum Prepared<'a> {
    Text(&'a str),
    Number(f64),
    Pattern(std::sync::Arc<Pattern>),
    Items(Vec<&'a str>),
    Networks(Vec<(IpAddr, u8)>),
}

pub(super) fn compare(comparison: Comparison, target: &Prepared<'_>, value: &str) -> Outcome {
    use Comparison as C;
    let holds = match (comparison, target) {
        (C::Equals, Prepared::Text(text)) => equals(value, text),
        (C::NotEquals, Prepared::Text(text)) => !equals(value, text),
        (C::Contains, Prepared::Text(text)) => value.contains(text),
        (C::NotContains, Prepared::Text(text)) => !value.contains(text),
        (C::StartsWith, Prepared::Text(text)) => value.starts_with(text),
        (C::EndsWith, Prepared::Text(text)) => value.ends_with(text),
        (C::Matches, Prepared::Pattern(pattern)) => pattern.is_match(value),
        (C::NotMatches, Prepared::Pattern(pattern)) => !pattern.is_match(value),
        (C::In, target) => is_one_of(value, target),
        (C::NotIn, target) => !is_one_of(value, target),
        // What it was before is not known here.
        (C::Exists | C::Unchanged, _) => true,
        (C::NotExists, _) => false,
        (C::Empty, _) => is_empty(value),
        (C::NotEmpty, _) => !is_empty(value),
        (ordering, Prepared::Number(limit)) => {
            let Some(value) = number(value) else { return Outcome::NotANumber };
            match ordering {
                C::LessThan => value < *limit,
                C::AtMost => value <= *limit,
                C::GreaterThan => value > *limit,
                _ => value >= *limit,
            }
        }
        _ => false,
    };
    if holds { Outcome::Holds } else { Outcome::Fails }
}

/// As numbers if both are, otherwise as text.
fn equals(value: &str, target: &str) -> bool {
    match (number(value), number(target)) {
        (Some(value), Some(target)) => value == target,
        _ => value == target,
    }
}

fn is_one_of(value: &str, target: &Prepared<'_>) -> bool {
    match target {
        Prepared::Items(items) => items.iter().any(|item| equals(value, item)),
        Prepared::Networks(networks) => value.parse().is_ok_and(|ip: IpAddr| {
            networks.iter().any(|network| is_in_network(ip.to_canonical(), *network))
        }),
        _ => false,
    }
}

/// No text, or an empty value of JSON.
fn is_empty(value: &str) -> bool {
    matches!(value.trim(), "" | "null" | "[]" | "{}")
}
