//! Who may do what: permissions, the roles of a team's members and the scopes of API keys.
//! A caller has only the permissions that both the role and the scope include.

pub mod permission;
mod role;
mod scope;

pub use permission::{Need, Permission, Permissions};
pub use role::Role;
pub use scope::Scope;
