//! The shapes on the wire: what requests may look like and what answers do.
//! Reading is lenient and ends here; past this folder values have types.

mod accounts;
mod apikeys;
mod contact;
mod done;
mod events;
mod fields;
mod figures;
mod history;
pub(crate) mod membership;
mod mfa;
pub(crate) mod monitors;
pub(crate) mod notifiers;
mod passwords;
mod paymentmethods;
mod regions;
mod report;
mod sessions;
mod team;

pub(crate) use accounts::{Me, SaveSettings, SignUp, UserSaved};
pub(crate) use apikeys::{ApiKeyList, ApiKeySaved, SaveApiKey};
pub(crate) use contact::ContactUs;
pub(crate) use done::Done;
pub(crate) use events::event;
pub(crate) use fields::{Fields, Wire};
pub(crate) use figures::{SeriesBody, StatsBody, SummaryList};
pub(crate) use history::{
    AlertBody, AlertList, HeartbeatAnswer, HeartbeatBody, HeartbeatList, Notify, load_time,
};
pub(crate) use membership::{
    InvoiceList, MembershipAnswer, MembershipSaved, PlanList, SaveMembership,
};
pub(crate) use mfa::{DisableMfa, EnableMfa, MfaCodes, MfaSetUp};
pub(crate) use monitors::{
    MonitorAnswer, MonitorBody, MonitorList, MonitorRow, MonitorRows, MonitorWhole, PushRotated,
    SaveMonitor,
};
pub(crate) use passwords::{LostPassword, UpdatePassword};
pub(crate) use paymentmethods::{
    MethodDefault, MethodDeleted, MethodList, MethodName, MethodSaved, SaveMethod, source,
};
pub(crate) use regions::{RegionBody, RegionList};
pub(crate) use report::ReportBody;
pub(crate) use sessions::{Authenticate, AuthenticateBody, LogIn, SessionList, SignedIn, Token};
pub(crate) use team::{SaveUser, TeamList, Users};
