//! Restarts: past notifications are not repeated, changes during downtime are notified
//! once, and outages that began and ended during downtime are not notified.

use serde_json::json;
use std::time::Duration;
use wakeful_core::time::Millis;
use wakeful_testkit::{DatabaseKind, HttpsServer, Receiver, User, both_databases, until};

use crate::process::{Installation, Server};

/// After this many checks no further event is expected.
const SETTLING_CHECKS: usize = 3;

/// A service that checks a target every second and notifies a receiver.
struct Scenario {
    installation: Installation,
    server: Server,
    target: Receiver,
    receiver: Receiver,
}

impl Scenario {
    async fn with_target_up(kind: DatabaseKind) -> Self {
        let installation = Installation::new(kind).await.without_limits();
        let server = installation.serve().await;
        let (target, receiver) = (Receiver::start().await, Receiver::start().await);
        let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
        let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let made = ann.client.post("notifier/save", &body).await.json();
        let body = json!({"name": "site", "type": "http", "heartbeat_interval": 1, "retries": 0,
            "isactive": true, "upside_down_mode": false, "notifiers": made["notifierid"],
            "http": {"url": target.url, "accepted_status_codes": "200-299"}});
        ann.client.post("monitor/save", &body).await.ok();
        let scene = Self { installation, server, target, receiver };
        scene.wait_for_checks().await;
        scene
    }

    /// The same, after an outage has been notified.
    async fn with_target_down(kind: DatabaseKind) -> Self {
        let scene = Self::with_target_up(kind).await;
        scene.target.answer_with(503, "", "");
        scene.receiver.wait_for_hooks(1).await;
        scene.wait_for_checks().await;
        scene
    }

    /// Waits for a few more checks of the target, and the events they may cause.
    async fn wait_for_checks(&self) {
        self.target.wait_for_hooks(self.target.count() + SETTLING_CHECKS).await;
    }

    /// kill -9, then `happens`, then a new start and a few checks.
    async fn killed_during(mut self, happens: impl FnOnce(&Receiver)) -> Self {
        self.server.kill().await;
        happens(&self.target);
        self.server = self.installation.serve().await;
        self.wait_for_checks().await;
        self
    }

    fn notified_kinds(&self) -> Vec<String> {
        let hooks = self.receiver.hooks();
        hooks.iter().map(|hook| hook.json()["type"].as_str().unwrap().to_owned()).collect()
    }
}

both_databases! {
    async fn a_notified_outage_is_not_notified_again_after_a_restart(setup: Setup) {
        let scene = Scenario::with_target_down(setup.database_kind).await.killed_during(|_| ()).await;
        assert_eq!(scene.notified_kinds(), ["monitor.down"]);
    }

    async fn recovery_after_a_restart_is_notified_once(setup: Setup) {
        let scene = Scenario::with_target_down(setup.database_kind).await.killed_during(|_| ()).await;
        scene.target.answer_with(200, "", "");
        scene.receiver.wait_for_hooks(2).await;
        scene.wait_for_checks().await;
        assert_eq!(scene.notified_kinds(), ["monitor.down", "monitor.up"]);
    }

    async fn a_target_that_failed_while_the_service_was_down_is_notified_once(setup: Setup) {
        let scene = Scenario::with_target_up(setup.database_kind).await;
        let scene = scene.killed_during(|target| target.answer_with(503, "", "")).await;
        scene.receiver.wait_for_hooks(1).await;
        scene.wait_for_checks().await;
        assert_eq!(scene.notified_kinds(), ["monitor.down"]);
    }

    async fn an_expiring_certificate_is_notified_once_and_not_again_after_a_restart(setup: Setup) {
        const TEN_DAYS: Duration = Duration::from_secs(10 * 86_400 + 3_600);
        let installation = Installation::new(setup.database_kind).await.without_limits();
        let server = installation.serve().await;
        let receiver = Receiver::start().await;
        let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
        let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let made = ann.client.post("notifier/save", &body).await.json();
        let now = Millis::parse(made["created"].as_str().unwrap()).unwrap();
        let site = HttpsServer::until("127.0.0.1", now.after(TEN_DAYS)).await;
        let body = json!({"name": "site", "type": "http", "heartbeat_interval": 1,
            "isactive": true, "upside_down_mode": false, "notifiers": made["notifierid"],
            "http": {"url": site.url, "ignore_tls_error": true,
                "certificate_expiry_notification": true}});
        let made = ann.client.post("monitor/save", &body).await.ok();
        let id = made["monitor"]["monitorid"].as_str().unwrap();
        // Before the event is recorded, a restart would notify again.
        until("the event to be recorded", || async {
            let json = ann.client.get("alerts").await.ok();
            (json["alerts"][0]["deliveries"][0]["state"] == "delivered").then_some(())
        }).await;
        server.kill().await;

        let server = installation.serve().await;
        let client = server.anonymous().with_token(&ann.token);
        let checks = async || {
            let json = client.get(&format!("monitor/{id}/heartbeats?limit=1000")).await.ok();
            json["heartbeats"].as_array().unwrap().len()
        };
        let before = checks().await;
        until("more checks", || async { (checks().await >= before + SETTLING_CHECKS).then_some(()) }).await;
        let hooks = receiver.hooks();
        assert_eq!(hooks.len(), 1);
        let event = hooks[0].json();
        assert_eq!(event["type"], "monitor.certificate_expiring");
        assert!(event["text"].as_str().unwrap().contains("expires in 10 days"), "{event}");
    }

    async fn an_outage_entirely_during_downtime_is_not_notified(setup: Setup) {
        let scene = Scenario::with_target_up(setup.database_kind).await;
        let scene = scene
            .killed_during(|target| {
                target.answer_with(503, "", "");
                target.answer_with(200, "", "");
            })
            .await;
        assert_eq!(scene.notified_kinds(), [""; 0]);
    }
}
