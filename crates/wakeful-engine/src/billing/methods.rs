//! The payment methods of a team. A card passes through here to the processor;
//! what is kept is what the processor answers.

use std::net::IpAddr;
use wakeful_core::billing::Source;
use wakeful_core::id::{MethodId, TeamId};
use wakeful_outbound::payment::{Decline, PaymentError, Processor};
use wakeful_store::{KeptMethod, Method, StoreError};

use crate::caller::Caller;
use crate::{Engine, Error, Result, random};

impl Engine {
    pub async fn payment_methods(&self, caller: &Caller) -> Result<Vec<Method>> {
        Ok(self.store().team(caller.team).methods().await?)
    }

    /// Saves a card; the team's first becomes the default.
    pub async fn save_payment_method(
        &self,
        caller: &Caller,
        from: IpAddr,
        source: &Source,
    ) -> Result<MethodId> {
        let added = self.add_method(caller.team, source);
        let method = self.with_card(caller.team, from, added).await?;
        self.store().team(caller.team).finish_method(method.id, self.now()).await?;
        Ok(method.id)
    }

    pub async fn default_payment_method(&self, caller: &Caller, id: MethodId) -> Result<()> {
        match self.store().team(caller.team).default_method(id, self.now()).await? {
            true => Ok(()),
            false => Err(Error::NotFound("payment method")),
        }
    }

    /// Deletes a method here and at the processor, and answers those that
    /// remain. When the processor does not answer, the loop goes on asking.
    pub async fn delete_payment_method(
        &self,
        caller: &Caller,
        id: MethodId,
    ) -> Result<Vec<MethodId>> {
        let team = self.store().team(caller.team);
        let known = team.method(id).await?.is_some();
        if !known || !team.delete_method(id, self.now()).await? {
            return Err(Error::NotFound("payment method"));
        }
        self.remove_at_processor().await;
        Ok(team.methods().await?.into_iter().map(|method| method.id).collect())
    }

    /// A method that is attached at the processor and shown to nobody yet.
    pub(super) async fn add_method(&self, team: TeamId, source: &Source) -> Result<Method> {
        let customer = self.customer(team).await?;
        let id = MethodId::new(self.now(), random::bytes());
        let key = id.to_string();
        let made = self.processor().create(&key, source).await?;
        let (expiry_month, expiry_year) = made.expiry.parts();
        let kept = KeptMethod {
            id,
            processor: self.processor().name(),
            reference: made.reference,
            last4: made.last4,
            expiry_month,
            expiry_year,
            cardholder_name: made.name,
        };
        let store = self.store().team(team);
        let begun = store.begin_method(&kept, self.now()).await.map_err(gone)?;
        if !begun {
            return Err(Error::Declined(Decline::BadToken));
        }
        if let Err(error) = self.attach(team, &key, &customer, &kept.reference).await {
            self.drop_method(team, id).await;
            return Err(error);
        }
        Ok(Method {
            id,
            processor: kept.processor.to_owned(),
            reference: kept.reference,
            last4: kept.last4,
            expiry_month: i64::from(expiry_month),
            expiry_year: i64::from(expiry_year),
            cardholder_name: kept.cardholder_name,
            isdefault: false,
        })
    }

    /// Binds a method to its customer. A customer that the processor no longer
    /// has (removed there, or of another account) is made anew.
    async fn attach(&self, team: TeamId, key: &str, customer: &str, reference: &str) -> Result<()> {
        let processor = self.processor();
        let attached = processor.attach(key, customer, reference).await;
        if !matches!(attached, Err(PaymentError::Rejected(_))) || processor.knows(customer).await? {
            return Ok(attached?);
        }
        tracing::warn!(team.id = %team, "team {team} is made anew at the payment processor: {customer} is unknown there");
        // The key tells what it replaces: the first one would bring that back.
        let made = self.new_customer(team, &format!("customer-{team}-after-{customer}")).await?;
        Ok(processor.attach(&format!("{key}-again"), &made, reference).await?)
    }

    /// Takes back a method that came to nothing. Should this fail, the sweep of
    /// unfinished methods comes by.
    pub(super) async fn drop_method(&self, team: TeamId, id: MethodId) {
        if let Err(error) = self.store().team(team).delete_method(id, self.now()).await {
            let cause = &error as &dyn std::error::Error;
            tracing::warn!(method.id = %id, error = cause, "payment method {id} waits to be swept");
            return;
        }
        self.remove_at_processor().await;
    }

    pub(super) async fn customer(&self, team: TeamId) -> Result<String> {
        let store = self.store().team(team);
        match store.customer(self.processor().name()).await? {
            Some(known) => Ok(known),
            None => self.new_customer(team, &format!("customer-{team}")).await,
        }
    }

    async fn new_customer(&self, team: TeamId, key: &str) -> Result<String> {
        let processor = self.processor();
        let made = processor.customer(key, team).await?;
        let store = self.store().team(team);
        store.keep_customer(processor.name(), &made).await.map_err(gone)?;
        Ok(made)
    }

    pub(super) fn processor(&self) -> &dyn Processor {
        self.settings().billing.processor.as_ref()
    }
}

/// A team that went while its member called.
fn gone(error: StoreError) -> Error {
    match error {
        StoreError::Gone => Error::NotAuthenticated,
        error => error.into(),
    }
}
