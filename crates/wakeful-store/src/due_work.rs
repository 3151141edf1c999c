//! What is due, for all loops that look for it, in one read.

use wakeful_core::time::Millis;

use crate::dialect::{from_row, read};
use crate::{Result, Store, StreamTime};

/// The kinds of work that may be due now. A row that is about to be deleted counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueWork {
    /// Alerts to decide about.
    pub alerts: bool,
    /// Streams of the audit log with entries to send.
    pub audit_streams: bool,
    /// Mail of the service to send.
    pub mail: bool,
    /// Maintenance windows, and what others have recorded of them.
    pub maintenance: bool,
    /// Schedules whose handovers are announced.
    pub handovers: bool,
    /// Maintenance on status pages.
    pub incidents: bool,
    /// Events of status pages whose deliveries are to be written.
    pub page_events: bool,
    /// Messages to subscribers of status pages to send.
    pub page_messages: bool,
    /// Messages to subscribers that wait, also for a later time.
    pub page_messages_waiting: bool,
}

impl DueWork {
    /// What has to be assumed if it cannot be read.
    pub const ANY: Self = Self {
        alerts: true,
        audit_streams: true,
        mail: true,
        maintenance: true,
        handovers: true,
        incidents: true,
        page_events: true,
        page_messages: true,
        page_messages_waiting: true,
    };
}

from_row!(DueWork, |row| {
    Self {
        alerts: row.try_get("alerts")?,
        audit_streams: row.try_get("audit_streams")?,
        mail: row.try_get("mail")?,
        maintenance: row.try_get("maintenance")?,
        handovers: row.try_get("handovers")?,
        incidents: row.try_get("incidents")?,
        page_events: row.try_get("page_events")?,
        page_messages: row.try_get("page_messages")?,
        page_messages_waiting: row.try_get("page_messages_waiting")?,
    }
});

impl Store {
    /// What is due. Maintenance that was recorded since `covers_since` is, too.
    pub async fn due_work(&self, at: StreamTime, covers_since: Millis) -> Result<DueWork> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select
                     exists (select 1 from alerts where due <= $1)
                     or exists (select 1 from alerts where remind_at <= $1) as alerts,
                     exists (
                         select 1 from audit_streams s
                         join audit_heads h on h.id = s.team_id
                         where s.disabled_at is null
                         and (s.next_try <= $1 or s.next_try > $2)
                         and (s.lease_until <= $1 or s.lease_until > $2)
                         and s.cursor < h.seq) as audit_streams,
                     exists (
                         select 1 from mails
                         where next_try <= $1 and lease_until <= $1) as mail,
                     exists (select 1 from maintenances where next_at <= $1)
                     or exists (
                         select 1 from exclusions
                         where changed >= $3 and kind = 'maintenance')
                     or exists (select 1 from exclusions where recount) as maintenance,
                     exists (select 1 from schedules where next_at <= $1) as handovers,
                     exists (select 1 from incidents where next_at <= $1) as incidents,
                     exists (
                         select 1 from statuspage_events
                         where completed is null and lease_until <= $1) as page_events,
                     exists (
                         select 1 from statuspage_deliveries
                         where queue in ('mail', 'remote')
                         and next_try <= $1 and lease_until <= $1) as page_messages,
                     exists (
                         select 1 from statuspage_deliveries
                         where queue in ('mail', 'remote')
                         and next_try is not null) as page_messages_waiting",
            )
            .bind(at.now.0)
            .bind(at.latest.0)
            .bind(covers_since.0)
            .fetch_one(db)
            .await
        })?)
    }
}
