//! A new store on either database, and data for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wakeful_core::accounts::reauthentication::SessionMethod;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::heartbeat::{Beat, Heartbeat, Phases};
use wakeful_core::id::{MailId, MonitorId, NotifierId, SessionId, TeamId, UserId};
use wakeful_core::monitors::spec::{Headers, Hostname, TcpSpec};
use wakeful_core::monitors::{Interval, Monitor, Name, Spec, Tags};
use wakeful_core::notifications::message_rules::MessageRules;
use wakeful_core::notifications::notifier::{
    Channel, Keys, Notifier, SigningSecret, Template, WebhookSpec, webhook,
};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_core::verdict::{State, Status};
use wakeful_store::{Mail, NewAccount, NewSession, Record, Store, StoredMonitor};
use wakeful_testkit::{system, whole};

pub(crate) const NOW: Millis = Millis(1_790_000_000_000);

/// Runs each function on a new store of both databases.
#[macro_export]
macro_rules! on_both {
    ($($name:ident => $body:ident;)+) => {$(
        wakeful_testkit::both_databases! {
            async fn $name(setup: Setup) {
                let database = setup.database().await;
                $body(database.open().await).await;
            }
        }
    )+};
}

/// Bytes that increase with each call.
pub(crate) fn next() -> [u8; 10] {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut bytes = [0; 10];
    bytes[2..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    bytes
}

pub(crate) async fn team(store: &Store) -> TeamId {
    sign_up(store).await.0
}

/// A team with one session and one user, whose password hash is "-".
pub(crate) async fn sign_up(store: &Store) -> (TeamId, UserId, SessionId) {
    let team = TeamId::new(NOW, next());
    let user = UserId::new(NOW, next());
    let email = EmailAddress::parse(&format!("{user}@example.com")).expect("an address");
    let account = NewAccount { user, email, name: String::new(), password_hash: "-".into() };
    let digest = Digest::of(&user.to_string());
    let session = NewSession {
        id: SessionId::new(NOW, next()),
        user,
        team,
        method: SessionMethod::Password,
        digest,
        address: String::new(),
        agent: String::new(),
    };
    let welcome = Mail {
        id: MailId::new(NOW, next()),
        to: "ann@example.com".into(),
        reply_to: None,
        subject: String::new(),
        text: String::new(),
    };
    store.sign_up(team, &account, &session, &welcome, None, &system()).await.expect("signed up");
    (team, user, session.id)
}

/// A monitor as read with this revision.
pub(crate) fn stored(monitor: &Monitor, revision: i64) -> StoredMonitor {
    StoredMonitor {
        monitor: monitor.clone(),
        state: State::default(),
        usual: None,
        seq: 0,
        revision,
        unreadable: false,
    }
}

pub(crate) fn monitor(team: TeamId, name: &str) -> Monitor {
    Monitor {
        id: MonitorId::new(NOW, next()),
        team,
        name: Name::parse(name).expect("a name"),
        spec: Spec::Tcp(TcpSpec::of(Hostname::parse("::1").expect("a host"), 80)),
        isactive: true,
        heartbeat_interval: Interval::new(60).expect("an interval"),
        timeout: Some(Duration::from_secs(7)),
        retries: 3,
        retry_interval: Some(Duration::from_secs(9)),
        resend_interval: None,
        severity: Default::default(),
        policy: None,
        upside_down_mode: true,
        tags: Tags::parse("web, eu").expect("tags"),
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
        created: NOW,
        modified: NOW,
    }
}

pub(crate) async fn notifier(store: &Store, team: TeamId, name: &str) -> NotifierId {
    notifier_with(store, team, name, MessageRules::default()).await
}

pub(crate) async fn notifier_with(
    store: &Store,
    team: TeamId,
    name: &str,
    messages: MessageRules,
) -> NotifierId {
    let notifier = Notifier {
        id: NotifierId::new(NOW, next()),
        team,
        name: Name::parse(name).expect("a name"),
        channel: Channel::Webhook(WebhookSpec {
            url: webhook::url("http://127.0.0.1:1/hook").expect("an address"),
            headers: Headers::default(),
            template: Template::Standard,
            keys: Keys::new(SigningSecret::issue([7; 32])),
        }),
        owner: None,
        disabled: None,
        isdefault: false,
        group_wait: 0,
        messages,
        attempts: Default::default(),
        revision: 1,
        created: NOW,
        modified: NOW,
    };
    store.team(&whole(team)).add_notifier(&notifier, &system()).await.expect("saved");
    notifier.id
}

/// The plain record of a passing check.
pub(crate) fn passing(monitor: MonitorId, seq: i64, at: Millis) -> Record {
    Record {
        monitor,
        seq,
        heartbeat: Heartbeat {
            at,
            status: Beat::Up,
            message: "200 OK".into(),
            load_time: Some(Duration::from_micros(1_234)),
            phases: Phases { connect: Some(Duration::from_micros(7)), ..Phases::default() },
            regions: Vec::new(),
            readings: Default::default(),
        },
        state: State {
            status: Status::Up,
            since: Some(NOW),
            last_check: Some(at),
            last_message: "200 OK".into(),
            ..State::default()
        },
        opens: Vec::new(),
        closes: None,
        events: Vec::new(),
        certificate: None,
        evidence: Vec::new(),
        grant: None,
        state_only: false,
    }
}
