//! The loop that sends the service's own mail: it claims due mail with a lease, hands it to
//! the transport, and retries with growing delays. All of its state is in the store, so it
//! can stop and start at any point.

use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::backoff::{self, CRASHED, MAX_CRASHES};
use wakeful_core::error_chain::ErrorChain;
use wakeful_outbound::mail::{Email, MailError, SendReceipt};
use wakeful_store::ClaimedMail;

use crate::due_work::{DueWorkReader, POLL_INTERVAL};
use crate::notifications::delivery::survive::survived;
use crate::{Engine, Result, failpoint, random};

/// Longer than a whole SMTP session may take.
const LEASE: Duration = Duration::from_secs(60);

pub async fn run(engine: Engine, shutdown: CancellationToken) {
    let mut due_work = DueWorkReader::default();
    while !shutdown.is_cancelled() {
        let sent = send_next(&engine).await;
        if matches!(sent, Ok(true)) {
            continue;
        }
        if let Err(error) = sent {
            tracing::warn!(
                error = %ErrorChain(&error),
                "reading the mail queue failed, retrying in {} s",
                POLL_INTERVAL.as_secs()
            );
        }
        // Other nodes queue mail too, without waking this one.
        let due = async { while !due_work.next(&engine).await.mail {} };
        tokio::select! {
            () = engine.0.mail_queued.notified() => {}
            () = due => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Sends one due mail; false when there is none.
async fn send_next(engine: &Engine) -> Result<bool> {
    let now = engine.now();
    let Some(claimed) = engine.store().claim_mail(now, now.after(LEASE)).await? else {
        return Ok(false);
    };
    let email = to_email(engine, &claimed);
    let id = claimed.mail.id;
    if claimed.crashes >= MAX_CRASHES {
        tracing::error!(mail.id = %id, "mail {id} failed: {CRASHED}");
        engine.store().mail_failed(id, CRASHED, None).await?;
        return Ok(true);
    }
    failpoint::with("while-mailing", &claimed.mail.subject);
    let defect = |_| {
        let message = "Wakeful itself failed while sending; see its log".to_owned();
        Err(MailError { permanent: false, message, reply: None })
    };
    match survived(engine.0.mail_transport.send(engine.net(), &email)).await.unwrap_or_else(defect)
    {
        Ok(handed) => {
            metrics::counter!("wakeful_mails_total", "result" => "sent").increment(1);
            match handed {
                SendReceipt::File(path) => {
                    tracing::info!(mail.id = %id, "no mail server is configured, mail {id} written to {}", path.display());
                }
                SendReceipt::Server(reply) => {
                    tracing::info!(mail.id = %id, reply, "mail {id} sent");
                }
            }
            engine.store().mail_sent(id).await?;
        }
        Err(error) => {
            metrics::counter!("wakeful_mails_total", "result" => "failed").increment(1);
            let attempts = u32::try_from(claimed.attempts).unwrap_or(u32::MAX);
            let jitter = u32::from_ne_bytes(random::bytes());
            let wait = backoff::delay(attempts, jitter).filter(|_| !error.permanent);
            match wait {
                Some(wait) => {
                    tracing::warn!(mail.id = %id, error = %ErrorChain(&error), "sending mail {id} failed, retrying in {} s", wait.as_secs());
                }
                None => {
                    tracing::error!(mail.id = %id, error = %ErrorChain(&error), "sending mail {id} failed, giving up");
                }
            }
            let next = wait.map(|wait| engine.now().after(wait));
            engine.store().mail_failed(id, &error.message, next).await?;
        }
    }
    Ok(true)
}

fn to_email(engine: &Engine, claimed: &ClaimedMail) -> Email {
    let mail = &claimed.mail;
    Email {
        id: mail.id.to_string(),
        date: engine.now(),
        from: engine.settings().mail_from.clone(),
        to: vec![mail.to.clone()],
        reply_to: mail.reply_to.clone(),
        subject: mail.subject.clone(),
        text: mail.text.clone(),
        ..Email::default()
    }
}
