//! The types of requests and responses. Lenient parsing ends here: the rest of the crate
//! works with validated types.

pub(crate) mod accounts;
mod ack;
pub(crate) mod admin;
pub(crate) mod alertmanager;
pub(crate) mod alerts;
pub(crate) mod api_keys;
pub(crate) mod audit;
pub(crate) mod audit_streams;
pub(crate) mod contact;
pub(crate) mod contacts;
mod csv;
pub(crate) mod email_verification;
pub(crate) mod enums;
pub(crate) mod events;
pub(crate) mod evidence;
pub(crate) mod export;
mod fields;
pub(crate) mod history;
mod hours;
pub(crate) mod incidents;
pub(crate) mod invitations;
pub(crate) mod maintenances;
pub(crate) mod membership;
pub(crate) mod mfa;
mod monitor_filter;
pub(crate) mod monitors;
pub(crate) mod notifiers;
pub(crate) mod passwords;
pub(crate) mod payment_methods;
pub(crate) mod policies;
pub(crate) mod reauthentication;
pub(crate) mod regions;
pub(crate) mod report;
pub(crate) mod report_page;
pub(crate) mod routing;
pub(crate) mod schedules;
pub(crate) mod services;
pub(crate) mod sessions;
pub(crate) mod stats;
pub(crate) mod statuspages;
pub(crate) mod team;
pub(crate) mod teams;
pub(crate) mod webpush;

pub(crate) use ack::Ack;
pub(crate) use fields::{Fields, FromFields};
