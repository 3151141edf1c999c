//! What the service does, called or by the clock: operations on accounts and
//! the loops beside them. Every write passes through here; nothing here knows
//! HTTP, SQL or a socket.

mod accounts;
mod apikeys;
mod attempts;
mod auth;
pub mod billing;
pub mod bus;
mod caller;
mod cluster;
mod contact;
pub mod deliver;
mod error;
mod failpoint;
mod hasher;
pub mod history;
pub mod janitor;
mod letters;
pub mod mailer;
mod mfa;
mod monitors;
mod notices;
mod notifiers;
mod operator;
mod passwords;
pub mod probe;
mod random;
pub mod reminders;
mod team;
pub mod watch;

pub use accounts::{SignUp, SignedIn};
pub use apikeys::NewKeyPair;
pub use auth::{Credentials, KeyPair, Origin};
pub use bus::{Event, Subscription};
pub use caller::{Caller, Via};
pub use contact::ContactForm;
pub use error::Error;
pub use history::{Report, ReportLine, Series, Source, Stats, Summary};
pub use mfa::MfaSetup;
pub use monitors::{Draft, MonitorView, Page, PushTarget};
pub use notifiers::{
    ChannelDraft, NotifierDraft, NotifierView, PreviewChannel, PreviewDraft, vet_recipients,
    vet_sender,
};
pub use probe::{ProbeView, RegionView};
pub use team::SaveUser;
pub use wakeful_outbound::notify::preview::Preview;
pub use wakeful_store::{
    ApiKey, Delivery, Linked, ListedAlert, ListedDelivery, ListedUser, Member, MonitorFilter,
    Place, Session, ShownCertificate, Span, StoreError,
};

use bus::Bus;
use bus::nats::Nats;
use cluster::Cluster;
use hasher::Hasher;
use probe::Probes;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;
use wakeful_core::chain::Chain;
use wakeful_core::id::NodeId;
use wakeful_core::time::{Clock, Millis};
use wakeful_outbound::mail::Postbox;
use wakeful_outbound::net::Net;
use wakeful_store::Store;
use watch::Watch;

pub type Result<T> = std::result::Result<T, Error>;

/// What an operator may choose about the operations here.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where people reach the page, without a slash at the end; links in mails
    /// start with it, never with what a request calls the host.
    pub public_url: String,
    pub signup_open: bool,
    pub session_idle: Duration,
    pub session_max: Duration,
    pub failed_logins_per_minute: u32,
    /// In ten minutes, from one client network, whatever the account.
    pub failed_logins_per_network: u32,
    pub signups_per_hour: u32,
    pub contacts_per_hour: u32,
    pub resets_per_hour: u32,
    pub reset_requests_per_hour: u32,
    pub declined_cards_per_hour: u32,
    pub mail_from: String,
    /// Who reads the contact form; empty: the sender of the service's mail.
    pub contact_to: String,
    pub billing: billing::Settings,
    pub history: history::keeper::Settings,
    /// How many checks run at the same time.
    pub checks_at_once: usize,
    /// Hosts and ports that answer as long as our own network works.
    pub sentinels: Vec<(String, u16)>,
    /// What joins this node to others and to probes.
    pub nats: Option<Nats>,
    /// What people know this node by.
    pub node_name: String,
    /// The place that this node has for itself; empty: none.
    pub node_home: String,
    /// A node that is not heard of for so long is replaced.
    pub lease: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        const DAY: u64 = 24 * 3600;
        Self {
            public_url: "http://127.0.0.1:8080".into(),
            signup_open: true,
            session_idle: Duration::from_secs(30 * DAY),
            session_max: Duration::from_secs(180 * DAY),
            failed_logins_per_minute: 10,
            failed_logins_per_network: 100,
            signups_per_hour: 100,
            contacts_per_hour: 20,
            resets_per_hour: 3,
            reset_requests_per_hour: 20,
            declined_cards_per_hour: 10,
            mail_from: "Wakeful <wakeful@localhost>".into(),
            contact_to: String::new(),
            billing: billing::Settings::default(),
            history: history::keeper::Settings::default(),
            checks_at_once: 512,
            sentinels: Vec::new(),
            nats: None,
            node_name: String::new(),
            node_home: String::new(),
            lease: wakeful_core::slot::LEASE,
        }
    }
}

/// The operations, shared by every request and loop.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    store: Store,
    clock: Arc<dyn Clock>,
    settings: Settings,
    postbox: Postbox,
    net: Arc<Net>,
    bus: Bus,
    cluster: Arc<Cluster>,
    watch: Watch,
    /// The way to the probes, where there are any.
    probes: OnceLock<Arc<Probes>>,
    started: Millis,
    hasher: Hasher,
    mail_waits: Notify,
    tasks: TaskTracker,
}

impl Engine {
    pub fn new(
        store: Store,
        clock: Arc<dyn Clock>,
        settings: Settings,
        postbox: Postbox,
        net: Arc<Net>,
    ) -> Self {
        let started = clock.now();
        let node = NodeId::new(started, random::bytes());
        let cluster = Arc::new(Cluster::new(node, !store.is_shared(), settings.lease));
        let store = store.in_name_of(node);
        let watch = Watch::new(
            started,
            settings.checks_at_once,
            settings.sentinels.clone(),
            Arc::clone(&cluster),
        );
        let bus = Bus::new(settings.nats.clone());
        Self(Arc::new(Inner {
            store,
            clock,
            settings,
            postbox,
            net,
            bus,
            cluster,
            watch,
            probes: OnceLock::new(),
            started,
            hasher: Hasher::default(),
            mail_waits: Notify::new(),
            tasks: TaskTracker::new(),
        }))
    }

    /// Lets monitors be checked by probes from now on.
    pub fn use_probes(&self, probes: Probes) {
        let _ = self.0.probes.set(Arc::new(probes));
    }

    fn probes(&self) -> Option<&Arc<Probes>> {
        self.0.probes.get()
    }

    /// Whether storage answers and, where monitors are watched, all of them are.
    pub async fn ready(&self) -> Result<bool> {
        self.store().ping().await?;
        Ok(self.watch().is_ready())
    }

    /// How many monitors are being watched here.
    pub fn watched(&self) -> usize {
        self.watch().len()
    }

    /// Whether all active monitors are being watched.
    pub fn is_watching(&self) -> bool {
        self.watch().is_loaded()
    }

    /// Waits until what was begun in the background is done.
    pub async fn settle(&self) {
        self.0.tasks.close();
        self.0.tasks.wait().await;
        if !self.cluster().is_alone()
            && let Err(error) = self.store().bury_node(self.cluster().node(), false).await
        {
            tracing::info!(error = %Chain(&error), "this node is forgotten when its lease ends");
        }
    }

    fn store(&self) -> &Store {
        &self.0.store
    }

    fn net(&self) -> &Net {
        &self.0.net
    }

    fn watch(&self) -> &Watch {
        &self.0.watch
    }

    fn cluster(&self) -> &Arc<Cluster> {
        &self.0.cluster
    }

    fn bus(&self) -> &Bus {
        &self.0.bus
    }

    /// Where people reach the page.
    pub fn public_url(&self) -> &str {
        &self.settings().public_url
    }

    fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The time by which everything is done and written: that of all nodes, where
    /// there are several and this one follows it.
    pub fn now(&self) -> Millis {
        Millis(self.wall().0.saturating_add(self.cluster().ahead()))
    }

    /// The time on this machine's own clock.
    fn wall(&self) -> Millis {
        self.0.clock.now()
    }
}
