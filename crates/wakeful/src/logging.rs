//! Logging to standard error: human-readable on a terminal, otherwise as JSON lines.
//! WAKEFUL_LOG sets the level, in the syntax of tracing's filter. Card numbers and the
//! values of fields that name a secret are masked. Entries of the audit log are always JSON
//! lines, whatever the level; they have no secrets, and a masked one could not be verified.

use std::io::{IsTerminal as _, Write as _, stderr};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use wakeful_store::AuditLog;

use crate::redact::Masked;

pub const VARIABLE: &str = "WAKEFUL_LOG";
/// The client of NATS logs each event that the bus logs in its own words. HTTP/2 warns of each
/// connection whose client breaks a limit of the protocol, so clients could fill the log.
const DEFAULT: &str = "info,sqlx=warn,hyper=warn,h2=error,async_nats=warn";

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{VARIABLE} must be a level (error, warn, info, debug, trace, off) or a list such as \
     \"info,wakeful_engine=debug\", not {0:?}."
)]
pub struct BadFilter(String);

/// Starts logging for the whole process. `level` is the value of WAKEFUL_LOG.
pub fn start(level: Option<&str>) -> Result<(), BadFilter> {
    let filter = filter(level)?;
    // A line that cannot be written is lost. Reporting that on standard error would
    // panic, since its reader is gone.
    let lines =
        fmt().with_writer(|| Masked(stderr())).with_env_filter(filter).log_internal_errors(false);
    if stderr().is_terminal() {
        lines.with_target(false).init();
    } else {
        lines.json().flatten_event(true).with_current_span(true).with_span_list(false).init();
    }
    Ok(())
}

/// Writes the entries of the audit log to standard error. One that cannot be written is only in
/// the database.
pub fn audit_log() -> AuditLog {
    AuditLog::new(|line| {
        let _ = stderr().lock().write_all(format!("{line}\n").as_bytes());
    })
}

fn filter(level: Option<&str>) -> Result<EnvFilter, BadFilter> {
    let text = level.filter(|text| !text.trim().is_empty()).unwrap_or(DEFAULT);
    let refuse = || BadFilter(text.to_owned());
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if !parts.iter().all(|part| names_a_level(part)) {
        return Err(refuse());
    }
    EnvFilter::try_new(parts.join(",")).map_err(|_| refuse())
}

/// Tracing takes a word that is not a level for the name of a crate: `inof` would silence
/// all other crates. Here a crate requires a level.
fn names_a_level(part: &str) -> bool {
    let level = part.rsplit('=').next().unwrap_or(part);
    ["error", "warn", "info", "debug", "trace", "off"].contains(&level.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_default_libraries_log_warnings_only() {
        for level in [None, Some(""), Some(" ")] {
            let text = filter(level).expect("the default").to_string();
            for part in DEFAULT.split(',') {
                assert!(text.contains(part), "{text}");
            }
        }
    }

    #[test]
    fn a_level_or_a_list_of_crates_is_accepted() {
        for level in ["debug", "WARN", "off", "info, wakeful_engine=trace", "warn,[request]=debug"]
        {
            assert!(filter(Some(level)).is_ok(), "{level}");
        }
    }

    #[test]
    fn an_invalid_level_is_rejected_in_one_sentence() {
        for level in ["inof", "info,wakeful=loud", "verbose", "wakeful=", "info,debgu", "sqlx"] {
            let why = filter(Some(level)).expect_err(level).to_string();
            assert!(why.starts_with("WAKEFUL_LOG must be a level"), "{why}");
            assert!(why.ends_with(&format!("not {level:?}.")), "{why}");
        }
    }
}
