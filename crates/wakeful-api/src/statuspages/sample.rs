//! Snapshots for tests, built by hand.

use wakeful_core::id::{ComponentId, IncidentId, IncidentUpdateId, SectionId, StatuspageId};
use wakeful_core::monitors::Kind;
use wakeful_core::statuspages::snapshot::{
    AffectedComponent, Appearance, Collapsed, Component, ComponentChange, ComponentStatus, Date,
    Day, DayColor, Display, Impact, Incident, IncidentKind, IncidentStatus, Indicator, Page,
    PageStatus, Postmortem, ResponseTimes, Section, Snapshot, Update, Uptime, UptimeFigures,
};
use wakeful_core::statuspages::{Language, Localized};
use wakeful_core::time::Millis;

/// 2026-11-18 12:06:40 in Berlin.
pub(super) const NOW: Millis = Millis(1_795_000_000_000);
const DAY: i64 = 86_400_000;

fn random(seed: u8) -> [u8; 10] {
    [seed; 10]
}

fn both(english: &str, german: &str) -> Localized {
    Localized {
        text: english.to_owned(),
        translations: vec![(Language::German, german.to_owned())],
    }
}

/// A page with an open incident, a maintenance and a resolved incident.
pub(super) fn page() -> Snapshot {
    let mut api = component(1, "API", 90, 2);
    api.status = ComponentStatus::PartialOutage;
    api.description = "The *public* API".into();
    api.link = Some("https://api.example.com/?a=1&b=2".to_owned());
    api.alias = Some("api".to_owned());
    let mut web = component(2, "Website", 90, 0);
    web.name = both("Website", "Webseite");
    let mut hidden = component(3, "Fallback", 90, 0);
    hidden.only_show_if_degraded = true;
    let mut fresh = component(4, "New service", 90, 0);
    fresh.status = ComponentStatus::Unknown;
    let without_data = |day: Day| Day { color: DayColor::NoData, uptime: None, ..day };
    fresh.days = fresh.days.iter().map(without_data).collect();
    fresh.uptime = Some(UptimeFigures::default());
    let affected = AffectedComponent {
        id: Some(api.id),
        name: api.name.clone(),
        status: ComponentStatus::PartialOutage,
    };
    let open = Incident {
        title: both("Slow <requests>", "Langsame <Anfragen>"),
        components: vec![affected.clone()],
        ..incident(1, IncidentStatus::Identified, NOW.0 - 3_600_000)
    };
    let mut maintenance = incident(2, IncidentStatus::Scheduled, NOW.0);
    maintenance.kind = IncidentKind::Maintenance;
    maintenance.title = "New disks".into();
    maintenance.impact = Impact::Maintenance;
    maintenance.scheduled_for = Some(Millis(NOW.0 + DAY));
    maintenance.scheduled_until = Some(Millis(NOW.0 + DAY + 7_200_000));
    let mut past = incident(3, IncidentStatus::Resolved, NOW.0 - 2 * DAY);
    past.title = "Certificate expired".into();
    past.resolved = Some(Millis(NOW.0 - 2 * DAY + 5_400_000));
    past.components = vec![affected];
    let published = Millis(NOW.0 - DAY);
    past.postmortem = Some(Postmortem { body: "We **renew** it earlier.".into(), published });
    Snapshot {
        sections: vec![
            section(1, both("Core", "Kern"), vec![api, web]),
            section(2, "".into(), vec![hidden, fresh]),
        ],
        incidents: vec![open],
        maintenances: vec![maintenance],
        past: vec![past],
        status: PageStatus { indicator: Indicator::Major, by_incident: false, no_data: false },
        ..empty()
    }
}

/// A page with so many components, each with so many bad days.
pub(super) fn large(components: u8, bad_days: usize) -> Snapshot {
    let sections = (0..components / 10).map(|index| {
        let ten = (0..10).map(|one| {
            let seed = index * 10 + one;
            component(seed, &format!("Component {seed}"), 90, bad_days)
        });
        section(index, format!("Section {index}").into(), ten.collect())
    });
    Snapshot { sections: sections.collect(), ..empty() }
}

pub(super) fn empty() -> Snapshot {
    Snapshot {
        page: Page {
            id: StatuspageId::new(NOW, random(9)),
            slug: "acme".to_owned(),
            url: "https://status.example.com/status/acme".to_owned(),
            name: both("Acme & Co", "Acme & Co KG"),
            description: "How **Acme** is doing".into(),
            footer: "[Support](https://example.com/support)".into(),
            language: Language::English,
            languages: vec![Language::German, Language::Arabic],
            timezone: "Europe/Berlin".to_owned(),
            indexed: false,
            appearance: Appearance { powered_by: true, ..Appearance::default() },
            display: Display::default(),
            feeds: true,
            embed_origins: vec!["*".to_owned()],
            subscribe: wakeful_core::statuspages::snapshot::Subscribable {
                email: true,
                webhook: true,
                chat: false,
                choose: true,
            },
            created: Millis(NOW.0 - 400 * DAY),
            modified: Millis(NOW.0 - DAY),
        },
        status: PageStatus::default(),
        sections: Vec::new(),
        incidents: Vec::new(),
        maintenances: Vec::new(),
        past: Vec::new(),
        has_more_past: false,
        oldest_past: None,
        today: today(),
        as_of: NOW,
        revision: 7,
        delayed_since: None,
    }
}

fn today() -> Date {
    Date::new(2026, 11, 18).expect("a date")
}

fn section(seed: u8, name: Localized, components: Vec<Component>) -> Section {
    Section {
        id: SectionId::new(NOW, random(seed)),
        name,
        description: Localized::default(),
        collapsed: Collapsed::Never,
        components,
        created: Millis(NOW.0 - 400 * DAY),
        modified: Millis(NOW.0 - DAY),
    }
}

pub(super) fn component(seed: u8, name: &str, days: usize, bad_days: usize) -> Component {
    let mut date = today();
    let mut all: Vec<Day> = (0..days)
        .map(|index| {
            // Bad days are spread differently for each component.
            let is_bad = (index * 7 + usize::from(seed) * 13) % days < bad_days;
            let day = Day {
                date,
                color: if is_bad { DayColor::Some } else { DayColor::Good },
                down: if is_bad { 60 + u32::from(seed) } else { 0 },
                uptime: Uptime::of(86_400 - u64::from(is_bad) * 60, u64::from(is_bad) * 60),
            };
            date = date.yesterday().expect("a date");
            day
        })
        .collect();
    all.reverse();
    let uptime =
        Uptime::of(1_000_000 - u64::from(seed) * 31 - bad_days as u64, u64::from(seed) * 31);
    Component {
        id: ComponentId::new(Millis(NOW.0 + i64::from(seed) * 7_919), random(seed)),
        alias: None,
        name: name.into(),
        description: Localized::default(),
        link: None,
        status: ComponentStatus::Operational,
        monitor: (seed == 1).then_some(Kind::Http),
        only_show_if_degraded: false,
        days: all.into_iter().collect(),
        uptime: Some(UptimeFigures {
            day: uptime,
            week: uptime,
            month: uptime,
            quarter: uptime,
            year: uptime,
            shown: uptime,
        }),
        response_times: (seed == 1).then(|| ResponseTimes { day: Some(123), ..Default::default() }),
        certificate_expires: (seed == 1).then_some(Millis(NOW.0 + 30 * DAY)),
        since: Date::new(2025, 10, 14).ok(),
        created: Millis(NOW.0 - 400 * DAY),
        modified: Millis(NOW.0 - DAY),
    }
}

fn incident(seed: u8, status: IncidentStatus, started: i64) -> Incident {
    let update = |number: u8, status: IncidentStatus, body: &str| Update {
        id: IncidentUpdateId::new(NOW, random(seed * 16 + number)),
        status,
        body: body.into(),
        components: vec![ComponentChange {
            id: Some(ComponentId::new(Millis(NOW.0 + 7_919), random(1))),
            name: "API".into(),
            old_status: ComponentStatus::Operational,
            new_status: ComponentStatus::PartialOutage,
        }],
        display_at: Millis(started + i64::from(number) * 60_000),
        notify: true,
        edited: None,
        created: Millis(started + i64::from(number) * 60_000),
    };
    let first = if status.kind() == IncidentKind::Maintenance {
        IncidentStatus::Scheduled
    } else {
        IncidentStatus::Investigating
    };
    Incident {
        id: IncidentId::new(NOW, random(seed)),
        kind: status.kind(),
        title: "".into(),
        status,
        impact: Impact::Major,
        started: Millis(started),
        resolved: None,
        scheduled_for: None,
        scheduled_until: None,
        cancelled: false,
        components: Vec::new(),
        updates: vec![
            update(2, status, "We know *more*: <script>alert(1)</script>"),
            update(1, first, "Something [is](https://example.com/x) wrong."),
        ],
        postmortem: None,
        is_short: false,
        created: Millis(started),
        modified: Millis(started + 120_000),
    }
}
