//! Ids in paths. A malformed id gets the same response as an id that does not exist.

use crate::error::ApiError;

/// The id in a path segment, or 404.
pub(crate) fn parse<T>(
    text: &str,
    what: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, ApiError> {
    parse(text).ok_or_else(|| ApiError::not_found(what))
}
