//! Writing verdicts: in any order, twice, and for deleted monitors.

use wakeful_core::alerting::alert::{Alert, AlertKind};
use wakeful_core::id::{AlertId, EventId, MonitorId, TeamId};
use wakeful_core::monitors::Monitor;
use wakeful_core::notifications::message_rules::MessageRules;
use wakeful_core::observation::Certificate;
use wakeful_core::routing::Rule;
use wakeful_core::selector::{Selector, SelectorParts};
use wakeful_core::severity::Severity;
use wakeful_core::time::Millis;
use wakeful_core::verdict::Status;
use wakeful_store::{NewEvent, Record, Store};
use wakeful_testkit::{process_alerts, system, whole};

use crate::fixture::{NOW, monitor, next, notifier, notifier_with, passing, team};
use crate::heartbeats::everything;
use crate::on_both;

on_both! {
    a_record_written_twice_is_stored_once => twice;
    an_older_state_does_not_replace_a_newer_one => older;
    a_deleted_monitor_is_skipped => deleted;
    an_outage_opens_closes_and_is_sent_to_each_notifier => outage;
    an_outage_that_ends_before_it_is_reported_is_over_for_all_who_were_notified => brief_outage;
    active_monitors_are_read_in_pages => pages;
    the_newest_certificate_is_stored_in_whatever_order_they_arrive => certificates;
}

pub(crate) fn down(team: TeamId, monitor: MonitorId, seq: i64) -> Record {
    let mut record = passing(monitor, seq, NOW);
    record.state.status = Status::Down;
    let alert = AlertId::new(NOW, next());
    record.opens.push(Alert {
        id: alert,
        team,
        monitor,
        kind: AlertKind::Outage,
        severity: Default::default(),
        cause: "503".into(),
        reason: None,
        started: NOW,
        ended: None,
    });
    let id = EventId::new(NOW, next());
    record.events.push(NewEvent {
        id,
        kind: "monitor.down",
        alert,
        body: r#"{"a":"\u0000"}"#.into(),
    });
    record
}

/// The second result of a monitor, which ends its outage.
fn up(monitor: MonitorId, alert: AlertId, ended: Millis) -> Record {
    let mut record = passing(monitor, 2, ended);
    record.closes = Some((alert, ended));
    let id = EventId::new(ended, next());
    record.events.push(NewEvent { id, kind: "monitor.up", alert, body: "{}".into() });
    record
}

async fn twice(store: Store) {
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    let saved_monitor = Monitor { notifiers: vec![hook], ..monitor(team, "site") };
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    let record = down(team, saved_monitor.id, 1);
    for _ in 0..2 {
        store.record(std::slice::from_ref(&record)).await.expect("recorded");
        process_alerts(&store, NOW).await;
    }
    let beats =
        store.team(&whole(team)).heartbeats(saved_monitor.id, &everything()).await.expect("read");
    assert_eq!(beats.expect("there").len(), 1);
    let alerts = store.team(&whole(team)).alerts(None, None).await.expect("read");
    assert_eq!((alerts.len(), alerts[0].deliveries.len()), (1, 1));
}

async fn older(store: Store) {
    let team = team(&store).await;
    let saved_monitor = monitor(team, "site");
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    store.record(&[down(team, saved_monitor.id, 2)]).await.expect("recorded");
    store.record(&[passing(saved_monitor.id, 1, NOW)]).await.expect("recorded");
    let (read, _) =
        store.team(&whole(team)).monitor(saved_monitor.id).await.expect("read").expect("there");
    assert_eq!((read.state.status, read.seq), (Status::Down, 2));
    // Within one batch the higher number wins, too.
    store
        .record(&[passing(saved_monitor.id, 4, NOW), down(team, saved_monitor.id, 3)])
        .await
        .expect("recorded");
    let (read, _) =
        store.team(&whole(team)).monitor(saved_monitor.id).await.expect("read").expect("there");
    assert_eq!((read.state.status, read.seq), (Status::Up, 4));
    let beats =
        store.team(&whole(team)).heartbeats(saved_monitor.id, &everything()).await.expect("read");
    assert_eq!(beats.expect("there").len(), 4);
}

/// The record of a passing check with a certificate that expires then.
fn with_certificate(monitor: MonitorId, seq: i64, at: Millis, expires: i64) -> Record {
    let certificate = Certificate {
        subject: "CN=a.example".into(),
        issuer: "CN=\"CA\"".into(),
        names: vec!["a.example".into()],
        not_after: Millis(expires),
        trusted: true,
        chain: Vec::new(),
    };
    Record { certificate: Some(Box::new(certificate)), ..passing(monitor, seq, at) }
}

async fn certificates(store: Store) {
    let team = team(&store).await;
    let (saved_monitor, gone) = (monitor(team, "site"), monitor(team, "gone"));
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    let stored_certificate = || async {
        let shown = store.team(&whole(team)).certificate(saved_monitor.id).await.expect("read")?;
        Some((shown.since.0 - NOW.0, shown.certificate.not_after.0))
    };
    let at = |offset: i64| Millis(NOW.0 + offset);
    assert_eq!(stored_certificate().await, None);
    // Two in one batch, in the wrong order, with one of a deleted monitor.
    let batch = [
        with_certificate(saved_monitor.id, 2, at(20), 200),
        with_certificate(saved_monitor.id, 1, at(10), 100),
        with_certificate(gone.id, 1, at(10), 100),
    ];
    store.record(&batch).await.expect("recorded");
    assert_eq!(stored_certificate().await, Some((20, 200)));
    store.record(&[with_certificate(saved_monitor.id, 3, at(30), 200)]).await.expect("recorded");
    assert_eq!(stored_certificate().await, Some((20, 200)), "the same certificate again");
    store.record(&[passing(saved_monitor.id, 4, at(40))]).await.expect("recorded");
    assert_eq!(stored_certificate().await, Some((20, 200)), "a check without a new certificate");
    store.record(&[with_certificate(saved_monitor.id, 0, at(5), 100)]).await.expect("recorded");
    assert_eq!(stored_certificate().await, Some((20, 200)), "a late certificate");
    store.record(&[with_certificate(saved_monitor.id, 5, at(50), 300)]).await.expect("recorded");
    assert_eq!(stored_certificate().await, Some((50, 300)));
    store
        .team(&whole(team))
        .delete_monitors(&[saved_monitor.id], None, &system())
        .await
        .expect("deleted");
    assert_eq!(stored_certificate().await, None);
}

async fn deleted(store: Store) {
    let team = team(&store).await;
    let (gone, here) = (monitor(team, "gone"), monitor(team, "here"));
    store.team(&whole(team)).add_monitor(&here, &system()).await.expect("saved");
    let records = [down(team, gone.id, 1), passing(here.id, 1, NOW)];
    store.record(&records).await.expect("recorded");
    assert!(store.team(&whole(team)).alerts(None, None).await.expect("read").is_empty());
    let (read, _) = store.team(&whole(team)).monitor(here.id).await.expect("read").expect("there");
    assert_eq!(read.seq, 1);
}

async fn outage(store: Store) {
    let team = team(&store).await;
    let (one, two) = (notifier(&store, team, "one").await, notifier(&store, team, "two").await);
    let saved_monitor = Monitor { notifiers: vec![one, two], ..monitor(team, "site") };
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    let opens = down(team, saved_monitor.id, 1);
    let alert = opens.opens[0].clone();
    store.record(&[opens]).await.expect("recorded");
    assert_eq!(process_alerts(&store, NOW).await, 1);
    assert_eq!(process_alerts(&store, NOW).await, 0);
    let listed = store.team(&whole(team)).alerts(None, None).await.expect("read");
    assert_eq!((listed.len(), &listed[0].alert), (1, &alert));
    assert_eq!(listed[0].monitor_name, "site");
    let names: Vec<&str> =
        listed[0].deliveries.iter().map(|delivery| delivery.notifier_name.as_str()).collect();
    assert_eq!(names.len(), 2);
    let first = &listed[0].deliveries[0];
    assert_eq!((first.kind.as_str(), first.state.as_str()), ("monitor.down", "waiting"));
    assert_eq!((first.attempts, first.next_try), (0, Some(NOW)));

    let ended = Millis(NOW.0 + 60_000);
    let closes = up(saved_monitor.id, alert.id, ended);
    store.record(&[closes]).await.expect("recorded");
    assert_eq!(process_alerts(&store, ended).await, 1);
    let listed = store
        .team(&whole(team))
        .monitor_alerts(saved_monitor.id, None, Some(5))
        .await
        .expect("read");
    let listed = listed.expect("a monitor");
    assert_eq!((listed[0].alert.ended, listed[0].deliveries.len()), (Some(ended), 4));
    let older = store.team(&whole(team)).alerts(Some(alert.id), None).await.expect("read");
    assert!(older.is_empty());
}

async fn brief_outage(store: Store) {
    let team = team(&store).await;
    let linked = notifier(&store, team, "linked").await;
    let added = notifier(&store, team, "added").await;
    let urgent_only = MessageRules { min_severity: Severity::Critical, ..MessageRules::default() };
    let urgent = notifier_with(&store, team, "urgent", urgent_only).await;
    let saved_monitor = Monitor { notifiers: vec![linked], ..monitor(team, "site") };
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    let all = SelectorParts { everything: true, ..SelectorParts::default() };
    let rule = Rule {
        name: "all".into(),
        selector: Selector::new(all).expect("valid"),
        severities: Vec::new(),
        kinds: Vec::new(),
        hours: None,
        notifiers: vec![added, urgent],
        policy: None,
        severity: None,
        stop: false,
    };
    let before = store.team(&whole(team)).routing().await.expect("read");
    let saved = store.team(&whole(team)).save_routing(&before, &[rule], NOW, &system()).await;
    assert!(saved.expect("saved"));

    let mut opens = down(team, saved_monitor.id, 1);
    opens.opens[0].severity = Severity::Warning;
    let alert = opens.opens[0].id;
    let ended = Millis(NOW.0 + 20_000);
    let closes = up(saved_monitor.id, alert, ended);
    store.record(&[opens]).await.expect("recorded");
    store.record(&[closes]).await.expect("recorded");
    assert_eq!(process_alerts(&store, ended).await, 1);
    let listed = store.team(&whole(team)).alerts(None, None).await.expect("read");
    let mut sent: Vec<(&str, &str)> = listed[0]
        .deliveries
        .iter()
        .map(|delivery| (delivery.notifier_name.as_str(), delivery.kind.as_str()))
        .collect();
    sent.sort_unstable();
    let expected = [
        ("added", "monitor.down"),
        ("added", "monitor.up"),
        ("linked", "monitor.down"),
        ("linked", "monitor.up"),
    ];
    assert_eq!(sent, expected);
}

async fn pages(store: Store) {
    let team = team(&store).await;
    let mut active = Vec::new();
    for number in 0..10 {
        let saved_monitor = Monitor { isactive: number % 2 == 0, ..monitor(team, "site") };
        store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
        if saved_monitor.isactive {
            active.push(saved_monitor.id);
        }
    }
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let last = store.active_page_end(after, 2).await.expect("read");
        let page = store.active_monitors(after, last).await.expect("read");
        assert!(page.len() <= 2, "{}", page.len());
        listed.extend(page.iter().map(|stored| stored.monitor.id));
        after = last;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(listed, active);
    let found = store.monitors_by_id(&[active[0], active[3]]).await.expect("read");
    assert_eq!(found.len(), 2);
}
