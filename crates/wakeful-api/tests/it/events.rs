//! events: the stream of events of the team's monitors.

use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;
use wakeful_testkit::{App, User, both_databases};

const EVENT_TIMEOUT: Duration = Duration::from_secs(20);

/// A client of the stream.
pub(crate) struct Stream {
    response: Response,
    text: String,
}

impl Stream {
    pub(crate) async fn open(app: &App, user: &User) -> Self {
        Self::send(app, |request| request.bearer_auth(&user.token)).await
    }

    /// With other credentials.
    pub(crate) async fn send(
        app: &App,
        sign: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Self {
        Self::send_to(app, "events", sign).await
    }

    /// With a query.
    pub(crate) async fn send_to(
        app: &App,
        path: &str,
        sign: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Self {
        let address = format!("{}/api/v1/{path}", app.url);
        let request = sign(reqwest::Client::new().get(address));
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    /// Panics if the stream is still open after a second, or if an event arrives.
    /// `api/event_streams.rs` leaves a quarter of it for the lookup of the credentials.
    pub(crate) async fn ends_within_a_second(&mut self) {
        let ended = timeout(Duration::from_secs(1), self.next()).await;
        assert_eq!(ended, Ok(None));
    }

    /// The name and data of the next event; none once the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                let found = field("event: ").map(|kind| {
                    let data = field("data: ").unwrap_or("null");
                    (kind.to_owned(), serde_json::from_str(data).unwrap())
                });
                self.text = rest.to_owned();
                match found {
                    Some(found) => return Some(found),
                    // A keep-alive comment.
                    None => continue,
                }
            }
            let piece = timeout(EVENT_TIMEOUT, self.response.chunk()).await.expect("in time");
            self.text += std::str::from_utf8(&piece.unwrap()?).unwrap();
        }
    }
}

async fn job(user: &User) -> String {
    let body = json!({"type": "api", "name": "job", "heartbeat_interval": 60, "isactive": true,
        "upside_down_mode": false});
    let saved = user.client.post("monitor/save", &body).await.ok();
    saved["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

both_databases! {
    async fn events_need_credentials(setup: Setup) {
        let app = setup.start().await;
        app.anonymous().get("events").await.refused(401, "not_authenticated");
    }

    async fn a_team_receives_events_of_its_own_monitors_only(setup: Setup) {
        let app = setup.start().await;
        let (ann, eve) = (app.sign_up("ann@example.com").await, app.sign_up("eve@example.com").await);
        let (mut anns, mut eves) = (Stream::open(&app, &ann).await, Stream::open(&app, &eve).await);
        let made = job(&ann).await;
        let (kind, data) = anns.next().await.unwrap();
        assert_eq!((kind.as_str(), &data["monitorid"]), ("saved", &json!(made)));
        ann.client.post(&format!("monitor/notify/{made}"), &json!({"status": "up"})).await.ok();
        let (kind, data) = anns.next().await.unwrap();
        assert_eq!((kind.as_str(), &data["monitorid"]), ("heartbeat", &json!(made)));
        ann.client.delete(&format!("monitor/{made}/delete")).await.ok();
        let (kind, data) = anns.next().await.unwrap();
        assert_eq!((kind.as_str(), &data["monitorid"]), ("deleted", &json!(made)));
        // Eve's first event is about her own monitor, although Ann's came before it.
        let hers = job(&eve).await;
        let (_, data) = eves.next().await.unwrap();
        assert_eq!(data["monitorid"], json!(hers));
    }

    async fn a_bulk_operation_sends_an_event_for_each_monitor_it_affects(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let made = [job(&ann).await, job(&ann).await, job(&ann).await];
        ann.client.post("monitors/change", &json!({"ids": [made[0]], "retries": 5})).await.ok();
        let mut stream = Stream::open(&app, &ann).await;
        let everything = json!({"filter": {"all": true}, "retries": 5});
        let mut dry = everything.clone();
        dry["dry_run"] = json!(true);
        ann.client.post("monitors/change", &dry).await.ok();
        ann.client.post("monitors/change", &everything).await.ok();
        ann.client.post("monitors/delete", &json!({"ids": [made[0]]})).await.ok();
        let mut events = Vec::new();
        for _ in 0..3 {
            let (kind, data) = stream.next().await.unwrap();
            events.push((kind, data["monitorid"].as_str().unwrap().to_owned()));
        }
        events[..2].sort();
        let mut saved = [("saved".to_owned(), made[1].clone()), ("saved".to_owned(), made[2].clone())];
        saved.sort();
        assert_eq!(events[..2], saved);
        assert_eq!(events[2], ("deleted".to_owned(), made[0].clone()));
    }

    async fn the_stream_ends_with_the_token(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let mut stream = Stream::open(&app, &ann).await;
        ann.client.post_nothing("logout").await.ok();
        assert_eq!(stream.next().await, None);
    }
}
