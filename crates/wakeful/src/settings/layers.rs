//! Collects the values from default.toml, the file, variables and flags; later ones
//! override earlier ones. default.toml is also the list of known settings; an unknown
//! name is rejected with the nearest known one.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;

use toml::{Table, Value};
use wakeful_api::{EffectiveSetting, SettingSource};

use super::DEFAULT_TOML;
use super::problem::Problem;
use super::reader::shown;
use super::service_links::is_service_link;
use crate::cli::Flags;

/// The prefix of all variables.
const PREFIX: &str = "WAKEFUL_";
/// A setting with a second, shorter variable.
const SHORT: (&str, &str) = ("WAKEFUL_LISTEN", "server.listen");
/// Variables that are not settings and are read elsewhere.
const CONFIG: &str = "WAKEFUL_CONFIG";
const TESTS: &str = "WAKEFUL_TEST_";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    File(String),
    Variable(String),
    Flag(&'static str),
    /// Not set, and derived from other settings.
    Rule(&'static str),
}

#[derive(Clone)]
pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) origin: Origin,
}

impl Entry {
    /// Variables and flags are plain text, whatever the setting's type.
    pub(super) fn is_plain_text(&self) -> bool {
        matches!(self.origin, Origin::Variable(_) | Origin::Flag(_))
    }
}

pub(super) struct Layers {
    defaults: BTreeMap<String, Entry>,
    effective: BTreeMap<String, Entry>,
    sections: BTreeSet<String>,
}

impl Layers {
    /// The effective values, and the problems found.
    pub(super) fn collect(
        flags: &Flags,
        environment: impl Iterator<Item = (OsString, OsString)>,
    ) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let variables = our_variables(environment, &mut problems);
        let mut layers = Self::defaults();
        layers.add_file(flags, &variables, &mut problems);
        layers.add_variables(variables, &mut problems);
        layers.add_flags(flags);
        (layers, problems)
    }

    pub(super) fn get(&self, key: &str) -> &Entry {
        self.effective.get(key).expect("every setting that is read is in default.toml")
    }

    pub(super) fn default(&self, key: &str) -> &Entry {
        self.defaults.get(key).expect("every setting that is read is in default.toml")
    }

    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>, origin: Origin) {
        self.effective.insert(key.to_owned(), Entry { value: value.into(), origin });
    }

    fn defaults() -> Self {
        let table: Table = DEFAULT_TOML.parse().expect("default.toml is TOML");
        let mut defaults = BTreeMap::new();
        let mut sections = BTreeSet::new();
        let mut add = |key: String, value| {
            defaults.insert(key, Entry { value, origin: Origin::Default });
        };
        for (name, value) in table {
            match value {
                Value::Table(section) => {
                    section
                        .into_iter()
                        .for_each(|(key, value)| add(format!("{name}.{key}"), value));
                    sections.insert(name);
                }
                value => add(name, value),
            }
        }
        Self { effective: defaults.clone(), defaults, sections }
    }

    fn add_file(
        &mut self,
        flags: &Flags,
        variables: &BTreeMap<String, String>,
        problems: &mut Vec<Problem>,
    ) {
        let by_flag = flags.config.as_ref().map(|path| (path, Origin::Flag("--config")));
        let by_variable =
            || variables.get(CONFIG).map(|path| (path, Origin::Variable(CONFIG.to_owned())));
        let Some((path, origin)) = by_flag.or_else(by_variable) else { return };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(source) => {
                return problems.push(Problem::Unreadable { path: path.clone(), origin, source });
            }
        };
        match text.parse::<Table>() {
            Ok(table) => self.add_table("", table, &Origin::File(path.clone()), problems),
            Err(error) => problems.push(syntax(path, &text, &error)),
        }
    }

    fn add_table(
        &mut self,
        within: &str,
        table: Table,
        origin: &Origin,
        problems: &mut Vec<Problem>,
    ) {
        for (key, value) in table {
            let name = if within.is_empty() { key } else { format!("{within}.{key}") };
            if self.defaults.contains_key(&name) {
                self.set(&name, value, origin.clone());
                continue;
            }
            match value {
                Value::Table(inner) if self.sections.contains(&name) || !inner.is_empty() => {
                    self.add_table(&name, inner, origin, problems);
                }
                _ if self.sections.contains(&name) => {
                    problems.push(Problem::Section { section: name, origin: origin.clone() });
                }
                _ => {
                    let nearest = nearest(&name, self.defaults.keys());
                    problems.push(Problem::Unknown { name, origin: origin.clone(), nearest });
                }
            }
        }
    }

    fn add_variables(&mut self, given: BTreeMap<String, String>, problems: &mut Vec<Problem>) {
        let known = self.variables();
        for (name, value) in given {
            if [CONFIG, crate::logging::VARIABLE].contains(&name.as_str()) {
                continue;
            }
            let Some(key) = known.get(&name) else {
                let nearest = nearest(&name, known.keys());
                problems.push(Problem::UnknownVariable { variable: name, nearest });
                continue;
            };
            if let Origin::Variable(first) = &self.get(key).origin {
                let (first, key) = (first.clone(), key.clone());
                problems.push(Problem::Twice { first, second: name, key });
                continue;
            }
            self.set(key, value, Origin::Variable(name));
        }
    }

    /// The names of all variables, with their settings.
    fn variables(&self) -> BTreeMap<String, String> {
        let long = |key: &String| format!("{PREFIX}{}", key.replace('.', "_").to_uppercase());
        let mut known: BTreeMap<_, _> =
            self.defaults.keys().map(|key| (long(key), key.clone())).collect();
        known.insert(SHORT.0.to_owned(), SHORT.1.to_owned());
        known
    }

    fn add_flags(&mut self, flags: &Flags) {
        let given = [
            ("data", "--data", &flags.data),
            ("server.listen", "--listen", &flags.listen),
            ("database.url", "--database-url", &flags.database_url),
            ("nats.url", "--nats-url", &flags.nats_url),
            ("probe.region", "--region", &flags.region),
            ("probe.name", "--name", &flags.name),
        ];
        for (key, flag, value) in given {
            if let Some(value) = value {
                self.set(key, value.clone(), Origin::Flag(flag));
            }
        }
    }
}

impl Layers {
    /// Each effective setting with its source; secrets are hidden.
    pub(super) fn effective(&self) -> Vec<EffectiveSetting> {
        let settings = self.effective.iter();
        settings
            .map(|(key, entry)| {
                let (source, origin) = match &entry.origin {
                    Origin::Default => (SettingSource::Default, String::new()),
                    Origin::File(path) => (SettingSource::File, path.clone()),
                    Origin::Variable(name) => (SettingSource::Environment, name.clone()),
                    Origin::Flag(flag) => (SettingSource::Flag, (*flag).to_owned()),
                    Origin::Rule(why) => (SettingSource::Derived, (*why).to_owned()),
                };
                let value = shown(key, &entry.value);
                EffectiveSetting { key: key.clone(), value, source, origin }
            })
            .collect()
    }
}

impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, entry) in &self.effective {
            let setting = format!("{key} = {}", shown(key, &entry.value));
            writeln!(f, "{setting:<50} # {}", entry.origin)?;
        }
        Ok(())
    }
}

fn our_variables(
    environment: impl Iterator<Item = (OsString, OsString)>,
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, String> {
    let mut ours = BTreeMap::new();
    for (name, value) in environment {
        let name = name.to_string_lossy().into_owned();
        if !name.starts_with(PREFIX) || name.starts_with(TESTS) {
            continue;
        }
        match OsStr::to_str(&value) {
            Some(value) if is_service_link(&name, value) => {}
            Some(value) => drop(ours.insert(name, value.to_owned())),
            None => problems.push(Problem::NotText { variable: name }),
        }
    }
    ours
}

/// Only the line number and the parser's message: the full report quotes the file, and
/// the quoted line may contain a password.
fn syntax(path: &str, text: &str, error: &toml::de::Error) -> Problem {
    let at = error.span().map_or(0, |span| span.start);
    let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    Problem::Syntax { path: path.to_owned(), line, message }
}

/// The known name with the fewest differences, if it is a likely typo.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> Option<String> {
    known
        .map(|candidate| (distance(name, candidate), candidate))
        .min()
        .filter(|(distance, _)| distance * 2 <= name.chars().count())
        .map(|(_, candidate)| candidate.clone())
}

/// The Levenshtein distance, computed one row at a time.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}
