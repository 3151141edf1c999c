//! What a subscriber wants to know about: everything, or some sections and components.

use serde::{Deserialize, Serialize};

use super::incident::Incident;
use super::page::StatusPage;
use crate::id::{ComponentId, SectionId};

/// The most sections, and the most components, that a scope names.
pub const MAX_NAMED: usize = 500;

/// Empty: everything. A section includes the components that are added to it later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scope {
    pub sections: Vec<SectionId>,
    pub components: Vec<ComponentId>,
}

/// What an incident affects on one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affected {
    /// The page as a whole.
    is_whole: bool,
    sections: Vec<SectionId>,
    components: Vec<ComponentId>,
}

impl Affected {
    pub fn of(incident: &Incident, page: &StatusPage) -> Self {
        let components: Vec<ComponentId> = incident
            .components
            .iter()
            .filter(|one| one.page == page.id)
            .map(|one| one.id)
            .collect();
        let sections = page.sections.iter().filter(|section| {
            section.components.iter().any(|component| components.contains(&component.id))
        });
        Self {
            is_whole: incident.pages.contains(&page.id) || components.is_empty(),
            sections: sections.map(|section| section.id).collect(),
            components,
        }
    }
}

impl Scope {
    pub fn is_everything(&self) -> bool {
        self.sections.is_empty() && self.components.is_empty()
    }

    pub fn covers(&self, affected: &Affected) -> bool {
        self.is_everything()
            || affected.is_whole
            || self.sections.iter().any(|section| affected.sections.contains(section))
            || self.components.iter().any(|one| affected.components.contains(one))
    }

    /// Without what the page does not have any longer.
    #[must_use]
    pub fn on(mut self, page: &StatusPage) -> Self {
        self.sections.retain(|id| page.sections.iter().any(|section| section.id == *id));
        self.components.retain(|id| page.components().any(|component| component.id == *id));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Millis;

    fn component(number: u8) -> ComponentId {
        ComponentId::new(Millis(0), [number; 10])
    }

    fn section(number: u8) -> SectionId {
        SectionId::new(Millis(0), [number; 10])
    }

    #[test]
    fn a_scope_covers_its_sections_and_components() {
        let affected = |is_whole| Affected {
            is_whole,
            sections: vec![section(1)],
            components: vec![component(1)],
        };
        let named = |sections: &[u8], components: &[u8]| Scope {
            sections: sections.iter().map(|one| section(*one)).collect(),
            components: components.iter().map(|one| component(*one)).collect(),
        };
        for (scope, is_whole, covered) in [
            (named(&[], &[]), false, true),
            (named(&[1], &[]), false, true),
            (named(&[2], &[1]), false, true),
            (named(&[2], &[2]), false, false),
            (named(&[2], &[2]), true, true),
        ] {
            assert_eq!(scope.covers(&affected(is_whole)), covered, "{scope:?} {is_whole}");
        }
    }
}
