//! The response to calls that return no data: success, and a sentence for people.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::ApiResult;

#[derive(Serialize, ToSchema)]
#[schema(as = Done)]
pub(crate) struct Ack {
    /// Always true.
    success: bool,
    message: String,
}

impl Ack {
    pub(crate) fn with_message(message: impl Into<String>) -> ApiResult<Self> {
        Ok(Json(Self { success: true, message: message.into() }))
    }
}
