//! The audit log: who changed what, and from where. The entries of a team form a
//! chain of hashes, so that a changed or missing one is noticed; see `docs/audit.md`.

mod chain;
mod diff;
mod entry;
mod stream;

pub use chain::{Broken, Hash, Verifier, entry_hash, person_hash};
pub use diff::{Audited, Change, View, bounded, diff};
pub use entry::{Action, Actor, ActorKind, Entry, Object, ObjectKind, Origin, Person, Reference};
pub use stream::{Batch, MAX_BATCH_ENTRIES, MAX_STREAMS_PER_TEAM, Stream, StreamTarget, test_body};
