//! How many messages people get. A recipient of mails, and a notifier that sends to a service, get a
//! few messages per minute. If more are waiting, they are sent as one, and a notifier may wait for
//! more. The times of messages are in the store, so that all nodes respect the same limit.

use std::time::Duration;
use wakeful_core::notifications::notifier::Notifier;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_store::DueGroup;

use crate::{Engine, Result};

/// Messages per recipient or notifier, and minute.
pub(super) const MAX_PER_MINUTE: usize = 6;
pub(super) const MINUTE: Duration = Duration::from_secs(60);
/// The maximum number of events in a message.
pub(super) const MAX_DIGEST: u32 = 5_000;
/// A message that is retried is not delayed for longer by new ones that wait for more.
const MAX_PAUSE: Duration = Duration::from_secs(5);

pub(super) enum Budget {
    /// This many messages may be sent now, at least one.
    Left(usize),
    /// No message may be sent until then.
    Spent(Millis),
}

/// What may be sent to all of these.
pub(super) async fn budget(engine: &Engine, recipients: &[Digest]) -> Result<Budget> {
    let (store, now) = (engine.store(), engine.now());
    let mut left = MAX_PER_MINUTE;
    let mut until = None;
    for recipient in recipients {
        let sent = store.messages_sent_between(*recipient, now.before(MINUTE), now).await?;
        left = left.min(MAX_PER_MINUTE.saturating_sub(sent.len()));
        if let Some(at) = sent.len().checked_sub(MAX_PER_MINUTE) {
            until = until.max(Some(sent[at].after(MINUTE)));
        }
    }
    Ok(until.map_or(Budget::Left(left), Budget::Spent))
}

/// When to try again, if these wait for more.
pub(super) fn waits_until(notifier: &Notifier, group: &DueGroup, now: Millis) -> Option<Millis> {
    let wait = Duration::from_secs(notifier.group_wait.into());
    let until = group.due_since?.after(wait);
    // The first one was due in the future if the clock was set back.
    (now < until && group.due_since? <= now).then(|| until.min(now.after(MAX_PAUSE)))
}

/// How many of these are sent as one message.
pub(super) fn chunk_len(notifier: &Notifier, group: &DueGroup, budget: usize) -> usize {
    let (due, has_room) = (group.ids.len(), group.ids.len() <= budget);
    let is_same = group.digest.is_some() && group.crashes <= 1;
    let is_grouped = notifier.group_wait > 0 && group.due_since.is_some();
    let chunk = if is_same || (is_grouped && group.crashes == 0) {
        due
    } else if has_room {
        1
    } else if group.crashes > 0 {
        // After a crash, each attempt narrows down the cause.
        due.div_ceil(budget)
    } else {
        due
    };
    chunk.max(1)
}

/// Counts that the messages of a notifier are combined or have to wait because of the limit.
pub(super) fn count_limited(notifier: &Notifier) {
    let kind = notifier.channel.kind().as_str();
    metrics::counter!("wakeful_rate_limited_total", "type" => kind).increment(1);
}
