//! The outbox: since when a notifier has only failed, what becomes of its rows
//! when it is turned off and on, and which of them belong together.

use std::time::Duration;
use wakeful_core::id::{
    AlertId, DeliveryId, EventId, MailId, MonitorId, NodeId, NotifierId, TeamId,
};
use wakeful_core::monitor::{Monitor, Name};
use wakeful_core::notifier::{Channel, Disabled, Notifier, webhook};
use wakeful_core::time::Millis;
use wakeful_store::{ChangedNotifier, Mail, NewEvent, Record, Resent, Store};

use crate::bench::{NOW, monitor, next, notifier, passing, team};
use crate::on_both;
use crate::record::down;

on_both! {
    failures_count_as_one_unless_there_was_a_long_silence => silence;
    what_works_or_is_new_has_no_past => clean;
    a_notifier_that_was_turned_off_meanwhile_is_not_turned_on_by_a_rename => overtaken;
    what_waits_is_given_up_when_it_is_turned_off_or_on => turned;
    an_outage_is_claimed_with_its_own_recovery_and_no_other => recoveries;
    processes_that_claim_a_row_and_leave_no_outcome_are_counted => crashes;
    an_outcome_or_a_release_ends_the_count => outcomes;
    a_mail_that_processes_did_not_survive_is_counted_too => mails;
}

/// The same store as another process opens it.
fn process(store: &Store) -> Store {
    store.clone().in_name_of(NodeId::new(NOW, next()))
}

/// What of this notifier is due, and how many processes each row has outlived.
async fn crashed(store: &Store, at: Millis) -> Vec<(DeliveryId, u32)> {
    let due = store.due_deliveries(at, 10, 10).await.expect("read");
    due.iter().map(|row| (row.id, row.crashes)).collect()
}

/// Claims the row for a minute; returns how many processes it has outlived.
async fn claim(store: &Store, id: DeliveryId, at: Millis) -> (u32, Millis) {
    let lease = at.after(Duration::from_secs(60));
    let claimed = store.claim_deliveries(&[id], at, lease).await.expect("claimed");
    assert_eq!(claimed.len(), 1, "it is due");
    (claimed[0].crashes, lease)
}

async fn one_due(store: &Store) -> (NotifierId, DeliveryId) {
    let team = team(store).await;
    let hook = notifier(store, team, "hook").await;
    let site = watched(store, team, hook).await;
    store.record(&[down(team, site, 1)]).await.expect("recorded");
    let due = store.due_deliveries(NOW, 10, 10).await.expect("read");
    (hook, due[0].id)
}

async fn crashes(store: Store) {
    let (hook, id) = one_due(&store).await;
    for before in 0..3 {
        let living = process(&store);
        assert_eq!(crashed(&living, NOW).await, [(id, before)]);
        let group = living.due_for(hook, NOW, 10).await.expect("read");
        assert_eq!((group.len(), group[0].crashes), (1, before));
        assert_eq!(claim(&living, id, NOW).await.0, before);
        // Whose lease ended while it lived claims again, and counts once.
        let later = NOW.after(hours(1));
        assert_eq!(crashed(&living, later).await, [(id, before)]);
        assert_eq!(claim(&living, id, later).await.0, before);
        store.free_claims().await.expect("freed");
    }
    let last = process(&store);
    let (before, lease) = claim(&last, id, NOW).await;
    assert_eq!(before, 3);
    last.give_up_deliveries(&[id], lease, "gave up", NOW).await.expect("written");
    assert!(crashed(&last, NOW.after(hours(1))).await.is_empty());
    let known = store.notifiers_by_id(&[hook]).await.expect("read");
    let scope = store.team(known[&hook].team);
    let listed = scope.notifier_deliveries(hook, None, None).await.expect("read").expect("there");
    assert_eq!((listed[0].state.as_str(), listed[0].last_answer.as_str()), ("failed", "gave up"));
    assert_eq!(scope.resend_delivery(id, NOW).await.expect("written"), Resent::OnItsWay);
    assert_eq!(crashed(&process(&store), NOW).await, [(id, 0)], "it starts afresh");
}

async fn outcomes(store: Store) {
    let (hook, id) = one_due(&store).await;
    let (first, second) = (process(&store), process(&store));
    claim(&first, id, NOW).await;
    store.free_claims().await.expect("freed");
    assert_eq!(crashed(&second, NOW).await, [(id, 1)]);
    // A claim that is given back was none.
    let (_, lease) = claim(&second, id, NOW).await;
    second.give_back_deliveries(&[id], lease).await.expect("given back");
    assert_eq!(crashed(&process(&store), NOW).await, [(id, 1)]);
    claim(&second, id, NOW).await;
    first.release_claims().await.expect("released");
    assert!(crashed(&second, NOW).await.is_empty(), "it is claimed by another");
    second.release_claims().await.expect("released");
    assert_eq!(crashed(&process(&store), NOW).await, [(id, 1)]);
    // A failure is an outcome.
    let (_, lease) = claim(&second, id, NOW).await;
    second.deliveries_failed(hook, &[id], lease, "503", Some(NOW), NOW).await.expect("written");
    assert_eq!(crashed(&process(&store), NOW).await, [(id, 0)]);
    claim(&second, id, NOW).await;
    store.free_claims().await.expect("freed");
    assert_eq!(crashed(&process(&store), NOW).await, [(id, 1)], "the next claim counts again");
    let (_, lease) = claim(&second, id, NOW).await;
    let left = ["ann@example.com".to_owned()];
    let partly = second.deliveries_arrived_partly(hook, (&[id], lease), "250", &left, NOW).await;
    partly.expect("written");
    assert_eq!(crashed(&process(&store), NOW).await, [(id, 0)]);
}

async fn mails(store: Store) {
    let mail = Mail {
        id: MailId::new(NOW, next()),
        to: "ann@example.com".into(),
        reply_to: None,
        subject: "a subject".into(),
        text: "a text".into(),
    };
    store.add_mail(&mail, NOW).await.expect("written");
    let lease = NOW.after(Duration::from_secs(60));
    let claim = async |store: &Store, at: Millis| {
        let claimed = store.claim_mail(at, at.after(Duration::from_secs(60))).await;
        claimed.expect("claimed").expect("a mail").crashes
    };
    for before in 0..4 {
        let living = process(&store);
        assert_eq!(claim(&living, NOW).await, before);
        assert_eq!(claim(&living, lease).await, before, "it lives");
        store.free_claims().await.expect("freed");
    }
    let last = process(&store);
    claim(&last, NOW).await;
    last.release_claims().await.expect("released");
    assert_eq!(claim(&last, NOW).await, 4, "released, it was not claimed");
    last.mail_failed(mail.id, "451", Some(NOW)).await.expect("written");
    assert_eq!(claim(&process(&store), NOW).await, 0);
    last.mail_failed(mail.id, "gave up", None).await.expect("written");
    assert!(last.claim_mail(lease, lease).await.expect("read").is_none());
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
    let due = store.due_for(hook, NOW, 10).await.expect("read").remove(0).ids;
    let claimed = store.claim_deliveries(&due, NOW, lease).await.expect("claimed");
    assert_eq!(claimed.len(), 3, "the first of each line");
    let ups = store.claim_recoveries(&due, lease).await.expect("claimed");
    let mut ended: Vec<AlertId> = ups.iter().filter_map(|up| up.alert).collect();
    ended.sort_unstable();
    over.sort_unstable();
    assert_eq!(ended, over);
    assert!(ups.iter().all(|up| up.kind == "monitor.up" && up.lease == lease && up.attempts == 1));
}
