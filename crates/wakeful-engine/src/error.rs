//! The reasons why an operation is refused, as far as a caller can act on them. The API
//! decides the message and the status that a client sees.

use std::time::Duration;
use wakeful_core::access::{Permission, Scope};
use wakeful_core::billing::Refusal;
use wakeful_core::id::NotifierId;
use wakeful_outbound::payment::{Decline, PaymentError};
use wakeful_store::StoreError;

use crate::caller::Way;
use crate::settings::SignupMode;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("email or password is wrong")]
    BadCredentials,
    #[error("no valid credentials were given")]
    NotAuthenticated,
    #[error("the account requires a second factor")]
    MfaRequired,
    #[error("the second factor is wrong or already used")]
    MfaInvalid,
    #[error("multi-factor authentication is already on")]
    MfaAlreadyOn,
    #[error("multi-factor authentication is not set up")]
    MfaNotSetUp,
    #[error("multi-factor authentication is not on")]
    MfaNotOn,
    #[error("the token is invalid or has expired")]
    BadResetToken,
    #[error("the link is invalid or has expired")]
    BadVerificationToken,
    #[error("the email address already has an account")]
    EmailTaken,
    /// The caller's role does not have the permission.
    #[error("the permission {} is missing", .0.as_str())]
    Forbidden(Permission),
    /// The API key does not have a permission that its holder has.
    #[error("an API key with the scope {} may not do this", .0.as_str())]
    KeyScope(Scope),
    /// The caller is limited to some monitors, and this concerns all of the team.
    #[error("the caller is limited to some monitors")]
    LimitedToMonitors,
    /// The session is not fresh; how to make it so.
    #[error("the caller has not reauthenticated recently")]
    ReauthenticationRequired(Vec<Way>),
    /// A program cannot reauthenticate.
    #[error("an API key may not do this")]
    NotForKeys,
    /// The team lets only service accounts have API keys.
    #[error("the team does not allow the API keys of people")]
    PersonalKeysOff,
    /// The team requires a second factor, and the caller has none.
    #[error("a second factor must be set up")]
    MfaSetupRequired,
    /// A team of the caller requires it.
    #[error("the last second factor cannot be removed")]
    LastFactor,
    /// The caller is limited to some monitors, and the maintenance window concerns others.
    #[error("the maintenance window concerns monitors that the caller cannot see")]
    WindowOutsideFilter,
    /// A service account has no account of its own to manage.
    #[error("a service account may not do this")]
    NotForServices,
    /// The role of another member, or one to be assigned, is above the caller's own.
    #[error("the role is above the caller's own")]
    RoleTooHigh,
    #[error("the team would have no owner")]
    LastOwner,
    /// Its holder has other teams, or was invited.
    #[error("only its holder can change the account")]
    AccountNotManaged,
    #[error("the invitation is invalid, has expired or was used")]
    BadInvitation,
    /// The invited address has an account, whose holder must log in.
    #[error("a login is needed to accept the invitation")]
    LoginNeeded,
    #[error("the person is already in the team")]
    AlreadyMember,
    #[error("the invitation is for another account")]
    OtherAccount,
    #[error("the membership is suspended")]
    Suspended,
    /// By an administrator of the installation, as the next one.
    #[error("the account is suspended")]
    AccountSuspended,
    #[error("the team is suspended")]
    TeamSuspended,
    #[error("nobody would administer the installation")]
    LastAdmin,
    #[error("the team has an owner")]
    HasOwner,
    #[error("the user is in no team")]
    NoTeam,
    #[error("a node of an earlier version does not check roles")]
    NodesTooOld,
    #[error("the monitor has no pinned value")]
    NothingToAccept,
    /// The same for a setting of a monitor that it does not know.
    #[error("the node {name} runs version {version}, which does not know this setting")]
    OlderNode { name: String, version: String },
    #[error("sign-up is closed")]
    SignUpClosed(SignupMode),
    /// The account is created when a link that was mailed has been opened.
    #[error("the address must be confirmed")]
    ConfirmEmail,
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// Every attempt lost against a concurrent change.
    #[error("it was modified concurrently")]
    Conflict,
    #[error("the alert has ended or was resolved")]
    AlertOver,
    #[error("the monitor is not active")]
    Inactive,
    #[error("a push monitor cannot be checked on demand: its job reports its status")]
    PushMonitor,
    #[error("the monitor has no push URL")]
    NoPushUrl,
    #[error("the team has no such notifiers")]
    UnknownNotifiers(Vec<NotifierId>),
    #[error("monitors still use the notifier")]
    NotifierInUse(Vec<String>),
    /// Monitors or rules use it.
    #[error("something still uses the policy")]
    PolicyInUse(Vec<String>),
    /// Policies use it.
    #[error("policies still use the schedule")]
    ScheduleInUse(Vec<String>),
    #[error("only its user can change a personal notifier")]
    PersonalNotifier,
    /// No occurrence of the maintenance window is running.
    #[error("the maintenance window is not running")]
    NotRunning,
    #[error("the notifier has no signing secret")]
    Unsigned,
    #[error("the notifier is disabled")]
    NotifierDisabled,
    /// A field that is well formed but cannot be used.
    #[error("{field} {why}")]
    Refused { field: &'static str, why: String },
    /// The same for a field within others.
    #[error("{field} {why}")]
    RefusedAt { field: String, why: String },
    #[error("another status page has this slug")]
    SlugTaken,
    #[error("another status page has this domain")]
    DomainTaken,
    /// The update cannot follow the status of the incident.
    #[error("the incident is closed")]
    IncidentClosed,
    #[error("the only update of an incident cannot be deleted")]
    LastUpdate,
    #[error("the message was not delivered: {0}")]
    NotDelivered(String),
    /// The result was accepted and is recorded when storage is available again.
    #[error("storage is unavailable")]
    NotRecorded,
    /// The same for all plans.
    #[error("the limit of {max} {of} is reached")]
    FixedLimit { max: u32, of: &'static str },
    #[error("too many attempts")]
    Limited { retry_after: Duration },
    #[error("too many concurrent on-demand checks for the team")]
    TooManyChecks,
    #[error("the server is busy")]
    Overloaded,
    #[error("there is no such plan")]
    UnknownPlan,
    #[error("the plan None cannot be purchased; cancel the current plan instead")]
    PlanNotForSale,
    #[error("the team has no plan")]
    NoPlan,
    #[error("the plan is set by the operator")]
    PlanSetByOperator,
    #[error("the payment was declined")]
    Declined(Decline),
    #[error("a payment of the team is in progress")]
    PaymentUnderWay,
    /// The payment is completed in the background.
    #[error("the payment processor gave no clear answer")]
    PaymentUnclear,
    #[error(transparent)]
    Processor(PaymentError),
    #[error("the plan {plan} does not allow it")]
    PlanLimit { limit: String, plan: String, next: Option<String> },
    #[error(transparent)]
    Store(StoreError),
}

impl Error {
    /// Whether the same call may succeed in a moment.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Overloaded | Self::Store(StoreError::Unavailable(_)))
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            // The email address is the only unique value that callers choose.
            StoreError::Taken => Self::EmailTaken,
            // The caller's account was deleted during the call.
            StoreError::Gone => Self::NotAuthenticated,
            error => Self::Store(error),
        }
    }
}

impl From<PaymentError> for Error {
    fn from(error: PaymentError) -> Self {
        match error {
            PaymentError::Declined(decline) => Self::Declined(decline),
            error => Self::Processor(error),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoPlan => Self::NoPlan,
            Refusal::SetByOperator => Self::PlanSetByOperator,
            Refusal::NotForSale => Self::PlanNotForSale,
        }
    }
}
