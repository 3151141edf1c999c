//! Operations on the streams of a team, which send its audit log to a webhook.

use wakeful_core::access::permission;
use wakeful_core::audit::{MAX_STREAMS_PER_TEAM, Stream, StreamTarget, test_body};
use wakeful_core::id::{EventId, StreamId};
use wakeful_core::monitors::spec::HttpUrl;
use wakeful_core::notifications::notifier::SigningSecret;
use wakeful_core::notifications::retry::Outcome;
use wakeful_store::StreamChange;

use super::delivery::post;
use crate::caller::{Authorized, Reauthenticated};
use crate::{Engine, Error, Result, random};

/// A stream to add, or to change; what is `None` stays as it is.
#[derive(Clone, Debug)]
pub enum SaveStream {
    Add { url: HttpUrl, secret: Option<SigningSecret>, isactive: bool },
    Change(StreamChange),
}

/// A saved stream, and its signing secret if it is new and has to be shown.
#[derive(Clone, Debug)]
pub struct SavedStream {
    pub id: StreamId,
    pub secret: Option<SigningSecret>,
}

/// What to test: a saved stream, a URL, or a saved stream with another URL.
#[derive(Clone, Debug)]
pub struct StreamTest {
    pub id: Option<StreamId>,
    pub url: Option<HttpUrl>,
    pub secret: Option<SigningSecret>,
}

impl Engine {
    /// The team's streams, oldest first.
    pub async fn streams(&self, caller: &Authorized<permission::Own>) -> Result<Vec<Stream>> {
        Ok(self.store().team(caller.team_access()).streams().await?)
    }

    pub async fn save_stream(
        &self,
        caller: &Reauthenticated<permission::Own>,
        save: SaveStream,
    ) -> Result<SavedStream> {
        match save {
            SaveStream::Add { url, secret, isactive } => {
                self.require_allowed(&url)?;
                let secret = secret.unwrap_or_else(|| self.new_signing_secret());
                self.add_stream(caller, StreamTarget { url, secret }, isactive).await
            }
            SaveStream::Change(change) => self.change_stream(caller, &change).await,
        }
    }

    async fn add_stream(
        &self,
        caller: &Authorized<permission::Own>,
        target: StreamTarget,
        isactive: bool,
    ) -> Result<SavedStream> {
        let now = self.now();
        let stream = Stream {
            id: StreamId::new(now, random::bytes()),
            team: caller.team(),
            target,
            cursor: 0,
            attempts: 0,
            failing_since: None,
            last_error: String::new(),
            disabled_at: (!isactive).then_some(now),
            created: now,
        };
        let team = self.store().team(caller.team_access());
        if !team.add_stream(&stream, caller.authority(), &self.audit(caller)).await? {
            let of = "streams per team";
            return Err(Error::FixedLimit { max: MAX_STREAMS_PER_TEAM, of });
        }
        Ok(SavedStream { id: stream.id, secret: Some(stream.target.secret) })
    }

    async fn change_stream(
        &self,
        caller: &Authorized<permission::Own>,
        change: &StreamChange,
    ) -> Result<SavedStream> {
        if let Some(url) = &change.url {
            self.require_allowed(url)?;
        }
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        let changed = team.change_stream(change, caller.authority(), &by, self.now()).await?;
        let (before, after) = changed.ok_or(Error::NotFound("stream"))?;
        let secret = after.target.secret;
        let is_new = secret != before.target.secret;
        Ok(SavedStream { id: change.id, secret: is_new.then_some(secret) })
    }

    pub async fn delete_stream(
        &self,
        caller: &Reauthenticated<permission::Own>,
        id: StreamId,
    ) -> Result<()> {
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        let deleted = team.delete_stream(id, caller.authority(), &by, self.now()).await?;
        if deleted { Ok(()) } else { Err(Error::NotFound("stream")) }
    }

    /// Sends a request without entries, and returns the receiver's response.
    pub async fn test_stream(
        &self,
        caller: &Authorized<permission::Own>,
        test: StreamTest,
    ) -> Result<String> {
        let target = self.target_of_test(caller, test).await?;
        self.require_allowed(&target.url)?;
        self.count_attempt(&self.notifier_test_limit(caller.team())).await?;
        let now = self.now();
        let id = EventId::new(now, random::bytes()).to_string();
        match post(self, &target, id, test_body(caller.team(), now)).await {
            Outcome::Delivered(answer) => Ok(answer),
            failed => Err(Error::NotDelivered(failed.answer().to_owned())),
        }
    }

    async fn target_of_test(
        &self,
        caller: &Authorized<permission::Own>,
        StreamTest { id, url, secret }: StreamTest,
    ) -> Result<StreamTarget> {
        let stored = match id {
            None => None,
            Some(id) => {
                let found = self.store().team(caller.team_access()).stream(id).await?;
                Some(found.ok_or(Error::NotFound("stream"))?.target)
            }
        };
        match (url, stored) {
            (None, Some(stored)) => {
                Ok(StreamTarget { secret: secret.unwrap_or(stored.secret), ..stored })
            }
            (Some(url), stored) => {
                let secret = secret.or(stored.map(|stored| stored.secret));
                let secret = secret.unwrap_or_else(|| self.new_signing_secret());
                Ok(StreamTarget { url, secret })
            }
            (None, None) => Err(Error::Refused { field: "url", why: "is required".into() }),
        }
    }

    fn require_allowed(&self, url: &HttpUrl) -> Result<()> {
        self.validate_url(url).map_err(|why| Error::Refused { field: "url", why: why.to_string() })
    }
}
