//! Templates that users write: the body of a webhook, the subject of an email.
//! Only validation creates a `ValidatedTemplate`, and only that can be
//! rendered, so no operation can skip it. Rendering is bounded in steps, in
//! output and in memory, and runs on its own stack.

mod engine;
mod language;
mod stack;

use serde_json::{Map, Value};
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::Invalid;

pub use engine::{Escape, render_builtin};

/// The maximum length of a template, in characters.
pub const MAX_TEMPLATE_LENGTH: usize = 16_384;

/// The variables of a template, and their values.
pub type Fields = Map<String, Value>;

/// A template that conforms to the language: with any values, rendering it is
/// bounded in time, memory and stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidatedTemplate(Arc<str>);

impl ValidatedTemplate {
    fn new(source: Arc<str>) -> Result<Self, Invalid> {
        if source.chars().count() > MAX_TEMPLATE_LENGTH {
            return Err(Invalid::new(format!(
                "must have at most {MAX_TEMPLATE_LENGTH} characters"
            )));
        }
        stack::on_own_stack(|| language::check(&source))??;
        Ok(Self(source))
    }

    /// Renders the template with these fields.
    pub fn render(&self, fields: &Fields) -> Result<String, Invalid> {
        stack::on_own_stack(|| engine::render(&self.0, fields))?
    }
}

/// The template of a notifier: the text, and the outcome of its validation.
/// Text from a request is validated immediately. Text from the database may be
/// older than today's rules: it is validated when it is first rendered.
#[derive(Clone)]
pub struct UserTemplate {
    source: Arc<str>,
    validated: OnceLock<Result<ValidatedTemplate, Invalid>>,
}

impl UserTemplate {
    /// A new template.
    pub fn parse(source: &str) -> Result<Self, Invalid> {
        let template = Self::stored(source);
        match template.validated() {
            Ok(_) => Ok(template),
            Err(why) => Err(why.clone()),
        }
    }

    /// A template from the database.
    pub fn stored(source: &str) -> Self {
        Self { source: source.into(), validated: OnceLock::new() }
    }

    /// The template to render, or why it is invalid.
    pub fn validated(&self) -> Result<&ValidatedTemplate, &Invalid> {
        self.validated.get_or_init(|| ValidatedTemplate::new(Arc::clone(&self.source))).as_ref()
    }

    pub fn as_str(&self) -> &str {
        &self.source
    }
}

impl PartialEq for UserTemplate {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for UserTemplate {}

impl fmt::Debug for UserTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UserTemplate").field(&self.source).finish()
    }
}

#[cfg(test)]
mod tests;
