//! The cases of the contract, and random histories.

use super::super::order::{Assignee, Author};
use super::*;
use crate::id::MaintenanceId;
use crate::maintenance::CoveringWindow;

const MINUTE: i64 = 60;

fn at(seconds: i64) -> Millis {
    Millis(1_790_000_000_000 + seconds * 1_000)
}

fn user(number: u8) -> UserId {
    UserId::new(at(0), [number; 10])
}

fn facts() -> Facts {
    Facts {
        monitor: MonitorId::new(at(0), [1; 10]),
        kind: AlertKind::Outage,
        severity: Severity::Critical,
        started: at(0),
        ended: None,
        opening: Report::Pending,
        recovery: Report::Pending,
    }
}

fn context() -> Context {
    let pace = Pace { interval: None, max_check_age: Duration::from_secs(90) };
    Context {
        cover: None,
        isactive: true,
        down: true,
        last_check: Some(at(0)),
        pace,
        previous: None,
        same_certificate: true,
    }
}

fn window(number: u8, until: Option<i64>) -> Cover {
    let id = MaintenanceId::new(at(0), [number; 10]);
    Cover {
        windows: vec![CoveringWindow { id, name: format!("W{number}") }],
        until: until.map(at),
        pauses: false,
        excluded: true,
        suppresses: true,
    }
}

fn order(action: Action) -> Order {
    let by = Author { user: Some(user(1)), name: "Ann".to_owned(), via: "web".to_owned() };
    Order { by, action }
}

fn acknowledge() -> Order {
    order(Action::Acknowledge { comment: String::new() })
}

fn snooze(until: i64) -> Order {
    order(Action::Snooze { until: at(until), comment: String::new() })
}

/// An alert, its context and everything that has been sent so far.
struct Scene {
    facts: Facts,
    context: Context,
    state: AlertState,
    due: Option<Millis>,
    sent: Vec<String>,
    notes: Vec<NoteKind>,
    asked: usize,
}

impl Scene {
    fn new() -> Self {
        Self {
            facts: facts(),
            context: context(),
            state: AlertState::default(),
            due: Some(at(0)),
            sent: Vec::new(),
            notes: Vec::new(),
            asked: 0,
        }
    }

    fn reminding(seconds: u64) -> Self {
        let mut scene = Self::new();
        scene.context.pace.interval = Some(Duration::from_secs(seconds));
        scene
    }

    /// Decides, whether or not it is due.
    fn decide(&mut self, order: Option<&Order>, seconds: i64) {
        let step = step(&self.facts, &self.state, &self.context, order, at(seconds));
        self.state = step.state;
        self.due = step.due;
        self.asked += step.ask.len();
        self.notes.extend(step.notes.iter().map(|note| note.kind));
        self.sent.extend(step.notify.iter().map(|one| {
            let name = match one {
                Notification::Opened => "down",
                Notification::Closed => "up",
                Notification::Reminder(_) => "reminder",
                Notification::Acknowledged => "acknowledged",
                Notification::Assigned(_) => "assigned",
                Notification::Resolved => "resolved",
            };
            format!("{name}@{seconds}")
        }));
    }

    /// A check finds the monitor still down.
    fn check(&mut self, seconds: i64) {
        self.context.last_check = Some(at(seconds));
    }

    fn checked(&mut self, seconds: i64) {
        self.check(seconds);
        self.decide(None, seconds);
    }

    fn obey(&mut self, order: &Order, seconds: i64) {
        self.check(seconds);
        self.decide(Some(order), seconds);
    }

    fn recover(&mut self, seconds: i64) {
        self.facts.ended = Some(at(seconds));
        self.context.down = false;
        self.checked(seconds);
    }

    fn sent(&self, expected: &[&str]) {
        assert_eq!(self.sent, expected);
    }

    fn status(&self) -> AlertStatus {
        self.facts.status(&self.state)
    }

    fn due_at(&self, seconds: Option<i64>) {
        assert_eq!(self.due, seconds.map(at));
    }
}

#[test]
fn an_outage_and_its_recovery_are_sent_once_each() {
    let mut scene = Scene::new();
    scene.checked(0);
    scene.due_at(None);
    assert_eq!(scene.status(), AlertStatus::Open);
    scene.checked(MINUTE);
    scene.recover(2 * MINUTE);
    scene.checked(3 * MINUTE);
    scene.sent(&["down@0", "up@120"]);
    assert_eq!(scene.status(), AlertStatus::Over);
    assert_eq!(scene.notes, [NoteKind::Opened, NoteKind::Notified, NoteKind::Recovered]);
}

#[test]
fn an_outage_that_ends_before_the_first_decision_is_sent_with_its_recovery() {
    let mut scene = Scene::reminding(60);
    scene.recover(5);
    scene.sent(&["down@5", "up@5"]);
    scene.due_at(None);
    assert_eq!(scene.state.reminder_at, None);
}

#[test]
fn a_window_does_not_repeat_earlier_notifications() {
    let mut scene = Scene::reminding(600);
    scene.checked(0);
    scene.context.cover = Some(window(1, Some(3_600)));
    scene.checked(100);
    assert_eq!(scene.status(), AlertStatus::Open);
    scene.due_at(Some(3_600));
    scene.checked(1_000);
    scene.context.cover = None;
    scene.checked(3_600);
    scene.sent(&["down@0"]);
    // The reminder continues where it stopped: 500 s were left.
    scene.due_at(Some(4_100));
    scene.checked(4_100);
    scene.sent(&["down@0", "reminder@4100"]);
    assert!(scene.notes.contains(&NoteKind::Paused) && scene.notes.contains(&NoteKind::Resumed));
}

#[test]
fn a_recovery_within_a_window_is_sent_to_those_who_know_of_the_outage() {
    let mut scene = Scene::new();
    scene.checked(0);
    scene.context.cover = Some(window(1, Some(3_600)));
    scene.checked(100);
    scene.recover(200);
    scene.sent(&["down@0", "up@200"]);
}

#[test]
fn an_outage_within_a_window_is_never_sent() {
    let mut scene = Scene::new();
    scene.context.cover = Some(window(1, Some(3_600)));
    scene.checked(0);
    assert_eq!(scene.status(), AlertStatus::Suppressed);
    scene.due_at(Some(3_600));
    scene.recover(200);
    scene.sent(&[]);
    assert_eq!(scene.status(), AlertStatus::Over);
    assert_eq!(scene.notes, [NoteKind::Opened, NoteKind::Suppressed, NoteKind::Recovered]);
    // Even if nothing was decided in between.
    let mut scene = Scene::new();
    scene.context.cover = Some(window(1, Some(3_600)));
    scene.recover(200);
    scene.sent(&[]);
}

#[test]
fn an_outage_that_outlasts_its_window_is_sent_after_a_check() {
    let mut scene = Scene::new();
    scene.context.cover = Some(window(1, Some(3_600)));
    scene.checked(0);
    scene.context.cover = None;
    scene.decide(None, 3_600);
    scene.due_at(Some(3_610));
    scene.decide(None, 3_610);
    scene.due_at(Some(3_620));
    assert_eq!(scene.asked, 2, "a check is requested every ten seconds");
    scene.sent(&[]);
    scene.checked(3_615);
    scene.sent(&["down@3615"]);
    let released = scene.state.released.as_ref().expect("a release");
    assert_eq!((released.by.name.as_str(), released.ended), ("W1", at(3_600)));
    assert_eq!(scene.status(), AlertStatus::Open);
}

#[test]
fn a_second_window_that_begins_before_the_first_ends_suppresses_until_it_ends() {
    let mut scene = Scene::new();
    scene.context.cover = Some(window(1, Some(100)));
    scene.checked(0);
    scene.context.cover = Some(window(2, Some(200)));
    scene.checked(100);
    scene.due_at(Some(200));
    scene.context.cover = None;
    scene.checked(200);
    scene.sent(&["down@200"]);
}

#[test]
fn a_window_without_an_end_is_decided_again_every_minute_and_released_when_it_is_deleted() {
    let mut scene = Scene::new();
    scene.context.cover = Some(window(1, None));
    scene.checked(0);
    scene.due_at(Some(60));
    scene.context.cover = None;
    scene.decide(None, 60);
    scene.sent(&[]);
    scene.checked(61);
    scene.sent(&["down@61"]);
}

#[test]
fn a_window_that_only_pauses_checks_or_statistics_withholds_nothing() {
    let mut scene = Scene::new();
    scene.context.cover = Some(Cover { suppresses: false, ..window(1, Some(3_600)) });
    scene.checked(0);
    scene.sent(&["down@0"]);
}

#[test]
fn acknowledging_stops_reminders_and_not_the_recovery() {
    let mut scene = Scene::reminding(60);
    scene.checked(0);
    scene.obey(&acknowledge(), 30);
    assert_eq!(scene.status(), AlertStatus::Acknowledged);
    scene.due_at(None);
    scene.checked(600);
    let before = scene.notes.len();
    scene.obey(&acknowledge(), 601);
    assert_eq!(scene.notes.len(), before, "acknowledging twice changes nothing");
    scene.obey(&order(Action::Unacknowledge), 700);
    scene.due_at(Some(760));
    scene.checked(760);
    scene.obey(&acknowledge(), 770);
    scene.recover(800);
    scene.sent(&["down@0", "acknowledged@30", "reminder@760", "acknowledged@770", "up@800"]);
}

#[test]
fn acknowledging_does_not_hide_the_outage() {
    let mut scene = Scene::reminding(60);
    scene.obey(&acknowledge(), 0);
    scene.sent(&["down@0"]);
    scene.due_at(None);
    assert_eq!(scene.status(), AlertStatus::Acknowledged);

    let mut scene = Scene::new();
    scene.context.cover = Some(window(1, Some(100)));
    scene.checked(0);
    scene.obey(&acknowledge(), 50);
    scene.context.cover = None;
    scene.checked(100);
    scene.sent(&["down@100"]);
}

/// The acknowledgement of an outage that ended so many seconds before this one began.
fn after_acknowledged(seconds: i64) -> Scene {
    let mut scene = Scene::reminding(60);
    let acknowledged = Acknowledged {
        at: at(-7_200),
        user: Some(user(1)),
        name: "Ann".to_owned(),
        via: "link".to_owned(),
    };
    scene.context.previous = Some(AcknowledgedOutage { ended: at(-seconds), acknowledged });
    scene
}

#[test]
fn an_outage_soon_after_an_acknowledged_one_opens_acknowledged() {
    let mut scene = after_acknowledged(3 * MINUTE);
    scene.checked(0);
    scene.checked(600);
    scene.sent(&["down@0"]);
    let acknowledged = scene.state.acknowledged.as_ref().expect("acknowledged");
    assert_eq!((acknowledged.name.as_str(), acknowledged.at), ("Ann", at(0)));
}

#[test]
fn an_outage_long_after_an_acknowledged_one_starts_follow_ups_again() {
    let mut scene = after_acknowledged(30 * MINUTE);
    scene.checked(0);
    scene.checked(60);
    scene.sent(&["down@0", "reminder@60"]);
}

#[test]
fn a_snooze_ends_with_one_reminder() {
    let mut scene = Scene::new();
    scene.checked(0);
    scene.obey(&snooze(600), 10);
    assert_eq!(scene.status(), AlertStatus::Snoozed);
    scene.due_at(Some(600));
    scene.checked(599);
    scene.checked(600);
    scene.sent(&["down@0", "reminder@600"]);
    scene.due_at(None);
    assert_eq!(scene.status(), AlertStatus::Open);

    let mut scene = Scene::reminding(60);
    scene.checked(0);
    scene.obey(&snooze(600), 10);
    scene.checked(300);
    scene.checked(600);
    scene.checked(660);
    scene.sent(&["down@0", "reminder@600", "reminder@660"]);
}

#[test]
fn a_snooze_ends_with_the_recovery() {
    let mut scene = Scene::new();
    scene.checked(0);
    scene.obey(&snooze(600), 10);
    scene.recover(100);
    scene.due_at(None);
    scene.sent(&["down@0", "up@100"]);
    assert_eq!(scene.state.snoozed_until, None);
}

#[test]
fn a_snooze_into_a_window_ends_when_the_window_is_over() {
    let mut scene = Scene::new();
    scene.checked(0);
    scene.obey(&snooze(600), 10);
    scene.context.cover = Some(window(1, Some(900)));
    scene.checked(500);
    scene.checked(600);
    scene.sent(&["down@0"]);
    scene.context.cover = None;
    scene.checked(900);
    scene.sent(&["down@0", "reminder@900"]);
}

#[test]
fn a_resolved_alert_is_closed_and_its_recovery_is_not_sent() {
    let mut scene = Scene::reminding(60);
    scene.checked(0);
    scene.obey(&order(Action::Resolve { comment: String::new() }), 30);
    assert_eq!(scene.status(), AlertStatus::Resolved);
    scene.due_at(None);
    assert!(!scene.facts.accepts(&scene.state, &acknowledge().action));
    assert!(scene.facts.accepts(&scene.state, &Action::Comment("x".to_owned())));
    scene.checked(600);
    scene.recover(700);
    scene.sent(&["down@0", "resolved@30"]);
    assert_eq!(scene.status(), AlertStatus::Over);
    assert_eq!(scene.notes.last(), Some(&NoteKind::Recovered));
}

#[test]
fn an_alert_that_nobody_was_notified_of_is_resolved_silently() {
    let mut scene = Scene::new();
    scene.context.cover = Some(window(1, Some(3_600)));
    scene.checked(0);
    scene.obey(&order(Action::Resolve { comment: String::new() }), 30);
    scene.context.cover = None;
    scene.checked(4_000);
    scene.sent(&[]);
}

#[test]
fn assigning_notifies_the_user_and_does_not_acknowledge() {
    let mut scene = Scene::reminding(60);
    scene.checked(0);
    let assign = order(Action::Assign(Some(Assignee { user: user(2), name: "Bob".to_owned() })));
    scene.obey(&assign, 10);
    scene.obey(&assign, 11);
    scene.checked(60);
    scene.obey(&order(Action::Assign(None)), 61);
    scene.sent(&["down@0", "assigned@10", "reminder@60"]);
    assert_eq!(scene.state.assignee, None);
    assert_eq!(scene.status(), AlertStatus::Open);
}

#[test]
fn a_user_can_change_the_severity_of_an_open_alert() {
    let mut scene = Scene::new();
    scene.checked(0);
    scene.obey(&order(Action::Severity(Severity::Info)), 10);
    assert_eq!(scene.facts.severity(&scene.state), Severity::Info);
    let notes = scene.notes.len();
    scene.obey(&order(Action::Severity(Severity::Info)), 11);
    assert_eq!(scene.notes.len(), notes);
    scene.recover(20);
    scene.obey(&order(Action::Severity(Severity::Critical)), 30);
    assert_eq!(scene.facts.severity(&scene.state), Severity::Info, "it is over");
}

#[test]
fn follow_ups_pause_while_the_monitor_is_inactive() {
    let mut scene = Scene::reminding(60);
    scene.checked(0);
    scene.context.isactive = false;
    scene.decide(None, 60);
    scene.due_at(None);
    scene.context.isactive = true;
    scene.checked(1_000);
    scene.sent(&["down@0", "reminder@1000"]);
}

#[test]
fn there_are_no_follow_ups_without_a_recent_check() {
    let mut scene = Scene::reminding(60);
    scene.checked(0);
    scene.decide(None, 300);
    scene.due_at(Some(310));
    scene.checked(310);
    scene.sent(&["down@0", "reminder@310"]);
}

#[test]
fn a_certificate_warning_is_sent_once_and_is_then_over() {
    let mut scene = Scene::reminding(60);
    scene.facts = Facts { kind: AlertKind::Certificate, ended: Some(at(0)), ..facts() };
    scene.checked(0);
    scene.checked(600);
    scene.sent(&["down@0"]);
    scene.due_at(None);
    assert_eq!(scene.status(), AlertStatus::Over);
    assert!(!scene.facts.accepts(&scene.state, &acknowledge().action));
    scene.obey(&order(Action::Comment("renewed".to_owned())), 700);
    assert_eq!(scene.notes.last(), Some(&NoteKind::Commented));
}

#[test]
fn a_certificate_warning_waits_for_the_end_of_a_window_if_the_certificate_is_still_the_same() {
    for same in [true, false] {
        let mut scene = Scene::new();
        scene.facts = Facts { kind: AlertKind::Certificate, ended: Some(at(0)), ..facts() };
        scene.context.cover = Some(window(1, Some(100)));
        scene.checked(0);
        assert_eq!(scene.status(), AlertStatus::Suppressed);
        scene.due_at(Some(100));
        scene.context.cover = None;
        scene.context.same_certificate = same;
        scene.checked(100);
        scene.sent(if same { &["down@100"] } else { &[] });
        assert_eq!(scene.status(), AlertStatus::Over);
    }
}

#[test]
fn an_alert_that_an_earlier_version_reported_is_not_reported_again() {
    let mut scene = Scene::reminding(60);
    scene.facts.opening = Report::Elsewhere;
    scene.state.reminder_at = Some(at(45));
    scene.checked(10);
    scene.due_at(Some(45));
    scene.checked(45);
    scene.recover(50);
    scene.sent(&["reminder@45", "up@50"]);
    // Its recovery, too.
    let mut scene = Scene::new();
    scene.checked(0);
    scene.facts.recovery = Report::Elsewhere;
    scene.recover(50);
    scene.sent(&["down@0"]);
}

/// A generator of random numbers, the same for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn one_in(&mut self, number: u64) -> bool {
        self.next().is_multiple_of(number)
    }

    fn ticks(&mut self, most: u64) -> i64 {
        i64::try_from(self.next() % most + 1).expect("small") * TICK
    }
}

const TICK: i64 = 10;
const HISTORY: i64 = 6 * 3_600;

/// Six hours of one monitor: random failures, windows, gaps in the checks, orders, and times
/// in which nothing is decided.
struct World {
    random: Random,
    now: i64,
    down: bool,
    last_check: i64,
    no_checks_until: i64,
    nothing_decided_until: i64,
    isactive: bool,
    /// The end of the window that covers it, if it is known.
    cover: Option<(i64, bool)>,
    interval: Option<u64>,
    alert: Option<Tracked>,
    previous: Option<AcknowledgedOutage>,
}

/// The alert, and what its recipients have received.
struct Tracked {
    facts: Facts,
    state: AlertState,
    due: Option<Millis>,
    downs: usize,
    ups: usize,
    /// When the last message was due.
    last_due: Option<Millis>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let at = usize::try_from(random.next() % 4).expect("small");
        let interval = [None, Some(30), Some(300), Some(3_600)][at];
        Self {
            random,
            now: 0,
            down: false,
            last_check: 0,
            no_checks_until: 0,
            nothing_decided_until: 0,
            isactive: true,
            cover: None,
            interval,
            alert: None,
            previous: None,
        }
    }

    fn run(mut self) {
        while self.now < HISTORY {
            self.now += TICK;
            self.happen();
            let order = if self.random.one_in(40) { Some(self.random_order()) } else { None };
            let due = self.alert.as_ref().and_then(|alert| alert.due);
            if order.is_some() || due.is_some_and(|due| due <= at(self.now)) {
                let decides = self.now >= self.nothing_decided_until;
                if order.is_some() || decides {
                    self.decide(order.as_ref());
                }
            }
            self.nobody_is_forgotten();
        }
    }

    fn happen(&mut self) {
        if self.random.one_in(60) {
            let known = self.random.one_in(2);
            let until = self.now + self.random.ticks(60);
            self.cover = if self.cover.is_some() { None } else { Some((until, known)) };
            self.wake();
        }
        if self.cover.is_some_and(|(until, _)| until <= self.now) {
            self.cover = None;
            self.wake();
        }
        if self.random.one_in(100) {
            self.no_checks_until = self.now + self.random.ticks(60);
        }
        if self.random.one_in(100) {
            self.nothing_decided_until = self.now + self.random.ticks(60);
        }
        if self.random.one_in(200) {
            self.isactive = !self.isactive;
            self.wake();
        }
        if self.isactive && self.now >= self.no_checks_until {
            self.last_check = self.now;
            if self.random.one_in(if self.down { 30 } else { 10 }) {
                self.change();
            }
        }
    }

    fn wake(&mut self) {
        let now = at(self.now);
        if let Some(alert) = self.alert.as_mut().filter(|alert| alert.facts.ended.is_none()) {
            alert.due = Some(now);
        }
    }

    fn change(&mut self) {
        self.down = !self.down;
        let now = at(self.now);
        if self.down {
            // The recovery before may not have been decided yet: it is, before the next outage.
            self.decide(None);
            if let Some(last) = self.alert.take() {
                let ended = last.facts.ended.expect("it recovered");
                let acknowledged = last.state.acknowledged;
                self.previous =
                    acknowledged.map(|acknowledged| AcknowledgedOutage { ended, acknowledged });
            }
            self.alert = Some(Tracked {
                facts: Facts { started: now, ..facts() },
                state: AlertState::default(),
                due: Some(now),
                downs: 0,
                ups: 0,
                last_due: None,
            });
        } else if let Some(alert) = &mut self.alert {
            alert.facts.ended = Some(now);
            alert.due = Some(now);
        }
    }

    fn random_order(&mut self) -> Order {
        match self.random.next() % 6 {
            0 => order(Action::Unacknowledge),
            1 => {
                let until = self.now + self.random.ticks(100);
                snooze(until)
            }
            2 if self.random.one_in(4) => order(Action::Resolve { comment: String::new() }),
            3 => order(Action::Comment("x".to_owned())),
            4 => order(Action::Assign(Some(Assignee { user: user(2), name: "Bob".to_owned() }))),
            _ => acknowledge(),
        }
    }

    fn is_covered(&self) -> bool {
        self.cover.is_some()
    }

    fn is_checked(&self) -> bool {
        self.now - self.last_check <= 90
    }

    fn decide(&mut self, order: Option<&Order>) {
        let context = Context {
            cover: self.cover.map(|(until, known)| window(1, known.then_some(until))),
            isactive: self.isactive,
            down: self.down,
            last_check: Some(at(self.last_check)),
            pace: Pace { interval: self.interval.map(Duration::from_secs), ..context().pace },
            previous: self.previous.clone(),
            same_certificate: true,
        };
        let (now, covered, checked) = (self.now, self.is_covered(), self.is_checked());
        let (isactive, interval) = (self.isactive, self.interval);
        let Some(alert) = &mut self.alert else { return };
        let before = alert.state.clone();
        let taken = step(&alert.facts, &alert.state, &context, order, at(now));
        let repeated = step(&alert.facts, &alert.state, &context, order, at(now));
        assert_eq!(taken, repeated, "another node makes the same decision");
        alert.state = taken.state;
        alert.due = taken.due;
        assert!(taken.due.is_none_or(|due| due > at(now)), "time passes: {:?}", taken.due);
        for one in taken.notify {
            match one {
                Notification::Opened => {
                    assert!(!covered, "an outage is not reported during a window");
                    alert.downs += 1;
                    alert.last_due = Some(at(now));
                }
                Notification::Closed => {
                    assert_eq!(alert.downs, 1, "no recovery without its outage");
                    assert!(alert.facts.ended.is_some() && alert.state.resolved.is_none());
                    alert.ups += 1;
                }
                Notification::Reminder(due) => {
                    assert_eq!((alert.downs, alert.ups), (1, 0));
                    assert!(!covered && checked && isactive && alert.facts.ended.is_none());
                    assert!(alert.state.acknowledged.is_none() && alert.state.resolved.is_none());
                    assert_eq!(alert.state.snoozed_until, None);
                    assert!(due <= at(now), "never early");
                    let woken = before.snoozed_until.is_some();
                    let span = due.since(alert.last_due.expect("the outage came first"));
                    let interval = interval.map(Duration::from_secs);
                    assert!(woken || interval.is_some_and(|interval| span >= interval), "{span:?}");
                    alert.last_due = Some(due);
                }
                Notification::Acknowledged | Notification::Resolved => {
                    assert_eq!((alert.downs, alert.ups), (1, 0));
                    assert!(order.is_some());
                }
                Notification::Assigned(_) => assert!(order.is_some()),
            }
        }
        assert!(alert.downs <= 1 && alert.ups <= 1, "each fact is sent once");
    }

    /// After a check and a decision, a notification has been sent for every alert that is
    /// neither suppressed nor over.
    fn nobody_is_forgotten(&self) {
        let Some(alert) = &self.alert else { return };
        if self.now < self.nothing_decided_until || alert.state.resolved.is_some() {
            return;
        }
        let now = at(self.now);
        let is_pending = alert.due.is_some_and(|due| due <= now);
        assert!(!is_pending, "it was decided");
        match alert.facts.ended {
            Some(_) => assert_eq!(alert.ups, alert.downs, "a recovery for each outage"),
            None if alert.state.suppressed.is_none() => assert_eq!(alert.downs, 1),
            None => {
                let awaits_check = alert.due.is_some_and(|due| due <= now.after(RECHECK_INTERVAL));
                assert!(
                    self.is_covered() || awaits_check || !self.isactive,
                    "suppressed by nothing at {}: {:?}",
                    self.now,
                    alert.state
                );
            }
        }
    }
}

#[test]
fn the_rules_hold_in_random_histories() {
    for seed in 0..60 {
        World::new(seed).run();
    }
}

#[test]
#[ignore = "takes minutes; run it in release mode"]
fn the_rules_hold_in_a_hundred_thousand_random_histories() {
    for seed in 0..100_000 {
        World::new(seed).run();
    }
}
