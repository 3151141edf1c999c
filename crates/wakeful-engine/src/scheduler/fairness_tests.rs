//! A team with many changes, many notifiers and receivers that do not respond: others are neither
//! delayed nor is anything of theirs lost at shutdown.

use futures_util::FutureExt as _;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use wakeful_core::accounts::reauthentication::SessionMethod;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{MailId, NotifierId, SessionId, UserId};
use wakeful_core::monitors::spec::{ApiSpec, Headers};
use wakeful_core::monitors::{Interval, Monitor, Name, Tags};
use wakeful_core::notifications::notifier::{
    Channel, Keys, Notifier, SigningSecret, Template, WebhookSpec, webhook,
};
use wakeful_core::time::Clock;
use wakeful_core::token::Digest;
use wakeful_core::verdict::Report;
use wakeful_outbound::mail::MailTransport;
use wakeful_outbound::net::Net;
use wakeful_outbound::net::guard::Policy;
use wakeful_store::{Mail, NewAccount, NewSession, Store};
use wakeful_testkit::{both_databases, system, until, whole};

use super::*;
use crate::alerting::processor::process_due;
use crate::{Engine, Settings, cluster};

const NOW: Millis = Millis(1_794_735_000_000);

/// A clock that starts at a fixed time.
struct TestClock(Instant);

impl Clock for TestClock {
    fn now(&self) -> Millis {
        NOW.after(self.0.elapsed())
    }
}

/// An engine that owns all monitors and runs nothing else.
pub(crate) async fn engine(store: &Store, tasks: &mut JoinSet<()>) -> Engine {
    let clock: Arc<dyn Clock> = Arc::new(TestClock(Instant::now()));
    let net = Arc::new(Net::new(Policy::Private, Vec::new(), Arc::clone(&clock)));
    let mail = MailTransport::Folder(std::env::temp_dir());
    let engine = Engine::new(store.clone(), clock, Settings::default(), mail, net);
    if !engine.cluster().is_standalone() {
        cluster::join(&engine).await;
        tasks.spawn(cluster::run(engine.clone(), CancellationToken::new()));
        let is_owner =
            || async { (engine.cluster().held().len() == Slot::all().count()).then_some(()) };
        until("all slots to be held", is_owner).await;
    }
    engine
}

fn next() -> [u8; 10] {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut bytes = [0; 10];
    bytes[2..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    bytes
}

/// A team with a notifier or many.
pub(crate) async fn team(store: &Store, notifiers: usize) -> (TeamId, Vec<NotifierId>) {
    let (team, user) = (TeamId::new(NOW, next()), UserId::new(NOW, next()));
    let email = EmailAddress::parse(&format!("{user}@example.com")).expect("an address");
    let account = NewAccount { user, email, name: String::new(), password_hash: "-".into() };
    let session = NewSession {
        id: SessionId::new(NOW, next()),
        user,
        team,
        method: SessionMethod::Password,
        digest: Digest::of(&user.to_string()),
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
    let mut ids = Vec::new();
    for _ in 0..notifiers {
        let notifier = Notifier {
            id: NotifierId::new(NOW, next()),
            team,
            name: Name::parse("hook").expect("a name"),
            channel: Channel::Webhook(WebhookSpec {
                url: webhook::url("http://127.0.0.1:1/hook").expect("a URL"),
                headers: Headers::default(),
                template: Template::Standard,
                keys: Keys::new(SigningSecret::issue([7; 32])),
            }),
            owner: None,
            disabled: None,
            isdefault: false,
            group_wait: 0,
            messages: Default::default(),
            attempts: Default::default(),
            revision: 1,
            created: NOW,
            modified: NOW,
        };
        store.team(&whole(team)).add_notifier(&notifier, &system()).await.expect("added");
        ids.push(notifier.id);
    }
    (team, ids)
}

/// A monitor that waits for reports, in the store and in memory.
pub(crate) async fn job(engine: &Engine, team: TeamId, notifiers: &[NotifierId]) -> MonitorId {
    let monitor = Monitor {
        id: MonitorId::new(NOW, next()),
        team,
        name: Name::parse("job").expect("a name"),
        spec: Spec::Api(ApiSpec::default()),
        isactive: true,
        heartbeat_interval: Interval::new(3_600).expect("an interval"),
        timeout: None,
        retries: 0,
        retry_interval: None,
        resend_interval: None,
        severity: Default::default(),
        policy: None,
        depends_on: Vec::new(),
        flapping: Default::default(),
        upside_down_mode: false,
        tags: Tags::default(),
        notifiers: notifiers.to_vec(),
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
    };
    let id = monitor.id;
    engine.store().team(&whole(team)).add_monitor(&monitor, &system()).await.expect("added");
    let found = engine.store().monitors_by_id(&[id]).await.expect("read");
    found.into_iter().for_each(|stored| engine.scheduler().configure(stored, LoadReason::Saved));
    id
}

fn report(engine: &Engine, id: MonitorId, status: &str) -> oneshot::Receiver<()> {
    let seen = Input::Report(Report::parse(status).expect("known"));
    let judged = engine.scheduler().judge(id, None, seen, None, NOW);
    judged.expect("scheduled").recorded
}

both_databases! {
    /// The two ways of notifying, at once and by the processor, with a team that has too much
    /// for both.
    async fn a_team_with_many_changes_and_notifiers_delays_no_other(setup: Setup) {
        const NOTIFIERS: usize = 60;
        const MONITORS: usize = 30;
        let database = setup.database().await;
        let mut tasks = JoinSet::new();
        let engine = engine(&database.open().await, &mut tasks).await;
        let store = engine.store();
        let count = async || store.count_waiting(u32::MAX).await.expect("read");
        let (noisy, notifiers) = team(store, NOTIFIERS).await;
        let (quiet, hook) = team(store, 1).await;
        for _ in 0..MONITORS {
            let id = job(&engine, noisy, &notifiers).await;
            drop(report(&engine, id, "down"));
        }
        let first = job(&engine, quiet, &hook).await;
        let recorded = report(&engine, first, "down");
        let (mut writing, stop) = (JoinSet::new(), CancellationToken::new());
        writing.spawn(writer::write_changes(engine.clone(), stop.clone()));
        recorded.await.expect("recorded");
        assert!(count().await <= 250, "the result writer writes few of one team: {}", count().await);
        let new = store.wait_for_outbox().await;
        assert!(new.known.iter().any(|delivery| delivery.team == quiet), "it can be sent now");
        let before = count().await;

        // The processor has the rest to do when another change of the quiet team is due.
        stop.cancel();
        writing.join_next().await;
        let second = job(&engine, quiet, &hook).await;
        drop(report(&engine, second, "down"));
        writer::write_changes(engine.clone(), stop).await;
        assert!(store.wait_for_outbox().now_or_never().is_none(), "nothing is notified at shutdown");
        tokio::select! {
            biased;
            new = store.wait_for_outbox() => {
                assert!(new.known.iter().any(|delivery| delivery.team == quiet), "in the first turn");
            }
            done = process_due(&engine) => panic!("everything in one turn: {done:?}"),
        }
        assert!(count().await <= before + 1_000, "a transaction is short: {}", count().await);
        process_due(&engine).await.expect("processed");
        let all = i64::try_from(MONITORS * NOTIFIERS).expect("small") + 2;
        assert_eq!(count().await, all, "nothing is lost");
    }

    async fn at_shutdown_reports_are_recorded_before_the_changes_of_others(setup: Setup) {
        let database = setup.database().await;
        let mut tasks = JoinSet::new();
        let engine = engine(&database.open().await, &mut tasks).await;
        let (noisy, _) = team(engine.store(), 0).await;
        let (quiet, _) = team(engine.store(), 0).await;
        let site = job(&engine, noisy, &[]).await;
        for number in 0..1_300 {
            drop(report(&engine, site, if number % 2 == 0 { "down" } else { "up" }));
        }
        let job = job(&engine, quiet, &[]).await;
        // A change, and a report that changes nothing, behind it.
        let (first, second) = (report(&engine, job, "down"), report(&engine, job, "down"));
        engine.scheduler().writer().close();
        let (stop, running) = (CancellationToken::new(), CancellationToken::new());
        stop.cancel();
        tasks.spawn(writer::write_changes(engine.clone(), stop));
        tasks.spawn(writer::write_routine(engine.clone(), running));
        first.await.expect("recorded");
        let others = engine.store().monitors_by_id(&[site]).await.expect("read");
        assert!(others[0].seq < 1_000, "before the others: {}", others[0].seq);
        second.await.expect("recorded");
    }
}
