//! Live updates about the team's monitors, for as long as the credentials are valid.

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use std::convert::Infallible;
use std::time::Instant;
use tokio::time::{Interval, MissedTickBehavior};
use wakeful_core::access::{Permission, TeamAccess, permission};
use wakeful_core::client_network::ClientNetwork;
use wakeful_engine::{Authorized, LiveEvents};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::caller::{Credentials, needs};
use crate::client_ip::ClientIp;
use crate::dto;
use crate::error::{ApiError, ErrorBody};
use crate::event_streams::{CHECK_INTERVAL, EventStream, Holder};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new().routes(needs(Permission::View, routes!(stream_events)))
}

/// A stream of server-sent events: `heartbeat`, `alert`, `saved`, `deleted`, `maintenance` (a
/// window was changed, has begun or has ended), and `missed` if events were lost and the list
/// should be loaded again.
#[utoipa::path(get, path = "/api/v1/events", tag = "Monitors",
    params(("team" = Option<String>, Query,
        description = "One of the caller's teams, in place of the header `X-Wakeful-Team`")),
    responses(
        (status = 200, description = "The stream", content_type = "text/event-stream", body = String),
        (status = 404, description = "The caller is not in such a team", body = ErrorBody)))]
async fn stream_events(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    credentials: Credentials,
    ClientIp(client): ClientIp,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let stream = api.event_streams().open(ClientNetwork::of(client), Holder::of(&caller));
    let stream = stream.ok_or_else(|| {
        ApiError::unavailable("Too many event streams are open; close some and try again.")
    })?;
    let mut recheck = tokio::time::interval(CHECK_INTERVAL);
    recheck.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let events = api.engine().subscribe(&caller).await?;
    let access = *caller.team_access();
    let live = Live { api, credentials, access, events, recheck, stream };
    let events = futures_util::stream::unfold(live, |mut live| async {
        live.next().await.map(|event| (Ok(event), live))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

struct Live {
    api: Api,
    credentials: Credentials,
    access: TeamAccess,
    events: LiveEvents,
    recheck: Interval,
    stream: EventStream,
}

impl Live {
    /// The next event; `None` when the credentials can no longer be verified, or on shutdown.
    async fn next(&mut self) -> Option<Event> {
        let shutdown = self.api.shutdown().clone();
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return None,
                _ = self.recheck.tick() => {
                    let found = self.credentials.caller(self.api.engine());
                    let access = self.access;
                    if !self.stream.is_valid(Instant::now(), async {
                        found.await.is_ok_and(|caller| {
                            caller.may(Permission::View) && *caller.team_access() == access
                        })
                    }).await {
                        return None;
                    }
                }
                event = self.events.next() => return event.map(|event| dto::events::event(&event)),
            }
        }
    }
}
