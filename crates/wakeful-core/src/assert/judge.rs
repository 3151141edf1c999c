//! Judging assertions: a pure function of what a check has found. All of them are judged, so that
//! the evidence has each one.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::compare::{Outcome, Prepared, compare, items, network};
use super::path::{Json, JsonError, Path};
use super::pattern::Search;
use super::work::Work;
use super::{Assertion, Comparison, FailsAs, Match, Pattern, Source, number};
use crate::heartbeat::Readings;
use crate::observation::Warning;
use crate::one_line::one_line;
use crate::reason::Reason;
use crate::redact;
use crate::token::Digest;

/// How much of a value is quoted in a message.
const MAX_QUOTE_LENGTH: usize = 60;
/// The same for the evidence.
const MAX_FOUND_LENGTH: usize = 300;
/// How much of a value is redacted: more than is shown, so that no part of a secret remains at
/// the end.
const MAX_REDACTED_LENGTH: usize = 2_000;

/// What a check has found, for each source of its type.
pub trait Facts {
    fn find(&self, source: Source, property: &str) -> Found<'_>;

    /// Whether a text is in a body that was searched while it arrived; `None` if it was not.
    fn contains(&self, _text: &str) -> Option<bool> {
        None
    }

    /// A compiled pattern; implemented with a cache.
    fn pattern(&self, text: &str) -> Option<Arc<Pattern>> {
        Pattern::parse(text).ok().map(Arc::new)
    }

    /// A value that was found, without credentials, for people.
    fn redacted(&self, text: &str) -> String {
        text.to_owned()
    }
}

/// The values of a source.
pub enum Found<'a> {
    Missing,
    Text(Cow<'a, str>),
    Texts(Vec<Cow<'a, str>>),
    /// The nodes that a path selects here.
    Json(&'a Json<'a>),
}

impl Found<'_> {
    /// A number that may not be known.
    pub fn number(value: Option<f64>) -> Self {
        value.map_or(Self::Missing, |value| Self::Text(Cow::Owned(value.to_string())))
    }
}

/// The value of an assertion that must not change, as a hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Distinguishes it from others of the monitor.
    pub key: String,
    /// 128 bits, as hex.
    pub hash: String,
    /// The source with its property.
    pub label: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    #[serde(default)]
    pub fails_as: FailsAs,
    /// The position of the assertion; an older probe does not send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
}

impl Fingerprint {
    fn of(index: usize, assertion: &Assertion, hash: u128) -> Self {
        let label = assertion.label();
        Self {
            index: Some(index),
            key: format!("{} {label}", assertion.accepted),
            hash: format!("{hash:032x}"),
            label,
            pinned: assertion.is_pinned(),
            fails_as: assertion.fails_as,
        }
    }

    /// What is reported if it is not the known value.
    pub fn change(&self) -> String {
        format!("{} has changed", self.label)
    }

    /// That of another machine, with the same bounds as one made here.
    #[must_use]
    pub fn sanitized(self) -> Self {
        Self {
            key: one_line(&self.key, MAX_FOUND_LENGTH),
            hash: one_line(&self.hash, 32),
            label: one_line(&self.label, MAX_FOUND_LENGTH),
            ..self
        }
    }
}

/// The result of one assertion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssertionResult {
    /// Its position among the assertions of the monitor.
    pub index: usize,
    pub passed: bool,
    pub fails_as: FailsAs,
    /// The beginning of the value found; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// What is wrong; empty if it passed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    #[serde(skip)]
    reason: Option<Reason>,
    /// The message without the value found.
    #[serde(skip)]
    warning: String,
    /// The number found, if it is charted; in thousandths.
    #[serde(skip)]
    charted: Option<i64>,
    #[serde(skip)]
    fingerprint: Option<Fingerprint>,
}

impl AssertionResult {
    /// Fails it, because its value is not the known one. Only the verdict knows that.
    pub fn set_changed(&mut self, value: &Fingerprint) {
        self.passed = false;
        self.message = value.change();
        if !value.pinned {
            // It is known from now on.
            self.fails_as = FailsAs::Degraded;
        }
    }

    /// The result of another machine, with the same bounds as one made here.
    #[must_use]
    pub fn sanitized(self) -> Self {
        Self {
            index: self.index.min(super::MAX_ASSERTIONS),
            found: self.found.map(|found| one_line(&found, MAX_FOUND_LENGTH)),
            message: one_line(&self.message, 2 * MAX_FOUND_LENGTH),
            ..self
        }
    }
}

/// The results of all assertions of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    pub results: Vec<AssertionResult>,
}

impl Judged {
    /// Why the target is down, if an assertion says so.
    pub fn failure(&self) -> Option<(Reason, String)> {
        let mut failed = self.failed(FailsAs::Down);
        let first = failed.next()?;
        let message = match failed.count() {
            0 => first.message.clone(),
            more => format!("{} (and {more} more)", first.message),
        };
        Some((first.reason.unwrap_or(Reason::Assertion), message))
    }

    /// What makes a target degraded that is up.
    pub fn warnings(&self) -> Vec<Warning> {
        let warning = |result: &AssertionResult| Warning {
            reason: result.reason.unwrap_or(Reason::Assertion),
            words: result.warning.clone(),
        };
        self.failed(FailsAs::Degraded).map(warning).collect()
    }

    /// The number to chart.
    pub fn readings(&self) -> Readings {
        Readings([self.results.iter().find_map(|result| result.charted), None])
    }

    /// The values that must not change.
    pub fn fingerprints(&self) -> Vec<Fingerprint> {
        self.results.iter().filter_map(|result| result.fingerprint.clone()).collect()
    }

    /// Whether all assertions hold.
    pub fn passed(&self) -> bool {
        self.results.iter().all(|result| result.passed)
    }

    fn failed(&self, fails_as: FailsAs) -> impl Iterator<Item = &AssertionResult> {
        self.results.iter().filter(move |result| !result.passed && result.fails_as == fails_as)
    }
}

/// Judges all assertions. The values found are only in the results if one fails, or if they are
/// requested: showing them costs more than judging.
pub fn judge(assertions: &[Assertion], facts: &dyn Facts, show_all: bool) -> Judged {
    let judge_all = |shows: bool| {
        let work = Work::default();
        let judge_one = |(index, assertion)| judge_one(index, assertion, facts, &work, shows);
        Judged { results: assertions.iter().enumerate().map(judge_one).collect() }
    };
    let judged = judge_all(show_all);
    if judged.passed() || show_all { judged } else { judge_all(true) }
}

/// How an assertion fails.
enum Failure {
    Value,
    NotANumber,
    Missing,
    Json(JsonError),
    /// Searching for the pattern takes too long.
    TooMuchWork,
    /// The target cannot be used, although it was valid when it was saved.
    Target,
}

fn judge_one(
    index: usize,
    assertion: &Assertion,
    facts: &dyn Facts,
    work: &Work,
    shows: bool,
) -> AssertionResult {
    let mut values = Values::new(assertion, shows);
    if assertion.is_searched() {
        values.contains = facts.contains(&assertion.target);
    }
    let failure = match prepare(assertion, facts, work) {
        Some(mut target) => {
            values.judge(&mut target, &facts.find(assertion.source, &assertion.property), work)
        }
        None => Some(Failure::Target),
    };
    let found = values.shown.take().map(|shown| {
        if is_secret(assertion) {
            redact::REDACTED.to_owned()
        } else {
            one_line(&facts.redacted(&shown), MAX_FOUND_LENGTH)
        }
    });
    let (message, warning) = match &failure {
        _ if !shows => (String::new(), String::new()),
        None => (String::new(), String::new()),
        Some(failure) => (
            describe(assertion, failure, found.as_deref()),
            describe_without_value(assertion, failure),
        ),
    };
    AssertionResult {
        index,
        passed: failure.is_none(),
        fails_as: assertion.fails_as,
        found,
        message,
        reason: failure.map(|_| assertion.source.reason(&assertion.property)),
        warning,
        charted: Readings::of([values.charted, None]).0[0],
        fingerprint: values.hash.map(|hash| Fingerprint::of(index, assertion, hash)),
    }
}

/// Whether the value may be a credential, by its name.
fn is_secret(assertion: &Assertion) -> bool {
    matches!(assertion.source, Source::Header | Source::Json)
        && redact::is_sensitive(&assertion.property)
}

fn prepare<'a>(
    assertion: &'a Assertion,
    facts: &dyn Facts,
    work: &'a Work,
) -> Option<Prepared<'a>> {
    use Comparison as C;
    let target = assertion.target.as_str();
    Some(match assertion.comparison {
        C::LessThan | C::AtMost | C::GreaterThan | C::AtLeast => Prepared::Number(number(target)?),
        C::Matches | C::NotMatches => {
            Prepared::Pattern(Box::new(Search::new(facts.pattern(target)?, work)))
        }
        C::In | C::NotIn if assertion.source == Source::Address => {
            Prepared::Networks(items(target).filter_map(network).collect())
        }
        C::In | C::NotIn => Prepared::Items(items(target).collect()),
        _ => Prepared::Text(target),
    })
}

/// The values of one assertion, compared one by one.
struct Values<'a> {
    assertion: &'a Assertion,
    count: usize,
    holding: usize,
    not_a_number: bool,
    too_much_work: bool,
    /// The value that decides, or else the first one; only if `shows`.
    shown: Option<String>,
    shows: bool,
    /// Whether the value contains the target, of which only the beginning is known here.
    contains: Option<bool>,
    /// The first value, if it is a number to chart.
    charted: Option<f64>,
    /// Of all values in any order, if they must not change.
    hash: Option<u128>,
}

impl<'a> Values<'a> {
    fn new(assertion: &'a Assertion, shows: bool) -> Self {
        Self {
            assertion,
            count: 0,
            holding: 0,
            not_a_number: false,
            too_much_work: false,
            shown: None,
            shows,
            contains: None,
            charted: None,
            hash: None,
        }
    }

    fn judge(
        &mut self,
        target: &mut Prepared<'_>,
        found: &Found<'_>,
        work: &Work,
    ) -> Option<Failure> {
        match found {
            Found::Missing => {}
            Found::Text(text) => {
                let _ = self.add(target, text);
            }
            Found::Texts(texts) => {
                let _ = texts.iter().try_for_each(|text| self.add(target, text));
            }
            Found::Json(json) => {
                let Ok(path) = Path::parse(&self.assertion.property) else {
                    return Some(Failure::Target);
                };
                if let Err(error) = json.select(&path, work, |text| self.add(target, text)) {
                    return Some(Failure::Json(error));
                }
            }
        }
        if self.too_much_work {
            return Some(Failure::TooMuchWork);
        }
        let comparison = self.assertion.comparison;
        if self.count == 0 {
            let holds = matches!(comparison, Comparison::NotExists | Comparison::Empty);
            return (!holds).then_some(Failure::Missing);
        }
        let holds = match self.assertion.matching() {
            Match::All => self.holding == self.count,
            Match::Any => self.holding > 0,
        };
        match () {
            () if holds => None,
            () if self.not_a_number => Some(Failure::NotANumber),
            () => Some(Failure::Value),
        }
    }

    /// Compares a value; breaks when it decides.
    fn add(&mut self, target: &mut Prepared<'_>, value: &str) -> ControlFlow<()> {
        let comparison = self.assertion.comparison;
        let outcome = match self.contains {
            Some(contains) if contains == (comparison == Comparison::Contains) => Outcome::Holds,
            Some(_) => Outcome::Fails,
            None => compare(comparison, target, value),
        };
        self.count += 1;
        if self.assertion.chart && self.count == 1 {
            self.charted = number(value);
        }
        let holds = outcome == Outcome::Holds;
        self.holding += usize::from(holds);
        let is_compared_later = comparison == Comparison::Unchanged;
        if is_compared_later {
            self.hash = Some(self.hash.unwrap_or_default().wrapping_add(hash_of(value)));
        }
        self.not_a_number |= outcome == Outcome::NotANumber;
        self.too_much_work |= outcome == Outcome::TooMuchWork;
        let decides = self.too_much_work
            || match self.assertion.matching() {
                Match::All => !holds,
                Match::Any => holds,
            };
        if self.shows && (decides || self.shown.is_none()) {
            self.shown = Some(one_line(value, MAX_REDACTED_LENGTH));
        }
        if decides && !is_compared_later {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

fn hash_of(value: &str) -> u128 {
    let Digest(hash) = Digest::of(value);
    let mut half = [0; 16];
    half.copy_from_slice(&hash[..16]);
    u128::from_be_bytes(half)
}

/// `json $.queue.depth is 1834, expected less than 1000`.
fn describe(assertion: &Assertion, failure: &Failure, found: Option<&str>) -> String {
    let label = assertion.label();
    match (failure, found) {
        (Failure::Value, Some(found)) if !assertion.source.is_long() => {
            let found = quote(found);
            match expected(assertion.comparison, &assertion.target) {
                Some(expected) => format!("{label} is {found}, expected {expected}"),
                None => format!("{label} is {found}, expected none"),
            }
        }
        (Failure::NotANumber, Some(found)) if !assertion.source.is_long() => {
            format!("{label} is {}, which is not a number", quote(found))
        }
        (failure, _) => describe_without_value(assertion, failure),
    }
}

/// `json $.queue.depth is not less than 1000`: without numbers, repeated messages take no space.
fn describe_without_value(assertion: &Assertion, failure: &Failure) -> String {
    use Comparison as C;
    let label = assertion.label();
    let target = quote(&assertion.target);
    match failure {
        Failure::NotANumber => format!("{label} is not a number"),
        Failure::Missing => format!("{label} is missing"),
        Failure::Json(JsonError::Invalid) => format!("{label}: the body is not valid JSON"),
        Failure::Json(JsonError::Cut(limit)) => {
            format!("{label}: the body is too large to be read as JSON ({})", size(*limit))
        }
        Failure::Json(JsonError::TooLarge) => {
            format!("{label}: the body is too large for this path (512 KiB)")
        }
        Failure::Json(JsonError::TooMuchWork) => {
            format!("{label}: evaluating this path takes too long, use a simpler path")
        }
        Failure::TooMuchWork => {
            format!("{label}: searching for {target} takes too long, use a simpler pattern")
        }
        Failure::Target => format!("{label}: the target of this assertion is not valid"),
        Failure::Value => match assertion.comparison {
            C::Equals => format!("{label} is not {target}"),
            C::NotEquals => format!("{label} is {target}"),
            C::Contains => format!("{label} does not contain {target}"),
            C::NotContains => format!("{label} contains {target}"),
            C::StartsWith => format!("{label} does not start with {target}"),
            C::EndsWith => format!("{label} does not end with {target}"),
            C::Matches => format!("{label} does not match {target}"),
            C::NotMatches => format!("{label} matches {target}"),
            C::LessThan => format!("{label} is not less than {target}"),
            C::AtMost => format!("{label} is more than {target}"),
            C::GreaterThan => format!("{label} is not greater than {target}"),
            C::AtLeast => format!("{label} is less than {target}"),
            C::In => format!("{label} is not one of {target}"),
            C::NotIn => format!("{label} is one of {target}"),
            C::Exists => format!("{label} is missing"),
            C::NotExists => format!("{label} exists"),
            C::Empty => format!("{label} is not empty"),
            C::NotEmpty => format!("{label} is empty"),
            C::Unchanged => format!("{label} has changed"),
        },
    }
}

/// What was expected; `None` if the value should not be there.
fn expected(comparison: Comparison, target: &str) -> Option<String> {
    use Comparison as C;
    let target = quote(target);
    Some(match comparison {
        C::Equals => target,
        C::NotEquals => format!("another value than {target}"),
        C::Contains => format!("to contain {target}"),
        C::NotContains => format!("not to contain {target}"),
        C::StartsWith => format!("to start with {target}"),
        C::EndsWith => format!("to end with {target}"),
        C::Matches => format!("to match {target}"),
        C::NotMatches => format!("not to match {target}"),
        C::LessThan => format!("less than {target}"),
        C::AtMost => format!("at most {target}"),
        C::GreaterThan => format!("greater than {target}"),
        C::AtLeast => format!("at least {target}"),
        C::In => format!("one of {target}"),
        C::NotIn => format!("none of {target}"),
        C::Empty => "an empty value".to_owned(),
        C::NotEmpty => "a value that is not empty".to_owned(),
        C::Unchanged => "the value before".to_owned(),
        C::Exists | C::NotExists => return None,
    })
}

fn size(bytes: usize) -> String {
    const KIB: usize = 1_024;
    const MIB: usize = 1_024 * KIB;
    match bytes {
        _ if bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        _ if bytes.is_multiple_of(KIB) => format!("{} KiB", bytes / KIB),
        _ => format!("{bytes} bytes"),
    }
}

fn quote(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTE_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
