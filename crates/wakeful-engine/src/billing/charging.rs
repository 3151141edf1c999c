//! One attempt to charge, from the call of the processor to the invoice. It may be
//! interrupted at any point and continued by another node: its idempotency key is stored
//! before the processor is called, and its outcome is stored once.

use std::time::Duration;
use wakeful_core::access::Permission;
use wakeful_core::backoff;
use wakeful_core::billing::{Action, Event, Money, step};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{InvoiceId, TeamId};
use wakeful_outbound::payment::{Decline, Order, PaymentError};
use wakeful_store::{
    AttemptOutcome, InvoiceEntry, Mail, PaymentAttempt, SettleOutcome, Settlement,
};

use super::{MAX_ATTEMPTS, emails};
use crate::mail::templates::EmailText;
use crate::{Engine, Result, failpoint, random};

/// After this time a member no longer waits for a payment, so it is no longer charged.
const MAX_PENDING: Duration = Duration::from_secs(3600);

pub(crate) enum ChargeOutcome {
    Paid,
    Declined(Decline),
    /// The processor refused the call; nothing was charged.
    Refused(PaymentError),
    /// The loop retries.
    Unclear,
    Refunded,
}

impl Engine {
    /// Continues an attempt that the caller has claimed.
    pub(super) async fn continue_attempt(&self, attempt: &PaymentAttempt) -> Result<ChargeOutcome> {
        if attempt.refund {
            return self.refund_attempt(attempt, &attempt.receipt).await;
        }
        let charged = self.charge_or_find(attempt).await;
        failpoint::here("after-charge");
        let outcome = match charged {
            Ok(receipt) => self.settle_paid(attempt, &receipt).await?,
            Err(PaymentError::Declined(decline)) => self.settle_declined(attempt, decline).await?,
            Err(error @ PaymentError::Rejected(_)) => self.settle_rejected(attempt, &error).await?,
            // No earlier call of this attempt is unclear, and a member waits.
            Err(error @ PaymentError::Refused(_))
                if attempt.new.by_person && attempt.tries <= 1 =>
            {
                self.store().end_attempt(attempt.new.id, "declined", "").await?;
                ChargeOutcome::Refused(error)
            }
            Err(error) => self.retry_later(attempt, &error).await?,
        };
        let result = match outcome {
            ChargeOutcome::Paid => "paid",
            ChargeOutcome::Declined(_) => "declined",
            ChargeOutcome::Refused(_) => "refused",
            ChargeOutcome::Unclear => "unclear",
            ChargeOutcome::Refunded => "given_back",
        };
        metrics::counter!("wakeful_payments_total", "result" => result).increment(1);
        Ok(outcome)
    }

    async fn charge_or_find(
        &self,
        attempt: &PaymentAttempt,
    ) -> std::result::Result<String, PaymentError> {
        let new = &attempt.new;
        if new.charge.amount == Money::ZERO {
            return Ok(String::new());
        }
        let processor = self.processor();
        let late = self.now().since(attempt.created) > MAX_PENDING;
        if processor.name() != new.processor {
            // The outcome of an earlier call can no longer be queried.
            let why = format!("the payment method belongs to {}", new.processor);
            return Err(if attempt.tries <= 1 || late {
                PaymentError::Rejected(why)
            } else {
                PaymentError::Unclear(why)
            });
        }
        let key = new.id.to_string();
        let order = Order {
            customer: new.customer.clone(),
            method: new.reference.clone(),
            amount: new.charge.amount,
            description: emails::description(&self.plan_name(&new.charge.plan), &new.charge),
        };
        if attempt.tries > 1 {
            // An earlier response was lost: look the charge up before trying again. A
            // processor that does not know the customer has charged nothing.
            match processor.find_charge(&key, &order).await {
                Ok(Some(receipt)) => return Ok(receipt),
                Ok(None) | Err(PaymentError::Rejected(_)) => {}
                Err(error) => return Err(error),
            }
            if new.by_person && late {
                return Err(PaymentError::Declined(Decline::Generic));
            }
        }
        processor.charge(&key, &order).await
    }

    async fn settle_paid(&self, attempt: &PaymentAttempt, receipt: &str) -> Result<ChargeOutcome> {
        let new = &attempt.new;
        for _ in 0..MAX_ATTEMPTS {
            let before = self.current_membership(new.team).await?;
            let next = step(&before.state, Event::Paid(&new.charge), self.now())?;
            if next.action == Some(Action::Refund) {
                return self.refund_attempt(attempt, receipt).await;
            }
            let plan = self.plan_name(&new.charge.plan);
            let text = emails::receipt(self.settings(), &plan, &new.charge, &new.last4);
            let mails = self.emails_to_payers(new.team, &text).await?;
            let note = emails::invoice_note(&new.charge);
            let settlement = Settlement {
                team: new.team,
                id: before.id,
                state: &next.state,
                method: if new.by_person { Some(new.method) } else { before.method },
                show_method: new.by_person,
                revision: before.revision,
                attempt: Some(AttemptOutcome { id: new.id, state: "paid", receipt }),
                invoice: Some(self.invoice_entry(attempt, "paid", &note)),
                mails: &mails,
                by: None,
            };
            match self.store().settle(&settlement, self.now()).await? {
                SettleOutcome::Stale => {}
                SettleOutcome::NoTeam => return self.refund_attempt(attempt, receipt).await,
                SettleOutcome::Done | SettleOutcome::AlreadySettled => {
                    self.0.mail_queued.notify_one();
                    let amount = new.charge.amount;
                    tracing::info!(team.id = %new.team, attempt.id = %new.id, "team {} paid {amount} for {plan}", new.team);
                    return Ok(ChargeOutcome::Paid);
                }
            }
        }
        Ok(ChargeOutcome::Unclear)
    }

    async fn settle_declined(
        &self,
        attempt: &PaymentAttempt,
        decline: Decline,
    ) -> Result<ChargeOutcome> {
        let new = &attempt.new;
        if new.by_person {
            self.store().end_attempt(new.id, "declined", "").await?;
            return Ok(ChargeOutcome::Declined(decline));
        }
        for _ in 0..MAX_ATTEMPTS {
            let before = self.current_membership(new.team).await?;
            let next = step(&before.state, Event::Declined(&new.charge), self.now())?;
            let plan = self.plan_name(&new.charge.plan);
            let (text, entry) = match &next.action {
                Some(Action::Remind { charge, next_try }) => {
                    let text = emails::payment_failed(
                        self.settings(),
                        &plan,
                        charge,
                        &new.last4,
                        decline,
                        *next_try,
                    );
                    (Some(text), Some(self.invoice_entry(attempt, "open", decline.sentence())))
                }
                Some(Action::Ended { why, .. }) => {
                    (Some(emails::plan_ended(self.settings(), &plan, *why, self.now())), None)
                }
                _ => (None, None),
            };
            let mails = match text {
                Some(text) => self.emails_to_payers(new.team, &text).await?,
                None => Vec::new(),
            };
            let settlement = Settlement {
                team: new.team,
                id: before.id,
                state: &next.state,
                method: before.method,
                show_method: false,
                revision: before.revision,
                attempt: Some(AttemptOutcome { id: new.id, state: "declined", receipt: "" }),
                invoice: entry,
                mails: &mails,
                by: None,
            };
            match self.store().settle(&settlement, self.now()).await? {
                SettleOutcome::Stale => {}
                SettleOutcome::NoTeam => {
                    self.store().end_attempt(new.id, "declined", "").await?;
                    return Ok(ChargeOutcome::Declined(decline));
                }
                SettleOutcome::Done | SettleOutcome::AlreadySettled => {
                    self.0.mail_queued.notify_one();
                    tracing::info!(team.id = %new.team, attempt.id = %new.id, "payment of team {} declined: {}", new.team, decline.as_str());
                    return Ok(ChargeOutcome::Declined(decline));
                }
            }
        }
        Ok(ChargeOutcome::Unclear)
    }

    /// The processor no longer knows the card or the customer: nothing was charged, and a
    /// retry would not help.
    async fn settle_rejected(
        &self,
        attempt: &PaymentAttempt,
        error: &PaymentError,
    ) -> Result<ChargeOutcome> {
        let id = attempt.new.id;
        tracing::warn!(attempt.id = %id, error = %ErrorChain(error), "payment {id} failed, not retrying");
        self.settle_declined(attempt, Decline::MethodGone).await
    }

    async fn retry_later(
        &self,
        attempt: &PaymentAttempt,
        error: &PaymentError,
    ) -> Result<ChargeOutcome> {
        let id = attempt.new.id;
        let tries = u32::try_from(attempt.tries).unwrap_or(u32::MAX);
        let jitter = u32::from_ne_bytes(random::bytes());
        let wait = backoff::delay(tries, jitter).unwrap_or(MAX_PENDING).min(MAX_PENDING);
        tracing::warn!(attempt.id = %id, error = %ErrorChain(error), "payment {id} is not settled, retrying in {} s", wait.as_secs());
        self.store().postpone_attempt(id, self.now().after(wait)).await?;
        Ok(ChargeOutcome::Unclear)
    }

    /// Refunds a charge that is no longer wanted. The intent is stored first, so that a
    /// crash does not prevent the refund.
    async fn refund_attempt(
        &self,
        attempt: &PaymentAttempt,
        receipt: &str,
    ) -> Result<ChargeOutcome> {
        let id = attempt.new.id;
        if receipt.is_empty() {
            self.store().end_attempt(id, "refunded", "").await?;
            return Ok(ChargeOutcome::Refunded);
        }
        if !attempt.refund && !self.store().end_attempt(id, "refund", receipt).await? {
            return Ok(ChargeOutcome::Refunded);
        }
        match self.processor().refund(&id.to_string(), receipt).await {
            Ok(()) => {
                self.store().end_attempt(id, "refunded", receipt).await?;
                tracing::info!(attempt.id = %id, "payment {id} refunded");
                Ok(ChargeOutcome::Refunded)
            }
            Err(error) => {
                self.retry_later(attempt, &error).await?;
                Ok(ChargeOutcome::Refunded)
            }
        }
    }

    fn invoice_entry<'a>(
        &self,
        attempt: &'a PaymentAttempt,
        state: &'static str,
        note: &'a str,
    ) -> InvoiceEntry<'a> {
        InvoiceEntry {
            id: InvoiceId::new(self.now(), random::bytes()),
            charge: &attempt.new.charge,
            state,
            note,
            last4: &attempt.new.last4,
        }
    }

    /// A mail to each member who may pay.
    pub(super) async fn emails_to_payers(
        &self,
        team: TeamId,
        text: &EmailText,
    ) -> Result<Vec<Mail>> {
        let payers = self.emails_of_members_with(team, Permission::Pay).await?;
        Ok(payers.iter().map(|email| self.new_mail(email, text.clone())).collect())
    }
}
