//! Disables notifiers, and gives up what still waits for them.

use uuid::Uuid;
use wakeful_core::id::{DeliveryId, NotifierId};
use wakeful_core::time::Millis;

use crate::deletion::deleted_teams;
use crate::dialect::{either, read, within, write};
use crate::mail::{self, sealed};
use crate::{Mail, Result, Store};

/// The deliveries of a disabled notifier that one statement gives up.
const GIVE_UP_BATCH: i64 = 500;

macro_rules! give_up {
    ($ids:literal) => {
        concat!(
            "update deliveries
             set state = case when left_to is null then 'failed' else 'delivered' end,
                 next_try = null, lease_until = 0, finished = $3,
                 last_answer = case when last_answer = '' then $4 else last_answer end
             where notifier_id = $1 and state = 'waiting' and ",
            $ids,
            " and exists (select 1 from notifiers n where n.id = $1 and n.disabled_at is not null)"
        )
    };
}

impl Store {
    /// Disables a notifier, queues these mails about it and gives up its waiting deliveries;
    /// false, without any change, if it was disabled already.
    pub async fn disable_notifier(
        &self,
        id: NotifierId,
        why: &str,
        mails: &[Mail],
        now: Millis,
    ) -> Result<bool> {
        let mails: Vec<_> = mails.iter().map(|mail| sealed(&self.keyring, mail)).collect();
        let mut tx = self.begin().await?;
        let disabled = within!(tx, |db| {
            sqlx::query(
                "update notifiers
                 set disabled_at = $2, disabled_why = $3, revision = revision + 1
                 where id = $1 and disabled_at is null",
            )
            .bind(id.uuid())
            .bind(now.0)
            .bind(why)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !disabled {
            return Ok(false);
        }
        for mail in &mails {
            mail::insert(&mut tx, mail, now).await?;
        }
        tx.commit().await?;
        self.give_up_waiting(id, why, now).await?;
        Ok(true)
    }

    /// Gives up the waiting deliveries of a disabled notifier, in parts: there may be many.
    /// Nobody sends them meanwhile.
    pub(super) async fn give_up_waiting(
        &self,
        id: NotifierId,
        why: &str,
        now: Millis,
    ) -> Result<()> {
        let answer = match why {
            "" => "not sent: the notifier was turned off".to_owned(),
            why => format!("not sent: the notifier was turned off ({why})"),
        };
        let sql = either!(
            self,
            sqlite: give_up!("id in (select unhex(value) from json_each($2))"),
            postgres: give_up!("id = any(cast(string_to_array($2, ',') as uuid[]))")
        );
        loop {
            let ids = self.waiting_for(id).await?;
            if ids.is_empty() {
                return Ok(());
            }
            let given_up = write!(self, |db| {
                sqlx::query(sql)
                    .bind(id.uuid())
                    .bind(self.id_list(&ids))
                    .bind(now.0)
                    .bind(answer.as_str())
                    .execute(db)
                    .await
                    .map(|done| done.rows_affected())
            })?;
            // None if it was turned on meanwhile.
            if given_up == 0 {
                return Ok(());
            }
        }
    }

    /// Some of the deliveries that wait for a notifier.
    async fn waiting_for(&self, id: NotifierId) -> Result<Vec<DeliveryId>> {
        let ids: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar(
                "select w.id
                 from (select d.id from deliveries d
                       where d.team_id = (select n.team_id from notifiers n where n.id = $1)
                       and d.notifier_id = $1 and d.state = 'waiting' and d.left_to is null
                       union all
                       select d.id from deliveries d
                       where d.notifier_id = $1 and d.state = 'waiting'
                       and d.left_to is not null) w
                 limit $2",
            )
            .bind(id.uuid())
            .bind(GIVE_UP_BATCH)
            .fetch_all(db)
            .await
        })?;
        Ok(ids.into_iter().map(DeliveryId::from).collect())
    }

    /// Gives up what still waits for notifiers that are disabled, because the process ended
    /// before it was all given up, or because it was written at the same moment.
    pub async fn give_up_for_disabled(&self, now: Millis) -> Result<()> {
        let disabled: Vec<(Uuid, String)> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select n.id, n.disabled_why
                 from notifiers n
                 where n.disabled_at is not null and n.team_id not in ",
                deleted_teams!(),
                " and exists (
                     select 1 from deliveries d
                     where d.team_id = n.team_id and d.notifier_id = n.id
                     and d.state = 'waiting' and d.left_to is null)"
            ))
            .fetch_all(db)
            .await
        })?;
        for (id, why) in disabled {
            self.give_up_waiting(id.into(), &why, now).await?;
        }
        Ok(())
    }
}
