//! The administration of the installation: counts and states, never the monitors, targets or
//! messages of a team.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::id::{NotifierId, TeamId, UserId};
use wakeful_core::named_enum;
use wakeful_core::time::Millis;
use wakeful_engine::{
    AdminTeam, AdminUser, DatabaseSize, HealthFinding, InstallationCounts, ListedNode, Overview,
    QueueStatus, RegionView, Retried, StuckDeliveries,
};

use super::enums;
use super::fields::{Fields, FromFields};
use super::regions::ProbeBody;
use crate::app::EffectiveSetting;
use crate::query::NextCursor;

/// The longest name of a team, in characters.
const MAX_TEAM_NAME_LENGTH: usize = 100;

named_enum! {
    /// Where the value of a setting comes from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SettingSource {
        Default = "default",
        File = "file",
        Environment = "environment",
        Flag = "flag",
        /// Not set, and derived from other settings.
        Derived = "derived",
    }
}

/// The state of the installation.
#[derive(Serialize, ToSchema)]
pub(crate) struct AdminOverview {
    success: bool,
    /// The version of this node.
    version: &'static str,
    database: AdminDatabase,
    counts: AdminCounts,
    /// The nodes that share the database; empty for a single node on SQLite.
    nodes: Vec<AdminNode>,
    regions: Vec<AdminRegion>,
    /// The service's own mail.
    mail: AdminQueue,
    /// The notifications of all teams.
    deliveries: AdminQueue,
    /// `wakeful doctor` also reads the whole database.
    health: Vec<AdminFinding>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AdminDatabase {
    name: &'static str,
    bytes: i64,
    /// The largest first; empty for a large SQLite database, where `wakeful doctor` measures them.
    tables: Vec<AdminTable>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AdminTable {
    name: String,
    /// Including indexes.
    bytes: i64,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AdminCounts {
    teams: i64,
    suspended_teams: i64,
    users: i64,
    suspended_users: i64,
    admins: i64,
    monitors: i64,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AdminNode {
    name: String,
    version: String,
    /// Whether it has renewed its lease in time.
    live: bool,
    /// The shares of the monitors that it checks, of 1,024.
    slots: i64,
    #[schema(value_type = String, format = DateTime)]
    started: Millis,
}

/// A region with its live probes.
#[derive(Serialize, ToSchema)]
pub(crate) struct AdminRegion {
    region: String,
    probes: Vec<ProbeBody>,
}

/// What waits to be sent; counted up to 100,000.
#[derive(Serialize, ToSchema)]
pub(crate) struct AdminQueue {
    waiting: i64,
    /// Those that were tried before.
    failing: i64,
    /// When the oldest was created; null if none waits.
    #[schema(value_type = Option<String>, format = DateTime)]
    oldest: Option<Millis>,
}

/// Whether a part of the installation works.
#[derive(Serialize, ToSchema)]
pub(crate) struct AdminFinding {
    check: &'static str,
    ok: bool,
    message: String,
}

impl AdminOverview {
    pub(crate) fn of(overview: Overview) -> Self {
        let lease_time = overview.lease_time;
        Self {
            success: true,
            version: overview.version,
            database: AdminDatabase::of(overview.database, overview.size),
            counts: AdminCounts::of(overview.counts),
            nodes: overview.nodes.into_iter().map(|node| AdminNode::of(node, lease_time)).collect(),
            regions: overview.regions.iter().map(AdminRegion::of).collect(),
            mail: AdminQueue::of(overview.mail),
            deliveries: AdminQueue::of(overview.deliveries),
            health: overview.health.into_iter().map(AdminFinding::of).collect(),
        }
    }
}

impl AdminDatabase {
    fn of(name: &'static str, size: DatabaseSize) -> Self {
        let tables = size.tables.into_iter();
        let tables = tables.map(|table| AdminTable { name: table.name, bytes: table.bytes });
        Self { name, bytes: size.bytes, tables: tables.collect() }
    }
}

impl AdminCounts {
    fn of(counts: InstallationCounts) -> Self {
        let InstallationCounts { teams, suspended_teams, users, suspended_users, admins, monitors } =
            counts;
        Self { teams, suspended_teams, users, suspended_users, admins, monitors }
    }
}

impl AdminNode {
    fn of(listed: ListedNode, lease_time: Millis) -> Self {
        Self {
            name: listed.node.name,
            version: listed.node.version,
            live: listed.expires > lease_time,
            slots: listed.slots,
            started: listed.started,
        }
    }
}

impl AdminRegion {
    fn of(view: &RegionView) -> Self {
        let probes = view.probes.iter().map(ProbeBody::of).collect();
        Self { region: view.region.to_string(), probes }
    }
}

impl AdminQueue {
    fn of(QueueStatus { waiting, failing, oldest }: QueueStatus) -> Self {
        Self { waiting, failing, oldest }
    }
}

impl AdminFinding {
    fn of(HealthFinding { check, ok, message }: HealthFinding) -> Self {
        Self { check, ok, message }
    }
}

/// A page of the teams of the installation, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct AdminTeams {
    success: bool,
    teams: Vec<AdminTeamBody>,
    /// The cursor of the next page; null on the last page.
    next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = AdminTeam)]
pub(crate) struct AdminTeamBody {
    #[schema(value_type = String, format = Uuid)]
    groupid: TeamId,
    name: String,
    /// The id of the plan; null if the team has none.
    plan: Option<String>,
    /// How many people are in it.
    members: i64,
    monitors: i64,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    /// When one of its members was last seen; null if never.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_seen: Option<Millis>,
    /// Since when it is suspended; null if it is not.
    #[schema(value_type = Option<String>, format = DateTime)]
    suspended: Option<Millis>,
    /// Whether it has an owner who can act.
    has_owner: bool,
}

impl AdminTeams {
    pub(crate) fn of(teams: Vec<AdminTeam>, next: Option<TeamId>) -> Self {
        let teams = teams
            .into_iter()
            .map(|team| AdminTeamBody {
                groupid: team.team,
                name: team.name,
                plan: team.plan,
                members: team.members,
                monitors: team.monitors,
                created: team.created,
                last_seen: team.last_seen,
                suspended: team.suspended,
                has_owner: team.has_owner,
            })
            .collect();
        Self { success: true, teams, next_cursor: next.map(|id| id.to_string()) }
    }
}

/// A page of the people of the installation, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct AdminUsers {
    success: bool,
    users: Vec<AdminUserBody>,
    /// The cursor of the next page; null on the last page.
    next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = AdminUser)]
pub(crate) struct AdminUserBody {
    #[schema(value_type = String, format = Uuid)]
    userid: UserId,
    #[schema(format = Email)]
    email: String,
    name: String,
    teams: Vec<AdminMembership>,
    /// Whether logins require a second factor.
    mfa: bool,
    email_verified: bool,
    /// Whether the user administers the installation.
    admin: bool,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    /// When a session was last used, to the minute; null if never.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_seen: Option<Millis>,
    /// Since when the user is suspended; null if not.
    #[schema(value_type = Option<String>, format = DateTime)]
    suspended: Option<Millis>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AdminMembership {
    #[schema(value_type = String, format = Uuid)]
    groupid: TeamId,
    name: String,
    #[schema(value_type = enums::Role)]
    role: &'static str,
    /// Whether the user is suspended in the team.
    suspended: bool,
}

impl AdminUsers {
    pub(crate) fn of(users: Vec<AdminUser>, next: Option<UserId>) -> Self {
        let users = users.into_iter().map(AdminUserBody::of).collect();
        Self { success: true, users, next_cursor: next.map(|id| id.to_string()) }
    }
}

impl AdminUserBody {
    fn of(user: AdminUser) -> Self {
        let teams = user.teams.into_iter().map(|of_user| AdminMembership {
            groupid: of_user.team,
            name: of_user.name,
            role: of_user.role.as_str(),
            suspended: of_user.suspended,
        });
        Self {
            userid: user.user,
            email: user.email,
            name: user.name,
            teams: teams.collect(),
            mfa: user.mfa_enabled,
            email_verified: user.email_verified,
            admin: user.is_admin,
            created: user.created,
            last_seen: user.last_seen,
            suspended: user.suspended,
        }
    }
}

/// A page of the notifiers whose deliveries have waited for more than a minute.
#[derive(Serialize, ToSchema)]
pub(crate) struct AdminDeliveries {
    success: bool,
    deliveries: Vec<AdminStuck>,
    /// The cursor of the next page; null on the last page.
    next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AdminStuck {
    #[schema(value_type = String, format = Uuid)]
    groupid: TeamId,
    /// The team's name.
    groupname: String,
    #[schema(value_type = String, format = Uuid)]
    notifierid: NotifierId,
    /// The kind of the notifier.
    #[serde(rename = "type")]
    kind: String,
    /// How many deliveries wait.
    waiting: i64,
    #[schema(value_type = String, format = DateTime)]
    oldest: Millis,
    #[schema(value_type = String, format = DateTime)]
    next_try: Millis,
    /// Since when the notifier has done nothing but fail; null after a success.
    #[schema(value_type = Option<String>, format = DateTime)]
    failing_since: Option<Millis>,
}

impl AdminDeliveries {
    pub(crate) fn of(stuck: Vec<StuckDeliveries>, next: Option<(TeamId, NotifierId)>) -> Self {
        let deliveries = stuck
            .into_iter()
            .map(|one| AdminStuck {
                groupid: one.team,
                groupname: one.team_name,
                notifierid: one.notifier,
                kind: one.kind,
                waiting: one.waiting,
                oldest: one.oldest,
                next_try: one.next_try,
                failing_since: one.failing_since,
            })
            .collect();
        let next_cursor = next.map(|(team, notifier)| format!("{team}.{notifier}"));
        Self { success: true, deliveries, next_cursor }
    }

    /// The cursor of a page.
    pub(crate) fn cursor(text: &str) -> Option<(TeamId, NotifierId)> {
        let (team, notifier) = text.split_once('.')?;
        Some((TeamId::parse(team)?, NotifierId::parse(notifier)?))
    }
}

/// The effective settings, by key.
#[derive(Serialize, ToSchema)]
pub(crate) struct AdminSettings {
    success: bool,
    settings: Vec<AdminSetting>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AdminSetting {
    key: String,
    /// As in the settings file; a secret is `(set)`, or empty if it is not set.
    value: String,
    #[schema(value_type = enums::SettingSource)]
    source: &'static str,
    /// The file, the variable or the flag, or why it was derived; empty for a default.
    origin: String,
}

impl AdminSettings {
    pub(crate) fn of(settings: Vec<EffectiveSetting>, next_cursor: NextCursor) -> Self {
        let settings = settings.into_iter().map(|setting| AdminSetting {
            key: setting.key,
            value: setting.value,
            source: setting.source.as_str(),
            origin: setting.origin,
        });
        Self { success: true, settings: settings.collect(), next_cursor }
    }
}

/// A change to a user; what is omitted stays as it is.
#[derive(ToSchema)]
pub(crate) struct AdminUserChange {
    userid: String,
    /// Whether the user cannot sign in. Suspending ends all sessions.
    pub(crate) suspended: Option<bool>,
    /// Whether the user administers the installation.
    pub(crate) admin: Option<bool>,
}

impl FromFields for AdminUserChange {
    fn read(fields: &mut Fields) -> Option<Self> {
        let userid = fields.text("userid");
        let (suspended, admin) = (fields.optional_flag("suspended"), fields.optional_flag("admin"));
        Some(Self { userid: userid?, suspended, admin })
    }
}

impl AdminUserChange {
    /// `None` if the id is malformed, as for the others below.
    pub(crate) fn id(&self) -> Option<UserId> {
        UserId::parse(&self.userid)
    }
}

/// A user.
#[derive(ToSchema)]
pub(crate) struct AdminUserChoice {
    userid: String,
}

impl FromFields for AdminUserChoice {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { userid: fields.text("userid")? })
    }
}

impl AdminUserChoice {
    pub(crate) fn id(&self) -> Option<UserId> {
        UserId::parse(&self.userid)
    }
}

/// A change to a team.
#[derive(ToSchema)]
pub(crate) struct AdminTeamChange {
    groupid: String,
    /// Whether its checks are paused and its members can only read.
    pub(crate) suspended: bool,
}

impl FromFields for AdminTeamChange {
    fn read(fields: &mut Fields) -> Option<Self> {
        let groupid = fields.text("groupid");
        let suspended = fields.optional_flag("suspended");
        let suspended = fields.require("suspended", suspended);
        Some(Self { groupid: groupid?, suspended: suspended? })
    }
}

impl AdminTeamChange {
    pub(crate) fn id(&self) -> Option<TeamId> {
        TeamId::parse(&self.groupid)
    }
}

/// The new owner of a team.
#[derive(ToSchema)]
pub(crate) struct AdminTeamOwner {
    groupid: String,
    /// A member of the team.
    userid: String,
}

impl FromFields for AdminTeamOwner {
    fn read(fields: &mut Fields) -> Option<Self> {
        let (groupid, userid) = (fields.text("groupid"), fields.text("userid"));
        Some(Self { groupid: groupid?, userid: userid? })
    }
}

impl AdminTeamOwner {
    pub(crate) fn team(&self) -> Option<TeamId> {
        TeamId::parse(&self.groupid)
    }

    pub(crate) fn user(&self) -> Option<UserId> {
        UserId::parse(&self.userid)
    }
}

/// The team to delete.
#[derive(ToSchema)]
pub(crate) struct AdminTeamDeletion {
    groupid: String,
    /// Must be its name.
    #[schema(max_length = 100)]
    pub(crate) name: String,
}

impl FromFields for AdminTeamDeletion {
    fn read(fields: &mut Fields) -> Option<Self> {
        let groupid = fields.text("groupid");
        let name = fields.optional_short_text("name", MAX_TEAM_NAME_LENGTH);
        Some(Self { groupid: groupid?, name: name.unwrap_or_default() })
    }
}

impl AdminTeamDeletion {
    pub(crate) fn id(&self) -> Option<TeamId> {
        TeamId::parse(&self.groupid)
    }
}

/// What to retry: everything that waits, or the deliveries of a notifier.
#[derive(ToSchema)]
pub(crate) struct AdminRetry {
    notifierid: Option<String>,
}

impl FromFields for AdminRetry {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { notifierid: fields.optional_text("notifierid") })
    }
}

impl AdminRetry {
    /// The outer `None`: the id is malformed.
    pub(crate) fn notifier(&self) -> Option<Option<NotifierId>> {
        match &self.notifierid {
            None => Some(None),
            Some(text) => NotifierId::parse(text).map(Some),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AdminRetried {
    success: bool,
    /// How many mails of the service are due now.
    mails: u64,
    /// How many deliveries are due now.
    deliveries: u64,
    /// Whether there may be more: at most 1,000 of each become due in one call.
    more: bool,
}

impl AdminRetried {
    pub(crate) fn of(Retried { mails, deliveries, more }: Retried) -> Self {
        Self { success: true, mails, deliveries, more }
    }
}
