//! The schedules whose handovers are announced: which of them have to be looked at, and what is
//! written. Several nodes may look at the same one; the first that writes counts.

use uuid::Uuid;
use wakeful_core::id::{NotifierId, ScheduleId, UserId};
use wakeful_core::notifications::announcement::Announcement;
use wakeful_core::oncall::OnCallSchedule;
use wakeful_core::time::Millis;

use super::messages::RecipientAddress;
use super::recipients::own_notifier;
use super::schedules::{StoredSchedule, columns};
use crate::dialect::{Tx, from_row, read, within};
use crate::{Result, Store};

/// A schedule that has to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueSchedule {
    pub schedule: OnCallSchedule,
    revision: i64,
    /// The user who was on call when it was last looked at.
    pub on_call: Option<UserId>,
}

/// A handover to write.
#[derive(Clone, Debug)]
pub struct HandoverRecord<'a> {
    pub due: &'a DueSchedule,
    /// The user who is on call now.
    pub on_call: Option<UserId>,
    /// When it is looked at next.
    pub next_at: Millis,
    /// What is announced to which recipients, if the user has changed.
    pub announcement: Option<(Announcement, Vec<RecipientAddress>)>,
}

from_row!(DueSchedule, |row| {
    let StoredSchedule { schedule, revision, .. } = sqlx::FromRow::from_row(row)?;
    let on_call = row.try_get::<Option<Uuid>, _>("on_call")?.map(UserId::from);
    Self { schedule, revision, on_call }
});

impl Store {
    /// The schedules whose handovers are announced and that have to be looked at. The teams take
    /// turns, each with the longest overdue first.
    pub async fn due_schedules(&self, now: Millis, limit: u32) -> Result<Vec<DueSchedule>> {
        Ok(read!(self, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                ", on_call from schedules where next_at <= $1
                 order by row_number() over (partition by team_id order by next_at, id), next_at, id
                 limit $2"
            ))
            .bind(now.0)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?)
    }

    /// Writes who is on call in a schedule, with the announcement of a handover. False, and nothing
    /// is written, if the schedule was changed or another node has done it; or if a node of another
    /// version runs, which could not read the announcement.
    pub async fn write_handover(&self, record: HandoverRecord<'_>, now: Millis) -> Result<bool> {
        let HandoverRecord { due, on_call, next_at, announcement } = record;
        let DueSchedule { schedule, revision, .. } = due;
        let mut tx = self.begin().await?;
        let written = within!(tx, |db| {
            sqlx::query(
                "update schedules
                 set on_call = $3, next_at = $4, revision = revision + 1
                 where id = $1 and revision = $2 and next_at <= $5",
            )
            .bind(schedule.id.uuid())
            .bind(revision)
            .bind(on_call.map(UserId::uuid))
            .bind(next_at.0)
            .bind(now.0)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !written {
            return Ok(false);
        }
        let mut new = Vec::new();
        if let Some((announcement, recipients)) = announcement {
            if self.has_other_versions(&mut tx).await? {
                return Ok(false);
            }
            let mut to: Vec<NotifierId> = Vec::new();
            for recipient in recipients {
                to.extend(match recipient {
                    RecipientAddress::Notifier(id) => Some(id),
                    RecipientAddress::Account(user) => {
                        own_notifier(&mut tx, schedule.team, user, now).await?
                    }
                });
            }
            to.sort_unstable();
            to.dedup();
            let team = schedule.team;
            new = self.add_announcement(&mut tx, team, &announcement, &to, now.0, now).await?;
        }
        tx.commit().await?;
        if !new.is_empty() {
            self.outbox.notify_of(new);
        }
        Ok(true)
    }
}

/// Makes the loop of handovers look at a schedule whose handovers are announced.
pub(super) async fn look_at_schedule(tx: &mut Tx, id: ScheduleId, now: Millis) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "update schedules set next_at = $2, revision = revision + 1
             where id = $1 and next_at is not null",
        )
        .bind(id.uuid())
        .bind(now.0)
        .execute(db)
        .await?;
    });
    Ok(())
}
