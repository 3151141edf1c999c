//! The whole service in the test's own process, on a free port, with a clock
//! that the test advances and mail that ends as files.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wakeful_api::{Api, ApiSettings};
use wakeful_engine::{Engine as Operations, Settings, janitor, mailer, watch};
use wakeful_outbound::mail::Postbox;
use wakeful_outbound::net::Net;
use wakeful_outbound::net::guard::Policy;
use wakeful_store::Store;

use crate::client::{Client, User};
use crate::clock::TestClock;
use crate::database::{Database, Engine};
use crate::wait::until;

/// What a test may change before the service starts.
pub struct Setup {
    pub engine: Engine,
    pub settings: Settings,
    pub api: ApiSettings,
    pub egress: Policy,
    /// Whether monitors are checked by the clock. Without, they are only
    /// checked when asked to, and reports are recorded all the same.
    pub watch: bool,
}

impl Setup {
    pub fn on(engine: Engine) -> Self {
        Self {
            engine,
            settings: Settings::default(),
            api: ApiSettings::default(),
            egress: Policy::Private,
            watch: false,
        }
    }

    pub async fn start(self) -> App {
        App::start(self).await
    }

    /// A fresh database alone, for tests of the store.
    pub async fn database(&self) -> Database {
        Database::new(self.engine).await
    }
}

pub struct App {
    pub url: String,
    pub clock: Arc<TestClock>,
    pub database: Database,
    pub store: Store,
    pub engine: Operations,
    mail: PathBuf,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl App {
    async fn start(setup: Setup) -> Self {
        // Another test of the same process may have been first.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let database = Database::new(setup.engine).await;
        let store = database.open().await;
        let clock = Arc::new(TestClock::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let settings = Settings { public_url: url.clone(), ..setup.settings };
        let mail = database.folder().join("mail");
        let net = Arc::new(Net::new(setup.egress, Vec::new(), clock.clone()));
        let postbox = Postbox::Folder(mail.clone());
        let engine = Operations::new(store.clone(), clock.clone(), settings, postbox, net);
        let shutdown = CancellationToken::new();
        let api = Api::new(engine.clone(), setup.api, None, shutdown.clone());
        let router = wakeful_api::router(api);
        let tasks = TaskTracker::new();
        tasks.spawn(mailer::run(engine.clone(), shutdown.clone()));
        match setup.watch {
            true => tasks.spawn(watch::run(engine.clone(), shutdown.clone())),
            false => tasks.spawn(watch::record(engine.clone(), shutdown.clone())),
        };
        tasks.spawn(wakeful_api::serve(listener, router, shutdown.clone(), Duration::from_secs(5)));
        Self { url, clock, database, store, engine, mail, shutdown, tasks }
    }

    /// A caller without credentials.
    pub fn anonymous(&self) -> Client {
        Client::new(&self.url)
    }

    /// A new user in a team of their own.
    pub async fn sign_up(&self, email: &str) -> User {
        User::sign_up(&self.anonymous(), email).await
    }

    /// Forgets what has had its day, as the janitor does from time to time.
    pub async fn sweep(&self) {
        janitor::sweep(&self.engine).await.unwrap();
    }

    /// The texts of the mails so far, oldest first, once there are `count`.
    pub async fn mails(&self, count: usize) -> Vec<String> {
        until(&format!("{count} mails"), || async {
            let mails = self.mails_now();
            (mails.len() >= count).then_some(mails)
        })
        .await
    }

    /// The texts of the mails so far, oldest first.
    pub fn mails_now(&self) -> Vec<String> {
        let Ok(folder) = std::fs::read_dir(&self.mail) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|kind| kind == "eml"));
        paths.sort();
        paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
    }

    /// Waits until what requests began in the background is done.
    pub async fn stop(self) {
        self.shutdown.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.engine.settle().await;
        self.store.close().await;
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}
