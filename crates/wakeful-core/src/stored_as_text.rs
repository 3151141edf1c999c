//! Types that are stored and sent as text.

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
                let text = <String as serde::Deserialize>::deserialize(from)?;
                $read(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use stored_as_text;
