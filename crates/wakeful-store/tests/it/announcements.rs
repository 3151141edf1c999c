//! Announcements beside nodes of another version, which know neither them nor lines, and the one
//! read that finds what is due.

use std::time::Duration;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::calendar::{Rule, Schedule, Start};
use wakeful_core::cluster::slot::LEASE_DURATION;
use wakeful_core::id::{MailId, MaintenanceId, NodeId, NotifierId, ScheduleId, TeamId, UserId};
use wakeful_core::maintenance::{Announce, Window};
use wakeful_core::oncall::{Handover, OnCallSchedule};
use wakeful_core::selector::{Selector, SelectorParts};
use wakeful_core::time::Millis;
use wakeful_store::{
    DueWork, HandoverRecord, Mail, Node, SaveScheduleOutcome, SaveWindowOutcome, Store, StreamTime,
};
use wakeful_testkit::{Database, DatabaseKind, process_alerts, system, whole};

use crate::fixture::{NOW, monitor, next, notifier, team};
use crate::on_both;
use crate::record::down;

pub(crate) const MINUTE: Duration = Duration::from_secs(60);

on_both! {
    an_announcement_waits_while_a_node_of_another_version_runs => waits;
    one_read_finds_what_is_due => finds_what_is_due;
    teams_take_turns_with_handovers => takes_turns_with_handovers;
}

/// It covers all monitors from 30 to 40 minutes after `NOW`.
pub(crate) fn window(team: TeamId, notifier: NotifierId) -> Window {
    let start = Start::Instant(NOW.after(30 * MINUTE));
    let schedule = Schedule::new(start, Zone::utc(), Some(10 * MINUTE), Rule::Once, Vec::new());
    let everything = SelectorParts { everything: true, ..SelectorParts::default() };
    Window {
        id: MaintenanceId::new(NOW, next()),
        team,
        name: "Upgrade".into(),
        description: String::new(),
        isactive: true,
        selector: Selector::new(everything).expect("a selector"),
        reached: Vec::new(),
        schedule: schedule.expect("a schedule"),
        checks: Default::default(),
        counts: Default::default(),
        alerts: Default::default(),
        dependents: true,
        grace: Duration::ZERO,
        announce: Announce {
            notifiers: vec![notifier],
            before: vec![3_600],
            start: true,
            end: false,
        },
        running: None,
        ended: None,
        skipped_until: None,
        due: Some(NOW),
        created: NOW,
        modified: NOW,
    }
}

async fn waits(store: Store) {
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    let node = |version: &str| Node {
        id: NodeId::new(NOW, next()),
        name: version.into(),
        home: String::new(),
        version: version.into(),
    };
    let (own, old) = (node("2"), node("1"));
    for node in [&own, &old] {
        store.renew_node(node, LEASE_DURATION).await.expect("joined");
    }
    let store = store.with_node(own.id);
    let saver = UserId::new(NOW, next());
    let (scope, window) = (store.team(&whole(team)), window(team, hook));
    let added = scope.add_maintenance(&window, &system(), saver).await.expect("added");
    assert_eq!(added, SaveWindowOutcome::Done);
    let kinds = async |now: Millis| {
        store.apply_maintenance(team, now).await.expect("applied");
        let sent = store.team(&whole(team)).notifier_deliveries(hook, None, None).await;
        let sent = sent.expect("read").expect("there");
        sent.into_iter().map(|one| one.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(NOW).await, [""; 0]);
    // The maintenance itself takes place.
    let started = NOW.after(31 * MINUTE);
    assert_eq!(kinds(started).await, [""; 0]);
    assert_eq!(store.running_windows(team).await.expect("read").len(), 1);
    store.evict_node(old.id, false).await.expect("evicted");
    assert_eq!(kinds(started.after(MINUTE)).await, ["maintenance.started"]);
    assert_eq!(kinds(started.after(2 * MINUTE)).await, ["maintenance.started"], "once");
    // It is found and claimed, although it belongs to no monitor.
    let now = started.after(2 * MINUTE);
    let due = store.due_deliveries(now, 10, 10).await.expect("read");
    let ids: Vec<_> = due.iter().map(|row| row.id).collect();
    let claimed = store.claim_deliveries(&ids, now, now.after(MINUTE)).await.expect("claimed");
    assert_eq!(claimed.len(), 1);
}

async fn finds_what_is_due(store: Store) {
    const NOTHING: DueWork = DueWork {
        alerts: false,
        audit_streams: false,
        mail: false,
        maintenance: false,
        handovers: false,
        incidents: false,
        page_events: false,
        page_messages: false,
        page_messages_waiting: false,
    };
    let due_at = async |now: Millis| {
        let at = StreamTime { now, latest: now.after(MINUTE) };
        store.due_work(at, now.before(MINUTE)).await.expect("read")
    };
    assert_eq!(due_at(NOW).await, NOTHING);
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    // Those of the new account.
    while let Some(claimed) = store.claim_mail(NOW, NOW.after(MINUTE)).await.expect("claimed") {
        store.mail_sent(claimed.mail.id).await.expect("sent");
    }
    assert_eq!(due_at(NOW).await, NOTHING);

    let mail = Mail {
        id: MailId::new(NOW, next()),
        to: "a@example.com".into(),
        subject: "Hello".into(),
        text: "Hello".into(),
        reply_to: None,
    };
    store.add_mail(&mail, NOW).await.expect("queued");
    assert_eq!(due_at(NOW).await, DueWork { mail: true, ..NOTHING });
    assert_eq!(due_at(NOW.before(MINUTE)).await, NOTHING, "not yet");
    store.claim_mail(NOW, NOW.after(MINUTE)).await.expect("claimed").expect("there");
    assert_eq!(due_at(NOW).await, NOTHING, "somebody sends it");
    store.mail_sent(mail.id).await.expect("sent");

    let site = monitor(team, "site");
    store.team(&whole(team)).add_monitor(&site, &system()).await.expect("saved");
    store.record(&[down(team, site.id, 1)]).await.expect("recorded");
    assert_eq!(due_at(NOW).await, DueWork { alerts: true, ..NOTHING });
    process_alerts(&store, NOW).await;
    assert_eq!(due_at(NOW).await, NOTHING);

    let id = add_schedule(&store, team, NOW).await;
    assert_eq!(due_at(NOW).await, DueWork { handovers: true, ..NOTHING });
    look_again(&store, id, NOW.after(90 * MINUTE)).await;
    assert_eq!(due_at(NOW).await, NOTHING, "until the next handover");

    let saver = UserId::new(NOW, next());
    let window = window(team, hook);
    let added = store.team(&whole(team)).add_maintenance(&window, &system(), saver).await;
    assert_eq!(added.expect("added"), SaveWindowOutcome::Done);
    assert_eq!(due_at(NOW).await, DueWork { maintenance: true, ..NOTHING });
    store.apply_maintenance(team, NOW).await.expect("applied");
    assert_eq!(due_at(NOW).await, NOTHING, "until it starts");
    let started = NOW.after(30 * MINUTE);
    assert_eq!(due_at(started).await, DueWork { maintenance: true, ..NOTHING });
    store.apply_maintenance(team, started).await.expect("applied");
    let applied = due_at(started).await;
    assert!(applied.maintenance, "other nodes follow what was recorded");
    assert!(!due_at(started.after(2 * MINUTE)).await.maintenance, "until it ends");
}

/// A schedule without layers whose handovers are announced, saved at a time.
async fn add_schedule(store: &Store, team: TeamId, saved: Millis) -> ScheduleId {
    let schedule = OnCallSchedule {
        id: ScheduleId::new(saved, next()),
        team,
        name: "Ops".into(),
        zone: Zone::utc(),
        layers: Vec::new(),
        announce: Handover { notifiers: Vec::new(), people: true },
        created: saved,
        modified: saved,
    };
    let added = store.team(&whole(team)).add_schedule(&schedule, None, &system()).await;
    assert_eq!(added.expect("added"), SaveScheduleOutcome::Done);
    schedule.id
}

/// Notes that nothing has changed in a schedule that is due, and when it is due next.
async fn look_again(store: &Store, id: ScheduleId, next_at: Millis) {
    let due = store.due_schedules(NOW, 100).await.expect("read");
    let due = due.iter().find(|due| due.schedule.id == id).expect("due");
    let record = HandoverRecord { due, on_call: None, next_at, announcement: None };
    assert!(store.write_handover(record, NOW).await.expect("written"));
}

async fn takes_turns_with_handovers(store: Store) {
    let (busy, other) = (team(&store).await, team(&store).await);
    for seconds in (10..60).rev() {
        add_schedule(&store, busy, NOW.before(Duration::from_secs(seconds))).await;
    }
    let second = add_schedule(&store, other, NOW.before(Duration::from_secs(5))).await;
    let first = add_schedule(&store, other, NOW.before(Duration::from_secs(20))).await;
    let due = async || {
        let due = store.due_schedules(NOW, 3).await.expect("read");
        due.iter().map(|due| (due.schedule.team, due.schedule.id)).collect::<Vec<_>>()
    };
    let found = due().await;
    let teams: Vec<TeamId> = found.iter().map(|(team, _)| *team).collect();
    assert_eq!(teams, [busy, other, busy]);
    assert_eq!(found[1].1, first, "the longest overdue");
    look_again(&store, first, NOW.after(MINUTE)).await;
    assert_eq!(due().await[1].1, second);
}

#[tokio::test]
async fn a_delivery_of_a_node_without_lines_is_in_the_line_of_its_monitor() {
    let database = Database::new(DatabaseKind::Postgres).await;
    let store = database.open().await;
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    let site = wakeful_core::monitors::Monitor { notifiers: vec![hook], ..monitor(team, "site") };
    store.team(&whole(team)).add_monitor(&site, &system()).await.expect("saved");
    store.record(&[down(team, site.id, 1)]).await.expect("recorded");
    process_alerts(&store, NOW).await;
    // As the previous version writes it.
    database
        .execute(
            "insert into deliveries (id, eventid, team_id, monitor_id, notifier_id, alert_id,
                                     sequence, kind, body, created, next_try, is_step)
             select '00000000-0000-7000-8000-000000000001',
                    '00000000-0000-7000-8000-000000000002', team_id, monitor_id, notifier_id,
                    alert_id, sequence + 1, 'monitor.up', body, created, next_try, false
             from deliveries",
        )
        .await;
    let due = store.due_deliveries(NOW.after(MINUTE), 10, 10).await.expect("read");
    assert_eq!(due.len(), 1, "the second waits for the first");
}
