//! How much memory a snapshot takes, so that the pages of a node fit into what it may use.

use super::Localized;
use super::snapshot::{Component, Incident, Section, Snapshot, Update};

impl Snapshot {
    /// The memory that it takes, without what the allocator adds.
    pub fn bytes(&self) -> usize {
        let page = &self.page;
        let texts = [&page.name, &page.description, &page.footer].map(text).iter().sum::<usize>();
        let css = page.appearance.custom_css.capacity();
        let sections: usize = self.sections.iter().map(section).sum();
        let incidents = self.incidents.iter().chain(&self.maintenances).chain(&self.past);
        size_of::<Self>() + texts + css + sections + incidents.map(incident).sum::<usize>()
    }
}

fn text(text: &Localized) -> usize {
    let translation = |(_, text): &(_, String)| text.capacity() + size_of::<(u8, String)>();
    text.text.capacity() + text.translations.iter().map(translation).sum::<usize>()
}

fn section(section: &Section) -> usize {
    let components: usize = section.components.iter().map(component).sum();
    size_of::<Section>() + text(&section.name) + text(&section.description) + components
}

fn component(component: &Component) -> usize {
    let texts = text(&component.name) + text(&component.description);
    size_of::<Component>() + texts + component.days.bytes()
}

fn incident(incident: &Incident) -> usize {
    let updates: usize = incident.updates.iter().map(update).sum();
    let named: usize =
        incident.components.iter().map(|one| size_of_val(one) + text(&one.name)).sum();
    let postmortem = incident.postmortem.as_ref().map_or(0, |one| text(&one.body));
    size_of::<Incident>() + text(&incident.title) + updates + named + postmortem
}

fn update(update: &Update) -> usize {
    let changes: usize =
        update.components.iter().map(|one| size_of_val(one) + text(&one.name)).sum();
    size_of::<Update>() + text(&update.body) + changes
}
