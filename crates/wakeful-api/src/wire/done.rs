//! The plain answer: it worked, and a sentence about it.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::ApiResult;

#[derive(Serialize, ToSchema)]
pub(crate) struct Done {
    /// Always true.
    success: bool,
    message: String,
}

impl Done {
    pub(crate) fn say(message: impl Into<String>) -> ApiResult<Self> {
        Ok(Json(Self { success: true, message: message.into() }))
    }
}
