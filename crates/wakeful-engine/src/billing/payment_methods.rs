//! The payment methods of a team. Card data is passed on to the processor; only the
//! processor's response is stored.

use std::net::IpAddr;
use wakeful_core::access::permission;
use wakeful_core::billing::CardSource;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{PaymentMethodId, TeamId};
use wakeful_outbound::payment::{Decline, PaymentError, Processor};
use wakeful_store::{NewPaymentMethod, PaymentMethod, StoreError};

use crate::caller::Authorized;
use crate::{Engine, Error, Result, random};

impl Engine {
    pub async fn payment_methods(
        &self,
        caller: &Authorized<permission::Bills>,
    ) -> Result<Vec<PaymentMethod>> {
        Ok(self.store().team(caller.team_access()).payment_methods().await?)
    }

    /// Saves a card; the team's first becomes the default.
    pub async fn save_payment_method(
        &self,
        caller: &Authorized<permission::Pay>,
        from: IpAddr,
        source: &CardSource,
    ) -> Result<PaymentMethodId> {
        let added = self.add_method(caller.team(), source);
        let method = self.with_card_limit(caller.team(), from, added).await?;
        self.store()
            .team(caller.team_access())
            .finish_payment_method(method.id, &self.audit(caller))
            .await?;
        Ok(method.id)
    }

    pub async fn default_payment_method(
        &self,
        caller: &Authorized<permission::Pay>,
        id: PaymentMethodId,
    ) -> Result<()> {
        if self
            .store()
            .team(caller.team_access())
            .set_default_payment_method(id, &self.audit(caller))
            .await?
        {
            Ok(())
        } else {
            Err(Error::NotFound("payment method"))
        }
    }

    /// Deletes a method here and at the processor, and returns the remaining ones. If the
    /// processor does not respond, the loop retries.
    pub async fn delete_payment_method(
        &self,
        caller: &Authorized<permission::Pay>,
        id: PaymentMethodId,
    ) -> Result<Vec<PaymentMethodId>> {
        let team = self.store().team(caller.team_access());
        let known = team.payment_method(id).await?.is_some();
        let by = self.audit(caller);
        if !known || !team.delete_payment_method(id, Some(&by), self.now()).await? {
            return Err(Error::NotFound("payment method"));
        }
        self.remove_at_processor().await;
        Ok(team.payment_methods().await?.into_iter().map(|method| method.id).collect())
    }

    /// Adds a method that is attached at the processor, but not listed yet.
    pub(super) async fn add_method(
        &self,
        team: TeamId,
        source: &CardSource,
    ) -> Result<PaymentMethod> {
        let customer = self.customer(team).await?;
        let id = PaymentMethodId::new(self.now(), random::bytes());
        let key = id.to_string();
        let created = self.processor().create(&key, source).await?;
        let (expiry_month, expiry_year) = created.expiry.parts();
        let stored = NewPaymentMethod {
            id,
            processor: self.processor().name(),
            reference: created.reference,
            last4: created.last4,
            expiry_month,
            expiry_year,
            cardholder_name: created.name,
        };
        let store = self.billed_team(team);
        let begun =
            store.begin_payment_method(&stored, self.now()).await.map_err(missing_team_error)?;
        if !begun {
            return Err(Error::Declined(Decline::BadToken));
        }
        if let Err(error) = self.attach(team, &key, &customer, &stored.reference).await {
            self.discard_method(team, id).await;
            return Err(error);
        }
        Ok(PaymentMethod {
            id,
            processor: stored.processor.to_owned(),
            reference: stored.reference,
            last4: stored.last4,
            expiry_month: i64::from(expiry_month),
            expiry_year: i64::from(expiry_year),
            cardholder_name: stored.cardholder_name,
            isdefault: false,
        })
    }

    /// Attaches a method to its customer. A customer that the processor no longer knows,
    /// because it was deleted there or the account is another one, is created again.
    async fn attach(&self, team: TeamId, key: &str, customer: &str, reference: &str) -> Result<()> {
        let processor = self.processor();
        let attached = processor.attach(key, customer, reference).await;
        if !matches!(attached, Err(PaymentError::Rejected(_)))
            || processor.customer_exists(customer).await?
        {
            return Ok(attached?);
        }
        tracing::warn!(team.id = %team, "the payment processor does not know customer {customer}, creating a new one for team {team}");
        // The idempotency key names the replaced customer: the original key would return it.
        let new = self.new_customer(team, &format!("customer-{team}-after-{customer}")).await?;
        Ok(processor.attach(&format!("{key}-again"), &new, reference).await?)
    }

    /// Deletes a method that was not used. If this fails, the billing loop deletes it later.
    pub(super) async fn discard_method(&self, team: TeamId, id: PaymentMethodId) {
        if let Err(error) = self.billed_team(team).delete_payment_method(id, None, self.now()).await
        {
            tracing::warn!(method.id = %id, error = %ErrorChain(&error), "deleting payment method {id} failed, retrying later");
            return;
        }
        self.remove_at_processor().await;
    }

    pub(super) async fn customer(&self, team: TeamId) -> Result<String> {
        let store = self.billed_team(team);
        match store.customer(self.processor().name()).await? {
            Some(known) => Ok(known),
            None => self.new_customer(team, &format!("customer-{team}")).await,
        }
    }

    async fn new_customer(&self, team: TeamId, key: &str) -> Result<String> {
        let processor = self.processor();
        let customer = processor.customer(key, team).await?;
        let store = self.billed_team(team);
        store.save_customer(processor.name(), &customer).await.map_err(missing_team_error)?;
        Ok(customer)
    }

    pub(super) fn processor(&self) -> &dyn Processor {
        self.settings().billing.processor.as_ref()
    }
}

/// The team was deleted during the call.
fn missing_team_error(error: StoreError) -> Error {
    match error {
        StoreError::Gone => Error::NotAuthenticated,
        error => error.into(),
    }
}
