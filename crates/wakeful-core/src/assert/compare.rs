//! Comparing one value with the target of an assertion.

use std::net::IpAddr;

use super::Comparison;
use super::pattern::Search;

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
    /// The value was not searched for the pattern: it would take too long.
    TooMuchWork,
}

/// The target, prepared for several values.
pub(super) enum Prepared<'a> {
    Text(&'a str),
    Number(f64),
    Pattern(Box<Search<'a>>),
    Items(Vec<&'a str>),
    Networks(Vec<(IpAddr, u8)>),
}

pub(super) fn compare(comparison: Comparison, target: &mut Prepared<'_>, value: &str) -> Outcome {
    use Comparison as C;
    if let Prepared::Pattern(search) = target {
        return match search.is_match(value) {
            Some(matches) if matches == (comparison == C::Matches) => Outcome::Holds,
            Some(_) => Outcome::Fails,
            None => Outcome::TooMuchWork,
        };
    }
    let holds = match (comparison, &*target) {
        (C::Equals, Prepared::Text(text)) => equals(value, text),
        (C::NotEquals, Prepared::Text(text)) => !equals(value, text),
        (C::Contains, Prepared::Text(text)) => value.contains(text),
        (C::NotContains, Prepared::Text(text)) => !value.contains(text),
        (C::StartsWith, Prepared::Text(text)) => value.starts_with(text),
        (C::EndsWith, Prepared::Text(text)) => value.ends_with(text),
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
