//! Attacks on the template engine, and templates that must keep working.

use proptest::prelude::*;
use serde_json::json;
use std::time::{Duration, Instant};

use super::*;

/// Every operator, bracket and tag, to be repeated: the prefix, the repeated
/// part, the middle, the part that closes each repetition, and the suffix.
const REPEATED: &[(&str, &str, &str, &str, &str)] = &[
    ("{{ ", "-", "1", "", " }}"),
    ("{{ ", "- ", "1", "", " }}"),
    ("{{ ", "+", "1", "", " }}"),
    ("{{ ", "not ", "1", "", " }}"),
    ("{{ ", "not-", "1", "", " }}"),
    ("{{ ", "(", "1", ")", " }}"),
    ("{{ ", "-(", "1", ")", " }}"),
    ("{{ ", "(", "1", ",)", " }}"),
    ("{{ ", "[", "1", "]", " }}"),
    ("{{ ", "{1:", "1", "}", " }}"),
    ("{{ ", "(", "", "", ""),
    ("{{ ", "[", "", "", ""),
    ("{{ ", "{", "", "", ""),
    ("{{ 1", "-1", "", "", " }}"),
    ("{{ 1", "+1", "", "", " }}"),
    ("{{ 1", "*1", "", "", " }}"),
    ("{{ 1", "**1", "", "", " }}"),
    ("{{ 1", "/1", "", "", " }}"),
    ("{{ 1", "//1", "", "", " }}"),
    ("{{ 1", "%1", "", "", " }}"),
    ("{{ 1", "~1", "", "", " }}"),
    ("{{ a", "-a", "", "", " }}"),
    ("{{ a", "~a", "", "", " }}"),
    ("{{ 1", "==1", "", "", " }}"),
    ("{{ 1", "!=1", "", "", " }}"),
    ("{{ 1", "<1", "", "", " }}"),
    ("{{ 1", ">=1", "", "", " }}"),
    ("{{ 1", " in 1", "", "", " }}"),
    ("{{ 1", " not in 1", "", "", " }}"),
    ("{{ 1", " and 1", "", "", " }}"),
    ("{{ 1", " or 1", "", "", " }}"),
    ("{{ a", " and a", "", "", " }}"),
    ("{{ a", " or a", "", "", " }}"),
    ("{{ text", "()", "", "", " }}"),
    ("{{ text", "(", "", ")", " }}"),
    ("{{ text", "[0]", "", "", " }}"),
    ("{{ text", "[:]", "", "", " }}"),
    ("{{ text", "[::-1]", "", "", " }}"),
    ("{{ text", "[text", "", "]", " }}"),
    ("{{ text", ".a", "", "", " }}"),
    ("{{ text", ".0", "", "", " }}"),
    ("{{ text", "|upper", "", "", " }}"),
    ("{{ text", "|tojson", "", "", " }}"),
    ("{{ text", "|html", "", "", " }}"),
    ("{{ text", "|default(text", "", ")", " }}"),
    ("{{ text", " is a", "", "", " }}"),
    ("{{ text", " is not a", "", "", " }}"),
    ("{{ text", " is a(text", "", ")", " }}"),
    ("{{ text is a ", "-", "1", "", " }}"),
    ("{{ 1", " if 1", "", "", " }}"),
    ("{{ ", "1if 1else ", "1", "", " }}"),
    ("{{ 1", " if (1", "", ")", " }}"),
    ("{{ ", "'a' ", "", "", " }}"),
    ("{{ ", "text,", "", "", " }}"),
    ("{{ text(", "text,", "", "", ") }}"),
    ("{{ text(", "*text,", "", "", ") }}"),
    ("{{ text(", "**text,", "", "", ") }}"),
    ("{{ text(", "a=text,", "", "", ") }}"),
    ("{% for ", "(", "a", ")", " in text %}{% endfor %}"),
    ("{% for ", "(", "", "", ""),
    ("{% for a", ",a", "", "", " in text %}{% endfor %}"),
    ("{% set ", "(", "a", ")", " = text %}"),
    ("{% set a", ".a", "", "", " = text %}"),
    ("{% with ", "a=text,", "a=1", "", " %}{% endwith %}"),
    ("{% filter upper", "|upper", "", "", " %}{% endfilter %}"),
    ("", "{% if 1 %}", "", "{% endif %}", ""),
    ("", "{% if 1 %}", "", "", ""),
    ("{% if 1 %}", "{%elif a%}", "", "", "{% endif %}"),
    ("{% if 1 %}", "{% else %}", "", "", "{% endif %}"),
    ("", "{% for a in text %}", "", "{% endfor %}", ""),
    ("", "{% for a in text recursive %}", "", "{% endfor %}", ""),
    ("", "{% with %}", "", "{% endwith %}", ""),
    ("", "{% set a %}", "", "{% endset %}", ""),
    ("", "{% set a = text ~ text %}", "", "", ""),
    ("", "{% filter upper %}", "", "{% endfilter %}", ""),
    ("", "{% autoescape true %}", "", "{% endautoescape %}", ""),
    ("", "{% raw %}", "", "{% endraw %}", ""),
    ("", "{% do text() %}", "", "", ""),
    ("", "{#}", "", "", ""),
    ("", "{#-}", "", "", ""),
    ("", "{#", "", "#}", ""),
    ("", "{##}", "", "", ""),
    ("", "{{ text }}", "", "", ""),
    ("", "{", "", "", ""),
    ("", "{{", "", "", ""),
    ("", "{%", "", "", ""),
    ("", "}", "", "", ""),
    ("", "%}", "", "", ""),
    ("", "\n", "", "", ""),
    ("{{ '", "\\n", "", "", "' }}"),
    ("{{ ", "9", "", "", " }}"),
    ("{{ 1", "_0", "", "", " }}"),
    ("{{ ", "a", "", "", " }}"),
];

/// As many repetitions as the longest template has room for.
fn longest((open, repeated, middle, close, behind): (&str, &str, &str, &str, &str)) -> String {
    let around = open.len() + middle.len() + behind.len();
    let times = (MAX_TEMPLATE_LENGTH - around) / (repeated.len() + close.len());
    format!("{open}{}{middle}{}{behind}", repeated.repeat(times), close.repeat(times))
}

fn fields() -> Fields {
    let fields = json!({
        "text": "[site] down: 503 Service Unavailable", "status": "down", "a": "a",
        "payload": {"deep": {"list": [1, 2.5, "three", null, true]}},
        "monitor": {"name": "site", "tags": ["shop", "eu"]},
        "down_seconds": 240, "message": "5 < 6 & \"7\"", "nothing": null,
        "large": "\u{df}\"&\\".repeat(3_000),
    });
    fields.as_object().expect("an object").clone()
}

fn rendered(source: &str) -> Result<String, Invalid> {
    UserTemplate::parse(source)?.validated().expect("just validated").render(&fields())
}

/// The peak memory of the process so far; `None` where it is not available.
fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse::<usize>().ok().map(|kilobytes| kilobytes << 10)
}

/// More than the stack and a rendering take together.
fn assert_little_memory_was_used(before: Option<usize>) {
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        let grown = after.saturating_sub(before);
        assert!(grown < stack::STACK_SIZE + (16 << 20), "{} MiB", grown >> 20);
    }
}

#[test]
fn no_repetition_overflows_the_stack_or_fills_the_memory() {
    let before = peak_memory();
    for attack in REPEATED {
        let begun = Instant::now();
        // Whether it is a valid template does not matter here.
        let _ = rendered(&longest(*attack));
        // Also one that is short enough to be compiled and rendered.
        for times in [100, 140, 240] {
            let (open, repeated, middle, close, behind) = attack;
            let (repeated, close) = (repeated.repeat(times), close.repeat(times));
            let _ = rendered(&format!("{open}{repeated}{middle}{close}{behind}"));
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{attack:?}: {:?}", begun.elapsed());
    }
    assert_little_memory_was_used(before);
}

/// The stack is sized for debug builds, whose frames are the largest.
#[test]
fn the_worst_template_leaves_a_quarter_of_the_stack() {
    for attack in REPEATED {
        let source = longest(*attack);
        let checked =
            stack::on_stack(stack::STACK_SIZE / 4 * 3, || language::check(&source).is_ok());
        assert!(checked.is_ok(), "{attack:?}");
    }
}

#[test]
fn text_that_hides_from_a_scanner_does_not_hide_from_the_parser() {
    let bomb = format!("{{% set a = text %}}{}{{{{ a }}}}", "{% set a = a ~ a %}".repeat(40));
    for hidden in ["{#}", "{#-}", "{#+}", "{{ '#}' }}{#}", "{% raw %}{#}{% endraw %}"] {
        // A comment continues until it is closed.
        for source in [
            format!("{hidden}{bomb}"),
            format!("{hidden}#}}{bomb}"),
            format!("{hidden}{{# #}}{bomb}"),
            format!("{{% if status == 'up' %}}{hidden}#}}{bomb}{{% endif %}}"),
        ] {
            if let Ok(text) = rendered(&source) {
                assert!(text.len() < 1_000, "{source}");
            }
        }
    }
    assert!(UserTemplate::parse(&format!("{{#}}#}}{bomb}")).is_err());
    assert!(UserTemplate::parse(&format!("{{#-}}-#}}{bomb}")).is_err());
}

#[test]
fn a_template_cannot_load_others_or_grow_values() {
    for source in [
        "{% include 'x' %}",
        "{% extends 'x' %}",
        "{% import 'x' as x %}",
        "{% macro m() %}{% endmacro %}",
        "{% set x = text %}{{ x }}",
        "{% set x %}{{ text }}{% endset %}{{ x }}",
        "{% with x = text %}{{ x }}{% endwith %}",
        "{% filter upper %}x{% endfilter %}",
        "{% autoescape true %}x{% endautoescape %}",
        "{% do text() %}",
        "{{ text ~ text }}",
        "{{ text + text }}",
        "{{ 'a' * 1000000 }}",
        "{{ 9 ** 99 }}",
        "{% if false %}{{ 'a' * 1000000 }}{% endif %}",
        "{% for x in [text] %}{{ x }}{% endfor %}",
        "{% for x in (text, text) %}{{ x }}{% endfor %}",
        "{% for x, y in payload %}{{ x }}{% endfor %}",
        "{% for x in payload recursive %}{{ loop(x) }}{% endfor %}",
        "{% for x in text %}{{ loop.cycle() }}{% endfor %}",
        "{{ {'a': text} }}",
        "{{ range(1000000) }}",
        "{{ text.__class__() }}",
        "{{ text|truncate(*text) }}",
        "{{ text",
        "{% if %}",
    ] {
        assert!(UserTemplate::parse(source).is_err(), "{source}");
    }
}

#[test]
fn the_output_of_rendering_is_bounded() {
    let before = peak_memory();
    let deep = format!("{}x{}", "{% for a in text %}".repeat(21), "{% endfor %}".repeat(21));
    for (source, why) in [
        (
            "{% for a in text %}{% for b in large %}{{ text }}{% endfor %}{% endfor %}",
            "20000 bytes",
        ),
        ("{% for a in large %}{% for b in large %}{% endfor %}{% endfor %}", "fuel"),
        ("{% for a in large %}{% if large|upper|lower|html %}{% endif %}{% endfor %}", "too much"),
        ("{{ large|html|html|html|html|html|html|html|html|html|html }}", "too much"),
        (
            "{% if large|tojson|tojson|tojson|tojson|tojson|tojson %}{% endif %}",
            "not a valid template",
        ),
        ("{{ text|unknown }}", "unknown"),
        (&deep, "recursion"),
    ] {
        let failed = rendered(source).expect_err(source);
        assert!(failed.0.contains(why), "{source}: {failed}");
    }
    assert_little_memory_was_used(before);
}

#[test]
fn reasonable_templates_work() {
    for (source, gives) in [
        ("{{ text }}", "[site] down: 503 Service Unavailable"),
        ("{{ monitor.name|upper }}{{ nothing }}{{ nothing.at.all }}", "SITE"),
        (
            "{{ down_seconds|upper }} {{ down_seconds / 60 }} {{ down_seconds // 60 - 1 }}",
            "240 4.0 3",
        ),
        ("{{ down_seconds % 7 }} {{ -down_seconds }}", "2 -240"),
        ("{{ text|truncate(5) }} {{ monitor.tags[0] }}", "[sit… shop"),
        (
            "{{ message|html }} {{ message|mrkdwn }}",
            "5 &lt; 6 &amp; &quot;7&quot; 5 &lt; 6 &amp; \"7\"",
        ),
        ("{{ '  a '|trim }}{{ monitor.tags|length }}", "a2"),
        ("{%- if status == 'down' -%} a {%- elif status == \"up\" %}b{% else %}c{% endif +%}", "a"),
        (
            "{% for tag in monitor.tags if tag != 'eu' %}<{{ tag }}>{% else %}-{% endfor %}",
            "<shop>",
        ),
        (
            "{% for tag in monitor.tags %}{{ tag }}{% if not loop.last %}, {% endif %}{% endfor %}",
            "shop, eu",
        ),
        ("{% for c in 'aab' %}{% if loop.changed(c) %}{{ c }}{% endif %}{% endfor %}", "ab"),
        ("{# a, comment ~ #}{ {{ nothing|default('none, or so') }} }", "{ none, or so }"),
        ("{{ 'up' if status != 'down' else 'not up' }} {{ 'eu' in monitor.tags }}", "not up True"),
        ("{{ (nothing or text)|truncate(4) }}", "[si…"),
        ("{% raw %}{{ text }}{% endraw %}", "{{ text }}"),
        (r#"{"a": {{ payload|tojson }}}"#, r#"{"a": {"deep":{"list":[1,2.5,"three",null,true]}}}"#),
    ] {
        assert_eq!(rendered(source).as_deref(), Ok(gives), "{source}");
    }
    let names = (0..90).map(|n| format!("monitor.name == 'n{n}'")).collect::<Vec<_>>().join(" or ");
    assert_eq!(
        rendered(&format!("{{% if {names} %}}a{{% else %}}b{{% endif %}}")).as_deref(),
        Ok("b")
    );
}

#[test]
fn the_line_of_a_mistake_is_shown() {
    for source in ["fine\n{{ text | }}", "fine\n{{ text ~ text }}", "fine\n{% set a = 1 %}"] {
        let why = UserTemplate::parse(source).expect_err("wrong");
        assert!(why.0.ends_with("in line 2"), "{why}");
    }
}

#[test]
fn text_from_the_database_is_validated_before_it_is_rendered() {
    let stored = UserTemplate::stored("{{ text ~ text }}");
    assert_eq!(stored.as_str(), "{{ text ~ text }}");
    assert!(stored.validated().is_err());
    let stored = UserTemplate::stored(&"x".repeat(MAX_TEMPLATE_LENGTH + 1));
    assert!(stored.validated().is_err());
    assert!(UserTemplate::stored("{{ text }}").validated().is_ok());
}

#[test]
fn a_panic_is_an_error() {
    let outcome: Result<(), Invalid> = stack::on_own_stack(|| panic!("in a test"));
    assert!(outcome.is_err());
}

const TOKENS: &[&str] = &[
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "{#}",
    "{#-}",
    "{{-",
    "-}}",
    "{%-",
    "-%}",
    "{%+",
    "+%}",
    "-",
    "+",
    "*",
    "**",
    "/",
    "//",
    "%",
    "~",
    "|",
    ".",
    ",",
    ":",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "==",
    "!=",
    "<",
    ">",
    "<=",
    ">=",
    "=",
    "'",
    "\"",
    "\\",
    "'a'",
    "\"b\"",
    "0",
    "1",
    "2.5",
    "99",
    "1e9",
    " ",
    "\n",
    "text",
    "large",
    "payload",
    "monitor.tags",
    "loop",
    "loop.index",
    "a",
    "not ",
    " and ",
    " or ",
    " in ",
    " is ",
    " if ",
    " else ",
    "if ",
    "elif ",
    "else ",
    "endif ",
    "for ",
    "for a in ",
    "endfor ",
    "set ",
    "with ",
    "filter ",
    "raw ",
    "endraw ",
    "recursive ",
    "upper",
    "|upper",
    "|tojson",
    "|html",
    "|length",
    "|default(",
    "|truncate(",
    "()",
    "[::-1]",
    "true",
    "none",
    "{{ text }}",
    "{% if a %}",
    "{% endif %}",
    "{% for a in text %}",
    "{% endfor %}",
    "é",
    "\u{1f534}",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Nothing crashes, and every valid template renders within its limits or
    /// returns an error.
    #[test]
    fn mixtures_of_tokens_are_refused_or_render_within_bounds(
        tokens in prop::collection::vec(prop::sample::select(TOKENS), 1..60),
        times in 1_usize..20,
        open in prop::sample::select(&["", "{{ ", "{% if ", "{% for a in "][..]),
    ) {
        let source = format!("{open}{}", tokens.concat().repeat(times));
        let before = peak_memory();
        let begun = Instant::now();
        let template = UserTemplate::stored(&source);
        match template.validated() {
            Ok(valid) => {
                if let Ok(text) = valid.render(&fields()) {
                    prop_assert!(text.len() <= 20_000);
                }
                let compiles = stack::on_own_stack(|| {
                    engine::user_environment().template_from_str(&source).is_ok()
                });
                prop_assert_eq!(compiles, Ok(true), "the engine compiles validated templates");
            }
            Err(why) => prop_assert!(!why.0.is_empty()),
        }
        prop_assert!(begun.elapsed() < Duration::from_secs(20));
        assert_little_memory_was_used(before);
    }

    /// Validation accepts everything that the language allows.
    #[test]
    fn a_template_of_allowed_parts_is_valid(expression in expressions()) {
        for source in [
            format!("{{{{ {expression} }}}}"),
            format!("{{% if {expression} %}}a{{% endif %}}"),
            format!("{{% for a in {expression} %}}{{{{ a }}}}{{% endfor %}}"),
        ] {
            let template = UserTemplate::parse(&source);
            prop_assert!(template.is_ok(), "{source}: {template:?}");
        }
    }
}

fn expressions() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(&["text", "payload", "1", "2.5", "'a'", "true", "none"][..]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 24, 3, |inner| {
        let binary = &["==", "!=", "<", "in", "and", "or", "-", "/", "//", "%"][..];
        prop_oneof![
            (inner.clone(), prop::sample::select(binary), inner.clone())
                .prop_map(|(left, op, right)| format!("({left} {op} {right})")),
            inner.clone().prop_map(|of| format!("(not {of})")),
            inner.clone().prop_map(|of| format!("-({of})")),
            inner.clone().prop_map(|of| format!("({of})|upper|default(text)")),
            inner.clone().prop_map(|of| format!("({of}).name[0]")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(yes, test, no)| format!("({yes} if {test} else {no})")),
        ]
    })
}

#[test]
fn a_single_instruction_has_bounded_cost() {
    // Each of these would search or copy a long text in a single instruction.
    let long = "ab".repeat(3_000);
    for source in [
        format!("{{% for c in text %}}{{{{ '{long}'|trim('{long}') }}}}{{% endfor %}}"),
        format!("{{% for c in text %}}{{{{ '{long}'[::1][:0] }}}}{{% endfor %}}"),
        "{{ text[:3] }}".to_owned(),
    ] {
        let begun = Instant::now();
        assert!(rendered(&source).is_err(), "{}", &source[..40.min(source.len())]);
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
    assert_eq!(rendered("{{ ' a '|trim }}").as_deref(), Ok("a"));
    assert_eq!(rendered("{{ monitor.tags|length }}{{ status|length }}").as_deref(), Ok("24"));
}
