//! The only room that opens connections to strangers: the egress guard,
//! resolving, dialling, TLS and HTTP in `net`; one file per check in `check`,
//! one per way of telling people in `notify`, one per processor in `payment`;
//! letters in `mail`, the connection to a mail server in `smtp`.

pub mod check;
pub mod mail;
pub mod net;
pub mod notify;
pub mod payment;
mod smtp;
