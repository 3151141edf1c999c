//! All that waits for one email notifier. An inbox gets a few messages a
//! minute; when more happens it is told in one that names everything.

use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::id::{DeliveryId, NotifierId, TeamId};
use wakeful_core::notice::retry::Outcome;
use wakeful_core::notice::{self, Notice};
use wakeful_core::notifier::{Channel, EmailSpec, Notifier};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_outbound::mail::Letter;
use wakeful_outbound::notify::{email, letters};
use wakeful_store::DueGroup;

use super::LEASE;
use super::desk::Landed;
use super::settle::{Bundle, give_back, settle};
use super::survive::{defect, survived, without_crashed};
use crate::{Engine, Result, failpoint};

/// Messages that one recipient gets within a minute.
const A_MINUTE: usize = 6;
pub(super) const MINUTE: Duration = Duration::from_secs(60);
/// Events that one message names at most.
const IN_A_DIGEST: u32 = 5_000;
/// When the store fails, it is given a moment.
const PAUSE: Duration = Duration::from_secs(5);

/// Sends what so many processes did not survive, which is apart from the rest.
pub(super) async fn deliver(engine: &Engine, id: NotifierId, crashes: u32) -> Landed {
    match empty(engine, id, crashes).await {
        Ok(landed) => landed,
        Err(error) => {
            tracing::warn!(notifier.id = %id, error = &error as &dyn std::error::Error, "mail of notifier {id} waits for the store");
            Landed::Rest(id, engine.now().after(PAUSE))
        }
    }
}

async fn empty(engine: &Engine, id: NotifierId, crashes: u32) -> Result<Landed> {
    let Some(notifier) = engine.store().notifiers_by_id(&[id]).await?.remove(&id) else {
        return Ok(Landed::Rest(id, engine.now().after(MINUTE)));
    };
    let Channel::Email(spec) = &notifier.channel else { return Ok(Landed::Done) };
    let groups = engine.store().due_for(id, engine.now(), IN_A_DIGEST).await?;
    for DueGroup { ids: due, .. } in groups.into_iter().filter(|group| group.crashes == crashes) {
        let budget = match budget(engine, notifier.team, spec).await? {
            Budget::Left(left) => left,
            Budget::Spent(until) => return Ok(Landed::Rest(id, until)),
        };
        let in_one = match due.len() > budget {
            false => 1,
            // After a crash, each attempt narrows down which of them it was.
            true if crashes > 0 => due.len().div_ceil(budget),
            true => due.len(),
        };
        for some in due.chunks(in_one) {
            send(engine, &notifier, spec, some).await?;
        }
    }
    Ok(Landed::Done)
}

enum Budget {
    /// So many messages may go now, at least one.
    Left(usize),
    /// None until then.
    Spent(Millis),
}

async fn budget(engine: &Engine, team: TeamId, spec: &EmailSpec) -> Result<Budget> {
    let now = engine.now();
    let mut left = A_MINUTE;
    let mut until = None;
    for recipient in recipients(team, spec, |_| true) {
        let sent = engine.store().mails_between(recipient, now.before(MINUTE), now).await?;
        left = left.min(A_MINUTE.saturating_sub(sent.len()));
        if let Some(at) = sent.len().checked_sub(A_MINUTE) {
            until = until.max(Some(sent[at].after(MINUTE)));
        }
    }
    Ok(until.map_or(Budget::Left(left), Budget::Spent))
}

/// Recipients are counted for each team apart: one team cannot silence another
/// that writes to the same address.
fn recipients(team: TeamId, spec: &EmailSpec, counts: impl Fn(&String) -> bool) -> Vec<Digest> {
    let mut keys: Vec<String> =
        spec.recipients().map(|one| one.email.key()).filter(counts).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.iter().map(|key| Digest::of(&format!("mail\n{team}\n{key}"))).collect()
}

/// Claims these and sends them as one message, to those who have not heard of
/// them: the same for all of these.
async fn send(
    engine: &Engine,
    notifier: &Notifier,
    spec: &EmailSpec,
    ids: &[DeliveryId],
) -> Result<()> {
    let (begun, now) = (Instant::now(), engine.now());
    let claimed = engine.store().claim_deliveries(ids, now, now.after(LEASE)).await?;
    failpoint::here("after-claim");
    let claimed = without_crashed(engine, claimed).await;
    let bundles = Bundle::together(engine, claimed).await;
    if !engine.cluster().is_steady_since(begun) {
        // This node was held up since its claim, and another may have sent it.
        give_back(engine, &bundles).await;
        return Ok(());
    }
    let Some(first) = bundles.first() else { return Ok(()) };
    let left = first.left();
    let notices: Vec<Notice> = bundles.iter().filter_map(|bundle| bundle.notice.clone()).collect();
    let sending = hand_over(engine, notifier.id, spec, &notices, left);
    let outcome = survived(sending).await.unwrap_or_else(|panic| Ok(defect(panic)))?;
    failpoint::here("after-send");
    let put_off = match &outcome {
        Outcome::Delivered(_) => Some(Vec::new()),
        Outcome::Partly { left, .. } => Some(left.clone()),
        _ => None,
    };
    settle(engine, notifier, &bundles, outcome).await;
    failpoint::here("after-acknowledgement");
    if let Some(put_off) = put_off {
        let is_told =
            |key: &String| left.is_none_or(|left| names(left, key)) && !names(&put_off, key);
        let told = recipients(notifier.team, spec, is_told);
        engine.store().note_mail(&told, engine.now()).await?;
    }
    Ok(())
}

/// Writes the message about these and hands it to the notifier's server.
async fn hand_over(
    engine: &Engine,
    notifier: NotifierId,
    spec: &EmailSpec,
    notices: &[Notice],
    left: Option<&[String]>,
) -> Result<Outcome> {
    for notice in notices {
        failpoint::with("while-sending", &notice.text);
    }
    let letter = match notices {
        [] => return Ok(Outcome::Refused("the stored event cannot be read".to_owned())),
        [one] => answering(engine, spec, notifier, one).await?,
        many => {
            let link = format!("{}/alerts", engine.public_url());
            letters::digest(spec, many, &link, engine.now())
        }
    };
    Ok(email::deliver(engine.net(), spec, &letter, left).await)
}

/// Whether one of these addresses is the one with this key.
fn names(addresses: &[String], key: &str) -> bool {
    addresses.iter().any(|one| wakeful_core::email::key(one) == key)
}

/// The letter about one notice; a reminder or recovery answers the letter of the outage.
async fn answering(
    engine: &Engine,
    spec: &EmailSpec,
    notifier: NotifierId,
    notice: &Notice,
) -> Result<Letter> {
    let alone = notice.data.down_eventid.is_none();
    let later = notice.is(notice::UP) || notice.is(notice::REMINDER);
    let outage = notice.data.alertid.filter(|_| later && alone);
    let answers = match outage {
        Some(alert) => engine.store().outage_event(alert, notifier).await?,
        None => None,
    };
    Ok(letters::letter(spec, notice, &engine.page_of(notice), answers, engine.now()).await)
}
