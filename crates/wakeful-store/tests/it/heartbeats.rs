//! The heartbeats of a monitor, in order and page by page.

use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;
use wakeful_store::{Place, Span, Store};

use crate::bench::{NOW, monitor, next, passing, team};
use crate::on_both;

on_both! {
    heartbeats_are_read_as_they_were_written => reads_back;
    heartbeats_of_one_millisecond_are_kept_apart_and_paged => same_moment;
    a_span_includes_its_start_and_not_its_end => spans;
    heartbeats_of_no_monitor_are_nothing => nobody;
}

pub(crate) fn everything() -> Span {
    Span { from: Millis(0), to: Millis(i64::MAX), limit: None, before: None }
}

async fn reads_back(store: Store) {
    let team = team(&store).await;
    let kept = monitor(team, "site");
    store.team(team).add_monitor(&kept).await.expect("kept");
    let record = passing(kept.id, 1, NOW);
    store.record(std::slice::from_ref(&record)).await.expect("recorded");
    let read = store.team(team).heartbeats(kept.id, &everything()).await.expect("read");
    assert_eq!(read, Some(vec![(Place { at: NOW, seq: 1 }, record.heartbeat)]));
}

async fn same_moment(store: Store) {
    let team = team(&store).await;
    let kept = monitor(team, "site");
    store.team(team).add_monitor(&kept).await.expect("kept");
    let records: Vec<_> = (1..=5).map(|seq| passing(kept.id, seq, NOW)).collect();
    store.record(&records).await.expect("recorded");
    let mut seen: Vec<Place> = Vec::new();
    loop {
        let span = Span { limit: Some(2), before: seen.last().copied(), ..everything() };
        let page = store.team(team).heartbeats(kept.id, &span).await.expect("read");
        let page = page.expect("a monitor");
        if page.is_empty() {
            break;
        }
        seen.extend(page.iter().map(|(place, _)| *place));
    }
    assert_eq!(seen.iter().map(|place| place.seq).collect::<Vec<_>>(), [5, 4, 3, 2, 1]);
}

async fn spans(store: Store) {
    let team = team(&store).await;
    let kept = monitor(team, "site");
    store.team(team).add_monitor(&kept).await.expect("kept");
    let records: Vec<_> = (1..=4).map(|seq| passing(kept.id, seq, Millis(NOW.0 + seq))).collect();
    store.record(&records).await.expect("recorded");
    let span = Span { from: Millis(NOW.0 + 2), to: Millis(NOW.0 + 4), ..everything() };
    let read = store.team(team).heartbeats(kept.id, &span).await.expect("read").expect("there");
    assert_eq!(read.iter().map(|(place, _)| place.seq).collect::<Vec<_>>(), [3, 2]);
}

async fn nobody(store: Store) {
    let (ours, theirs) = (team(&store).await, team(&store).await);
    let kept = monitor(theirs, "theirs");
    store.team(theirs).add_monitor(&kept).await.expect("kept");
    let unknown = MonitorId::new(NOW, next());
    for id in [kept.id, unknown] {
        let read = store.team(ours).heartbeats(id, &everything()).await.expect("read");
        assert_eq!(read, None);
        let read = store.team(ours).monitor_alerts(id, None, None).await.expect("read");
        assert_eq!(read, None);
    }
}
