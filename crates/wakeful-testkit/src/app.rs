//! The whole service in the test's own process, on a free port, with a clock
//! that the test advances and mail that is written to files.

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wakeful_api::{Api, ApiSettings, Limits, ServeSettings};
use wakeful_core::notifications::notifier::Transport;
use wakeful_core::secret::Secret;
use wakeful_engine::audit::delivery as audit_streams;
use wakeful_engine::statuspages::{fanout, snapshot_builder};
use wakeful_engine::{Engine, Settings, janitor, mail, notifications::delivery, scheduler};
use wakeful_outbound::mail::{MailTransport, Smtp};
use wakeful_outbound::net::Net;
use wakeful_outbound::net::guard::{Guard, Policy};
use wakeful_outbound::net::resolve::NameResolver;
use wakeful_outbound::net::tls::Tls;
use wakeful_store::Store;

use crate::client::{Client, User};
use crate::clock::TestClock;
use crate::database::{Database, DatabaseKind};
use crate::wait::until;

/// Tests do not wait for deliveries in progress when they end.
const DELIVERY_SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(100);

/// Settings that a test may change before the service starts.
#[derive(Clone)]
pub struct Setup {
    pub database_kind: DatabaseKind,
    pub settings: Settings,
    pub api: ApiSettings,
    pub connections: Limits,
    pub egress: Policy,
    /// The name servers of the service; those of the system if there are none.
    pub name_servers: Vec<SocketAddr>,
    /// Whether the scheduler runs checks. Without it, monitors are only checked
    /// on demand; reports are still recorded.
    pub run_scheduler: bool,
    /// Whether messages in the outbox are sent.
    pub run_delivery: bool,
    /// The port of the service's mail server on loopback; without one, mail becomes files.
    pub mail_port: Option<u16>,
}

impl Setup {
    pub fn on(kind: DatabaseKind) -> Self {
        Self {
            database_kind: kind,
            settings: Settings::default(),
            api: ApiSettings::default(),
            connections: Limits::default(),
            egress: Policy::Private,
            name_servers: Vec::new(),
            run_scheduler: false,
            run_delivery: true,
            mail_port: None,
        }
    }

    pub async fn start(self) -> App {
        App::start(self).await
    }

    /// The service behind a proxy on this machine that sets the client address.
    pub async fn start_behind_proxy(mut self) -> App {
        self.api.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
        self.start().await
    }

    /// Only a new database, for tests of the store.
    pub async fn database(&self) -> Database {
        Database::migrated(self.database_kind).await
    }
}

pub struct App {
    pub url: String,
    pub clock: Arc<TestClock>,
    pub database: Arc<Database>,
    pub store: Store,
    pub engine: Engine,
    anonymous: Client,
    setup: Setup,
    mail: PathBuf,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl App {
    async fn start(setup: Setup) -> Self {
        let database = Arc::new(Database::migrated(setup.database_kind).await);
        Self::node(database, Arc::default(), setup).await
    }

    /// Another node on the same database, with the same clock.
    pub async fn second_node(&self) -> Self {
        Self::node(self.database.clone(), self.clock.clone(), self.setup.clone()).await
    }

    /// Another node on the same database, with its own clock.
    pub async fn second_node_with(&self, clock: TestClock) -> Self {
        Self::node(self.database.clone(), Arc::new(clock), self.setup.clone()).await
    }

    /// Stops the service and starts it again with the same data.
    pub async fn restart(self) -> Self {
        let (database, clock) = (self.database.clone(), self.clock.clone());
        let setup = self.setup.clone();
        self.stop().await;
        Self::node(database, clock, setup).await
    }

    /// The same, with changed settings.
    pub async fn restart_with(mut self, change: impl FnOnce(&mut Setup)) -> Self {
        change(&mut self.setup);
        self.restart().await
    }

    async fn node(database: Arc<Database>, clock: Arc<TestClock>, setup: Setup) -> Self {
        // Another test of the same process may have installed it.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let store = database.open().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let settings = Settings { public_url: url.clone(), ..setup.settings.clone() };
        let mail = database.folder().join("mail");
        let names = match setup.name_servers.as_slice() {
            [] => NameResolver::from_system(),
            servers => NameResolver::from_servers(servers),
        };
        let guard = Guard::new(setup.egress.clone(), Vec::new());
        let net = Arc::new(Net::with(guard, names, Tls::from_system(), clock.clone()));
        let mail_transport = match setup.mail_port {
            None => MailTransport::Folder(mail.clone()),
            Some(port) => MailTransport::Smtp(Smtp {
                host: "127.0.0.1".to_owned(),
                port,
                transport: Transport::Plain,
                username: String::new(),
                password: Secret::new(""),
            }),
        };
        let engine = Engine::new(store.clone(), clock.clone(), settings, mail_transport, net);
        let shutdown = CancellationToken::new();
        let api = Api::new(engine.clone(), setup.api.clone(), Some(metrics()), shutdown.clone());
        let router = wakeful_api::router(api);
        let tasks = TaskTracker::new();
        tasks.spawn(mail::run(engine.clone(), shutdown.clone()));
        tasks.spawn(snapshot_builder::run(engine.clone(), shutdown.clone()));
        if setup.run_delivery {
            tasks.spawn(delivery::run(engine.clone(), shutdown.clone(), DELIVERY_SHUTDOWN_TIMEOUT));
            let timeout = DELIVERY_SHUTDOWN_TIMEOUT;
            tasks.spawn(fanout::run(engine.clone(), shutdown.clone()));
            tasks.spawn(delivery::statuspages::run(engine.clone(), shutdown.clone(), timeout));
            tasks.spawn(audit_streams::run(engine.clone(), shutdown.clone(), timeout));
        }
        if setup.run_scheduler {
            tasks.spawn(scheduler::run(engine.clone(), shutdown.clone()))
        } else {
            tasks.spawn(scheduler::run_without_checks(engine.clone(), shutdown.clone()))
        };
        let served = ServeSettings {
            limits: setup.connections.clone(),
            trusted_proxies: setup.api.trusted_proxies.clone(),
            grace: Duration::from_secs(5),
        };
        tasks.spawn(wakeful_api::serve(listener, router, shutdown.clone(), served));
        let anonymous = Client::new(&url);
        Self { url, clock, database, store, engine, anonymous, setup, mail, shutdown, tasks }
    }

    /// A client without credentials.
    pub fn anonymous(&self) -> Client {
        self.anonymous.clone()
    }

    /// A client from another address, as reported by a trusted proxy.
    pub fn caller_from(&self, address: &str) -> Client {
        self.anonymous().with("x-forwarded-for", address)
    }

    /// A new user in their own team.
    pub async fn sign_up(&self, email: &str) -> User {
        User::sign_up(&self.anonymous(), email).await
    }

    /// Deletes expired data, as the janitor does.
    pub async fn sweep(&self) {
        janitor::sweep(&self.engine).await.unwrap();
    }

    /// The texts of the mails to this address so far, once there are `count`.
    /// Mails of the same moment are in any order.
    pub async fn mails(&self, to: &str, count: usize) -> Vec<String> {
        until(&format!("{count} mails to {to}"), || async {
            let mails = self.mails_now(to);
            (mails.len() >= count).then_some(mails)
        })
        .await
    }

    /// The texts of the mails to this address so far.
    pub fn mails_now(&self, to: &str) -> Vec<String> {
        let Ok(folder) = std::fs::read_dir(&self.mail) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|kind| kind == "eml"));
        paths.sort();
        let mails = paths.iter().map(|path| std::fs::read_to_string(path).unwrap());
        let header = format!("\r\nTo: {to}\r\n");
        mails.filter(|mail| mail.contains(&header)).collect()
    }

    /// Requests a password reset for a user whose mails so far are the welcome
    /// and `earlier` links; returns the new token. Advances the clock by a
    /// second.
    pub async fn request_password_reset(&self, user: &User, earlier: usize) -> String {
        self.clock.advance(Duration::from_secs(1));
        let body = serde_json::json!({"email": user.email});
        self.anonymous().post("password/lost", &body).await.ok();
        let mails = self.mails(&user.email, earlier + 2).await;
        reset_token(mails.last().unwrap())
    }

    /// Verifies the address of a new user, with the link in the welcome mail.
    pub async fn verify(&self, user: &User) {
        let mails = self.mails(&user.email, 1).await;
        let body = serde_json::json!({"token": verification_token(&mails[0])});
        self.anonymous().post("email/verify", &body).await.ok();
    }

    /// Stops the service after the background work of requests has finished.
    pub async fn stop(self) {
        self.shutdown.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.engine.drain().await;
        self.store.close().await;
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

/// The token in a mail with a password reset link.
fn reset_token(mail: &str) -> String {
    token_after("#tokenid=", mail)
}

/// The token in a mail with a link that verifies an address.
pub fn verification_token(mail: &str) -> String {
    token_after("/verify#token=", mail)
}

/// The token in a mail with an invitation.
pub fn invitation_token(mail: &str) -> String {
    token_after("/join#token=", mail)
}

fn token_after(start: &str, mail: &str) -> String {
    let (_, rest) = mail.split_once(start).unwrap_or_else(|| panic!("no link in {mail}"));
    rest.split_whitespace().next().unwrap().to_owned()
}

/// The metrics of this process: there can be only one recorder.
fn metrics() -> PrometheusHandle {
    static METRICS: OnceLock<PrometheusHandle> = OnceLock::new();
    METRICS.get_or_init(|| PrometheusBuilder::new().install_recorder().unwrap()).clone()
}
