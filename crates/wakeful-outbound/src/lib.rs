//! The only crate that opens connections to third parties: the egress guard,
//! name resolution, TCP, TLS and HTTP are in `net`; one file per check type is
//! in `checks`, one per notification channel in `notify`, one per payment
//! processor in `payment`; emails are in `mail`, the connection to a mail
//! server in `smtp`. `fair_queue` shares what is scarce among teams or clients.

pub mod checks;
pub mod fair_queue;
pub mod mail;
pub mod net;
pub mod notify;
pub mod payment;
mod smtp;
