//! The outbox: failure streaks of a notifier, its deliveries when it is disabled
//! and on, and the grouping and counting of claims.

use std::time::Duration;
use wakeful_core::id::{
    AlertId, DeliveryId, EventId, MailId, MonitorId, NodeId, NotifierId, TeamId, UserId,
};
use wakeful_core::monitors::{Monitor, Name};
use wakeful_core::notifications::notifier::{Channel, Disabled, Notifier, webhook};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_store::{
    ChangeNotifierOutcome, DeliveryClaim, LimitedClaim, Mail, MessageLimit, NewEvent, Record,
    ResendOutcome, Store, StoreError,
};
use wakeful_testkit::{process_alerts, system, whole};

use crate::fixture::{NOW, monitor, next, notifier, passing, team};
use crate::on_both;
use crate::record::down;

/// A user who has no personal notifiers.
fn nobody() -> UserId {
    UserId::new(NOW, next())
}

on_both! {
    a_long_gap_ends_a_failure_streak => silence;
    success_a_new_channel_or_turning_it_on_ends_a_failure_streak => clean;
    a_rename_based_on_an_old_revision_does_not_turn_a_notifier_on => overtaken;
    waiting_deliveries_are_given_up_when_the_notifier_is_turned_off_or_on => turned;
    an_outage_is_claimed_with_its_own_recovery_and_no_other => recoveries;
    a_team_with_many_due_deliveries_does_not_delay_another => fair;
    results_with_large_messages_are_written_one_by_one => large;
    claims_by_processes_that_end_without_an_outcome_are_counted => crashes;
    an_outcome_or_a_release_ends_the_count => outcomes;
    claims_of_mails_without_an_outcome_are_counted_too => mails;
    all_nodes_share_a_limit_and_what_was_sent_together_stays_together => limited;
}

/// The same store as opened by another process.
fn process(store: &Store) -> Store {
    store.clone().with_node(NodeId::new(NOW, next()))
}

/// The due deliveries, with the number of processes that each has outlived.
async fn crashed(store: &Store, at: Millis) -> Vec<(DeliveryId, u32)> {
    let due = store.due_deliveries(at, 10, 10).await.expect("read");
    due.iter().map(|row| (row.id, row.crashes)).collect()
}

/// Claims a delivery for a minute; returns the number of processes it has outlived.
async fn claim(store: &Store, id: DeliveryId, at: Millis) -> (u32, Millis) {
    let lease = at.after(Duration::from_secs(60));
    let claimed = store.claim_deliveries(&[id], at, lease).await.expect("claimed");
    assert_eq!(claimed.len(), 1, "it is due");
    (claimed[0].crashes, lease)
}

/// Writes a record, and decides about its alert.
async fn written(store: &Store, record: Record) {
    store.record(&[record]).await.expect("recorded");
    process_alerts(store, NOW).await;
}

async fn one_due(store: &Store) -> (NotifierId, DeliveryId) {
    let team = team(store).await;
    let hook = notifier(store, team, "hook").await;
    let site = linked_monitor(store, team, hook).await;
    written(store, down(team, site, 1)).await;
    let due = store.due_deliveries(NOW, 10, 10).await.expect("read");
    (hook, due[0].id)
}

async fn fair(store: Store) {
    let busy = team(&store).await;
    for number in 0..5 {
        let hook = notifier(&store, busy, &format!("hook {number}")).await;
        let site = linked_monitor(&store, busy, hook).await;
        written(&store, down(busy, site, 1)).await;
    }
    let quiet = team(&store).await;
    let hook = notifier(&store, quiet, "hook").await;
    let site = linked_monitor(&store, quiet, hook).await;
    written(&store, down(quiet, site, 1)).await;
    let due = store.due_deliveries(NOW, 10, 2).await.expect("read");
    let teams: Vec<TeamId> = due.iter().map(|delivery| delivery.team).collect();
    assert!(teams.contains(&quiet), "{teams:?}");
    assert_eq!(store.due_deliveries(NOW, 10, 10).await.expect("read").len(), 6);
}

async fn crashes(store: Store) {
    let (hook, id) = one_due(&store).await;
    for before in 0..3 {
        let living = process(&store);
        assert_eq!(crashed(&living, NOW).await, [(id, before)]);
        let group = living.due_for_notifier(hook, NOW, 10).await.expect("read");
        assert_eq!((group.len(), group[0].crashes), (1, before));
        assert_eq!(claim(&living, id, NOW).await.0, before);
        // A process that claims again after its lease ended counts once.
        let later = NOW.after(hours(1));
        assert_eq!(crashed(&living, later).await, [(id, before)]);
        assert_eq!(claim(&living, id, later).await.0, before);
        store.release_all_claims().await.expect("freed");
    }
    let last = process(&store);
    let (before, lease) = claim(&last, id, NOW).await;
    assert_eq!(before, 3);
    let given_up = DeliveryClaim { ids: &[id], lease };
    last.give_up_deliveries(given_up, "gave up", NOW).await.expect("written");
    assert!(crashed(&last, NOW.after(hours(1))).await.is_empty());
    let known = store.notifiers_by_id(&[hook]).await.expect("read");
    let scope = store.team(&whole(known[&hook].team));
    let listed = scope.notifier_deliveries(hook, None, None).await.expect("read").expect("there");
    assert_eq!((listed[0].state.as_str(), listed[0].last_answer.as_str()), ("failed", "gave up"));
    assert_eq!(
        scope.resend_delivery(id, nobody(), NOW).await.expect("written"),
        ResendOutcome::Queued
    );
    assert_eq!(crashed(&process(&store), NOW).await, [(id, 0)], "the count starts again");
}

async fn limited(store: Store) {
    let (team, key) = (team(&store).await, Digest::of("hook"));
    let hook = notifier(&store, team, "hook").await;
    for _ in 0..12 {
        let site = linked_monitor(&store, team, hook).await;
        written(&store, down(team, site, 1)).await;
    }
    let (first, second) = (process(&store), process(&store));
    let groups = first.due_for_notifier(hook, NOW, 20).await.expect("read");
    let (ids, due_since) = (groups[0].ids.clone(), groups[0].due_since);
    assert_eq!((groups.len(), ids.len(), groups[0].digest), (1, 12, None));
    assert_eq!(due_since, Some(NOW));
    let (now, minute) = (NOW, Duration::from_secs(60));
    let claim =
        async |node: &Store, ids: &[DeliveryId], digest: Option<DeliveryId>, now: Millis| {
            let limit = MessageLimit { key, since: now.before(minute), max: 3 };
            let claimed = node.claim_within_limit(hook, ids, digest, limit, now, now.after(minute));
            claimed.await.expect("claimed")
        };
    let (nodes, claim) = ([&first, &second], &claim);
    let claims = ids[..8].iter().enumerate().map(|(place, id)| {
        let node = nodes[place % 2];
        async move { matches!(claim(node, &[*id], None, now).await, LimitedClaim::Claimed(_)) }
    });
    let granted = futures_util::future::join_all(claims).await;
    assert_eq!(granted.iter().filter(|done| **done).count(), 3, "{granted:?}");
    let spent = claim(&first, &ids[8..9], None, now).await;
    assert!(matches!(spent, LimitedClaim::Spent(at) if at == NOW), "{spent:?}");

    // A message about many ends with its process, and another one finds it as it was.
    let later = NOW.after(minute + minute);
    store.release_all_claims().await.expect("freed");
    let sent = claim(&first, &ids[8..11], Some(ids[8]), later).await;
    assert!(matches!(sent, LimitedClaim::Claimed(rows) if rows.len() == 3));
    store.release_all_claims().await.expect("freed");
    let groups = process(&store).due_for_notifier(hook, later, 20).await.expect("read");
    let same = groups.iter().find(|group| group.digest == Some(ids[8])).expect("there");
    assert_eq!((same.ids.as_slice(), same.crashes, same.due_since), (&ids[8..11], 1, None));
    let lease = later.after(minute);
    let again = claim(&second, &ids[8..11], Some(ids[8]), later).await;
    assert!(matches!(again, LimitedClaim::Claimed(rows) if rows.len() == 3));
    let failed = DeliveryClaim { ids: &ids[8..11], lease };
    second.deliveries_failed(hook, failed, "503", Some(later), later).await.expect("written");
    let groups = first.due_for_notifier(hook, later, 20).await.expect("read");
    let same = groups.iter().find(|group| group.digest == Some(ids[8])).expect("there");
    assert_eq!((same.ids.len(), same.crashes), (3, 0));
    let scope = store.team(&whole(team));
    scope.resend_delivery(ids[8], nobody(), later).await.expect("queued");
    let groups = first.due_for_notifier(hook, later, 20).await.expect("read");
    let same = groups.iter().find(|group| group.digest == Some(ids[8])).expect("there");
    assert_eq!(same.ids, ids[9..11], "it is sent separately");
}

async fn outcomes(store: Store) {
    let (hook, id) = one_due(&store).await;
    let (first, second) = (process(&store), process(&store));
    claim(&first, id, NOW).await;
    store.release_all_claims().await.expect("freed");
    assert_eq!(crashed(&second, NOW).await, [(id, 1)]);
    // A released claim does not count.
    let (_, lease) = claim(&second, id, NOW).await;
    second.release_deliveries(DeliveryClaim { ids: &[id], lease }).await.expect("released");
    assert_eq!(crashed(&process(&store), NOW).await, [(id, 1)]);
    claim(&second, id, NOW).await;
    first.release_claims().await.expect("released");
    assert!(crashed(&second, NOW).await.is_empty(), "it is claimed by another");
    second.release_claims().await.expect("released");
    assert_eq!(crashed(&process(&store), NOW).await, [(id, 1)]);
    // A failure is an outcome.
    let (_, lease) = claim(&second, id, NOW).await;
    let failed = DeliveryClaim { ids: &[id], lease };
    second.deliveries_failed(hook, failed, "503", Some(NOW), NOW).await.expect("written");
    assert_eq!(crashed(&process(&store), NOW).await, [(id, 0)]);
    claim(&second, id, NOW).await;
    store.release_all_claims().await.expect("freed");
    assert_eq!(crashed(&process(&store), NOW).await, [(id, 1)], "the next claim counts again");
    let (_, lease) = claim(&second, id, NOW).await;
    let left = ["ann@example.com".to_owned()];
    let sent = DeliveryClaim { ids: &[id], lease };
    let partial = second.deliveries_partially_succeeded(hook, sent, "250", &left, NOW, NOW).await;
    partial.expect("written");
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
        assert_eq!(claim(&living, lease).await, before, "the same process");
        store.release_all_claims().await.expect("freed");
    }
    let last = process(&store);
    claim(&last, NOW).await;
    last.release_claims().await.expect("released");
    assert_eq!(claim(&last, NOW).await, 4, "a released claim does not count");
    last.mail_failed(mail.id, "451", Some(NOW)).await.expect("written");
    assert_eq!(claim(&process(&store), NOW).await, 0);
    last.mail_failed(mail.id, "gave up", None).await.expect("written");
    assert!(last.claim_mail(lease, lease).await.expect("read").is_none());
}

fn hours(number: u64) -> Duration {
    Duration::from_secs(number * 3600)
}

/// Fails at this hour; returns the hour when the failure streak began.
async fn fails(store: &Store, notifier: NotifierId, hour: u64) -> u64 {
    let now = NOW.after(hours(hour));
    let since = store
        .deliveries_failed(notifier, DeliveryClaim { ids: &[], lease: now }, "503", None, now)
        .await;
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
    let saved_notifier =
        async || store.team(&whole(team)).notifier(id).await.expect("read").expect("there");
    let change = async |change: &dyn Fn(&mut Notifier)| {
        let mut changed = saved_notifier().await;
        change(&mut changed);
        let written =
            store.team(&whole(team)).change_notifier(&changed, &system()).await.expect("written");
        assert_eq!(written, ChangeNotifierOutcome::Done);
    };
    assert_eq!(fails(&store, id, 0).await, 0);
    store.record_notifier_success(id, NOW).await.expect("written");
    assert_eq!(fails(&store, id, 1).await, 1);
    change(&|hook| hook.name = Name::parse("other").expect("a name")).await;
    assert_eq!(fails(&store, id, 2).await, 1, "the channel is the same");
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
    let saved_notifier =
        async || store.team(&whole(team)).notifier(id).await.expect("read").expect("there");
    let rename = async |read: Notifier, name: &str| {
        let renamed = Notifier { name: Name::parse(name).expect("a name"), ..read };
        store.team(&whole(team)).change_notifier(&renamed, &system()).await.expect("tried")
    };
    let read = saved_notifier().await;
    assert!(store.disable_notifier(id, "410 Gone", &[], NOW).await.expect("written"));
    assert_eq!(rename(read, "other").await, ChangeNotifierOutcome::Conflict);
    let off = saved_notifier().await;
    assert_eq!((off.name.as_str(), off.disabled.is_some()), ("hook", true));
    assert_eq!(rename(off.clone(), "other").await, ChangeNotifierOutcome::Done);
    assert_eq!(rename(off, "third").await, ChangeNotifierOutcome::Conflict);
    let now = saved_notifier().await;
    assert_eq!((now.name.as_str(), now.disabled.is_some()), ("other", true));
    let foreign = crate::fixture::team(&store).await;
    let tried = store.team(&whole(foreign)).change_notifier(&now, &system()).await.expect("tried");
    assert_eq!(tried, ChangeNotifierOutcome::Missing);
}

async fn linked_monitor(store: &Store, team: TeamId, notifier: NotifierId) -> MonitorId {
    let saved_monitor = Monitor { notifiers: vec![notifier], ..monitor(team, "site") };
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    saved_monitor.id
}

async fn turned(store: Store) {
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    let site = linked_monitor(&store, team, hook).await;
    written(&store, down(team, site, 1)).await;
    let scope = store.team(&whole(team));
    let listed = async || scope.notifier_deliveries(hook, None, None).await.expect("read");
    let state = async || listed().await.expect("a notifier")[0].state.as_str();
    let id = listed().await.expect("a notifier")[0].id;
    let turn = async |disabled| {
        let saved_notifier = scope.notifier(hook).await.expect("read").expect("there");
        scope
            .change_notifier(&Notifier { disabled, ..saved_notifier }, &system())
            .await
            .expect("written");
    };
    assert_eq!(state().await, "waiting");
    turn(Some(Disabled { at: NOW, why: "by hand".into() })).await;
    assert_eq!(state().await, "failed");
    assert_eq!(
        scope.resend_delivery(id, nobody(), NOW).await.expect("queried"),
        ResendOutcome::NotifierDisabled
    );
    assert_eq!(state().await, "failed");
    turn(None).await;
    assert!(store.due_deliveries(NOW.after(hours(1)), 9, 9).await.expect("read").is_empty());
    assert_eq!(
        scope.resend_delivery(id, nobody(), NOW).await.expect("queried"),
        ResendOutcome::Queued
    );
    assert_eq!(state().await, "waiting");
    let other = crate::fixture::team(&store).await;
    let result = store.team(&whole(other)).resend_delivery(id, nobody(), NOW).await;
    assert_eq!(result.expect("queried"), ResendOutcome::Missing);
}

pub(crate) fn up(monitor: MonitorId, seq: i64, alert: AlertId) -> Record {
    let mut record = passing(monitor, seq, NOW);
    record.closes = Some((alert, NOW));
    let id = EventId::new(NOW, next());
    record.events.push(NewEvent { id, kind: "monitor.up", alert, body: "{}".into() });
    record
}

async fn large(store: Store) {
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    let mut records = Vec::new();
    for _ in 0..3 {
        let mut record = down(team, linked_monitor(&store, team, hook).await, 1);
        record.events[0].body = format!("\"{}\"", "x".repeat(3 << 20));
        records.push(record);
    }
    let together = store.record(&records).await;
    assert!(matches!(together, Err(StoreError::TooLarge)), "{together:?}");
    for record in records {
        let written = store.record(&[record]).await.expect("recorded");
        assert_eq!(written.heartbeats, 1, "nothing was written together");
    }
}

async fn recoveries(store: Store) {
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    let mut over = Vec::new();
    // The first monitor has two finished outages, the second one, the third is down.
    for outages in [2, 1, 0] {
        let site = linked_monitor(&store, team, hook).await;
        let first = down(team, site, 1);
        let alert = first.opens[0].id;
        written(&store, first).await;
        if outages > 0 {
            written(&store, up(site, 2, alert)).await;
            over.push(alert);
        }
        if outages > 1 {
            let again = down(team, site, 3);
            let alert = again.opens[0].id;
            written(&store, again).await;
            written(&store, up(site, 4, alert)).await;
        }
    }
    let lease = Millis(NOW.0 + 60_000);
    let due = store.due_for_notifier(hook, NOW, 10).await.expect("read").remove(0).ids;
    let claimed = store.claim_deliveries(&due, NOW, lease).await.expect("claimed");
    assert_eq!(claimed.len(), 3, "the first of each queue");
    let ups = store.claim_recoveries(&due, lease).await.expect("claimed");
    let mut ended: Vec<AlertId> = ups.iter().filter_map(|up| up.alert).collect();
    ended.sort_unstable();
    over.sort_unstable();
    assert_eq!(ended, over);
    assert!(ups.iter().all(|up| up.kind == "monitor.up" && up.lease == lease && up.attempts == 1));
}
