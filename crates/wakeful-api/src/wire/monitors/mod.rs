//! Monitors on the wire: `read` takes both shapes of a save, whole or partial,
//! and `show` gives the one shape of an answer, which `read` takes back unchanged;
//! `row` gives the little that a long list shows.

mod certificate;
mod read;
mod row;
mod show;

pub(crate) use certificate::CertificateBody;
pub(crate) use read::{
    SaveMonitor, TextOrList, TextOrNumber, draft, leaves_password, spec, timeout,
};
pub(crate) use row::{MonitorRow, MonitorRows};
pub(crate) use show::{MonitorAnswer, MonitorBody, MonitorList, MonitorWhole, PushRotated, millis};
