//! A monitor: what is watched, how often, and who is told.

pub mod dns;
pub mod headers;
pub mod hostname;
pub mod http;
pub mod spec;
pub mod status_codes;
pub mod url;

/// Stores a type as its text and reads it back through its own `parse`, so that
/// nothing enters by deserialising that could not enter by the front door.
macro_rules! stored_as_text {
    ($($name:ty),+ $(,)?) => {$(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(from)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    )+};
}
pub(crate) use stored_as_text;
