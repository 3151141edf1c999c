//! A running engine on a new database, a target that can go down and up, and a wall clock
//! that can be moved.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use wakeful_core::access::Need;
use wakeful_core::accounts::password::NewPassword;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{MonitorId, NotifierId};
use wakeful_core::monitors::spec::{Headers, Hostname, TcpSpec};
use wakeful_core::monitors::{Interval, Monitor, Name, Spec, Tags};
use wakeful_core::notifications::notifier::{
    Channel, Keys, Notifier, SigningSecret, Template, WebhookSpec, webhook,
};
use wakeful_core::time::{Clock, Millis};
use wakeful_core::verdict::Status;
use wakeful_engine::{
    Authorized, Caller, Engine, Error, Event, LiveEvents, MonitorDraft, MonitorView, Origin,
    Settings, SignUp, Via, scheduler,
};
use wakeful_outbound::mail::MailTransport;
use wakeful_outbound::net::Net;
use wakeful_outbound::net::guard::Policy;
use wakeful_store::Store;
use wakeful_testkit::{Database, Setup, system, whole};

/// Longer than anything here should take.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// A wall clock that follows real time and can be moved in both directions.
pub(crate) struct WallClock {
    started: Instant,
    base: AtomicI64,
}

impl WallClock {
    fn new() -> Self {
        Self { started: Instant::now(), base: AtomicI64::new(1_794_735_000_000) }
    }

    pub(crate) fn push(&self, millis: i64) {
        self.base.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for WallClock {
    fn now(&self) -> Millis {
        Millis(self.base.load(Ordering::SeqCst)).after(self.started.elapsed())
    }
}

pub(crate) struct Fixture {
    pub(crate) database: Database,
    pub(crate) store: Store,
    pub(crate) wall_clock: Arc<WallClock>,
    pub(crate) engine: Engine,
    pub(crate) caller: Caller,
    shutdown: CancellationToken,
    scheduler_task: JoinHandle<()>,
}

impl Fixture {
    /// An engine with a running scheduler, and a user.
    pub(crate) async fn start(setup: &Setup) -> Self {
        Self::start_paused(setup).await.0
    }

    /// The same, with a scheduler that does not start until the sender is dropped.
    pub(crate) async fn start_paused(setup: &Setup) -> (Self, oneshot::Sender<()>) {
        let database = setup.database().await;
        let store = database.open().await;
        let wall_clock = Arc::new(WallClock::new());
        let engine = engine(&store, &wall_clock, &setup.settings);
        let caller = sign_up(&engine, "ann@example.com").await;
        assert!(matches!(caller.via(), Via::Session(_)));
        let (go, paused) = oneshot::channel();
        let (shutdown, scheduler_task) = start_scheduler(&engine, Some(paused));
        (Self { database, store, wall_clock, engine, caller, shutdown, scheduler_task }, go)
    }

    /// Stops the scheduler and continues with a new engine on the same database.
    pub(crate) async fn restart(self, settings: &Settings) -> Self {
        self.shutdown.cancel();
        let stopping = Instant::now();
        self.scheduler_task.await.expect("ends");
        assert!(stopping.elapsed() < Duration::from_secs(10), "{:?}", stopping.elapsed());
        let engine = engine(&self.store, &self.wall_clock, settings);
        let (shutdown, scheduler_task) = start_scheduler(&engine, None);
        Self { engine, shutdown, scheduler_task, ..self }
    }

    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        self.scheduler_task.await.expect("ends");
    }

    /// The user, who owns the team, with any permission.
    pub(crate) fn ann<N: Need>(&self) -> Authorized<N> {
        self.caller.clone().authorize().expect("an owner")
    }

    pub(crate) async fn save(&self, draft: MonitorDraft) -> MonitorView {
        self.put(None, draft).await
    }

    /// Replaces all settings of a monitor.
    pub(crate) async fn change(&self, id: MonitorId, draft: MonitorDraft) -> MonitorView {
        self.put(Some(id), draft).await
    }

    async fn put(&self, id: Option<MonitorId>, draft: MonitorDraft) -> MonitorView {
        let merge = |_: Option<&Monitor>| Ok::<_, Error>(draft.clone());
        self.engine.save_monitor(&self.ann(), id, None, merge).await.expect("saved")
    }

    pub(crate) async fn view(&self, id: MonitorId) -> MonitorView {
        self.engine.monitor(&self.ann(), id).await.expect("read")
    }

    pub(crate) async fn events(&self) -> LiveEvents {
        self.engine.subscribe(&self.ann()).await.expect("subscribed")
    }

    pub(crate) async fn notifier(&self) -> NotifierId {
        let now = self.wall_clock.now();
        let notifier = Notifier {
            id: NotifierId::new(now, [7; 10]),
            team: self.caller.team(),
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
            created: now,
            modified: now,
        };
        self.store
            .team(&whole(self.caller.team()))
            .add_notifier(&notifier, &system())
            .await
            .expect("added");
        notifier.id
    }

    /// The kinds of a monitor's deliveries, in order.
    pub(crate) async fn notified_kinds(&self, id: MonitorId) -> Vec<String> {
        let alerts = self.engine.alerts(&self.ann(), Some(id), None, None).await.expect("read");
        let mut deliveries: Vec<_> =
            alerts.items.iter().flat_map(|listed| &listed.deliveries).collect();
        deliveries.sort_by_key(|delivery| (delivery.created, delivery.id));
        deliveries.iter().map(|delivery| delivery.kind.clone()).collect()
    }
}

/// A new user with a team of their own.
pub(crate) async fn sign_up(engine: &Engine, email: &str) -> Caller {
    let email = EmailAddress::parse(email).expect("an address");
    let password = NewPassword::parse("correct horse 9", &email).expect("a password");
    let from =
        Origin { address: [127, 0, 0, 1].into(), agent: String::new(), request: String::new() };
    let wanted = SignUp { email, password, name: String::new() };
    let signed = engine.sign_up(&wanted, &from).await.expect("signs up");
    engine.caller_by_token(signed.token.expose(), None).await.expect("a caller")
}

fn engine(store: &Store, wall_clock: &Arc<WallClock>, settings: &Settings) -> Engine {
    let clock: Arc<dyn Clock> = Arc::clone(wall_clock) as Arc<dyn Clock>;
    let net = Arc::new(Net::new(Policy::Private, Vec::new(), Arc::clone(&clock)));
    let mail_transport = MailTransport::Folder(std::env::temp_dir());
    Engine::new(store.clone(), clock, settings.clone(), mail_transport, net)
}

#[expect(clippy::disallowed_methods, reason = "the test waits for the task")]
fn start_scheduler(
    engine: &Engine,
    paused: Option<oneshot::Receiver<()>>,
) -> (CancellationToken, JoinHandle<()>) {
    let shutdown = CancellationToken::new();
    let run = scheduler::run(engine.clone(), shutdown.clone());
    let scheduler_task = tokio::spawn(async move {
        if let Some(paused) = paused {
            assert!(paused.await.is_err(), "nothing is sent");
        }
        run.await;
    });
    (shutdown, scheduler_task)
}

/// A tcp monitor that is checked every second and confirms a failure once.
pub(crate) fn tcp(address: SocketAddr) -> MonitorDraft {
    let hostname = Hostname::parse(&address.ip().to_string()).expect("a host");
    MonitorDraft {
        name: Name::parse("site").expect("a name"),
        spec: Spec::Tcp(TcpSpec::of(hostname, address.port())),
        isactive: true,
        heartbeat_interval: Interval::new(1).expect("an interval"),
        timeout: None,
        retries: 1,
        retry_interval: None,
        resend_interval: None,
        severity: Default::default(),
        policy: None,
        upside_down_mode: false,
        tags: Tags::default(),
        notifiers: None,
        depends_on: None,
        flapping: Default::default(),
        regions: Default::default(),
        quorum: Default::default(),
        assertions: Default::default(),
        evidence: Default::default(),
        degraded: None,
        slo: None,
        description: Default::default(),
    }
}

/// Waits until a monitor has changed to this status.
pub(crate) async fn wait_for_status(events: &mut LiveEvents, id: MonitorId, wanted: Status) {
    let waiting = async {
        while let Some(event) = events.next().await {
            if matches!(event, Event::Heartbeat { monitor, status, previous: Some(_), .. }
                if monitor == id && status == wanted)
            {
                return;
            }
        }
        panic!("the events ended");
    };
    let waited = timeout(MAX_WAIT, waiting).await;
    waited.unwrap_or_else(|_| panic!("{id} did not become {} in time", wanted.as_str()));
}

/// Waits until this many heartbeats of a monitor are recorded.
pub(crate) async fn wait_for_heartbeats(events: &mut LiveEvents, id: MonitorId, count: usize) {
    let waiting = async {
        let mut seen = 0;
        while seen < count {
            match events.next().await {
                Some(Event::Heartbeat { monitor, .. }) if monitor == id => seen += 1,
                Some(_) => {}
                None => panic!("the events ended"),
            }
        }
    };
    timeout(MAX_WAIT, waiting).await.expect("heartbeats arrive in time");
}

/// A target on loopback that counts connections.
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    arrivals: Arc<Arrivals>,
    listening: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Arrivals {
    count: AtomicUsize,
    one: Notify,
}

impl Target {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut target = Self { address, arrivals: Arc::default(), listening: None };
        target.listen(listener);
        target
    }

    #[expect(clippy::disallowed_methods, reason = "the task ends with the target")]
    fn listen(&mut self, listener: TcpListener) {
        let arrivals = Arc::clone(&self.arrivals);
        self.listening = Some(tokio::spawn(async move {
            while listener.accept().await.is_ok() {
                arrivals.count.fetch_add(1, Ordering::SeqCst);
                arrivals.one.notify_one();
            }
        }));
    }

    /// From now on connections are refused.
    pub(crate) async fn go_down(&mut self) {
        if let Some(listening) = self.listening.take() {
            listening.abort();
            assert!(listening.await.is_err());
        }
    }

    pub(crate) async fn come_up(&mut self) {
        let listener = TcpListener::bind(self.address).await.expect("the same port");
        self.listen(listener);
    }

    pub(crate) fn count(&self) -> usize {
        self.arrivals.count.load(Ordering::SeqCst)
    }

    /// Waits for this many more connections, and returns how long that took.
    pub(crate) async fn wait_for_checks(&self, count: usize) -> Duration {
        let began = Instant::now();
        self.wait_for_count(self.count() + count).await;
        began.elapsed()
    }

    /// Waits until there have been this many connections in all: unlike `wait_for_checks`, it
    /// also counts one that arrived before the call.
    pub(crate) async fn wait_for_count(&self, count: usize) {
        let waiting = async {
            while self.count() < count {
                self.arrivals.one.notified().await;
            }
        };
        timeout(MAX_WAIT, waiting).await.expect("checks arrive in time");
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}
