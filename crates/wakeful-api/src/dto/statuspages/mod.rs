//! Status pages as they are saved and returned.

pub(crate) mod request;
pub(crate) mod response;
