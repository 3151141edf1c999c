//! The format of all errors: a sentence for people, a stable code, and with status 422
//! every invalid field. This is the only place that maps errors of the engine to
//! messages and statuses.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;
use wakeful_core::access::{Permission, Role};
use wakeful_core::named_enum;
use wakeful_engine::billing::Decline;
use wakeful_engine::{Error, SignupMode};

use crate::dto::enums;
use crate::dto::reauthentication::WayBody;

/// `Retry-After` for an on-demand check that found no free slot.
const CHECK_RETRY_AFTER: Duration = Duration::from_secs(5);

named_enum! {
    /// Error codes, ordered by HTTP status. Declined payments have the codes of `Decline`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum ErrorCode {
        MalformedJson = "malformed_json",
        IncompleteBody = "incomplete_body",
        MalformedQuery = "malformed_query",
        BadSignature = "bad_signature",
        NotAuthenticated = "not_authenticated",
        BadCredentials = "bad_credentials",
        MfaRequired = "mfa_required",
        MfaInvalid = "mfa_invalid",
        BadToken = "bad_token",
        BadInvitation = "bad_invitation",
        LoginNeeded = "login_needed",
        PageLocked = "page_locked",
        PlanLimit = "plan_limit",
        AdministratorNeeded = "administrator_needed",
        SignupClosed = "signup_closed",
        ConfirmEmail = "confirm_email",
        Forbidden = "forbidden",
        KeyScope = "key_scope",
        ReauthenticationRequired = "reauthentication_required",
        MfaSetupRequired = "mfa_setup_required",
        Suspended = "suspended",
        NoTeam = "no_team",
        AccountNotManaged = "account_not_managed",
        PersonalNotifier = "personal_notifier",
        NotFound = "not_found",
        NoSuchPath = "no_such_path",
        MethodNotAllowed = "method_not_allowed",
        EmailTaken = "email_taken",
        LastOwner = "last_owner",
        LastAdmin = "last_admin",
        HasOwner = "has_owner",
        LastFactor = "last_factor",
        AlreadyMember = "already_member",
        OtherAccount = "other_account",
        LimitReached = "limit_reached",
        NodesTooOld = "nodes_too_old",
        OlderNode = "older_node",
        NothingToAccept = "nothing_to_accept",
        MfaAlreadyOn = "mfa_already_on",
        MfaNotSetUp = "mfa_not_set_up",
        AlertOver = "alert_over",
        MonitorInactive = "monitor_inactive",
        MonitorPassive = "monitor_passive",
        NoPushUrl = "no_push_url",
        ChangedMeanwhile = "changed_meanwhile",
        NotifierLinked = "notifier_linked",
        PolicyLinked = "policy_linked",
        ScheduleLinked = "schedule_linked",
        NotRunning = "not_running",
        SlugTaken = "slug_taken",
        DomainTaken = "domain_taken",
        IncidentClosed = "incident_closed",
        LastUpdate = "last_update",
        NotifierUnsigned = "notifier_unsigned",
        NotifierOff = "notifier_off",
        NoPlan = "no_plan",
        PaymentUnderWay = "payment_under_way",
        BodyTooLarge = "body_too_large",
        UnsupportedMediaType = "unsupported_media_type",
        MisdirectedRequest = "misdirected_request",
        InvalidFields = "invalid_fields",
        TooManyRequests = "too_many_requests",
        TooManyHeaders = "too_many_headers",
        Internal = "internal",
        NotDelivered = "not_delivered",
        ProcessorFailed = "processor_failed",
        PaymentUnclear = "payment_unclear",
        Unavailable = "unavailable",
    }
}

pub(crate) type ApiResult<T> = Result<axum::Json<T>, ApiError>;

#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    body: ErrorBody,
    retry_after: Option<Duration>,
    cause: Option<Cause>,
}

/// The cause of an internal error, for the log line of the request only.
#[derive(Clone, Debug)]
pub(crate) struct Cause(pub(crate) Arc<dyn std::error::Error + Send + Sync>);

/// The body of every error response.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    /// Always false.
    success: bool,
    /// One sentence for people: what happened and what to do.
    message: String,
    /// A stable identifier for programs.
    #[schema(value_type = enums::ErrorCode)]
    code: &'static str,
    /// All invalid fields; with status 422 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<FieldError>>, nullable = false)]
    errors: Option<Box<[FieldError]>>,
    /// How to reauthenticate; with the code `reauthentication_required` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<WayBody>>, nullable = false)]
    ways: Option<Box<[WayBody]>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct FieldError {
    /// The field's path, such as `http.url`.
    pub(crate) field: String,
    pub(crate) message: String,
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.body.message)
    }
}

impl std::error::Error for ApiError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|Cause(error)| error.as_ref() as _)
    }
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self::with_code(status, code.as_str(), message.into())
    }

    fn declined(decline: Decline) -> Self {
        let message = decline.sentence().to_owned();
        Self::with_code(StatusCode::PAYMENT_REQUIRED, decline.as_str(), message)
    }

    fn with_code(status: StatusCode, code: &'static str, message: String) -> Self {
        let body = ErrorBody { success: false, message, code, errors: None, ways: None };
        Self { status, body, retry_after: None, cause: None }
    }

    pub(crate) fn fields(errors: Vec<FieldError>) -> Self {
        let message = match errors.as_slice() {
            [one] => format!("{} {}.", one.field, one.message),
            many => {
                let names: Vec<&str> = many.iter().map(|error| error.field.as_str()).collect();
                format!("{} fields are invalid: {}.", many.len(), names.join(", "))
            }
        };
        let mut error =
            Self::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::InvalidFields, message);
        error.body.errors = Some(errors.into());
        error
    }

    /// The names of the invalid fields, in the order they were found.
    #[cfg(test)]
    pub(crate) fn field_names(&self) -> Vec<String> {
        self.body.errors.iter().flatten().map(|error| error.field.clone()).collect()
    }

    pub(crate) fn too_many(what: &str, wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let message = format!("Too many {what}; try again in {seconds} s.");
        let mut error =
            Self::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::TooManyRequests, message);
        error.retry_after = Some(Duration::from_secs(seconds));
        error
    }

    pub(crate) fn unavailable(message: &str) -> Self {
        let mut error = Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, message);
        error.retry_after = Some(Duration::from_secs(2));
        error
    }

    pub(crate) fn not_found(what: &str) -> Self {
        let message = format!("No such {what}.");
        Self::new(StatusCode::NOT_FOUND, ErrorCode::NotFound, message)
    }

    /// What happened, in one sentence, with the first invalid field.
    pub(crate) fn sentence(&self) -> String {
        match self.body.errors.as_ref().and_then(|errors| errors.first()) {
            Some(FieldError { field, message }) => format!("{field} {message}"),
            None => self.body.message.clone(),
        }
    }

    pub(crate) fn is_not_authenticated(&self) -> bool {
        self.body.code == ErrorCode::NotAuthenticated.as_str()
    }

    pub(crate) fn not_authenticated() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            ErrorCode::NotAuthenticated,
            "Send a valid bearer token in Authorization, or an API key pair in X-API-Key and X-Enc-Key.",
        )
    }

    pub(crate) fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::Internal,
            "Internal error; the operator can find the cause in the log by this response's X-Request-Id.",
        )
    }

    fn with_cause(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Cause(Arc::new(cause)));
        self
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let unauthorized = |code, message| Self::new(StatusCode::UNAUTHORIZED, code, message);
        let conflict = |code, message| Self::new(StatusCode::CONFLICT, code, message);
        match error {
            Error::BadCredentials => unauthorized(
                ErrorCode::BadCredentials,
                "The email or the password is wrong; check both, or reset the password.",
            ),
            Error::NotAuthenticated => Self::not_authenticated(),
            Error::MfaRequired => unauthorized(
                ErrorCode::MfaRequired,
                "This account uses multi-factor authentication; send the code as mfacode.",
            ),
            Error::MfaInvalid => unauthorized(
                ErrorCode::MfaInvalid,
                "The mfacode is wrong or was already used; wait for the next code, or use a recovery code.",
            ),
            Error::BadResetToken => unauthorized(
                ErrorCode::BadToken,
                "The tokenid is invalid, expired, already used, or for another account; request a new link.",
            ),
            Error::BadVerificationToken => unauthorized(
                ErrorCode::BadToken,
                "The token is invalid, expired, already used, or for an earlier address; request a new link.",
            ),
            Error::MfaAlreadyOn => conflict(
                ErrorCode::MfaAlreadyOn,
                "Multi-factor authentication is on; disable it before setting it up again.",
            ),
            Error::MfaNotSetUp => conflict(
                ErrorCode::MfaNotSetUp,
                "Multi-factor authentication is not set up; call mfa/setup first.",
            ),
            Error::MfaNotOn => conflict(
                ErrorCode::MfaNotSetUp,
                "Multi-factor authentication is not on; there is nothing to disable.",
            ),
            Error::EmailTaken => conflict(
                ErrorCode::EmailTaken,
                "An account with this email already exists; log in or use another email.",
            ),
            Error::Forbidden(permission) => {
                Self::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, missing(permission))
            }
            Error::KeyScope(scope) => {
                let scope = scope.as_str();
                let message = format!(
                    "API keys with the scope {scope} may not do this; use a key with another scope."
                );
                Self::new(StatusCode::FORBIDDEN, ErrorCode::KeyScope, message)
            }
            Error::ReauthenticationRequired(ways) => {
                let message = "Enter your password again to do this: call reauthenticate, then repeat the call.";
                let code = ErrorCode::ReauthenticationRequired;
                let mut error = Self::new(StatusCode::FORBIDDEN, code, message);
                error.body.ways = Some(ways.into_iter().map(WayBody::from).collect());
                error
            }
            Error::NotForKeys => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::KeyScope,
                "API keys may not do this; log in with a password.",
            ),
            Error::PersonalKeysOff => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::KeyScope,
                "Only service accounts can have API keys in this team; use a key of a service account.",
            ),
            Error::MfaSetupRequired => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::MfaSetupRequired,
                "This team requires multi-factor authentication; set it up with mfa/setup first.",
            ),
            Error::LastFactor => conflict(
                ErrorCode::LastFactor,
                "A team of yours requires multi-factor authentication, so it cannot be turned off.",
            ),
            Error::LimitedToMonitors => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::KeyScope,
                "Your access is limited to some monitors, and this concerns all monitors of the team.",
            ),
            Error::WindowOutsideFilter => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::Forbidden,
                "Your access is limited to some monitors: you can only save and change \
                 maintenance windows that name these monitors.",
            ),
            Error::NotForServices => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::Forbidden,
                "A service account may not do this; log in as a person.",
            ),
            Error::RoleTooHigh => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::Forbidden,
                "The role is above your own; ask an owner of the team.",
            ),
            Error::Suspended => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::Suspended,
                "Your membership in the team is suspended; ask an owner of the team.",
            ),
            Error::AccountSuspended => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::Suspended,
                "Your account is suspended; ask the administrator of this installation.",
            ),
            Error::TeamSuspended => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::Suspended,
                "The team is suspended and cannot be changed; ask the administrator of this installation.",
            ),
            Error::NoTeam => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::NoTeam,
                "You are not a member of a team; ask an owner to invite you.",
            ),
            Error::FixedLimit { max, of } => Self::new(
                StatusCode::CONFLICT,
                ErrorCode::LimitReached,
                format!("The limit of {max} {of} is reached; delete one that is not needed."),
            ),
            Error::LastOwner => conflict(
                ErrorCode::LastOwner,
                "The team would have no owner; make another member an owner first.",
            ),
            Error::LastAdmin => conflict(
                ErrorCode::LastAdmin,
                "Nobody would administer the installation; make another user an administrator first.",
            ),
            Error::HasOwner => {
                conflict(ErrorCode::HasOwner, "The team has an owner, who can appoint others.")
            }
            Error::AccountNotManaged => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::AccountNotManaged,
                "Only its holder can change the email or the password of this account, because \
                 they were invited or are in another team.",
            ),
            Error::BadInvitation => unauthorized(
                ErrorCode::BadInvitation,
                "The invitation is invalid, expired or already used; ask for a new one.",
            ),
            Error::LoginNeeded => unauthorized(
                ErrorCode::LoginNeeded,
                "The invited address has an account; log in, then accept the invitation.",
            ),
            Error::AlreadyMember => conflict(
                ErrorCode::AlreadyMember,
                "The person with this address is already a member of the team.",
            ),
            Error::OtherAccount => conflict(
                ErrorCode::OtherAccount,
                "The invitation is for another address; log out and open the link again.",
            ),
            Error::NodesTooOld => conflict(
                ErrorCode::NodesTooOld,
                "A node of an earlier version is running, which does not check roles; update all nodes first.",
            ),
            Error::NothingToAccept => conflict(
                ErrorCode::NothingToAccept,
                "The monitor has no assertion with the comparison unchanged and the target pinned.",
            ),
            Error::OlderNode { name, version } => Self::new(
                StatusCode::CONFLICT,
                ErrorCode::OlderNode,
                format!(
                    "The node {name} runs version {version}, which does not know all settings of \
                     this monitor; update all nodes first."
                ),
            ),
            Error::SignUpClosed(mode) => {
                Self::new(StatusCode::FORBIDDEN, ErrorCode::SignupClosed, signup_closed(&mode))
            }
            Error::ConfirmEmail => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::ConfirmEmail,
                "Open the link that was mailed to the address; it creates the account.",
            ),
            Error::NotFound(what) => Self::not_found(what),
            Error::Conflict => conflict(
                ErrorCode::ChangedMeanwhile,
                "The resource was modified concurrently; nothing was saved. Load it again and repeat the change.",
            ),
            Error::AlertOver => conflict(
                ErrorCode::AlertOver,
                "The alert has ended or was resolved; reload the list.",
            ),
            Error::Inactive => conflict(
                ErrorCode::MonitorInactive,
                "The monitor is not active: set isactive to true first.",
            ),
            Error::PushMonitor => conflict(
                ErrorCode::MonitorPassive,
                "Monitors of type api cannot be checked on demand; their target reports its status.",
            ),
            Error::NoPushUrl => conflict(
                ErrorCode::NoPushUrl,
                "The monitor has no push_url: only monitors of type api have one.",
            ),
            Error::NotRecorded => Self::unavailable(
                "Storage is unavailable; the result was accepted and will be recorded later.",
            ),
            Error::UnknownNotifiers(ids) => {
                let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                let message = format!("contains unknown notifiers: {}", ids.join(", "));
                Self::fields(vec![FieldError { field: "notifiers".into(), message }])
            }
            Error::NotifierInUse(monitors) => {
                let message = still_linked("notifier", &monitors);
                Self::new(StatusCode::CONFLICT, ErrorCode::NotifierLinked, message)
            }
            Error::PolicyInUse(by) => {
                let message = still_linked("policy", &by);
                Self::new(StatusCode::CONFLICT, ErrorCode::PolicyLinked, message)
            }
            Error::ScheduleInUse(by) => {
                let message = still_linked("schedule", &by);
                Self::new(StatusCode::CONFLICT, ErrorCode::ScheduleLinked, message)
            }
            Error::PersonalNotifier => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::PersonalNotifier,
                "This is the personal notifier of another user; only that user can change or delete it.",
            ),
            Error::NotRunning => conflict(
                ErrorCode::NotRunning,
                "No occurrence of this maintenance window is running.",
            ),
            Error::Unsigned => conflict(
                ErrorCode::NotifierUnsigned,
                "This notifier has no signing secret to rotate; only webhooks have one.",
            ),
            Error::NotifierDisabled => conflict(
                ErrorCode::NotifierOff,
                "The notifier is turned off: set its isactive to true first.",
            ),
            Error::Refused { field, why } => {
                Self::fields(vec![FieldError { field: field.into(), message: why }])
            }
            Error::RefusedAt { field, why } => {
                Self::fields(vec![FieldError { field, message: why }])
            }
            Error::SlugTaken => conflict(
                ErrorCode::SlugTaken,
                "Another status page has this slug; choose another one.",
            ),
            Error::DomainTaken => conflict(
                ErrorCode::DomainTaken,
                "Another status page has this domain; remove it there first.",
            ),
            Error::IncidentClosed => conflict(
                ErrorCode::IncidentClosed,
                "This status cannot follow the current one; send reopen to open a resolved incident again.",
            ),
            Error::LastUpdate => conflict(
                ErrorCode::LastUpdate,
                "The only update of an incident cannot be deleted; delete the incident instead.",
            ),
            Error::NotDelivered(why) => Self::new(
                StatusCode::BAD_GATEWAY,
                ErrorCode::NotDelivered,
                format!("The message was not delivered: {}.", why.trim_end_matches('.')),
            ),
            Error::UnknownPlan | Error::PlanNotForSale => Self::fields(vec![FieldError {
                field: "plan".into(),
                message: wrong_plan(&error).into(),
            }]),
            Error::NoPlan => conflict(ErrorCode::NoPlan, "The team has no plan to cancel."),
            Error::PlanSetByOperator => Self::new(
                StatusCode::FORBIDDEN,
                ErrorCode::AdministratorNeeded,
                "This plan is set by the operator of the service; ask the operator to change it.",
            ),
            Error::Declined(decline) => Self::declined(decline),
            Error::PaymentUnderWay => conflict(
                ErrorCode::PaymentUnderWay,
                "A payment of the team is in progress; check membership/get before you retry.",
            ),
            Error::PaymentUnclear => Self::new(
                StatusCode::BAD_GATEWAY,
                ErrorCode::PaymentUnclear,
                "The payment processor did not respond; Wakeful is still confirming the payment. Check membership/get before paying again.",
            ),
            Error::Processor(error) => Self::new(
                StatusCode::BAD_GATEWAY,
                ErrorCode::ProcessorFailed,
                "The payment processor failed; nothing was charged, try again later.",
            )
            .with_cause(error),
            Error::PlanLimit { limit, plan, next } => {
                let next = match next {
                    Some(next) => format!("upgrade to {next}"),
                    None => "no plan allows more".to_owned(),
                };
                let message = format!("The {plan} plan allows {limit}; {next}.");
                Self::new(StatusCode::FORBIDDEN, ErrorCode::PlanLimit, message)
            }
            Error::Limited { retry_after } => Self::too_many("attempts", retry_after),
            Error::TooManyChecks => {
                Self::too_many("on-demand checks at the same time", CHECK_RETRY_AFTER)
            }
            Error::Overloaded => Self::unavailable("The server is busy; try again in a moment."),
            Error::Store(error) => match error {
                wakeful_engine::StoreError::Unavailable(_) => {
                    Self::unavailable("Storage is unavailable; nothing was changed, try again.")
                        .with_cause(error)
                }
                error => Self::internal().with_cause(error),
            },
        }
    }
}

/// Names the roles that have a permission.
fn missing(permission: Permission) -> String {
    let roles: Vec<&str> = Role::with(permission).map(Role::as_str).collect();
    match roles.split_last() {
        None => "Only administrators of this installation may do this, and not with an API key."
            .to_owned(),
        Some((only, [])) => format!("Only the role {only} may do this; ask an owner of the team."),
        Some((last, rest)) => format!(
            "Only the roles {} and {last} may do this; ask an owner of the team.",
            rest.join(", ")
        ),
    }
}

/// Why a plan cannot be chosen.
pub(crate) fn wrong_plan(error: &Error) -> &'static str {
    match error {
        Error::PlanNotForSale => "None cannot be purchased; call membership/stop to cancel a plan",
        _ => "is not a known plan; see membership/plans",
    }
}

/// Why an account cannot be created, and how to get one.
fn signup_closed(mode: &SignupMode) -> String {
    match mode {
        SignupMode::Domains(domains) => format!(
            "Only addresses in these domains can sign up: {}; others need an invitation to a team.",
            domains.join(", ")
        ),
        SignupMode::Invite => {
            "Sign-up needs an invitation; ask a member of a team to invite you.".to_owned()
        }
        SignupMode::Open | SignupMode::Closed => {
            "Sign-up is closed; ask a member of your team or the operator for an account."
                .to_owned()
        }
    }
}

/// Why something cannot be deleted: these use it, or some that the caller cannot see.
fn still_linked(what: &str, monitors: &[String]) -> String {
    const MAX_NAMED: usize = 10;
    let mut names = monitors.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    if let Some(more) = monitors.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        names.push_str(&format!(" and {more} more"));
    }
    if names.is_empty() {
        format!("The {what} is still linked to a monitor; remove it there first.")
    } else {
        format!("The {what} is still linked to {names}; remove it there first.")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.body)).into_response();
        if let Some(wait) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs()));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(cause) = self.cause {
            response.extensions_mut().insert(cause);
        }
        response
    }
}
