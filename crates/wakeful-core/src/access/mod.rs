//! Who may do what: permissions, the roles of a team's members and the scopes of API keys.
//! A caller has only the permissions that the role, the scope and the kind of user include.

mod expiry;
mod monitor_filter;
pub mod permission;
mod policy;
mod role;
mod scope;
mod team_access;
mod user_kind;

pub use expiry::Expiry;
pub use monitor_filter::MonitorFilter;
pub use permission::{Need, Permission, Permissions};
pub use policy::{KeyDays, MfaPolicy};
pub use role::Role;
pub use scope::Scope;
pub use team_access::TeamAccess;
pub use user_kind::UserKind;
