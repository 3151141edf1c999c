//! Status pages as they are saved and returned.

pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod rules;
pub(crate) mod sections;
