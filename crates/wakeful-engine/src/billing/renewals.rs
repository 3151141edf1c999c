//! The loop of billing: takes up tries whose answer was lost, renews what is
//! due, removes at the processor what was removed here, and watches limits.
//! Everything it knows is in the store; every piece of work is claimed by lease.

use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::backoff;
use wakeful_core::billing::{Action, Event, step};
use wakeful_core::id::TeamId;

use super::membership::Kept;
use super::{LEASE, limits};
use crate::{Engine, Error, Result, random};

const LOOK_EVERY: Duration = Duration::from_secs(5);
/// A method that was noted so long ago and never attached is nobody's.
const UNFINISHED: Duration = Duration::from_secs(15 * 60);

pub async fn run(engine: Engine, shutdown: CancellationToken) {
    let mut watch = limits::Watch::default();
    while !shutdown.is_cancelled() {
        let mut done = round(&engine).await;
        if done.is_ok() {
            done = watch.look(&engine).await;
        }
        if let Err(error) = done {
            let cause = &error as &dyn std::error::Error;
            tracing::warn!(error = cause, "billing could not do its round");
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Does all that is due now.
pub async fn round(engine: &Engine) -> Result<()> {
    let store = engine.store();
    loop {
        let now = engine.now();
        let Some(attempt) = store.claim_attempt(now, now.after(LEASE)).await? else { break };
        engine.go_on(&attempt).await?;
    }
    loop {
        let now = engine.now();
        let Some(team) = store.claim_due_membership(now, now.after(LEASE)).await? else { break };
        engine.renew(team).await?;
    }
    store.sweep_methods(engine.now().before(UNFINISHED)).await?;
    engine.remove_at_processor().await;
    Ok(())
}

impl Engine {
    /// What a team's moment asks for: a charge, or the end of the plan.
    async fn renew(&self, team: TeamId) -> Result<()> {
        let Some(before) = self.store().team(team).membership().await? else { return Ok(()) };
        let mut method = match before.method {
            Some(id) => self.store().team(team).method(id).await?,
            None => None,
        };
        // One that another processor made cannot be charged.
        method = method.filter(|method| method.processor == self.processor().name());
        let price = before.state.held.as_ref().and_then(|held| self.price_of(&held.plan));
        let due = Event::Due { method: method.is_some(), price };
        let next = step(&before.state, due, self.now())?;
        match (next.action, method) {
            (Some(Action::Charge(charge)), Some(method)) => {
                let attempt = self.attempt(team, &method, charge, false).await?;
                match self.try_charge(attempt, before.revision).await {
                    // Whoever is at it settles it; the lease brings us back.
                    Ok(_) | Err(Error::PaymentUnderWay) => {}
                    Err(error) => return Err(error),
                }
            }
            (None, _) => {}
            (action, _) => {
                let kept = Kept::after(action.as_ref());
                self.keep(team, &before, &next.state, before.method, kept).await?;
                tracing::info!(team.id = %team, "the plan of team {team} has ended");
            }
        }
        Ok(())
    }

    /// Removes at the processor what is gone here. A failure waits for later.
    pub(super) async fn remove_at_processor(&self) {
        if let Err(error) = self.remove_all().await {
            let cause = &error as &dyn std::error::Error;
            tracing::warn!(error = cause, "removals at the payment processor wait");
        }
    }

    async fn remove_all(&self) -> Result<()> {
        let processor = self.processor();
        loop {
            let now = self.now();
            let claimed =
                self.store().claim_removal(processor.name(), now, now.after(LEASE)).await?;
            let Some(removal) = claimed else { return Ok(()) };
            let reference = removal.reference.as_str();
            let removed = match removal.kind.as_str() {
                "customer" => processor.forget(reference).await,
                _ => processor.detach(reference).await,
            };
            let next_try = removed.err().map(|error| {
                let tries = u32::try_from(removal.tries).unwrap_or(u32::MAX);
                let jitter = u32::from_ne_bytes(random::bytes());
                let wait = backoff::wait(tries, jitter).unwrap_or(Duration::from_secs(12 * 3600));
                let cause = &error as &dyn std::error::Error;
                tracing::warn!(
                    error = cause,
                    "{reference} is removed at the processor in {} s",
                    wait.as_secs()
                );
                self.now().after(wait)
            });
            self.store().removal_tried(reference, next_try).await?;
        }
    }
}
