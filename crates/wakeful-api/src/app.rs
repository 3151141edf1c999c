//! The state that all handlers share: the engine, the HTTP settings, and the rate
//! limiter for the calls of each credential.

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use ipnet::IpNet;
use metrics_exporter_prometheus::PrometheusHandle;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wakeful_core::secret::Secret;
use wakeful_engine::{Engine, Via};

use crate::client_shares::ClientShares;
use crate::dto::admin::SettingSource;
use crate::error::ApiError;
use crate::event_streams::EventStreams;
use crate::push_limits::PushLimits;
use crate::statuspages::{PageImages, RenderCache};

/// After this many calls, the counters of inactive credentials are dropped.
const CLEANUP_EVERY_CALLS: u32 = 10_000;

#[derive(Clone, Debug)]
pub struct ApiSettings {
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Origins that may call the API from a browser; none by default.
    pub cors_origins: Vec<String>,
    pub body_limit: usize,
    pub api_calls_per_minute: NonZeroU32,
    /// The web app is served over TLS, so browsers get an HSTS header.
    pub https: bool,
    /// Whether HSTS includes the subdomains of the host.
    pub hsts_subdomains: bool,
    /// Reports to push URLs per minute from one client.
    pub pushes_per_minute: NonZeroU32,
    /// How many bytes of a ping's body are stored.
    pub ping_body_bytes: usize,
    /// The lifetime of the web app's cookie: as long as a session can last.
    pub session_max: Duration,
    pub docs: bool,
    pub metrics_token: Option<Secret>,
    /// If set, cards are entered in Stripe's own form, and the content security policy
    /// of the billing view allows it.
    pub stripe_publishable_key: Option<String>,
    /// The slug of the status page at `/status`; empty: none.
    pub front: String,
    /// The settings of the process, for administrators.
    pub effective_settings: Arc<[EffectiveSetting]>,
}

/// A setting with its effective value.
#[derive(Clone, Debug)]
pub struct EffectiveSetting {
    pub key: String,
    /// As in the settings file; secrets are hidden.
    pub value: String,
    pub source: SettingSource,
    /// The name of the file, the variable or the flag, or the reason; empty for a default.
    pub origin: String,
}

impl Default for ApiSettings {
    fn default() -> Self {
        Self {
            trusted_proxies: Vec::new(),
            cors_origins: Vec::new(),
            body_limit: 1024 * 1024,
            api_calls_per_minute: NonZeroU32::new(6000).expect("not zero"),
            https: false,
            hsts_subdomains: false,
            pushes_per_minute: NonZeroU32::new(60_000).expect("not zero"),
            ping_body_bytes: 10_000,
            session_max: Duration::from_secs(180 * 24 * 3600),
            docs: true,
            metrics_token: None,
            stripe_publishable_key: None,
            front: String::new(),
            effective_settings: Arc::default(),
        }
    }
}

/// The state of the router.
#[derive(Clone)]
pub struct Api(Arc<Inner>);

struct Inner {
    engine: Engine,
    settings: ApiSettings,
    metrics: Option<PrometheusHandle>,
    shutdown: CancellationToken,
    calls: DefaultKeyedRateLimiter<Uuid>,
    counted: AtomicU32,
    pushes: PushLimits,
    bodies: ClientShares,
    event_streams: EventStreams,
    rendered_pages: Arc<RenderCache>,
    page_images: PageImages,
}

impl Api {
    /// `shutdown` ends the event streams, which have no end of their own.
    pub fn new(
        engine: Engine,
        settings: ApiSettings,
        metrics: Option<PrometheusHandle>,
        shutdown: CancellationToken,
    ) -> Self {
        let calls = RateLimiter::keyed(Quota::per_minute(settings.api_calls_per_minute));
        let counted = AtomicU32::new(0);
        let pushes = PushLimits::new(settings.pushes_per_minute);
        let bodies = ClientShares::of_memory();
        let rendered_pages = Arc::new(RenderCache::new(engine.page_memory()));
        Self(Arc::new(Inner {
            engine,
            settings,
            metrics,
            shutdown,
            calls,
            counted,
            pushes,
            bodies,
            event_streams: EventStreams::new(),
            rendered_pages,
            page_images: PageImages::default(),
        }))
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    pub(crate) fn settings(&self) -> &ApiSettings {
        &self.0.settings
    }

    pub(crate) fn shutdown(&self) -> &CancellationToken {
        &self.0.shutdown
    }

    pub(crate) fn push_limits(&self) -> &PushLimits {
        &self.0.pushes
    }

    pub(crate) fn body_memory(&self) -> &ClientShares {
        &self.0.bodies
    }

    pub(crate) fn event_streams(&self) -> &EventStreams {
        &self.0.event_streams
    }

    pub(crate) fn rendered_pages(&self) -> &Arc<RenderCache> {
        &self.0.rendered_pages
    }

    pub(crate) fn page_images(&self) -> &PageImages {
        &self.0.page_images
    }

    pub(crate) fn metrics(&self) -> Option<&PrometheusHandle> {
        self.0.metrics.as_ref()
    }

    /// Counts a call with a verified credential, or rejects it. Only verified
    /// credentials are counted, so that unauthenticated clients cannot fill the table.
    pub(crate) fn count_call(&self, via: Via) -> Result<(), ApiError> {
        let key = match via {
            Via::Session(id) => id.uuid(),
            Via::ApiKey(id) => id.uuid(),
        };
        if self.0.counted.fetch_add(1, Ordering::Relaxed) % CLEANUP_EVERY_CALLS
            == CLEANUP_EVERY_CALLS - 1
        {
            self.0.calls.retain_recent();
        }
        self.0.calls.check_key(&key).map_err(|until| {
            let wait = until.wait_time_from(DefaultClock::default().now());
            ApiError::too_many("calls with this credential", wait.max(Duration::from_secs(1)))
        })
    }
}
