//! Deletes teams, monitors, notifiers, status pages and incidents in two steps, because a single
//! transaction for all their alerts, subscribers and deliveries would keep everybody else from
//! writing. First they are hidden: a team is marked as deleted, and the others are moved to a new
//! team that is. Nobody sees what is in such a team, and loops skip it. Then its rows are deleted
//! in parts, the team last: if that is interrupted, it continues with what is left.

use uuid::Uuid;
use wakeful_core::id::{NotifierId, TeamId, UserId};
use wakeful_core::time::Millis;

use crate::dialect::{Tx, either, read, within, write_lazily};
use crate::monitors::json;
use crate::{Result, Store, keyring};

/// The deliveries, or events of alerts, that one statement deletes.
const ROWS: i64 = 500;
/// The alerts, which have a few events each.
const ALERTS: i64 = 200;
/// The monitors, or notifiers, which have links, states and tags.
const OWNERS: i64 = 100;
/// The subscribers, which have a delivery for each update.
const SUBSCRIBERS: i64 = 200;
/// The incidents, which have up to 200 updates each, the components, which have up to 200
/// monitors each, or the pages without either.
const LARGE_OWNERS: i64 = 10;

/// The deleted teams, for `not in`.
macro_rules! deleted_teams {
    () => {
        "(select g.id from teams g where g.deleted_at is not null)"
    };
}

/// The deleted monitors, for `not in`. SQLite never reorders a cross join: there are few deleted
/// teams, and most of the time none.
macro_rules! deleted_monitors {
    () => {
        "(select gm.id from teams g cross join monitors gm
          where gm.team_id = g.id and g.deleted_at is not null)"
    };
}

/// The deleted status pages, for `not in`.
macro_rules! deleted_pages {
    () => {
        "(select gp.id from teams g cross join statuspages gp
          where gp.team_id = g.id and g.deleted_at is not null)"
    };
}
pub(crate) use {deleted_monitors, deleted_pages, deleted_teams};

/// A statement about the ids in $1.
macro_rules! by {
    ($store:expr, $start:literal, $end:literal) => {
        either!(
            $store,
            sqlite: concat!($start, "(select unhex(value) from json_each($1))", $end),
            postgres: concat!($start, "(
                select cast(value as uuid)
                from json_array_elements_text(cast($1 as json)))", $end)
        )
    };
}

/// What a table refers to, in `delete_by`.
#[derive(Clone, Copy)]
enum Key {
    Delivery,
    /// Events of these alerts.
    EventsOf,
    Alert,
    Monitor,
    LinksOf,
    Notifier,
    /// Deliveries to these subscribers.
    MessagesTo,
    Subscriber,
    /// Deliveries about these incidents.
    MessagesAbout,
    Incident,
    Component,
    Statuspage,
}

/// Marks a team as deleted and deletes what others could still notice: who is in it, what it
/// pays, and what its members subscribe to.
pub(crate) async fn hide_team(tx: &mut Tx, team: TeamId, now: Millis) -> Result<()> {
    within!(*tx, |db| {
        for sql in [
            "update teams
             set deleted_at = $2, suspended_at = coalesce(suspended_at, $2), resumed_at = null,
                 over_since = null, name = ''
             where id = $1",
            "update notifiers
             set disabled_at = coalesce(disabled_at, $2), isdefault = false, user_id = null,
                 owner_id = null
             where team_id = $1",
        ] {
            sqlx::query(sql).bind(team.uuid()).bind(now.0).execute(&mut *db).await?;
        }
        for sql in [
            "delete from users where team_id = $1 and kind = 'service'",
            "delete from invitations where team_id = $1",
            "delete from api_keys where team_id = $1",
            "delete from members where team_id = $1",
            "update sessions set team_id = null where team_id = $1",
            "delete from memberships where team_id = $1",
            "delete from payment_methods where team_id = $1",
            "delete from payment_customers where team_id = $1",
            "delete from contact_rules where team_id = $1",
            "delete from schedules where team_id = $1",
            "delete from routing where team_id = $1",
            "delete from maintenances where team_id = $1",
            "delete from incident_templates where team_id = $1",
            "delete from audit_streams where team_id = $1",
            "delete from audit_heads where id = $1",
            "insert into audit_graves (id) values ($1) on conflict do nothing",
        ] {
            sqlx::query(sql).bind(team.uuid()).execute(&mut *db).await?;
        }
    });
    hide_pages_of(tx, team, now).await
}

/// Ends what the status pages and incidents of a deleted team do: nobody is served or notified,
/// their addresses are free, and no loop or editor changes them.
pub(crate) async fn hide_pages_of(tx: &mut Tx, team: TeamId, now: Millis) -> Result<()> {
    within!(*tx, |db| {
        for sql in [
            "update statuspages set published = false, revision = revision + 1,
                 changed = changed + 1
             where team_id = $1",
            "delete from statuspage_slugs
             where page_id in (select id from statuspages where team_id = $1)",
            "delete from statuspage_domains
             where page_id in (select id from statuspages where team_id = $1)",
            "update incidents set next_at = null, revision = revision + 1 where team_id = $1",
        ] {
            sqlx::query(sql).bind(team.uuid()).execute(&mut *db).await?;
        }
        for sql in [
            "update statuspage_events set completed = $2
             where completed is null
             and page_id in (select id from statuspages where team_id = $1)",
            "update statuspage_events set completed = $2
             where completed is null
             and incident_id in (select id from incidents where team_id = $1)",
        ] {
            sqlx::query(sql).bind(team.uuid()).bind(now.0).execute(&mut *db).await?;
        }
    });
    Ok(())
}

/// A new team that is deleted, for what is deleted alone.
pub(crate) async fn hidden_team(tx: &mut Tx, now: Millis) -> Result<TeamId> {
    let mut random = [0; 10];
    keyring::fill(&mut random);
    let team = TeamId::new(now, random);
    within!(*tx, |db| {
        sqlx::query(
            "insert into teams (id, name, created, modified, suspended_at, deleted_at)
             values ($1, '', $2, $2, $2, $2)",
        )
        .bind(team.uuid())
        .bind(now.0)
        .execute(db)
        .await?;
    });
    Ok(team)
}

/// Hides a notifier of a team; false if the team has no such notifier.
pub(crate) async fn hide_notifier(
    tx: &mut Tx,
    team: TeamId,
    id: NotifierId,
    now: Millis,
) -> Result<bool> {
    let hidden = hidden_team(tx, now).await?;
    Ok(within!(*tx, |db| {
        sqlx::query(
            "update notifiers
             set team_id = $3, user_id = null, owner_id = null, isdefault = false,
                 disabled_at = coalesce(disabled_at, $4)
             where id = $1 and team_id = $2",
        )
        .bind(id.uuid())
        .bind(team.uuid())
        .bind(hidden.uuid())
        .bind(now.0)
        .execute(db)
        .await
        .map(|done| done.rows_affected() == 1)
    })?)
}

/// Hides the personal notifiers of a user in a team. They are not linked any more.
pub(crate) async fn hide_personal_notifiers(
    tx: &mut Tx,
    team: TeamId,
    user: UserId,
    now: Millis,
) -> Result<()> {
    let own: Vec<Uuid> = within!(*tx, |db| {
        sqlx::query_scalar(
            "select id from notifiers where team_id = $1 and (user_id = $2 or owner_id = $2)",
        )
        .bind(team.uuid())
        .bind(user.uuid())
        .fetch_all(db)
        .await
    })?;
    for id in own {
        hide_notifier(tx, team, id.into(), now).await?;
    }
    Ok(())
}

impl Store {
    /// Deletes a part of what is in deleted teams; false if nothing is left.
    pub async fn delete_part(&self) -> Result<bool> {
        let team: Option<Uuid> = read!(self, |db| {
            sqlx::query_scalar(
                "select id from teams where deleted_at is not null order by id limit 1",
            )
            .fetch_optional(db)
            .await
        })?;
        match team {
            Some(team) => self.delete_part_of(team).await,
            None => Ok(false),
        }
    }

    /// The same for what was deleted at that time only.
    pub async fn delete_part_at(&self, at: Millis) -> Result<bool> {
        let team: Option<Uuid> = read!(self, |db| {
            sqlx::query_scalar("select id from teams where deleted_at = $1 order by id limit 1")
                .bind(at.0)
                .fetch_optional(db)
                .await
        })?;
        match team {
            Some(team) => self.delete_part_of(team).await,
            None => Ok(false),
        }
    }

    /// Deletes a part of what is in a deleted team, the team last.
    async fn delete_part_of(&self, team: Uuid) -> Result<bool> {
        let of_team = "select id from deliveries where team_id = $1 limit $2";
        if self.delete_found(Key::Delivery, of_team, team, ROWS).await? {
            return Ok(true);
        }
        let of_team = "select id from alerts where team_id = $1 limit $2";
        if self.delete_alerts(of_team, team).await? || self.delete_monitors_of(team).await? {
            return Ok(true);
        }
        if self.delete_notifiers_of(team).await? || self.delete_pages_of(team).await? {
            return Ok(true);
        }
        // Whatever else it has is little, and deleted with it.
        write_lazily!(self, |db| {
            sqlx::query("delete from teams where id = $1 and deleted_at is not null")
                .bind(team)
                .execute(db)
                .await
                .map(drop)
        })?;
        Ok(true)
    }

    /// Deletes the first monitors of a team, or a part of what they have. Alerts and deliveries
    /// of a monitor that was deleted alone are still those of its former team.
    async fn delete_monitors_of(&self, team: Uuid) -> Result<bool> {
        let deliveries = "select d.id
             from (select id from monitors where team_id = $1 order by id limit 100) m
             cross join deliveries d
             where d.monitor_id = m.id
             limit $2";
        if self.delete_found(Key::Delivery, deliveries, team, ROWS).await? {
            return Ok(true);
        }
        let alerts = "select a.id
             from (select id from monitors where team_id = $1 order by id limit 100) m
             cross join alerts a
             where a.monitor_id = m.id
             limit $2";
        if self.delete_alerts(alerts, team).await? {
            return Ok(true);
        }
        let monitors = "select id from monitors where team_id = $1 order by id limit $2";
        self.delete_found(Key::Monitor, monitors, team, OWNERS).await
    }

    async fn delete_notifiers_of(&self, team: Uuid) -> Result<bool> {
        let deliveries = "select d.id
             from (select id from notifiers where team_id = $1 order by id limit 100) n
             cross join deliveries d
             where d.notifier_id = n.id
             limit $2";
        if self.delete_found(Key::Delivery, deliveries, team, ROWS).await? {
            return Ok(true);
        }
        let notifiers = "select id from notifiers where team_id = $1 order by id limit $2";
        let ids = self.found(notifiers, team, OWNERS).await?;
        // Links from monitors that are deleted, too, but not yet.
        self.delete_by(Key::LinksOf, &ids).await?;
        Ok(self.delete_by(Key::Notifier, &ids).await? > 0)
    }

    /// Deletes a part of the status pages and incidents of a team: first the subscribers of the
    /// pages with their deliveries, then incidents, components and the pages.
    async fn delete_pages_of(&self, team: Uuid) -> Result<bool> {
        let subscribers = "select s.id
             from statuspages p cross join subscribers s
             where p.team_id = $1 and s.page_id = p.id
             limit $2";
        let ids = self.found(subscribers, team, SUBSCRIBERS).await?;
        if self.delete_after(Key::MessagesTo, Key::Subscriber, &ids).await? {
            return Ok(true);
        }
        // An incident may have been shown on a page that remains, with its own subscribers.
        let incidents = "select id from incidents where team_id = $1 order by id limit $2";
        let ids = self.found(incidents, team, LARGE_OWNERS).await?;
        if self.delete_after(Key::MessagesAbout, Key::Incident, &ids).await? {
            return Ok(true);
        }
        let components = "select c.id
             from statuspages p cross join components c
             where p.team_id = $1 and c.page_id = p.id
             limit $2";
        if self.delete_found(Key::Component, components, team, LARGE_OWNERS).await? {
            return Ok(true);
        }
        let pages = "select id from statuspages where team_id = $1 order by id limit $2";
        self.delete_found(Key::Statuspage, pages, team, LARGE_OWNERS).await
    }

    /// Deletes rows that others refer to, or some of those if there are many.
    async fn delete_after(&self, many: Key, key: Key, ids: &[Uuid]) -> Result<bool> {
        if self.delete_by(many, ids).await? < ROWS.cast_unsigned() {
            self.delete_by(key, ids).await?;
        }
        Ok(!ids.is_empty())
    }

    /// Deletes some alerts, or some of their events if they have many.
    async fn delete_alerts(&self, select: &'static str, team: Uuid) -> Result<bool> {
        let ids = self.found(select, team, ALERTS).await?;
        self.delete_after(Key::EventsOf, Key::Alert, &ids).await
    }

    async fn delete_found(
        &self,
        key: Key,
        select: &'static str,
        team: Uuid,
        limit: i64,
    ) -> Result<bool> {
        let ids = self.found(select, team, limit).await?;
        self.delete_by(key, &ids).await?;
        Ok(!ids.is_empty())
    }

    /// Read apart from the deletion, so that the search keeps nobody from writing.
    async fn found(&self, select: &'static str, team: Uuid, limit: i64) -> Result<Vec<Uuid>> {
        Ok(read!(self, |db| {
            sqlx::query_scalar(select).bind(team).bind(limit).fetch_all(db).await
        })?)
    }

    /// If a power failure undoes it, it is repeated.
    async fn delete_by(&self, key: Key, ids: &[Uuid]) -> Result<u64> {
        if ids.is_empty() {
            return Ok(0);
        }
        let sql = match key {
            Key::Delivery => by!(self, "delete from deliveries where id in ", ""),
            Key::EventsOf => by!(
                self,
                "delete from alert_events where id in (
                     select id from alert_events where alert_id in ",
                " limit 500)"
            ),
            Key::Alert => by!(self, "delete from alerts where id in ", ""),
            Key::Monitor => by!(self, "delete from monitors where id in ", ""),
            Key::LinksOf => by!(self, "delete from monitor_notifiers where notifier_id in ", ""),
            Key::Notifier => by!(self, "delete from notifiers where id in ", ""),
            Key::MessagesTo => by!(
                self,
                "delete from statuspage_deliveries where (subscriber_id, event_id) in (
                     select subscriber_id, event_id from statuspage_deliveries
                     where subscriber_id in ",
                " limit 500)"
            ),
            Key::Subscriber => by!(self, "delete from subscribers where id in ", ""),
            Key::MessagesAbout => by!(
                self,
                "delete from statuspage_deliveries where (subscriber_id, event_id) in (
                     select d.subscriber_id, d.event_id
                     from statuspage_events e
                     join statuspage_deliveries d on d.event_id = e.id
                     where e.incident_id in ",
                " limit 500)"
            ),
            Key::Incident => by!(self, "delete from incidents where id in ", ""),
            Key::Component => by!(self, "delete from components where id in ", ""),
            Key::Statuspage => by!(self, "delete from statuspages where id in ", ""),
        };
        let ids: Vec<String> = ids.iter().map(|id| id.simple().to_string()).collect();
        Ok(write_lazily!(self, |db| {
            sqlx::query(sql).bind(json(&ids)).execute(db).await.map(|done| done.rows_affected())
        })?)
    }
}
