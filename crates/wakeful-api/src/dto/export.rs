//! What a person gets when they export what is stored about them. It contains no secret.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::id::{ApiKeyId, SessionId, TeamId, UserId};
use wakeful_core::time::Millis;
use wakeful_engine::{Caller, EntryOfUser, PersonalData};

use super::audit::AuditEntry;
use super::contacts::ContactRuleBody;
use super::enums;
use super::notifiers::NotifierBody;
use super::webpush::PushSubscriptionBody;

/// Everything that is stored about the caller.
#[derive(Serialize, ToSchema)]
pub(crate) struct PersonalExport {
    success: bool,
    account: ExportedAccount,
    memberships: Vec<ExportedMembership>,
    sessions: Vec<ExportedSession>,
    keys: Vec<ExportedKey>,
    /// The browsers that receive push messages.
    push_subscriptions: Vec<PushSubscriptionBody>,
    /// The newest messages that were sent from the address with the contact form, once the
    /// address is verified.
    contact_messages: Vec<ExportedContact>,
    /// The personal notifiers of the caller, without their secrets.
    notifiers: Vec<ExportedNotifier>,
    /// How the caller is notified, in each team where that was set.
    contacts: Vec<ExportedContacts>,
    /// What the caller has done, as the audit logs of all teams record it. It is the last field,
    /// because its entries, which may be many, are sent after everything else.
    audit: Vec<ExportedEntry>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ExportedAccount {
    #[schema(value_type = String, format = Uuid)]
    userid: UserId,
    #[schema(format = Email)]
    email: String,
    name: String,
    /// When the address was verified; null if it was not.
    #[schema(value_type = Option<String>, format = DateTime)]
    email_verified: Option<Millis>,
    /// Whether logins require a second factor.
    mfa: bool,
    /// Whether the caller administers the installation.
    admin: bool,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = String, format = DateTime)]
    modified: Millis,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_seen: Option<Millis>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ExportedMembership {
    #[schema(value_type = String, format = Uuid)]
    groupid: TeamId,
    name: String,
    #[schema(value_type = enums::Role)]
    role: &'static str,
    suspended: bool,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ExportedSession {
    #[schema(value_type = String, format = Uuid)]
    sessionid: SessionId,
    #[schema(value_type = String, format = Uuid)]
    groupid: TeamId,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = String, format = DateTime)]
    last_used: Millis,
    address: String,
    agent: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ExportedKey {
    #[schema(value_type = String, format = Uuid)]
    apikeyid: ApiKeyId,
    #[schema(value_type = String, format = Uuid)]
    groupid: TeamId,
    name: String,
    /// The beginning of the key, which is not secret.
    prefix: String,
    #[schema(value_type = enums::Scope)]
    scope: &'static str,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = Option<String>, format = DateTime)]
    expires: Option<Millis>,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used: Option<Millis>,
    /// The address that last used it; empty if none has.
    last_address: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ExportedContact {
    name: String,
    email: String,
    subject: String,
    message: String,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ExportedNotifier {
    #[schema(value_type = String, format = Uuid)]
    groupid: TeamId,
    notifier: NotifierBody,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ExportedContacts {
    #[schema(value_type = String, format = Uuid)]
    groupid: TeamId,
    rules: Vec<ContactRuleBody>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ExportedEntry {
    /// The team whose log has the entry; null for that of the installation.
    #[schema(value_type = Option<String>, format = Uuid)]
    groupid: Option<TeamId>,
    entry: AuditEntry,
}

impl PersonalExport {
    /// The end of the document, after the entries of the audit log.
    pub(crate) const END: &str = "]}";

    /// Without the entries of the audit log.
    pub(crate) fn of(caller: &Caller, data: PersonalData) -> Self {
        let PersonalData {
            account,
            teams,
            sessions,
            keys,
            contacts,
            notifiers,
            contact_rules,
            browsers,
        } = data;
        Self {
            success: true,
            account: ExportedAccount {
                userid: caller.user(),
                email: caller.email().to_owned(),
                name: caller.name().to_owned(),
                email_verified: account.email_verified,
                mfa: caller.mfa_enabled(),
                admin: caller.is_admin(),
                created: account.created,
                modified: account.modified,
                last_seen: account.last_seen,
            },
            memberships: teams
                .into_iter()
                .map(|of_user| ExportedMembership {
                    groupid: of_user.team,
                    name: of_user.settings.name,
                    role: of_user.role.as_str(),
                    suspended: of_user.suspended,
                })
                .collect(),
            sessions: sessions
                .into_iter()
                .map(|session| ExportedSession {
                    sessionid: session.id,
                    groupid: session.team,
                    created: session.created,
                    last_used: session.last_used,
                    address: session.address,
                    agent: session.agent,
                })
                .collect(),
            keys: keys
                .into_iter()
                .map(|of_user| ExportedKey {
                    apikeyid: of_user.key.id,
                    groupid: of_user.team,
                    name: of_user.key.name,
                    prefix: of_user.key.prefix,
                    scope: of_user.key.scope.as_str(),
                    created: of_user.key.created,
                    expires: of_user.key.expires,
                    last_used: of_user.key.last_used,
                    last_address: of_user.key.last_address,
                })
                .collect(),
            push_subscriptions: browsers.into_iter().map(PushSubscriptionBody::of).collect(),
            contact_messages: contacts
                .into_iter()
                .map(|sent| ExportedContact {
                    name: sent.name,
                    email: sent.email,
                    subject: sent.subject,
                    message: sent.message,
                    created: sent.created,
                })
                .collect(),
            notifiers: notifiers
                .iter()
                .map(|view| ExportedNotifier {
                    groupid: view.notifier.team,
                    notifier: NotifierBody::of(view),
                })
                .collect(),
            contacts: contact_rules
                .into_iter()
                .map(|of_user| ExportedContacts {
                    groupid: of_user.team,
                    rules: ContactRuleBody::all(of_user.contacts),
                })
                .collect(),
            audit: Vec::new(),
        }
    }
}

impl ExportedEntry {
    pub(crate) fn of(of_user: &EntryOfUser) -> Self {
        let groupid = Some(of_user.chain).filter(|chain| !chain.uuid().is_nil());
        Self { groupid, entry: AuditEntry::of(&of_user.stored) }
    }
}
