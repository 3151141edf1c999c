//! What can go wrong in the store, sorted by what a caller can do about it:
//! wait (`Unavailable`), choose another value (`Taken`), fetch the operator.

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Locked, full, away or overloaded: nothing was changed, try again.
    #[error("the database is not available")]
    Unavailable(#[source] sqlx::Error),
    /// A unique index refused the value.
    #[error("the value is already in use")]
    Taken,
    /// What the value belongs to was deleted meanwhile.
    #[error("what this belongs to is gone")]
    Gone,
    /// A stored value is not one that this version writes.
    #[error("a stored value of {0} cannot be read")]
    Damaged(&'static str),
    /// A sealed value does not open with any key of the keyring.
    #[error("a sealed value of {0} does not open: the master key it was sealed under is missing")]
    Sealed(&'static str),
    /// The schema is not one this version can use.
    #[error("{0}")]
    History(String),
    /// The database refused a statement: a defect of ours, or a damaged file.
    #[error("the database refused a statement")]
    Refused(#[source] sqlx::Error),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(refusal) if refusal.is_unique_violation() => Self::Taken,
            sqlx::Error::Database(refusal) if refusal.is_foreign_key_violation() => Self::Gone,
            sqlx::Error::Database(refusal) if passing(refusal.code().as_deref()) => {
                Self::Unavailable(error)
            }
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => Self::Unavailable(error),
            _ => Self::Refused(error),
        }
    }
}

/// Whether a driver's code speaks of a state that passes.
fn passing(code: Option<&str>) -> bool {
    let Some(code) = code else { return false };
    if code.len() == 5 {
        // PostgreSQL: connection, resources, operator intervention, I/O,
        // rollback by the server, lock not available, not let in. And single ones:
        // a client, held up, was silent for too long within a transaction; a server
        // that only reads, as one that stands by; a database that is not there yet.
        return ["25P03", "25006", "3D000"].contains(&code)
            || ["08", "53", "57", "58", "40", "55", "28"]
                .iter()
                .any(|class| code.starts_with(class));
    }
    // SQLite: the low byte is the primary code. BUSY, LOCKED, READONLY, IOERR,
    // FULL, CANTOPEN.
    code.parse::<i32>().is_ok_and(|code| matches!(code & 0xff, 5 | 6 | 8 | 10 | 13 | 14))
}

#[cfg(test)]
mod tests {
    use super::passing;

    #[test]
    fn codes_that_pass_are_told_from_those_that_do_not() {
        for code in [
            "5", "261", "13", "08006", "53300", "57P01", "40001", "55P03", "25P03", "25006",
            "28P01", "3D000",
        ] {
            assert!(passing(Some(code)), "{code}");
        }
        for code in ["1", "11", "19", "23505", "42601", "25001"] {
            assert!(!passing(Some(code)), "{code}");
        }
        assert!(!passing(None));
    }
}
