//! The status pages that this node serves, in memory. Finding a page takes no lock and makes no
//! query. A loop builds the snapshots again when something that they show has changed, at most
//! once a second for each page.

use arc_swap::{ArcSwap, ArcSwapOption};
use ipnet::IpNet;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{ComponentId, MonitorId, StatuspageId, TeamId};
use wakeful_core::secret::Secret;
use wakeful_core::statuspages::page::{Access, StatusPage};
use wakeful_core::statuspages::snapshot::{Indicator, Snapshot};
use wakeful_core::statuspages::unlock::token_revision;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_store::PublishedDomain;

use super::overlay::Basis;
use crate::bus::NodeMessage;
use crate::{Engine, Error, Result};

/// The shortest time between two snapshots of a page.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// How often nodes that share a database without NATS look for changes.
const SHARED_INTERVAL: Duration = Duration::from_secs(3);
/// How often the figures of a page in use are computed again.
const FIGURES_INTERVAL: Duration = Duration::from_secs(60);
/// How often pages that nobody has requested lately are built again, and their figures.
const IDLE_INTERVAL: Duration = Duration::from_secs(600);
const IDLE_FIGURES_INTERVAL: Duration = Duration::from_secs(3_600);
/// A page is in use for this long after a request.
const IN_USE: Duration = Duration::from_secs(600);
/// How long reading a page may take before it counts as failed.
const BUILD_TIMEOUT: Duration = Duration::from_secs(20);
/// The same for the list of pages, and for a query that reads nothing.
const PING_TIMEOUT: Duration = Duration::from_secs(5);
/// How many pages are built in one round, so that a restart does not occupy the database.
const MAX_BUILDS: usize = 20;
/// How often the list of pages is read again in any case.
const RELOAD_INTERVAL: Duration = Duration::from_secs(60);

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
    changed: i64,
    snapshot: ArcSwapOption<Snapshot>,
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
#[derive(Default)]
struct Index {
    pages: HashMap<StatuspageId, Arc<Served>>,
    slugs: HashMap<String, Found>,
    /// In lower case.
    domains: HashMap<String, Arc<Served>>,
}

/// The pages in memory.
#[derive(Default)]
pub struct Snapshots {
    index: ArcSwap<Index>,
    is_loaded: AtomicBool,
    /// The pages that show each monitor, as far as they were built.
    monitors: ArcSwap<HashMap<MonitorId, Vec<StatuspageId>>>,
    /// The page of each component, as far as pages were built.
    components: ArcSwap<HashMap<ComponentId, StatuspageId>>,
    reload: AtomicBool,
    changed: Mutex<HashSet<StatuspageId>>,
    wake: Notify,
}

impl Served {
    /// What the page shows; `None` until it was built for the first time.
    pub fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.snapshot.load_full()
    }

    /// Notes a request, so that the page stays up to date.
    pub fn note_use(&self, now: Millis) {
        self.used.store(now.0, Ordering::Relaxed);
    }

    fn is_in_use(&self, now: Millis) -> bool {
        now.since(Millis(self.used.load(Ordering::Relaxed))) < IN_USE
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

    fn of(page: &StatusPage, changed: i64) -> Self {
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

    /// The status of a page; `none` unless it was built.
    pub(super) fn indicator(&self, page: StatuspageId) -> Indicator {
        let snapshot = self.by_id(page).and_then(|served| served.snapshot());
        snapshot.map_or(Indicator::None, |snapshot| snapshot.status.indicator)
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

    fn shows_any(&self) -> bool {
        !self.index.load().pages.is_empty()
    }
}

impl Engine {
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

    /// Whether a password opens a page; `client` waits with others from its network.
    pub(super) async fn is_statuspage_password(
        &self,
        page: &Served,
        password: &Secret,
        client: IpAddr,
    ) -> Result<bool> {
        let permit = self.0.hasher.acquire(client).await?;
        let known = (!page.password_hash.is_empty()).then_some(page.password_hash.as_str());
        Ok(permit.verify(password, known).await)
    }
}

/// What the loop knows of a page.
struct PageState {
    built: Option<Instant>,
    figures_at: Option<Instant>,
    /// The revision of the page that was built.
    changed: i64,
    monitors: Vec<MonitorId>,
    /// What its statuses follow from while the database is unavailable.
    basis: Option<Basis>,
    revision: u64,
    failed_since: Option<Millis>,
}

/// Builds snapshots until shutdown.
pub async fn run(engine: Engine, shutdown: CancellationToken) {
    let mut builder = Builder::default();
    engine.snapshots().reload();
    loop {
        let wait = builder.round(&engine).await;
        tokio::select! {
            () = sleep(wait) => {}
            () = async {
                engine.snapshots().wake.notified().await;
                // Changes of the same moment are shown together.
                sleep(Duration::from_millis(50)).await;
            } => {}
            () = shutdown.cancelled() => break,
        }
    }
}

#[derive(Default)]
struct Builder {
    pages: HashMap<StatuspageId, PageState>,
    waiting: HashSet<StatuspageId>,
    looked_at: Option<Instant>,
    /// The database did not respond in this round.
    is_unavailable: bool,
    changes: Option<(i64, i64)>,
}

impl Builder {
    /// Builds what is due; returns how long nothing else is.
    async fn round(&mut self, engine: &Engine) -> Duration {
        let snapshots = engine.snapshots();
        self.is_unavailable = false;
        match tokio::time::timeout(PING_TIMEOUT, self.read_index(engine)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(error = %ErrorChain(&error), "reading status pages failed, retrying in {} s", SHARED_INTERVAL.as_secs());
                snapshots.reload.store(true, Ordering::Relaxed);
                self.is_unavailable = error.is_unavailable();
            }
            Err(_) => {
                tracing::warn!(
                    "reading status pages took too long, retrying in {} s",
                    SHARED_INTERVAL.as_secs()
                );
                snapshots.reload.store(true, Ordering::Relaxed);
                self.is_unavailable = true;
            }
        }
        self.waiting.extend(lock(&snapshots.changed).drain());
        let index = snapshots.index.load_full();
        self.pages.retain(|page, _| index.pages.contains_key(page));
        self.waiting.retain(|page| index.pages.contains_key(page));
        let now = engine.now();
        let is_polling = engine.store().is_shared() && !engine.bus().is_connected();
        let mut due: Vec<(bool, bool, Arc<Served>)> = Vec::new();
        let mut soon = false;
        for (id, served) in &index.pages {
            let in_use = served.is_in_use(now);
            match self.due(*id, served, in_use, is_polling) {
                Some(figures) => due.push((in_use, figures, Arc::clone(served))),
                None => soon |= self.is_changed(*id, served),
            }
        }
        // Requested pages first.
        due.sort_by_key(|(in_use, _, served)| (!in_use, served.id));
        let more = due.len() > MAX_BUILDS;
        if !due.is_empty() && !self.is_unavailable {
            // A database that hangs is noticed before each page waits for it.
            let ping = tokio::time::timeout(PING_TIMEOUT, engine.store().ping()).await;
            self.is_unavailable = !matches!(ping, Ok(Ok(())));
        }
        for (_, figures, served) in due.into_iter().take(MAX_BUILDS) {
            self.waiting.remove(&served.id);
            self.build(engine, &served, figures).await;
        }
        self.publish_parts(engine, &index);
        report_age(engine, &index);
        match () {
            () if more || soon => MIN_INTERVAL,
            () if is_polling => SHARED_INTERVAL,
            () if index.pages.is_empty() => RELOAD_INTERVAL,
            () => MIN_INTERVAL * 5,
        }
    }

    /// Whether a page is to be built, and whether with its figures.
    fn due(
        &self,
        id: StatuspageId,
        served: &Served,
        in_use: bool,
        is_polling: bool,
    ) -> Option<bool> {
        let Some(state) = self.pages.get(&id) else { return Some(true) };
        let age = state.built.map_or(Duration::MAX, |at| at.elapsed());
        let figures_age = state.figures_at.map_or(Duration::MAX, |at| at.elapsed());
        let figures_due =
            figures_age >= if in_use { FIGURES_INTERVAL } else { IDLE_FIGURES_INTERVAL };
        let is_edited = state.changed != served.changed;
        let every = match () {
            () if self.is_changed(id, served) => MIN_INTERVAL,
            () if state.failed_since.is_some() => SHARED_INTERVAL,
            () if in_use && is_polling => SHARED_INTERVAL,
            () if in_use => FIGURES_INTERVAL,
            () => IDLE_INTERVAL,
        };
        (age >= every).then_some(figures_due || is_edited)
    }

    /// Whether a page was edited, or one of its monitors has another status.
    fn is_changed(&self, id: StatuspageId, served: &Served) -> bool {
        self.waiting.contains(&id)
            || self.pages.get(&id).is_some_and(|state| state.changed != served.changed)
    }

    async fn build(&mut self, engine: &Engine, served: &Arc<Served>, with_figures: bool) {
        let started = Instant::now();
        let old = self.pages.remove(&served.id);
        let mut state = old.unwrap_or_else(|| PageState {
            built: None,
            figures_at: None,
            changed: 0,
            monitors: Vec::new(),
            basis: None,
            revision: 0,
            failed_since: None,
        });
        let before = served.snapshot.load_full();
        let previous = before.as_deref().filter(|_| !with_figures);
        let built = if self.is_unavailable {
            Err(None)
        } else {
            let build = engine.build_snapshot(served.id, served.team, previous);
            let built = tokio::time::timeout(BUILD_TIMEOUT, build).await;
            built.map_or(Err(None), |built| built.map_err(Some))
        };
        match built {
            Ok(Some(built)) => {
                let mut snapshot = built.snapshot;
                let is_same = before.as_ref().is_some_and(|before| shows_same(before, &snapshot));
                state.revision += u64::from(!is_same);
                // Differs after a restart, too.
                snapshot.revision = (started_revision(engine) << 20) + state.revision;
                served.snapshot.store(Some(Arc::new(snapshot)));
                if previous.is_none() {
                    state.figures_at = Some(started);
                }
                (state.monitors, state.changed) = (built.monitors, served.changed);
                state.basis = Some(built.basis);
                state.failed_since = None;
            }
            // Deleted meanwhile.
            Ok(None) => {}
            Err(error) => {
                let since = *state.failed_since.get_or_insert(engine.now());
                if let (Some(before), Some(basis)) = (&before, &state.basis) {
                    let mut snapshot = engine.overlay(basis, before, since);
                    state.revision += u64::from(!shows_same(before, &snapshot));
                    snapshot.revision = (started_revision(engine) << 20) + state.revision;
                    served.snapshot.store(Some(Arc::new(snapshot)));
                }
                // The other pages of this round need not wait for it as well.
                self.is_unavailable |= error.as_ref().is_none_or(Error::is_unavailable);
                if let Some(error) = error {
                    tracing::warn!(page.id = %served.id, error = %ErrorChain(&error), "building status page {} failed, retrying in {} s", served.id, SHARED_INTERVAL.as_secs());
                }
            }
        }
        state.built = Some(Instant::now());
        self.pages.insert(served.id, state);
        metrics::counter!("wakeful_statuspage_snapshots_total").increment(1);
    }

    /// Reads the list of pages again if something has changed.
    async fn read_index(&mut self, engine: &Engine) -> Result<()> {
        let snapshots = engine.snapshots();
        let is_asked = snapshots.reload.swap(false, Ordering::Relaxed);
        let store = engine.store();
        let every = if store.is_shared() && !engine.bus().is_connected() {
            SHARED_INTERVAL
        } else {
            RELOAD_INTERVAL
        };
        let is_due = self.looked_at.is_none_or(|at| at.elapsed() >= every);
        if !is_asked && !is_due {
            return Ok(());
        }
        let changes = store.statuspage_changes().await?;
        self.looked_at = Some(Instant::now());
        if self.changes == Some(changes) {
            return Ok(());
        }
        let old = snapshots.index.load_full();
        let mut index = Index::default();
        for published in store.published_pages().await? {
            let id = published.page.id;
            let known = old.pages.get(&id);
            let served = match known {
                Some(known) if known.changed == published.changed => Arc::clone(known),
                _ => Arc::new(Served::of(&published.page, published.changed)),
            };
            if let Some(known) = known.filter(|known| !Arc::ptr_eq(known, &served)) {
                served.snapshot.store(known.snapshot.load_full());
                served.used.store(known.used.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            index.slugs.insert(served.slug.clone(), Found::Page(Arc::clone(&served)));
            index.pages.insert(id, served);
        }
        for slug in store.published_slugs().await?.into_iter().filter(|one| !one.is_current) {
            if let Some(page) = index.pages.get(&slug.page) {
                let moved = Found::Moved(page.slug.clone());
                index.slugs.entry(slug.slug).or_insert(moved);
            }
        }
        let verify = engine.verifies_domains();
        let is_served = |one: &PublishedDomain| one.is_verified || !verify;
        for domain in store.published_domains().await?.into_iter().filter(is_served) {
            if let Some(page) = index.pages.get(&domain.page) {
                index.domains.insert(domain.domain, Arc::clone(page));
            }
        }
        snapshots.index.store(Arc::new(index));
        snapshots.is_loaded.store(true, Ordering::Relaxed);
        self.changes = Some(changes);
        Ok(())
    }

    /// Makes the pages of monitors and components known.
    fn publish_parts(&self, engine: &Engine, index: &Index) {
        let mut shown: HashMap<MonitorId, Vec<StatuspageId>> = HashMap::new();
        for (page, state) in &self.pages {
            for monitor in &state.monitors {
                shown.entry(*monitor).or_default().push(*page);
            }
        }
        let snapshots = engine.snapshots();
        if **snapshots.monitors.load() != shown {
            snapshots.monitors.store(Arc::new(shown));
        }
        let mut components = HashMap::new();
        for (page, served) in &index.pages {
            let Some(snapshot) = served.snapshot() else { continue };
            components.extend(snapshot.components().map(|one| (one.id, *page)));
        }
        if **snapshots.components.load() != components {
            snapshots.components.store(Arc::new(components));
        }
    }
}

/// Reports the age of the oldest data of the pages in use.
fn report_age(engine: &Engine, index: &Index) {
    let now = engine.now();
    let in_use = index.pages.values().filter(|page| page.is_in_use(now));
    let ages = in_use.filter_map(|page| Some(now.since(page.snapshot()?.as_of)));
    let oldest = ages.max().unwrap_or_default();
    metrics::gauge!("wakeful_statuspage_age_seconds").set(oldest.as_secs_f64());
}

/// Whether two snapshots show the same, apart from when they were built.
fn shows_same(one: &Snapshot, two: &Snapshot) -> bool {
    let text = |snapshot: &Snapshot| {
        let mut value = serde_json::to_value(snapshot).unwrap_or_default();
        if let Some(fields) = value.as_object_mut() {
            fields.remove("as_of");
            fields.remove("revision");
        }
        value
    };
    text(one) == text(two)
}

/// Seconds since 1970 at which this node was started.
fn started_revision(engine: &Engine) -> u64 {
    (engine.0.started.0.max(0) / 1_000).cast_unsigned()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
