//! The custom CSS of a page. It is read as tokens, so that escapes and comments cannot hide
//! anything: nothing in it may load from anywhere, or leave the layer that it is put in.

use cssparser::{ParseError, Parser, Token};

use super::snapshot::Color;
use crate::Invalid;

/// In bytes.
pub const MAX_CSS: usize = 20_000;
const MAX_DEPTH: usize = 32;

/// All other at-rules are rejected.
const AT_RULES: [&str; 6] =
    ["media", "supports", "container", "layer", "keyframes", "-webkit-keyframes"];
/// Functions that name a resource.
const RESOURCES: [&str; 9] = [
    "url",
    "src",
    "image",
    "image-set",
    "-webkit-image-set",
    "cross-fade",
    "-webkit-cross-fade",
    "element",
    "paint",
];

/// Whether the CSS may be served with a page.
pub fn validate(css: &str) -> Result<(), Invalid> {
    if css.len() > MAX_CSS {
        return Err(Invalid::new(format!("must have at most {MAX_CSS} bytes")));
    }
    check(&mut Parser::new(css), 0).map_err(|Rejected { line, reason }| {
        Invalid::new(format!("must not contain {reason} (line {line})"))
    })
}

struct Rejected {
    line: u32,
    reason: String,
}

fn check(parser: &mut Parser<'_>, depth: usize) -> Result<(), Rejected> {
    loop {
        parser.skip_whitespace();
        let line = parser.current_source_location().line + 1;
        let rejected = |reason: &str| Err(Rejected { line, reason: reason.to_owned() });
        let Ok(token) = parser.next().cloned() else { return Ok(()) };
        let is_block = match &token {
            Token::UnquotedUrl(_) => return rejected("url()"),
            Token::BadUrl(_) => return rejected("a broken url()"),
            Token::BadString(_) => return rejected("a string that does not end on its line"),
            Token::CloseCurlyBracket => return rejected("a } without a {"),
            Token::CloseParenthesis | Token::CloseSquareBracket => {
                return rejected("a closing bracket without an opening one");
            }
            Token::AtKeyword(name) => {
                if !AT_RULES.iter().any(|allowed| name.eq_ignore_ascii_case(allowed)) {
                    return rejected(&format!("the rule @{}", shortened(name)));
                }
                false
            }
            Token::Function(name) => {
                if RESOURCES.iter().any(|resource| name.eq_ignore_ascii_case(resource)) {
                    return rejected(&format!("{}()", name.to_ascii_lowercase()));
                }
                true
            }
            Token::ParenthesisBlock | Token::SquareBracketBlock | Token::CurlyBracketBlock => true,
            _ => false,
        };
        if !is_block {
            continue;
        }
        if depth >= MAX_DEPTH {
            return rejected("blocks that are nested so deeply");
        }
        let mut found = Ok(());
        let _ = parser.parse_nested_block(|inner| {
            found = check(inner, depth + 1);
            Ok::<_, ParseError<()>>(())
        });
        found?;
    }
}

fn shortened(name: &str) -> String {
    name.chars().take(30).collect()
}

/// The color, made darker or lighter until it is readable as text on the background.
#[must_use]
pub fn readable(color: Color, background: Color) -> Color {
    const CONTRAST: f64 = 4.5;
    const STEPS: u8 = 50;
    let target = if luminance(background) > 0.18 { 0_u8 } else { 255 };
    let mixed = |step: u8| {
        let mix = |from: u8| {
            let share = f64::from(step) / f64::from(STEPS);
            let value = f64::from(from) + (f64::from(target) - f64::from(from)) * share;
            // Between 0 and 255 by construction.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let value = value.round() as u8;
            value
        };
        Color { red: mix(color.red), green: mix(color.green), blue: mix(color.blue) }
    };
    let mut steps = (0..=STEPS).map(mixed);
    let found = steps.find(|color| contrast(*color, background) >= CONTRAST);
    found.unwrap_or(Color { red: target, green: target, blue: target })
}

/// The contrast of two colors by WCAG, from 1 to 21.
pub fn contrast(one: Color, two: Color) -> f64 {
    let (one, two) = (luminance(one), luminance(two));
    (one.max(two) + 0.05) / (one.min(two) + 0.05)
}

fn luminance(color: Color) -> f64 {
    let linear = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_css_is_accepted() {
        for css in [
            "",
            "h1 { color: red; background: linear-gradient(to right, #fff, rgb(0 0 0 / 50%)) }",
            "@media (min-width: 40em) { .page > a[href^=\"http\"]::after { content: '\\2197' } }",
            "@supports (display: grid) { @layer x { :root { --a: calc(1px + var(--b)) } } }",
            "@keyframes spin { to { rotate: 1turn } } /* url(x) */ @container (width > 1px) {}",
            "a::before { content: \"url(x)\" }",
        ] {
            assert_eq!(validate(css), Ok(()), "{css}");
        }
    }

    #[test]
    fn nothing_that_loads_or_escapes_its_layer_is_accepted() {
        for (css, reason) in [
            ("a { background: url(https://e.example/x) }", "url() (line 1)"),
            ("\n\na { background: URL( 'x' ) }", "url() (line 3)"),
            ("a { background: u\\72l(x) }", "url() (line 1)"),
            ("a { background: \\75 rl('x') }", "url()"),
            ("a { b: calc(1 + url(x)) }", "url()"),
            ("a { --x: url(x) }", "url()"),
            ("a { --x: {[(url(x))]} }", "url()"),
            ("a { background: u/**/rl(x) url(x) }", "url()"),
            ("a { background: image-set('x' 1x) }", "image-set()"),
            ("a { background: -webkit-image-set('x' 1x) }", "-webkit-image-set()"),
            ("a { src: src('x') }", "src()"),
            ("@import 'x';", "the rule @import"),
            ("@\\69mport 'x';", "the rule @import"),
            ("@font-face { font-family: x }", "the rule @font-face"),
            ("@namespace x 'y';", "the rule @namespace"),
            ("@media all { @import 'x'; }", "the rule @import"),
            ("@charset 'utf-8';", "the rule @charset"),
            ("} body { color: red", "a } without a {"),
            ("a { b: url(x y", "url()"),
            ("a { b: 'x\n' }", "a string that does not end on its line"),
            ("a ) b", "a closing bracket"),
        ] {
            let message = validate(css).expect_err(css).0;
            assert!(message.contains(reason), "{css}: {message}");
        }
        assert!(validate(&"(".repeat(10_000)).is_err(), "deep nesting");
        assert!(validate(&" ".repeat(MAX_CSS + 1)).is_err());
    }

    #[test]
    fn an_accent_becomes_readable() {
        let [white, black] =
            ["#ffffff", "#111827"].map(|text| Color::parse(text).expect("a color"));
        for text in ["#ffff00", "#000000", "#ffffff", "#777777", "#0a7bff", "#ff0000"] {
            let color = Color::parse(text).expect("a color");
            for background in [white, black] {
                let found = readable(color, background);
                assert!(contrast(found, background) >= 4.5, "{text} on {background}: {found}");
            }
        }
        let blue = Color::parse("#0b5fff").expect("a color");
        assert_eq!(readable(blue, white), blue, "it was readable");
    }
}
