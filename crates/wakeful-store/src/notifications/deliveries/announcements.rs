//! Announcements in the outbox: messages about a maintenance window or an on-call schedule, which
//! belong to no monitor.

use uuid::Uuid;
use wakeful_core::id::{MaintenanceId, NodeId, NotifierId, TeamId};
use wakeful_core::notifications::announcement::Announcement;
use wakeful_core::notifications::event;
use wakeful_core::time::Millis;

use super::DueDelivery;
use crate::alerting::messages::delivery_id;
use crate::dialect::{Tx, either, within};
use crate::{Result, Store};

impl Store {
    /// Adds an announcement to these notifiers of a team, as far as they are enabled and get it.
    /// One that was added before is not added again. `sequence` is its place in the queues of its
    /// line.
    pub(crate) async fn add_announcement(
        &self,
        tx: &mut Tx,
        team: TeamId,
        announcement: &Announcement,
        to: &[NotifierId],
        sequence: i64,
        now: Millis,
    ) -> Result<Vec<DueDelivery>> {
        let rules = self.delivery_rules(tx, to).await?;
        let mut new = Vec::new();
        for id in to {
            let first = rules.get(id).and_then(|rules| announcement.first_try(rules, now));
            let Some(first) = first else { continue };
            let row: Option<DueDelivery> = within!(*tx, |db| {
                sqlx::query_as(
                    "insert into deliveries
                     (id, eventid, team_id, line, notifier_id, sequence, kind, body, created,
                      next_try)
                     select $1, $2, n.team_id, $3, n.id, $4, $5, $6, $7, $8
                     from notifiers n
                     where n.id = $9 and n.team_id = $10
                     on conflict do nothing
                     returning id, team_id, notifier_id, claims as crashes,
                               (select n.kind from notifiers n where n.id = notifier_id) as kind",
                )
                .bind(delivery_id(announcement.event, *id, now).uuid())
                .bind(announcement.event.uuid())
                .bind(announcement.line)
                .bind(sequence)
                .bind(announcement.kind)
                .bind(&announcement.body)
                .bind(now.0)
                .bind(first.0)
                .bind(id.uuid())
                .bind(team.uuid())
                .fetch_optional(db)
                .await
            })?;
            new.extend(row);
        }
        Ok(new)
    }

    /// Whether a node of another version runs. A previous one cannot read messages without a
    /// monitor: they are written when it has stopped.
    pub(crate) async fn has_other_versions(&self, tx: &mut Tx) -> Result<bool> {
        let sql = either!(
            self,
            sqlite: "select n.id from nodes n
                 join nodes own on own.id = $1 and own.version <> n.version
                 where n.expires > cast(unixepoch('subsec') * 1000 as integer)
                 limit 1",
            postgres: "select n.id from nodes n
                 join nodes own on own.id = $1 and own.version <> n.version
                 where n.expires > cast(extract(epoch from clock_timestamp()) * 1000 as bigint)
                 limit 1"
        );
        let other: Option<Uuid> = within!(*tx, |db| {
            sqlx::query_scalar(sql).bind(self.node.map(NodeId::uuid)).fetch_optional(db).await
        })?;
        Ok(other.is_some())
    }
}

/// Deletes the announcements of a window that wait for the end of quiet hours: the window has
/// changed or was deleted.
pub(crate) async fn withdraw_announcements(
    tx: &mut Tx,
    team: TeamId,
    window: MaintenanceId,
    now: Millis,
) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "delete from deliveries
             where team_id = $1 and line = $2 and state = 'waiting' and left_to is null
             and kind = $3 and attempts = 0 and lease_until <= $4",
        )
        .bind(team.uuid())
        .bind(window.uuid())
        .bind(event::MAINTENANCE_SCHEDULED)
        .bind(now.0)
        .execute(db)
        .await?;
    });
    Ok(())
}
