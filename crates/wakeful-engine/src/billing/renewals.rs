//! The billing loop: it continues attempts whose outcome is unclear, renews plans, removes
//! deleted cards and customers at the processor, and enforces limits. All of its state is in
//! the store, and all work is claimed with a lease.

use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::backoff;
use wakeful_core::billing::{Action, Event, step};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::TeamId;

use super::membership::ChangeEffects;
use super::{LEASE, limits};
use crate::{Engine, Error, Result, random};

const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// A payment method that has not been attached for this long is abandoned.
const UNFINISHED_METHOD_AGE: Duration = Duration::from_secs(15 * 60);

pub async fn run(engine: Engine, shutdown: CancellationToken) {
    let mut limit_check = limits::LimitCheck::default();
    while !shutdown.is_cancelled() {
        let mut done = run_due(&engine).await;
        if done.is_ok() {
            done = limit_check.run_if_due(&engine).await;
        }
        if let Err(error) = done {
            tracing::warn!(
                error = %ErrorChain(&error),
                "billing failed, retrying in {} s",
                POLL_INTERVAL.as_secs()
            );
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Does everything that is due now.
pub async fn run_due(engine: &Engine) -> Result<()> {
    let store = engine.store();
    loop {
        let now = engine.now();
        let Some(attempt) = store.claim_attempt(now, now.after(LEASE)).await? else { break };
        engine.continue_attempt(&attempt).await?;
    }
    loop {
        let now = engine.now();
        let Some(team) = store.claim_due_membership(now, now.after(LEASE)).await? else { break };
        engine.renew(team).await?;
    }
    store.prune_unattached_payment_methods(engine.now().before(UNFINISHED_METHOD_AGE)).await?;
    engine.remove_at_processor().await;
    Ok(())
}

impl Engine {
    /// Renews a due plan, or ends it.
    async fn renew(&self, team: TeamId) -> Result<()> {
        let Some(before) = self.billed_team(team).membership().await? else { return Ok(()) };
        let mut method = match before.method {
            Some(id) => self.billed_team(team).payment_method(id).await?,
            None => None,
        };
        // A method of another processor cannot be charged.
        method = method.filter(|method| method.processor == self.processor().name());
        let price = before.state.subscription.as_ref().and_then(|held| self.price_of(&held.plan));
        let due = Event::Due { has_payment_method: method.is_some(), price };
        let next = step(&before.state, due, self.now())?;
        match (next.action, method) {
            (Some(Action::Charge(charge)), Some(method)) => {
                let attempt = self.new_attempt(team, &method, charge, false).await?;
                match self.start_charge(attempt, before.revision, None).await {
                    // A payment in progress settles it; otherwise it is due again after the lease.
                    Ok(_) | Err(Error::PaymentUnderWay) => {}
                    Err(error) => return Err(error),
                }
            }
            (None, _) => {}
            (action, _) => {
                let effects = ChangeEffects::of_action(action.as_ref());
                self.save_change(team, &before, &next.state, before.method, effects).await?;
                tracing::info!(team.id = %team, "plan of team {team} ended");
            }
        }
        Ok(())
    }

    /// Removes deleted cards and customers at the processor. A failure is retried later.
    pub(super) async fn remove_at_processor(&self) {
        if let Err(error) = self.process_removals().await {
            tracing::warn!(
                error = %ErrorChain(&error),
                "removing data at the payment processor failed, retrying later"
            );
        }
    }

    async fn process_removals(&self) -> Result<()> {
        let processor = self.processor();
        loop {
            let now = self.now();
            let claimed =
                self.store().claim_removal(processor.name(), now, now.after(LEASE)).await?;
            let Some(removal) = claimed else { return Ok(()) };
            let reference = removal.reference.as_str();
            let removed = match removal.kind.as_str() {
                "customer" => processor.delete_customer(reference).await,
                _ => processor.detach(reference).await,
            };
            let next_try = removed.err().map(|error| {
                let tries = u32::try_from(removal.tries).unwrap_or(u32::MAX);
                let jitter = u32::from_ne_bytes(random::bytes());
                let wait = backoff::delay(tries, jitter).unwrap_or(Duration::from_secs(12 * 3600));
                tracing::warn!(
                    error = %ErrorChain(&error),
                    "removing {reference} at the payment processor failed, retrying in {} s",
                    wait.as_secs()
                );
                self.now().after(wait)
            });
            self.store().finish_removal(reference, next_try).await?;
        }
    }
}
