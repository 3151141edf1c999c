//! The status pages that this node serves, in memory. Finding a page takes no lock and makes no
//! query; `snapshot_builder.rs` builds what they show.

use arc_swap::{ArcSwap, ArcSwapOption};
use ipnet::IpNet;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use wakeful_core::id::{ComponentId, MonitorId, StatuspageId, TeamId};
use wakeful_core::statuspages::page::{Access, StatusPage};
use wakeful_core::statuspages::snapshot::{Indicator, PageStatus, Snapshot};
use wakeful_core::statuspages::unlock::token_revision;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use crate::Engine;
use crate::bus::NodeMessage;

/// A page is in use for this long after a request.
const IN_USE: Duration = Duration::from_secs(600);
/// How long a visitor waits for a page that is not in memory.
const WAIT_TIMEOUT: Duration = Duration::from_secs(5);

/// A published page as it is served.
pub struct Served {
    pub id: StatuspageId,
    pub team: TeamId,
    pub slug: String,
    pub access: Access,
    /// Increases with each new password: part of the cookie of a visitor.
    password_revision: i64,
    password_hash: String,
    token: Option<Digest>,
    networks: Vec<IpNet>,
    pub(super) changed: i64,
    snapshot: ArcSwapOption<Snapshot>,
    /// The status of the last snapshot, also after that was dropped.
    status: Mutex<PageStatus>,
    /// Its snapshot was dropped to save memory, and is built again for the next visitor.
    is_dropped: AtomicBool,
    /// Visitors who wait for the snapshot.
    waiting: Mutex<Vec<oneshot::Sender<Arc<Snapshot>>>>,
    /// When it was last requested.
    used: AtomicI64,
}

/// What a slug leads to.
#[derive(Clone)]
pub enum Found {
    Page(Arc<Served>),
    /// The page has another slug now.
    Moved(String),
    Unknown,
}

/// All published pages.
#[derive(Clone, Default)]
pub(super) struct Index {
    pub(super) pages: HashMap<StatuspageId, Arc<Served>>,
    pub(super) slugs: HashMap<String, Found>,
    /// In lower case.
    pub(super) domains: HashMap<String, Arc<Served>>,
}

/// The pages in memory.
#[derive(Default)]
pub struct Snapshots {
    pub(super) index: ArcSwap<Index>,
    pub(super) is_loaded: AtomicBool,
    /// Notified when the published pages are known.
    pub(super) loaded: Notify,
    /// The pages that show each monitor, as far as they were built.
    pub(super) monitors: ArcSwap<HashMap<MonitorId, Vec<StatuspageId>>>,
    /// The page of each component, as far as pages were built.
    pub(super) components: ArcSwap<HashMap<ComponentId, StatuspageId>>,
    pub(super) reload: AtomicBool,
    pub(super) changed: Mutex<HashSet<StatuspageId>>,
    pub(super) wake: Notify,
    /// The memory of all pages, without what is rendered of them.
    pub(super) bytes: AtomicUsize,
}

impl Served {
    /// The hash of the password that opens the page, if it has one.
    pub(super) fn password_hash(&self) -> Option<&str> {
        Some(self.password_hash.as_str()).filter(|hash| !hash.is_empty())
    }

    /// What the page shows; `None` until it was built for the first time, and while it is dropped.
    pub fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.snapshot.load_full()
    }

    /// The status of the page; that of a page without data until it was built.
    pub(crate) fn status(&self) -> PageStatus {
        *lock(&self.status)
    }

    /// Shows a new snapshot.
    pub(super) fn show(&self, snapshot: Snapshot) {
        let snapshot = Arc::new(snapshot);
        *lock(&self.status) = snapshot.status;
        self.snapshot.store(Some(Arc::clone(&snapshot)));
        self.is_dropped.store(false, Ordering::Relaxed);
        for visitor in lock(&self.waiting).drain(..) {
            // Some have gone.
            let _ = visitor.send(Arc::clone(&snapshot));
        }
    }

    /// Drops the snapshot until somebody requests the page.
    pub(super) fn drop_snapshot(&self) {
        self.is_dropped.store(true, Ordering::Relaxed);
        self.snapshot.store(None);
    }

    /// Nobody waits any longer: the page cannot be built now.
    pub(super) fn refuse_waiting(&self) {
        lock(&self.waiting).clear();
    }

    /// Whether its snapshot was dropped to save memory.
    pub fn is_dropped(&self) -> bool {
        self.is_dropped.load(Ordering::Relaxed)
    }

    /// Whether the snapshot was dropped, and nobody waits for it.
    pub(super) fn is_resting(&self) -> bool {
        self.is_dropped() && lock(&self.waiting).is_empty()
    }

    pub(super) fn last_used(&self) -> Millis {
        Millis(self.used.load(Ordering::Relaxed))
    }

    /// Continues with what is known of the page in its former state.
    pub(super) fn follow(&self, former: &Self) {
        self.snapshot.store(former.snapshot.load_full());
        *lock(&self.status) = former.status();
        self.is_dropped.store(former.is_dropped(), Ordering::Relaxed);
        *lock(&self.waiting) = std::mem::take(&mut *lock(&former.waiting));
        self.used.store(former.used.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Notes a request, so that the page stays up to date.
    pub fn note_use(&self, now: Millis) {
        self.used.store(now.0, Ordering::Relaxed);
    }

    pub(super) fn is_in_use(&self, now: Millis) -> bool {
        now.since(self.last_used()) < IN_USE
    }

    /// Whether an address may see the page.
    pub fn admits(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.networks.is_empty() || self.networks.iter().any(|one| one.contains(&address))
    }

    /// Whether only some addresses may see the page.
    pub fn is_restricted(&self) -> bool {
        !self.networks.is_empty()
    }

    /// Changes with the password or the token: part of the cookie of a visitor.
    pub(super) fn lock_revision(&self) -> i64 {
        match &self.token {
            Some(token) if self.access == Access::Token => token_revision(token),
            _ => self.password_revision,
        }
    }

    /// Whether this is the access token of the page.
    pub fn is_token(&self, token: &str) -> bool {
        self.access == Access::Token && self.token == Some(Digest::of(token))
    }

    pub(super) fn of(page: &StatusPage, changed: i64) -> Self {
        Self {
            id: page.id,
            team: page.team,
            slug: page.slug.clone(),
            access: page.access,
            password_revision: page.password_revision,
            password_hash: page.password_hash.clone(),
            token: page.access_token.as_ref().map(|token| Digest::of(token.expose())),
            networks: page.settings.allowed_networks.clone(),
            changed,
            snapshot: ArcSwapOption::empty(),
            status: Mutex::default(),
            is_dropped: AtomicBool::new(false),
            waiting: Mutex::default(),
            used: AtomicI64::new(i64::MIN),
        }
    }
}

impl Snapshots {
    /// The page with a slug, in any letter case.
    pub fn by_slug(&self, slug: &str) -> Found {
        let index = self.index.load();
        let found = match index.slugs.get(slug) {
            None if slug.bytes().any(|byte| byte.is_ascii_uppercase()) => {
                index.slugs.get(&slug.to_ascii_lowercase())
            }
            found => found,
        };
        found.cloned().unwrap_or(Found::Unknown)
    }

    /// The page that is served at a domain, in lower case.
    pub fn by_domain(&self, domain: &str) -> Option<Arc<Served>> {
        self.index.load().domains.get(domain).cloned()
    }

    /// Whether any page has a domain of its own.
    pub fn has_domains(&self) -> bool {
        !self.index.load().domains.is_empty()
    }

    /// The page of a component.
    pub fn by_component(&self, component: ComponentId) -> Option<Arc<Served>> {
        let page = self.components.load().get(&component).copied()?;
        self.by_id(page)
    }

    pub fn by_id(&self, page: StatuspageId) -> Option<Arc<Served>> {
        self.index.load().pages.get(&page).cloned()
    }

    /// Whether the published pages are known; before that, no page is found.
    pub fn is_loaded(&self) -> bool {
        self.is_loaded.load(Ordering::Relaxed)
    }

    /// Waits a moment until the published pages are known.
    pub async fn wait_until_loaded(&self) {
        let loaded = self.loaded.notified();
        if !self.is_loaded() {
            let _ = tokio::time::timeout(WAIT_TIMEOUT, loaded).await;
        }
    }

    /// What a page shows; one that is new or was dropped from memory is built first.
    pub async fn shown(&self, page: &Served) -> Option<Arc<Snapshot>> {
        if let Some(shown) = page.snapshot() {
            return Some(shown);
        }
        let (visitor, built) = oneshot::channel();
        lock(&page.waiting).push(visitor);
        if let Some(shown) = page.snapshot() {
            return Some(shown);
        }
        self.wake.notify_one();
        tokio::time::timeout(WAIT_TIMEOUT, built).await.ok()?.ok()
    }

    /// The memory that the pages take, without what is rendered of them.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The status of a page; `none` unless it was built.
    pub(super) fn indicator(&self, page: StatuspageId) -> Indicator {
        self.by_id(page).map_or(Indicator::None, |served| served.status().indicator)
    }

    /// Removes a page that was deleted, before the list of pages is read again.
    pub(super) fn remove(&self, page: StatuspageId) {
        self.index.rcu(|index| {
            let mut index = Index::clone(index);
            let former = index.pages.remove(&page).map(|served| served.slug.clone());
            let leads_there = |found: &Found| match found {
                Found::Page(served) => served.id == page,
                Found::Moved(slug) => former.as_ref() == Some(slug),
                Found::Unknown => true,
            };
            index.slugs.retain(|_, found| !leads_there(found));
            index.domains.retain(|_, served| served.id != page);
            index
        });
    }

    /// Makes the loop read the pages again.
    pub(crate) fn reload(&self) {
        self.reload.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// Makes the loop build the pages that show these monitors.
    pub(crate) fn note_changes(&self, monitors: &[MonitorId]) {
        let shown = self.monitors.load();
        let pages: Vec<StatuspageId> =
            monitors.iter().filter_map(|monitor| shown.get(monitor)).flatten().copied().collect();
        if !pages.is_empty() {
            lock(&self.changed).extend(pages);
            self.wake.notify_one();
        }
    }

    /// Makes the loop read the pages again and build all of them, because messages from other
    /// nodes may be lost.
    pub(crate) fn note_lost_messages(&self) {
        lock(&self.changed).extend(self.index.load().pages.keys().copied());
        self.reload();
    }

    /// The monitors that pages show, as far as those were built.
    pub(crate) fn shown_monitors(&self) -> Vec<MonitorId> {
        self.monitors.load().keys().copied().collect()
    }

    fn shows_any(&self) -> bool {
        !self.index.load().pages.is_empty()
    }
}

impl Engine {
    /// The memory that status pages may take, in bytes.
    pub fn page_memory(&self) -> usize {
        self.settings().page_memory
    }

    /// Announces that a monitor has another status.
    pub(crate) fn note_status_change(&self, monitor: MonitorId) {
        if self.snapshots().shows_any() {
            self.snapshots().note_changes(&[monitor]);
            self.bus().send_to_nodes(NodeMessage::Changed(vec![monitor]));
        }
    }

    /// Announces that pages were edited.
    pub(crate) fn note_page_change(&self) {
        self.snapshots().reload();
        self.bus().send_to_nodes(NodeMessage::Statuspages);
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
