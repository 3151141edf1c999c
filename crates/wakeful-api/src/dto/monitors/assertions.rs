//! The assertions of a monitor in requests and responses.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::assert::{Assertion, Comparison, FailsAs, MAX_ASSERTIONS, Match, Source};
use wakeful_core::monitors::Monitor;
use wakeful_core::monitors::spec::Kind;

use crate::dto::Fields;
use crate::dto::enums::{AssertionMatch, Comparison as ComparisonName, FailsAs as FailsAsName};
use crate::dto::enums::{AssertionSource, KnownAssertionSource};

/// What the result of a check must be like.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveAssertion {
    #[schema(value_type = KnownAssertionSource)]
    source: (),
    /// For json a JSONPath, for header a name, for response_time, tls, certificate and dnssec
    /// one of their values; otherwise empty.
    #[schema(max_length = 256)]
    property: Option<String>,
    #[schema(value_type = ComparisonName)]
    comparison: (),
    /// A text, a number or a boolean; for in and not_in up to 64 items, separated by commas.
    #[schema(value_type = Option<String>, max_length = 1024)]
    target: (),
    /// down unless set.
    #[schema(value_type = Option<FailsAsName>)]
    fails_as: (),
    /// For several values: any by default for header, record and certificate, otherwise all.
    #[schema(value_type = Option<AssertionMatch>)]
    r#match: (),
    /// Whether its number is stored with each heartbeat; for one of them.
    chart: Option<bool>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Assertion)]
pub(crate) struct AssertionBody<'a> {
    #[schema(value_type = AssertionSource)]
    source: &'static str,
    property: &'a str,
    #[schema(value_type = ComparisonName)]
    comparison: &'static str,
    target: &'a str,
    #[schema(value_type = FailsAsName)]
    fails_as: &'static str,
    #[schema(value_type = AssertionMatch)]
    r#match: &'static str,
    /// Whether its number is stored with each heartbeat.
    chart: bool,
}

impl<'a> AssertionBody<'a> {
    pub(crate) fn of(assertion: &'a Assertion) -> Self {
        Self {
            source: assertion.source.as_str(),
            property: &assertion.property,
            comparison: assertion.comparison.as_str(),
            target: &assertion.target,
            fails_as: assertion.fails_as.as_str(),
            r#match: assertion.matching().as_str(),
            chart: assertion.chart,
        }
    }
}

/// The assertions that are sent, or else the stored ones. Those that do not fit the type are
/// errors: a change of the type never drops them.
pub(crate) fn read(
    fields: &mut Fields,
    stored: Option<&Monitor>,
    kind: Option<Kind>,
    upside_down: bool,
) -> Vec<Assertion> {
    let was_sent = fields.has("assertions");
    let sent = fields.optional_objects("assertions", MAX_ASSERTIONS, |fields| {
        let assertion = read_one(fields)?;
        if let Some(kind) = kind {
            for problem in assertion.problems(kind, upside_down) {
                fields.refuse(problem.field, problem.why.0);
            }
        }
        Some(assertion)
    });
    if let Some(mut sent) = sent {
        let old = stored.map_or(&[][..], |old| old.assertions.as_slice());
        for one in sent.iter_mut().filter(|one| one.is_pinned()) {
            // What was accepted stays accepted.
            let same = |old: &&Assertion| old.source == one.source && old.property == one.property;
            one.accepted = old.iter().find(same).map_or(0, |old| old.accepted);
        }
        let mut charts = sent.iter().enumerate().filter(|(_, one)| one.chart);
        if let Some((place, _)) = charts.nth(1) {
            fields.refuse(
                &format!("assertions.{place}.chart"),
                "must be true for one assertion only",
            );
        }
        return sent;
    }
    let old = stored.map(|old| old.assertions.clone()).unwrap_or_default();
    if let (false, Some(kind)) = (was_sent, kind) {
        for (place, assertion) in old.iter().enumerate() {
            for problem in assertion.problems(kind, upside_down) {
                fields.refuse(&format!("assertions.{place}.{}", problem.field), problem.why.0);
            }
        }
    }
    old
}

fn read_one(fields: &mut Fields) -> Option<Assertion> {
    let source = fields.parse("source", Source::parse);
    let property = fields.optional_text("property").unwrap_or_default();
    let comparison =
        fields.parse("comparison", |text| one_of(Comparison::ALL, Comparison::as_str, text));
    let target = fields.optional_scalar("target").unwrap_or_default();
    let fails_as = fields.optional("fails_as", |text| one_of(FailsAs::ALL, FailsAs::as_str, text));
    let matching = fields.optional("match", |text| one_of(Match::ALL, Match::as_str, text));
    let chart = fields.optional_flag("chart").unwrap_or(false);
    let source = source?;
    let assertion = Assertion {
        source,
        property,
        comparison: comparison?,
        target,
        fails_as: fails_as.unwrap_or_default(),
        matching: None,
        chart,
        accepted: 0,
    };
    // The default takes no space.
    let matching = matching.filter(|matching| *matching != assertion.matching());
    Some(Assertion { matching, ..assertion })
}

fn one_of<T: Copy>(all: &[T], name: fn(T) -> &'static str, text: &str) -> Result<T, Invalid> {
    let found = all.iter().copied().find(|one| name(*one) == text.trim());
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        Invalid::new(format!("must be one of {}", names.join(", ")))
    })
}
