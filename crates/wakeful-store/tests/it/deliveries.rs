//! The outbox: since when a notifier has only failed, what becomes of its rows
//! when it is turned off and on, and which of them belong together.

use std::time::Duration;
use wakeful_core::id::{AlertId, EventId, MonitorId, NotifierId, TeamId};
use wakeful_core::monitor::{Monitor, Name};
use wakeful_core::notifier::{Channel, Disabled, Notifier, webhook};
use wakeful_core::time::Millis;
use wakeful_store::{ChangedNotifier, NewEvent, Record, Resent, Store};

use crate::bench::{NOW, monitor, next, notifier, passing, team};
use crate::on_both;
use crate::record::down;

on_both! {
    failures_count_as_one_unless_there_was_a_long_silence => silence;
    what_works_or_is_new_has_no_past => clean;
    a_notifier_that_was_turned_off_meanwhile_is_not_turned_on_by_a_rename => overtaken;
    what_waits_is_given_up_when_it_is_turned_off_or_on => turned;
    an_outage_is_claimed_with_its_own_recovery_and_no_other => recoveries;
}

fn hours(number: u64) -> Duration {
    Duration::from_secs(number * 3600)
}

/// Fails at that hour; gives the hour since when it has only failed.
async fn fails(store: &Store, notifier: NotifierId, hour: u64) -> u64 {
    let now = NOW.after(hours(hour));
    let since = store.deliveries_failed(notifier, &[], now, "503", None, now).await;
    since.expect("written").expect("a notifier").since(NOW).as_secs() / 3600
}

async fn silence(store: Store) {
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    for (hour, since) in [(0, 0), (1, 0), (30, 0), (59, 0), (90, 90), (234, 234), (240, 234)] {
        assert_eq!(fails(&store, hook, hour).await, since, "{hour}");
    }
}

async fn clean(store: Store) {
    let team = team(&store).await;
    let id = notifier(&store, team, "hook").await;
    let kept = async || store.team(team).notifier(id).await.expect("read").expect("there");
    let change = async |change: &dyn Fn(&mut Notifier)| {
        let mut changed = kept().await;
        change(&mut changed);
        let written = store.team(team).change_notifier(&changed).await.expect("written");
        assert_eq!(written, ChangedNotifier::Done);
    };
    assert_eq!(fails(&store, id, 0).await, 0);
    store.notifier_works(id).await.expect("written");
    assert_eq!(fails(&store, id, 1).await, 1);
    change(&|hook| hook.name = Name::parse("other").expect("a name")).await;
    assert_eq!(fails(&store, id, 2).await, 1, "the receiver is the same");
    change(&|hook| {
        if let Channel::Webhook(spec) = &mut hook.channel {
            spec.url = webhook::url("http://127.0.0.1:1/moved").expect("an address");
        }
    })
    .await;
    assert_eq!(fails(&store, id, 3).await, 3);
    change(&|hook| hook.disabled = Some(Disabled { at: NOW, why: "by hand".into() })).await;
    change(&|hook| hook.disabled = None).await;
    assert_eq!(fails(&store, id, 4).await, 4);
}

async fn overtaken(store: Store) {
    let team = team(&store).await;
    let id = notifier(&store, team, "hook").await;
    let kept = async || store.team(team).notifier(id).await.expect("read").expect("there");
    let rename = async |read: Notifier, name: &str| {
        let renamed = Notifier { name: Name::parse(name).expect("a name"), ..read };
        store.team(team).change_notifier(&renamed).await.expect("tried")
    };
    let read = kept().await;
    assert!(store.disable_notifier(id, "410 Gone", &[], NOW).await.expect("written"));
    assert_eq!(rename(read, "other").await, ChangedNotifier::Overtaken);
    let off = kept().await;
    assert_eq!((off.name.as_str(), off.disabled.is_some()), ("hook", true));
    assert_eq!(rename(off.clone(), "other").await, ChangedNotifier::Done);
    assert_eq!(rename(off, "third").await, ChangedNotifier::Overtaken);
    let now = kept().await;
    assert_eq!((now.name.as_str(), now.disabled.is_some()), ("other", true));
    let foreign = crate::bench::team(&store).await;
    let tried = store.team(foreign).change_notifier(&now).await.expect("tried");
    assert_eq!(tried, ChangedNotifier::Missing);
}

async fn watched(store: &Store, team: TeamId, notifier: NotifierId) -> MonitorId {
    let kept = Monitor { notifiers: vec![notifier], ..monitor(team, "site") };
    store.team(team).add_monitor(&kept).await.expect("kept");
    kept.id
}

async fn turned(store: Store) {
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    let site = watched(&store, team, hook).await;
    store.record(&[down(team, site, 1)]).await.expect("recorded");
    let scope = store.team(team);
    let listed = async || scope.notifier_deliveries(hook, None, None).await.expect("read");
    let state = async || listed().await.expect("a notifier")[0].state.clone();
    let id = listed().await.expect("a notifier")[0].id;
    let turn = async |disabled| {
        let kept = scope.notifier(hook).await.expect("read").expect("there");
        scope.change_notifier(&Notifier { disabled, ..kept }).await.expect("written");
    };
    assert_eq!(state().await, "waiting");
    turn(Some(Disabled { at: NOW, why: "by hand".into() })).await;
    assert_eq!(state().await, "failed");
    assert_eq!(scope.resend_delivery(id, NOW).await.expect("asked"), Resent::Off);
    assert_eq!(state().await, "failed");
    turn(None).await;
    assert!(store.due_deliveries(NOW.after(hours(1)), 9, 9).await.expect("read").is_empty());
    assert_eq!(scope.resend_delivery(id, NOW).await.expect("asked"), Resent::OnItsWay);
    assert_eq!(state().await, "waiting");
    let other = crate::bench::team(&store).await;
    let asked = store.team(other).resend_delivery(id, NOW).await;
    assert_eq!(asked.expect("asked"), Resent::Missing);
}

fn up(monitor: MonitorId, seq: i64, alert: AlertId) -> Record {
    let mut record = passing(monitor, seq, NOW);
    record.closes = Some((alert, NOW));
    let id = EventId::new(NOW, next());
    record.events.push(NewEvent { id, kind: "monitor.up", alert, body: "{}".into() });
    record
}

async fn recoveries(store: Store) {
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    let mut over = Vec::new();
    // The first is over and down once more, the second is over, the third is not.
    for outages in [2, 1, 0] {
        let site = watched(&store, team, hook).await;
        let first = down(team, site, 1);
        let alert = first.opens[0].id;
        store.record(&[first]).await.expect("recorded");
        if outages > 0 {
            store.record(&[up(site, 2, alert)]).await.expect("recorded");
            over.push(alert);
        }
        if outages > 1 {
            let again = down(team, site, 3);
            let alert = again.opens[0].id;
            store.record(&[again]).await.expect("recorded");
            store.record(&[up(site, 4, alert)]).await.expect("recorded");
        }
    }
    let lease = Millis(NOW.0 + 60_000);
    let due = store.due_for(hook, NOW, 10).await.expect("read").concat();
    let claimed = store.claim_deliveries(&due, NOW, lease).await.expect("claimed");
    assert_eq!(claimed.len(), 3, "the first of each line");
    let ups = store.claim_recoveries(&due, lease).await.expect("claimed");
    let mut ended: Vec<AlertId> = ups.iter().filter_map(|up| up.alert).collect();
    ended.sort_unstable();
    over.sort_unstable();
    assert_eq!(ended, over);
    assert!(ups.iter().all(|up| up.kind == "monitor.up" && up.lease == lease && up.attempts == 1));
}
