//! Test messages: a notifier is tried before an outage depends on it.

use std::time::Duration;
use wakeful_core::access::permission;
use wakeful_core::id::{EventId, NotifierId};
use wakeful_core::notifications::event::Event;
use wakeful_core::notifications::notifier::Notifier;
use wakeful_core::notifications::recipients::Recipients;
use wakeful_core::notifications::retry::Outcome;
use wakeful_outbound::notify::{self, Attempt, Message};

use super::account_notifier::require_own_notifier;
use super::notifiers::NotifierDraft;
use crate::caller::Authorized;
use crate::{Engine, Error, Result, random};

/// How long a test may take: short enough that the client still waits.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A test message that the receiver accepted.
#[derive(Clone, Debug)]
pub struct NotifierTest {
    /// The receiver's response.
    pub answer: String,
    /// For a mail.
    pub recipients: Option<Recipients>,
}

impl Engine {
    /// Sends a test message with a notifier.
    pub async fn test_notifier(
        &self,
        caller: &Authorized<permission::Respond>,
        id: NotifierId,
    ) -> Result<NotifierTest> {
        let notifier = self.notifier(caller, id).await?;
        self.count_attempt(&self.notifier_test_limit(caller.team())).await?;
        let test = self.send_test(&notifier).await?;
        self.record_success(id).await?;
        Ok(test)
    }

    /// Sends a test message with settings that are not saved. They are validated as if they
    /// were: `merge` applies the request to the stored notifier, if there is one.
    pub async fn test_notifier_draft<E: From<Error>>(
        &self,
        caller: &Authorized<permission::Edit>,
        id: Option<NotifierId>,
        merge: impl FnOnce(Option<&Notifier>) -> std::result::Result<NotifierDraft, E>,
    ) -> std::result::Result<NotifierTest, E> {
        let stored = self.optional_notifier(caller, id).await?;
        if let Some(stored) = &stored {
            require_own_notifier(caller, stored)?;
        }
        let draft = merge(stored.as_ref())?;
        self.validate_channel(caller, &draft.channel).await?;
        let notifier = self.apply_notifier_draft(caller, draft, stored.as_ref());
        self.count_attempt(&self.notifier_test_limit(caller.team())).await?;
        let test = self.send_test(&notifier).await?;
        if stored.is_some_and(|stored| stored.channel == notifier.channel) {
            self.record_success(notifier.id).await?;
        }
        Ok(test)
    }

    async fn record_success(&self, id: NotifierId) -> Result<()> {
        Ok(self.store().record_notifier_success(id, self.now()).await?)
    }

    async fn send_test(&self, notifier: &Notifier) -> Result<NotifierTest> {
        let Ok(sent) = tokio::time::timeout(TIMEOUT, self.attempt_test(notifier)).await else {
            let why = format!("the receiver did not finish within {} s", TIMEOUT.as_secs());
            return Err(Error::NotDelivered(why));
        };
        let Attempt { outcome, recipients, .. } = sent;
        match outcome {
            Outcome::Delivered(answer) | Outcome::Partial { answer, .. } => {
                Ok(NotifierTest { answer, recipients })
            }
            failed => Err(Error::NotDelivered(failed.answer().to_owned())),
        }
    }

    async fn attempt_test(&self, notifier: &Notifier) -> Attempt {
        let now = self.now();
        let event = Event::test(EventId::new(now, random::bytes()), notifier.name.as_str(), now);
        let (net, mail, link) = (self.net(), self.service_mail(), self.public_url());
        let browsers = self.browsers(notifier, None).await;
        let (thread, browsers) = (None, browsers.as_ref());
        let message = Message { event: &event, link, thread, left: None, browsers };
        let attempt = notify::deliver(net, mail, notifier.team, &notifier.channel, message, now);
        let attempt = attempt.await;
        self.record_push(&attempt.push).await;
        attempt
    }
}
