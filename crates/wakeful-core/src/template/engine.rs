//! The template engine as Wakeful sets it up: no file, no network, no other
//! template, few filters. What users' templates may take is bounded: instructions,
//! loops within loops, bytes of output, and bytes that filters make.

use minijinja::value::{Serde, StringInput};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::Fields;
use crate::Invalid;

/// Instructions that one rendering may take.
const MAX_INSTRUCTIONS: u64 = 10_000;
/// Bytes that one rendering may give.
const MAX_OUTPUT: usize = 20_000;
/// Bytes that one filter may give.
const MAX_VALUE: usize = 65_536;
/// Bytes that all filters of one rendering may give.
const MAX_FILTERED: usize = 1 << 20;
/// Loops within loops.
const MAX_LOOPS: usize = 20;
/// Characters of an error that are shown.
const MAX_ERROR: usize = 300;

/// Whether a template of our own escapes its values.
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
        Err(_) if out.full => {
            Err(Invalid::new(format!("makes more than {MAX_OUTPUT} bytes of a message")))
        }
        Err(error) => Err(explain(&error)),
    }
}

/// Renders a template that is part of the program.
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

/// What users' templates are compiled and rendered in.
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
    env.set_formatter(|out, state, value| match value.is_none() {
        true => Ok(()),
        false => minijinja::escape_formatter(out, state, value),
    });
    env.add_filter("default", or_else);
    let add = |env: &mut Environment<'static>, name, filter: fn(&str) -> String| {
        let budget = budget.clone();
        env.add_filter(name, move |text: &str| budget.spend(text, filter));
    };
    add(&mut env, "mrkdwn", mrkdwn);
    add(&mut env, "html", html);
    add(&mut env, "sql_time", sql_time);
    // These take values that are no text, too.
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
    // White space only: a set of characters would be searched for each character.
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
    env.add_filter("truncate", move |text: &str, most: usize| {
        spent.spend(text, |text| truncate(text, most))
    });
    let spent = budget.clone();
    env.add_filter("tojson", move |value: &Value| tojson(value, &spent));
    env
}

/// What the filters of one rendering may still make.
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

    /// What a filter makes of a text, as long as neither is too much.
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
            _ => Err(Error::new(ErrorKind::InvalidOperation, "filters make too much text")),
        }
    }
}

/// The value, or the other when there is none.
fn or_else(value: Value, other: Option<Value>) -> Value {
    match value.is_undefined() || value.is_none() {
        true => other.unwrap_or_else(|| Value::from("")),
        false => value,
    }
}

fn truncate(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
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

/// Text in Slack's markup: what would be a mention or a link is none.
fn mrkdwn(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Text within the HTML that some receivers read.
fn html(text: &str) -> String {
    mrkdwn(text).replace('"', "&quot;")
}

/// `2026-11-15T09:30:00.123Z` without its letters.
fn sql_time(text: &str) -> String {
    text.replace('T', " ").replace('Z', "")
}

/// The error with its place, for the author of a template.
pub(super) fn explain(error: &Error) -> Invalid {
    let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    let what: String = what.chars().take(MAX_ERROR).collect();
    Invalid::new(match error.line() {
        Some(line) => format!("is not a template that works: {what}, in line {line}"),
        None => format!("is not a template that works: {what}"),
    })
}

/// Bytes up to a bound, and an error beyond.
struct Capped {
    bytes: Vec<u8>,
    most: usize,
    full: bool,
}

impl Capped {
    fn new(most: usize) -> Self {
        Self { bytes: Vec::new(), most, full: false }
    }
}

impl io::Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
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
