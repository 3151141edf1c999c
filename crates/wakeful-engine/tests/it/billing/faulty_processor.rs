//! A wrapper around the sandbox processor that records all charges and can be made to fail.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};
use wakeful_core::billing::CardSource;
use wakeful_core::id::TeamId;
use wakeful_core::time::Millis;
use wakeful_outbound::payment::{
    BadSignature, Callback, NewMethod, Order, PaymentError, PaymentFuture, Processor, Sandbox,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// The charge is made, but the response is lost.
    LoseAnswer,
    /// Nothing is charged, and the response does not say so: a 500.
    Refuse,
    /// The charge is made, and the response never arrives.
    Hang,
    /// The API key is not accepted: a 401.
    Forbid,
}

pub(crate) struct FaultyProcessor {
    name: &'static str,
    books: Mutex<Books>,
}

impl Default for FaultyProcessor {
    fn default() -> Self {
        Self::named("sandbox")
    }
}

#[derive(Default)]
struct Books {
    /// By idempotency key: each key charges once.
    charges: BTreeMap<String, i64>,
    refunds: BTreeSet<String>,
    attached: BTreeSet<String>,
    customers: BTreeSet<String>,
    /// By idempotency key: a repeated key returns the same customer, even a deleted one.
    created: BTreeMap<String, String>,
    fault: Fault,
    times: u32,
    lose_attach: u32,
    lose_detach: u32,
}

impl FaultyProcessor {
    pub(crate) fn named(name: &'static str) -> Self {
        Self { name, books: Mutex::default() }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    /// Deletes all customers and their cards, as after a change of the Stripe account.
    pub(crate) fn drop_all_customers(&self) {
        let mut books = self.books();
        books.customers.clear();
        books.attached.clear();
    }

    /// Makes this many of the next charges fail.
    pub(crate) fn fail_with(&self, fault: Fault, times: u32) {
        let mut books = self.books();
        (books.fault, books.times) = (fault, times);
    }

    pub(crate) fn lose_attach(&self, times: u32) {
        self.books().lose_attach = times;
    }

    pub(crate) fn lose_detach(&self, times: u32) {
        self.books().lose_detach = times;
    }

    /// The charged amounts, in cents.
    pub(crate) fn charges(&self) -> Vec<i64> {
        self.books().charges.values().copied().collect()
    }

    pub(crate) fn refunds(&self) -> usize {
        self.books().refunds.len()
    }

    pub(crate) fn attached(&self) -> Vec<String> {
        self.books().attached.iter().cloned().collect()
    }

    pub(crate) fn customers(&self) -> Vec<String> {
        self.books().customers.iter().cloned().collect()
    }

    fn fault(&self) -> Fault {
        let mut books = self.books();
        if books.times == 0 {
            return Fault::None;
        }
        books.times -= 1;
        books.fault
    }
}

fn lost<T>() -> Result<T, PaymentError> {
    Err(PaymentError::Unclear("the connection was cut".into()))
}

fn unknown<T>() -> Result<T, PaymentError> {
    Err(PaymentError::Rejected("it answered 404 (resource_missing)".into()))
}

fn take(count: &mut u32) -> bool {
    let some = *count > 0;
    *count = count.saturating_sub(1);
    some
}

impl Processor for FaultyProcessor {
    fn name(&self) -> &'static str {
        self.name
    }

    fn customer<'a>(&'a self, key: &'a str, _team: TeamId) -> PaymentFuture<'a, String> {
        Box::pin(async move {
            let mut books = self.books();
            if let Some(customer) = books.created.get(key) {
                return Ok(customer.clone());
            }
            let customer = format!("cus_{}", books.created.len());
            books.created.insert(key.to_owned(), customer.clone());
            books.customers.insert(customer.clone());
            Ok(customer)
        })
    }

    fn customer_exists<'a>(&'a self, customer: &'a str) -> PaymentFuture<'a, bool> {
        Box::pin(async move { Ok(self.books().customers.contains(customer)) })
    }

    fn create<'a>(&'a self, key: &'a str, source: &'a CardSource) -> PaymentFuture<'a, NewMethod> {
        Sandbox.create(key, source)
    }

    fn attach<'a>(
        &'a self,
        key: &'a str,
        customer: &'a str,
        method: &'a str,
    ) -> PaymentFuture<'a, ()> {
        Box::pin(async move {
            Sandbox.attach(key, customer, method).await?;
            let mut books = self.books();
            if !books.customers.contains(customer) {
                return unknown();
            }
            books.attached.insert(method.to_owned());
            if take(&mut books.lose_attach) { lost() } else { Ok(()) }
        })
    }

    fn detach<'a>(&'a self, method: &'a str) -> PaymentFuture<'a, ()> {
        Box::pin(async move {
            let mut books = self.books();
            if take(&mut books.lose_detach) {
                return lost();
            }
            books.attached.remove(method);
            Ok(())
        })
    }

    fn delete_customer<'a>(&'a self, customer: &'a str) -> PaymentFuture<'a, ()> {
        Box::pin(async move {
            self.books().customers.remove(customer);
            Ok(())
        })
    }

    fn charge<'a>(&'a self, key: &'a str, order: &'a Order) -> PaymentFuture<'a, String> {
        Box::pin(async move {
            let fault = self.fault();
            match fault {
                Fault::Refuse => return lost(),
                Fault::Forbid => return Err(PaymentError::Refused("it answered 401".into())),
                _ if !self.books().attached.contains(&order.method) => return unknown(),
                Fault::None | Fault::LoseAnswer | Fault::Hang => {}
            }
            let id = Sandbox.charge(key, order).await?;
            self.books().charges.insert(key.to_owned(), order.amount.as_cents());
            match fault {
                Fault::LoseAnswer => lost(),
                Fault::Hang => std::future::pending().await,
                Fault::None | Fault::Refuse | Fault::Forbid => Ok(id),
            }
        })
    }

    fn find_charge<'a>(
        &'a self,
        key: &'a str,
        order: &'a Order,
    ) -> PaymentFuture<'a, Option<String>> {
        Box::pin(async move {
            let known = self.books().charges.contains_key(key);
            if known { Sandbox.charge(key, order).await.map(Some) } else { Ok(None) }
        })
    }

    fn refund<'a>(&'a self, key: &'a str, _charge: &'a str) -> PaymentFuture<'a, ()> {
        Box::pin(async move {
            self.books().refunds.insert(key.to_owned());
            Ok(())
        })
    }

    fn callback(&self, _: &[u8], _: &str, _: Millis) -> Result<Option<Callback>, BadSignature> {
        Err(BadSignature)
    }
}
