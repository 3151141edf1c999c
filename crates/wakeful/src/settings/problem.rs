//! The errors in settings, each as one sentence that names the setting, its origin and the
//! accepted values. No message contains a secret.

use std::fmt;
use std::io;

use super::layers::Origin;

/// All errors, one per line.
#[derive(Debug, thiserror::Error)]
#[error("{}", lines(.0))]
pub struct SettingsError(pub Vec<Problem>);

#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("The settings file {path} ({origin}) cannot be read: {source}.")]
    Unreadable { path: String, origin: Origin, source: io::Error },
    #[error("The settings file {path} is not valid TOML at line {line}: {message}.")]
    Syntax { path: String, line: usize, message: String },
    #[error("{name} ({origin}) is not a setting; {}.", hint(.nearest))]
    Unknown { name: String, origin: Origin, nearest: Option<String> },
    #[error("{variable} is not a setting; {}.", hint(.nearest))]
    UnknownVariable { variable: String, nearest: Option<String> },
    #[error("{section} ({origin}) is a section: write its settings below a line [{section}].")]
    Section { section: String, origin: Origin },
    #[error("{first} and {second} both set {key}; remove one of them.")]
    Twice { first: String, second: String, key: String },
    #[error("{variable} must be UTF-8 text.")]
    NotText { variable: String },
    #[error("{key} ({origin}){what}.")]
    Plan { key: &'static str, origin: Origin, what: String },
    #[error("{key} ({origin}) must be {accepts}{}.", given_value(.given))]
    Wrong { key: &'static str, origin: Origin, accepts: String, given: Option<String> },
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn hint(nearest: &Option<String>) -> String {
    match nearest {
        Some(name) => format!("the nearest is {name}"),
        None => "`wakeful config default` lists them all".to_owned(),
    }
}

fn given_value(given: &Option<String>) -> String {
    given.as_ref().map(|text| format!(", not {text}")).unwrap_or_default()
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "from {path}"),
            Self::Variable(name) => write!(f, "from {name}"),
            Self::Flag(name) => write!(f, "from {name}"),
            Self::Rule(why) => write!(f, "because {why}"),
        }
    }
}
