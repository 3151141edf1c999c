//! The loop that builds the snapshots of status pages again when something that they show has
//! changed, at most once a second for each page, and bounds the memory that they take. Each team
//! has one page built at a time, and a page that takes long is built less often, so that no team
//! delays the pages of others.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{ComponentId, MonitorId, StatuspageId, TeamId};
use wakeful_core::statuspages::snapshot::Snapshot;
use wakeful_core::time::Millis;
use wakeful_store::PublishedDomain;

use super::build::Built;
use super::figures::PastTracks;
use super::overlay::Basis;
use super::snapshots::{Found, Index, Served, lock};
use crate::notifications::delivery::survive::survived;
use crate::{Engine, Error, Result, failpoint};

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
/// How many are built at once, each of another team.
const MAX_CONCURRENT_BUILDS: usize = 8;
/// How long a round waits for its builds; those that take longer go on beside the next rounds.
const ROUND_TIMEOUT: Duration = Duration::from_secs(1);
/// A page rests for this multiple of what its last build took, if that failed or read only
/// statuses.
const REST: u32 = 4;
/// The same for the figures of a page.
const FIGURES_REST: u32 = 10;
/// How often the list of pages is read again in any case.
const RELOAD_INTERVAL: Duration = Duration::from_secs(60);

/// What the loop knows of a page.
struct PageState {
    built: Option<Instant>,
    figures_at: Option<Instant>,
    /// How long it took to compute them.
    figures_took: Duration,
    /// The revision of the page that they are of.
    figures_of: i64,
    /// The revision of the page that was built.
    changed: i64,
    /// How long the page rests after its last build.
    rest: Duration,
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
    fn new() -> Self {
        Self {
            built: None,
            figures_at: None,
            figures_took: Duration::ZERO,
            figures_of: 0,
            changed: 0,
            rest: Duration::ZERO,
            monitors: Vec::new(),
            components: Vec::new(),
            basis: None,
            past: PastTracks::new(),
            snapshot_bytes: 0,
            revision: 0,
            failed_since: None,
            next_change: None,
        }
    }

    /// Whether the figures are to be computed again, because they are old or the page was edited.
    fn is_figures_due(&self, served: &Served, in_use: bool) -> bool {
        let age = self.figures_at.map_or(Duration::MAX, |at| at.elapsed());
        let every = if in_use { FIGURES_INTERVAL } else { IDLE_FIGURES_INTERVAL };
        age >= self.figures_took * FIGURES_REST && (age >= every || self.lacks_figures(served))
    }

    /// Whether the figures are those of the page before it was edited.
    fn lacks_figures(&self, served: &Served) -> bool {
        self.figures_of != served.changed
    }

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
            Some(done) = builder.running.join_next() => builder.finish_one(&engine, done),
            () = shutdown.cancelled() => break,
        }
    }
}

/// A build that was started.
struct Build {
    served: Arc<Served>,
    /// What the page showed then.
    before: Option<Arc<Snapshot>>,
    with_figures: bool,
    started: Instant,
}

/// What came of it, and what is known of the days that are over.
struct Finished {
    build: Build,
    past: PastTracks,
    built: std::result::Result<Option<Built>, BuildFailure>,
}

impl Build {
    async fn run(self, engine: Engine, mut past: PastTracks) -> Finished {
        let served = &self.served;
        let previous = self.before.as_deref().filter(|_| !self.with_figures);
        let building = async {
            failpoint::panic_with("panic-building", &served.slug);
            failpoint::hang_with("hang-building", &served.slug).await;
            engine.build_snapshot(served.id, served.team, previous, &mut past).await
        };
        let built = match survived(timeout(BUILD_TIMEOUT, building)).await {
            Ok(Ok(built)) => built.map_err(BuildFailure::Failed),
            // The page itself may be the reason.
            Ok(Err(_)) => match timeout(PING_TIMEOUT, engine.store().ping()).await {
                Ok(Ok(())) => Err(BuildFailure::TooSlow),
                _ => Err(BuildFailure::NoResponse),
            },
            Err(_) => Err(BuildFailure::Panicked),
        };
        Finished { build: self, past, built }
    }
}

/// Why a page was not built.
enum BuildFailure {
    /// The database did not respond, for this page or for an earlier one.
    NoResponse,
    /// The database responds, but there is too much to read.
    TooSlow,
    Failed(Error),
    Panicked,
}

impl BuildFailure {
    fn is_unavailable(&self) -> bool {
        match self {
            Self::NoResponse => true,
            Self::Failed(error) => error.is_unavailable(),
            Self::TooSlow | Self::Panicked => false,
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
    running: JoinSet<Finished>,
    /// The pages that are being built, and their teams.
    building: HashMap<StatuspageId, TeamId>,
}

impl Builder {
    /// Builds what is due; returns how long nothing else is. A page that cannot be built delays no
    /// other.
    async fn round(&mut self, engine: &Engine) -> Duration {
        let snapshots = engine.snapshots();
        self.is_unavailable = false;
        match timeout(PING_TIMEOUT, self.read_index(engine)).await {
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
            if self.building.contains_key(id) {
                continue;
            }
            let in_use = served.is_in_use(now);
            match self.due(*id, served, in_use, is_polling, now) {
                Some(figures) => due.push((in_use, figures, Arc::clone(served))),
                None => soon |= self.is_changed(*id, served, now),
            }
        }
        // Requested pages first, those that were not built for the longest time before others.
        due.sort_by_cached_key(|(in_use, _, served)| {
            (!in_use, self.pages.get(&served.id).and_then(|state| state.built), served.id)
        });
        if !due.is_empty() && !self.is_unavailable {
            // A database that hangs is noticed before each page waits for it.
            let ping = timeout(PING_TIMEOUT, engine.store().ping()).await;
            self.is_unavailable = !matches!(ping, Ok(Ok(())));
        }
        let more = self.build_all(engine, due).await;
        self.bound_memory(engine, &index);
        self.publish_parts(engine);
        report_age(engine, &index);
        let wait = match () {
            () if more || soon || !self.waiting.is_empty() => return MIN_INTERVAL,
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
        let figures_due = state.is_figures_due(served, in_use);
        let every = match () {
            () if self.is_changed(id, served, now) => MIN_INTERVAL,
            () if figures_due && state.lacks_figures(served) => MIN_INTERVAL,
            // Nobody needs it until it is requested or changed.
            () if served.is_resting() => Duration::MAX,
            () if served.is_dropped() => Duration::ZERO,
            () if state.failed_since.is_some() => SHARED_INTERVAL,
            () if in_use && is_polling => SHARED_INTERVAL,
            () if in_use => FIGURES_INTERVAL,
            () => IDLE_INTERVAL,
        };
        (age >= every.max(state.rest)).then_some(figures_due)
    }

    /// Whether a page was edited, one of its monitors has another status, or it is time for
    /// another one.
    fn is_changed(&self, id: StatuspageId, served: &Served, now: Millis) -> bool {
        let is_other = |state: &PageState| {
            state.changed != served.changed || state.next_change.is_some_and(|at| at <= now)
        };
        self.waiting.contains(&id) || self.pages.get(&id).is_some_and(is_other)
    }

    /// Builds the pages that are due, one of each team at a time, and waits a moment until they
    /// are. Returns whether some are still due.
    async fn build_all(
        &mut self,
        engine: &Engine,
        mut due: Vec<(bool, bool, Arc<Served>)>,
    ) -> bool {
        let until = Instant::now() + ROUND_TIMEOUT;
        let mut started = 0;
        loop {
            due.retain(|(_, figures, served)| {
                let is_busy = self.running.len() >= MAX_CONCURRENT_BUILDS
                    || self.building.values().any(|team| *team == served.team);
                // Pages that only show what this node knows need no connection.
                if started >= MAX_BUILDS || (is_busy && !self.is_unavailable) {
                    return true;
                }
                started += 1;
                self.start(engine, served, *figures);
                false
            });
            // `None`: nothing is running, so the rest is for the next round.
            match timeout_at(until, self.running.join_next()).await {
                Ok(Some(done)) => self.finish_one(engine, done),
                Ok(None) | Err(_) => return !due.is_empty(),
            }
        }
    }

    fn start(&mut self, engine: &Engine, served: &Arc<Served>, with_figures: bool) {
        self.waiting.remove(&served.id);
        let state = self.pages.entry(served.id).or_insert_with(PageState::new);
        state.next_change = None;
        let past = std::mem::take(&mut state.past);
        let before = served.snapshot();
        let with_figures = with_figures || before.is_none();
        let build =
            Build { served: Arc::clone(served), before, with_figures, started: Instant::now() };
        if self.is_unavailable {
            let built = Err(BuildFailure::NoResponse);
            return self.finish(engine, Finished { build, past, built });
        }
        self.building.insert(served.id, served.team);
        self.running.spawn(build.run(engine.clone(), past));
    }

    fn finish_one(
        &mut self,
        engine: &Engine,
        done: std::result::Result<Finished, tokio::task::JoinError>,
    ) {
        match done {
            Ok(finished) => self.finish(engine, finished),
            // Panics are caught inside, so this is one of the builder itself.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // Shutdown.
            Err(_) => {}
        }
    }

    fn finish(&mut self, engine: &Engine, finished: Finished) {
        let Finished { build: Build { served: built_for, before, with_figures, started }, .. } =
            finished;
        let id = built_for.id;
        self.building.remove(&id);
        // It may have been edited, or deleted, meanwhile.
        let Some(served) = engine.snapshots().by_id(id) else { return };
        let state = self.pages.entry(id).or_insert_with(PageState::new);
        state.past = finished.past;
        let took = started.elapsed();
        state.rest = took * REST;
        if with_figures {
            state.figures_took = took;
        }
        match finished.built {
            Ok(Some(built)) => {
                let mut snapshot = built.snapshot;
                let is_same = before.as_ref().is_some_and(|before| shows_same(before, &snapshot));
                state.revision += u64::from(!is_same);
                // Differs after a restart, too.
                snapshot.revision = (started_revision(engine) << 20) + state.revision;
                if with_figures {
                    state.figures_at = Some(started);
                    state.figures_of = built_for.changed;
                    state.rest = Duration::ZERO;
                }
                state.snapshot_bytes = snapshot.bytes();
                state.components = snapshot.components().map(|one| one.id).collect();
                (state.monitors, state.changed) = (built.monitors, built_for.changed);
                state.next_change = built.basis.next_change(snapshot.as_of);
                state.basis = Some(built.basis);
                state.failed_since = None;
                served.show(snapshot);
            }
            // Deleted meanwhile.
            Ok(None) => served.refuse_waiting(),
            Err(failure) => {
                let since = *state.failed_since.get_or_insert(engine.now());
                if matches!(failure, BuildFailure::TooSlow) && before.is_some() && with_figures {
                    // The statuses are shown with the figures that there are.
                    state.figures_at = Some(started);
                    state.rest = Duration::ZERO;
                }
                // After a panic here, too, visitors see the last snapshot.
                if let (Some(before), Some(basis)) = (&before, &state.basis)
                    && let Ok(mut snapshot) =
                        catch_unwind(AssertUnwindSafe(|| engine.overlay(basis, before, since)))
                {
                    state.revision += u64::from(!shows_same(before, &snapshot));
                    snapshot.revision = (started_revision(engine) << 20) + state.revision;
                    served.show(snapshot);
                }
                served.refuse_waiting();
                // The other pages of this round need not wait for the database as well.
                self.is_unavailable |= failure.is_unavailable();
                log_failure(id, &failure, took);
            }
        }
        // The figures of other pages are computed so rarely that it would not help them.
        if !served.is_in_use(engine.now()) {
            state.past = PastTracks::new();
        }
        state.built = Some(Instant::now());
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

    /// Makes the pages of monitors and components known. A page is built again for the monitors
    /// that were not known before: a change since it was built could not be noticed.
    fn publish_parts(&mut self, engine: &Engine) {
        let mut shown: HashMap<MonitorId, Vec<StatuspageId>> = HashMap::new();
        let mut components = HashMap::new();
        for (page, state) in &self.pages {
            for monitor in &state.monitors {
                shown.entry(*monitor).or_default().push(*page);
            }
            components.extend(state.components.iter().map(|one| (*one, *page)));
        }
        let snapshots = engine.snapshots();
        let before = snapshots.monitors.load();
        if **before != shown {
            let added = shown.iter().flat_map(|(monitor, pages)| {
                let known = before.get(monitor).map_or(&[][..], Vec::as_slice);
                pages.iter().filter(move |page| !known.contains(page)).copied()
            });
            self.waiting.extend(added);
            snapshots.monitors.store(Arc::new(shown));
        }
        if **snapshots.components.load() != components {
            snapshots.components.store(Arc::new(components));
        }
    }
}

fn log_failure(page: StatuspageId, failure: &BuildFailure, took: Duration) {
    let seconds = SHARED_INTERVAL.as_secs();
    match failure {
        BuildFailure::NoResponse => {}
        BuildFailure::TooSlow => {
            let seconds = took.as_secs();
            tracing::warn!(page.id = %page, "building status page {page} was stopped after {seconds} s, because it shows too many monitors; retrying later");
        }
        BuildFailure::Failed(error) => {
            tracing::warn!(page.id = %page, error = %ErrorChain(error), "building status page {page} failed, retrying in {seconds} s");
        }
        BuildFailure::Panicked => {
            tracing::error!(page.id = %page, "building status page {page} failed because of a bug in Wakeful, retrying in {seconds} s");
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
