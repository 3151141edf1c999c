//! What is stored about the caller, as one JSON document.

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt as _};
use std::sync::Arc;
use wakeful_core::access::{Permission, permission};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::TeamId;
use wakeful_engine::{Error, Reauthenticated};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::caller::Reauthentication::Always;
use crate::caller::{Grant, needs, reauthenticated};
use crate::dto::export::{ExportedEntry, PersonalExport};
use crate::error::ApiError;

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Myself, reauthenticated(Always, routes!(export_personal_data))))
}

/// Exports everything that is stored about the caller: the account, memberships, sessions, API keys
/// and personal notifiers without secrets, contact rules, messages of the contact form, and what the
/// audit logs say that the caller did.
#[utoipa::path(get, path = "/api/v1/user/export", tag = "User",
    params(("team" = Option<String>, Query,
            description = "One of the caller's teams, in place of the header `X-Wakeful-Team`")),
    responses((status = 200, description = "One document", body = PersonalExport)))]
async fn export_personal_data(
    State(api): State<Api>,
    caller: Reauthenticated<permission::Myself>,
    Extension(grant): Extension<Arc<Grant>>,
) -> Result<Response, ApiError> {
    let data = api.engine().begin_personal_export(&caller).await?;
    let mut head =
        serde_json::to_string(&PersonalExport::of(&caller, data)).expect("an export is plain data");
    // The entries follow.
    head.truncate(head.len() - PersonalExport::END.len());
    let export = Export { api, caller, grant, after: None, is_first: true, done: false };
    let rest = stream::try_unfold(export, Export::next_chunk);
    let body = Body::from_stream(stream::once(async { Ok(Bytes::from(head)) }).chain(rest));
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"wakeful-export.json\""),
    ];
    Ok((headers, body).into_response())
}

/// The entries that are being sent.
struct Export {
    api: Api,
    caller: Reauthenticated<permission::Myself>,
    grant: Arc<Grant>,
    /// The last entry that was sent.
    after: Option<(TeamId, i64)>,
    is_first: bool,
    done: bool,
}

impl Export {
    async fn next_chunk(self) -> std::io::Result<Option<(Bytes, Self)>> {
        if self.done {
            return Ok(None);
        }
        // A caller whose session has ended meanwhile reads no further.
        if self.grant.confirm(self.api.engine()).await.is_err() {
            return Err(std::io::Error::other("the caller is no longer logged in"));
        }
        match self.chunk().await {
            Ok(made) => Ok(Some(made)),
            Err(error) => {
                tracing::warn!(error = %ErrorChain(&error), "sending an export of personal data failed, closing the response");
                Err(std::io::Error::other(error))
            }
        }
    }

    async fn chunk(mut self) -> Result<(Bytes, Self), Error> {
        let entries = self.api.engine().personal_entries(&self.caller, self.after).await?;
        let mut text = String::new();
        for of_user in &entries {
            if !std::mem::take(&mut self.is_first) {
                text.push(',');
            }
            let entry = serde_json::to_string(&ExportedEntry::of(of_user));
            text.push_str(&entry.expect("an entry is plain data"));
        }
        match entries.last() {
            Some(last) => self.after = Some((last.chain, last.stored.entry.seq)),
            None => {
                self.done = true;
                text.push_str(PersonalExport::END);
            }
        }
        Ok((text.into(), self))
    }
}
