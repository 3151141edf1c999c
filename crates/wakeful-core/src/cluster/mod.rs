//! How monitors are distributed over the nodes of a cluster.

pub mod slot;
pub mod version;
