//! Live updates: what happens to the team's monitors, as it happens, for as
//! long as the credentials are good.

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior};
use wakeful_engine::Subscription;

use crate::app::Api;
use crate::caller::{Caller, Credentials};
use crate::error::ApiError;
use crate::wire;

/// How long a stream may outlive the credentials it was opened with.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A stream of server-sent events: `heartbeat`, `saved`, `deleted`, and
/// `missed` when some were lost and the list should be read again.
#[utoipa::path(get, path = "/api/v1/events", tag = "Monitors",
    responses((status = 200, description = "The stream", content_type = "text/event-stream", body = String)))]
pub(crate) async fn stream(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let mut look = tokio::time::interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let events = api.engine().subscribe(&caller.who);
    let live = Live { api, credentials: caller.credentials, events, look };
    let events = futures_util::stream::unfold(live, |mut live| async {
        live.next().await.map(|event| (Ok(event), live))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

struct Live {
    api: Api,
    credentials: Credentials,
    events: Subscription,
    look: Interval,
}

impl Live {
    /// The next event; nothing once the credentials or the service end.
    async fn next(&mut self) -> Option<Event> {
        let shutdown = self.api.shutdown().clone();
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return None,
                _ = self.look.tick() => {
                    self.credentials.caller(self.api.engine()).await.ok()?;
                }
                event = self.events.next() => return event.map(|event| wire::event(&event)),
            }
        }
    }
}
