//! Types that are stored and sent as text.

use serde::de::{Error, Visitor};
use std::fmt;

use crate::Invalid;

/// Serializes a type as its text and deserializes it through its own `parse`,
/// so that deserializing accepts nothing that `parse` rejects.
macro_rules! stored_as_text {
    ($($name:ty),+ $(,)?) => {$(
        crate::stored_as_text::stored_as_text!($name => Self::parse);
    )+};
    // With a separate function for values that are already stored.
    ($name:ty => $read:path) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_str(crate::stored_as_text::TextVisitor($read))
            }
        }
    };
}

pub(crate) use stored_as_text;

/// Parses a text where it is, without a copy.
pub(crate) struct TextVisitor<T>(pub(crate) fn(&str) -> Result<T, Invalid>);

impl<T> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<D: Error>(self, text: &str) -> Result<T, D> {
        (self.0)(text).map_err(D::custom)
    }
}
