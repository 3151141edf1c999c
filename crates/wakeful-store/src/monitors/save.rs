//! Saves the settings of a monitor in one transaction with its links. Its state is
//! not touched.

use uuid::Uuid;
use wakeful_core::audit::{Action, Audited as _, Object, ObjectKind, diff};
use wakeful_core::cluster::slot::Slot;
use wakeful_core::evidence::EvidenceLevel;
use wakeful_core::id::{MonitorId, NotifierId, PolicyId, TeamId};
use wakeful_core::monitors::{Monitor, Spec};
use wakeful_core::push::Slug;

use super::row::Sealed;
use super::{SaveOutcome, json, resend_interval, to_seconds};
use crate::accounts::team::lock_team;
use crate::alerting::policies::has_policy;
use crate::alerting::reschedule::{decide_again, reschedule_reminders};
use crate::dialect::{Tx, either, from_row, within};
use crate::{AuditContext, NewEntry, Result, StoredMonitor, TeamStore};

/// The memory that the long request bodies and headers of a team's monitors may use: active
/// monitors keep them.
pub const MAX_LONG_REQUEST_BYTES: usize = 16 << 20;
/// A request up to this length counts as short. The index `monitors_long_requests` has the
/// same number.
const SHORT_REQUEST_BYTES: usize = 16_384;

/// Binds the settings as $1 to $32 of both statements.
macro_rules! with_settings {
    ($statement:expr, $team:expr, $monitor:expr, $sealed:expr) => {
        $statement
            .bind($monitor.id.uuid())
            .bind($team.uuid())
            .bind($monitor.name.as_str())
            .bind($monitor.spec.kind().as_str())
            .bind($sealed.spec.as_str())
            .bind($sealed.secret.as_deref())
            .bind($monitor.isactive)
            .bind(i64::from($monitor.heartbeat_interval.seconds()))
            .bind($monitor.timeout.map(to_seconds))
            .bind($monitor.retry_interval.map(to_seconds))
            .bind(i64::from($monitor.retries))
            .bind($monitor.upside_down_mode)
            .bind(json(&$monitor.tags))
            .bind(search_text($monitor))
            .bind($sealed.push_digest())
            .bind($sealed.push_token.as_deref())
            .bind($monitor.modified.0)
            .bind(resend_interval($monitor))
            .bind(json(&$monitor.regions))
            .bind($monitor.quorum.to_string())
            .bind($monitor.severity.as_str())
            .bind(i64::from($monitor.flapping.outages))
            .bind(to_seconds($monitor.flapping.within))
            .bind($monitor.policy.map(PolicyId::uuid))
            .bind(Some(&$monitor.assertions).filter(|all| !all.is_empty()).map(json))
            .bind(evidence($monitor))
            .bind($monitor.degraded.as_deref().map(json))
            .bind($monitor.slo.as_ref().map(json))
            .bind(slug($monitor))
            .bind($sealed.ping_digest())
            .bind($sealed.ping_uuid.as_deref())
            .bind(Some($monitor.description.as_str()).filter(|text| !text.is_empty()))
    };
}

/// The settings before a change that other rows depend on.
struct SavedSettings {
    resend_interval: i64,
    isactive: bool,
    spec: String,
    policy: Option<Uuid>,
}

from_row!(SavedSettings, |row| Self {
    resend_interval: row.try_get("resend_interval")?,
    isactive: row.try_get("isactive")?,
    spec: row.try_get("spec")?,
    policy: row.try_get("policy_id")?,
});

impl TeamStore<'_> {
    /// Adds a monitor. Fails with `StoreError::Gone` if the team has been deleted.
    pub async fn add_monitor(&self, monitor: &Monitor, by: &AuditContext) -> Result<SaveOutcome> {
        self.add_monitor_with_limit(monitor, None, by).await
    }

    /// Like `add_monitor`, unless the team already has `limit` active monitors.
    pub async fn add_monitor_with_limit(
        &self,
        monitor: &Monitor,
        limit: Option<u32>,
        by: &AuditContext,
    ) -> Result<SaveOutcome> {
        let sealed = Sealed::of(&self.store.keyring, monitor);
        let mut tx = self.begin().await?;
        if is_too_long(&mut tx, self.team, monitor, &sealed).await? {
            return Ok(SaveOutcome::TooLong);
        }
        if let Some(policy) = monitor.policy
            && !has_policy(&mut tx, self.team, policy).await?
        {
            return Ok(SaveOutcome::UnknownPolicy);
        }
        let limit = limit.filter(|_| monitor.isactive);
        if limit.is_some() || links_monitors(monitor) {
            lock_team(&mut tx, self.team, monitor.modified).await?;
        }
        if let Some(limit) = limit
            && is_full(&mut tx, self.team, limit).await?
        {
            return Ok(SaveOutcome::LimitReached);
        }
        within!(tx, |db| {
            let insert = sqlx::query(
                "insert into monitors
                 (id, team_id, name, kind, spec, secret, isactive, heartbeat_interval, timeout,
                  retry_interval, retries, upside_down_mode, tags, search, push_digest,
                  push_token, modified, resend_interval, regions, quorum, severity, flap_outages,
                  flap_within, policy_id, assertions, evidence, degraded, slo, slug, ping_digest,
                  ping_uuid, description, created, slot)
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
                         $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30,
                         $31, $32, $33, $34)",
            );
            with_settings!(insert, self.team, monitor, sealed)
                .bind(monitor.created.0)
                .bind(i64::from(Slot::of(monitor.id).number()))
                .execute(&mut *db)
                .await?;
            sqlx::query("insert into monitor_states (monitor_id) values ($1)")
                .bind(monitor.id.uuid())
                .execute(db)
                .await?;
        });
        let unknown = self.link_notifiers(&mut tx, monitor).await?;
        if !unknown.is_empty() {
            return Ok(SaveOutcome::UnknownNotifiers(unknown));
        }
        if !monitor.depends_on.is_empty() {
            let saved = self.save_dependencies(&mut tx, monitor).await?;
            if saved != SaveOutcome::Done {
                return Ok(saved);
            }
        }
        let checked = self.check_members(&mut tx, monitor, None).await?;
        if checked != SaveOutcome::Done {
            return Ok(checked);
        }
        self.store.look_at_maintenance(&mut tx, self.team, monitor.modified).await?;
        let changes = diff(None, Some(&monitor.view()));
        let entry = NewEntry::new(Action::MonitorCreate, object(monitor), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(SaveOutcome::Done)
    }

    /// Changes the settings of a monitor, but not its state. `before` is the monitor as it was
    /// read, so that later changes by others are not overwritten.
    pub async fn change_monitor(
        &self,
        before: &StoredMonitor,
        monitor: &Monitor,
        by: &AuditContext,
    ) -> Result<SaveOutcome> {
        self.change_monitor_with_limit(before, monitor, None, by).await
    }

    /// Like `change_monitor`, unless it would become active in addition to `limit`
    /// others.
    pub async fn change_monitor_with_limit(
        &self,
        read: &StoredMonitor,
        monitor: &Monitor,
        limit: Option<u32>,
        by: &AuditContext,
    ) -> Result<SaveOutcome> {
        let sealed = Sealed::of(&self.store.keyring, monitor);
        let mut tx = self.begin().await?;
        if is_too_long(&mut tx, self.team, monitor, &sealed).await? {
            return Ok(SaveOutcome::TooLong);
        }
        if let Some(policy) = monitor.policy
            && !has_policy(&mut tx, self.team, policy).await?
        {
            return Ok(SaveOutcome::UnknownPolicy);
        }
        let limit = limit.filter(|_| monitor.isactive);
        let depends_on_changed = read.monitor.depends_on != monitor.depends_on;
        let members_changed = monitor.spec.group().is_some() && read.monitor.spec != monitor.spec;
        if limit.is_some() || depends_on_changed || members_changed {
            // Locked before the reads below, so that their results stay valid.
            lock_team(&mut tx, self.team, monitor.modified).await?;
        }
        let before = saved_settings(&mut tx, self.team, monitor.id).await?;
        if let Some(limit) = limit
            && before.as_ref().is_some_and(|before| !before.isactive)
            && is_full(&mut tx, self.team, limit).await?
        {
            return Ok(SaveOutcome::LimitReached);
        }
        let updated = within!(tx, |db| {
            let update = sqlx::query(
                "update monitors
                 set name = $3, kind = $4, spec = $5, secret = $6, isactive = $7,
                     heartbeat_interval = $8, timeout = $9, retry_interval = $10, retries = $11,
                     upside_down_mode = $12, tags = $13, search = $14, push_digest = $15,
                     push_token = $16, modified = $17, resend_interval = $18, regions = $19,
                     quorum = $20, severity = $21, flap_outages = $22, flap_within = $23,
                     policy_id = $24, assertions = $25, evidence = $26, degraded = $27, slo = $28,
                     slug = $29, ping_digest = $30, ping_uuid = $31, description = $32,
                     revision = revision + 1
                 where id = $1 and team_id = $2 and revision = $33",
            );
            with_settings!(update, self.team, monitor, sealed)
                .bind(read.revision)
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        let Some(before) = before else { return Ok(SaveOutcome::NotFound) };
        if !updated {
            return Ok(SaveOutcome::Conflict);
        }
        if depends_on_changed || members_changed {
            // Before any alert is locked, as changes of windows do.
            self.store.look_at_maintenance(&mut tx, self.team, monitor.modified).await?;
        }
        if before.resend_interval != resend_interval(monitor) || before.isactive != monitor.isactive
        {
            reschedule_reminders(&mut tx, monitor).await?;
        } else if before.policy != monitor.policy.map(PolicyId::uuid) {
            decide_again(&mut tx, monitor).await?;
        }
        let rest = if before.isactive == monitor.isactive {
            None
        } else {
            self.store.wake_dependents(&mut tx, &[monitor.id], monitor.modified).await?
        };
        if before.spec != sealed.spec {
            // The certificate may belong to another target.
            delete_certificate(&mut tx, monitor.id).await?;
        }
        unlink_notifiers(&mut tx, monitor.id).await?;
        let unknown = self.link_notifiers(&mut tx, monitor).await?;
        if !unknown.is_empty() {
            return Ok(SaveOutcome::UnknownNotifiers(unknown));
        }
        if depends_on_changed {
            let saved = self.save_dependencies(&mut tx, monitor).await?;
            if saved != SaveOutcome::Done {
                return Ok(saved);
            }
        }
        if depends_on_changed || read.monitor.flapping != monitor.flapping {
            make_alerts_due(&mut tx, monitor).await?;
        }
        let checked = self.check_members(&mut tx, monitor, Some(&read.monitor.spec)).await?;
        if checked != SaveOutcome::Done {
            return Ok(checked);
        }
        let changes = diff(Some(&read.monitor.view()), Some(&monitor.view()));
        let entry = NewEntry::new(Action::MonitorUpdate, object(monitor), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        self.store.wake_rest(rest.as_slice()).await;
        Ok(SaveOutcome::Done)
    }
}

/// How much evidence is stored; null for all of it.
fn evidence(monitor: &Monitor) -> Option<&'static str> {
    let level = Some(monitor.evidence).filter(|level| *level != EvidenceLevel::default());
    level.map(EvidenceLevel::as_str)
}

/// The name of an api monitor in ping URLs, which is unique in its team.
fn slug(monitor: &Monitor) -> Option<&str> {
    match &monitor.spec {
        Spec::Api(api) => api.slug.as_ref().map(Slug::as_str),
        _ => None,
    }
}

/// Whether it depends on others, or contains them.
fn links_monitors(monitor: &Monitor) -> bool {
    !monitor.depends_on.is_empty() || monitor.spec.group().is_some()
}

/// The alert processor decides again about the open alerts of a monitor, whose dependencies or
/// limit on flapping have changed.
async fn make_alerts_due(tx: &mut Tx, monitor: &Monitor) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "update alerts
             set due = $2, revision = revision + 1
             where monitor_id = $1 and ended is null and (due is null or due > $2)",
        )
        .bind(monitor.id.uuid())
        .bind(monitor.modified.0)
        .execute(db)
        .await?;
    });
    Ok(())
}

fn object(monitor: &Monitor) -> Object {
    Object::new(ObjectKind::Monitor, &monitor.id, monitor.name.as_str())
}

fn search_text(monitor: &Monitor) -> String {
    let tags: Vec<&str> = monitor.tags.iter().collect();
    format!("{}\n{}\n{}", monitor.name, monitor.spec.target(), tags.join("\n")).to_lowercase()
}

/// Whether the monitor would bring its team's long requests above the limit. One that does not
/// become longer is never refused.
async fn is_too_long(
    tx: &mut Tx,
    team: TeamId,
    monitor: &Monitor,
    sealed: &Sealed,
) -> Result<bool> {
    let bytes = sealed.secret.as_ref().map_or(0, Vec::len);
    if bytes <= SHORT_REQUEST_BYTES {
        return Ok(false);
    }
    // Locked before the sum, so that it stays valid.
    lock_team(tx, team, monitor.modified).await?;
    let (before, others): (i64, i64) = within!(*tx, |db| {
        sqlx::query_as(
            "select coalesce(sum(case when id = $2 then length(secret) end), 0),
                    coalesce(sum(case when id <> $2 then length(secret) end), 0)
             from monitors
             where team_id = $1 and length(secret) > 16384",
        )
        .bind(team.uuid())
        .bind(monitor.id.uuid())
        .fetch_one(db)
        .await
    })?;
    let bytes = bytes as i64;
    Ok(bytes > before && others + bytes > MAX_LONG_REQUEST_BYTES as i64)
}

/// Whether a team has `limit` active monitors, in a transaction that has locked it.
async fn is_full(tx: &mut Tx, team: TeamId, limit: u32) -> Result<bool> {
    Ok(active_monitors(tx, team).await? >= i64::from(limit))
}

pub(super) const COUNT_ACTIVE: &str =
    "select count(*) from monitors where team_id = $1 and isactive";

pub(super) async fn active_monitors(tx: &mut Tx, team: TeamId) -> Result<i64> {
    Ok(within!(*tx, |db| {
        sqlx::query_scalar(COUNT_ACTIVE).bind(team.uuid()).fetch_one(db).await
    })?)
}

async fn saved_settings(tx: &mut Tx, team: TeamId, id: MonitorId) -> Result<Option<SavedSettings>> {
    Ok(within!(*tx, |db| {
        sqlx::query_as(
            "select resend_interval, isactive, spec, policy_id from monitors
             where id = $1 and team_id = $2",
        )
        .bind(id.uuid())
        .bind(team.uuid())
        .fetch_optional(db)
        .await
    })?)
}

async fn delete_certificate(tx: &mut Tx, id: MonitorId) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query("delete from certificates where monitor_id = $1")
            .bind(id.uuid())
            .execute(db)
            .await?;
    });
    Ok(())
}

async fn unlink_notifiers(tx: &mut Tx, id: MonitorId) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query("delete from monitor_notifiers where monitor_id = $1")
            .bind(id.uuid())
            .execute(db)
            .await?;
    });
    Ok(())
}

impl TeamStore<'_> {
    /// Links a monitor to its notifiers, in order; returns those the team does not have. On
    /// PostgreSQL, one that is being deleted is waited for, and then unknown.
    async fn link_notifiers(&self, tx: &mut Tx, monitor: &Monitor) -> Result<Vec<NotifierId>> {
        let sql = either!(
            self.store,
            sqlite: "insert into monitor_notifiers (monitor_id, notifier_id, position)
                 select $1, id, $3 from notifiers
                 where id = $2 and team_id = $4 and owner_id is null
                 on conflict do nothing",
            postgres: "insert into monitor_notifiers (monitor_id, notifier_id, position)
                 select $1, id, $3 from notifiers
                 where id = $2 and team_id = $4 and owner_id is null
                 for key share
                 on conflict do nothing"
        );
        let mut unknown = Vec::new();
        within!(*tx, |db| {
            for (position, notifier) in (0_i64..).zip(&monitor.notifiers) {
                let done = sqlx::query(sql)
                    .bind(monitor.id.uuid())
                    .bind(notifier.uuid())
                    .bind(position)
                    .bind(self.team.uuid())
                    .execute(&mut *db)
                    .await?;
                if done.rows_affected() == 0 {
                    unknown.push(*notifier);
                }
            }
        });
        Ok(unknown)
    }
}
