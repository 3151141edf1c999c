//! The template engine as configured by Wakeful: no files, no network, no other
//! templates, few filters. Users' templates have limits: instructions, nested
//! loops, bytes of output, and bytes produced by filters.

use minijinja::value::{Serde, StringInput};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::Fields;
use crate::Invalid;

/// Instructions per rendering.
const MAX_INSTRUCTIONS: u64 = 10_000;
/// Bytes of output per rendering.
const MAX_OUTPUT: usize = 20_000;
/// Bytes that one filter may produce.
const MAX_VALUE: usize = 65_536;
/// Bytes that all filters of one rendering may produce.
const MAX_FILTERED: usize = 1 << 20;
/// Nested loops.
const MAX_LOOPS: usize = 20;
/// Characters of an error message that are shown.
const MAX_ERROR: usize = 300;

/// Whether a built-in template escapes its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    Nothing,
    Html,
}

/// Renders a template that has been validated.
pub(super) fn render(source: &str, fields: &Fields) -> Result<String, Invalid> {
    let env = user_environment();
    let mut out = Capped::new(MAX_OUTPUT);
    let rendered = env
        .template_from_str(source)
        .and_then(|template| template.render_captured_to(Serde(fields), &mut out));
    match rendered {
        Ok(_) => Ok(String::from_utf8_lossy(&out.bytes).into_owned()),
        Err(_) if out.full => Err(Invalid::new(format!("renders to more than {MAX_OUTPUT} bytes"))),
        Err(error) => Err(explain(&error)),
    }
}

/// Renders a built-in template.
pub fn render_builtin(
    source: &'static str,
    fields: &Fields,
    escape: Escape,
) -> Result<String, Invalid> {
    let mut env = environment(&Budget::unlimited());
    if escape == Escape::Html {
        env.set_auto_escape_callback(|_| AutoEscape::Html);
    }
    env.render_str(source, Serde(fields)).map_err(|error| explain(&error))
}

/// The environment in which users' templates are compiled and rendered.
pub(super) fn user_environment() -> Environment<'static> {
    let mut env = environment(&Budget::limited());
    env.set_fuel(Some(MAX_INSTRUCTIONS));
    env.set_recursion_limit(MAX_LOOPS);
    env
}

fn environment(budget: &Budget) -> Environment<'static> {
    let mut env = Environment::empty();
    env.set_undefined_behavior(UndefinedBehavior::Chainable);
    env.set_auto_escape_callback(|_| AutoEscape::None);
    env.set_formatter(|out, state, value| {
        if value.is_none() { Ok(()) } else { minijinja::escape_formatter(out, state, value) }
    });
    env.add_filter("default", or_else);
    let add = |env: &mut Environment<'static>, name, filter: fn(&str) -> String| {
        let budget = budget.clone();
        env.add_filter(name, move |text: &str| budget.spend(text, filter));
    };
    add(&mut env, "mrkdwn", mrkdwn);
    add(&mut env, "html", html);
    add(&mut env, "sql_time", sql_time);
    // These also accept values that are not text.
    let spent = budget.clone();
    env.add_filter("upper", move |value: StringInput<'_>| {
        let made = spent.spend(value.as_str(), str::to_uppercase)?;
        Ok::<_, Error>(value.preserve_safety(made))
    });
    let spent = budget.clone();
    env.add_filter("lower", move |value: StringInput<'_>| {
        let made = spent.spend(value.as_str(), str::to_lowercase)?;
        Ok::<_, Error>(value.preserve_safety(made))
    });
    let spent = budget.clone();
    // Whitespace only: a set of characters would be searched for each
    // character.
    env.add_filter("trim", move |value: StringInput<'_>| {
        spent.take(value.as_str().len())?;
        Ok::<_, Error>(minijinja::filters::trim(value, None))
    });
    let spent = budget.clone();
    env.add_filter("length", move |value: &Value| {
        spent.take(value.as_str().map_or(0, str::len))?;
        minijinja::filters::length(value)
    });
    let spent = budget.clone();
    env.add_filter("truncate", move |text: &str, max: usize| {
        spent.spend(text, |text| truncate(text, max))
    });
    let spent = budget.clone();
    env.add_filter("tojson", move |value: &Value| tojson(value, &spent));
    env
}

/// How many bytes the filters of one rendering may still produce.
#[derive(Clone)]
struct Budget {
    left: Arc<AtomicUsize>,
    each: usize,
}

impl Budget {
    fn limited() -> Self {
        Self { left: Arc::new(AtomicUsize::new(MAX_FILTERED)), each: MAX_VALUE }
    }

    fn unlimited() -> Self {
        Self { left: Arc::new(AtomicUsize::new(usize::MAX)), each: usize::MAX }
    }

    /// Applies a filter, and counts its input and output.
    fn spend(&self, text: &str, filter: impl FnOnce(&str) -> String) -> Result<String, Error> {
        self.take(text.len())?;
        let made = filter(text);
        self.take(made.len())?;
        Ok(made)
    }

    fn take(&self, bytes: usize) -> Result<(), Error> {
        let left = self.left.load(Relaxed);
        match left.checked_sub(bytes) {
            Some(rest) if bytes <= self.each => {
                self.left.store(rest, Relaxed);
                Ok(())
            }
            _ => Err(Error::new(ErrorKind::InvalidOperation, "filters produce too much text")),
        }
    }
}

/// The value, or `other` when it is undefined or none.
fn or_else(value: Value, other: Option<Value>) -> Value {
    if value.is_undefined() || value.is_none() {
        other.unwrap_or_else(|| Value::from(""))
    } else {
        value
    }
}

fn truncate(text: &str, max: usize) -> String {
    if text.chars().count() > max {
        text.chars().take(max.saturating_sub(1)).chain(['…']).collect()
    } else {
        text.to_owned()
    }
}

/// The value as JSON, quotes included.
fn tojson(value: &Value, budget: &Budget) -> Result<Value, Error> {
    let mut out = Capped::new(budget.each.min(budget.left.load(Relaxed)));
    serde_json::to_writer(&mut out, value)
        .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
    budget.take(out.bytes.len())?;
    Ok(Value::from_safe_string(String::from_utf8_lossy(&out.bytes).into_owned()))
}

/// Escapes text for Slack's markup, so that it creates no mentions or links.
fn mrkdwn(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Escapes text for the HTML that some receivers render.
fn html(text: &str) -> String {
    mrkdwn(text).replace('"', "&quot;")
}

/// `2026-11-15T09:30:00.123Z` without its letters.
fn sql_time(text: &str) -> String {
    text.replace('T', " ").replace('Z', "")
}

/// The error with its line, for the author of a template.
pub(super) fn explain(error: &Error) -> Invalid {
    let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    let what: String = what.chars().take(MAX_ERROR).collect();
    Invalid::new(match error.line() {
        Some(line) => format!("is not a valid template: {what}, in line {line}"),
        None => format!("is not a valid template: {what}"),
    })
}

/// Collects bytes up to a limit, and fails beyond.
struct Capped {
    bytes: Vec<u8>,
    max: usize,
    full: bool,
}

impl Capped {
    fn new(max: usize) -> Self {
        Self { bytes: Vec::new(), max, full: false }
    }
}

impl io::Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.max {
            self.full = true;
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
