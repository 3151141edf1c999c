use std::borrow::Cow;

use super::*;
use crate::reason::Reason;

/// Facts about one source.
struct One<'a>(Source, Found<'a>);

impl Facts for One<'_> {
    fn find(&self, source: Source, _property: &str) -> Found<'_> {
        if source != self.0 {
            return Found::Missing;
        }
        match &self.1 {
            Found::Missing => Found::Missing,
            Found::Text(text) => Found::Text(Cow::Borrowed(text)),
            Found::Texts(texts) => {
                Found::Texts(texts.iter().map(|t| Cow::Borrowed(&**t)).collect())
            }
            Found::Json(json) => Found::Json(json),
        }
    }
}

fn assertion(source: &str, property: &str, comparison: &str, target: &str) -> Assertion {
    let text = serde_json::json!({
        "source": source, "property": property, "comparison": comparison, "target": target,
    });
    serde_json::from_value(text).expect("an assertion")
}

fn result(assertion: &Assertion, found: Found<'_>) -> AssertionResult {
    let facts = One(assertion.source, found);
    judge(std::slice::from_ref(assertion), &facts, true).results.remove(0)
}

#[test]
fn every_comparison_holds_and_fails() {
    for (comparison, target, holds, fails) in [
        ("equals", "200", &["200", "200.0", "2e2"][..], &["201", "abc", ""][..]),
        ("equals", "OK", &["OK"], &["ok", "OK "]),
        ("equals", "", &[""], &["a"]),
        ("not_equals", "OK", &["ok"], &["OK"]),
        ("contains", "b", &["abc"], &["aBc"]),
        ("not_contains", "b", &["ac"], &["abc"]),
        ("starts_with", "ab", &["abc"], &["cab"]),
        ("ends_with", "bc", &["abc"], &["bca"]),
        ("matches", r"^v\d+\.\d+$", &["v1.20"], &["v1", "xv1.2"]),
        ("not_matches", r"(?i)<script", &["<p>"], &["<SCRIPT>"]),
        ("less_than", "1000", &["999.999", "-5"], &["1000", "1e4", "abc", ""]),
        ("at_most", "1000", &["1000", "1000.0"], &["1000.001"]),
        ("greater_than", "0.5", &["0.51"], &["0.5", "NaN", "inf", "0x10"]),
        ("at_least", "-1", &["-1", "0"], &["-1.01"]),
        ("in", "200, 204 ,abc", &["200", "204.0", "abc"], &["20", "ABC"]),
        ("not_in", "a,b", &["c"], &["a"]),
        ("exists", "", &["", "x"], &[]),
        ("not_exists", "", &[], &["", "x"]),
        ("empty", "", &["", " ", "null", "[]", "{}"], &["0", "false"]),
        ("not_empty", "", &["0"], &["", "null"]),
    ] {
        let assertion = assertion("body", "", comparison, target);
        assert_eq!(assertion.problems(crate::monitors::Kind::Http, false), [], "{comparison}");
        for (values, expected) in [(holds, true), (fails, false)] {
            for value in values {
                let result = result(&assertion, Found::Text(Cow::Borrowed(value)));
                assert_eq!(result.passed, expected, "{value:?} {comparison} {target:?}");
                assert_eq!(result.message.is_empty(), expected, "{comparison}");
            }
        }
    }
    let covered: std::collections::HashSet<&str> =
        Comparison::ALL.iter().map(|comparison| comparison.as_str()).collect();
    assert_eq!(covered.len(), 19);
}

#[test]
fn a_missing_value_fails_everything_but_two_comparisons() {
    for comparison in Comparison::ALL {
        let target = if matches!(comparison, Comparison::LessThan) { "1" } else { "" };
        let assertion = assertion("header", "x-a", comparison.as_str(), target);
        let holds = matches!(comparison, Comparison::NotExists | Comparison::Empty);
        assert_eq!(result(&assertion, Found::Missing).passed, holds, "{comparison:?}");
    }
}

#[test]
fn several_values_are_matched_as_configured() {
    let values = || Found::Texts(vec!["1".into(), "2".into(), "3".into()]);
    for (matching, comparison, target, passed) in [
        ("all", "less_than", "4", true),
        ("all", "less_than", "3", false),
        ("any", "less_than", "2", true),
        ("any", "less_than", "1", false),
        ("any", "equals", "3", true),
        ("all", "not_equals", "2", false),
    ] {
        let mut assertion = assertion("record", "", comparison, target);
        assertion.matching = Some(if matching == "all" { Match::All } else { Match::Any });
        assert_eq!(result(&assertion, values()).passed, passed, "{matching} {comparison} {target}");
    }
    assert_eq!(assertion("header", "a", "exists", "").matching(), Match::Any);
    assert_eq!(assertion("json", "$", "exists", "").matching(), Match::All);
}

#[test]
fn an_address_is_compared_with_networks() {
    for (target, value, passed) in [
        ("10.0.0.0/8, ::1", "10.2.3.4", true),
        ("10.0.0.0/8", "11.0.0.1", false),
        ("0.0.0.0/0", "192.0.2.1", true),
        ("2001:db8::/32", "2001:db8:1::1", true),
        ("2001:db8::/32", "10.0.0.1", false),
        ("192.0.2.1", "192.0.2.1", true),
    ] {
        let assertion = assertion("address", "", "in", target);
        let found = Found::Text(Cow::Borrowed(value));
        assert_eq!(result(&assertion, found).passed, passed, "{value} in {target}");
    }
}

#[test]
fn json_that_was_not_read_to_its_end_is_too_large_and_not_invalid() {
    let judged = |path: &str, text: &[u8], limit| {
        let document = Json::new(text).cut_at(limit);
        let assertion = assertion("json", path, "equals", "1");
        let result = result(&assertion, Found::Json(&document));
        assert_eq!(result.passed, result.message.is_empty());
        result.message
    };
    for path in ["$.a", "$..a"] {
        for (limit, why) in [
            (None, "the body is not valid JSON"),
            (Some(1 << 20), "the body is too large to be read as JSON (1 MiB)"),
            (Some(2_048), "the body is too large to be read as JSON (2 KiB)"),
            (Some(5_000), "the body is too large to be read as JSON (5000 bytes)"),
        ] {
            assert_eq!(judged(path, br#"{"a": 1, "b": "#, limit), format!("json {path}: {why}"));
            // What follows may be nothing but spaces.
            assert_eq!(judged(path, br#"{"a": 1}  "#, limit), "");
        }
    }
}

#[test]
fn a_failure_is_described_with_the_value_and_a_warning_without_it() {
    let document = Json::new(br#"{"queue": {"depth": 1834, "name": "x"}, "api_key": "sentinel"}"#);
    let down = assertion("json", "$.queue.depth", "less_than", "1000");
    let mut degraded = down.clone();
    degraded.fails_as = FailsAs::Degraded;
    let assertions = [
        down,
        degraded,
        assertion("json", "$.queue.name", "at_least", "1"),
        assertion("json", "$.none", "equals", "1"),
        assertion("json", "$.api_key", "equals", "other"),
        assertion("json", "$.queue.depth", "at_most", "2000"),
    ];
    let judged = judge(&assertions, &One(Source::Json, Found::Json(&document)), false);
    let messages: Vec<&str> = judged.results.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "json $.queue.depth is 1834, expected less than 1000",
            "json $.queue.depth is 1834, expected less than 1000",
            "json $.queue.name is x, which is not a number",
            "json $.none is missing",
            "json $.api_key is [redacted], expected other",
            "",
        ]
    );
    let (reason, message) = judged.failure().expect("a failure");
    assert_eq!(reason, Reason::Assertion);
    assert_eq!(message, "json $.queue.depth is 1834, expected less than 1000 (and 3 more)");
    let warnings = judged.warnings();
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].words, "json $.queue.depth is not less than 1000");
    assert_eq!(judged.results[5].found.as_deref(), Some("1834"));
}

#[test]
fn the_values_of_passing_assertions_are_shown_on_request_only() {
    let assertions = [assertion("status", "", "equals", "200")];
    let facts = || One(Source::Status, Found::Text("200".into()));
    assert_eq!(judge(&assertions, &facts(), false).results[0].found, None);
    assert_eq!(judge(&assertions, &facts(), true).results[0].found.as_deref(), Some("200"));
}

#[test]
fn the_reason_says_what_kind_of_assertion_failed() {
    for (source, property, reason) in [
        ("response_time", "", Reason::Slow),
        ("certificate", "days_left", Reason::CertificateExpiring),
        ("certificate", "fingerprint", Reason::CertificateChanged),
        ("certificate", "issuer", Reason::Assertion),
        ("http_version", "", Reason::HttpVersion),
        ("record", "", Reason::DnsAnswer),
        ("dnssec", "authenticated", Reason::Dnssec),
        ("status", "", Reason::Assertion),
    ] {
        let assertion = assertion(source, property, "equals", "never");
        let facts = One(assertion.source, Found::Text("1".into()));
        let judged = judge(&[assertion], &facts, false);
        assert_eq!(judged.failure().map(|(reason, _)| reason), Some(reason), "{source} {property}");
    }
}

#[test]
fn each_mistake_names_its_field_in_one_sentence() {
    use crate::monitors::Kind;
    let (long, long_pattern) = ("x".repeat(2_000), "x".repeat(600));
    for (kind, source, property, comparison, target, field, why) in [
        (Kind::Dns, "json", "$.a", "exists", "", "source", "is not supported for dns monitors"),
        (Kind::Http, "json", "a.b", "exists", "", "property", "is not a valid RFC 9535 JSONPath"),
        (Kind::Http, "json", "$..a..b", "exists", "", "property", "must have at most one `..`"),
        (Kind::Http, "status", "x", "exists", "", "property", "must be empty for this source"),
        (Kind::Http, "header", "a b", "exists", "", "property", "must be the name of a header"),
        (Kind::Http, "tls", "", "exists", "", "property", "must be one of version, cipher, alpn"),
        (Kind::Ping, "response_time", "tls", "exists", "", "property", "must be one of resolve"),
        (Kind::Http, "json", &long, "exists", "", "property", "must have at most 256 characters"),
        (Kind::Http, "status", "", "less_than", "abc", "target", "must be a number"),
        (Kind::Http, "status", "", "less_than", "", "target", "must be a number"),
        (Kind::Http, "status", "", "exists", "1", "target", "must be empty for this comparison"),
        (Kind::Http, "body", "", "contains", "", "target", "must not be empty"),
        (Kind::Http, "body", "", "matches", "(", "target", "is not a valid regular expression"),
        (Kind::Http, "body", "", "matches", r"(?:(?:a{100}){100}){100}", "target", "is a pattern"),
        (
            Kind::Http,
            "body",
            "",
            "matches",
            &long_pattern,
            "target",
            "must have 1 to 512 characters",
        ),
        (Kind::Http, "body", "", "equals", &long, "target", "must have at most 1024 characters"),
        (Kind::Http, "status", "", "in", " , ", "target", "must have 1 to 64 items"),
        (Kind::Tcp, "address", "", "in", "10.0.0.0/99", "target", "must be addresses or networks"),
        (Kind::Domain, "address", "", "exists", "", "source", "is not supported for domain"),
    ] {
        let problems = assertion(source, property, comparison, target).problems(kind, false);
        assert_eq!(problems.len(), 1, "{source} {property}: {problems:?}");
        assert_eq!(problems[0].field, field, "{source} {property}");
        assert!(problems[0].why.0.starts_with(why), "{source} {property}: {}", problems[0].why);
    }
    let mut degraded = assertion("status", "", "equals", "200");
    degraded.fails_as = FailsAs::Degraded;
    assert_eq!(degraded.problems(Kind::Http, true)[0].field, "fails_as");
    assert_eq!(degraded.problems(Kind::Http, false), []);
}

#[test]
fn defaults_take_no_space_when_stored() {
    let plain = assertion("status", "", "equals", "200");
    let text = serde_json::to_string(&plain).expect("serializes");
    assert_eq!(text, r#"{"source":"status","comparison":"equals","target":"200"}"#);
    assert_eq!(serde_json::from_str::<Assertion>(&text).expect("reads"), plain);
}

#[test]
fn a_pattern_that_takes_too_long_fails_its_assertion_and_says_so() {
    let body = "a".repeat(1_000_000);
    for comparison in ["matches", "not_matches"] {
        let result =
            result(&assertion("body", "", comparison, "a{0,500}b"), Found::Text((&body).into()));
        let expected = "body: searching for a{0,500}b takes too long, use a simpler pattern";
        assert_eq!((result.passed, result.message.as_str()), (false, expected));
    }
}
