//! Maps rows to monitors and seals their secrets.

use serde::Deserialize;
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::assert::Assertions;
use wakeful_core::certificate::IssuedWarnings;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::evidence::EvidenceLevel;
use wakeful_core::flapping::FlapLimit;
use wakeful_core::health::{self, Degraded, Usual};
use wakeful_core::id::{MonitorId, PolicyId, TeamId};
use wakeful_core::monitors::spec::ApiSpec;
use wakeful_core::monitors::{Description, Interval, Monitor, Name, Spec, Tags};
use wakeful_core::push::PushState;
use wakeful_core::region::{Quorum, Regions};
use wakeful_core::secret::Secret;
use wakeful_core::severity::Severity;
use wakeful_core::slo::Slo;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_core::verdict::{FailureStreak, KnownValues, State, Status};

use super::{LinkedNotifier, StoredMonitor, json};
use crate::dialect::from_row;
use crate::{Keyring, Result, StoreError};

const SECRET: &str = "monitors.secret";
const PUSH_TOKEN: &str = "monitors.push_token";
const PING_UUID: &str = "monitors.ping_uuid";

macro_rules! columns {
    () => {
        concat!(
            "m.id, m.team_id, m.name, m.spec, m.secret, ",
            $crate::monitors::row::flags!(),
            ", m.heartbeat_interval, m.retries, nullif(m.tags, '[]'), m.push_token, m.revision,
             m.created, m.modified, s.status, s.since, s.last_check, s.last_message, s.load_time,
             s.seq, m.policy_id, m.ping_uuid, m.description, ",
            $crate::monitors::row::common_columns!(),
            ", ",
            $crate::monitors::row::rare_columns!()
        )
    };
}
pub(super) use columns;

// SQLite's driver allocates memory for each column of each row, also for a null. The next macros
// make one column of several.

/// The sum of `ACTIVE`, `UPSIDE_DOWN` and `BLOCKED` as far as they apply.
macro_rules! flags {
    () => {
        "cast(case when m.isactive then 1 else 0 end
              + case when m.upside_down_mode then 2 else 0 end
              + case when s.blocked then 4 else 0 end as bigint)"
    };
}
pub(super) use flags;

const ACTIVE: i64 = 1;
const UPSIDE_DOWN: i64 = 2;
const BLOCKED: i64 = 4;

/// The settings that are the same for most monitors, as the JSON of a `Common`, or null if all of
/// them are as in `Common::default`.
macro_rules! common_columns {
    () => {
        "case when m.resend_interval = 0 and m.flap_outages = 0 and m.flap_within = 3600
                   and m.severity = 'critical' and m.quorum = 'majority'
                   and m.regions = '[\"local\"]'
         then null
         else '[' || cast(m.resend_interval as text)
              || ',' || cast(m.flap_outages as text)
              || ',' || cast(m.flap_within as text)
              || ',\"' || m.severity || '\"'
              || ',\"' || m.quorum || '\"'
              || ',' || m.regions
              || ']'
         end"
    };
}
pub(super) use common_columns;

/// The columns that are null for most monitors, as the JSON of a `Rare`, or null if all of them
/// are.
macro_rules! rare_columns {
    () => {
        "case when coalesce(cast(m.timeout as text), cast(m.retry_interval as text), s.failing,
                            s.warned, m.assertions, m.evidence, m.degraded, m.slo, s.degraded,
                            s.baseline, s.push, s.known) is null
         then null
         else '[' || coalesce(cast(m.timeout as text), 'null')
              || ',' || coalesce(cast(m.retry_interval as text), 'null')
              || ',' || coalesce(s.failing, 'null')
              || ',' || coalesce(s.warned, 'null')
              || ',' || coalesce(m.assertions, 'null')
              || ',' || coalesce('\"' || m.evidence || '\"', 'null')
              || ',' || coalesce(m.degraded, 'null')
              || ',' || coalesce(m.slo, 'null')
              || ',' || coalesce(s.degraded, 'null')
              || ',' || coalesce(s.baseline, 'null')
              || ',' || coalesce(s.push, 'null')
              || ',' || coalesce(s.known, 'null')
              || ']'
         end"
    };
}
pub(super) use rare_columns;

/// Each monitor with its state. SQLite never reorders a cross join: the monitors
/// are looked up first, whatever the planner would prefer.
macro_rules! tables {
    () => {
        "monitors m cross join monitor_states s"
    };
}
pub(super) use tables;

pub(super) struct Row {
    pub(super) id: MonitorId,
    team: TeamId,
    name: String,
    spec: String,
    secret: Option<Vec<u8>>,
    flags: i64,
    heartbeat_interval: i64,
    retries: i64,
    /// JSON; null for none.
    tags: Option<String>,
    push_token: Option<Vec<u8>>,
    revision: i64,
    created: i64,
    modified: i64,
    /// `None` if it is unknown.
    status: Option<Status>,
    since: Option<i64>,
    last_check: Option<i64>,
    last_message: String,
    load_time: Option<i64>,
    seq: i64,
    policy: Option<Uuid>,
    ping_uuid: Option<Vec<u8>>,
    description: Option<String>,
    /// The JSON of a `Common`.
    common: Option<String>,
    /// The JSON of a `Rare`.
    rare: Option<String>,
}

/// In the order of `common_columns`.
#[derive(Deserialize)]
struct Common {
    resend_interval: i64,
    flap_outages: i64,
    flap_within: i64,
    severity: Severity,
    quorum: Quorum,
    regions: Regions,
}

/// What `common_columns` returns as null.
impl Default for Common {
    fn default() -> Self {
        Self {
            resend_interval: 0,
            flap_outages: 0,
            flap_within: 3_600,
            severity: Severity::Critical,
            quorum: Quorum::Majority,
            regions: Regions::default(),
        }
    }
}

/// What only some monitors have, in the order of `rare_columns`.
#[derive(Default, Deserialize)]
struct Rare {
    timeout: Option<i64>,
    retry_interval: Option<i64>,
    failing: Option<Box<FailureStreak>>,
    warned: Option<IssuedWarnings>,
    assertions: Option<Assertions>,
    evidence: Option<String>,
    degraded: Option<Box<Degraded>>,
    slo: Option<Slo>,
    health: Option<Box<health::Row>>,
    usual: Option<Usual>,
    push: Option<Box<PushState>>,
    known: Option<Box<KnownValues>>,
}

// By position: names would be looked up for each column of each row.
from_row!(Row, |row| Self {
    id: row.try_get::<Uuid, _>(0)?.into(),
    team: row.try_get::<Uuid, _>(1)?.into(),
    name: row.try_get(2)?,
    spec: row.try_get(3)?,
    secret: row.try_get(4)?,
    flags: row.try_get(5)?,
    heartbeat_interval: row.try_get(6)?,
    retries: row.try_get(7)?,
    tags: row.try_get(8)?,
    push_token: row.try_get(9)?,
    revision: row.try_get(10)?,
    created: row.try_get(11)?,
    modified: row.try_get(12)?,
    status: Status::parse(row.try_get(13)?),
    since: row.try_get(14)?,
    last_check: row.try_get(15)?,
    last_message: row.try_get(16)?,
    load_time: row.try_get(17)?,
    seq: row.try_get(18)?,
    policy: row.try_get(19)?,
    ping_uuid: row.try_get(20)?,
    description: row.try_get(21)?,
    common: row.try_get(22)?,
    rare: row.try_get(23)?,
});

impl Row {
    /// The monitor without its notifiers and its push token, which checks do not
    /// need.
    pub(super) fn without_links(&mut self, keyring: &Keyring) -> Result<StoredMonitor> {
        let common: Common = match &self.common {
            Some(text) => serde_json::from_str(text).map_err(|_| damaged())?,
            None => Common::default(),
        };
        let mut rare: Rare = match &self.rare {
            Some(text) => serde_json::from_str(text).map_err(|_| damaged())?,
            None => Rare::default(),
        };
        let state = self.state(&mut rare)?;
        let mut spec = Spec::from_json(&self.spec).map_err(|_| damaged())?;
        if let Some(sealed) = &self.secret {
            let secrets = unseal(keyring, SECRET, self.id, sealed)?;
            spec.restore(&secrets).ok_or_else(damaged)?;
        }
        let monitor = Monitor {
            id: self.id,
            team: self.team,
            name: Name::parse(&self.name).map_err(|_| damaged())?,
            spec,
            isactive: self.has(ACTIVE),
            heartbeat_interval: u64::try_from(self.heartbeat_interval)
                .ok()
                .and_then(|seconds| Interval::of_api(seconds).ok())
                .ok_or_else(damaged)?,
            timeout: rare.timeout.map(seconds),
            retries: u16::try_from(self.retries).map_err(|_| damaged())?,
            retry_interval: rare.retry_interval.map(seconds),
            resend_interval: Some(seconds(common.resend_interval)).filter(|span| !span.is_zero()),
            severity: common.severity,
            policy: self.policy.map(PolicyId::from),
            upside_down_mode: self.has(UPSIDE_DOWN),
            tags: match &self.tags {
                Some(text) => Tags::from_json(text).map_err(|_| damaged())?,
                None => Tags::default(),
            },
            notifiers: Vec::new(),
            depends_on: Vec::new(),
            flapping: FlapLimit {
                outages: u32::try_from(common.flap_outages).map_err(|_| damaged())?,
                within: seconds(common.flap_within),
            },
            regions: common.regions,
            quorum: common.quorum,
            assertions: rare.assertions.unwrap_or_default(),
            evidence: match &rare.evidence {
                Some(text) => EvidenceLevel::parse(text).map_err(|_| damaged())?,
                None => EvidenceLevel::default(),
            },
            degraded: rare.degraded,
            slo: rare.slo,
            push_token: None,
            ping_uuid: None,
            description: match &self.description {
                Some(text) => Description::parse(text).map_err(|_| damaged())?,
                None => Description::default(),
            },
            created: Millis(self.created),
            modified: Millis(self.modified),
        };
        Ok(StoredMonitor {
            monitor,
            state,
            usual: rare.usual,
            seq: self.seq,
            revision: self.revision,
            unreadable: false,
        })
    }

    /// Stands for a monitor that cannot be read, because a later version has saved it for
    /// example. It must not hide the others in a list.
    pub(super) fn unreadable(&self, why: StoreError) -> Result<StoredMonitor> {
        let Ok(name) = Name::parse(&self.name) else { return Err(why) };
        let Ok(heartbeat_interval) = Interval::of_api(86_400) else { return Err(why) };
        let id = self.id;
        tracing::error!(monitor.id = %id, error = %ErrorChain(&why), "reading monitor {id} failed, listing its name only");
        let monitor = Monitor {
            id,
            team: self.team,
            name,
            spec: Spec::Api(ApiSpec::default()),
            isactive: self.has(ACTIVE),
            heartbeat_interval,
            timeout: None,
            retries: 0,
            retry_interval: None,
            resend_interval: None,
            severity: Severity::default(),
            policy: None,
            upside_down_mode: false,
            tags: Tags::default(),
            notifiers: Vec::new(),
            depends_on: Vec::new(),
            flapping: FlapLimit::default(),
            regions: Regions::default(),
            quorum: Quorum::default(),
            assertions: Vec::new(),
            evidence: EvidenceLevel::default(),
            degraded: None,
            slo: None,
            push_token: None,
            ping_uuid: None,
            description: Description::default(),
            created: Millis(self.created),
            modified: Millis(self.modified),
        };
        let (seq, revision) = (self.seq, self.revision);
        let state = State::default();
        Ok(StoredMonitor { monitor, state, usual: None, seq, revision, unreadable: true })
    }

    fn has(&self, flag: i64) -> bool {
        self.flags & flag != 0
    }

    fn state(&mut self, rare: &mut Rare) -> Result<State> {
        Ok(State {
            status: self.status.ok_or_else(damaged)?,
            since: self.since.map(Millis),
            last_check: self.last_check.map(Millis),
            last_message: std::mem::take(&mut self.last_message),
            blocked: self.has(BLOCKED),
            load_time: self
                .load_time
                .map(|span| Duration::from_micros(span.max(0).cast_unsigned())),
            failing: rare.failing.take(),
            warned: rare.warned.take().unwrap_or_default(),
            degraded: rare.health.take(),
            push: rare.push.take(),
            known: rare.known.take(),
        })
    }

    pub(super) fn with_links(
        &mut self,
        keyring: &Keyring,
        links: &[LinkedNotifier],
    ) -> Result<StoredMonitor> {
        let mut stored = self.without_links(keyring)?;
        stored.monitor.notifiers = links.iter().map(|link| link.id).collect();
        if let Some(sealed) = &self.push_token {
            stored.monitor.push_token = Some(unseal(keyring, PUSH_TOKEN, self.id, sealed)?);
        }
        if let Some(sealed) = &self.ping_uuid {
            stored.monitor.ping_uuid = Some(unseal(keyring, PING_UUID, self.id, sealed)?);
        }
        Ok(stored)
    }
}

/// A monitor's spec and secrets as stored.
pub(super) struct Sealed {
    /// JSON, without the sealed part.
    pub(super) spec: String,
    pub(super) secret: Option<Vec<u8>>,
    pub(super) push_token: Option<Vec<u8>>,
    push_digest: Option<Digest>,
    pub(super) ping_uuid: Option<Vec<u8>>,
    ping_digest: Option<Digest>,
}

impl Sealed {
    pub(super) fn of(keyring: &Keyring, monitor: &Monitor) -> Self {
        let seal = |column: &str, secret: &Secret| {
            keyring.seal(&context(column, monitor.id), secret.expose().as_bytes())
        };
        let push = monitor.push_token.as_ref();
        let (spec, secret) = monitor.spec.clone().split();
        Self {
            spec: json(&spec),
            secret: secret.map(|secret| seal(SECRET, &secret)),
            push_token: push.map(|token| seal(PUSH_TOKEN, token)),
            push_digest: push.map(|token| Digest::of(token.expose())),
            ping_uuid: monitor.ping_uuid.as_ref().map(|uuid| seal(PING_UUID, uuid)),
            ping_digest: monitor.ping_uuid.as_ref().map(|uuid| Digest::of(uuid.expose())),
        }
    }

    pub(super) fn push_digest(&self) -> Option<&[u8]> {
        self.push_digest.as_ref().map(|digest| &digest.0[..])
    }

    pub(super) fn ping_digest(&self) -> Option<&[u8]> {
        self.ping_digest.as_ref().map(|digest| &digest.0[..])
    }
}

/// The UUID in the ping URL of a monitor as stored.
pub(super) fn ping_uuid_sealed(keyring: &Keyring, id: MonitorId, uuid: &Secret) -> Vec<u8> {
    keyring.seal(&context(PING_UUID, id), uuid.expose().as_bytes())
}

fn unseal(keyring: &Keyring, column: &'static str, id: MonitorId, sealed: &[u8]) -> Result<Secret> {
    let plain = keyring.open(&context(column, id), sealed).ok_or(StoreError::Sealed(column))?;
    let text = std::str::from_utf8(&plain).map_err(|_| StoreError::Sealed(column))?;
    Ok(Secret::new(text))
}

fn context(column: &str, id: MonitorId) -> String {
    format!("{column}:{id}")
}

pub(super) fn damaged() -> StoreError {
    StoreError::Damaged("monitors")
}

pub(super) fn seconds(number: i64) -> Duration {
    Duration::from_secs(number.max(0).cast_unsigned())
}
