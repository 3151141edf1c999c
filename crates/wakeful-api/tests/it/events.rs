//! events: the stream of what happens to the team's monitors.

use reqwest::Response;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;
use wakeful_testkit::{App, User, both_engines};

const PATIENCE: Duration = Duration::from_secs(20);

/// A page that listens.
struct Stream {
    response: Response,
    text: String,
}

impl Stream {
    async fn open(app: &App, user: &User) -> Self {
        let address = format!("{}/api/v1/events", app.url);
        let request = reqwest::Client::new().get(address).bearer_auth(&user.token);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    /// The next event and what it says; nothing when the stream has ended.
    async fn next(&mut self) -> Option<(String, Value)> {
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
                    // A comment, so that nobody hangs up.
                    None => continue,
                }
            }
            let piece = timeout(PATIENCE, self.response.chunk()).await.expect("in time");
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

both_engines! {
    async fn events_need_credentials(setup: Setup) {
        let app = setup.start().await;
        app.anonymous().get("events").await.refused(401, "not_authenticated");
    }

    async fn a_team_hears_of_its_own_monitors_only(setup: Setup) {
        let app = setup.start().await;
        let (ann, eve) = (app.sign_up("ann@example.com").await, app.sign_up("eve@example.com").await);
        let (mut anns, mut eves) = (Stream::open(&app, &ann).await, Stream::open(&app, &eve).await);
        let made = job(&ann).await;
        let (kind, said) = anns.next().await.unwrap();
        assert_eq!((kind.as_str(), &said["monitorid"]), ("saved", &json!(made)));
        ann.client.post(&format!("monitor/notify/{made}"), &json!({"status": "up"})).await.ok();
        let (kind, said) = anns.next().await.unwrap();
        assert_eq!((kind.as_str(), &said["monitorid"]), ("heartbeat", &json!(made)));
        ann.client.delete(&format!("monitor/{made}/delete")).await.ok();
        let (kind, said) = anns.next().await.unwrap();
        assert_eq!((kind.as_str(), &said["monitorid"]), ("deleted", &json!(made)));
        // What Eve hears first is her own, though Ann's came before it.
        let hers = job(&eve).await;
        let (_, said) = eves.next().await.unwrap();
        assert_eq!(said["monitorid"], json!(hers));
    }

    async fn the_stream_ends_with_the_token(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let mut stream = Stream::open(&app, &ann).await;
        ann.client.post_nothing("logout").await.ok();
        assert_eq!(stream.next().await, None);
    }
}
