//! A running service with a user and one notifier, for tests of delivery.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::notifications::notifier::Kind;
use wakeful_core::time::Millis;
use wakeful_testkit::fakes::FakeService;
use wakeful_testkit::{App, Client, Receiver, Setup, SmtpSecurity, SmtpServer, User, until};

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

pub(crate) struct DeliveryFixture<R> {
    pub(crate) app: App,
    pub(crate) ann: User,
    /// What the notifier sends to.
    pub(crate) receiver: R,
    pub(crate) notifier: Value,
}

impl DeliveryFixture<Receiver> {
    pub(crate) async fn webhook(setup: Setup) -> Self {
        let (app, ann) = start(setup).await;
        let receiver = Receiver::start().await;
        let notifier = hook(&ann, &receiver).await;
        Self { app, ann, receiver, notifier }
    }
}

impl DeliveryFixture<SmtpServer> {
    pub(crate) async fn email(setup: Setup) -> Self {
        Self::email_to(setup, "oncall@example.com").await
    }

    pub(crate) async fn email_to(setup: Setup, recipients: &str) -> Self {
        let (app, ann) = start(setup).await;
        let receiver = SmtpServer::start(SmtpSecurity::Plain).await;
        let notifier = mail_to(&ann, &receiver, recipients).await;
        Self { app, ann, receiver, notifier }
    }
}

impl DeliveryFixture<FakeService> {
    /// With a notifier that sends to a service, and has these settings.
    pub(crate) async fn service(setup: Setup, kind: Kind, settings: &Value) -> Self {
        let (app, ann) = start(setup).await;
        let receiver = FakeService::start(kind).await;
        let mut body = receiver.notifier("chat");
        for (name, value) in settings.as_object().expect("an object") {
            body[name] = value.clone();
        }
        let notifier = ann.client.post("notifier/save", &body).await.json();
        Self { app, ann, receiver, notifier }
    }
}

impl<R> DeliveryFixture<R> {
    /// A monitor with the notifier, that goes down and up by reports.
    pub(crate) async fn monitor(&self, name: &str) -> String {
        job(&self.ann.client, name, &self.notifier).await
    }

    pub(crate) async fn report(&self, monitor: &str, status: &str) {
        report(&self.ann.client, monitor, status).await;
    }

    /// The deliveries of the notifier, newest first.
    pub(crate) async fn deliveries(&self) -> Vec<Value> {
        deliveries(&self.ann.client, &self.notifier).await
    }

    /// The deliveries, once all of them have this state.
    pub(crate) async fn all_are(&self, state: &str) -> Vec<Value> {
        all_are(&self.ann.client, &self.notifier, state).await
    }

    /// The deliveries, once the oldest has failed this many times and waits again.
    pub(crate) async fn tried(&self, attempts: i64) -> Vec<Value> {
        until(&format!("attempt {attempts}"), || async {
            let all = self.deliveries().await;
            let failed = all.last().is_some_and(|oldest| self.waits_after(oldest, attempts));
            failed.then_some(all)
        })
        .await
    }

    /// Whether a delivery has failed this many times and waits for its next attempt.
    pub(crate) fn waits_after(&self, delivery: &Value, attempts: i64) -> bool {
        let now = self.app.engine.now().to_string();
        let ahead = delivery["next_try"].as_str().is_some_and(|next| next > now.as_str());
        delivery["attempts"] == attempts && ahead
    }

    /// Moves the clock to the next attempt of a delivery.
    pub(crate) fn advance_to_next_try(&self, delivery: &Value) {
        let next = delivery["next_try"].as_str().and_then(Millis::parse);
        self.advance(next.expect("it waits").since(self.app.engine.now()));
    }

    pub(crate) fn advance(&self, span: Duration) {
        self.app.clock.advance(span);
    }

    pub(crate) async fn notifier_is_on(&self) -> bool {
        let json = self.ann.client.get("notifiers").await.ok();
        json["notifiers"][0]["isactive"] == true
    }

    pub(crate) fn notifier_id(&self) -> &str {
        self.notifier["notifierid"].as_str().expect("an id")
    }
}

async fn start(setup: Setup) -> (App, User) {
    let app = setup.start().await;
    let ann = app.sign_up("ann@example.com").await;
    (app, ann)
}

pub(crate) async fn hook(user: &User, receiver: &Receiver) -> Value {
    let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
    user.client.post("notifier/save", &body).await.json()
}

pub(crate) async fn mail(user: &User, inbox: &SmtpServer) -> Value {
    mail_to(user, inbox, "oncall@example.com").await
}

async fn mail_to(user: &User, inbox: &SmtpServer, to: &str) -> Value {
    let body = json!({"name": "mail", "type": "email", "email": {"hostname": "127.0.0.1",
        "port": inbox.port, "security": "none", "from_email": "Wakeful <wakeful@example.com>",
        "to_email": to}});
    user.client.post("notifier/save", &body).await.json()
}

pub(crate) async fn job(client: &Client, name: &str, notifier: &Value) -> String {
    let body = json!({"name": name, "type": "api", "heartbeat_interval": 2_592_000,
        "isactive": true, "upside_down_mode": false, "notifiers": notifier["notifierid"]});
    let json = client.post("monitor/save", &body).await.ok();
    json["monitor"]["monitorid"].as_str().expect("an id").to_owned()
}

pub(crate) async fn report(client: &Client, monitor: &str, status: &str) {
    client.post(&format!("monitor/notify/{monitor}"), &json!({"status": status})).await.ok();
}

pub(crate) async fn deliveries(client: &Client, notifier: &Value) -> Vec<Value> {
    let id = notifier["notifierid"].as_str().expect("an id");
    let json = client.get(&format!("notifier/{id}/deliveries")).await.ok();
    json["deliveries"].as_array().expect("a list").clone()
}

/// The deliveries of a notifier, once all of them have this state.
pub(crate) async fn all_are(client: &Client, notifier: &Value, state: &str) -> Vec<Value> {
    until(&format!("all to be {state}"), || async {
        let all = deliveries(client, notifier).await;
        (!all.is_empty() && all.iter().all(|one| one["state"] == state)).then_some(all)
    })
    .await
}
