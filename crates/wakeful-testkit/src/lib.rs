//! For tests only: a running service on either database, a clock that is
//! advanced by hand, and small actors that call it over HTTP.

#![expect(clippy::unwrap_used, reason = "a test kit fails loudly")]

mod app;
mod client;
mod clock;
mod database;
mod inbox;
mod look;
mod nats;
mod phone;
mod postgres;
mod receiver;
mod site;
mod talk;
mod together;
mod wait;
mod wire;

pub use app::{App, Setup};
pub use client::{Answer, Client, Keys, PASSWORD, User};
pub use clock::TestClock;
pub use database::{Database, Engine};
pub use inbox::{Inbox, Line, Taken};
pub use look::{Column, number};
pub use nats::NatsServer;
pub use phone::Phone;
pub use postgres::PostgresServer;
pub use receiver::{Hook, Receiver};
pub use site::Site;
pub use talk::talk;
pub use together::together;
pub use wait::until;
pub use wire::Wire;

/// Runs each test on both engines: `both_engines! { async fn name(setup: Setup) { … } }`
/// becomes the tests `name::sqlite` and `name::postgres`.
#[macro_export]
macro_rules! both_engines {
    ($($(#[$meta:meta])* async fn $name:ident($setup:ident: Setup) $body:block)+) => {$(
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "not every test needs what its file imports")]
            use super::*;

            async fn run($setup: $crate::Setup) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                run($crate::Setup::on($crate::Engine::Sqlite)).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                run($crate::Setup::on($crate::Engine::Postgres)).await;
            }
        }
    )+};
}
