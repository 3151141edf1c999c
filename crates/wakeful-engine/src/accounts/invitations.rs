//! Invitations to a team, by mail or by a link that the inviter passes on. An account is created
//! only when an invitation is accepted, so an invited address cannot be taken over by signing up
//! with it.

use std::time::Duration;
use wakeful_core::access::{MonitorFilter, Role, permission};
use wakeful_core::accounts::MAX_INVITATIONS_PER_TEAM;
use wakeful_core::accounts::password::NewPassword;
use wakeful_core::accounts::reauthentication::SessionMethod;
use wakeful_core::email_address::{self, EmailAddress};
use wakeful_core::id::{InvitationId, TeamId};
use wakeful_core::secret::Secret;
use wakeful_core::token::{Digest, Kind};
use wakeful_store::{
    AcceptOutcome, AuditContext, InvitationLink, InviteOutcome, Invitee, MemberOutcome,
    NewInvitation,
};

pub use wakeful_store::Invitation;

use crate::accounts::auth::Origin;
use crate::accounts::signup::SignedIn;
use crate::accounts::team::{require_done, unknown_monitors};
use crate::accounts::teams::too_many_teams;
use crate::caller::{Authorized, Caller, Reauthenticated, Via, audit_of_person};
use crate::{Engine, Error, Result, SignupMode, mail::templates, random};

const INVITATION_LIFETIME: Duration = Duration::from_secs(7 * 86_400);

/// An invitation to create, or one that gets a new link.
#[derive(Clone, Debug)]
pub enum SaveInvitation {
    New { email: EmailAddress, role: Role, filter: Option<MonitorFilter>, mail: bool },
    Renew { invitation: InvitationId, mail: bool },
}

/// A saved invitation.
#[derive(Clone, Debug)]
pub struct InvitationSaved {
    pub id: InvitationId,
    /// The link, unless it was mailed: then only the invited person sees it.
    pub link: Option<String>,
}

/// An invitation with the monitors that the member will be limited to.
#[derive(Clone, Debug)]
pub struct InvitationView {
    pub invitation: Invitation,
    pub filter: Option<MonitorFilter>,
}

/// An invitation as the invited person sees it.
#[derive(Clone, Debug)]
pub struct OpenedInvitation {
    pub invitation: Invitation,
    pub account: InvitedAccount,
}

/// The account of the invited address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitedAccount {
    /// There is none; accepting creates it.
    New,
    /// Its holder has to log in.
    Exists,
    /// The caller is logged in with it.
    Yours,
}

/// An invitation that someone without an account accepts.
#[derive(Clone, Debug)]
pub struct JoinAsNew {
    pub token: Secret,
    pub password: Secret,
    pub name: String,
}

impl Engine {
    /// The invitations of the team that were not accepted yet.
    pub async fn invitations(
        &self,
        caller: &Authorized<permission::People>,
    ) -> Result<Vec<InvitationView>> {
        let team = self.store().team(caller.team_access());
        let invitations = team.invitations(self.now()).await?;
        let limited = invitations.iter().any(|invitation| invitation.filter.is_some());
        let mut filters = self.monitor_filters(caller, limited).await?;
        let view = |invitation: Invitation| {
            let filter = invitation.filter.and_then(|id| filters.remove(&id));
            InvitationView { invitation, filter }
        };
        Ok(invitations.into_iter().map(view).collect())
    }

    /// The role that the invited person gets.
    pub async fn invited_role(
        &self,
        caller: &Authorized<permission::People>,
        save: &SaveInvitation,
    ) -> Result<Role> {
        match save {
            SaveInvitation::New { role, .. } => Ok(*role),
            SaveInvitation::Renew { invitation, .. } => {
                Ok(self.pending_invitation(caller, *invitation).await?.role)
            }
        }
    }

    /// Invites a person; `invite_owner` invites an owner.
    pub async fn save_invitation(
        &self,
        caller: &Authorized<permission::People>,
        save: SaveInvitation,
    ) -> Result<InvitationSaved> {
        if self.invited_role(caller, &save).await? == Role::Owner {
            return Err(Error::ReauthenticationRequired(caller.ways_to_reauthenticate()?));
        }
        self.invite(caller, save).await
    }

    pub async fn invite_owner(
        &self,
        caller: &Reauthenticated<permission::Own>,
        save: SaveInvitation,
    ) -> Result<InvitationSaved> {
        self.invite(caller, save).await
    }

    async fn invite(&self, caller: &Caller, save: SaveInvitation) -> Result<InvitationSaved> {
        let (now, by) = (self.now(), self.audit(caller));
        let team = self.store().team(caller.team_access());
        let token = Kind::Invitation.issue(random::bytes());
        let link = templates::invitation_link(self.settings(), &token);
        let new_link = |mail| InvitationLink {
            digest: Digest::of(token.expose()),
            expires: now.after(INVITATION_LIFETIME),
            mail,
        };
        let (id, mailed, outcome) = match save {
            SaveInvitation::New { email, role, filter, mail } => {
                self.check_nodes_know(Some(role)).await?;
                if filter.is_some() {
                    self.require_roles_on_all_nodes().await?;
                }
                self.check_user_limit(caller.team()).await?;
                self.count_attempts(&self.invitation_limits(caller.team(), caller.user())).await?;
                let id = InvitationId::new(now, random::bytes());
                let text = self.invitation_text(caller, role, &token).await?;
                let new = NewInvitation {
                    id,
                    role,
                    filter: filter.map(|filter| self.new_filter(filter)),
                    link: new_link(mail.then(|| self.new_mail(email.as_str(), text))),
                    email,
                };
                (id, mail, team.invite(&new, caller.authority(), &by, now).await?)
            }
            SaveInvitation::Renew { invitation: id, mail } => {
                let found = self.pending_invitation(caller, id).await?;
                self.count_attempts(&self.invitation_limits(caller.team(), caller.user())).await?;
                let text = self.invitation_text(caller, found.role, &token).await?;
                let link = new_link(mail.then(|| self.new_mail(&found.email, text)));
                let authority = caller.authority();
                (id, mail, team.renew_invitation(id, &link, authority, &by, now).await?)
            }
        };
        require_invited(outcome)?;
        if mailed {
            self.0.mail_queued.notify_one();
        }
        Ok(InvitationSaved { id, link: (!mailed).then_some(link) })
    }

    pub async fn delete_invitation(
        &self,
        caller: &Authorized<permission::People>,
        id: InvitationId,
    ) -> Result<()> {
        let (team, by) = (self.store().team(caller.team_access()), self.audit(caller));
        require_invited(team.delete_invitation(id, caller.authority(), &by, self.now()).await?)
    }

    /// An invitation of the team that was not accepted yet.
    async fn pending_invitation(&self, caller: &Caller, id: InvitationId) -> Result<Invitation> {
        let listed = self.store().team(caller.team_access()).invitations(self.now()).await?;
        let found = listed.into_iter().find(|invitation| invitation.id == id);
        found.ok_or(Error::NotFound("invitation"))
    }

    async fn invitation_text(
        &self,
        caller: &Caller,
        role: Role,
        token: &Secret,
    ) -> Result<templates::EmailText> {
        let team = self.store().team(caller.team_access()).display_name().await?;
        Ok(templates::invitation(self.settings(), caller.email(), &team, role, token))
    }

    /// The invitation behind a link.
    pub async fn open_invitation(
        &self,
        token: &Secret,
        caller: Option<&Caller>,
        from: &Origin,
    ) -> Result<OpenedInvitation> {
        let invitation = self.invitation_of(token, from).await?;
        let account = if caller.is_some_and(|caller| is_for(&invitation, caller)) {
            InvitedAccount::Yours
        } else if self.store().account_by_email(&invitation.email_key).await?.is_some() {
            InvitedAccount::Exists
        } else {
            InvitedAccount::New
        };
        Ok(OpenedInvitation { invitation, account })
    }

    /// Adds the caller to the team of an invitation; the session then acts in that team.
    pub async fn accept_invitation(
        &self,
        caller: &Authorized<permission::Myself>,
        token: &Secret,
        from: &Origin,
    ) -> Result<TeamId> {
        let invitation = self.invitation_of(token, from).await?;
        if !is_for(&invitation, caller) {
            return Err(Error::OtherAccount);
        }
        if !matches!(caller.via(), Via::Session(_)) {
            return Err(Error::KeyScope(caller.scope()));
        }
        let invitee =
            Invitee::Existing { caller: caller.authority(), email_key: &invitation.email_key };
        self.join(token, &invitation, invitee, &self.audit(caller)).await?;
        Ok(invitation.team)
    }

    /// Fails unless the invitation works and its address has no account.
    pub async fn require_new_account(&self, token: &Secret, from: &Origin) -> Result<()> {
        if self.settings().signup == SignupMode::Closed {
            return Err(Error::SignUpClosed(SignupMode::Closed));
        }
        let invitation = self.invitation_of(token, from).await?;
        match self.store().account_by_email(&invitation.email_key).await? {
            Some(_) => Err(Error::LoginNeeded),
            None => Ok(()),
        }
    }

    /// Creates an account for the invited address, in the team of the invitation, and logs in.
    pub async fn accept_invitation_as_new(
        &self,
        wanted: &JoinAsNew,
        from: &Origin,
    ) -> Result<SignedIn> {
        let JoinAsNew { token, password, name } = wanted;
        self.require_new_account(token, from).await?;
        let invitation = self.invitation_of(token, from).await?;
        let refused =
            |why: wakeful_core::Invalid| Error::Refused { field: "password", why: why.to_string() };
        let email = EmailAddress::parse(&invitation.email).map_err(refused)?;
        let password = NewPassword::parse(password.expose(), &email).map_err(refused)?;
        let hash = self.hash_new(&password, "password", from.address).await?;
        let account = self.new_account(&email, hash, name);
        let (team, user) = (invitation.team, account.user);
        let (session_token, session) = self.new_session(user, team, SessionMethod::Link, from);
        let by = audit_of_person(team, user, email.as_str(), from, self.now());
        let invitee = Invitee::New { account: &account, session: &session };
        match self.join(token, &invitation, invitee, &by).await {
            // The address was taken while the password was being hashed.
            Err(Error::EmailTaken) => return Err(Error::LoginNeeded),
            joined => joined?,
        }
        tracing::info!(user.id = %user, team.id = %team, "user {user} has accepted an invitation to team {team}");
        Ok(SignedIn { user, team, email: email.to_string(), token: session_token })
    }

    async fn join(
        &self,
        token: &Secret,
        invitation: &Invitation,
        invitee: Invitee<'_>,
        by: &AuditContext,
    ) -> Result<()> {
        if self.scheduler().is_suspended(invitation.team) {
            return Err(Error::TeamSuspended);
        }
        let plan = self.check_user_limit(invitation.team).await?;
        let limit = plan.as_ref().and_then(|plan| plan.limits.users);
        let digest = Digest::of(token.expose());
        match self.store().accept_invitation(digest, invitee, limit, by, self.now()).await? {
            AcceptOutcome::Done => Ok(()),
            AcceptOutcome::Invalid => Err(Error::BadInvitation),
            AcceptOutcome::OtherAccount => Err(Error::OtherAccount),
            AcceptOutcome::AlreadyMember => Err(Error::AlreadyMember),
            AcceptOutcome::Full => Err(self.too_many_users(plan.as_ref())),
            AcceptOutcome::TooManyTeams => Err(too_many_teams()),
        }
    }

    /// Tokens that do not work count as failed logins.
    async fn invitation_of(&self, token: &Secret, from: &Origin) -> Result<Invitation> {
        let limits = self.failed_login_limit(token.expose(), from.address);
        self.check_limit(&limits).await?;
        let found = match Kind::Invitation.decode(token.expose()) {
            Some(_) => self.store().invitation(Digest::of(token.expose()), self.now()).await?,
            None => None,
        };
        match found {
            Some(invitation) => Ok(invitation),
            None => Err(self.record_failure(&limits, Error::BadInvitation).await?),
        }
    }
}

fn is_for(invitation: &Invitation, caller: &Caller) -> bool {
    email_address::key(caller.email()) == invitation.email_key
}

fn require_invited(outcome: InviteOutcome) -> Result<()> {
    match outcome {
        InviteOutcome::Done => Ok(()),
        InviteOutcome::Full => {
            Err(Error::FixedLimit { max: MAX_INVITATIONS_PER_TEAM, of: "invitations per team" })
        }
        InviteOutcome::RoleTooHigh => Err(Error::RoleTooHigh),
        InviteOutcome::AlreadyMember => Err(Error::AlreadyMember),
        InviteOutcome::FilterNotAllowed => require_done(MemberOutcome::FilterNotAllowed),
        InviteOutcome::UnknownMonitors => Err(unknown_monitors()),
        InviteOutcome::Missing => Err(Error::NotFound("invitation")),
    }
}
