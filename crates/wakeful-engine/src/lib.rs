//! The operations of the service and its background loops. Every write passes
//! through this crate; nothing in it knows about HTTP, SQL or sockets.

mod accounts;
mod admin;
pub mod alerting;
pub mod audit;
pub mod billing;
pub mod bus;
mod caller;
mod cluster;
mod deletion;
pub mod demo;
pub mod due_work;
mod error;
mod failpoint;
pub mod history;
pub mod janitor;
pub mod mail;
mod monitors;
pub mod notifications;
pub mod probes;
mod random;
pub mod scheduler;
mod settings;
pub mod statuspages;
pub mod supervision;
mod suspects;
mod team_turns;
mod version;

pub use accounts::{
    api_keys::*, auth::*, contact::*, email_verification::*, export::*, invitations::*, mfa::*,
    operator::*, services::*, signup::*, team::*, teams::*,
};
pub use admin::*;
pub use alerting::{
    action_links::*, alerts::*, contacts::*, maintenances::*, policies::*, routing::*, schedules::*,
};
pub use audit::{
    AuditChain, AuditQuery, AuditRange, AuditVerification, SaveStream, SavedStream, StoredEntry,
    StreamChange, StreamTest,
};
pub use bus::Event;
pub use caller::{Authorized, Caller, Reauthenticated, Via, Way};
pub use error::Error;
pub use history::*;
pub use monitors::*;
pub use notifications::notifier_test::NotifierTest;
pub use notifications::notifiers::*;
pub use notifications::webpush::{PushSetup, Subscribed};
pub use probes::{ProbeView, RegionView};
pub use settings::{Limits, Settings, SignupMode};
pub use statuspages::*;
pub use wakeful_store::StoreError;

use accounts::password_hasher::PasswordHasher;
use alerting::backlog::AlertBacklog;
use bus::Bus;
use cluster::Cluster;
use due_work::DueWorkReadings;
use probes::Probes;
use scheduler::Scheduler;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, OnceLock};
use tokio::sync::{Notify, OnceCell};
use tokio_util::task::TaskTracker;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{NodeId, TeamId};
use wakeful_core::time::{Clock, Millis};
use wakeful_outbound::fair_queue::FairQueue;
use wakeful_outbound::mail::MailTransport;
use wakeful_outbound::net::Net;
use wakeful_outbound::net::guard::Policy;
use wakeful_outbound::notify::ServiceMail;
use wakeful_outbound::notify::webpush::vapid::VapidKey;
use wakeful_store::Store;

pub type Result<T> = std::result::Result<T, Error>;

/// How often a change is applied to the stored row before the caller gets a conflict.
/// Of several concurrent changes, one succeeds in each round.
pub(crate) const MAX_SAVE_ATTEMPTS: usize = 20;

/// The operations, shared by every request and loop.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    store: Store,
    clock: Arc<dyn Clock>,
    settings: Settings,
    mail_transport: MailTransport,
    net: Arc<Net>,
    /// For addresses that visitors of status pages gave.
    public_net: Net,
    bus: Bus,
    cluster: Arc<Cluster>,
    scheduler: Scheduler,
    /// The connection to the probes, if there are any.
    probes: OnceLock<Arc<Probes>>,
    started: Millis,
    hasher: PasswordHasher,
    /// Limits how many templates are rendered for requests at a time.
    rendering: FairQueue<TeamId>,
    team_turns: team_turns::TeamTurns,
    alert_backlog: AlertBacklog,
    due_work: DueWorkReadings,
    mail_queued: Notify,
    /// Notified when a call has left rows of what it deleted to the janitor.
    rows_left: Notify,
    recent_members: monitors::groups::RecentMembers,
    /// Notified when maintenance windows were changed.
    maintenance_changed: Notify,
    /// The day of the last report of the heads of the audit log, in days since 1970.
    heads_reported_on: AtomicI64,
    snapshots: statuspages::snapshots::Snapshots,
    /// Notified when there are events for subscribers of status pages.
    page_events: Notify,
    /// Notified when there are messages to subscribers of status pages.
    page_messages: Notify,
    /// When the next email to a subscriber may be sent.
    next_page_mail: std::sync::Mutex<Option<tokio::time::Instant>>,
    /// The key pair for push messages, once it is needed.
    push_key: OnceCell<VapidKey>,
    tasks: TaskTracker,
}

impl Engine {
    pub fn new(
        store: Store,
        clock: Arc<dyn Clock>,
        settings: Settings,
        mail_transport: MailTransport,
        net: Arc<Net>,
    ) -> Self {
        let started = clock.now();
        let node = NodeId::new(started, random::bytes());
        let cluster = Arc::new(Cluster::new(node, !store.is_shared(), settings.lease));
        let store = store.with_node(node);
        let scheduler = Scheduler::new(
            started,
            settings.max_concurrent_checks,
            settings.sentinels.clone(),
            Arc::clone(&cluster),
        );
        let bus = Bus::new(settings.nats.clone());
        Self(Arc::new(Inner {
            store,
            clock,
            settings,
            mail_transport,
            public_net: net.with_policy(Policy::Public),
            net,
            bus,
            cluster,
            scheduler,
            probes: OnceLock::new(),
            started,
            hasher: PasswordHasher::default(),
            rendering: FairQueue::new(notifications::notifiers::RENDERING),
            team_turns: team_turns::TeamTurns::default(),
            alert_backlog: AlertBacklog::default(),
            due_work: DueWorkReadings::new(),
            mail_queued: Notify::new(),
            rows_left: Notify::new(),
            recent_members: Default::default(),
            maintenance_changed: Notify::new(),
            heads_reported_on: AtomicI64::new(i64::MIN),
            snapshots: Default::default(),
            page_events: Notify::new(),
            page_messages: Notify::new(),
            next_page_mail: Default::default(),
            push_key: OnceCell::new(),
            tasks: TaskTracker::new(),
        }))
    }

    /// Enables checks by probes.
    pub fn set_probes(&self, probes: Probes) {
        let _ = self.0.probes.set(Arc::new(probes));
    }

    fn probes(&self) -> Option<&Arc<Probes>> {
        self.0.probes.get()
    }

    /// Whether storage responds and, on a node that runs the scheduler, all monitors are loaded.
    pub async fn ready(&self) -> Result<bool> {
        self.store().ping().await?;
        Ok(self.scheduler().is_ready())
    }

    /// How many monitors this node checks.
    pub fn monitor_count(&self) -> usize {
        self.scheduler().len()
    }

    /// Whether all active monitors are loaded.
    pub fn all_monitors_loaded(&self) -> bool {
        self.scheduler().is_loaded()
    }

    /// Waits until all background tasks have finished.
    pub async fn drain(&self) {
        self.0.tasks.close();
        self.0.tasks.wait().await;
        if !self.cluster().is_standalone()
            && let Err(error) = self.store().evict_node(self.cluster().node(), false).await
        {
            tracing::info!(error = %ErrorChain(&error), "removing this node failed, it is evicted when its lease expires");
        }
    }

    fn store(&self) -> &Store {
        &self.0.store
    }

    /// The service's own mail, which the operator has configured.
    fn service_mail(&self) -> ServiceMail<'_> {
        ServiceMail { transport: &self.0.mail_transport, from: &self.settings().mail_from }
    }

    /// Whether the service's own mail is sent. Without a mail server it becomes files.
    pub fn has_mail_server(&self) -> bool {
        matches!(self.0.mail_transport, MailTransport::Smtp(_))
    }

    fn net(&self) -> &Net {
        &self.0.net
    }

    fn alert_backlog(&self) -> &AlertBacklog {
        &self.0.alert_backlog
    }

    fn scheduler(&self) -> &Scheduler {
        &self.0.scheduler
    }

    /// The status pages that this node serves.
    pub fn snapshots(&self) -> &statuspages::snapshots::Snapshots {
        &self.0.snapshots
    }

    fn cluster(&self) -> &Arc<Cluster> {
        &self.0.cluster
    }

    fn bus(&self) -> &Bus {
        &self.0.bus
    }

    /// The public URL of the web app.
    pub fn public_url(&self) -> &str {
        &self.settings().public_url
    }

    fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The time used for all decisions and records. In a cluster, this node's clock is
    /// corrected to the cluster's time.
    pub fn now(&self) -> Millis {
        Millis(self.local_time().0.saturating_add(self.cluster().clock_offset()))
    }

    /// The time on this machine's own clock.
    fn local_time(&self) -> Millis {
        self.0.clock.now()
    }
}

/// A part of a list. `next` is the cursor of the following part.
#[derive(Clone, Debug)]
pub struct Page<T, C> {
    pub items: Vec<T>,
    pub next: Option<C>,
}

impl<T, C> Page<T, C> {
    /// A page from items that were read with one more than `limit`.
    pub fn of(mut items: Vec<T>, limit: Option<u32>, cursor: impl Fn(&T) -> C) -> Self {
        let max = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let more = items.len() > max;
        items.truncate(max);
        let next = items.last().filter(|_| more).map(cursor);
        Self { items, next }
    }
}

/// One item more than is shown reveals whether there is a next page.
pub(crate) fn limit_plus_one(limit: Option<u32>) -> Option<u32> {
    limit.map(|limit| limit.saturating_add(1))
}
