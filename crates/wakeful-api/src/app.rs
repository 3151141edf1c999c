//! What every handler may use: the engine, the operator's choices for HTTP,
//! and the counters that hold a credential to its share of calls.

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

use crate::body_memory::BodyMemory;
use crate::error::ApiError;
use crate::push_limits::PushLimits;

/// After so many calls the counters of credentials that went quiet are dropped.
const TIDY_EVERY: u32 = 10_000;

#[derive(Clone, Debug)]
pub struct ApiSettings {
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Origins whose pages may call the API; none by default.
    pub cors_origins: Vec<String>,
    pub body_limit: usize,
    pub api_calls_per_minute: NonZeroU32,
    /// The page is reached over TLS, so browsers are told to insist on it.
    pub https: bool,
    /// Whether that includes the subdomains of the page's host.
    pub hsts_subdomains: bool,
    /// Reports by push address a minute from one client.
    pub pushes_per_minute: NonZeroU32,
    /// How long the page's cookie is kept: as long as a session can last.
    pub session_max: Duration,
    pub docs: bool,
    pub metrics_token: Option<Secret>,
    /// With it the page takes cards by Stripe's own form, and its content policy
    /// lets that in where cards are taken.
    pub stripe_publishable_key: Option<String>,
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
            session_max: Duration::from_secs(180 * 24 * 3600),
            docs: true,
            metrics_token: None,
            stripe_publishable_key: None,
        }
    }
}

/// The state behind the router.
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
    bodies: BodyMemory,
}

impl Api {
    /// `shutdown` ends the streams that would otherwise go on for ever.
    pub fn new(
        engine: Engine,
        settings: ApiSettings,
        metrics: Option<PrometheusHandle>,
        shutdown: CancellationToken,
    ) -> Self {
        let calls = RateLimiter::keyed(Quota::per_minute(settings.api_calls_per_minute));
        let counted = AtomicU32::new(0);
        let pushes = PushLimits::new(settings.pushes_per_minute);
        let bodies = BodyMemory::default();
        Self(Arc::new(Inner {
            engine,
            settings,
            metrics,
            shutdown,
            calls,
            counted,
            pushes,
            bodies,
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

    pub(crate) fn body_memory(&self) -> &BodyMemory {
        &self.0.bodies
    }

    pub(crate) fn metrics(&self) -> Option<&PrometheusHandle> {
        self.0.metrics.as_ref()
    }

    /// Counts a call of a credential that was proved, or refuses it. Counting
    /// after the proof keeps strangers from filling the table.
    pub(crate) fn count_call(&self, via: Via) -> Result<(), ApiError> {
        let key = match via {
            Via::Session(id) => id.uuid(),
            Via::ApiKey(id) => id.uuid(),
        };
        if self.0.counted.fetch_add(1, Ordering::Relaxed) % TIDY_EVERY == TIDY_EVERY - 1 {
            self.0.calls.retain_recent();
        }
        self.0.calls.check_key(&key).map_err(|until| {
            let wait = until.wait_time_from(DefaultClock::default().now());
            ApiError::too_many(
                "too many calls with this credential",
                wait.max(Duration::from_secs(1)),
            )
        })
    }
}
