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
use wakeful_core::id::{MonitorId, StatuspageId, TeamId};
use wakeful_core::secret::Secret;
use wakeful_core::statuspages::page::{Access, StatusPage};
use wakeful_core::statuspages::snapshot::{Indicator, Snapshot};
use wakeful_core::statuspages::unlock::token_revision;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use crate::bus::NodeMessage;
use crate::{Engine, Result};

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
}

/// The pages in memory.
#[derive(Default)]
pub struct Snapshots {
    index: ArcSwap<Index>,
    is_loaded: AtomicBool,
    /// The pages that show each monitor, as far as they were built.
    monitors: ArcSwap<HashMap<MonitorId, Vec<StatuspageId>>>,
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
    changes: Option<(i64, i64)>,
}

impl Builder {
    /// Builds what is due; returns how long nothing else is.
    async fn round(&mut self, engine: &Engine) -> Duration {
        let snapshots = engine.snapshots();
        if let Err(error) = self.read_index(engine).await {
            tracing::warn!(error = %ErrorChain(&error), "reading status pages failed, retrying in {} s", SHARED_INTERVAL.as_secs());
            snapshots.reload.store(true, Ordering::Relaxed);
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
            let in_use = now.since(Millis(served.used.load(Ordering::Relaxed))) < IN_USE;
            match self.due(*id, served, in_use, is_polling) {
                Some(figures) => due.push((in_use, figures, Arc::clone(served))),
                None => soon |= self.is_changed(*id, served),
            }
        }
        // Requested pages first.
        due.sort_by_key(|(in_use, _, served)| (!in_use, served.id));
        let more = due.len() > MAX_BUILDS;
        for (_, figures, served) in due.into_iter().take(MAX_BUILDS) {
            self.waiting.remove(&served.id);
            self.build(engine, &served, figures).await;
        }
        self.publish_monitors(engine);
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
            revision: 0,
            failed_since: None,
        });
        let before = served.snapshot.load_full();
        let previous = before.as_deref().filter(|_| !with_figures);
        match engine.build_snapshot(served.id, served.team, previous).await {
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
                state.failed_since = None;
            }
            // Deleted meanwhile.
            Ok(None) => {}
            Err(error) => {
                let since = *state.failed_since.get_or_insert(engine.now());
                if let Some(before) = &before {
                    let snapshot = Snapshot { delayed_since: Some(since), ..(**before).clone() };
                    served.snapshot.store(Some(Arc::new(snapshot)));
                }
                tracing::warn!(page.id = %served.id, error = %ErrorChain(&error), "building status page {} failed, retrying in {} s", served.id, SHARED_INTERVAL.as_secs());
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
        snapshots.index.store(Arc::new(index));
        snapshots.is_loaded.store(true, Ordering::Relaxed);
        self.changes = Some(changes);
        Ok(())
    }

    fn publish_monitors(&self, engine: &Engine) {
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
    }
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
