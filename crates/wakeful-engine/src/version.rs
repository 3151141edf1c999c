//! The version that a node or probe announces to the others. In debug builds,
//! `WAKEFUL_TEST_VERSION` replaces it, so that tests can run nodes of several versions.

#[cfg(debug_assertions)]
pub(crate) fn announced() -> String {
    std::env::var("WAKEFUL_TEST_VERSION").unwrap_or_else(|_| env!("CARGO_PKG_VERSION").to_owned())
}

#[cfg(not(debug_assertions))]
pub(crate) fn announced() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
