//! A value between two databases. SQLite stores an id as bytes and a flag as a
//! number; PostgreSQL has types for both. Here they have SQLite's form, so that
//! their checksums can be compared.

use serde::{Deserialize, Serialize};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Postgres, Row as _, Sqlite, TypeInfo as _, ValueRef as _};
use uuid::Uuid;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// The type of a column in its own database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Real,
    Text,
    Bytes,
    Bool,
    Uuid,
}

impl Kind {
    /// The kind of a column, from the type name of either database.
    pub(super) fn parse(declared: &str) -> Option<Self> {
        match declared.to_ascii_lowercase().as_str() {
            "integer" | "bigint" | "smallint" | "int" => Some(Self::Int),
            "real" | "double precision" => Some(Self::Real),
            "text" => Some(Self::Text),
            "blob" | "bytea" => Some(Self::Bytes),
            "boolean" => Some(Self::Bool),
            "uuid" => Some(Self::Uuid),
            _ => None,
        }
    }
}

impl Value {
    /// The bytes that are hashed: different for any two values.
    pub(super) fn canonical(&self, into: &mut Vec<u8>) {
        let (tag, bytes): (u8, &[u8]) = match self {
            Self::Null => (0, &[]),
            Self::Int(number) => (1, &number.to_be_bytes()),
            Self::Real(number) => (2, &number.to_bits().to_be_bytes()),
            Self::Text(text) => (3, text.as_bytes()),
            Self::Bytes(bytes) => (4, bytes),
        };
        into.push(tag);
        into.extend_from_slice(&u64::try_from(bytes.len()).unwrap_or(0).to_be_bytes());
        into.extend_from_slice(bytes);
    }

    pub(super) fn of_sqlite(row: &SqliteRow, at: usize) -> sqlx::Result<Self> {
        let raw = row.try_get_raw(at)?;
        if raw.is_null() {
            return Ok(Self::Null);
        }
        match raw.type_info().name() {
            "INTEGER" | "BOOLEAN" => row.try_get_unchecked(at).map(Self::Int),
            "REAL" => row.try_get_unchecked(at).map(Self::Real),
            "BLOB" => row.try_get_unchecked(at).map(Self::Bytes),
            _ => row.try_get_unchecked(at).map(Self::Text),
        }
    }

    pub(super) fn of_postgres(row: &PgRow, at: usize, kind: Kind) -> sqlx::Result<Self> {
        Ok(match kind {
            Kind::Int => row.try_get::<Option<i64>, _>(at)?.map(Self::Int),
            Kind::Real => row.try_get::<Option<f64>, _>(at)?.map(Self::Real),
            Kind::Text => row.try_get::<Option<String>, _>(at)?.map(Self::Text),
            Kind::Bytes => row.try_get::<Option<Vec<u8>>, _>(at)?.map(Self::Bytes),
            Kind::Bool => row.try_get::<Option<bool>, _>(at)?.map(|flag| Self::Int(flag.into())),
            Kind::Uuid => {
                row.try_get::<Option<Uuid>, _>(at)?.map(|id| Self::Bytes(id.as_bytes().to_vec()))
            }
        }
        .unwrap_or(Self::Null))
    }

    pub(super) fn bind_sqlite(
        self,
        query: Query<'_, Sqlite, SqliteArguments>,
    ) -> Query<'_, Sqlite, SqliteArguments> {
        match self {
            Self::Null => query.bind(None::<i64>),
            Self::Int(number) => query.bind(number),
            Self::Real(number) => query.bind(number),
            Self::Text(text) => query.bind(text),
            Self::Bytes(bytes) => query.bind(bytes),
        }
    }

    pub(super) fn bind_postgres(
        self,
        query: Query<'_, Postgres, PgArguments>,
        kind: Kind,
    ) -> Query<'_, Postgres, PgArguments> {
        match kind {
            Kind::Int => query.bind(self.int()),
            Kind::Real => query.bind(match self {
                Self::Real(number) => Some(number),
                _ => None,
            }),
            Kind::Text => query.bind(match self {
                Self::Text(text) => Some(text),
                _ => None,
            }),
            Kind::Bytes => query.bind(self.bytes()),
            Kind::Bool => query.bind(self.int().map(|number| number != 0)),
            Kind::Uuid => query.bind(self.bytes().and_then(|bytes| Uuid::from_slice(&bytes).ok())),
        }
    }

    fn int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    fn bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_values_have_different_checksums() {
        let values = [
            Value::Null,
            Value::Int(0),
            Value::Int(1),
            Value::Real(0.0),
            Value::Text(String::new()),
            Value::Text("1".into()),
            Value::Bytes(Vec::new()),
            Value::Bytes(b"1".to_vec()),
        ];
        let canonical = |value: &Value| {
            let mut bytes = Vec::new();
            value.canonical(&mut bytes);
            bytes
        };
        for (at, one) in values.iter().enumerate() {
            assert!(values.iter().skip(at + 1).all(|other| canonical(one) != canonical(other)));
        }
    }
}
