//! The real binary, started as a process: what only a process can show. It is
//! killed, traced, stopped by signals, and spoken to over real connections.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

mod alerts;
mod backup;
mod cards;
mod cli;
mod cluster;
mod crashes;
mod durability;
mod folding;
mod home;
mod keys;
mod mail;
mod mfa;
mod migrations;
mod moving;
mod network;
mod notifier_mail;
mod openapi;
mod payments;
mod probes;
mod restarts;
mod secrets;
mod smtp;
mod stop;
mod trouble;
mod users;
