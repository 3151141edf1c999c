//! Enums whose variants have a name in the API and in the database.

/// Declares an enum with the name of each variant. `ALL` and `as_str` are made
/// from the same list, so that neither can miss a variant.
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $text:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$variant_meta])* $variant),+
        }

        impl $name {
            $vis const ALL: &[Self] = &[$(Self::$variant),+];

            $vis fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text),+
                }
            }
        }
    };
}
