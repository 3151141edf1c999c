//! Status pages are deleted like teams: they disappear at once, and their rows in parts.

use std::time::Duration;
use wakeful_core::id::{ComponentId, IncidentId, IncidentUpdateId, SectionId};
use wakeful_core::id::{StatuspageId, SubscriberId, TeamId};
use wakeful_core::statuspages::component::SectionSettings;
use wakeful_core::statuspages::component::{Component, ComponentSettings, Section};
use wakeful_core::statuspages::incident::{
    Incident, IncidentSettings, IncidentSource, IncidentState, Update, UpdateSettings,
};
use wakeful_core::statuspages::page::{Access, PageSettings, StatusPage};
use wakeful_core::statuspages::snapshot::{Impact, IncidentKind, IncidentStatus};
use wakeful_core::statuspages::subscriber::{
    Recipient, Subscriber, SubscriberKind, SubscriberSettings, SubscriberSource, SubscriberState,
};
use wakeful_core::time::Millis;
use wakeful_store::{
    AdminAuthority, Deleter, IncidentQuery, NewPageDelivery, PageQueue, SavePageOutcome, Store,
    StreamTime,
};
use wakeful_testkit::{system, whole};

use crate::fixture::{NOW, next, sign_up};

const LATER: Millis = Millis(NOW.0 + 1_000);
/// More than one part deletes.
const SUBSCRIBERS: usize = 250;

fn page(team: TeamId, slug: &str) -> StatusPage {
    let component = Component {
        id: ComponentId::new(NOW, next()),
        name: "API".into(),
        monitors: Vec::new(),
        tag: String::new(),
        settings: ComponentSettings::default(),
        status_override: None,
        created: NOW,
    };
    StatusPage {
        id: StatuspageId::new(NOW, next()),
        team,
        name: slug.into(),
        slug: slug.into(),
        published: true,
        access: Access::Public,
        password_hash: String::new(),
        password_revision: 0,
        access_token: None,
        settings: PageSettings::default(),
        domains: Vec::new(),
        sections: vec![Section {
            id: SectionId::new(NOW, next()),
            name: String::new(),
            settings: SectionSettings::default(),
            components: vec![component],
        }],
        rules: Vec::new(),
        images: Vec::new(),
        created: NOW,
        modified: NOW,
    }
}

fn update() -> Update {
    Update {
        id: IncidentUpdateId::new(NOW, next()),
        status: IncidentStatus::Investigating,
        body: "We are looking into it.".into(),
        settings: UpdateSettings { notify: true, ..UpdateSettings::default() },
        display_at: NOW,
        by_rule: false,
        created: NOW,
        edited: None,
    }
}

fn incident(team: TeamId, title: &str, pages: &[StatuspageId]) -> Incident {
    Incident {
        id: IncidentId::new(NOW, next()),
        team,
        kind: IncidentKind::Incident,
        title: title.into(),
        state: IncidentState::Published,
        status: IncidentStatus::Investigating,
        impact: Impact::None,
        settings: IncidentSettings::default(),
        source: IncidentSource::Person,
        rule: None,
        started: NOW,
        resolved: None,
        components: Vec::new(),
        pages: pages.to_vec(),
        updates: vec![update()],
        created: NOW,
        modified: NOW,
    }
}

fn subscriber(page: StatuspageId, number: usize) -> Subscriber {
    Subscriber {
        id: SubscriberId::new(NOW, next()),
        page,
        kind: SubscriberKind::Email,
        recipient: Recipient { address: format!("{number}@example.com"), contact: String::new() },
        secret: None,
        settings: SubscriberSettings::default(),
        state: SubscriberState::Active,
        source: SubscriberSource::Import,
        created: NOW,
        confirmed: Some(NOW),
        last_delivery: None,
        failures: 0,
    }
}

/// Writes the deliveries of all events; returns how many events there were.
async fn fan_out(store: &Store) -> usize {
    let mut events = 0;
    let lease = NOW.after(Duration::from_secs(60));
    while let Some(next) = store.open_statuspage_events(NOW).await.expect("read").first().copied() {
        let claimed = store.claim_statuspage_event(next.id, NOW, lease).await.expect("claimed");
        let event = claimed.expect("nobody else claims it");
        let candidates = store.candidates(event.page, None, 1_000).await.expect("read");
        let deliveries: Vec<NewPageDelivery> = candidates
            .iter()
            .map(|one| NewPageDelivery {
                subscriber: one.id,
                queue: PageQueue::Mail,
                next_try: NOW,
            })
            .collect();
        assert!(store.add_page_deliveries(&event, &deliveries, None, NOW).await.expect("added"));
        events += 1;
    }
    events
}

async fn due(store: &Store) -> usize {
    let mut due = 0;
    for one in store.pages_with_due_messages(PageQueue::Mail, LATER).await.expect("read") {
        let found = store.due_subscribers(PageQueue::Mail, one.page, &[], LATER, 1_000);
        due += found.await.expect("read").len();
    }
    due
}

/// Whether events, and messages, are to be handled.
async fn due_work(store: &Store) -> (bool, bool) {
    let at = StreamTime { now: LATER, latest: LATER.after(Duration::from_secs(3_600)) };
    let due = store.due_work(at, NOW).await.expect("read");
    (due.page_events, due.page_messages)
}

wakeful_testkit::both_databases! {
    async fn a_deleted_page_disappears_at_once_and_its_rows_in_parts(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let (team, user, _) = sign_up(&store).await;
        let ours = store.team(&whole(team));
        let (one, two) = (page(team, "one"), page(team, "two"));
        for page in [&one, &two] {
            let saved = ours.add_statuspage(page, None, &system()).await.expect("saved");
            assert_eq!(saved, SavePageOutcome::Done);
        }
        assert_eq!(due_work(&store).await, (false, false));
        let digests = store.subscriber_digests(&[7; 32]).await.expect("a secret");
        let mut ids = Vec::new();
        for (page, count) in [(&one, SUBSCRIBERS), (&two, 1)] {
            let all = (0..count).map(|number| subscriber(page.id, number));
            let all = all.map(|one| {
                let digest = digests.of(one.kind, &one.recipient.address);
                (one, digest)
            });
            let all: Vec<_> = all.collect();
            ids.push(all[0].0.id);
            ours.import_subscribers(page.id, &all, None, &system()).await.expect("read").expect("imported");
        }
        let (only, both) = (incident(team, "only", &[one.id]), incident(team, "both", &[one.id, two.id]));
        for incident in [&only, &both] {
            ours.add_incident(incident, &system()).await.expect("saved");
        }
        assert_eq!(due_work(&store).await, (true, false));
        assert_eq!(fan_out(&store).await, 3);
        assert_eq!((due_work(&store).await, due(&store).await), ((false, true), SUBSCRIBERS + 1));
        let rows = 2 * SUBSCRIBERS as i64 + 1;
        assert_eq!(database.rows("statuspage_deliveries").await, rows);

        // An update that is deleted takes its messages with it, but not in the same transaction.
        let posted = Incident { updates: vec![update(), both.updates[0].clone()], ..both.clone() };
        let stored = ours.incident(both.id).await.expect("read").expect("there");
        let action = wakeful_core::audit::Action::IncidentPost;
        ours.change_incident(&stored, &posted, action, &system()).await.expect("saved");
        let stored = ours.incident(both.id).await.expect("read").expect("there");
        let shorter = Incident { updates: posted.updates[..1].to_vec(), ..posted };
        ours.change_incident(&stored, &shorter, action, &system()).await.expect("saved");
        assert_eq!(database.rows("statuspage_deliveries").await, rows);
        let read = ours.incident(both.id).await.expect("read").expect("there");
        assert_eq!(read.incident.updates.len(), 1);
        while store.delete_part().await.expect("deleted") {}
        assert_eq!(database.rows("statuspage_deliveries").await, SUBSCRIBERS as i64);
        assert_eq!((database.rows("incidents").await, database.rows("incident_updates").await), (2, 2));

        // Nobody finds the page, its subscribers and its incidents; nothing is sent to them.
        assert!(ours.delete_statuspage(&one, &system()).await.expect("deleted"));
        assert!(!ours.delete_statuspage(&one, &system()).await.expect("tried"), "no longer there");
        let left = ours.statuspages().await.expect("read");
        assert_eq!(left.iter().map(|one| one.id).collect::<Vec<_>>(), [two.id]);
        let published = store.published_pages().await.expect("read");
        assert_eq!(published.iter().map(|one| one.page.id).collect::<Vec<_>>(), [two.id]);
        assert!(store.shown_statuspage(one.id, team).await.expect("read").is_none());
        assert_eq!(store.statuspage_name(one.id).await.expect("read"), None);
        let found = ours.incidents(&IncidentQuery::default()).await.expect("read");
        assert_eq!(found.iter().map(|one| one.incident.id).collect::<Vec<_>>(), [both.id]);
        assert!(store.read_incident(only.id).await.expect("read").is_none());
        assert!(store.read_subscriber(ids[0]).await.expect("read").is_none());
        assert!(store.read_subscriber(ids[1]).await.expect("read").is_some());
        assert_eq!(due(&store).await, 0);
        let lease = LATER.after(Duration::from_secs(60));
        assert!(store.claim_messages(ids[0], LATER, lease).await.expect("tried").is_none());
        assert_eq!(fan_out(&store).await, 1, "the second update, on the page that is left");
        let late = subscriber(one.id, 9_999);
        let digest = digests.of(late.kind, &late.recipient.address);
        let added = ours.add_subscriber(&late, digest, None, None, &system()).await.expect("tried");
        assert_eq!(added, wakeful_store::AddSubscriberOutcome::Missing);
        let again = page(team, "one");
        let saved = ours.add_statuspage(&again, None, &system()).await.expect("saved");
        assert_eq!(saved, SavePageOutcome::Done, "its slug is free");

        // All rows are there until parts of them are deleted, by this process or the next one.
        assert_eq!((database.rows("statuspages").await, database.rows("subscribers").await), (3, SUBSCRIBERS as i64 + 1));
        assert!(store.delete_part().await.expect("deleted"));
        assert_eq!(database.rows("subscribers").await, SUBSCRIBERS as i64 + 1 - 200);
        let store = database.open().await;
        while store.delete_part().await.expect("deleted") {}
        for (table, rows) in [
            ("statuspages", 2), ("components", 2), ("subscribers", 1), ("incidents", 1),
            ("statuspage_deliveries", 1), ("teams", 1),
        ] {
            assert_eq!(database.rows(table).await, rows, "{table}");
        }
        // The page of the team that is left is as it was.
        let ours = store.team(&whole(team));
        assert!(ours.incident(both.id).await.expect("read").is_some());
        assert_eq!(due(&store).await, 1);

        // An incident, and the team with its last user.
        assert!(ours.delete_incident(&both, &system()).await.expect("deleted"));
        assert!(ours.incident(both.id).await.expect("read").is_none());
        assert_eq!(database.rows("incidents").await, 1);
        let operator = Deleter::Administration(AdminAuthority::Operator, &[]);
        store.delete_account(user, operator, &system(), NOW).await.expect("deleted");
        assert!(store.published_pages().await.expect("read").is_empty());
        assert_eq!((due(&store).await, database.rows("subscribers").await), (0, 1));
        while store.delete_part().await.expect("deleted") {}
        for table in ["statuspages", "subscribers", "incidents", "statuspage_events", "teams"] {
            assert_eq!(database.rows(table).await, 0, "{table}");
        }
    }
    async fn each_team_has_an_event_to_write_however_many_another_has(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let mut teams = Vec::new();
        for (slug, incidents) in [("many", 20), ("few", 1)] {
            let (team, ..) = sign_up(&store).await;
            let ours = store.team(&whole(team));
            let page = page(team, slug);
            ours.add_statuspage(&page, None, &system()).await.expect("saved");
            let one = subscriber(page.id, 1);
            let digest = store.subscriber_digests(&[7; 32]).await.expect("a secret");
            let digest = digest.of(one.kind, &one.recipient.address);
            let imported = ours.import_subscribers(page.id, &[(one, digest)], None, &system()).await;
            imported.expect("read").expect("imported");
            for _ in 0..incidents {
                let incident = incident(team, slug, &[page.id]);
                ours.add_incident(&incident, &system()).await.expect("saved");
            }
            teams.push(team);
        }
        let open = async || {
            let open = store.open_statuspage_events(NOW).await.expect("read");
            let mut teams: Vec<TeamId> = open.iter().map(|event| event.team).collect();
            teams.sort_unstable();
            (open, teams)
        };
        teams.sort_unstable();
        let (first, of) = open().await;
        assert_eq!(of, teams, "one of each");
        // One that is released after a part is open again, for any node, and not suspect.
        let lease = NOW.after(Duration::from_secs(60));
        let claimed = store.claim_statuspage_event(first[0].id, NOW, lease).await.expect("claimed");
        let claimed = claimed.expect("it is open");
        let again = store.claim_statuspage_event(first[0].id, NOW, lease).await.expect("tried");
        assert!(again.is_none(), "it is claimed");
        let one = SubscriberId::new(NOW, next());
        assert!(store.add_page_deliveries(&claimed, &[], Some(one), NOW).await.expect("added"));
        store.release_statuspage_event(&claimed).await.expect("released");
        assert!(open().await.0.contains(&first[0]));
        let other = database.open().await;
        let claimed = other.claim_statuspage_event(first[0].id, NOW, lease).await.expect("claimed");
        let claimed = claimed.expect("it is open");
        assert_eq!((claimed.progress, claimed.crashes), (Some(one), 0));
    }
}
