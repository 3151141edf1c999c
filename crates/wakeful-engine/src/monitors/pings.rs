//! Pings: the reports of jobs in the format of Healthchecks. They are authenticated by the UUID
//! in the ping URL, or by the ping key of the team and the slug of the monitor.

use data_encoding::BASE64URL_NOPAD;
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::access::{TeamAccess, permission};
use wakeful_core::billing::Plan;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::id::{MonitorId, NotifierId, PingId, TeamId};
use wakeful_core::monitors::spec::ApiSpec;
use wakeful_core::monitors::{DEFAULT_RETRIES, Interval, MAX_NOTIFIERS, Monitor, Name, Spec};
use wakeful_core::push::{JobSchedule, PingKind, Signal, Slug};
use wakeful_core::secret::Secret;
use wakeful_core::token::Digest;
use wakeful_store::{LastPing, NewPing, SaveOutcome, SlugTarget, StoreError, StoredPing};

use super::{MonitorDraft, RECORD_TIMEOUT};
use crate::bus::Event;
use crate::caller::{Authorized, audit_of_ping_key};
use crate::cluster::OwnerRequest;
use crate::{Engine, Error, Result, random};

/// What a monitor has that a ping creates.
const NEW_INTERVAL_SECONDS: u64 = 86_400;
const NEW_GRACE: Duration = Duration::from_secs(3_600);
/// How many api monitors of earlier versions get a ping URL at a time.
const PING_URL_BATCH: u32 = 500;
/// Longer texts that a client sends about itself are cut off.
const MAX_AGENT_LENGTH: usize = 200;

/// The monitor of a ping URL, active or not.
#[derive(Clone, Copy, Debug)]
pub struct PingTarget {
    team: TeamId,
    id: MonitorId,
}

impl PingTarget {
    pub fn id(&self) -> MonitorId {
        self.id
    }
}

/// A ping as received.
#[derive(Clone, Debug)]
pub struct PingRequest {
    pub signal: Signal,
    pub rid: Option<Uuid>,
    pub method: String,
    pub scheme: String,
    pub client: String,
    pub agent: String,
    /// At most as much of it as is stored.
    pub body: Vec<u8>,
}

/// The settings of a monitor that a ping creates.
#[derive(Clone, Debug, Default)]
pub struct NewJob {
    pub schedule: Option<JobSchedule>,
    pub grace: Option<Duration>,
}

impl NewJob {
    pub fn new(schedule: Option<(&str, Zone)>, grace: Option<Duration>) -> Self {
        let schedule = schedule.and_then(|(text, zone)| JobSchedule::parse(text, zone).ok());
        Self { schedule, grace }
    }
}

impl Engine {
    /// The monitor with this UUID in its ping URL.
    pub async fn ping_target(&self, uuid: Uuid) -> Result<Option<PingTarget>> {
        let digest = Digest::of(&uuid.hyphenated().to_string());
        let found = self.store().monitor_by_ping_uuid(digest).await?;
        Ok(found.map(|(team, id)| PingTarget { team, id }))
    }

    /// The monitor with this slug in the team with this ping key. With `create`, a monitor is
    /// created if there is none, unless the plan does not allow it; then the second value is
    /// true.
    pub async fn ping_target_by_slug(
        &self,
        key: &str,
        slug: &Slug,
        create: Option<NewJob>,
    ) -> Result<Option<(PingTarget, bool)>> {
        let digest = Digest::of(key);
        let team = match self.store().monitor_by_slug(digest, slug).await? {
            SlugTarget::UnknownKey => return Ok(None),
            SlugTarget::Found(team, id) => return Ok(Some((PingTarget { team, id }, false))),
            SlugTarget::UnknownSlug(team) => team,
        };
        let Some(job) = create else { return Ok(None) };
        match self.create_job(team, slug, job).await {
            Ok(Some(id)) => Ok(Some((PingTarget { team, id }, true))),
            Ok(None) => Ok(None),
            // Another ping has created it meanwhile.
            Err(Error::Conflict) => match self.store().monitor_by_slug(digest, slug).await? {
                SlugTarget::Found(team, id) => Ok(Some((PingTarget { team, id }, false))),
                SlugTarget::UnknownKey | SlugTarget::UnknownSlug(_) => Ok(None),
            },
            Err(error) => Err(error),
        }
    }

    /// Creates a monitor for a job; `None` if the team may not have another one.
    #[expect(clippy::disallowed_methods, reason = "the ping key is of this team")]
    async fn create_job(
        &self,
        team: TeamId,
        slug: &Slug,
        job: NewJob,
    ) -> Result<Option<MonitorId>> {
        if self.scheduler().is_suspended(team) {
            return Ok(None);
        }
        let access = TeamAccess::whole(team);
        let store = self.store().team(&access);
        let mut notifiers: Vec<NotifierId> = store.notifier_ids().await?;
        notifiers.truncate(MAX_NOTIFIERS);
        let spec = ApiSpec {
            grace: Some(job.grace.unwrap_or(NEW_GRACE)),
            schedule: job.schedule.map(Box::new),
            slug: Some(slug.clone()),
            ..ApiSpec::default()
        };
        let invalid = |_| Error::Conflict;
        let draft = MonitorDraft {
            name: Name::parse(slug.as_str()).map_err(invalid)?,
            spec: Spec::Api(spec),
            isactive: true,
            heartbeat_interval: Interval::new(NEW_INTERVAL_SECONDS).map_err(invalid)?,
            timeout: None,
            retries: DEFAULT_RETRIES,
            retry_interval: None,
            resend_interval: None,
            severity: Default::default(),
            policy: None,
            upside_down_mode: false,
            tags: Default::default(),
            notifiers: Some(notifiers),
            depends_on: None,
            flapping: Default::default(),
            regions: Default::default(),
            quorum: Default::default(),
            assertions: Vec::new(),
            evidence: Default::default(),
            degraded: None,
            slo: None,
            description: Default::default(),
        };
        let plan = self.limiting_plan(team).await?;
        let id = MonitorId::new(self.now(), random::bytes());
        let Ok(monitor) = self.apply_draft(team, id, draft, None) else { return Ok(None) };
        if !self.plan_allows(plan.as_ref(), &monitor) {
            return Ok(None);
        }
        let limit = plan.as_ref().and_then(|plan| plan.limits.monitors);
        let by = audit_of_ping_key(team, self.now());
        match store.add_monitor_with_limit(&monitor, limit, &by).await {
            Ok(SaveOutcome::Done) => {
                self.bus().publish_event(team, || Event::Saved(id));
                Ok(Some(id))
            }
            Ok(SaveOutcome::LimitReached) | Err(StoreError::Gone) => Ok(None),
            Ok(_) | Err(StoreError::Taken) => Err(Error::Conflict),
            Err(error) => Err(error.into()),
        }
    }

    fn plan_allows(&self, plan: Option<&Plan>, monitor: &Monitor) -> bool {
        let activity = self.activity(monitor);
        plan.is_none_or(|plan| self.check_interval_limit(plan, activity, None).is_ok())
    }

    /// Accepts a ping. It is recorded when this returns. One that the monitor ignores, because it
    /// is not active for example, is only stored.
    #[expect(clippy::disallowed_methods, reason = "the ping URL is of this monitor")]
    pub async fn ping(&self, target: PingTarget, ping: PingRequest) -> Result<()> {
        let PingTarget { team, id } = target;
        let now = self.now();
        let signal = match self.load_active(&TeamAccess::whole(team), id).await {
            Ok(monitor) => match &monitor.spec {
                Spec::Api(api) => {
                    let is_post = ping.method == "POST";
                    ping.signal.read(is_post, api.post_only, &api.keywords, &ping.body)
                }
                _ => return Err(Error::NotFound("monitor")),
            },
            Err(Error::Inactive) => None,
            Err(error) => return Err(error),
        };
        let duration = match signal {
            Some(signal) if signal != Signal::Log => {
                match self.accept_ping(id, signal, ping.rid).await? {
                    Accepted::Repeated => return Ok(()),
                    Accepted::New(duration) => duration,
                }
            }
            _ => None,
        };
        let kind = signal.map_or(PingKind::Ignored, Signal::kind);
        metrics::counter!("wakeful_pings_total", "kind" => kind.as_str()).increment(1);
        let cut =
            |text: String| text.chars().filter(|c| *c != '\0').take(MAX_AGENT_LENGTH).collect();
        let stored = NewPing {
            id: PingId::new(now, random::bytes()),
            monitor: id,
            at: now,
            kind,
            exit_code: ping.signal.exit_code(),
            rid: ping.rid,
            method: cut(ping.method),
            scheme: cut(ping.scheme),
            client: ping.client,
            agent: cut(ping.agent),
            duration,
            body: ping.body,
        };
        Ok(self.store().add_ping(&stored).await?)
    }

    /// Has the owner of the monitor judge a ping.
    async fn accept_ping(
        &self,
        id: MonitorId,
        signal: Signal,
        rid: Option<Uuid>,
    ) -> Result<Accepted> {
        if !self.cluster().holds(id) {
            let request = OwnerRequest::Ping { signal, rid };
            let answer = self.request_from_owner(id, &request, RECORD_TIMEOUT).await?;
            let answer = answer.ok_or(Error::NotRecorded)?;
            return Ok(if answer.repeated {
                Accepted::Repeated
            } else {
                Accepted::New(answer.heartbeat.load_time)
            });
        }
        let pinged = self.scheduler().ping(id, signal, rid, self.now());
        let pinged = pinged.ok_or(Error::NotFound("monitor"))?;
        let duration = pinged.duration();
        match tokio::time::timeout(RECORD_TIMEOUT, pinged.recorded()).await {
            Ok(Ok(true)) => Ok(Accepted::Repeated),
            Ok(Ok(false)) => Ok(Accepted::New(duration)),
            Ok(Err(_)) | Err(_) => Err(Error::NotRecorded),
        }
    }

    /// The latest pings of a monitor, newest first.
    pub async fn pings(
        &self,
        caller: &Authorized<permission::View>,
        id: MonitorId,
        limit: u32,
        before: Option<i64>,
    ) -> Result<Vec<StoredPing>> {
        let found = self.store().team(caller.team_access()).pings(id, limit, before).await?;
        found.ok_or(Error::NotFound("monitor"))
    }

    /// The latest ping of each monitor that has one.
    pub async fn last_pings(
        &self,
        caller: &Authorized<permission::View>,
    ) -> Result<HashMap<MonitorId, LastPing>> {
        Ok(self.store().team(caller.team_access()).last_pings().await?)
    }

    /// The latest ping of a monitor that the caller has read.
    pub async fn last_ping(
        &self,
        caller: &Authorized<permission::View>,
        id: MonitorId,
    ) -> Result<Option<LastPing>> {
        Ok(self.store().team(caller.team_access()).last_ping(id).await?)
    }

    /// The stored part of the body of a ping. Jobs print secrets, so those who may edit see it.
    pub async fn ping_body(
        &self,
        caller: &Authorized<permission::Edit>,
        id: MonitorId,
        n: i64,
    ) -> Result<Vec<u8>> {
        let found = self.store().team(caller.team_access()).ping_body(id, n).await?;
        found.ok_or(Error::NotFound("ping"))
    }

    /// The team's ping key, which is created when it is read first.
    pub async fn ping_key(&self, caller: &Authorized<permission::Edit>) -> Result<Secret> {
        Self::require_all_monitors(caller)?;
        let team = self.store().team(caller.team_access());
        if let Some(key) = team.ping_key().await? {
            return Ok(key);
        }
        team.add_ping_key(&new_ping_key(), &self.audit(caller)).await?;
        // Of several first readers, one has set it.
        team.ping_key().await?.ok_or(Error::NotFound("team"))
    }

    /// Creates a new ping key. The previous one no longer works.
    pub async fn rotate_ping_key(&self, caller: &Authorized<permission::Edit>) -> Result<Secret> {
        Self::require_all_monitors(caller)?;
        let key = new_ping_key();
        self.store().team(caller.team_access()).set_ping_key(&key, &self.audit(caller)).await?;
        Ok(key)
    }

    /// With the key, one can report for every monitor of the team.
    fn require_all_monitors(caller: &Authorized<permission::Edit>) -> Result<()> {
        match caller.team_access().filter() {
            Some(_) => Err(Error::LimitedToMonitors),
            None => Ok(()),
        }
    }
}

enum Accepted {
    Repeated,
    New(Option<Duration>),
}

/// Gives the api monitors of earlier versions a ping URL.
pub(crate) async fn add_ping_urls(engine: &Engine) -> Result<()> {
    loop {
        let ids = engine.store().monitors_without_ping_url(PING_URL_BATCH).await?;
        for id in &ids {
            engine.store().set_ping_uuid(*id, &new_ping_uuid()).await?;
        }
        if ids.len() < PING_URL_BATCH as usize {
            return Ok(());
        }
    }
}

/// The UUID of a new ping URL.
pub(crate) fn new_ping_uuid() -> Secret {
    Secret::new(random_uuid())
}

/// A random UUID, of version 4.
pub fn random_uuid() -> String {
    uuid::Builder::from_random_bytes(random::bytes()).into_uuid().hyphenated().to_string()
}

/// 128 random bits in 22 characters.
fn new_ping_key() -> Secret {
    Secret::new(BASE64URL_NOPAD.encode(&random::bytes::<16>()))
}
