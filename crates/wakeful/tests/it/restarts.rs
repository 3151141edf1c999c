//! A restart in the middle of things: what was told is not told again, what
//! happened meanwhile is told once, and what came and went is not told at all.

use serde_json::json;
use std::time::Duration;
use wakeful_core::time::Millis;
use wakeful_testkit::{Engine, Receiver, Site, User, both_engines, until};

use crate::home::{Home, Server};

/// As many looks prove that no news follows.
const LOOKS: usize = 3;

/// A service that watches a target each second and tells a receiver.
struct Scene {
    home: Home,
    server: Server,
    target: Receiver,
    receiver: Receiver,
}

impl Scene {
    async fn with_target_up(engine: Engine) -> Self {
        let home = Home::new(engine).await.without_limits();
        let server = home.serve().await;
        let (target, receiver) = (Receiver::start().await, Receiver::start().await);
        let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
        let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let made = ann.client.post("notifier/save", &body).await.json();
        let body = json!({"name": "site", "type": "http", "heartbeat_interval": 1, "retries": 0,
            "isactive": true, "upside_down_mode": false, "notifiers": made["notifierid"],
            "http": {"url": target.url, "accepted_status_codes": "200-299"}});
        ann.client.post("monitor/save", &body).await.ok();
        let scene = Self { home, server, target, receiver };
        scene.looked().await;
        scene
    }

    /// The same, when an outage was told already.
    async fn with_target_down(engine: Engine) -> Self {
        let scene = Self::with_target_up(engine).await;
        scene.target.answers(503, "", "");
        scene.receiver.received(1).await;
        scene.looked().await;
        scene
    }

    /// Waits for a few more looks at the target, and what they may bring.
    async fn looked(&self) {
        self.target.received(self.target.count() + LOOKS).await;
    }

    /// kill -9, then something happens, then a new start and a few looks.
    async fn killed_while(mut self, happens: impl FnOnce(&Receiver)) -> Self {
        self.server.kill().await;
        happens(&self.target);
        self.server = self.home.serve().await;
        self.looked().await;
        self
    }

    fn told(&self) -> Vec<String> {
        let hooks = self.receiver.hooks();
        hooks.iter().map(|hook| hook.json()["type"].as_str().unwrap().to_owned()).collect()
    }
}

both_engines! {
    async fn an_outage_that_was_told_is_not_told_again_after_a_restart(setup: Setup) {
        let scene = Scene::with_target_down(setup.engine).await.killed_while(|_| ()).await;
        assert_eq!(scene.told(), ["monitor.down"]);
    }

    async fn recovery_after_a_restart_is_told_once(setup: Setup) {
        let scene = Scene::with_target_down(setup.engine).await.killed_while(|_| ()).await;
        scene.target.answers(200, "", "");
        scene.receiver.received(2).await;
        scene.looked().await;
        assert_eq!(scene.told(), ["monitor.down", "monitor.up"]);
    }

    async fn a_target_that_broke_while_nobody_looked_is_told_once(setup: Setup) {
        let scene = Scene::with_target_up(setup.engine).await;
        let scene = scene.killed_while(|target| target.answers(503, "", "")).await;
        scene.receiver.received(1).await;
        scene.looked().await;
        assert_eq!(scene.told(), ["monitor.down"]);
    }

    async fn a_certificate_that_runs_out_is_told_once_and_not_again_after_a_restart(setup: Setup) {
        const TEN_DAYS: Duration = Duration::from_secs(10 * 86_400 + 3_600);
        let home = Home::new(setup.engine).await.without_limits();
        let server = home.serve().await;
        let receiver = Receiver::start().await;
        let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
        let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let made = ann.client.post("notifier/save", &body).await.json();
        let now = Millis::parse(made["created"].as_str().unwrap()).unwrap();
        let site = Site::until("127.0.0.1", now.after(TEN_DAYS)).await;
        let body = json!({"name": "site", "type": "http", "heartbeat_interval": 1,
            "isactive": true, "upside_down_mode": false, "notifiers": made["notifierid"],
            "http": {"url": site.url, "ignore_tls_error": true,
                "certificate_expiry_notification": true}});
        let made = ann.client.post("monitor/save", &body).await.ok();
        let id = made["monitor"]["monitorid"].as_str().unwrap();
        // Before that is written down, a restart would tell it once more.
        until("the news to be on record", || async {
            let json = ann.client.get("alerts").await.ok();
            (json["alerts"][0]["deliveries"][0]["state"] == "delivered").then_some(())
        }).await;
        server.kill().await;

        let server = home.serve().await;
        let client = server.anonymous().with_token(&ann.token);
        let looks = async || {
            let json = client.get(&format!("monitor/{id}/heartbeats?limit=1000")).await.ok();
            json["heartbeats"].as_array().unwrap().len()
        };
        let before = looks().await;
        until("more looks", || async { (looks().await >= before + LOOKS).then_some(()) }).await;
        let hooks = receiver.hooks();
        assert_eq!(hooks.len(), 1);
        let told = hooks[0].json();
        assert_eq!(told["type"], "monitor.certificate_expiring");
        assert!(told["text"].as_str().unwrap().contains("expires in 10 days"), "{told}");
    }

    async fn an_outage_that_came_and_went_while_nobody_looked_is_not_told(setup: Setup) {
        let scene = Scene::with_target_up(setup.engine).await;
        let scene = scene
            .killed_while(|target| {
                target.answers(503, "", "");
                target.answers(200, "", "");
            })
            .await;
        assert_eq!(scene.told(), [""; 0]);
    }
}
