//! Times and durations as plain integers, for data that is stored or sent
//! between nodes: smaller than text, exact, and the same in every serde format.

/// A point in time as milliseconds since 1970.
pub(crate) mod instant {
    use crate::time::Millis;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(at: &Millis, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i64(at.0)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Millis, D::Error> {
        i64::deserialize(from).map(Millis)
    }
}

/// An optional duration in microseconds.
pub(crate) mod micros {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::time::Duration;

    pub(crate) fn serialize<S: Serializer>(
        span: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        span.map(|span| u64::try_from(span.as_micros()).unwrap_or(u64::MAX)).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.map(Duration::from_micros))
    }
}

/// An optional point in time as milliseconds since 1970.
pub(crate) mod maybe_instant {
    use crate::time::Millis;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(at: &Option<Millis>, to: S) -> Result<S::Ok, S::Error> {
        at.map(|at| at.0).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Millis>, D::Error> {
        Ok(Option::<i64>::deserialize(from)?.map(Millis))
    }
}
