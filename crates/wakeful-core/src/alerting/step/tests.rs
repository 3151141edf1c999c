//! The cases of the contract, and random histories.

use super::super::order::{Assignee, Author};
use super::super::state::Reason;
use super::*;
use crate::dependency::DependencyKind;
use crate::escalation::{Policy, PolicyStep, Target};
use crate::id::{MaintenanceId, PolicyId, TeamId};
use crate::maintenance::CoveringWindow;
use crate::monitors::Name;
use crate::observation::{Contact, Observation};
use crate::reason::Reason as Why;
use crate::verdict::{self, Input, State, Status};

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
        parents: Vec::new(),
        quiet_group: None,
        flapping: None,
        isactive: true,
        down: true,
        last_check: Some(at(0)),
        pace,
        previous: None,
        same_certificate: true,
        policy: None,
        suspended_at: None,
    }
}

/// A policy with these times, each step of which reaches a user.
fn policy(after: &[u32], repeat: u32, every: u32) -> PolicyContext {
    let target = Target::User(user(7));
    let step = |after: &u32| PolicyStep { after: *after, notify: vec![target] };
    PolicyContext {
        policy: Policy {
            id: PolicyId::new(at(0), [1; 10]),
            team: TeamId::new(at(0), [1; 10]),
            name: "Production".to_owned(),
            steps: after.iter().map(step).collect(),
            repeat,
            every,
            ack_timeout: 0,
            created: at(0),
            modified: at(0),
        },
        reached: (0..after.len()).map(|step| vec![format!("user {step}")]).collect(),
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

    fn escalating(after: &[u32], repeat: u32, every: u32) -> Self {
        let mut scene = Self::new();
        scene.context.policy = Some(policy(after, repeat, every));
        scene
    }

    fn policy(&mut self) -> &mut PolicyContext {
        self.context.policy.as_mut().expect("a policy")
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
                Notification::Replaced => "replaced",
                Notification::Reminder(_) => "reminder",
                Notification::Raised => "raised",
                Notification::Acknowledged => "acknowledged",
                Notification::Assigned(_) => "assigned",
                Notification::Commented => "commented",
                Notification::Resolved => "resolved",
                Notification::Everybody { .. } => "everybody",
                Notification::Escalated { round, steps, .. } => {
                    let steps: Vec<String> = (0..16)
                        .filter(|step| steps & (1 << step) != 0)
                        .map(|step| format!("{round}.{step}"))
                        .collect();
                    return format!("step {}@{seconds}", steps.join("+"));
                }
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
fn the_timeline_says_why_an_outage_was_never_reported() {
    let covered = Context { cover: Some(window(1, Some(3_600))), ..context() };
    let behind = Context { parents: vec![down_parent(5)], ..context() };
    for (context, text) in
        [(covered, "recovered during maintenance W1"), (behind, "recovered while router was down")]
    {
        let facts = Facts { ended: Some(at(50)), ..facts() };
        let step = step(&facts, &AlertState::default(), &context, None, at(50));
        assert_eq!(step.notes.last().map(Note::summary).as_deref(), Some(text));
        assert!(step.notify.is_empty(), "{:?}", step.notify);
    }
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
fn a_snooze_that_ended_before_the_outage_was_reported_repeats_nothing() {
    for mut scene in [Scene::escalating(&[300], 0, 60), Scene::reminding(300)] {
        scene.context.cover = Some(window(1, Some(900)));
        scene.checked(0);
        scene.obey(&snooze(600), 10);
        scene.context.cover = None;
        scene.checked(900);
        scene.sent(&["down@900"]);
        scene.due_at(Some(1_200));
        assert_eq!(scene.status(), AlertStatus::Open);
    }
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
    scene.sent(&["down@0", "up@20"]);
}

#[test]
fn a_raised_severity_is_sent_and_a_lowered_one_is_not() {
    let mut scene = Scene::new();
    scene.facts.severity = Severity::Warning;
    scene.checked(0);
    for (severity, seconds) in [
        (Severity::Critical, 10),
        (Severity::Info, 20),
        (Severity::Info, 30),
        (Severity::Warning, 40),
    ] {
        scene.obey(&order(Action::Severity(severity)), seconds);
    }
    scene.sent(&["down@0", "raised@10", "raised@40"]);
}

#[test]
fn a_severity_raised_before_the_alert_is_reported_is_sent_with_it() {
    let mut scene = Scene::new();
    scene.facts.severity = Severity::Warning;
    scene.context.cover = Some(window(1, Some(100)));
    scene.checked(0);
    scene.obey(&order(Action::Severity(Severity::Info)), 10);
    scene.obey(&order(Action::Severity(Severity::Warning)), 20);
    scene.sent(&[]);
    scene.context.cover = None;
    scene.obey(&order(Action::Severity(Severity::Critical)), 100);
    scene.sent(&["down@100"]);
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
fn a_suppressed_alert_of_an_inactive_monitor_awaits_the_check_after_it_is_active_again() {
    let mut scene = Scene::new();
    scene.context.cover = Some(window(1, Some(100)));
    scene.checked(0);
    scene.context.cover = None;
    scene.context.isactive = false;
    scene.decide(None, 100);
    scene.due_at(None);
    assert_eq!(scene.asked, 0);
    scene.context.isactive = true;
    scene.decide(None, 500);
    scene.due_at(Some(510));
    scene.checked(505);
    scene.sent(&["down@505"]);
}

#[test]
fn the_next_decision_is_about_the_earliest_of_what_follows() {
    let mut scene = Scene::escalating(&[0, 600], 0, 60);
    scene.policy().policy.ack_timeout = 1_800;
    scene.context.pace.interval = Some(Duration::from_secs(500));
    for (seconds, due) in [(0, 500), (500, 600), (600, 1_000)] {
        scene.checked(seconds);
        scene.due_at(Some(due));
    }
    scene.obey(&snooze(700), 610);
    scene.due_at(Some(700));
    scene.obey(&acknowledge(), 620);
    scene.due_at(Some(2_420));
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
    scene.sent(&["down@0", "commented@700"]);
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

#[test]
fn a_degraded_monitor_that_goes_down_only_closes_incidents() {
    let mut scene = Scene::new();
    scene.facts.kind = AlertKind::Degraded;
    scene.checked(0);
    scene.facts.recovery = Report::Replaced;
    scene.recover(50);
    scene.sent(&["down@0", "replaced@50"]);
    // One that nobody was notified of has no incident.
    let mut scene = Scene::new();
    scene.facts.kind = AlertKind::Degraded;
    scene.facts.recovery = Report::Replaced;
    scene.recover(50);
    scene.sent(&[]);
}

/// A parent that is up and was last checked at this time.
fn parent(last_check: i64) -> Parent {
    Parent {
        id: MonitorId::new(at(0), [9; 10]),
        name: Name::parse("router").expect("a name"),
        kind: DependencyKind::Service,
        isactive: true,
        status: Status::Up,
        is_failing: false,
        last_check: Some(at(last_check)),
        is_covered: false,
        max_doubt: Duration::from_secs(40),
        checks: vec![MonitorId::new(at(0), [9; 10])],
    }
}

fn down_parent(last_check: i64) -> Parent {
    Parent { status: Status::Down, ..parent(last_check) }
}

#[test]
fn a_child_of_a_parent_that_is_down_is_not_reported() {
    let mut scene = Scene::new();
    scene.context.parents = vec![down_parent(-5)];
    scene.checked(0);
    assert_eq!(scene.status(), AlertStatus::Suppressed);
    let by = scene.state.suppressed.clone().expect("suppressed");
    assert_eq!((by.reason, by.name.as_str()), (Reason::Dependency, "router"));
    scene.due_at(Some(60));
    scene.recover(50);
    scene.sent(&[]);
    assert_eq!(scene.notes.last(), Some(&NoteKind::Recovered));
}

#[test]
fn a_child_of_a_parent_in_maintenance_is_not_reported() {
    let mut scene = Scene::new();
    scene.context.parents = vec![Parent { is_covered: true, ..parent(5) }];
    scene.checked(10);
    assert_eq!(scene.state.suppressed.as_ref().map(|by| by.reason), Some(Reason::Dependency));
    scene.recover(50);
    scene.sent(&[]);
}

#[test]
fn a_child_whose_failure_is_noticed_first_waits_for_the_verdict_about_its_parent() {
    let mut scene = Scene::new();
    scene.context.parents = vec![parent(-30)];
    scene.checked(5);
    scene.sent(&[]);
    assert_eq!(scene.asked, 1, "the parent is checked now");
    scene.due_at(Some(15));
    scene.context.parents = vec![Parent { is_failing: true, ..parent(6) }];
    scene.checked(15);
    assert_eq!(scene.asked, 1, "it has been checked");
    scene.context.parents = vec![down_parent(12)];
    scene.checked(25);
    assert_eq!(scene.status(), AlertStatus::Suppressed);
    scene.sent(&[]);
}

#[test]
fn a_child_is_reported_when_its_parent_is_up_or_the_verdict_takes_too_long() {
    let mut scene = Scene::new();
    scene.context.parents = vec![parent(-30)];
    scene.checked(5);
    scene.context.parents = vec![parent(6)];
    scene.checked(15);
    scene.sent(&["down@15"]);
    assert_eq!(scene.state.doubt_since, None);

    let mut scene = Scene::new();
    scene.context.parents = vec![parent(-30)];
    for seconds in [5, 15, 25, 35] {
        scene.checked(seconds);
    }
    scene.due_at(Some(45));
    scene.checked(45);
    scene.sent(&["down@45"]);
    assert_eq!(scene.asked, 4, "it is asked again until it answers");
}

#[test]
fn a_child_that_recovers_before_the_verdict_about_its_parent_is_reported_with_its_recovery() {
    let mut scene = Scene::new();
    scene.context.parents = vec![parent(-30)];
    scene.checked(5);
    scene.recover(10);
    scene.sent(&["down@10", "up@10"]);
}

#[test]
fn a_child_that_is_still_down_after_its_parent_has_recovered_is_checked_and_reported() {
    let mut scene = Scene::new();
    scene.context.parents = vec![down_parent(-5)];
    scene.checked(0);
    scene.context.parents = vec![parent(300)];
    scene.decide(None, 301);
    assert_eq!(scene.asked, 1);
    scene.sent(&[]);
    scene.checked(303);
    scene.sent(&["down@303"]);
    let released = scene.state.released.as_ref().expect("a release");
    assert_eq!((released.by.name.as_str(), released.ended), ("router", at(301)));
}

#[test]
fn an_outage_that_was_sent_before_its_parent_failed_is_not_undone_and_its_recovery_is_sent() {
    let mut scene = Scene::reminding(60);
    scene.checked(0);
    scene.context.parents = vec![down_parent(10)];
    scene.checked(30);
    scene.checked(60);
    scene.checked(90);
    scene.context.parents = vec![parent(95)];
    scene.checked(100);
    // 30 s were left when the parent failed.
    scene.due_at(Some(130));
    scene.checked(130);
    scene.context.parents = vec![down_parent(140)];
    scene.recover(150);
    scene.sent(&["down@0", "reminder@130", "up@150"]);
}

#[test]
fn a_certificate_warning_is_sent_while_a_parent_is_down() {
    let mut scene = Scene::new();
    scene.facts = Facts { kind: AlertKind::Certificate, ended: Some(at(0)), ..facts() };
    scene.context.parents = vec![down_parent(-5)];
    scene.checked(0);
    scene.sent(&["down@0"]);
}

/// What a step says about the time that counts as unreachable.
fn unreachable(scene: &mut Scene, seconds: i64) -> Option<Unreachable> {
    scene.check(seconds);
    let step = step(&scene.facts, &scene.state, &scene.context, None, at(seconds));
    scene.state = step.state;
    step.unreachable
}

#[test]
fn a_child_without_its_path_is_unreachable_from_its_first_failure_to_the_end_of_the_suppression() {
    let path = || vec![Parent { kind: DependencyKind::Path, ..down_parent(5) }];
    let mut scene = Scene::new();
    scene.context.parents = path();
    assert_eq!(unreachable(&mut scene, 10), Some(Unreachable::Begins(at(0))));
    assert_eq!(unreachable(&mut scene, 70), None, "it has begun");
    scene.context.parents = vec![parent(90)];
    assert_eq!(unreachable(&mut scene, 100), Some(Unreachable::Ends(at(100))));
    assert_eq!(unreachable(&mut scene, 110), None);

    let mut scene = Scene::new();
    scene.context.parents = path();
    unreachable(&mut scene, 10);
    scene.facts.ended = Some(at(90));
    assert_eq!(unreachable(&mut scene, 91), Some(Unreachable::Ends(at(90))));

    let mut scene = Scene::new();
    scene.context.parents = path();
    scene.facts.ended = Some(at(20));
    let both = Unreachable::Was { from: at(0), to: at(20) };
    assert_eq!(unreachable(&mut scene, 21), Some(both), "both within one decision");

    let mut scene = Scene::new();
    scene.context.parents = vec![down_parent(5)];
    assert_eq!(unreachable(&mut scene, 10), None, "a service that is needed is no path");
}

#[test]
fn members_of_a_quiet_group_are_reported_through_it_only() {
    let mut scene = Scene::new();
    let id = MonitorId::new(at(0), [8; 10]);
    scene.context.quiet_group = Some(QuietGroup { id, name: "shop".to_owned() });
    scene.checked(0);
    assert_eq!(scene.state.suppressed.as_ref().map(|by| by.reason), Some(Reason::Group));
    scene.context.quiet_group = None;
    scene.checked(60);
    scene.sent(&["down@60"]);
    scene.context.quiet_group = Some(QuietGroup { id, name: "shop".to_owned() });
    scene.recover(70);
    scene.sent(&["down@60", "up@70"]);
}

fn flapping_alert() -> AlertId {
    AlertId::new(at(0), [7; 10])
}

/// The fourth outage within an hour has begun at 0.
fn flapping() -> Flapping {
    Flapping {
        limit: FlapLimit { outages: 4, within: Duration::from_secs(3_600) },
        starts: vec![at(0), at(-600), at(-1_200), at(-1_860)],
        changed: Some(at(0)),
        open: None,
        next: flapping_alert(),
    }
}

#[test]
fn the_nth_outage_opens_an_alert_about_flapping_in_its_place() {
    let mut scene = Scene::new();
    scene.context.flapping = Some(flapping());
    scene.check(0);
    let step = step(&scene.facts, &scene.state, &scene.context, None, at(0));
    let (id, flaps) = step.flaps.expect("it flaps");
    assert_eq!((id, flaps.describe().as_str()), (flapping_alert(), "4 outages in 31 min"));
    assert_eq!(step.notify, []);
    assert_eq!(step.state.suppressed.map(|by| by.id), Some(flapping_alert().uuid()));

    let mut scene = Scene::new();
    scene.context.flapping = Some(Flapping { starts: vec![at(0), at(-600)], ..flapping() });
    scene.checked(0);
    scene.sent(&["down@0"]);
}

#[test]
fn during_maintenance_nothing_counts_toward_flapping() {
    let mut scene = Scene::new();
    scene.context.flapping = Some(flapping());
    scene.context.cover = Some(window(1, Some(3_600)));
    let taken = step(&scene.facts, &scene.state, &scene.context, None, at(0));
    assert_eq!(taken.flaps, None);
    // The store leaves out the outage itself if it began during maintenance.
    scene.context.flapping =
        Some(Flapping { starts: vec![at(-600), at(-1_200), at(-1_860), at(-1_900)], ..flapping() });
    scene.context.cover = None;
    assert_eq!(step(&scene.facts, &scene.state, &scene.context, None, at(0)).flaps, None);
}

#[test]
fn while_a_monitor_flaps_its_outages_are_neither_reported_nor_their_recoveries() {
    let mut scene = Scene::new();
    scene.context.flapping = Some(Flapping { open: Some(flapping_alert()), ..flapping() });
    scene.checked(0);
    scene.recover(30);
    scene.sent(&[]);
    // Also when it ends before the first decision.
    let mut scene = Scene::new();
    scene.context.flapping = Some(flapping());
    scene.recover(30);
    scene.sent(&[]);
}

#[test]
fn an_outage_that_lasts_when_the_monitor_no_longer_flaps_is_released() {
    let mut scene = Scene::new();
    scene.context.flapping = Some(Flapping { open: Some(flapping_alert()), ..flapping() });
    scene.checked(0);
    scene.context.flapping = Some(flapping());
    scene.checked(1_800);
    scene.sent(&["down@1800"]);
}

/// The alert about flapping itself.
fn flapping_scene() -> Scene {
    let mut scene = Scene::reminding(60);
    scene.facts.kind = AlertKind::Flapping;
    scene.context.flapping = Some(Flapping { open: Some(flapping_alert()), ..flapping() });
    scene
}

#[test]
fn flapping_ends_after_half_the_span_without_a_change() {
    let mut scene = flapping_scene();
    scene.checked(0);
    scene.due_at(Some(1_800));
    let changed = |seconds| Flapping { changed: Some(at(seconds)), ..flapping() };
    scene.context.flapping = Some(changed(900));
    scene.checked(1_800);
    scene.due_at(Some(2_700));
    assert_eq!(scene.status(), AlertStatus::Open);
    let ended = step(&scene.facts, &scene.state, &scene.context, None, at(2_700)).ended;
    assert_eq!(ended, Some(at(2_700)));
    scene.checked(2_700);
    scene.sent(&["down@0", "up@2700"]);
    scene.due_at(None);
    // Without a limit, it is over.
    let mut scene = flapping_scene();
    scene.checked(0);
    scene.context.flapping = None;
    scene.checked(10);
    scene.sent(&["down@0", "up@10"]);
}

#[test]
fn flapping_is_suppressed_acknowledged_and_resolved_like_an_outage() {
    let mut scene = flapping_scene();
    scene.context.cover = Some(window(1, Some(600)));
    scene.checked(0);
    assert_eq!(scene.status(), AlertStatus::Suppressed);
    scene.context.cover = None;
    scene.checked(600);
    scene.obey(&acknowledge(), 700);
    assert_eq!(scene.status(), AlertStatus::Acknowledged);
    scene.obey(&order(Action::Resolve { comment: String::new() }), 800);
    scene.due_at(Some(1_800));
    scene.checked(1_800);
    scene.sent(&["down@600", "acknowledged@700", "resolved@800"]);
}

#[test]
fn flapping_is_escalated_until_somebody_responds_and_not_reminded_of() {
    let begin = || {
        let mut scene = flapping_scene();
        scene.context.policy = Some(policy(&[0, 600], 0, 60));
        scene.checked(0);
        // It is up for the moment.
        scene.context.down = false;
        scene
    };
    let mut scene = begin();
    scene.due_at(Some(600));
    scene.checked(600);
    scene.due_at(Some(1_800));
    scene.sent(&["down@0", "step 0.0@0", "step 0.1@600"]);

    let mut scene = begin();
    scene.obey(&acknowledge(), 100);
    scene.checked(600);
    scene.checked(1_800);
    scene.sent(&["down@0", "step 0.0@0", "acknowledged@100", "up@1800"]);

    let mut scene = begin();
    scene.obey(&snooze(500), 100);
    scene.checked(500);
    scene.due_at(Some(1_100));
    scene.sent(&["down@0", "step 0.0@0", "step 0.0@500"]);
}

/// Monitors that are checked every 90 s, a router and its children: all of them fail at 0.
struct Network {
    random: Random,
    now: i64,
    nodes: Vec<Node>,
    sent: Vec<(usize, Notification)>,
}

/// The first one is the router.
struct Node {
    state: State,
    next_check: i64,
    alert: Option<Tracked>,
}

impl Network {
    fn new(seed: u64, children: usize) -> Self {
        let mut random = Random(seed);
        let nodes = (0..=children).map(|_| {
            let next_check = i64::try_from(random.next() % 90 + 1).expect("small");
            let last_check = Some(at(next_check - 90));
            let state = State { status: Status::Up, last_check, ..State::default() };
            Node { state, next_check, alert: None }
        });
        let nodes = nodes.collect();
        Self { random, now: 0, nodes, sent: Vec::new() }
    }

    fn run(&mut self, until: i64, up: bool) {
        while self.now < until {
            self.now += 1;
            let mut order: Vec<usize> = (0..self.nodes.len()).collect();
            order.sort_by_cached_key(|_| self.random.next());
            for place in order {
                if self.nodes[place].next_check <= self.now {
                    self.check(place, up);
                }
                let due = self.nodes[place].alert.as_ref().and_then(|alert| alert.due);
                if due.is_some_and(|due| due <= at(self.now)) {
                    self.decide(place);
                }
            }
        }
    }

    fn check(&mut self, place: usize, up: bool) {
        let (now, policy) = (
            self.now,
            verdict::Policy {
                retries: 1,
                retry_interval: Duration::from_secs(5),
                upside_down: false,
                certificate_warnings: false,
                degraded: None,
            },
        );
        let seen = if up {
            Observation::up(Duration::ZERO, "fine")
        } else {
            Observation::down(Contact::Silence, Why::NoReply, "no answer")
        };
        let node = &mut self.nodes[place];
        let judged = verdict::step(&node.state, Input::Observation(seen), &policy, at(now));
        node.state = judged.state;
        node.next_check = now + if judged.recheck_after.is_some() { 5 } else { 90 };
        let Some(change) = judged.change else { return };
        match &mut node.alert {
            Some(alert) if change.closes_alert() => {
                alert.facts.ended = Some(at(now));
                alert.due = Some(at(now));
            }
            _ => {
                let started = change.outage.expect("an outage").started;
                let monitor = MonitorId::new(at(0), [u8::try_from(place).expect("few"); 10]);
                let facts = Facts { monitor, started, ..facts() };
                node.alert = Some(Tracked::new(facts, at(now)));
            }
        }
    }

    fn decide(&mut self, place: usize) {
        let router = &self.nodes[0].state;
        let parents = vec![Parent {
            id: MonitorId::new(at(0), [0; 10]),
            checks: vec![MonitorId::new(at(0), [0; 10])],
            status: router.status,
            is_failing: router.status == Status::Up && router.failing.is_some(),
            last_check: router.last_check,
            ..parent(0)
        }];
        let node = &mut self.nodes[place];
        let context = Context {
            parents: if place == 0 { Vec::new() } else { parents },
            down: node.state.status == Status::Down,
            last_check: node.state.last_check,
            ..context()
        };
        let alert = node.alert.as_mut().expect("an alert");
        let taken = step(&alert.facts, &alert.state, &context, None, at(self.now));
        (alert.state, alert.due) = (taken.state, taken.due);
        self.sent.extend(taken.notify.into_iter().map(|one| (place, one)));
        for asked in taken.ask {
            let place = usize::from(asked.uuid().as_bytes()[15]);
            self.nodes[place].next_check = self.now + 1;
        }
    }
}

#[test]
fn a_router_and_its_children_that_fail_in_any_order_send_one_message() {
    for seed in 0..50 {
        let mut network = Network::new(seed, 30);
        network.run(600, false);
        assert!(network.nodes.iter().all(|node| node.state.status == Status::Down));
        assert_eq!(network.sent, [(0, Notification::Opened)], "seed {seed}");
        network.run(1_200, true);
        let sent = [(0, Notification::Opened), (0, Notification::Closed)];
        assert_eq!(network.sent, sent, "seed {seed}: children that are up close silently");
        assert!(network.nodes.iter().all(|node| node.state.status == Status::Up));
    }
}

#[test]
fn steps_follow_the_outage_until_somebody_responds() {
    let mut scene = Scene::escalating(&[0, 600, 900], 1, 1_800);
    for seconds in [0, 1, 599, 600, 1_499, 1_500, 3_300] {
        scene.checked(seconds);
    }
    scene.sent(&["down@0", "step 0.0@0", "step 0.1@600", "step 0.2@1500", "step 1.0@3300"]);
    scene.due_at(Some(3_900));
    scene.obey(&acknowledge(), 3_400);
    scene.due_at(None);
    scene.checked(9_000);
    scene.recover(9_100);
    assert_eq!(scene.sent[5..], ["acknowledged@3400", "up@9100"]);
    assert!(scene.notes.contains(&NoteKind::Escalated));
}

#[test]
fn steps_and_reminders_are_independent() {
    let mut scene = Scene::escalating(&[0, 600], 0, 60);
    scene.context.pace.interval = Some(Duration::from_secs(500));
    for seconds in [0, 500, 600, 1_000] {
        scene.checked(seconds);
    }
    scene.sent(&["down@0", "step 0.0@0", "reminder@500", "step 0.1@600", "reminder@1000"]);
}

#[test]
fn overdue_steps_become_one_message_after_the_next_check() {
    let mut scene = Scene::escalating(&[60, 600, 900, 3_600], 0, 60);
    scene.checked(0);
    scene.due_at(Some(60));
    // Nothing was running; the last check is too old.
    scene.decide(None, 2_000);
    scene.due_at(Some(2_010));
    scene.checked(2_010);
    scene.sent(&["down@0", "step 0.0+0.1+0.2@2010"]);
    scene.due_at(Some(60 + 600 + 900 + 3_600));
}

#[test]
fn a_step_that_reaches_nobody_is_noted_and_the_next_one_is_taken_immediately() {
    let mut scene = Scene::escalating(&[0, 600, 900], 0, 60);
    scene.policy().reached[0].clear();
    scene.checked(0);
    scene.sent(&["down@0", "step 0.1@0"]);
    assert!(scene.notes.contains(&NoteKind::Nobody));
    scene.due_at(Some(900));
}

#[test]
fn if_no_step_reaches_anybody_every_member_is_notified() {
    let mut scene = Scene::escalating(&[0, 600], 0, 60);
    scene.policy().reached.iter_mut().for_each(Vec::clear);
    scene.checked(0);
    scene.sent(&["down@0", "everybody@0"]);
    scene.due_at(None);
}

#[test]
fn after_a_snooze_the_escalation_starts_again_at_the_first_step() {
    let mut scene = Scene::escalating(&[120, 600], 0, 60);
    scene.checked(0);
    scene.checked(120);
    scene.obey(&snooze(1_000), 200);
    scene.checked(800);
    scene.checked(1_000);
    scene.sent(&["down@0", "step 0.0@120", "step 0.0@1000"]);
    assert_eq!(scene.state.escalation.map(|position| position.restarts), Some(1));
    assert_eq!(scene.status(), AlertStatus::Open);
    scene.due_at(Some(1_600));
}

#[test]
fn steps_pause_during_a_window_and_continue_where_they_stopped() {
    let mut scene = Scene::escalating(&[0, 600], 0, 60);
    scene.checked(0);
    scene.context.cover = Some(window(1, Some(3_600)));
    scene.checked(100);
    scene.context.cover = None;
    scene.checked(3_600);
    scene.due_at(Some(4_100));
    scene.checked(4_100);
    scene.sent(&["down@0", "step 0.0@0", "step 0.1@4100"]);
}

#[test]
fn steps_of_an_inactive_monitor_continue_where_they_stopped() {
    let mut scene = Scene::escalating(&[0, 600], 0, 60);
    scene.checked(0);
    scene.context.isactive = false;
    scene.decide(None, 100);
    scene.due_at(None);
    scene.context.isactive = true;
    scene.checked(5_000);
    scene.due_at(Some(5_500));
}

#[test]
fn after_the_acknowledgement_timeout_steps_resume_from_where_they_stopped() {
    let mut scene = Scene::escalating(&[0, 600], 0, 60);
    scene.policy().policy.ack_timeout = 7_200;
    scene.checked(0);
    scene.obey(&acknowledge(), 100);
    scene.due_at(Some(7_300));
    scene.checked(7_299);
    assert_eq!(scene.status(), AlertStatus::Acknowledged);
    scene.checked(7_300);
    assert_eq!(scene.status(), AlertStatus::Open);
    scene.due_at(Some(7_800));
    scene.checked(7_800);
    scene.sent(&["down@0", "step 0.0@0", "acknowledged@100", "step 0.1@7800"]);
}

#[test]
fn after_the_acknowledgement_timeout_reminders_are_sent_again() {
    let mut scene = Scene::escalating(&[0], 0, 60);
    scene.policy().policy.ack_timeout = 1_800;
    scene.context.pace.interval = Some(Duration::from_secs(600));
    scene.checked(0);
    scene.obey(&acknowledge(), 100);
    scene.checked(1_900);
    scene.due_at(Some(2_500));
    scene.checked(2_500);
    scene.sent(&["down@0", "step 0.0@0", "acknowledged@100", "reminder@2500"]);
}

#[test]
fn a_clock_that_is_set_back_delays_no_acknowledgement_timeout() {
    let mut scene = Scene::escalating(&[0, 600], 0, 60);
    scene.policy().policy.ack_timeout = 1_800;
    scene.checked(5_000);
    scene.obey(&acknowledge(), 5_100);
    // At 5,200.
    scene.state = scene.state.clone().shifted_back(Duration::from_secs(3_600), at(1_600));
    scene.checked(1_600);
    scene.due_at(Some(3_300));
    scene.checked(3_300);
    scene.due_at(Some(3_800));
}

#[test]
fn a_clock_that_is_set_back_changes_nothing_about_how_long_follow_ups_were_paused() {
    let mut scene = Scene::reminding(6_000);
    scene.checked(5_000);
    scene.context.cover = Some(window(1, None));
    scene.checked(6_000);
    // At 10,000, when 5,000 s are left until the reminder.
    scene.state = scene.state.clone().shifted_back(Duration::from_secs(3_600), at(6_400));
    scene.context.cover = None;
    scene.checked(6_500);
    scene.due_at(Some(11_500));
}

#[test]
fn after_an_unacknowledgement_steps_resume_from_where_they_stopped() {
    let mut scene = Scene::escalating(&[0, 600], 0, 60);
    scene.checked(0);
    scene.obey(&acknowledge(), 100);
    scene.obey(&order(Action::Unacknowledge), 1_000);
    scene.due_at(Some(1_500));
}

#[test]
fn time_without_steps_for_two_reasons_counts_once() {
    // 100 s of 600 s have passed when the first reason begins.
    let begin = |order: &Order| {
        let mut scene = Scene::escalating(&[0, 600], 0, 60);
        scene.checked(0);
        scene.obey(order, 100);
        scene
    };
    let unacknowledge = order(Action::Unacknowledge);
    let mut scene = begin(&acknowledge());
    scene.context.cover = Some(window(1, Some(1_000)));
    scene.checked(200);
    scene.context.cover = None;
    scene.checked(1_000);
    scene.obey(&unacknowledge, 1_500);
    scene.due_at(Some(2_000));

    let mut scene = begin(&acknowledge());
    scene.context.parents = vec![down_parent(150)];
    scene.checked(200);
    scene.obey(&unacknowledge, 500);
    scene.context.parents.clear();
    scene.checked(1_000);
    scene.due_at(Some(1_500));

    let mut scene = begin(&snooze(5_000));
    scene.obey(&acknowledge(), 400);
    scene.obey(&unacknowledge, 1_000);
    scene.due_at(Some(1_500));

    let mut scene = begin(&acknowledge());
    scene.context.isactive = false;
    scene.decide(None, 200);
    scene.context.isactive = true;
    scene.checked(1_000);
    scene.obey(&unacknowledge, 1_500);
    scene.due_at(Some(2_000));

    let mut scene = begin(&order(Action::Comment("x".to_owned())));
    scene.context.isactive = false;
    scene.decide(None, 200);
    scene.context.cover = Some(window(1, Some(1_000)));
    scene.decide(None, 300);
    scene.context.cover = None;
    scene.decide(None, 1_000);
    scene.context.isactive = true;
    scene.checked(1_500);
    scene.due_at(Some(1_900));
}

#[test]
fn steps_that_an_earlier_version_stopped_continue_where_the_acknowledgement_stopped_them() {
    // It has not recorded that they stopped, after 100 s of 600 s.
    let begin = || {
        let mut scene = Scene::escalating(&[0, 600], 0, 60);
        scene.checked(0);
        scene.obey(&acknowledge(), 100);
        let position = scene.state.escalation.as_mut().expect("a position");
        assert_eq!(position.stopped_since.take(), Some(at(100)));
        scene
    };
    let unacknowledge = order(Action::Unacknowledge);
    let mut scene = begin();
    scene.obey(&unacknowledge, 1_500);
    scene.due_at(Some(2_000));

    let mut scene = begin();
    scene.context.cover = Some(window(1, Some(1_000)));
    scene.checked(200);
    scene.context.cover = None;
    scene.checked(1_000);
    scene.obey(&unacknowledge, 1_500);
    scene.due_at(Some(2_000));

    let mut scene = begin();
    scene.context.suspended_at = Some(at(200));
    scene.decide(None, 200);
    scene.context.suspended_at = None;
    scene.checked(1_000);
    scene.obey(&unacknowledge, 1_500);
    scene.due_at(Some(2_000));

    // It has also paused them, after the acknowledgement or before it.
    for (paused, due) in [(200, 2_000), (50, 2_050)] {
        let mut scene = begin();
        scene.state.paused_at = Some(at(paused));
        scene.checked(1_000);
        scene.obey(&unacknowledge, 1_500);
        scene.due_at(Some(due));
    }
}

#[test]
fn an_outage_soon_after_an_acknowledged_one_is_reported_by_one_step() {
    let begin = |after: &[u32]| {
        let mut scene = after_acknowledged(3 * MINUTE);
        scene.context.pace.interval = None;
        scene.context.policy = Some(policy(after, 1, 900));
        scene.checked(0);
        scene
    };
    let mut scene = begin(&[0, 600]);
    scene.due_at(None);
    scene.checked(600);
    scene.sent(&["down@0", "step 0.0@0"]);
    assert_eq!(scene.status(), AlertStatus::Acknowledged);
    scene.obey(&order(Action::Unacknowledge), 1_000);
    scene.due_at(Some(1_600));

    // Not before its time, and one that reaches somebody.
    let mut scene = begin(&[300, 600]);
    scene.due_at(Some(300));
    scene.policy().reached[0].clear();
    for seconds in [299, 300, 900, 5_000] {
        scene.checked(seconds);
    }
    scene.sent(&["down@0", "step 0.1@300"]);

    let mut scene = begin(&[300, 600]);
    scene.obey(&order(Action::Unacknowledge), 100);
    scene.due_at(Some(300));
    let mut scene = begin(&[300, 600]);
    scene.policy().reached.iter_mut().for_each(Vec::clear);
    scene.checked(300);
    scene.checked(5_000);
    scene.sent(&["down@0", "everybody@300"]);
}

#[test]
fn without_its_policy_facts_and_reminders_continue() {
    let mut scene = Scene::escalating(&[0, 60], 9, 60);
    scene.context.pace.interval = Some(Duration::from_secs(600));
    scene.checked(0);
    scene.context.policy = None;
    scene.checked(60);
    scene.checked(600);
    scene.recover(700);
    scene.sent(&["down@0", "step 0.0@0", "reminder@600", "up@700"]);
}

#[test]
fn another_policy_starts_at_its_first_step() {
    let mut scene = Scene::escalating(&[0, 600], 0, 60);
    scene.checked(0);
    let mut other = policy(&[30], 0, 60);
    other.policy.id = PolicyId::new(at(0), [2; 10]);
    scene.context.policy = Some(other);
    scene.checked(100);
    scene.due_at(Some(130));
    scene.checked(130);
    scene.sent(&["down@0", "step 0.0@0", "step 0.0@130"]);
    let position = scene.state.escalation.expect("a position");
    assert_eq!(position.restarts, 1, "its messages are different ones");
}

#[test]
fn a_policy_that_was_removed_and_added_again_starts_at_its_first_step() {
    let mut scene = Scene::escalating(&[0, 600], 0, 60);
    scene.checked(0);
    scene.checked(600);
    for (seconds, restarts) in [(700, 1), (900, 2)] {
        let removed = scene.context.policy.take();
        scene.checked(seconds);
        assert_eq!(scene.state.escalation, None);
        scene.context.policy = removed;
        scene.checked(seconds + 100);
        let position = scene.state.escalation.expect("a position");
        assert_eq!(position.restarts, restarts, "its messages are different ones");
    }
    scene.sent(&["down@0", "step 0.0@0", "step 0.1@600", "step 0.0@800", "step 0.0@1000"]);
}

#[test]
fn a_suppressed_alert_is_not_escalated() {
    let mut scene = Scene::escalating(&[0], 9, 60);
    scene.context.cover = Some(window(1, Some(3_600)));
    for seconds in [0, 60, 600] {
        scene.checked(seconds);
    }
    scene.sent(&[]);
    scene.context.cover = None;
    scene.checked(3_600);
    scene.sent(&["down@3600", "step 0.0@3600"]);
}

#[test]
fn the_timeline_names_the_recipients_of_a_step() {
    let mut scene = Scene::escalating(&[0, 0], 0, 60);
    scene.policy().reached[0].clear();
    let step = step(&scene.facts, &scene.state, &scene.context, None, at(0));
    let notes: Vec<String> = step.notes.iter().map(Note::summary).collect();
    assert_eq!(notes, ["opened ", "notified ", "nobody step 1", "escalated step 2: user 1"]);
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

/// Six hours of one monitor: random failures, windows, parents, quiet groups, flapping, gaps in
/// the checks, orders, and times in which nothing is decided.
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
    /// It depends on another monitor.
    parent: Option<Parent>,
    quiet: bool,
    /// It has a limit on flapping.
    limit: Option<FlapLimit>,
    starts: Vec<Millis>,
    changed: i64,
    flaps: bool,
    interval: Option<u64>,
    policy: Option<PolicyContext>,
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
    /// The last step that was taken: restarts, round and step.
    last_step: Option<(u32, u32, u32)>,
    /// Whether a step has reported it to somebody.
    is_reported: bool,
    /// The seconds that count for the steps. They are counted from one decision to the next,
    /// unless the former found a reason why no time passes.
    active: i64,
    is_active: bool,
    decided: i64,
    /// The active time at which the step before was due.
    step_due: i64,
}

impl Tracked {
    fn new(facts: Facts, now: Millis) -> Self {
        Self {
            facts,
            state: AlertState::default(),
            due: Some(now),
            downs: 0,
            ups: 0,
            last_due: None,
            last_step: None,
            is_reported: false,
            active: 0,
            is_active: false,
            decided: 0,
            step_due: 0,
        }
    }

    fn count_time(&mut self, now: i64) {
        if self.is_active {
            self.active += now - self.decided;
        }
        self.decided = now;
    }

    /// None of the steps that were just taken was early, in active time.
    fn check_delays(&mut self, before: &AlertState, context: &PolicyContext) {
        let Some(after) = self.state.escalation else { return };
        let PolicyContext { policy, reached } = context;
        let delay = |step: usize| i64::from(policy.steps[step].after);
        let (mut round, mut next) = (0, 0);
        match before.escalation {
            Some(position) if position.restarts == after.restarts => {
                (round, next) = (position.round, position.step as usize);
            }
            // It begins again after a snooze, immediately.
            Some(_) => self.step_due = self.active - delay(0),
            None => {}
        }
        let mut was_skipped = false;
        while (round, next) != (after.round, after.step as usize) {
            let mut span = i64::from(policy.every);
            if next == policy.steps.len() {
                (round, next, was_skipped) = (round + 1, 0, false);
            } else {
                span = delay(next);
            }
            let due = self.step_due + span;
            assert!(was_skipped || due <= self.active, "never early: {due} > {}", self.active);
            self.step_due = due.min(self.active);
            was_skipped = reached[next].is_empty();
            next += 1;
        }
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let at = usize::try_from(random.next() % 4).expect("small");
        let interval = [None, Some(30), Some(300), Some(3_600)][at];
        let limit = FlapLimit { outages: 3, within: Duration::from_secs(1_800) };
        let limit = random.one_in(3).then_some(limit);
        let parent = random.one_in(2).then(|| parent(0));
        let policy = random.one_in(2).then(|| {
            let mut context = policy(&[0, 60, 600], 2, 900);
            context.policy.ack_timeout = if random.one_in(2) { 1_800 } else { 0 };
            context
        });
        Self {
            random,
            parent,
            quiet: false,
            limit,
            starts: Vec::new(),
            changed: 0,
            flaps: false,
            now: 0,
            down: false,
            last_check: 0,
            no_checks_until: 0,
            nothing_decided_until: 0,
            isactive: true,
            cover: None,
            interval,
            policy,
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
        if self.random.one_in(100) {
            let step = usize::try_from(self.random.next() % 3).expect("small");
            let is_gap = self.random.one_in(2);
            if let Some(context) = &mut self.policy {
                context.reached[step] = if is_gap { Vec::new() } else { vec!["Ann".to_owned()] };
            }
        }
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
        self.change_surroundings();
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

    fn change_surroundings(&mut self) {
        let now = at(self.now);
        let suppressed_before = self.parent_is_down();
        if let Some(mut parent) = self.parent.take() {
            if self.random.one_in(6) {
                parent.last_check = Some(now);
                parent.is_failing = false;
            }
            let was_down = parent.status == Status::Down;
            match self.random.next() % 200 {
                0 => parent.isactive = !parent.isactive,
                1 | 2 => parent.is_failing = !was_down,
                3..=5 => {
                    parent.status = if was_down { Status::Up } else { Status::Down };
                    parent.last_check = Some(now);
                    parent.is_failing = false;
                }
                _ => {}
            }
            self.parent = Some(parent);
            if suppressed_before != self.parent_is_down() {
                self.wake();
            }
        }
        if self.random.one_in(300) {
            self.quiet = !self.quiet;
            self.wake();
        }
        let quiet_span = self.limit.map_or(0, |limit| limit.quiet_span().as_secs());
        let quiet_span = i64::try_from(quiet_span).expect("small");
        if self.flaps && self.now - self.changed >= quiet_span {
            self.flaps = false;
            self.wake();
        }
    }

    fn parent_is_down(&self) -> bool {
        self.parent.as_ref().is_some_and(|one| one.isactive && one.status == Status::Down)
    }

    fn flapping(&self) -> Option<Flapping> {
        Some(Flapping {
            limit: self.limit?,
            starts: self.starts.clone(),
            changed: Some(at(self.changed)),
            open: self.flaps.then(flapping_alert),
            next: flapping_alert(),
        })
    }

    fn wake(&mut self) {
        let now = at(self.now);
        if let Some(alert) = self.alert.as_mut().filter(|alert| alert.facts.ended.is_none()) {
            alert.due = Some(now);
        }
    }

    fn change(&mut self) {
        self.down = !self.down;
        self.changed = self.now;
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
            self.alert = Some(Tracked::new(Facts { started: now, ..facts() }, now));
            if !self.is_covered() {
                self.starts.push(now);
            }
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
            4 if self.random.one_in(2) => {
                let is_urgent = self.random.one_in(2);
                let severity = if is_urgent { Severity::Critical } else { Severity::Info };
                order(Action::Severity(severity))
            }
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
            parents: self.parent.clone().into_iter().collect(),
            quiet_group: self.quiet.then(|| QuietGroup {
                id: MonitorId::new(at(0), [8; 10]),
                name: "group".to_owned(),
            }),
            flapping: self.flapping(),
            isactive: self.isactive,
            down: self.down,
            last_check: Some(at(self.last_check)),
            pace: Pace { interval: self.interval.map(Duration::from_secs), ..context().pace },
            previous: self.previous.clone(),
            same_certificate: true,
            policy: self.policy.clone(),
            suspended_at: None,
        };
        let (now, covered, checked) = (self.now, self.is_covered(), self.is_checked());
        let (isactive, interval) = (self.isactive, self.interval);
        let (hidden, quiet, flaps) = (self.parent_is_down(), self.quiet, self.flaps);
        let Some(alert) = &mut self.alert else { return };
        alert.count_time(now);
        let before = alert.state.clone();
        let taken = step(&alert.facts, &alert.state, &context, order, at(now));
        let repeated = step(&alert.facts, &alert.state, &context, order, at(now));
        assert_eq!(taken, repeated, "another node makes the same decision");
        alert.state = taken.state;
        alert.due = taken.due;
        if taken.flaps.is_some() {
            assert!(!covered && !hidden && !quiet, "it would have been reported");
            self.flaps = true;
        }
        assert!(taken.due.is_none_or(|due| due > at(now)), "time passes: {:?}", taken.due);
        if let Some(policy) = &context.policy {
            alert.check_delays(&before, policy);
        }
        // One that opened acknowledged is reported by a step, once.
        let may_report = alert.state.acknowledged.is_none()
            || (context.previous.is_some() && !alert.is_reported);
        for one in taken.notify {
            match one {
                Notification::Opened => {
                    assert!(!covered, "an outage is not reported during a window");
                    assert!(!hidden && !quiet && !flaps, "nor while something else suppresses it");
                    alert.downs += 1;
                    alert.last_due = Some(at(now));
                }
                Notification::Closed => {
                    assert_eq!(alert.downs, 1, "no recovery without its outage");
                    assert!(alert.facts.ended.is_some() && alert.state.resolved.is_none());
                    alert.ups += 1;
                }
                Notification::Replaced => panic!("an outage is not replaced"),
                Notification::Reminder(due) => {
                    assert_eq!((alert.downs, alert.ups), (1, 0));
                    assert!(!covered && !hidden && checked && isactive);
                    assert_eq!(alert.facts.ended, None);
                    assert!(alert.state.acknowledged.is_none() && alert.state.resolved.is_none());
                    assert_eq!(alert.state.snoozed_until, None);
                    assert!(due <= at(now), "never early");
                    let woken = before.snoozed_until.is_some();
                    let span = due.since(alert.last_due.expect("the outage came first"));
                    let interval = interval.map(Duration::from_secs);
                    assert!(woken || interval.is_some_and(|interval| span >= interval), "{span:?}");
                    alert.last_due = Some(due);
                }
                Notification::Raised | Notification::Acknowledged | Notification::Resolved => {
                    assert_eq!((alert.downs, alert.ups), (1, 0));
                    assert!(order.is_some());
                }
                Notification::Assigned(_) => assert!(order.is_some()),
                Notification::Commented => assert!(order.is_some() && alert.downs == 1),
                Notification::Escalated { round, step, steps, restarts, .. } => {
                    assert_eq!((alert.downs, alert.ups), (1, 0), "the fact comes first");
                    assert!(!covered && !hidden && checked && isactive);
                    assert_eq!(alert.facts.ended, None);
                    assert!(may_report && alert.state.resolved.is_none());
                    assert_eq!(alert.state.snoozed_until, None);
                    assert!(steps & (1 << step) != 0);
                    let this = Some((restarts, round, step));
                    assert!(this > alert.last_step, "in order, each once");
                    alert.last_step = this;
                    alert.is_reported = true;
                }
                Notification::Everybody { .. } => {
                    assert_eq!((alert.downs, alert.ups), (1, 0));
                    assert!(!covered && !hidden && checked && isactive);
                    assert_eq!(alert.facts.ended, None);
                    assert!(may_report && alert.state.resolved.is_none());
                    alert.is_reported = true;
                }
            }
        }
        assert!(alert.downs <= 1 && alert.ups <= 1, "each fact is sent once");
        let AlertState { acknowledged, unreported, snoozed_until, .. } = &alert.state;
        let is_answered = (acknowledged.is_some() && !unreported) || snoozed_until.is_some();
        alert.is_active = alert.downs == 1 && isactive && !covered && !hidden && !is_answered;
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
            None if alert.state.doubt_since.is_some() => {
                let since = alert.state.doubt_since.expect("checked");
                assert!(self.parent.is_some() && alert.downs == 0);
                assert!(now.since(since) < Duration::from_secs(120), "at most two minutes late");
            }
            None if alert.state.suppressed.is_none() => assert_eq!(alert.downs, 1),
            None => {
                let awaits_check = alert.due.is_some_and(|due| due <= now.after(RECHECK_INTERVAL));
                assert!(
                    self.is_covered()
                        || self.parent_is_down()
                        || self.quiet
                        || self.flaps
                        || awaits_check
                        || !self.isactive,
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
