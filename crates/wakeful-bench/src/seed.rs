//! Fills a data folder before the service starts: a team, a token and any
//! number of monitors. The first of them is created by the store, the others
//! are copies of its row, because a million saves would take longer than the
//! benchmark.

use data_encoding::HEXLOWER;
use serde::Serialize;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{Connection as _, SqliteConnection};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wakeful_core::access::TeamAccess;
use wakeful_core::accounts::reauthentication::SessionMethod;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::escalation::{MIN_EVERY, Policy, PolicyStep, Target};
use wakeful_core::id::{MailId, NotifierId, PolicyId, SessionId, TeamId, UserId};
use wakeful_core::monitors::headers::Headers;
use wakeful_core::monitors::spec::{
    DnsSpec, Hostname, HttpSpec, HttpUrl, PingSpec, RecordType, Resolver, TcpSpec,
};
use wakeful_core::monitors::{Interval, Monitor, Name, Spec, Tags};
use wakeful_core::notifications::notifier::{
    Channel, Keys, Notifier, SigningSecret, Template, WebhookSpec,
};
use wakeful_core::time::Millis;
use wakeful_core::token::{self, Digest};
use wakeful_core::verdict::{State, Status};
use wakeful_store::{
    AuditContext, Keyring, Location, Mail, NewAccount, NewSession, Options, SaveTeamOutcome, Store,
};

use crate::alerts::FLAPPING;
use crate::kind::Kind;
use crate::policies::SECOND_STEP_SECONDS;
use crate::{Outcome, clock, site};

/// The number of rows per statement.
const ROWS: u32 = 5_000;

/// The monitors to create.
#[derive(Clone)]
pub struct MonitorSet {
    pub kind: Kind,
    pub count: u32,
    pub interval: u64,
    pub ports: Vec<u16>,
    /// Whether they were up a moment ago, or have never been checked.
    pub known: bool,
    /// 0: one failing check is enough.
    pub retries: u16,
    /// The port of the webhook that flapping monitors notify.
    pub hook: Option<u16>,
    /// Whether the webhook is notified by an escalation policy of all monitors instead.
    pub escalated: bool,
}

impl MonitorSet {
    /// HTTP monitors that were up a moment ago.
    pub fn paced(count: u32, interval: u64, port: u16) -> Self {
        let ports = vec![port];
        Self {
            kind: Kind::Http,
            count,
            interval,
            ports,
            known: true,
            retries: 0,
            hook: None,
            escalated: false,
        }
    }

    pub fn every(&self) -> Outcome<Interval> {
        Interval::new(self.interval).map_err(|why| why.to_string().into())
    }

    fn spec(&self, number: u32) -> Outcome<Spec> {
        let port = self.ports.get(number as usize % self.ports.len().max(1)).copied().unwrap_or(0);
        let address = site::address(number);
        let host = |host: String| Hostname::parse(&host).map_err(|why| why.to_string());
        let http = |url: String| HttpUrl::parse(&url).map_err(|why| why.to_string());
        Ok(match self.kind {
            Kind::Http => {
                Spec::Http(HttpSpec::new(http(format!("http://{address}:{port}/{number}"))?))
            }
            Kind::Https => {
                Spec::Http(HttpSpec::new(http(format!("https://127.0.0.1:{port}/{number}"))?))
            }
            Kind::Tcp => Spec::Tcp(TcpSpec::of(host(address.to_string())?, port)),
            Kind::Ping => Spec::Ping(PingSpec::of(host(address.to_string())?)),
            Kind::Dns => {
                let server = format!("{}:{port}", Ipv4Addr::LOCALHOST);
                Spec::Dns(DnsSpec {
                    hostname: host(format!("www{number}.example"))?,
                    port: None,
                    resolver_server: Resolver::parse(&server).map_err(|why| why.to_string())?,
                    record_type: RecordType::A,
                })
            }
        })
    }

    pub fn monitor(&self, team: TeamId, number: u32) -> Outcome<Monitor> {
        let name = Name::parse(&format!("site {number}")).map_err(|why| why.to_string())?;
        let now = Millis(clock::wall_millis());
        Ok(Monitor {
            id: site::id(number),
            team,
            name,
            spec: self.spec(number)?,
            isactive: true,
            heartbeat_interval: self.every()?,
            timeout: None,
            retries: self.retries,
            retry_interval: None,
            resend_interval: None,
            severity: Default::default(),
            policy: None,
            upside_down_mode: false,
            tags: Tags::default(),
            notifiers: Vec::new(),
            depends_on: Vec::new(),
            flapping: Default::default(),
            regions: Default::default(),
            quorum: Default::default(),
            assertions: Default::default(),
            evidence: Default::default(),
            degraded: None,
            slo: None,
            push_token: None,
            ping_uuid: None,
            description: Default::default(),
            created: now,
            modified: now,
        })
    }

    fn state(&self) -> State {
        if !self.known {
            return State::default();
        }
        let now = Some(Millis(clock::wall_millis()));
        State {
            status: Status::Up,
            since: now,
            last_check: now,
            last_message: "200 OK".into(),
            load_time: Some(Duration::from_micros(412)),
            ..State::default()
        }
    }
}

#[derive(Serialize)]
struct Row {
    id: String,
    name: String,
    spec: String,
    search: String,
}

/// Creates the folder's database with a team and its monitors; returns a token.
pub async fn seed(data: &Path, monitors_to_seed: &MonitorSet) -> Outcome<String> {
    std::fs::create_dir_all(data)?;
    let keyring = Keyring::load_or_create(&data.join("master.key"))?;
    let options = Options { location: Location::Sqlite(database(data)), max_connections: 2 };
    let store = Store::open(&options, keyring).await?;
    let (team, token) = sign_up(&store).await?;
    let notifier = match monitors_to_seed.hook {
        Some(port) => Some(add_notifier(&store, team, port).await?),
        None => None,
    };
    let policy = match notifier.filter(|_| monitors_to_seed.escalated) {
        Some(notifier) => Some(add_policy(&store, team, notifier).await?),
        None => None,
    };
    if monitors_to_seed.count > 0 {
        let monitor = Monitor { policy, ..monitors_to_seed.monitor(team, 0)? };
        store.team(&whole(team)).add_monitor(&monitor, &system(Millis(0))).await?;
    }
    store.close().await;
    copy(data, team, monitors_to_seed, notifier.filter(|_| policy.is_none())).await?;
    Ok(token)
}

async fn add_notifier(store: &Store, team: TeamId, port: u16) -> Outcome<NotifierId> {
    let now = Millis(clock::wall_millis());
    let url = format!("http://{}:{port}/", Ipv4Addr::LOCALHOST);
    let spec = WebhookSpec {
        url: HttpUrl::parse(&url).map_err(|why| why.to_string())?,
        headers: Headers::default(),
        template: Template::Standard,
        keys: Keys::new(SigningSecret::issue([9; 32])),
    };
    let notifier = Notifier {
        id: NotifierId::new(now, [5; 10]),
        team,
        name: Name::parse("bench").map_err(|why| why.to_string())?,
        channel: Channel::Webhook(spec),
        owner: None,
        disabled: None,
        isdefault: false,
        messages: Default::default(),
        group_wait: 0,
        attempts: Default::default(),
        revision: 1,
        created: now,
        modified: now,
    };
    store.team(&whole(team)).add_notifier(&notifier, &system(Millis(0))).await?;
    Ok(notifier.id)
}

/// Two steps, which both notify this notifier.
async fn add_policy(store: &Store, team: TeamId, notifier: NotifierId) -> Outcome<PolicyId> {
    let now = Millis(clock::wall_millis());
    let step = |after| PolicyStep { after, notify: vec![Target::Notifier(notifier)] };
    let policy = Policy {
        id: PolicyId::new(now, [6; 10]),
        team,
        name: "bench".into(),
        steps: vec![step(0), step(SECOND_STEP_SECONDS)],
        repeat: 0,
        every: MIN_EVERY,
        ack_timeout: 0,
        created: now,
        modified: now,
    };
    match store.team(&whole(team)).add_policy(&policy, &system(Millis(0))).await? {
        SaveTeamOutcome::Done => Ok(policy.id),
        outcome => Err(format!("the policy was not saved: {outcome:?}").into()),
    }
}

/// Everything in a team.
#[expect(clippy::disallowed_methods, reason = "a benchmark has no caller")]
pub fn whole(team: TeamId) -> TeamAccess {
    TeamAccess::whole(team)
}

/// Sample data, in the audit log of no team.
#[expect(clippy::disallowed_methods, reason = "sample data, which no caller asked for")]
pub fn system(at: Millis) -> AuditContext {
    AuditContext::of_system(at)
}

pub fn database(data: &Path) -> PathBuf {
    data.join("wakeful.db")
}

pub async fn sign_up(store: &Store) -> Outcome<(TeamId, String)> {
    let now = Millis(clock::wall_millis());
    let (team, user) = (TeamId::new(now, [1; 10]), UserId::new(now, [2; 10]));
    // Public, and deleted with the folder.
    let token = token::Kind::Bearer.issue([7; 32]).expose().to_owned();
    let email = EmailAddress::parse("bench@example.com").map_err(|why| why.to_string())?;
    let account = NewAccount { user, email, name: "Bench".into(), password_hash: "-".into() };
    let session = NewSession {
        id: SessionId::new(now, [3; 10]),
        user,
        team,
        method: SessionMethod::Password,
        digest: Digest::of(&token),
        address: String::new(),
        agent: String::new(),
    };
    let welcome = Mail {
        id: MailId::new(now, [4; 10]),
        to: "bench@example.com".into(),
        reply_to: None,
        subject: String::new(),
        text: String::new(),
    };
    store.sign_up(team, &account, &session, &welcome, None, &system(now)).await?;
    Ok((team, token))
}

async fn copy(
    data: &Path,
    team: TeamId,
    monitors_to_seed: &MonitorSet,
    notifier: Option<NotifierId>,
) -> Outcome<()> {
    let options =
        SqliteConnectOptions::new().filename(database(data)).synchronous(SqliteSynchronous::Off);
    let mut db = SqliteConnection::connect_with(&options).await?;
    let mut from = 1;
    while from < monitors_to_seed.count {
        let until = (from + ROWS).min(monitors_to_seed.count);
        let rows = (from..until)
            .map(|number| row(monitors_to_seed, team, number))
            .collect::<Outcome<Vec<_>>>()?;
        sqlx::query(
            "insert into monitors
             (id, team_id, name, kind, spec, isactive, heartbeat_interval, retries,
              upside_down_mode, tags, policy_id, search, modified, created)
             select unhex(r.value ->> 'id'), t.team_id, r.value ->> 'name', t.kind,
                    r.value ->> 'spec', t.isactive, t.heartbeat_interval, t.retries,
                    t.upside_down_mode, t.tags, t.policy_id, r.value ->> 'search', t.modified,
                    t.created
             from json_each($1) r
             join monitors t on t.id = $2",
        )
        .bind(serde_json::to_string(&rows)?)
        .bind(site::id(0).uuid().as_bytes().to_vec())
        .execute(&mut db)
        .await?;
        from = until;
    }
    let state = monitors_to_seed.state();
    sqlx::query("delete from monitor_states").execute(&mut db).await?;
    sqlx::query(
        "insert into monitor_states
         (monitor_id, status, since, last_check, last_message, load_time, seq)
         select id, $1, $2, $2, $3, $4, $5 from monitors",
    )
    .bind(state.status.as_str())
    .bind(state.last_check.map(|at| at.0))
    .bind(state.last_message)
    .bind(state.load_time.map(|span| span.as_micros() as i64))
    .bind(i64::from(monitors_to_seed.known))
    .execute(&mut db)
    .await?;
    if let Some(notifier) = notifier {
        link(&mut db, monitors_to_seed, notifier).await?;
    }
    sqlx::query("pragma wal_checkpoint(truncate)").execute(&mut db).await?;
    db.close().await?;
    Ok(())
}

/// Links flapping monitors to the notifier.
async fn link(
    db: &mut SqliteConnection,
    monitors_to_seed: &MonitorSet,
    notifier: NotifierId,
) -> Outcome<()> {
    let ids: Vec<String> = (0..monitors_to_seed.count)
        .filter(|number| number % 100 < u32::from(FLAPPING))
        .map(|number| HEXLOWER.encode(site::id(number).uuid().as_bytes()))
        .collect();
    sqlx::query(
        "insert into monitor_notifiers (monitor_id, notifier_id, position)
         select unhex(value), $2, 0 from json_each($1)",
    )
    .bind(serde_json::to_string(&ids)?)
    .bind(notifier.uuid().as_bytes().to_vec())
    .execute(db)
    .await?;
    Ok(())
}

fn row(monitors_to_seed: &MonitorSet, team: TeamId, number: u32) -> Outcome<Row> {
    let Monitor { id, name, spec, .. } = monitors_to_seed.monitor(team, number)?;
    Ok(Row {
        id: HEXLOWER.encode(id.uuid().as_bytes()),
        search: format!("{name}\n{}\n", spec.target()),
        name: name.to_string(),
        spec: serde_json::to_string(&spec)?,
    })
}
