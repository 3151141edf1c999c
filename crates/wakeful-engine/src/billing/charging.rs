//! One try to move money, from the processor's answer to the books. It may be
//! cut off anywhere and taken up by another node: its key is kept before the
//! processor is asked, and its outcome is kept once.

use std::time::Duration;
use wakeful_core::backoff;
use wakeful_core::billing::{Action, Event, Money, step};
use wakeful_core::id::{InvoiceId, TeamId};
use wakeful_outbound::payment::{Decline, Order, PaymentError};
use wakeful_store::{Attempt, InvoiceEntry, Mail, Settled, Settlement};

use super::{ROUNDS, words};
use crate::letters::Words;
use crate::{Engine, Result, failpoint, random};

/// After this a member no longer waits: what was not charged by then is not
/// charged behind their back.
const PATIENCE: Duration = Duration::from_secs(3600);

pub(crate) enum Outcome {
    Paid,
    Declined(Decline),
    /// The processor does not talk to us; nothing was charged.
    Refused(PaymentError),
    /// The loop goes on asking.
    Unclear,
    GivenBack,
}

impl Engine {
    /// Goes on with a try that this caller has claimed.
    pub(super) async fn go_on(&self, attempt: &Attempt) -> Result<Outcome> {
        if attempt.refund {
            return self.give_back(attempt, &attempt.receipt).await;
        }
        let asked = self.ask(attempt).await;
        failpoint::here("after-charge");
        let outcome = match asked {
            Ok(receipt) => self.paid(attempt, &receipt).await?,
            Err(PaymentError::Declined(decline)) => self.declined(attempt, decline).await?,
            Err(error @ PaymentError::Rejected(_)) => self.rejected(attempt, &error).await?,
            // No earlier call of this try is in doubt, and a member waits.
            Err(error @ PaymentError::Refused(_))
                if attempt.new.by_person && attempt.tries <= 1 =>
            {
                self.store().end_attempt(attempt.new.id, "declined", "").await?;
                Outcome::Refused(error)
            }
            Err(error) => self.unclear(attempt, &error).await?,
        };
        let word = match outcome {
            Outcome::Paid => "paid",
            Outcome::Declined(_) => "declined",
            Outcome::Refused(_) => "refused",
            Outcome::Unclear => "unclear",
            Outcome::GivenBack => "given_back",
        };
        metrics::counter!("wakeful_payments_total", "result" => word).increment(1);
        Ok(outcome)
    }

    async fn ask(&self, attempt: &Attempt) -> std::result::Result<String, PaymentError> {
        let new = &attempt.new;
        if new.charge.amount == Money::ZERO {
            return Ok(String::new());
        }
        let processor = self.processor();
        let late = self.now().since(attempt.created) > PATIENCE;
        if processor.name() != new.processor {
            // There is nobody left to ask what became of an earlier call.
            let why = format!("the method belongs to {}", new.processor);
            return Err(match attempt.tries <= 1 || late {
                true => PaymentError::Rejected(why),
                false => PaymentError::Unclear(why),
            });
        }
        let key = new.id.to_string();
        let order = Order {
            customer: new.customer.clone(),
            method: new.reference.clone(),
            amount: new.charge.amount,
            description: words::description(&self.plan_name(&new.charge.plan), &new.charge),
        };
        if attempt.tries > 1 {
            // An earlier answer was lost: look before asking again. Who does not
            // know the customer has charged them nothing.
            match processor.find(&key, &order).await {
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

    async fn paid(&self, attempt: &Attempt, receipt: &str) -> Result<Outcome> {
        let new = &attempt.new;
        for _ in 0..ROUNDS {
            let before = self.standing(new.team).await?;
            let next = step(&before.state, Event::Paid(&new.charge), self.now())?;
            if next.action == Some(Action::Refund) {
                return self.give_back(attempt, receipt).await;
            }
            let plan = self.plan_name(&new.charge.plan);
            let words = words::receipt(self.settings(), &plan, &new.charge, &new.last4);
            let mails = self.letters_to(new.team, words).await?;
            let note = words::note(&new.charge);
            let settlement = Settlement {
                team: new.team,
                id: before.id,
                state: &next.state,
                method: if new.by_person { Some(new.method) } else { before.method },
                show_method: new.by_person,
                revision: before.revision,
                attempt: Some((new.id, "paid", receipt)),
                invoice: Some(self.entry(attempt, "paid", &note)),
                mails: &mails,
            };
            match self.store().settle(&settlement, self.now()).await? {
                Settled::Stale => {}
                Settled::NoTeam => return self.give_back(attempt, receipt).await,
                Settled::Done | Settled::Already => {
                    self.0.mail_waits.notify_one();
                    let amount = new.charge.amount;
                    tracing::info!(team.id = %new.team, attempt.id = %new.id, "team {} paid {amount} for {plan}", new.team);
                    return Ok(Outcome::Paid);
                }
            }
        }
        Ok(Outcome::Unclear)
    }

    async fn declined(&self, attempt: &Attempt, decline: Decline) -> Result<Outcome> {
        let new = &attempt.new;
        if new.by_person {
            self.store().end_attempt(new.id, "declined", "").await?;
            return Ok(Outcome::Declined(decline));
        }
        for _ in 0..ROUNDS {
            let before = self.standing(new.team).await?;
            let next = step(&before.state, Event::Declined(&new.charge), self.now())?;
            let plan = self.plan_name(&new.charge.plan);
            let (words, entry) = match &next.action {
                Some(Action::Remind { charge, next_try }) => {
                    let words = words::failed(
                        self.settings(),
                        &plan,
                        charge,
                        &new.last4,
                        decline,
                        *next_try,
                    );
                    (Some(words), Some(self.entry(attempt, "open", decline.sentence())))
                }
                Some(Action::Ended { why, .. }) => {
                    (Some(words::ended(self.settings(), &plan, *why, self.now())), None)
                }
                _ => (None, None),
            };
            let mails = match words {
                Some(words) => self.letters_to(new.team, words).await?,
                None => Vec::new(),
            };
            let settlement = Settlement {
                team: new.team,
                id: before.id,
                state: &next.state,
                method: before.method,
                show_method: false,
                revision: before.revision,
                attempt: Some((new.id, "declined", "")),
                invoice: entry,
                mails: &mails,
            };
            match self.store().settle(&settlement, self.now()).await? {
                Settled::Stale => {}
                Settled::NoTeam => {
                    self.store().end_attempt(new.id, "declined", "").await?;
                    return Ok(Outcome::Declined(decline));
                }
                Settled::Done | Settled::Already => {
                    self.0.mail_waits.notify_one();
                    tracing::info!(team.id = %new.team, attempt.id = %new.id, "a payment of team {} was declined: {}", new.team, decline.code());
                    return Ok(Outcome::Declined(decline));
                }
            }
        }
        Ok(Outcome::Unclear)
    }

    /// The processor knows the card or the customer no more: nothing was charged,
    /// and asking again would not help.
    async fn rejected(&self, attempt: &Attempt, error: &PaymentError) -> Result<Outcome> {
        let id = attempt.new.id;
        tracing::warn!(attempt.id = %id, error = error as &dyn std::error::Error, "payment {id} was not made");
        self.declined(attempt, Decline::MethodGone).await
    }

    async fn unclear(&self, attempt: &Attempt, error: &PaymentError) -> Result<Outcome> {
        let id = attempt.new.id;
        let tries = u32::try_from(attempt.tries).unwrap_or(u32::MAX);
        let jitter = u32::from_ne_bytes(random::bytes());
        let wait = backoff::wait(tries, jitter).unwrap_or(PATIENCE).min(PATIENCE);
        tracing::warn!(attempt.id = %id, error = error as &dyn std::error::Error, "payment {id} is looked at again in {} s", wait.as_secs());
        self.store().attempt_unclear(id, self.now().after(wait)).await?;
        Ok(Outcome::Unclear)
    }

    /// Money that was moved for what is no longer wanted goes back. The wish is
    /// kept first, so that a crash does not keep the money.
    async fn give_back(&self, attempt: &Attempt, receipt: &str) -> Result<Outcome> {
        let id = attempt.new.id;
        if receipt.is_empty() {
            self.store().end_attempt(id, "refunded", "").await?;
            return Ok(Outcome::GivenBack);
        }
        if !attempt.refund && !self.store().end_attempt(id, "refund", receipt).await? {
            return Ok(Outcome::GivenBack);
        }
        match self.processor().refund(&id.to_string(), receipt).await {
            Ok(()) => {
                self.store().end_attempt(id, "refunded", receipt).await?;
                tracing::info!(attempt.id = %id, "payment {id} was given back");
                Ok(Outcome::GivenBack)
            }
            Err(error) => {
                self.unclear(attempt, &error).await?;
                Ok(Outcome::GivenBack)
            }
        }
    }

    fn entry<'a>(
        &self,
        attempt: &'a Attempt,
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

    /// A letter to who has been in the team longest.
    pub(super) async fn letters_to(&self, team: TeamId, words: Words) -> Result<Vec<Mail>> {
        let members = self.store().team(team).members().await?;
        Ok(members.first().map(|member| self.letter(&member.email, words)).into_iter().collect())
    }
}
