//! Streams: webhooks that receive the audit log.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::audit::Stream;
use wakeful_core::id::StreamId;
use wakeful_core::monitors::spec::HttpUrl;
use wakeful_core::notifications::notifier::{SigningSecret, webhook};
use wakeful_core::time::Millis;
use wakeful_engine::{SavedStream, StreamChange, StreamTest};

use super::fields::{Fields, FromFields};
use crate::query::NextCursor;

/// A stream to create (without `streamid`), which needs a URL, or to change; fields that are
/// omitted stay as they are.
#[derive(ToSchema)]
pub(crate) struct SaveStream {
    #[schema(value_type = Option<String>)]
    streamid: Option<String>,
    /// http or https, without a user name and password.
    #[schema(value_type = Option<String>)]
    url: Option<HttpUrl>,
    /// The signing secret: `whsec_` and base64. If omitted, a new stream gets one.
    #[schema(value_type = Option<String>)]
    secret: Option<SigningSecret>,
    /// Nothing is sent while it is false; entries wait.
    #[schema(value_type = Option<bool>)]
    isactive: Option<bool>,
}

impl FromFields for SaveStream {
    fn read(fields: &mut Fields) -> Option<Self> {
        let streamid = fields.optional_text("streamid");
        let url = read_url(fields, streamid.is_none());
        let secret = fields.optional("secret", SigningSecret::parse);
        let isactive = fields.optional_flag("isactive");
        let complete = streamid.is_some() || url.is_some();
        complete.then_some(Self { streamid, url, secret, isactive })
    }
}

impl SaveStream {
    /// The requested change; `None` if the `streamid` is malformed.
    pub(crate) fn wanted(self) -> Option<wakeful_engine::SaveStream> {
        let Self { streamid, url, secret, isactive } = self;
        Some(match streamid {
            Some(id) => wakeful_engine::SaveStream::Change(StreamChange {
                id: StreamId::parse(&id)?,
                url,
                secret,
                isactive,
            }),
            None => wakeful_engine::SaveStream::Add {
                url: url?,
                secret,
                isactive: isactive.unwrap_or(true),
            },
        })
    }
}

fn read_url(fields: &mut Fields, required: bool) -> Option<HttpUrl> {
    if required { fields.parse("url", webhook::url) } else { fields.optional("url", webhook::url) }
}

/// What to test: `streamid` or `url`. With both, the secret of the stream signs.
#[derive(ToSchema)]
pub(crate) struct TestStream {
    #[schema(value_type = Option<String>)]
    streamid: Option<String>,
    #[schema(value_type = Option<String>)]
    url: Option<HttpUrl>,
    /// Signs the request; random if there is none.
    #[schema(value_type = Option<String>)]
    secret: Option<SigningSecret>,
}

impl FromFields for TestStream {
    fn read(fields: &mut Fields) -> Option<Self> {
        let streamid = fields.optional_text("streamid");
        let url = read_url(fields, streamid.is_none());
        let secret = fields.optional("secret", SigningSecret::parse);
        let complete = streamid.is_some() || url.is_some();
        complete.then_some(Self { streamid, url, secret })
    }
}

impl TestStream {
    /// The requested test; `None` if the `streamid` is malformed.
    pub(crate) fn wanted(self) -> Option<StreamTest> {
        let Self { streamid, url, secret } = self;
        let id = match streamid {
            Some(id) => Some(StreamId::parse(&id)?),
            None => None,
        };
        Some(StreamTest { id, url, secret })
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct StreamList {
    success: bool,
    streams: Vec<ListedStream>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ListedStream {
    #[schema(value_type = String, format = Uuid)]
    streamid: StreamId,
    url: String,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    /// The `seq` of the last entry that was delivered.
    cursor: i64,
    /// Since when no attempt has succeeded; null if the last one has.
    #[schema(value_type = Option<String>, format = DateTime)]
    failing_since: Option<Millis>,
    /// Why the last attempt failed; empty if it succeeded.
    last_error: String,
    /// Whether the stream is off: by an owner, or because its receiver failed for too long.
    disabled: bool,
}

impl StreamList {
    pub(crate) fn of(streams: Vec<Stream>, next_cursor: NextCursor) -> Self {
        let streams = streams
            .into_iter()
            .map(|stream| ListedStream {
                streamid: stream.id,
                url: stream.target.url.to_string(),
                created: stream.created,
                cursor: stream.cursor,
                failing_since: stream.failing_since,
                last_error: stream.last_error,
                disabled: stream.disabled_at.is_some(),
            })
            .collect();
        Self { success: true, streams, next_cursor }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct StreamSaved {
    success: bool,
    message: &'static str,
    #[schema(value_type = String, format = Uuid)]
    streamid: StreamId,
    /// The signing secret; shown only when it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    secret: Option<String>,
}

impl StreamSaved {
    pub(crate) fn of(saved: SavedStream) -> Self {
        let secret = saved.secret.map(|secret| secret.expose().to_owned());
        Self { success: true, message: "Stream saved.", streamid: saved.id, secret }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct StreamTested {
    success: bool,
    /// The receiver's response.
    message: String,
}

impl StreamTested {
    pub(crate) fn of(answer: String) -> Self {
        Self { success: true, message: answer }
    }
}
