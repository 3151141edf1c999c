//! The work that judging the assertions of a check may take: whatever they are about, it is a fraction
//! of a second.

use std::cell::Cell;

/// The visits to states that all patterns may take, beyond one look at each byte: some tens of
/// milliseconds.
pub(super) const MAX_VISITS: usize = 1_000_000;
/// The visits to nodes that all queries on a tree may take, by their estimates. One takes up to 30
/// nanoseconds.
const MAX_NODES: usize = 5_000_000;
/// How often paths of names and indexes may read a document, all together, and how many bytes of a
/// short one.
const MAX_READINGS: usize = 128;
const MIN_BYTES: usize = 1 << 20;

/// What is left of it.
pub(super) struct Work {
    visits: Cell<usize>,
    nodes: Cell<usize>,
    /// The bytes that were read.
    read: Cell<usize>,
}

impl Default for Work {
    fn default() -> Self {
        Self { visits: Cell::new(MAX_VISITS), nodes: Cell::new(MAX_NODES), read: Cell::new(0) }
    }
}

impl Work {
    /// `None` if so many visits to states are not left.
    pub(super) fn visit_states(&self, visits: usize) -> Option<()> {
        spend(&self.visits, visits)
    }

    /// The same for nodes of a tree.
    pub(super) fn visit_nodes(&self, visits: usize) -> Option<()> {
        spend(&self.nodes, visits)
    }

    /// The same for bytes of a document with this length.
    pub(super) fn read(&self, bytes: usize, document: usize) -> Option<()> {
        let read = self.read.get().saturating_add(bytes);
        self.read.set(read);
        (read <= document.saturating_mul(MAX_READINGS).max(MIN_BYTES)).then_some(())
    }
}

fn spend(left: &Cell<usize>, visits: usize) -> Option<()> {
    let rest = left.get().checked_sub(visits);
    left.set(rest.unwrap_or(0));
    rest.map(|_| ())
}
