//! Tests of the real binary as a process. It is killed, traced, stopped by signals, and
//! called over real connections.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

mod alerts;
mod audit;
mod backup;
mod cards;
mod cli;
mod cluster;
mod compaction;
mod crashes;
mod demo;
mod deployments;
mod durability;
mod fault_injection;
mod keys;
mod mail;
mod maintenance;
mod mfa;
mod migrations;
mod network;
mod notifier_mail;
mod openapi;
mod packaging;
mod panics;
mod payments;
mod probes;
mod process;
mod readme;
mod redaction;
mod restarts;
mod run;
mod schedules;
mod secrets;
mod shutdown;
mod smtp;
mod subscribers;
mod transfer;
mod upgrades;
mod users;
mod verdicts;
mod vocabulary;
mod web_app;
