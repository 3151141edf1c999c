//! Alerts that are decided about again because of another one.

use wakeful_core::dependency::{Dependency, DependencyKind};
use wakeful_core::monitors::Monitor;
use wakeful_store::Store;
use wakeful_testkit::{process_alerts, system, whole};

use crate::deliveries::up;
use crate::fixture::{NOW, monitor, team};
use crate::on_both;
use crate::record::down;

on_both! {
    the_alerts_of_all_dependents_are_due_when_their_parent_recovers => dependents;
}

/// More than one transaction makes due.
const CHILDREN: usize = 250;

async fn dependents(store: Store) {
    let team = team(&store).await;
    let router = monitor(team, "router");
    store.team(&whole(team)).add_monitor(&router, &system()).await.expect("saved");
    let depends_on = vec![Dependency { parent: router.id, kind: DependencyKind::Service }];
    let mut outages = Vec::new();
    for _ in 0..CHILDREN {
        let child = Monitor { depends_on: depends_on.clone(), ..monitor(team, "child") };
        store.team(&whole(team)).add_monitor(&child, &system()).await.expect("saved");
        outages.push(down(team, child.id, 1));
    }
    let outage = down(team, router.id, 1);
    let alert = outage.opens[0].id;
    store.record(&[outage]).await.expect("recorded");
    assert_eq!(process_alerts(&store, NOW).await, 1);
    store.record(&outages).await.expect("recorded");
    assert_eq!(process_alerts(&store, NOW).await, CHILDREN);
    let due = || async { store.due_alerts(NOW, 500).await.expect("read").len() };
    assert_eq!(due().await, 0, "they are suppressed");
    store.record(&[up(router.id, 2, alert)]).await.expect("recorded");
    assert_eq!(process_alerts(&store, NOW).await, 1);
    assert_eq!(due().await, CHILDREN);
}
