//! The loop that builds the snapshots of status pages again when something that they show has
//! changed, at most once a second for each page, and bounds the memory that they take.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{ComponentId, MonitorId, StatuspageId};
use wakeful_core::statuspages::snapshot::Snapshot;
use wakeful_core::time::Millis;
use wakeful_store::PublishedDomain;

use super::figures::PastTracks;
use super::overlay::Basis;
use super::snapshots::{Found, Index, Served, lock};
use crate::{Engine, Error, Result};

/// The shortest time between two snapshots of a page.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// Changes that are so close to each other are shown together.
const TOGETHER: Duration = Duration::from_millis(50);
/// How often nodes that share a database without NATS look for changes.
const SHARED_INTERVAL: Duration = Duration::from_secs(3);
/// How often the figures of a page in use are computed again.
const FIGURES_INTERVAL: Duration = Duration::from_secs(60);
/// How often pages that nobody has requested lately are built again, and their figures.
const IDLE_INTERVAL: Duration = Duration::from_secs(600);
const IDLE_FIGURES_INTERVAL: Duration = Duration::from_secs(3_600);
/// How long reading a page may take before it counts as failed.
const BUILD_TIMEOUT: Duration = Duration::from_secs(20);
/// The same for the list of pages, and for a query that reads nothing.
const PING_TIMEOUT: Duration = Duration::from_secs(5);
/// How many pages are built in one round, so that a restart does not occupy the database.
const MAX_BUILDS: usize = 20;
/// How often the list of pages is read again in any case.
const RELOAD_INTERVAL: Duration = Duration::from_secs(60);

/// What the loop knows of a page.
struct PageState {
    built: Option<Instant>,
    figures_at: Option<Instant>,
    /// The revision of the page that was built.
    changed: i64,
    monitors: Vec<MonitorId>,
    components: Vec<ComponentId>,
    /// What its statuses follow from while the database is unavailable.
    basis: Option<Basis>,
    /// The days of its history that are over, while the page is in use.
    past: PastTracks,
    /// The memory of its snapshot.
    snapshot_bytes: usize,
    revision: u64,
    failed_since: Option<Millis>,
    /// When time alone changes a status.
    next_change: Option<Millis>,
}

impl PageState {
    fn bytes(&self) -> usize {
        let past: usize = self.past.values().map(|one| one.bytes()).sum();
        let ids = self.monitors.len() * size_of::<MonitorId>()
            + self.components.len() * size_of::<ComponentId>();
        let basis = self.basis.as_ref().map_or(0, Basis::bytes);
        size_of::<Self>() + ids + basis + past + self.snapshot_bytes
    }
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
                sleep(TOGETHER).await;
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
            match self.due(*id, served, in_use, is_polling, now) {
                Some(figures) => due.push((in_use, figures, Arc::clone(served))),
                None => soon |= self.is_changed(*id, served, now),
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
        self.bound_memory(engine, &index);
        self.publish_parts(engine);
        report_age(engine, &index);
        let wait = match () {
            () if more || soon => return MIN_INTERVAL,
            () if is_polling => SHARED_INTERVAL,
            () if index.pages.is_empty() => RELOAD_INTERVAL,
            () => MIN_INTERVAL * 5,
        };
        let next = self.pages.values().filter_map(|state| state.next_change).min();
        next.map_or(wait, |at| at.since(engine.now()).clamp(TOGETHER, wait))
    }

    /// Whether a page is to be built, and whether with its figures.
    fn due(
        &self,
        id: StatuspageId,
        served: &Served,
        in_use: bool,
        is_polling: bool,
        now: Millis,
    ) -> Option<bool> {
        let Some(state) = self.pages.get(&id) else { return Some(true) };
        let age = state.built.map_or(Duration::MAX, |at| at.elapsed());
        let figures_age = state.figures_at.map_or(Duration::MAX, |at| at.elapsed());
        let figures_due =
            figures_age >= if in_use { FIGURES_INTERVAL } else { IDLE_FIGURES_INTERVAL };
        let is_edited = state.changed != served.changed;
        let every = match () {
            () if self.is_changed(id, served, now) => MIN_INTERVAL,
            // Nobody needs it until it is requested or changed.
            () if served.is_resting() => Duration::MAX,
            () if served.is_dropped() => Duration::ZERO,
            () if state.failed_since.is_some() => SHARED_INTERVAL,
            () if in_use && is_polling => SHARED_INTERVAL,
            () if in_use => FIGURES_INTERVAL,
            () => IDLE_INTERVAL,
        };
        (age >= every).then_some(figures_due || is_edited)
    }

    /// Whether a page was edited, one of its monitors has another status, or it is time for
    /// another one.
    fn is_changed(&self, id: StatuspageId, served: &Served, now: Millis) -> bool {
        let is_other = |state: &PageState| {
            state.changed != served.changed || state.next_change.is_some_and(|at| at <= now)
        };
        self.waiting.contains(&id) || self.pages.get(&id).is_some_and(is_other)
    }

    async fn build(&mut self, engine: &Engine, served: &Arc<Served>, with_figures: bool) {
        let started = Instant::now();
        let old = self.pages.remove(&served.id);
        let mut state = old.unwrap_or_else(|| PageState {
            built: None,
            figures_at: None,
            changed: 0,
            monitors: Vec::new(),
            components: Vec::new(),
            basis: None,
            past: PastTracks::new(),
            snapshot_bytes: 0,
            revision: 0,
            failed_since: None,
            next_change: None,
        });
        state.next_change = None;
        let before = served.snapshot();
        let previous = before.as_deref().filter(|_| !with_figures);
        let built = if self.is_unavailable {
            Err(None)
        } else {
            let build = engine.build_snapshot(served.id, served.team, previous, &mut state.past);
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
                if previous.is_none() {
                    state.figures_at = Some(started);
                }
                state.snapshot_bytes = snapshot.bytes();
                state.components = snapshot.components().map(|one| one.id).collect();
                (state.monitors, state.changed) = (built.monitors, served.changed);
                state.next_change = built.basis.next_change(snapshot.as_of);
                state.basis = Some(built.basis);
                state.failed_since = None;
                served.show(snapshot);
            }
            // Deleted meanwhile.
            Ok(None) => served.refuse_waiting(),
            Err(error) => {
                let since = *state.failed_since.get_or_insert(engine.now());
                if let (Some(before), Some(basis)) = (&before, &state.basis) {
                    let mut snapshot = engine.overlay(basis, before, since);
                    state.revision += u64::from(!shows_same(before, &snapshot));
                    snapshot.revision = (started_revision(engine) << 20) + state.revision;
                    served.show(snapshot);
                }
                served.refuse_waiting();
                // The other pages of this round need not wait for it as well.
                self.is_unavailable |= error.as_ref().is_none_or(Error::is_unavailable);
                if let Some(error) = error {
                    tracing::warn!(page.id = %served.id, error = %ErrorChain(&error), "building status page {} failed, retrying in {} s", served.id, SHARED_INTERVAL.as_secs());
                }
            }
        }
        // The figures of other pages are computed so rarely that it would not help them.
        if !served.is_in_use(engine.now()) {
            state.past = PastTracks::new();
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
                served.follow(known);
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
        snapshots.loaded.notify_waiters();
        self.changes = Some(changes);
        Ok(())
    }

    /// Drops the snapshots of the least recently requested pages while all of them take too much
    /// memory.
    fn bound_memory(&mut self, engine: &Engine, index: &Index) {
        let mut bytes: usize = self.pages.values().map(PageState::bytes).sum();
        // A part is left for what is rendered.
        let max = engine.settings().page_memory / 4 * 3;
        // While the database is unavailable, what is dropped cannot be built again.
        if bytes > max && !self.is_unavailable {
            let mut pages: Vec<&Arc<Served>> = index.pages.values().collect();
            pages.sort_by_key(|served| served.last_used());
            for served in pages {
                if bytes <= max {
                    break;
                }
                let Some(state) = self.pages.get_mut(&served.id) else { continue };
                bytes -= state.bytes();
                served.drop_snapshot();
                state.snapshot_bytes = 0;
                (state.basis, state.past) = (None, PastTracks::new());
                bytes += state.bytes();
            }
        }
        engine.snapshots().bytes.store(bytes, Ordering::Relaxed);
    }

    /// Makes the pages of monitors and components known.
    fn publish_parts(&self, engine: &Engine) {
        let mut shown: HashMap<MonitorId, Vec<StatuspageId>> = HashMap::new();
        let mut components = HashMap::new();
        for (page, state) in &self.pages {
            for monitor in &state.monitors {
                shown.entry(*monitor).or_default().push(*page);
            }
            components.extend(state.components.iter().map(|one| (*one, *page)));
        }
        let snapshots = engine.snapshots();
        if **snapshots.monitors.load() != shown {
            snapshots.monitors.store(Arc::new(shown));
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
