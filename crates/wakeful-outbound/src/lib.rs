//! The only room that opens connections to strangers: the egress guard,
//! resolving, dialling, TLS and HTTP in `net`; one file per check in `check`;
//! letters in `mail`; one file per processor in `payment`.

pub mod check;
pub mod mail;
pub mod net;
pub mod payment;
