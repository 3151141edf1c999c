//! For tests only: a running service on either database, a clock that tests
//! advance, and clients that call it over HTTP.

#![expect(clippy::unwrap_used, reason = "failures in tests should panic")]

mod alerts;
mod app;
mod authenticator;
mod authority;
mod client;
mod clock;
mod concurrently;
mod cuttable_proxy;
mod database;
pub mod fakes;
mod https_server;
mod installed_server;
mod name_server;
mod nats;
mod postgres;
mod raw_http;
mod raw_rows;
mod receiver;
mod signed_zones;
mod smtp_server;
mod stopwatch;
mod visitors;
mod wait;

pub use alerts::process_alerts;
pub use app::{App, Setup, invitation_token, verification_token};
pub use authenticator::Authenticator;
pub use authority::{Authority, Identity};
pub use client::{Answer, Client, Keys, PASSWORD, User};
pub use clock::TestClock;
pub use concurrently::concurrently;
pub use cuttable_proxy::CuttableProxy;
pub use database::{Database, DatabaseKind, system, system_at, whole};
pub use https_server::HttpsServer;
pub use installed_server::InstalledServer;
pub use name_server::{DnsReply, NameServer};
pub use nats::NatsServer;
pub use postgres::PostgresServer;
pub use raw_http::{send_raw, send_raw_in_parts};
pub use raw_rows::{Column, number};
pub use receiver::{Hook, Receiver};
pub use signed_zones::SignedZones;
pub use smtp_server::{ReceivedMail, SmtpSecurity, SmtpServer};
pub use stopwatch::Stopwatch;
pub use visitors::Visitors;
pub use wait::{until, until_within};

/// Runs each test on both databases: `both_databases! { async fn name(setup: Setup) { … } }`
/// becomes the tests `name::sqlite` and `name::postgres`.
#[macro_export]
macro_rules! both_databases {
    ($($(#[$meta:meta])* async fn $name:ident($setup:ident: Setup) $body:block)+) => {$(
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "not every test needs what its file imports")]
            use super::*;

            async fn run($setup: $crate::Setup) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                run($crate::Setup::on($crate::DatabaseKind::Sqlite)).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                run($crate::Setup::on($crate::DatabaseKind::Postgres)).await;
            }
        }
    )+};
}
