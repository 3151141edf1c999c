//! Deleted teams, monitors and notifiers disappear at once; their rows are deleted in parts. And
//! what one team can add to its audit log is bounded.

use serde_json::json;
use uuid::Uuid;
use wakeful_core::audit::{Action, Change, Object, ObjectKind};
use wakeful_core::id::{DeliveryId, MonitorId};
use wakeful_core::monitors::Monitor;
use wakeful_store::{
    AdminAuthority, AdminTeamQuery, DeleteNotifierOutcome, Deleter, NewEntry, ResendOutcome, Store,
};
use wakeful_testkit::{process_alerts, system, whole};

use crate::fixture::{NOW, monitor, notifier, sign_up, stored};
use crate::record::down;

async fn due(store: &Store) -> Vec<DeliveryId> {
    store.due_deliveries(NOW, 99, 99).await.expect("read").iter().map(|row| row.id).collect()
}

wakeful_testkit::both_databases! {
    async fn what_is_deleted_disappears_at_once_and_its_rows_in_parts(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let ((team, user, _), (other, ..)) = (sign_up(&store).await, sign_up(&store).await);
        let ours = store.team(&whole(team));
        let hook = notifier(&store, team, "hook").await;
        let mut sites: Vec<Monitor> = Vec::new();
        for name in ["one", "two", "three"] {
            let site = Monitor { notifiers: vec![hook], ..monitor(team, name) };
            ours.add_monitor(&site, &system()).await.expect("saved");
            sites.push(site);
        }
        let kept = monitor(other, "kept");
        store.team(&whole(other)).add_monitor(&kept, &system()).await.expect("saved");
        let mut records: Vec<_> = sites.iter().map(|site| down(team, site.id, 1)).collect();
        records.push(down(other, kept.id, 1));
        store.record(&records).await.expect("recorded");
        process_alerts(&store, NOW).await;
        assert_eq!(due(&store).await.len(), 3);
        let listed = async || {
            let alerts = ours.alerts(None, None).await.expect("read");
            let names: Vec<String> = alerts.iter().map(|one| one.monitor_name.clone()).collect();
            (names, alerts.iter().map(|one| one.deliveries.len()).sum::<usize>())
        };
        let of_first = ours.notifier_deliveries(hook, None, None).await.expect("read").expect("there");
        let of_first = of_first.iter().find(|row| row.monitor.as_ref().is_some_and(|(id, _)| *id == sites[0].id)).expect("one").id;

        // A monitor.
        let ids: Vec<MonitorId> = sites.iter().map(|site| site.id).collect();
        assert!(ours.delete_monitors(&ids[..1], None, &system()).await.expect("deleted"));
        assert_eq!(listed().await, (vec!["three".to_owned(), "two".to_owned()], 2));
        assert_eq!(ours.notifier_deliveries(hook, None, None).await.expect("read").expect("there").len(), 2);
        assert_eq!(due(&store).await.len(), 2);
        let lease = NOW.after(std::time::Duration::from_secs(60));
        assert!(store.claim_deliveries(&[of_first], NOW, lease).await.expect("tried").is_empty());
        assert_eq!(ours.resend_delivery(of_first, user, NOW).await.expect("tried"), ResendOutcome::Missing);
        let found = store.monitors_by_id(&ids).await.expect("read");
        assert_eq!(found.iter().map(|one| one.monitor.id).collect::<Vec<_>>(), ids[1..]);
        assert!(!ours.delete_monitors(&ids[..1], None, &system()).await.expect("tried"), "no longer there");
        assert_eq!((database.rows("monitors").await, database.rows("alerts").await), (4, 4));

        // A notifier, which no monitor may be linked to.
        let hooked = ours.notifier(hook).await.expect("read").expect("there");
        let linked = ours.delete_notifier(&hooked, &system()).await.expect("tried");
        assert_eq!(linked, DeleteNotifierOutcome::Linked(vec!["two".into(), "three".into()]));
        for site in &sites[1..] {
            let alone = Monitor { notifiers: Vec::new(), ..site.clone() };
            ours.change_monitor(&stored(site, 1), &alone, &system()).await.expect("saved");
        }
        assert_eq!(ours.delete_notifier(&hooked, &system()).await.expect("tried"), DeleteNotifierOutcome::Done);
        assert_eq!(ours.delete_notifier(&hooked, &system()).await.expect("tried"), DeleteNotifierOutcome::Missing);
        assert!(due(&store).await.is_empty() && ours.notifiers().await.expect("read").is_empty());
        assert!(store.notifiers_by_id(&[hook]).await.expect("read").is_empty());
        assert_eq!(listed().await.1, 0, "no deliveries");
        assert_eq!(database.rows("deliveries").await, 3);

        // The team, with its last user.
        let operator = Deleter::Administration(AdminAuthority::Operator, &[]);
        store.delete_account(user, operator, &system(), NOW).await.expect("deleted");
        let teams = store.admin_teams(&AdminTeamQuery::default(), 9).await.expect("read");
        assert_eq!(teams.iter().map(|one| one.team).collect::<Vec<_>>(), [other]);
        let counts = store.installation_counts().await.expect("read");
        assert_eq!((counts.teams, counts.suspended_teams, counts.monitors), (1, 0, 1));
        assert!(store.monitors_by_id(&ids).await.expect("read").is_empty());
        assert_eq!(store.active_monitors(None, None).await.expect("read").len(), 1);
        assert_eq!(store.count_open_alerts().await.expect("read").iter().map(|(.., n)| n).sum::<i64>(), 1);

        // All rows are there until parts of them are deleted, by this process or the next one.
        assert_eq!((database.rows("monitors").await, database.rows("alerts").await), (4, 4));
        // The deletion of something else does none of this work.
        assert!(!store.delete_part_at(NOW.after(std::time::Duration::from_secs(1))).await.expect("read"));
        assert_eq!((database.rows("monitors").await, database.rows("alerts").await), (4, 4));
        assert!(store.delete_part().await.expect("deleted"));
        let store = database.open().await;
        while store.delete_part().await.expect("deleted") {}
        for (table, rows) in [("monitors", 1), ("alerts", 1), ("deliveries", 0), ("notifiers", 0), ("teams", 1)] {
            assert_eq!(database.rows(table).await, rows, "{table}");
        }
        assert_eq!(store.team(&whole(other)).alerts(None, None).await.expect("read").len(), 1);
    }

    async fn the_audit_log_of_a_team_takes_up_only_so_much(setup: Setup) {
        const MAX: i64 = 40_000;
        let database = setup.database().await;
        let store = database.open().await.with_max_audit_bytes(MAX);
        let long = json!("x".repeat(5_000));
        let changes: Vec<Change> = (0..40)
            .map(|field| Change::new(&format!("field {field}"), Some(long.clone()), Some(json!(field))))
            .collect();
        let site = Object::new(ObjectKind::Monitor, &"1", "site");
        let entry = NewEntry::new(Action::MonitorUpdate, site, changes);
        for _ in 0..30 {
            store.write_single_entry(&system(), &entry).await.expect("written");
        }
        // The log of the installation, which is that of no team.
        let log = store.team(&whole(Uuid::nil().into()));
        let left = log.audit_from(1, None, None, 99).await.expect("read");
        assert!((2..8).contains(&left.len()), "{}", left.len());
        assert_eq!(left.last().expect("one").entry.seq, 30);
        let bytes: usize = left.iter().map(|one| json!(one.entry.changes).to_string().len()).sum();
        assert!(bytes <= usize::try_from(MAX).expect("a size"), "{bytes}");
        let named = &left[0].entry.changes;
        assert_eq!((named.len(), &named[39].to), (40, &Some(json!("changed (too long to record)"))));
        let mut check = log.begin_verification().await.expect("begun");
        let verified = loop {
            if let Some(result) = log.verify_part(&mut check).await.expect("verified") {
                break result;
            }
        };
        assert_eq!((verified.broken, verified.first), (None, left[0].entry.seq));
        // What the janitor deletes counts, too.
        assert!(store.prune_audit(NOW, 2).await.expect("pruned") > 0);
        assert_eq!(log.audit_from(1, None, None, 99).await.expect("read").len(), 2);
        let counted = format!("audit_heads where bytes between 1 and {}", MAX / 2);
        assert_eq!(database.rows(&counted).await, 1);
    }
}
