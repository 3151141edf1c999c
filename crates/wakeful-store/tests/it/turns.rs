//! Teams take turns: those with many alerts and deliveries delay no other.

use std::time::Duration;
use wakeful_core::id::{AlertId, MonitorId, NotifierId, TeamId};
use wakeful_core::monitors::Monitor;
use wakeful_store::{DueSearch, QueuePosition, Store};
use wakeful_testkit::{process_alerts, system, whole};

use crate::deliveries::up;
use crate::fixture::{NOW, monitor, notifier, team};
use crate::on_both;
use crate::record::down;

on_both! {
    a_team_with_many_due_alerts_does_not_delay_another => alerts;
    queues_are_searched_in_parts_and_each_team_from_its_own_position => search;
    only_the_first_of_a_queue_is_found => heads;
    a_crowded_team_gets_the_latest_state_and_its_timeline_says_what_was_not_sent => crowded;
}

async fn linked(store: &Store, team: TeamId, notifiers: &[NotifierId]) -> MonitorId {
    let monitor = Monitor { notifiers: notifiers.to_vec(), ..monitor(team, "site") };
    store.team(&whole(team)).add_monitor(&monitor, &system()).await.expect("saved");
    monitor.id
}

async fn alerts(store: Store) {
    let (noisy, quiet) = (team(&store).await, team(&store).await);
    let mut records = Vec::new();
    for _ in 0..30 {
        records.push(down(noisy, linked(&store, noisy, &[]).await, 1));
    }
    store.record(&records).await.expect("recorded");
    // Not as long overdue as the others.
    let mut late = down(quiet, linked(&store, quiet, &[]).await, 1);
    late.heartbeat.at = NOW.after(Duration::from_secs(1));
    store.record(&[late]).await.expect("recorded");
    let now = NOW.after(Duration::from_secs(2));
    let teams = async |limit| {
        let due = store.due_alerts(now, limit).await.expect("read");
        due.iter().map(|alert| alert.team).collect::<Vec<TeamId>>()
    };
    // All of them, the first ones only, and one that fits exactly.
    for (limit, count) in [(500, 31), (10, 6), (31, 17)] {
        let found = teams(limit).await;
        assert_eq!((found.len(), found[1]), (count, quiet), "{limit}");
    }
    assert!(
        store.due_alerts(NOW.before(Duration::from_secs(1)), 9).await.expect("read").is_empty()
    );
}

async fn search(store: Store) {
    let (noisy, quiet) = (team(&store).await, team(&store).await);
    let hooks = [notifier(&store, noisy, "one").await, notifier(&store, noisy, "two").await];
    let mut sites = Vec::new();
    for _ in 0..3 {
        let site = linked(&store, noisy, &hooks).await;
        store.record(&[down(noisy, site, 1)]).await.expect("recorded");
        sites.push(site);
    }
    let hook = notifier(&store, quiet, "hook").await;
    store.record(&[down(quiet, linked(&store, quiet, &[hook]).await, 1)]).await.expect("recorded");
    process_alerts(&store, NOW).await;
    let search = async |queues, from: &[QueuePosition]| {
        let search = DueSearch { now: NOW, each: 10, limit: 100, queues, from };
        let found = store.search_due_deliveries(search).await.expect("read");
        let of = |team| found.due.iter().filter(|row| row.team == team).count();
        assert_eq!(of(quiet), 1, "always");
        (of(noisy), found.read_to)
    };
    let position = |hook: usize, site: usize| QueuePosition {
        team: noisy,
        notifier: hooks[hook],
        line: sites[site].uuid(),
    };
    assert_eq!(search(10, &[]).await, (6, vec![]));
    assert_eq!(search(4, &[]).await, (4, vec![position(1, 0)]));
    // From there on; the first queue is read, too, and then there are no more.
    assert_eq!(search(4, &[position(1, 0)]).await, (3, vec![]));
    assert_eq!(search(2, &[position(0, 1)]).await, (2, vec![position(0, 2)]));
    assert_eq!(search(4, &[QueuePosition::end(noisy)]).await, (1, vec![]));
}

async fn heads(store: Store) {
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    let site = linked(&store, team, &[hook]).await;
    for seq in 1..=5 {
        store.record(&[down(team, site, seq)]).await.expect("recorded");
    }
    process_alerts(&store, NOW).await;
    let due = store.due_deliveries(NOW, 10, 10).await.expect("read");
    assert_eq!(due.len(), 1);
    let lease = NOW.after(Duration::from_secs(60));
    let claimed = store.claim_deliveries(&[due[0].id], NOW, lease).await.expect("claimed");
    assert_eq!(claimed.len(), 1);
    assert!(store.due_deliveries(NOW, 10, 10).await.expect("read").is_empty(), "it is being sent");
    store.deliveries_succeeded(hook, &[due[0].id], "ok", NOW).await.expect("written");
    let next = store.due_deliveries(NOW, 10, 10).await.expect("read");
    assert_eq!(next.len(), 1);
    assert_ne!(next[0].id, due[0].id);
    assert_eq!(store.count_waiting(u32::MAX).await.expect("read"), 4);
}

async fn crowded(store: Store) {
    let noisy = team(&store).await;
    let (hook, other) =
        (notifier(&store, noisy, "hook").await, notifier(&store, noisy, "other").await);
    let (site, idle) =
        (linked(&store, noisy, &[hook]).await, linked(&store, noisy, &[other]).await);
    let opened = async |site, seq| {
        let record = down(noisy, site, seq);
        let alert = record.opens[0].id;
        store.record(&[record]).await.expect("recorded");
        alert
    };
    let closed = async |site, seq, alert| {
        store.record(&[up(site, seq, alert)]).await.expect("recorded");
    };
    let process = async || process_alerts(&store, NOW).await;
    let states = async |notifier| {
        let scope = store.team(&whole(noisy));
        let listed = scope.notifier_deliveries(notifier, None, None).await.expect("read");
        let mut all: Vec<(AlertId, String, String)> = listed
            .expect("there")
            .into_iter()
            .map(|one| (one.alert.expect("one"), one.kind, one.state.as_str().to_owned()))
            .collect();
        all.sort();
        all
    };
    let notes = async |alert| {
        let timeline = store.team(&whole(noisy)).timeline(alert).await.expect("read");
        timeline.into_iter().filter(|entry| entry.kind == "not_sent").collect::<Vec<_>>()
    };
    let first = opened(site, 1).await;
    process().await;
    assert_eq!(store.count_waiting(0).await.expect("read"), 1, "more than the limit from now on");

    // Its recovery is sent: it is the outage that is first in the queue.
    closed(site, 2, first).await;
    process().await;
    let waiting = |alert, kind: &str| (alert, kind.to_owned(), "waiting".to_owned());
    let reported = vec![waiting(first, "monitor.down"), waiting(first, "monitor.up")];
    assert_eq!(states(hook).await, reported);

    // Over before it was reported.
    let second = opened(site, 3).await;
    closed(site, 4, second).await;
    process().await;
    assert_eq!(states(hook).await, reported);
    let said = notes(second).await;
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].text, "to 1 notifier: too many messages are waiting");

    // Reported while it lasts, withdrawn when it is over.
    let third = opened(site, 5).await;
    process().await;
    assert_eq!(states(hook).await.len(), 3, "the latest state");
    closed(site, 6, third).await;
    process().await;
    assert_eq!(states(hook).await, reported);
    assert_eq!(notes(third).await.len(), 1);

    // Nothing waits for this monitor, so everything about it is queued.
    let fourth = opened(idle, 1).await;
    closed(idle, 2, fourth).await;
    process().await;
    assert_eq!(states(other).await.len(), 2);
    // With fewer waiting messages, everything is again.
    store.count_waiting(u32::MAX).await.expect("read");
    let fifth = opened(site, 7).await;
    closed(site, 8, fifth).await;
    process().await;
    assert_eq!(states(hook).await.len(), 4);
    assert!(notes(fifth).await.is_empty());
}
