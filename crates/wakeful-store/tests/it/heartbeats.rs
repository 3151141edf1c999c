//! The heartbeats of a monitor, in order and page by page.

use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;
use wakeful_store::{HeartbeatKey, HeartbeatRange, Store};
use wakeful_testkit::{system, whole};

use crate::fixture::{NOW, monitor, next, passing, team};
use crate::on_both;

on_both! {
    heartbeats_are_read_as_they_were_written => reads_back;
    heartbeats_of_the_same_millisecond_stay_separate_and_are_paged => same_moment;
    a_range_includes_its_start_and_not_its_end => ranges;
    an_unknown_or_foreign_monitor_has_no_heartbeats => unknown_monitor;
}

pub(crate) fn everything() -> HeartbeatRange {
    HeartbeatRange { from: Millis(0), to: Millis(i64::MAX), limit: None, before: None }
}

async fn reads_back(store: Store) {
    let team = team(&store).await;
    let saved_monitor = monitor(team, "site");
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    let record = passing(saved_monitor.id, 1, NOW);
    store.record(std::slice::from_ref(&record)).await.expect("recorded");
    let read =
        store.team(&whole(team)).heartbeats(saved_monitor.id, &everything()).await.expect("read");
    assert_eq!(read, Some(vec![(HeartbeatKey { at: NOW, seq: 1 }, record.heartbeat)]));
}

async fn same_moment(store: Store) {
    let team = team(&store).await;
    let saved_monitor = monitor(team, "site");
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    let records: Vec<_> = (1..=5).map(|seq| passing(saved_monitor.id, seq, NOW)).collect();
    store.record(&records).await.expect("recorded");
    let mut keys: Vec<HeartbeatKey> = Vec::new();
    loop {
        let span = HeartbeatRange { limit: Some(2), before: keys.last().copied(), ..everything() };
        let page =
            store.team(&whole(team)).heartbeats(saved_monitor.id, &span).await.expect("read");
        let page = page.expect("a monitor");
        if page.is_empty() {
            break;
        }
        keys.extend(page.iter().map(|(key, _)| *key));
    }
    assert_eq!(keys.iter().map(|key| key.seq).collect::<Vec<_>>(), [5, 4, 3, 2, 1]);
}

async fn ranges(store: Store) {
    let team = team(&store).await;
    let saved_monitor = monitor(team, "site");
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    let records: Vec<_> =
        (1..=4).map(|seq| passing(saved_monitor.id, seq, Millis(NOW.0 + seq))).collect();
    store.record(&records).await.expect("recorded");
    let span = HeartbeatRange { from: Millis(NOW.0 + 2), to: Millis(NOW.0 + 4), ..everything() };
    let read = store
        .team(&whole(team))
        .heartbeats(saved_monitor.id, &span)
        .await
        .expect("read")
        .expect("there");
    assert_eq!(read.iter().map(|(key, _)| key.seq).collect::<Vec<_>>(), [3, 2]);
}

async fn unknown_monitor(store: Store) {
    let (ours, theirs) = (team(&store).await, team(&store).await);
    let saved_monitor = monitor(theirs, "theirs");
    store.team(&whole(theirs)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    let unknown = MonitorId::new(NOW, next());
    for id in [saved_monitor.id, unknown] {
        let read = store.team(&whole(ours)).heartbeats(id, &everything()).await.expect("read");
        assert_eq!(read, None);
        let read = store.team(&whole(ours)).monitor_alerts(id, None, None).await.expect("read");
        assert_eq!(read, None);
    }
}
