//! Ids in paths. A text that is no id answers as an id that does not exist:
//! callers learn nothing from its shape.

use crate::error::ApiError;

/// The id in a path segment, or 404.
pub(crate) fn parse<T>(
    text: &str,
    what: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, ApiError> {
    parse(text).ok_or_else(|| ApiError::not_found(what))
}
