//! The loop that sends the service's own mail: claims what is due by a lease,
//! hands it over, and climbs the ladder of waits when that fails. Everything
//! it knows is in the store, so it can stop and start anywhere.

use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::backoff::{self, CRASHED, MAX_CRASHES};
use wakeful_core::chain::Chain;
use wakeful_outbound::mail::{Handed, Letter, MailError};
use wakeful_store::ClaimedMail;

use crate::deliver::survive::survived;
use crate::{Engine, Result, failpoint, random};

/// Longer than a whole SMTP conversation may take.
const LEASE: Duration = Duration::from_secs(60);
/// Other nodes write mails too, and wake nobody here.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub async fn run(engine: Engine, shutdown: CancellationToken) {
    while !shutdown.is_cancelled() {
        let sent = send_next(&engine).await;
        if matches!(sent, Ok(true)) {
            continue;
        }
        if let Err(error) = sent {
            tracing::warn!(
                error = %Chain(&error),
                "the mail queue cannot be read"
            );
        }
        tokio::select! {
            () = engine.0.mail_waits.notified() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Sends one mail that is due; false when none is.
async fn send_next(engine: &Engine) -> Result<bool> {
    let now = engine.now();
    let Some(claimed) = engine.store().claim_mail(now, now.after(LEASE)).await? else {
        return Ok(false);
    };
    let letter = letter(engine, &claimed);
    let id = claimed.mail.id;
    if claimed.crashes >= MAX_CRASHES {
        tracing::error!(mail.id = %id, "mail {id} failed: {CRASHED}");
        engine.store().mail_failed(id, CRASHED, None).await?;
        return Ok(true);
    }
    failpoint::with("while-mailing", &claimed.mail.subject);
    let defect = |_| {
        let message = "Wakeful itself failed while sending; see its log".to_owned();
        Err(MailError { permanent: false, message })
    };
    match survived(engine.0.postbox.send(engine.net(), &letter)).await.unwrap_or_else(defect) {
        Ok(handed) => {
            metrics::counter!("wakeful_mails_total", "result" => "sent").increment(1);
            match handed {
                Handed::File(path) => {
                    tracing::info!(mail.id = %id, "no mail server is configured: mail {id} was written to {}", path.display());
                }
                Handed::Server(reply) => tracing::info!(mail.id = %id, reply, "mail {id} was sent"),
            }
            engine.store().mail_sent(id).await?;
        }
        Err(error) => {
            metrics::counter!("wakeful_mails_total", "result" => "failed").increment(1);
            let attempts = u32::try_from(claimed.attempts).unwrap_or(u32::MAX);
            let jitter = u32::from_ne_bytes(random::bytes());
            let wait = backoff::wait(attempts, jitter).filter(|_| !error.permanent);
            match wait {
                Some(wait) => {
                    tracing::warn!(mail.id = %id, error = %Chain(&error), "mail {id} waits {} s for another try", wait.as_secs());
                }
                None => {
                    tracing::error!(mail.id = %id, error = %Chain(&error), "mail {id} is given up");
                }
            }
            let next = wait.map(|wait| engine.now().after(wait));
            engine.store().mail_failed(id, &error.message, next).await?;
        }
    }
    Ok(true)
}

fn letter(engine: &Engine, claimed: &ClaimedMail) -> Letter {
    let mail = &claimed.mail;
    Letter {
        id: mail.id.to_string(),
        date: engine.now(),
        from: engine.settings().mail_from.clone(),
        to: vec![mail.to.clone()],
        reply_to: mail.reply_to.clone(),
        subject: mail.subject.clone(),
        text: mail.text.clone(),
        ..Letter::default()
    }
}
