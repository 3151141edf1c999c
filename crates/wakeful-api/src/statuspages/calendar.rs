//! Maintenance as a calendar to subscribe to.

use wakeful_core::calendar::Span;
use wakeful_core::ical::{self, IcalEvent};
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::snapshot::{Incident, IncidentKind, Snapshot};

use super::view::View;

pub(super) fn render(snapshot: &Snapshot, language: Language) -> String {
    let v = View::new(snapshot, language, "");
    let shown = |one: &&Incident| one.kind == IncidentKind::Maintenance && !one.cancelled;
    let all = snapshot.maintenances.iter().chain(&snapshot.past).filter(shown);
    let events = all.clone().filter_map(|one| {
        Some(IcalEvent {
            uid: format!("{}@wakeful", one.id),
            span: Span { from: one.scheduled_for?, to: one.scheduled_until? },
            summary: format!("{}: {}", v.name(), v.plain(&one.title)),
        })
    });
    // The stamp changes only with the events, so that the document does.
    let modified = all.clone().map(|one| one.modified).max().unwrap_or(snapshot.page.created);
    ical::feed(&v.name(), &events.collect::<Vec<_>>(), modified)
}
