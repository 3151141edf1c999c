//! How many messages to its subscribers a team may cause in an hour. An update counts once for each
//! active subscriber of the pages that show it, whatever they have chosen to receive. Reminders of
//! maintenance do not count: there are few of each update that does.

use std::slice;
use wakeful_core::id::IncidentUpdateId;
use wakeful_core::statuspages::incident::Incident;
use wakeful_core::statuspages::subscriber::{announced, announces_postmortem};

use crate::accounts::rate_limit::Limit;
use crate::{Engine, Error, Result};

/// Messages that are counted, although the change that causes them is not saved yet.
pub(super) struct CountedMessages {
    limit: Limit,
    count: u32,
}

impl Engine {
    /// Counts the messages that a change of an incident causes; fails if they are too many.
    pub(super) async fn count_messages(
        &self,
        before: Option<&Incident>,
        incident: &Incident,
    ) -> Result<CountedMessages> {
        let limit = self.subscriber_message_limit(incident.team);
        let postmortems = usize::from(announces_postmortem(before, incident));
        let events = announced(before, incident).len() + postmortems;
        if events == 0 {
            return Ok(CountedMessages { limit, count: 0 });
        }
        let subscribers = self.store().count_active_subscribers(&incident.all_pages()).await?;
        let messages = u32::try_from(subscribers).unwrap_or(u32::MAX).saturating_mul(events as u32);
        // More than fit into an hour are possible, or a large page could notify nobody.
        let count = messages.min(self.settings().limits.subscriber_messages_per_hour);
        if count > 0 {
            self.count_together(slice::from_ref(&limit), count).await?;
        }
        Ok(CountedMessages { limit, count })
    }

    /// The same for a change that nobody has requested: if the messages are too many, its updates
    /// notify nobody.
    pub(super) async fn count_automatic_messages(
        &self,
        before: Option<&Incident>,
        incident: &mut Incident,
    ) -> Result<CountedMessages> {
        match self.count_messages(before, incident).await {
            Err(Error::Limited { .. }) => {}
            counted => return counted,
        }
        let silent: Vec<IncidentUpdateId> =
            announced(before, incident).into_iter().map(|update| update.id).collect();
        for update in &mut incident.updates {
            update.settings.notify &= !silent.contains(&update.id);
        }
        let team = incident.team;
        let warning = self.subscriber_message_warning_limit(team);
        if self.count_attempt(&warning).await.is_ok() {
            tracing::warn!(team.id = %team, "team {team} has reached limits.subscriber_messages_per_hour, its automatic updates notify no subscribers until it may again");
        }
        Ok(CountedMessages { limit: self.subscriber_message_limit(team), count: 0 })
    }

    /// Undoes the count for a change that was not saved.
    pub(super) async fn undo_messages(&self, counted: CountedMessages) -> Result<()> {
        let CountedMessages { limit, count } = counted;
        if count > 0 {
            self.undo_attempts(slice::from_ref(&limit), count).await?;
        }
        Ok(())
    }
}
