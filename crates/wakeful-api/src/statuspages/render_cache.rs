//! Rendered pages, stored as gzip. They are read without a lock; a page is rendered by one
//! request at a time, and the others get its previous form meanwhile. So does a visitor whose
//! request takes long to render, or cannot be. Rendering leaves half of the processor to others.

use arc_swap::ArcSwap;
use axum::http::HeaderValue;
use flate2::Compression;
use flate2::read::GzDecoder;
use hyper::body::Bytes;
use std::collections::HashMap;
use std::error::Error;
use std::io::Read as _;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::StatuspageId;
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::snapshot::Snapshot;
use wakeful_core::time::Millis;

use super::etag;
use super::form::Form;
use crate::compression::gzip;

/// Of one page.
const MAX_ENTRIES: usize = 256;
/// The memory of an entry besides its content.
const OVERHEAD: usize = 256;
/// How long a visitor waits for a new form where there is a previous one.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// After rendering that took so long, a page rests for a multiple of that time: its previous forms
/// are served, however often it changes.
const LONG: Duration = Duration::from_millis(100);
const REST: u32 = 4;
const MAX_REST: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) form: Form,
    pub(super) language: Language,
    /// The component, the incident or the month; empty for other forms.
    pub(super) name: String,
    /// For a visitor who has unlocked the page.
    pub(super) unlocked: bool,
    /// With the links of the page's own domain.
    pub(super) on_domain: bool,
}

/// The state of a page that a rendered form shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    revision: u64,
    as_of: Millis,
}

impl Version {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        Self { revision: snapshot.revision, as_of: snapshot.as_of }
    }
}

/// A document as it is sent.
#[derive(Debug)]
pub(super) struct Rendered {
    version: Version,
    pub(super) etag: HeaderValue,
    pub(super) gzip: Bytes,
}

impl Rendered {
    fn new(version: Version, text: &str) -> Self {
        let bytes = text.as_bytes();
        Self { version, etag: etag::of(bytes), gzip: gzip(bytes, Compression::default()) }
    }

    /// For the few clients that do not accept gzip.
    pub(super) fn decompressed(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        GzDecoder::new(&self.gzip[..]).read_to_end(&mut bytes).expect("we have compressed it");
        bytes
    }

    fn size(&self) -> usize {
        self.gzip.len() + OVERHEAD
    }
}

type Entries = HashMap<Key, Arc<Rendered>>;

#[derive(Default)]
struct PageEntries {
    entries: ArcSwap<Entries>,
    /// Held while a form is rendered. Until when the page rests.
    rendering: Arc<Mutex<Option<Instant>>>,
    /// The number of the last request.
    used: AtomicU64,
    bytes: AtomicUsize,
}

/// The rendered forms of all pages. Beyond `max_bytes`, which snapshots and images share, those of the least recently requested
/// page are dropped first.
pub(crate) struct RenderCache {
    max_bytes: usize,
    pages: ArcSwap<HashMap<StatuspageId, Arc<PageEntries>>>,
    requests: AtomicU64,
    /// How many pages are rendered at once.
    turns: Semaphore,
    /// Those that go on after their request. They only read, so shutdown need not wait for them.
    tasks: TaskTracker,
}

impl RenderCache {
    pub(crate) fn new(max_bytes: usize) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            max_bytes,
            pages: ArcSwap::default(),
            requests: AtomicU64::new(0),
            turns: Semaphore::new((processors / 2).max(1)),
            tasks: TaskTracker::new(),
        }
    }

    /// The rendered form. Only if there is none of this version, `read` reads what it shows, and
    /// returns what renders it, on a thread of its own: `None` for what does not exist, which is
    /// not stored. `taken` is what else of pages is in memory.
    pub(super) async fn get<E, R>(
        self: &Arc<Self>,
        page: StatuspageId,
        key: Key,
        version: Version,
        taken: usize,
        read: impl Future<Output = Result<R, E>> + Send + 'static,
    ) -> Result<Option<Arc<Rendered>>, E>
    where
        E: Error + Send + 'static,
        R: FnOnce() -> Option<String> + Send + 'static,
    {
        let entries = self.page(page);
        entries.used.store(self.requests.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let stored = entries.entries.load().get(&key).cloned();
        let (previous, rendering) = match stored {
            Some(stored) if stored.version == version => return Ok(Some(stored)),
            Some(previous) => match Arc::clone(&entries.rendering).try_lock_owned() {
                Ok(rendering) if !is_resting(*rendering) => (Some(previous), rendering),
                _ => return Ok(Some(previous)),
            },
            None => {
                let rendering = Arc::clone(&entries.rendering).lock_owned().await;
                let stored = entries.entries.load().get(&key).cloned();
                if let Some(stored) = stored.filter(|stored| stored.version == version) {
                    return Ok(Some(stored));
                }
                (None, rendering)
            }
        };
        let cache = Arc::clone(self);
        let making = async move {
            let mut rendering = rendering;
            let render = read.await?;
            let turn = cache.turns.acquire().await;
            let rendered = spawn_blocking(move || {
                let started = Instant::now();
                let rendered = render().map(|text| Rendered::new(version, &text));
                (rendered, started.elapsed())
            });
            let (rendered, took) =
                rendered.await.unwrap_or_else(|error| resume_unwind(error.into_panic()));
            drop(turn);
            *rendering = (took >= LONG).then(|| Instant::now() + (took * REST).min(MAX_REST));
            let Some(rendered) = rendered.map(Arc::new) else { return Ok(None) };
            metrics::counter!("wakeful_statuspage_renders_total").increment(1);
            metrics::histogram!("wakeful_statuspage_render_seconds").record(took.as_secs_f64());
            entries.insert(key, Arc::clone(&rendered));
            cache.drop_unused(page, cache.max_bytes.saturating_sub(taken));
            Ok::<_, E>(Some(rendered))
        };
        // It goes on when the visitor leaves: its thread cannot be stopped, and must not lose its
        // turn before it is done.
        let making = self.tasks.spawn(making);
        let Some(previous) = previous else {
            return making.await.unwrap_or_else(|error| resume_unwind(error.into_panic()));
        };
        match timeout(MAX_WAIT, making).await {
            Ok(Ok(Ok(rendered))) => Ok(rendered),
            Ok(Ok(Err(error))) => {
                tracing::debug!(page.id = %page, error = %ErrorChain(&error), "rendering status page {page} failed, its previous form is shown");
                Ok(Some(previous))
            }
            // It goes on for later visitors, unless it has panicked.
            Err(_) | Ok(Err(_)) => Ok(Some(previous)),
        }
    }

    fn page(&self, page: StatuspageId) -> Arc<PageEntries> {
        if let Some(found) = self.pages.load().get(&page) {
            return Arc::clone(found);
        }
        let added = Arc::new(PageEntries::default());
        self.pages.rcu(|pages| {
            let mut pages = HashMap::clone(pages);
            pages.entry(page).or_insert_with(|| Arc::clone(&added));
            pages
        });
        self.pages.load().get(&page).cloned().unwrap_or(added)
    }

    /// Drops the least recently requested pages while all take too much memory.
    fn drop_unused(&self, current: StatuspageId, max_bytes: usize) {
        let pages = self.pages.load();
        let bytes = |entries: &Arc<PageEntries>| entries.bytes.load(Ordering::Relaxed);
        let mut total: usize = pages.values().map(bytes).sum();
        if total <= max_bytes {
            return;
        }
        let mut oldest: Vec<_> = pages.iter().filter(|(page, _)| **page != current).collect();
        oldest.sort_by_key(|(_, entries)| entries.used.load(Ordering::Relaxed));
        let mut dropped = Vec::new();
        for (page, entries) in oldest {
            if total <= max_bytes {
                break;
            }
            total -= bytes(entries);
            dropped.push(*page);
        }
        self.pages.rcu(|pages| {
            let mut pages = HashMap::clone(pages);
            dropped.iter().for_each(|page| drop(pages.remove(page)));
            pages
        });
    }
}

fn is_resting(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() < until)
}

impl PageEntries {
    /// Called by the one who renders, so no other call changes the entries.
    fn insert(&self, key: Key, rendered: Arc<Rendered>) {
        let mut entries = Entries::clone(&self.entries.load());
        if entries.len() >= MAX_ENTRIES {
            // Those without a name are still served while they are rendered again.
            entries.retain(|key, stored| stored.version == rendered.version || key.name.is_empty());
        }
        if entries.len() >= MAX_ENTRIES {
            // Forms with a name are many; the others are few and requested most.
            entries.retain(|key, _| key.name.is_empty());
        }
        entries.insert(key, rendered);
        let bytes = entries.values().map(|stored| stored.size()).sum();
        self.bytes.store(bytes, Ordering::Relaxed);
        self.entries.store(Arc::new(entries));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statuspages::sample;
    use std::convert::Infallible;

    fn key(name: &str) -> Key {
        Key {
            form: Form::Incident,
            language: Language::English,
            name: name.to_owned(),
            unlocked: false,
            on_domain: false,
        }
    }

    async fn get(cache: &Arc<RenderCache>, name: &str, version: u64, text: &str) -> Option<String> {
        let text = (!text.is_empty()).then(|| text.to_owned());
        let Ok(found) = get_by(cache, name, version, async { Ok::<_, Infallible>(text) }).await;
        found
    }

    async fn get_by<E: Error + Send + 'static>(
        cache: &Arc<RenderCache>,
        name: &str,
        version: u64,
        render: impl Future<Output = Result<Option<String>, E>> + Send + 'static,
    ) -> Result<Option<String>, E> {
        let page = sample::empty().page.id;
        let version = Version { revision: version, as_of: Millis(0) };
        let read = async move {
            let text = render.await?;
            Ok::<_, E>(move || text)
        };
        let found = cache.get(page, key(name), version, 0, read).await?;
        Ok(found.map(|found| String::from_utf8(found.decompressed()).expect("text")))
    }

    fn cache(max_bytes: usize) -> Arc<RenderCache> {
        Arc::new(RenderCache::new(max_bytes))
    }

    #[tokio::test]
    async fn a_form_is_rendered_once_for_each_version() {
        let cache = cache(1 << 20);
        assert_eq!(get(&cache, "a", 1, "one").await.as_deref(), Some("one"));
        assert_eq!(get(&cache, "a", 1, "two").await.as_deref(), Some("one"));
        assert_eq!(get(&cache, "a", 2, "two").await.as_deref(), Some("two"));
        assert_eq!(get(&cache, "missing", 2, "").await, None);
        assert_eq!(get(&cache, "missing", 2, "now").await.as_deref(), Some("now"));
    }

    #[tokio::test]
    async fn while_a_form_is_rendered_the_previous_one_is_served() {
        let cache = cache(1 << 20);
        get(&cache, "a", 1, "one").await;
        let entries = cache.page(sample::empty().page.id);
        let rendering = entries.rendering.lock().await;
        assert_eq!(get(&cache, "a", 2, "two").await.as_deref(), Some("one"));
        drop(rendering);
        assert_eq!(get(&cache, "a", 2, "two").await.as_deref(), Some("two"));
    }

    #[tokio::test]
    async fn a_form_that_cannot_be_rendered_stays_as_it_was() {
        let cache = cache(1 << 20);
        let failing = async || get_by(&cache, "a", 2, async { Err(std::fmt::Error) }).await;
        assert_eq!(failing().await, Err(std::fmt::Error), "there is none yet");
        get(&cache, "a", 1, "one").await;
        assert_eq!(failing().await, Ok(Some("one".to_owned())));
        assert_eq!(get(&cache, "a", 2, "").await, None, "it does not exist any more");
        assert_eq!(get(&cache, "a", 2, "two").await.as_deref(), Some("two"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_visitor_does_not_wait_long_for_a_form_that_has_changed() {
        let cache = cache(1 << 20);
        get(&cache, "a", 1, "one").await;
        let (done, waiting) = tokio::sync::oneshot::channel::<String>();
        let slow = async move { waiting.await.map(Some) };
        assert_eq!(get_by(&cache, "a", 2, slow).await, Ok(Some("one".to_owned())));
        // It is still being rendered, and then stored.
        assert_eq!(get(&cache, "a", 2, "other").await.as_deref(), Some("one"));
        done.send("two".to_owned()).expect("somebody waits");
        cache.tasks.close();
        cache.tasks.wait().await;
        assert_eq!(get(&cache, "a", 2, "other").await.as_deref(), Some("two"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_form_is_rendered_to_its_end_when_the_visitor_leaves() {
        let cache = cache(1 << 20);
        let (done, waiting) = tokio::sync::oneshot::channel::<String>();
        let slow = async move { waiting.await.map(Some) };
        let left = timeout(Duration::from_millis(1), get_by(&cache, "a", 1, slow)).await;
        assert!(left.is_err());
        let entries = cache.page(sample::empty().page.id);
        assert!(entries.rendering.try_lock().is_err(), "no other form is rendered meanwhile");
        done.send("one".to_owned()).expect("somebody waits");
        cache.tasks.close();
        cache.tasks.wait().await;
        assert_eq!(get(&cache, "a", 1, "other").await.as_deref(), Some("one"));
    }

    #[tokio::test]
    async fn a_page_that_takes_long_to_render_rests() {
        let cache = cache(1 << 20);
        get(&cache, "a", 1, "one").await;
        let rests = async |until| {
            let entries = cache.page(sample::empty().page.id);
            *entries.rendering.lock().await = Some(until);
        };
        rests(Instant::now() + Duration::from_secs(60)).await;
        assert_eq!(get(&cache, "a", 2, "two").await.as_deref(), Some("one"));
        assert_eq!(get(&cache, "b", 2, "two").await.as_deref(), Some("two"), "there was none");
        rests(Instant::now()).await;
        assert_eq!(get(&cache, "a", 2, "two").await.as_deref(), Some("two"));
    }

    #[tokio::test]
    async fn forms_without_a_name_are_not_dropped_for_those_with_one() {
        let cache = cache(1 << 20);
        get(&cache, "", 1, "front").await;
        for index in 0..2 * MAX_ENTRIES {
            get(&cache, &index.to_string(), 2, "x").await;
        }
        let failed = get_by(&cache, "", 2, async { Err(std::fmt::Error) }).await;
        assert_eq!(failed, Ok(Some("front".to_owned())));
    }

    #[tokio::test]
    async fn the_least_recently_requested_page_is_dropped_first() {
        let taken = 1 << 20;
        let cache = cache(taken + 3 * (OVERHEAD + 100));
        let version = Version { revision: 1, as_of: Millis(0) };
        let pages = [1, 2, 3, 4].map(|seed| StatuspageId::new(Millis(0), [seed; 10]));
        for page in [0, 1, 2, 0, 3] {
            let read = async { Ok::<_, Infallible>(|| Some("x".to_owned())) };
            let Ok(_) = cache.get(pages[page], key("a"), version, taken, read).await;
        }
        let stored = cache.pages.load();
        let has = pages.map(|page| stored.contains_key(&page));
        assert_eq!(has, [true, false, true, true]);
    }

    #[tokio::test]
    async fn the_number_of_entries_is_bounded() {
        let cache = cache(1 << 20);
        for index in 0..2 * MAX_ENTRIES {
            get(&cache, &index.to_string(), 1, "x").await;
        }
        let entries = cache.page(sample::empty().page.id);
        assert!(entries.entries.load().len() <= MAX_ENTRIES);
        assert!(entries.bytes.load(Ordering::Relaxed) <= MAX_ENTRIES * (OVERHEAD + 100));
    }
}
