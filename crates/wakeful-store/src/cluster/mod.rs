//! The nodes that share this database, and the requests they send each other.

pub(crate) mod node_requests;
pub(crate) mod nodes;
