//! The handlers, one file per resource. Each authenticates the caller, reads the request,
//! calls the engine and writes the response. Each file lists its routes in `public` or
//! `protected`; the lists here are of files.

mod accounts;
mod action_links;
mod admin;
mod alerts;
mod api_keys;
mod audit;
mod calendar;
mod contact;
mod contacts;
mod email_verification;
mod events;
mod export;
pub(crate) mod hc;
mod history;
mod incidents;
mod invitations;
mod maintenances;
mod membership;
mod mfa;
mod monitor_lists;
mod monitors;
mod monitors_bulk;
mod notifiers;
mod passwords;
mod payment_callback;
mod payment_methods;
pub(crate) mod ping;
mod pings;
mod policies;
mod push;
mod reauthentication;
mod regions;
mod report;
mod routing;
mod schedules;
mod services;
mod sessions;
mod stats;
mod statuspages;
mod subscribers;
mod team;
mod teams;
mod webpush;

use crate::api_router::ApiRouter;

/// Routes that need no user credentials.
pub(crate) fn public() -> ApiRouter {
    ApiRouter::new()
        .merge(sessions::public())
        .merge(accounts::public())
        .merge(passwords::public())
        .merge(email_verification::public())
        .merge(invitations::public())
        .merge(contact::public())
        .merge(push::public())
        .merge(action_links::public())
        .merge(calendar::public())
        .merge(payment_callback::public())
}

/// Routes that respond with 401 without valid credentials, and with 403 without the permission
/// that each of them needs.
pub(crate) fn protected() -> ApiRouter {
    ApiRouter::new()
        .merge(sessions::protected())
        .merge(accounts::protected())
        .merge(export::protected())
        .merge(email_verification::protected())
        .merge(team::protected())
        .merge(teams::protected())
        .merge(invitations::protected())
        .merge(services::protected())
        .merge(api_keys::protected())
        .merge(audit::protected())
        .merge(admin::protected())
        .merge(mfa::protected())
        .merge(reauthentication::protected())
        .merge(monitor_lists::protected())
        .merge(monitors_bulk::protected())
        .merge(monitors::protected())
        .merge(pings::protected())
        .merge(notifiers::protected())
        .merge(maintenances::protected())
        .merge(policies::protected())
        .merge(schedules::protected())
        .merge(contacts::protected())
        .merge(webpush::protected())
        .merge(routing::protected())
        .merge(statuspages::protected())
        .merge(incidents::protected())
        .merge(subscribers::protected())
        .merge(regions::protected())
        .merge(history::protected())
        .merge(alerts::protected())
        .merge(stats::protected())
        .merge(report::protected())
        .merge(events::protected())
        .merge(membership::protected())
        .merge(payment_methods::protected())
}
