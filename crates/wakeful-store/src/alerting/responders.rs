//! Everything that says who an escalation reaches: the policies and schedules of a team, its
//! members and their contact rules, and its notifiers. Read only for alerts that have a policy,
//! and for actions of users that address somebody.

use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::access::{MonitorFilter, Permission, Role};
use wakeful_core::audit::{Action, Object, ObjectKind, diff};
use wakeful_core::calendar::Span;
use wakeful_core::contacts::{self, ContactRule};
use wakeful_core::escalation::Policy;
use wakeful_core::id::{
    MonitorFilterId, MonitorId, NotifierId, PolicyId, ScheduleId, TeamId, UserId,
};
use wakeful_core::monitors::Tags;
use wakeful_core::notifications::message_rules::MessageRules;
use wakeful_core::notifications::notifier::Kind;
use wakeful_core::oncall::{OnCallSchedule, Override};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::policies::StoredPolicy;
use crate::accounts::{credentials, members};
use crate::audit::AuditContext;
use crate::dialect::{from_row, read, within};
use crate::monitors::json;
use crate::notifications::deliveries::optional_json;
use crate::{Authority, NewEntry, Result, Store, TeamStore};

/// Overrides that begin later do not matter for the next steps.
const OVERRIDES_AHEAD: Duration = Duration::from_secs(8 * 86_400);

/// Who can be notified in a team, and how.
#[derive(Clone, Debug, Default)]
pub struct Responders {
    pub policies: HashMap<PolicyId, Policy>,
    /// With the overrides of the next days.
    pub schedules: HashMap<ScheduleId, (OnCallSchedule, Vec<Override>)>,
    /// In the order of their ids.
    pub members: Vec<Responder>,
    pub notifiers: HashMap<NotifierId, RespondingNotifier>,
}

/// A person in the team who can be notified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Responder {
    pub user: UserId,
    /// The name, or else the address.
    pub name: String,
    pub is_verified: bool,
    pub is_suspended: bool,
    pub role: Role,
    /// The monitors that the member is limited to.
    pub filter: Option<MonitorFilter>,
    /// `None`: by email to the account, immediately.
    pub rules: Option<Vec<ContactRule>>,
}

impl Responder {
    /// Whether the member may see a monitor with these tags.
    pub fn may_see(&self, monitor: MonitorId, tags: &Tags) -> bool {
        self.role.permissions().contains(Permission::View)
            && self.filter.as_ref().is_none_or(|filter| filter.includes(monitor, tags))
    }
}

/// A person without the filter, which is read for all of them.
struct ResponderRow {
    responder: Responder,
    filter: Option<MonitorFilterId>,
}

/// A notifier of the team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RespondingNotifier {
    pub id: NotifierId,
    pub name: String,
    /// `None` if a later version has added it.
    pub kind: Option<Kind>,
    /// Whether its messages arrive: not without a browser, for type webpush.
    pub is_enabled: bool,
    /// The user of a notifier of type account.
    pub user: Option<UserId>,
    /// Whether it belongs to one user, and only contact rules can name it.
    pub is_personal: bool,
    /// Which messages it gets.
    pub rules: MessageRules,
}

/// A user's contact rules in a team.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredContacts {
    /// `None`: by email to the account, immediately.
    pub rules: Option<Vec<ContactRule>>,
    pub has_feed: bool,
}

from_row!(ResponderRow, |row| Self {
    responder: Responder {
        user: row.try_get::<Uuid, _>("id")?.into(),
        name: row.try_get("name")?,
        is_verified: row.try_get::<Option<i64>, _>("email_verified")?.is_some(),
        is_suspended: row.try_get::<Option<i64>, _>("suspended_at")?.is_some()
            || row.try_get::<Option<i64>, _>("account_suspended_at")?.is_some(),
        role: members::read_role(&row.try_get::<String, _>("role")?)?,
        filter: None,
        rules: optional_json(row.try_get("rules")?)?,
    },
    filter: row.try_get::<Option<Uuid>, _>("filter_id")?.map(MonitorFilterId::from),
});

from_row!(RespondingNotifier, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    name: row.try_get("name")?,
    kind: Kind::parse(row.try_get("kind")?).ok(),
    is_enabled: row.try_get::<Option<i64>, _>("disabled_at")?.is_none(),
    user: row.try_get::<Option<Uuid>, _>("user_id")?.map(UserId::from),
    is_personal: row.try_get::<Option<Uuid>, _>("owner_id")?.is_some(),
    rules: MessageRules::stored(
        row.try_get("events")?,
        row.try_get("min_severity")?,
        row.try_get("quiet")?
    ),
});

from_row!(StoredContacts, |row| Self {
    rules: optional_json(row.try_get("rules")?)?,
    has_feed: row.try_get::<Option<Vec<u8>>, _>("feed_digest")?.is_some(),
});

impl Store {
    /// Who can be notified in a team at a time.
    pub async fn responders(&self, team: TeamId, now: Millis) -> Result<Responders> {
        let policies: Vec<StoredPolicy> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select ",
                super::policies::policy_columns!(),
                " from policies where team_id = $1"
            ))
            .bind(team.uuid())
            .fetch_all(db)
            .await
        })?;
        let soon = Span { from: now, to: now.after(OVERRIDES_AHEAD) };
        let mut overrides = self.overrides_of(team, soon).await?;
        let schedules = self.schedules_of(team).await?.into_iter().map(|stored| {
            let id = stored.schedule.id;
            (id, (stored.schedule, overrides.remove(&id).unwrap_or_default()))
        });
        let schedules = schedules.collect();
        let notifiers: Vec<RespondingNotifier> = read!(self, |db| {
            sqlx::query_as(
                "select id, name, kind, user_id, owner_id, events, min_severity, quiet,
                        case when kind = 'webpush' and not exists (
                                 select 1 from push_subscriptions p
                                 where p.user_id = notifiers.owner_id)
                             then created else disabled_at end as disabled_at
                 from notifiers where team_id = $1",
            )
            .bind(team.uuid())
            .fetch_all(db)
            .await
        })?;
        Ok(Responders {
            policies: policies.into_iter().map(|one| (one.policy.id, one.policy)).collect(),
            schedules,
            members: self.people_to_notify(team).await?,
            notifiers: notifiers.into_iter().map(|one| (one.id, one)).collect(),
        })
    }

    async fn people_to_notify(&self, team: TeamId) -> Result<Vec<Responder>> {
        let rows: Vec<ResponderRow> = read!(self, |db| {
            sqlx::query_as(
                "select u.id, case when u.name = '' then u.email else u.name end as name,
                        u.email_verified, m.role, m.filter_id, m.suspended_at,
                        u.suspended_at as account_suspended_at, c.rules
                 from members m
                 join users u on u.id = m.user_id
                 left join contact_rules c on c.user_id = m.user_id and c.team_id = m.team_id
                 where m.team_id = $1 and u.kind = 'person'
                 order by u.id",
            )
            .bind(team.uuid())
            .fetch_all(db)
            .await
        })?;
        let filters = if rows.iter().any(|row| row.filter.is_some()) {
            self.monitor_filters_of(team).await?
        } else {
            HashMap::new()
        };
        // A filter that was replaced meanwhile matches nothing.
        let filter = |id: MonitorFilterId| {
            filters.get(&id).cloned().unwrap_or_else(|| MonitorFilter::Monitors(Vec::new()))
        };
        let responder = |ResponderRow { responder, filter: id }| Responder {
            filter: id.map(filter),
            ..responder
        };
        Ok(rows.into_iter().map(responder).collect())
    }
}

/// The contact rules of a user in one team.
#[derive(Clone, Debug)]
pub struct ContactsOfUser {
    pub team: TeamId,
    pub contacts: StoredContacts,
}

from_row!(ContactsOfUser, |row| Self {
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    contacts: sqlx::FromRow::from_row(row)?,
});

impl Store {
    /// How a user is notified, in each team with rules of their own.
    pub async fn contacts_of_user(&self, user: UserId) -> Result<Vec<ContactsOfUser>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select team_id, rules, feed_digest from contact_rules
                 where user_id = $1 and rules is not null
                 order by team_id",
            )
            .bind(user.uuid())
            .fetch_all(db)
            .await
        })?)
    }
}

impl TeamStore<'_> {
    /// Who can be notified in the team at a time.
    pub async fn responders(&self, now: Millis) -> Result<Responders> {
        self.store.responders(self.team, now).await
    }

    /// How a user is notified.
    pub async fn contacts(&self, user: UserId) -> Result<StoredContacts> {
        let found: Option<StoredContacts> = read!(self.store, |db| {
            sqlx::query_as(
                "select rules, feed_digest from contact_rules where user_id = $1 and team_id = $2",
            )
            .bind(user.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        Ok(found.unwrap_or_default())
    }

    /// Changes how a user is notified; `None` for the default.
    pub async fn save_contacts(
        &self,
        user: UserId,
        email: &str,
        before: Option<&[ContactRule]>,
        rules: Option<&[ContactRule]>,
        now: Millis,
        by: &AuditContext,
    ) -> Result<()> {
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            sqlx::query(
                "insert into contact_rules (user_id, team_id, rules, modified)
                 values ($1, $2, $3, $4)
                 on conflict (user_id, team_id) do update
                 set rules = excluded.rules, modified = excluded.modified",
            )
            .bind(user.uuid())
            .bind(self.team.uuid())
            .bind(rules.map(json))
            .bind(now.0)
            .execute(db)
            .await?;
        });
        let changes = diff(Some(&contacts::view(before)), Some(&contacts::view(rules)));
        let entry = NewEntry::new(Action::MemberContacts, object(user, email), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Gives the caller a new calendar feed. Fails with `StoreError::Gone` if the caller's
    /// credential is no longer valid.
    pub async fn set_contacts_feed(
        &self,
        caller: Authority<'_>,
        email: &str,
        digest: Digest,
        now: Millis,
        by: &AuditContext,
    ) -> Result<()> {
        let user = caller.user;
        let mut tx = self.begin().await?;
        credentials::confirm(&mut tx, caller).await?;
        within!(tx, |db| {
            sqlx::query(
                "insert into contact_rules (user_id, team_id, feed_digest, modified)
                 values ($1, $2, $3, $4)
                 on conflict (user_id, team_id) do update
                 set feed_digest = excluded.feed_digest, modified = excluded.modified",
            )
            .bind(user.uuid())
            .bind(self.team.uuid())
            .bind(&digest.0[..])
            .bind(now.0)
            .execute(db)
            .await?;
        });
        let entry = NewEntry::new(Action::MemberFeed, object(user, email), Vec::new());
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(())
    }
}

fn object(user: UserId, email: &str) -> Object {
    Object::new(ObjectKind::Person, &user, email)
}
