//! The one shape of an error: a sentence a person can act on, a stable code,
//! and on 422 every wrong field. What the engine says becomes words and a
//! status here and nowhere else.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;
use wakeful_engine::Error;

/// When a check on request that found no free slot may be tried again.
const CHECK_RETRY_AFTER: Duration = Duration::from_secs(5);

pub(crate) type ApiResult<T> = Result<axum::Json<T>, ApiError>;

#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    body: ErrorBody,
    retry_after: Option<Duration>,
    cause: Option<Cause>,
}

/// Why we failed, carried to the log line of the request and not to the client.
#[derive(Clone, Debug)]
pub(crate) struct Cause(pub(crate) Arc<dyn std::error::Error + Send + Sync>);

/// An error as clients read it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    /// Always false.
    success: bool,
    /// One sentence: what happened and what to do.
    message: String,
    /// A stable word for programs.
    code: &'static str,
    /// Every wrong field; only with status 422.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    errors: Option<Vec<FieldError>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct FieldError {
    /// The field's path, such as `http.url`.
    pub(crate) field: String,
    pub(crate) message: String,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let body = ErrorBody { success: false, message: message.into(), code, errors: None };
        Self { status, body, retry_after: None, cause: None }
    }

    pub(crate) fn fields(errors: Vec<FieldError>) -> Self {
        let message = match errors.as_slice() {
            [one] => format!("{} {}.", one.field, one.message),
            many => {
                let names: Vec<&str> = many.iter().map(|error| error.field.as_str()).collect();
                format!("{} fields are wrong: {}.", many.len(), names.join(", "))
            }
        };
        let mut error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_fields", message);
        error.body.errors = Some(errors);
        error
    }

    /// The names of the wrong fields, in the order they were found.
    #[cfg(test)]
    pub(crate) fn field_names(&self) -> Vec<String> {
        self.body.errors.iter().flatten().map(|error| error.field.clone()).collect()
    }

    pub(crate) fn too_many(what: &str, wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let message = format!("There were {what}; try again in {seconds} s.");
        let mut error = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message);
        error.retry_after = Some(Duration::from_secs(seconds));
        error
    }

    pub(crate) fn unavailable(message: &str) -> Self {
        let mut error = Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message);
        error.retry_after = Some(Duration::from_secs(2));
        error
    }

    pub(crate) fn not_found(what: &str) -> Self {
        let message = format!("There is no such {what} in this team.");
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(crate) fn not_authenticated() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "not_authenticated",
            "Send a valid Bearer Token in Authorization, or an API key pair in X-API-Key and X-Enc-Key.",
        )
    }

    pub(crate) fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "Something went wrong on our side; it is in the log under this request's X-Request-Id.",
        )
    }

    fn because(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
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
                "bad_credentials",
                "The email or the password is wrong; check both, or ask for a new password.",
            ),
            Error::NotAuthenticated => Self::not_authenticated(),
            Error::MfaRequired => unauthorized(
                "mfa_required",
                "This account uses multi-factor authentication; send the code as mfacode.",
            ),
            Error::MfaInvalid => unauthorized(
                "mfa_invalid",
                "The mfacode is wrong or was used before; wait for the next code, or use a recovery code.",
            ),
            Error::BadResetToken => unauthorized(
                "bad_token",
                "The tokenid is unknown, used, too old or belongs to another email; ask for a new link.",
            ),
            Error::MfaAlreadyOn => conflict(
                "mfa_already_on",
                "Multi-factor authentication is on; disable it before setting it up again.",
            ),
            Error::MfaNotSetUp => conflict(
                "mfa_not_set_up",
                "Multi-factor authentication is not set up; call mfa/setup first.",
            ),
            Error::EmailTaken => conflict(
                "email_taken",
                "This email is already used by another user; choose another or log in.",
            ),
            Error::SignUpClosed => Self::new(
                StatusCode::FORBIDDEN,
                "signup_closed",
                "Sign-up is closed here; ask a member of your team or the operator for an account.",
            ),
            Error::NotFound(what) => Self::not_found(what),
            Error::Overtaken => conflict(
                "changed_meanwhile",
                "Others keep changing this at the same moment; nothing was saved, send it again.",
            ),
            Error::Inactive => conflict(
                "monitor_inactive",
                "The monitor is not active: set isactive to true first.",
            ),
            Error::Passive => conflict(
                "monitor_passive",
                "A monitor of type api is never called: its target reports to it.",
            ),
            Error::NoPushUrl => conflict(
                "no_push_url",
                "The monitor has no push_url: only monitors of type api have one.",
            ),
            Error::NotRecorded => Self::unavailable(
                "Storage is not available right now; the report counts and will be recorded when it is back.",
            ),
            Error::UnknownNotifiers(ids) => {
                let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                let message = format!("names notifiers that do not exist: {}", ids.join(", "));
                Self::fields(vec![FieldError { field: "notifiers".into(), message }])
            }
            Error::StillLinked(monitors) => {
                Self::new(StatusCode::CONFLICT, "notifier_linked", still_linked(&monitors))
            }
            Error::Unsigned => conflict(
                "notifier_unsigned",
                "Only webhooks are signed: this notifier has no secret to rotate.",
            ),
            Error::NotifierOff => conflict(
                "notifier_off",
                "The notifier is turned off: set its isactive to true first.",
            ),
            Error::Refused { field, why } => {
                Self::fields(vec![FieldError { field: field.into(), message: why }])
            }
            Error::NotDelivered(why) => Self::new(
                StatusCode::BAD_GATEWAY,
                "not_delivered",
                format!("The message was not taken: {}.", why.trim_end_matches('.')),
            ),
            Error::UnknownPlan | Error::PlanNotForSale => Self::fields(vec![FieldError {
                field: "plan".into(),
                message: wrong_plan(&error).into(),
            }]),
            Error::NoPlan => conflict("no_plan", "The team has no plan that could be stopped."),
            Error::PlanByAdministrator => Self::new(
                StatusCode::FORBIDDEN,
                "administrator_needed",
                "This plan is set by an administrator; ask the operator of the service.",
            ),
            Error::Declined(decline) => {
                Self::new(StatusCode::PAYMENT_REQUIRED, decline.code(), decline.sentence())
            }
            Error::PaymentUnderWay => conflict(
                "payment_under_way",
                "A payment of the team is under way; look at membership/get before trying again.",
            ),
            Error::PaymentUnclear => Self::new(
                StatusCode::BAD_GATEWAY,
                "payment_unclear",
                "The payment processor did not answer; the payment is looked after, see membership/get before paying again.",
            ),
            Error::Processor(error) => Self::new(
                StatusCode::BAD_GATEWAY,
                "processor_failed",
                "The payment processor failed; nothing was charged, try again later.",
            )
            .because(error),
            Error::PlanLimit { limit, plan, next } => {
                let next = match next {
                    Some(next) => format!("the next plan with room is {next}"),
                    None => "no plan allows more".to_owned(),
                };
                let message = format!("The plan {plan} allows {limit}; {next}.");
                Self::new(StatusCode::FORBIDDEN, "plan_limit", message)
            }
            Error::Limited { retry_after } => Self::too_many("too many attempts", retry_after),
            Error::TooManyChecks => {
                Self::too_many("too many checks of your team on request at once", CHECK_RETRY_AFTER)
            }
            Error::Overloaded => {
                Self::unavailable("Too many people are logging in at once; try again.")
            }
            Error::Store(error) => match error {
                wakeful_engine::StoreError::Unavailable(_) => Self::unavailable(
                    "Storage is not available right now; nothing was changed, try again.",
                )
                .because(error),
                error => Self::internal().because(error),
            },
        }
    }
}

/// What is wrong with a plan that cannot be chosen.
pub(crate) fn wrong_plan(error: &Error) -> &'static str {
    match error {
        Error::PlanNotForSale => "cannot be None here: call membership/stop to end a plan",
        _ => "is no plan: membership/plans lists them",
    }
}

fn still_linked(monitors: &[String]) -> String {
    const NAMED: usize = 10;
    let mut names = monitors.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if let Some(more) = monitors.len().checked_sub(NAMED).filter(|more| *more > 0) {
        names.push_str(&format!(" and {more} more"));
    }
    match names.is_empty() {
        true => "The notifier is still linked to a monitor; remove it there first.".to_owned(),
        false => format!("The notifier is still linked to {names}; remove it there first."),
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
