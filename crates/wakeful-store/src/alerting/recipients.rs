//! The notifiers that a message is for: their rules, and the personal ones of users.

use std::collections::{HashMap, HashSet};
use uuid::Uuid;
use wakeful_core::id::{AlertId, NotifierId, TeamId, UserId};
use wakeful_core::notifications::message_rules::MessageRules;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::decisions::AlertDecision;
use super::due::id_list;
use crate::dialect::{Tx, either, read, within};
use crate::monitors::json;
use crate::{Result, Store};

impl Store {
    /// The notifiers that have reported these alerts, or are about to.
    pub async fn notified_of(
        &self,
        alerts: &[AlertId],
    ) -> Result<HashMap<AlertId, HashSet<NotifierId>>> {
        let mut found: HashMap<AlertId, HashSet<NotifierId>> = HashMap::new();
        if alerts.is_empty() {
            return Ok(found);
        }
        let sql = either!(
            self,
            sqlite: "select distinct d.alert_id, d.notifier_id
                 from json_each($1) r
                 join deliveries d on d.alert_id = unhex(r.value)
                 where d.kind in ('monitor.down', 'monitor.reminder', 'monitor.flapping',
                                  'monitor.degraded', 'alert.escalated')",
            postgres: "select distinct d.alert_id, d.notifier_id
                 from json_array_elements_text(cast($1 as json)) r
                 join deliveries d on d.alert_id = cast(r.value as uuid)
                 where d.kind in ('monitor.down', 'monitor.reminder', 'monitor.flapping',
                                  'monitor.degraded', 'alert.escalated')"
        );
        let rows: Vec<(Uuid, Uuid)> =
            read!(self, |db| sqlx::query_as(sql).bind(id_list(alerts)).fetch_all(db).await)?;
        for (alert, notifier) in rows {
            found.entry(alert.into()).or_default().insert(notifier.into());
        }
        Ok(found)
    }

    /// The rules of those of these notifiers that are enabled.
    pub(crate) async fn delivery_rules(
        &self,
        tx: &mut Tx,
        ids: &[NotifierId],
    ) -> Result<HashMap<NotifierId, MessageRules>> {
        let sql = either!(
            self,
            sqlite: "select id, events, min_severity, quiet from notifiers
                 where disabled_at is null
                 and id in (select unhex(value) from json_each($1))",
            postgres: "select id, events, min_severity, quiet from notifiers
                 where disabled_at is null and id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))"
        );
        let ids: Vec<String> = ids.iter().map(|id| id.uuid().simple().to_string()).collect();
        let rows: Vec<(Uuid, Option<String>, String, Option<String>)> =
            within!(*tx, |db| sqlx::query_as(sql).bind(json(&ids)).fetch_all(db).await)?;
        Ok(rows
            .into_iter()
            .map(|(id, events, min_severity, quiet)| {
                let rules =
                    MessageRules::stored(events.as_deref(), &min_severity, quiet.as_deref());
                (id.into(), rules)
            })
            .collect())
    }
}

/// The personal notifier of a user in a team, if it is enabled.
pub(super) async fn account_notifier(
    tx: &mut Tx,
    team: TeamId,
    user: UserId,
) -> Result<Option<NotifierId>> {
    let found: Option<Uuid> = within!(*tx, |db| {
        sqlx::query_scalar(
            "select id from notifiers
             where team_id = $1 and user_id = $2 and disabled_at is null",
        )
        .bind(team.uuid())
        .bind(user.uuid())
        .fetch_optional(db)
        .await
    })?;
    Ok(found.map(NotifierId::from))
}

/// The personal notifier of a member of a team. If it does not exist, it is created;
/// it is not listed until its user saves it.
pub(crate) async fn own_notifier(
    tx: &mut Tx,
    team: TeamId,
    user: UserId,
    now: Millis,
) -> Result<Option<NotifierId>> {
    let Digest(hash) = Digest::of(&format!("account notifier {team} {user}"));
    let mut random = [0; 10];
    random.copy_from_slice(&hash[..10]);
    within!(*tx, |db| {
        sqlx::query(
            "insert into notifiers
             (id, team_id, name, kind, config, disabled_why, isdefault, created, modified,
              user_id, implicit)
             select $1, m.team_id, u.email, 'account', '{}', '', false, $4, $4, u.id, true
             from members m
             join users u on u.id = m.user_id
             where m.team_id = $2 and m.user_id = $3
             and not exists (
                 select 1 from notifiers n where n.team_id = $2 and n.user_id = $3)
             on conflict do nothing",
        )
        .bind(NotifierId::new(now, random).uuid())
        .bind(team.uuid())
        .bind(user.uuid())
        .bind(now.0)
        .execute(db)
        .await?;
    });
    account_notifier(tx, team, user).await
}

/// A message that waits for the end of quiet hours: its id, when it would be sent without them,
/// the rules of its notifier, and its type.
type HeldRow = (Uuid, i64, Option<String>, String, Option<String>, String);

/// Messages that wait for the end of quiet hours are sent now if the alert has become urgent
/// enough to pass them, or after the delay that they have besides.
pub(super) async fn release_held(tx: &mut Tx, decision: &AlertDecision, now: Millis) -> Result<()> {
    let held: Vec<HeldRow> = within!(*tx, |db| {
        sqlx::query_as(
            "select d.id, d.held_from, n.events, n.min_severity, n.quiet, d.kind
             from deliveries d
             join notifiers n on n.id = d.notifier_id
             where d.alert_id = $1 and d.state = 'waiting' and d.attempts = 0 and d.next_try > $2
             and d.held_from is not null",
        )
        .bind(decision.alert.id.uuid())
        .bind(now.0)
        .fetch_all(db)
        .await
    })?;
    for (id, held_from, events, min_severity, quiet, kind) in held {
        let rules = MessageRules::stored(events.as_deref(), &min_severity, quiet.as_deref());
        let due = Millis(held_from).max(now);
        if rules.later_try(&kind, decision.severity, due) == Some(due) {
            within!(*tx, |db| {
                sqlx::query("update deliveries set next_try = $2, held_from = null where id = $1")
                    .bind(id)
                    .bind(due.0)
                    .execute(db)
                    .await?;
            });
        }
    }
    Ok(())
}
