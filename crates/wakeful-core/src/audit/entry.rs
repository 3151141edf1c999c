//! An entry of the audit log. What identifies a person is kept apart, with a salt, so that it
//! can be erased while the hash of the entry remains valid.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::chain::Hash;
use super::diff::{Change, shorten};
use crate::id::TeamId;
use crate::named_enum;
use crate::time::Millis;

/// Texts in an entry are cut off after this many bytes.
pub(super) const MAX_TEXT_BYTES: usize = 1024;

named_enum! {
    /// Who has changed something.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ActorKind {
        Person = "person",
        Service = "service",
        /// At the command line.
        Operator = "operator",
        System = "system",
    }
}

named_enum! {
    /// What was changed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ObjectKind {
        Monitor = "monitor",
        /// Several monitors in one call.
        Monitors = "monitors",
        Notifier = "notifier",
        /// A browser that receives push messages.
        Browser = "browser",
        Alert = "alert",
        /// Several alerts in one call.
        Alerts = "alerts",
        /// A maintenance window.
        Maintenance = "maintenance",
        /// An escalation policy.
        Policy = "policy",
        /// An on-call schedule.
        Schedule = "schedule",
        /// The routing rules of the team.
        Routing = "routing",
        /// A status page.
        Statuspage = "statuspage",
        /// A recipient of the updates of a status page.
        Subscriber = "subscriber",
        /// An incident or a maintenance of status pages.
        Incident = "incident",
        /// A template for incidents.
        Template = "incidenttemplate",
        Person = "person",
        Invitation = "invitation",
        Service = "service",
        Key = "key",
        Session = "session",
        Card = "card",
        Plan = "plan",
        Team = "team",
        /// A webhook that receives the audit log.
        Stream = "stream",
        Installation = "installation",
    }
}

impl ObjectKind {
    /// The name and the changes of these identify a person.
    pub const PERSONAL: [Self; 2] = [Self::Person, Self::Invitation];
}

named_enum! {
    /// What was done: `thing.verb`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Action {
        MonitorCreate = "monitor.create",
        MonitorUpdate = "monitor.update",
        MonitorDelete = "monitor.delete",
        NotifierCreate = "notifier.create",
        NotifierUpdate = "notifier.update",
        NotifierDelete = "notifier.delete",
        /// A browser receives push messages from now on.
        WebpushSubscribe = "webpush.subscribe",
        WebpushDelete = "webpush.delete",
        AlertAcknowledge = "alert.acknowledge",
        AlertUnacknowledge = "alert.unacknowledge",
        AlertSnooze = "alert.snooze",
        AlertAssign = "alert.assign",
        AlertComment = "alert.comment",
        AlertSeverity = "alert.severity",
        AlertResolve = "alert.resolve",
        MaintenanceCreate = "maintenance.create",
        MaintenanceUpdate = "maintenance.update",
        /// The running occurrence was ended early.
        MaintenanceEnd = "maintenance.end",
        /// The running occurrence was extended.
        MaintenanceExtend = "maintenance.extend",
        MaintenanceDelete = "maintenance.delete",
        PolicyCreate = "policy.create",
        PolicyUpdate = "policy.update",
        PolicyDelete = "policy.delete",
        ScheduleCreate = "schedule.create",
        ScheduleUpdate = "schedule.update",
        ScheduleDelete = "schedule.delete",
        /// Somebody takes over for a while, or no longer.
        ScheduleOverride = "schedule.override",
        /// A new URL of the calendar feed.
        ScheduleFeed = "schedule.feed",
        RoutingUpdate = "routing.update",
        StatuspageCreate = "statuspage.create",
        /// The settings, the components or an image.
        StatuspageUpdate = "statuspage.update",
        StatuspageDelete = "statuspage.delete",
        /// A user has set the status of a component.
        StatuspageComponent = "statuspage.component",
        IncidentCreate = "incident.create",
        /// The incident itself.
        IncidentUpdate = "incident.update",
        /// An update was posted, changed or deleted.
        IncidentPost = "incident.post",
        IncidentPublish = "incident.publish",
        IncidentPostmortem = "incident.postmortem",
        IncidentDelete = "incident.delete",
        /// Failed messages to subscribers are sent again.
        IncidentResend = "incident.resend",
        SubscriberCreate = "subscriber.create",
        SubscriberUpdate = "subscriber.update",
        SubscriberDelete = "subscriber.delete",
        SubscriberImport = "subscriber.import",
        TemplateCreate = "incidenttemplate.create",
        TemplateUpdate = "incidenttemplate.update",
        TemplateDelete = "incidenttemplate.delete",
        MemberInvite = "member.invite",
        /// An invitation that was not accepted.
        MemberUninvite = "member.uninvite",
        MemberJoin = "member.join",
        /// The email address or the password.
        MemberUpdate = "member.update",
        /// The role, or the monitors that the member is limited to.
        MemberRole = "member.role",
        MemberSuspend = "member.suspend",
        /// All sessions and API keys of the member.
        MemberRevoke = "member.revoke",
        MemberRemove = "member.remove",
        MemberLeave = "member.leave",
        MemberVerify = "member.verify",
        /// How the member is notified.
        MemberContacts = "member.contacts",
        /// A new URL of the member's calendar feed.
        MemberFeed = "member.feed",
        ServiceCreate = "service.create",
        ServiceUpdate = "service.update",
        ServiceDelete = "service.delete",
        KeyCreate = "key.create",
        KeyUpdate = "key.update",
        KeyDelete = "key.delete",
        SessionEnd = "session.end",
        LoginOk = "login.ok",
        LoginFailed = "login.failed",
        /// Someone with a session has entered a wrong password or code.
        ReauthenticationFailed = "reauthentication.failed",
        MfaEnable = "mfa.enable",
        MfaDisable = "mfa.disable",
        /// By the team or the operator, for a user who has lost the second factor.
        MfaReset = "mfa.reset",
        /// New recovery codes.
        MfaRenew = "mfa.renew",
        /// The operator has created a link to set a new password.
        PasswordLink = "password.link",
        PasswordReset = "password.reset",
        TeamCreate = "team.create",
        /// The name, the default role or the policies.
        TeamUpdate = "team.update",
        TeamRemove = "team.remove",
        PlanChange = "plan.change",
        CardCreate = "card.create",
        CardUpdate = "card.update",
        CardDelete = "card.delete",
        AuditExport = "audit.export",
        /// A stream was created, changed or deleted.
        AuditStream = "audit.stream",
        /// A person has exported what is stored about them.
        AccountExport = "account.export",
        /// A person administers the installation from now on.
        AdminGrant = "admin.grant",
        AdminRevoke = "admin.revoke",
        /// A user or a team.
        AdminSuspend = "admin.suspend",
        AdminResume = "admin.resume",
        /// A member was made the owner of a team that had none.
        AdminOwner = "admin.owner",
        /// A user or a team.
        AdminDelete = "admin.delete",
        /// Waiting mails and deliveries became due.
        AdminRetry = "admin.retry",
    }
}

/// Who has made a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    pub kind: ActorKind,
    /// Empty for the operator and the system.
    pub id: String,
    /// The email address of a person, or the name of a service account.
    pub name: String,
    /// How the actor was authenticated.
    pub via: Reference,
}

/// A session or an API key; both empty if it was neither.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    pub kind: String,
    pub id: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub kind: ObjectKind,
    pub id: String,
    pub name: String,
}

impl Object {
    pub fn new(kind: ObjectKind, id: &impl ToString, name: &str) -> Self {
        Self { kind, id: id.to_string(), name: shorten(name.to_owned()) }
    }
}

/// Where a request came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub address: String,
    pub agent: String,
    /// The id of the request.
    pub request: String,
}

/// The part of an entry that identifies a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    pub actor: String,
    pub address: String,
    pub agent: String,
    /// The name and the changes of the object, if that is a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

impl Person {
    /// UTF-8, keys sorted, no spaces.
    pub fn canonical(&self) -> String {
        serde_json::to_value(self).expect("a person is plain data").to_string()
    }
}

/// An entry as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub seq: i64,
    pub at: Millis,
    pub action: String,
    pub actor_kind: String,
    pub actor_id: String,
    pub via: Reference,
    pub object_kind: String,
    pub object_id: String,
    /// Empty if the object is a person.
    pub object_name: String,
    pub request: String,
    pub changes: Vec<Change>,
    /// The canonical text of a `Person`, and its salt; none once it was erased.
    pub person: Option<(String, [u8; 16])>,
    pub person_hash: Hash,
}

impl Entry {
    /// Whether the object is a person, whose name and changes are in the personal part.
    pub fn is_of_person(&self) -> bool {
        ObjectKind::PERSONAL.iter().any(|kind| self.object_kind == kind.as_str())
    }

    /// The personal part; `None` once it was erased.
    pub fn person(&self) -> Option<Person> {
        self.person.as_ref().and_then(|(text, _)| serde_json::from_str(text).ok())
    }

    /// What enters the hash of the entry: UTF-8, keys sorted, no spaces.
    pub fn canonical(&self) -> String {
        self.hashed_fields().to_string()
    }

    fn hashed_fields(&self) -> Value {
        json!({
            "seq": self.seq,
            "at": self.at,
            "action": self.action,
            "actor": {"kind": self.actor_kind, "id": self.actor_id},
            "via": {"kind": self.via.kind, "id": self.via.id},
            "object": {"kind": self.object_kind, "id": self.object_id, "name": self.object_name},
            "request": self.request,
            "changes": self.changes,
            "person_hash": self.person_hash.to_string(),
        })
    }

    /// The entry as a line of an export: everything that is needed to verify it.
    pub fn exported(&self, hash: &Hash) -> Value {
        let mut line = self.hashed_fields();
        line["person"] = json!(self.person());
        line["salt"] = json!(self.person.as_ref().map(|(_, salt)| hex(salt)));
        line["hash"] = json!(hash.to_string());
        line
    }

    /// The same as a line among those of other teams; `None` is the installation.
    pub fn exported_with_team(&self, team: Option<TeamId>, hash: &Hash) -> Value {
        json!({"groupid": team, "entry": self.exported(hash)})
    }
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}
