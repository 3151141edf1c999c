//! Who may do what: permissions, the roles of a team's members and the scopes of API keys.
//! The permissions of a caller are those of the role that the scope also has.

pub mod permission;
mod role;
mod scope;

pub use permission::{Need, Permission, Permissions};
pub use role::Role;
pub use scope::Scope;
