//! Saving, listing and deleting monitors.

use std::time::Duration;
use wakeful_core::evidence::EvidenceLevel;
use wakeful_core::flapping::FlapLimit;
use wakeful_core::health::Degraded;
use wakeful_core::id::{MonitorId, NotifierId};
use wakeful_core::monitors::spec::{ApiSpec, HttpSpec, HttpUrl};
use wakeful_core::monitors::{Kind, Monitor, Name, Spec, Tags};
use wakeful_core::region::{Quorum, Regions};
use wakeful_core::secret::Secret;
use wakeful_core::severity::Severity;
use wakeful_core::slo::Slo;
use wakeful_core::token::Digest;
use wakeful_core::verdict::{Health, Status};
use wakeful_store::{AdminAuthority, Deleter, MemberOutcome, MonitorQuery, SaveOutcome, Store};
use wakeful_testkit::{system, whole};

use crate::fixture::{NOW, monitor, next, notifier, passing, stored, team};
use crate::on_both;

on_both! {
    a_monitor_is_read_as_it_was_saved => reads_back;
    settings_that_few_monitors_have_are_read_as_they_were_saved => rare_settings;
    a_monitor_of_another_team_does_not_exist => apart;
    an_unknown_notifier_saves_nothing => unknown_notifiers;
    a_list_contains_the_matching_monitors => filters;
    a_list_continues_after_its_cursor => pages;
    an_edit_does_not_change_the_state => edit_and_state;
    a_change_based_on_an_old_revision_is_refused => overtaken;
    deleting_a_monitor_deletes_all_its_data => deletes;
    deleting_a_team_deletes_its_monitors => team_deleted;
    deleting_a_team_deletes_linked_notifiers_and_monitors => linked_team_deleted;
}

fn http(url: &str, password: &str) -> Spec {
    let mut spec = HttpSpec::new(HttpUrl::parse(url).expect("an address"));
    spec.password = Secret::new(password);
    Spec::Http(spec)
}

async fn reads_back(store: Store) {
    let team = team(&store).await;
    let (one, two) = (notifier(&store, team, "one").await, notifier(&store, team, "two").await);
    let saved = Monitor {
        spec: http("https://a.example/", "hunter2"),
        notifiers: vec![two, one],
        push_token: Some(Secret::new("push-me")),
        ..monitor(team, "Café ☕")
    };
    assert_eq!(
        store.team(&whole(team)).add_monitor(&saved, &system()).await.expect("saved"),
        SaveOutcome::Done
    );
    let (read, links) =
        store.team(&whole(team)).monitor(saved.id).await.expect("read").expect("there");
    assert_eq!(read.monitor, saved);
    assert_eq!((read.seq, read.revision, read.state), (0, 1, Default::default()));
    let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!((names, links[0].kind.as_str()), (vec!["two", "one"], "webhook"));

    let changed = Monitor {
        name: Name::parse("other").expect("a name"),
        spec: Spec::Api(ApiSpec::default()),
        isactive: false,
        timeout: None,
        retry_interval: None,
        resend_interval: None,
        severity: Default::default(),
        policy: None,
        notifiers: vec![one],
        push_token: None,
        ping_uuid: None,
        description: Default::default(),
        ..saved
    };
    assert_eq!(
        store
            .team(&whole(team))
            .change_monitor(&stored(&changed, 1), &changed, &system())
            .await
            .expect("saved"),
        SaveOutcome::Done
    );
    let (read, _) =
        store.team(&whole(team)).monitor(changed.id).await.expect("read").expect("there");
    assert_eq!((read.monitor, read.revision), (changed, 2));
}

async fn rare_settings(store: Store) {
    let team = team(&store).await;
    let usual = |name: &str| Monitor { timeout: None, retry_interval: None, ..monitor(team, name) };
    let usual_limit = FlapLimit::default();
    let slo = Slo { degraded_is_down: true, ..Slo::of(99_900) };
    let degraded = Some(Box::new(Degraded { slow: 500, ..Degraded::default() }));
    let monitors = [
        usual("none"),
        Monitor { timeout: Some(Duration::from_secs(7)), ..usual("timeout") },
        Monitor { retry_interval: Some(Duration::from_secs(3)), ..usual("retries") },
        Monitor { evidence: EvidenceLevel::Head, ..usual("evidence") },
        Monitor { degraded: degraded.clone(), ..usual("degraded") },
        Monitor { slo: Some(slo), ..usual("slo") },
        Monitor { tags: Tags::default(), upside_down_mode: false, ..usual("plain") },
        Monitor { resend_interval: Some(Duration::from_secs(60)), ..usual("reminders") },
        Monitor { severity: Severity::Info, ..usual("severity") },
        Monitor { quorum: Quorum::Count(2), ..usual("quorum") },
        Monitor { regions: Regions::of(["local", "eu"]).expect("regions"), ..usual("regions") },
        Monitor { flapping: FlapLimit { outages: 3, ..usual_limit }, ..usual("outages") },
        Monitor {
            flapping: FlapLimit { within: Duration::from_secs(60), ..usual_limit },
            ..usual("within")
        },
        Monitor {
            timeout: Some(Duration::from_secs(7)),
            evidence: EvidenceLevel::None,
            degraded,
            slo: Some(slo),
            ..usual("several")
        },
    ];
    for saved in &monitors {
        store.team(&whole(team)).add_monitor(saved, &system()).await.expect("saved");
    }
    let listed = store.team(&whole(team)).monitors(&MonitorQuery::default()).await.expect("read");
    let listed: Vec<Monitor> = listed.into_iter().map(|(stored, _)| stored.monitor).collect();
    assert_eq!(listed, monitors);
    let mut loaded = store.active_monitors(None, None).await.expect("read");
    loaded.retain(|stored| stored.monitor.team == team);
    loaded.sort_by_key(|stored| stored.monitor.id);
    let loaded: Vec<Monitor> = loaded.into_iter().map(|stored| stored.monitor).collect();
    assert_eq!(loaded, monitors);
}

async fn apart(store: Store) {
    let (ours, theirs) = (team(&store).await, team(&store).await);
    let saved_monitor = monitor(theirs, "theirs");
    store.team(&whole(theirs)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    let us = store.team(&whole(ours));
    assert!(us.monitor(saved_monitor.id).await.expect("read").is_none());
    assert!(us.monitors(&MonitorQuery::default()).await.expect("read").is_empty());
    assert_eq!(
        us.change_monitor(&stored(&saved_monitor, 1), &saved_monitor, &system())
            .await
            .expect("tried"),
        SaveOutcome::NotFound
    );
    assert!(!us.delete_monitors(&[saved_monitor.id], None, &system()).await.expect("tried"));
    assert!(store.team(&whole(theirs)).monitor(saved_monitor.id).await.expect("read").is_some());
}

async fn unknown_notifiers(store: Store) {
    let (ours, theirs) = (team(&store).await, team(&store).await);
    let (own, foreign) = (notifier(&store, ours, "own").await, notifier(&store, theirs, "x").await);
    let unknown = NotifierId::new(NOW, next());
    let wanted = Monitor { notifiers: vec![own, foreign, unknown], ..monitor(ours, "site") };
    let refused = SaveOutcome::UnknownNotifiers(vec![foreign, unknown]);
    assert_eq!(
        store.team(&whole(ours)).add_monitor(&wanted, &system()).await.expect("tried"),
        refused
    );
    assert!(store.team(&whole(ours)).monitor(wanted.id).await.expect("read").is_none());

    let saved_monitor = Monitor { notifiers: vec![own], ..wanted };
    store.team(&whole(ours)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    let renamed = Monitor {
        notifiers: vec![foreign],
        name: Name::parse("renamed").expect("a name"),
        ..saved_monitor.clone()
    };
    let refused = SaveOutcome::UnknownNotifiers(vec![foreign]);
    assert_eq!(
        store
            .team(&whole(ours))
            .change_monitor(&stored(&renamed, 1), &renamed, &system())
            .await
            .expect("tried"),
        refused
    );
    let (read, _) =
        store.team(&whole(ours)).monitor(saved_monitor.id).await.expect("read").expect("there");
    assert_eq!(read.monitor, saved_monitor);
}

async fn filters(store: Store) {
    let team = team(&store).await;
    let tagged = |name: &str, tags: &[&str]| Monitor {
        tags: Tags::of(tags.iter().copied()).expect("tags"),
        ..monitor(team, name)
    };
    let plain = tagged("Plain 100%", &["web"]);
    let quoted = tagged("Quoted", &["a\",\"web", "back\\"]);
    let site =
        Monitor { spec: http("https://ÄPFEL.example/a_b", ""), ..tagged("Site", &["Web", "eu"]) };
    for saved_monitor in [&plain, &quoted, &site] {
        store.team(&whole(team)).add_monitor(saved_monitor, &system()).await.expect("saved");
    }
    store.record(&[passing(site.id, 1, NOW)]).await.expect("recorded");

    let all = MonitorQuery::default();
    let tag = |tag: &str| MonitorQuery { tag: Some(tag.into()), ..MonitorQuery::default() };
    let q = |q: &str| MonitorQuery { q: Some(q.into()), ..MonitorQuery::default() };
    for (filter, names) in [
        (all.clone(), vec!["Plain 100%", "Quoted", "Site"]),
        (MonitorQuery { kind: Some(Kind::Http), ..all.clone() }, vec!["Site"]),
        (MonitorQuery { status: Some(Health::Up), ..all.clone() }, vec!["Site"]),
        (MonitorQuery { status: Some(Health::Pending), ..all }, vec!["Plain 100%", "Quoted"]),
        (tag("web"), vec!["Plain 100%"]),
        (tag("Web"), vec!["Site"]),
        (tag("we"), vec![]),
        (tag("back\\"), vec!["Quoted"]),
        (tag("a\",\"web"), vec!["Quoted"]),
        (q("PLAIN"), vec!["Plain 100%"]),
        (q("0%"), vec!["Plain 100%"]),
        (q("%"), vec!["Plain 100%"]),
        (q("äpfel"), vec!["Site"]),
        (q("a_b"), vec!["Site"]),
        (q("a.b"), vec![]),
        (q("EU"), vec!["Site"]),
        (q("!"), vec![]),
    ] {
        let found = store.team(&whole(team)).monitors(&filter).await.expect("read");
        let found: Vec<&str> = found.iter().map(|(m, _)| m.monitor.name.as_str()).collect();
        assert_eq!(found, names, "{filter:?}");
    }
}

async fn pages(store: Store) {
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    let mut created: Vec<MonitorId> = Vec::new();
    for number in 0..7 {
        let saved_monitor =
            Monitor { notifiers: vec![hook], ..monitor(team, &format!("m{number}")) };
        store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
        created.push(saved_monitor.id);
    }
    let mut listed = Vec::new();
    loop {
        let filter =
            MonitorQuery { limit: Some(3), after: listed.last().copied(), ..Default::default() };
        let page = store.team(&whole(team)).monitors(&filter).await.expect("read");
        assert!(page.iter().all(|(_, links)| links.len() == 1));
        if page.is_empty() {
            break;
        }
        listed.extend(page.iter().map(|(stored, _)| stored.monitor.id));
    }
    assert_eq!(listed, created);
}

async fn edit_and_state(store: Store) {
    let team = team(&store).await;
    let saved_monitor = monitor(team, "site");
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    store.record(&[passing(saved_monitor.id, 1, NOW)]).await.expect("recorded");
    let renamed = Monitor { name: Name::parse("renamed").expect("a name"), ..saved_monitor };
    store
        .team(&whole(team))
        .change_monitor(&stored(&renamed, 1), &renamed, &system())
        .await
        .expect("saved");
    store.record(&[passing(renamed.id, 2, NOW)]).await.expect("recorded");
    let (read, _) =
        store.team(&whole(team)).monitor(renamed.id).await.expect("read").expect("there");
    assert_eq!((read.monitor.name.as_str(), read.seq, read.revision), ("renamed", 2, 2));
    assert_eq!(read.state.status, Status::Up);
}

async fn overtaken(store: Store) {
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    let saved_monitor = Monitor { notifiers: vec![hook], ..monitor(team, "site") };
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    let stopped = Monitor { isactive: false, ..saved_monitor.clone() };
    let renamed =
        Monitor { name: Name::parse("renamed").expect("a name"), ..saved_monitor.clone() };
    let change = async |wanted: &Monitor, revision| {
        store
            .team(&whole(team))
            .change_monitor(&stored(wanted, revision), wanted, &system())
            .await
            .expect("tried")
    };
    assert_eq!(change(&stopped, 1).await, SaveOutcome::Done);
    assert_eq!(change(&renamed, 1).await, SaveOutcome::Conflict);
    let (read, links) =
        store.team(&whole(team)).monitor(saved_monitor.id).await.expect("read").expect("there");
    assert_eq!((read.monitor, read.revision, links.len()), (stopped, 2, 1));
    let foreign = crate::fixture::team(&store).await;
    let tried = store
        .team(&whole(foreign))
        .change_monitor(&stored(&renamed, 2), &renamed, &system())
        .await
        .expect("tried");
    assert_eq!(tried, SaveOutcome::NotFound);
}

async fn deletes(store: Store) {
    let team = team(&store).await;
    let saved_monitor = Monitor { push_token: Some(Secret::new("t")), ..monitor(team, "site") };
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    let found = store.monitor_by_push_token(Digest::of("t")).await.expect("read");
    assert_eq!(found, Some((team, saved_monitor.id)));
    let records: Vec<_> = (1..=2_500).map(|seq| passing(saved_monitor.id, seq, NOW)).collect();
    store.record(&records).await.expect("recorded");
    assert!(
        store
            .team(&whole(team))
            .delete_monitors(&[saved_monitor.id], None, &system())
            .await
            .expect("deleted")
    );
    assert!(store.monitor_by_push_token(Digest::of("t")).await.expect("read").is_none());
    // The rest is deleted in parts. Then a late verdict is skipped, and the heartbeats are deleted
    // in batches.
    while store.delete_part().await.expect("deleted") {}
    store.record(&[passing(saved_monitor.id, 2_501, NOW)]).await.expect("skipped");
    assert!(!store.delete_orphaned_heartbeats(2).await.expect("deleted"));
    assert!(store.delete_orphaned_heartbeats(10).await.expect("deleted"));
    // The same id again shows that nothing was left.
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    let span = crate::heartbeats::everything();
    let left = store
        .team(&whole(team))
        .heartbeats(saved_monitor.id, &span)
        .await
        .expect("read")
        .expect("there");
    assert!(left.is_empty());
}

async fn team_deleted(store: Store) {
    let team = team(&store).await;
    let saved_monitor = monitor(team, "site");
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    store.record(&[passing(saved_monitor.id, 1, NOW)]).await.expect("recorded");
    remove_team(&store, team).await;
    assert!(store.monitors_by_id(&[saved_monitor.id]).await.expect("read").is_empty());
    while store.delete_part().await.expect("deleted") {}
    assert!(!store.delete_orphaned_heartbeats(1).await.expect("some deleted"));
    assert!(store.delete_orphaned_heartbeats(1).await.expect("none left"));
}

async fn linked_team_deleted(store: Store) {
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    let saved_monitor = Monitor { notifiers: vec![hook], ..monitor(team, "site") };
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    remove_team(&store, team).await;
    assert!(store.monitors_by_id(&[saved_monitor.id]).await.expect("read").is_empty());
}

async fn remove_team(store: &Store, team: wakeful_core::id::TeamId) {
    let members = store.team(&whole(team)).members().await.expect("read");
    for member in members {
        let operator = Deleter::Administration(AdminAuthority::Operator, &[]);
        let deleted = store.delete_account(member.user, operator, &system(), NOW).await;
        assert_eq!(deleted.expect("deleted"), MemberOutcome::Done);
    }
}

wakeful_testkit::both_databases! {
    async fn secrets_are_resealed_with_a_new_key(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let team = team(&store).await;
        notifier(&store, team, "hook").await;
        let saved_monitor = Monitor {
            spec: http("https://a.example/", "hunter2"),
            push_token: Some(Secret::new("t")),
            ..monitor(team, "site")
        };
        store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");

        let both = database.keyring().rotated();
        let new = both.pruned();
        let store = Store::open(&database.options(), both).await.expect("opens");
        // The password, the push token, the notifier's secret, the welcome mail, the end of
        // the audit log and the value that verifies the keyring.
        assert_eq!(store.reseal().await.expect("resealed").0, 6);
        let store = Store::open(&database.options(), new).await.expect("opens");
        let (read, _) = store.team(&whole(team)).monitor(saved_monitor.id).await.expect("read").expect("there");
        assert_eq!(read.monitor, saved_monitor);
    }
}
