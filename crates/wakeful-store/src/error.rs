//! The errors of the store, by what the caller can do about them: wait
//! (`Unavailable`), choose another value (`Taken`), or report to the operator.

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Locked, full, unreachable or overloaded: nothing was changed, try again.
    #[error("the database is not available")]
    Unavailable(#[source] sqlx::Error),
    /// A unique index rejected the value.
    #[error("the value is already in use")]
    Taken,
    /// The record that the value belongs to was deleted in the meantime.
    #[error("the record this belongs to no longer exists")]
    Gone,
    /// One transaction would write too much: nothing was changed, write less at a time.
    #[error("the results have too many notifications to be written together")]
    TooLarge,
    /// A stored value is not one that this version writes.
    #[error("cannot read a stored value of {0}")]
    Damaged(&'static str),
    /// No key of the keyring opens a sealed value.
    #[error("cannot decrypt {0}: the master key it was encrypted with is missing")]
    Sealed(&'static str),
    /// This version cannot use the schema.
    #[error("{0}")]
    Schema(String),
    /// The database rejected a statement: a bug in Wakeful, or a damaged file.
    #[error("the database rejected a statement")]
    Refused(#[source] sqlx::Error),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(refusal) if refusal.is_unique_violation() => Self::Taken,
            sqlx::Error::Database(refusal) if refusal.is_foreign_key_violation() => Self::Gone,
            sqlx::Error::Database(refusal) if is_transient(refusal.code().as_deref()) => {
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

/// Whether a driver's error code means a temporary condition.
fn is_transient(code: Option<&str>) -> bool {
    let Some(code) = code else { return false };
    if code.len() == 5 {
        // PostgreSQL, by class: connection, resources, operator intervention, I/O,
        // rollback by the server, lock not available, authorization. Single codes:
        // idle for too long in a transaction, because this process was delayed; a
        // read-only server, such as a standby; a database that does not exist yet.
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
    use super::is_transient;

    #[test]
    fn transient_codes_are_recognized() {
        for code in [
            "5", "261", "13", "08006", "53300", "57P01", "40001", "55P03", "25P03", "25006",
            "28P01", "3D000",
        ] {
            assert!(is_transient(Some(code)), "{code}");
        }
        for code in ["1", "11", "19", "23505", "42601", "25001"] {
            assert!(!is_transient(Some(code)), "{code}");
        }
        assert!(!is_transient(None));
    }
}
