//! The only room that opens connections to strangers.

pub mod mail;
