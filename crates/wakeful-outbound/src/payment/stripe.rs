//! Stripe's REST API, at any base URL. The operator sets the URL, so it is
//! trusted; cards and keys are only in the request's body and headers. Card
//! bodies are wiped after they are sent.

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use url::Url;
use url::form_urlencoded::Serializer;
use wakeful_core::billing::{CURRENCY, CardSource, Expiry};
use wakeful_core::id::TeamId;
use wakeful_core::secret::Secret;
use wakeful_core::time::{Clock, Millis};
use zeroize::Zeroizing;

use super::signature::{self, BadSignature};
use super::{Callback, Decline, NewMethod, Order, PaymentError, PaymentFuture, Processor};
use crate::net::guard::Policy;
use crate::net::http::{Request, fetch};
use crate::net::tls::Trust;
use crate::net::{Deadline, Net};

const CALL_TIMEOUT: Duration = Duration::from_secs(8);
/// A call without a response is repeated at once, with the same key.
const MAX_TRIES: u32 = 2;
const MAX_RESPONSE_BYTES: usize = 1024 * 1024;
/// Pinned, so that our calls do not depend on the account's default version.
const VERSION: HeaderValue = HeaderValue::from_static("2024-06-20");
/// Cards only. Without this an intent accepts every payment method that the
/// account has enabled, and confirming it requires a return URL.
const CARDS_ONLY: (&str, &str) = ("payment_method_types[]", "card");

type StripeResult<T> = Result<T, PaymentError>;

pub struct Stripe {
    net: Net,
    base: Url,
    key: Secret,
    callback_secret: Secret,
}

impl Stripe {
    pub fn new(base: Url, key: Secret, callback_secret: Secret, clock: Arc<dyn Clock>) -> Self {
        let net = Net::new(Policy::Private, Vec::new(), clock);
        Self { net, base, key, callback_secret }
    }

    async fn get(&self, path: &str) -> StripeResult<Value> {
        self.call(Method::GET, path, None, Bytes::new()).await
    }

    async fn post(&self, path: &str, key: &str, fields: &[(&str, &str)]) -> StripeResult<Value> {
        self.call(Method::POST, path, Some(key), form(fields)).await
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: Bytes,
    ) -> StripeResult<Value> {
        let refused = |what: &str| PaymentError::Refused(what.to_owned());
        let url = format!("{}{path}", self.base.as_str().trim_end_matches('/'));
        let url = Url::parse(&url).map_err(|_| refused("the base URL is invalid"))?;
        let mut headers = HeaderMap::new();
        let bearer = format!("Bearer {}", self.key.expose());
        let mut bearer =
            HeaderValue::from_str(&bearer).map_err(|_| refused("the API key is invalid"))?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
        headers.insert("stripe-version", VERSION);
        if let Some(key) = key {
            let form = HeaderValue::from_static("application/x-www-form-urlencoded");
            headers.insert(CONTENT_TYPE, form);
            let key = HeaderValue::from_str(key)
                .map_err(|_| refused("the idempotency key is invalid"))?;
            headers.insert("idempotency-key", key);
        }
        let request = Request { method, url, headers, body, trust: Trust::Required };
        let mut unclear = String::new();
        for _ in 0..MAX_TRIES {
            match fetch(&self.net, &request, MAX_RESPONSE_BYTES, Deadline::within(CALL_TIMEOUT))
                .await
            {
                Ok(reply) => return parse_response(reply.status.as_u16(), &reply.body),
                Err(failure) => unclear = failure.message().to_owned(),
            }
        }
        Err(PaymentError::Unclear(unclear))
    }

    async fn make(&self, key: &str, source: &CardSource) -> StripeResult<NewMethod> {
        let made = match source {
            CardSource::Token(token) => self.existing(token).await?,
            CardSource::Card(card) => {
                let (month, year) = card.expiry.parts();
                let (month, year) = (month.to_string(), year.to_string());
                let fields = [
                    ("type", "card"),
                    ("card[number]", card.number.expose()),
                    ("card[exp_month]", &month),
                    ("card[exp_year]", &year),
                    ("card[cvc]", card.cvc.expose()),
                    ("billing_details[name]", &card.name),
                    ("billing_details[address][postal_code]", &card.zip),
                ];
                self.post("/v1/payment_methods", key, &fields).await?
            }
        };
        method(&made).ok_or_else(|| unreadable("a payment method"))
    }

    /// A method that the web app created at Stripe. One that already belongs to
    /// a customer is refused: knowing its id does not prove ownership.
    async fn existing(&self, token: &Secret) -> StripeResult<Value> {
        let bad = PaymentError::Declined(Decline::BadToken);
        let text = token.expose();
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !plain || !text.starts_with("pm_") {
            return Err(bad);
        }
        match self.get(&format!("/v1/payment_methods/{text}")).await {
            Ok(found) if found["customer"].is_null() => Ok(found),
            Ok(_) | Err(PaymentError::Rejected(_)) => Err(bad),
            Err(error) => Err(error),
        }
    }

    /// A setup intent asks the bank whether the card may be charged without its
    /// owner present. At Stripe it also attaches the card.
    async fn confirm_setup(&self, key: &str, customer: &str, method: &str) -> StripeResult<()> {
        let fields = [("customer", customer), ("usage", "off_session"), CARDS_ONLY];
        let intent = self.post("/v1/setup_intents", &format!("{key}-setup"), &fields).await?;
        let id = intent["id"].as_str().ok_or_else(|| unreadable("a setup intent"))?;
        let path = format!("/v1/setup_intents/{id}/confirm");
        let fields = [("payment_method", method)];
        let confirmed = self.post(&path, &format!("{key}-confirm"), &fields).await?;
        match confirmed["status"].as_str() {
            Some("succeeded") => {}
            Some("requires_action") => {
                return Err(PaymentError::Declined(Decline::AuthenticationRequired));
            }
            _ => return Err(PaymentError::Declined(Decline::Generic)),
        }
        let found = self.get(&format!("/v1/payment_methods/{method}")).await?;
        if found["customer"].as_str() == Some(customer) {
            return Ok(());
        }
        let path = format!("/v1/payment_methods/{method}/attach");
        self.post(&path, &format!("{key}-attach"), &[("customer", customer)]).await.map(|_| ())
    }

    async fn pay(&self, key: &str, order: &Order) -> StripeResult<String> {
        let amount = order.amount.as_cents().to_string();
        // The description goes into the metadata: it is for accounting, and the
        // key there identifies the intent when Stripe no longer remembers the
        // header.
        let fields = [
            ("amount", amount.as_str()),
            ("currency", CURRENCY),
            ("customer", &order.customer),
            ("payment_method", &order.method),
            ("confirm", "true"),
            ("off_session", "true"),
            CARDS_ONLY,
            ("metadata[attempt]", key),
            ("metadata[description]", &order.description),
        ];
        outcome(&self.post("/v1/payment_intents", key, &fields).await?)
    }

    async fn find_intent(&self, key: &str, order: &Order) -> StripeResult<Option<String>> {
        let path = format!("/v1/payment_intents?customer={}&limit=100", order.customer);
        let list = match self.get(&path).await {
            // Stripe-compatible servers may not support the filter.
            Err(PaymentError::Rejected(_)) => self.get("/v1/payment_intents?limit=100").await?,
            list => list?,
        };
        let intents = list["data"].as_array().ok_or_else(|| unreadable("a list of intents"))?;
        let ours = intents.iter().find(|intent| intent["metadata"]["attempt"] == key);
        ours.map(outcome).transpose()
    }
}

/// A form in memory that is wiped after it is sent. Allocated up front: growing
/// would leave copies in memory.
fn form(fields: &[(&str, &str)]) -> Bytes {
    let mut writer = Serializer::new(String::with_capacity(4096));
    writer.extend_pairs(fields);
    Bytes::from_owner(Zeroizing::new(writer.finish().into_bytes()))
}

/// The outcome of a payment intent: the money moved, or it did not.
fn outcome(intent: &Value) -> StripeResult<String> {
    let id = intent["id"].as_str().ok_or_else(|| unreadable("a payment intent"))?;
    match intent["status"].as_str() {
        Some("succeeded") => Ok(id.to_owned()),
        Some("requires_action") => Err(PaymentError::Declined(Decline::AuthenticationRequired)),
        Some("processing") => {
            Err(PaymentError::Unclear("the payment is still being processed".into()))
        }
        _ => Err(PaymentError::Declined(decline(&intent["last_payment_error"]))),
    }
}

fn method(made: &Value) -> Option<NewMethod> {
    let card = &made["card"];
    let month = Expiry::month(card["exp_month"].as_u64()?).ok()?;
    let year = Expiry::year(card["exp_year"].as_u64()?).ok()?;
    Some(NewMethod {
        reference: made["id"].as_str()?.to_owned(),
        last4: card["last4"].as_str()?.to_owned(),
        expiry: Expiry::new(month, year),
        name: made["billing_details"]["name"].as_str().unwrap_or_default().to_owned(),
    })
}

/// Classifies a response by what it says about the outcome.
fn parse_response(status: u16, body: &[u8]) -> StripeResult<Value> {
    let parsed: Option<Value> = serde_json::from_slice(body).ok();
    let error = parsed.as_ref().map_or(&Value::Null, |json| &json["error"]);
    match status {
        200..=299 => parsed.ok_or_else(|| unreadable("a response")),
        402 => Err(PaymentError::Declined(decline(error))),
        400 if error["type"] == "card_error" => Err(PaymentError::Declined(decline(error))),
        // 409: the first call with this key is still in progress.
        409 | 424 | 429 | 500..=599 => Err(PaymentError::Unclear(format!("it returned {status}"))),
        // The key was used with other fields, so an earlier call may have
        // succeeded.
        400 if error["type"] == "idempotency_error" => {
            Err(PaymentError::Unclear("the idempotency key was used for another request".into()))
        }
        400 | 404 => Err(PaymentError::Rejected(describe_error(status, error))),
        _ => Err(PaymentError::Refused(describe_error(status, error))),
    }
}

/// Its message could repeat our data; the code cannot.
fn describe_error(status: u16, error: &Value) -> String {
    let code = error["code"].as_str().or(error["type"].as_str()).unwrap_or("no code");
    format!("it returned {status} ({code})")
}

fn decline(error: &Value) -> Decline {
    let word = |field: &str| error[field].as_str().unwrap_or_default();
    match (word("code"), word("decline_code")) {
        ("expired_card", _) | (_, "expired_card") => Decline::Expired,
        (_, "insufficient_funds") => Decline::InsufficientFunds,
        ("authentication_required" | "payment_intent_authentication_failure", _)
        | (_, "authentication_required") => Decline::AuthenticationRequired,
        ("incorrect_cvc" | "incorrect_number" | "invalid_number" | "invalid_cvc", _) => {
            Decline::Incorrect
        }
        ("processing_error", _) => Decline::Processing,
        _ => Decline::Generic,
    }
}

fn unreadable(what: &str) -> PaymentError {
    PaymentError::Unclear(format!("{what} cannot be read"))
}

/// Succeeds if the object no longer exists.
fn ignore_missing(answer: StripeResult<Value>) -> StripeResult<()> {
    match answer {
        Ok(_) => Ok(()),
        Err(PaymentError::Rejected(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

impl Processor for Stripe {
    fn name(&self) -> &'static str {
        "stripe"
    }

    fn customer<'a>(&'a self, key: &'a str, team: TeamId) -> PaymentFuture<'a, String> {
        Box::pin(async move {
            let team = team.to_string();
            let made = self.post("/v1/customers", key, &[("metadata[team]", &team)]).await?;
            made["id"].as_str().map(str::to_owned).ok_or_else(|| unreadable("a customer"))
        })
    }

    fn customer_exists<'a>(&'a self, customer: &'a str) -> PaymentFuture<'a, bool> {
        Box::pin(async move {
            match self.get(&format!("/v1/customers/{customer}")).await {
                // A deleted customer is still returned, marked as deleted.
                Ok(found) => Ok(found["deleted"] != true),
                Err(PaymentError::Rejected(_)) => Ok(false),
                Err(error) => Err(error),
            }
        })
    }

    fn create<'a>(&'a self, key: &'a str, source: &'a CardSource) -> PaymentFuture<'a, NewMethod> {
        Box::pin(self.make(key, source))
    }

    fn attach<'a>(
        &'a self,
        key: &'a str,
        customer: &'a str,
        method: &'a str,
    ) -> PaymentFuture<'a, ()> {
        Box::pin(self.confirm_setup(key, customer, method))
    }

    fn detach<'a>(&'a self, method: &'a str) -> PaymentFuture<'a, ()> {
        Box::pin(async move {
            let path = format!("/v1/payment_methods/{method}/detach");
            ignore_missing(self.post(&path, &format!("detach-{method}"), &[]).await)
        })
    }

    fn delete_customer<'a>(&'a self, customer: &'a str) -> PaymentFuture<'a, ()> {
        Box::pin(async move {
            let path = format!("/v1/customers/{customer}");
            ignore_missing(self.call(Method::DELETE, &path, None, Bytes::new()).await)
        })
    }

    fn charge<'a>(&'a self, key: &'a str, order: &'a Order) -> PaymentFuture<'a, String> {
        Box::pin(self.pay(key, order))
    }

    fn find_charge<'a>(
        &'a self,
        key: &'a str,
        order: &'a Order,
    ) -> PaymentFuture<'a, Option<String>> {
        Box::pin(self.find_intent(key, order))
    }

    fn refund<'a>(&'a self, key: &'a str, charge: &'a str) -> PaymentFuture<'a, ()> {
        Box::pin(async move {
            let fields = [("payment_intent", charge)];
            match self.post("/v1/refunds", &format!("refund-{key}"), &fields).await {
                Err(PaymentError::Rejected(why)) if why.contains("charge_already_refunded") => {
                    Ok(())
                }
                refunded => refunded.map(|_| ()),
            }
        })
    }

    fn callback(
        &self,
        body: &[u8],
        signature: &str,
        now: Millis,
    ) -> Result<Option<Callback>, BadSignature> {
        signature::verify(&self.callback_secret, signature, body, now)?;
        let event: Value = serde_json::from_slice(body).map_err(|_| BadSignature)?;
        let object = &event["data"]["object"];
        let kind = event["type"].as_str().unwrap_or_default();
        Ok(match kind {
            "payment_intent.succeeded"
            | "payment_intent.payment_failed"
            | "payment_intent.canceled" => object["metadata"]["attempt"]
                .as_str()
                .map(|key| Callback::Charge { key: key.to_owned() }),
            "payment_method.detached" => {
                object["id"].as_str().map(|id| Callback::Detached { method: id.to_owned() })
            }
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_response_is_classified_by_what_it_says_about_the_outcome() {
        let of = |status, body: Value| parse_response(status, body.to_string().as_bytes());
        assert!(of(200, json!({"id": "x"})).is_ok());
        let declined = |decline| Err(PaymentError::Declined(decline));
        let error = |fields: Value| json!({ "error": fields });
        assert_eq!(of(402, error(json!({"code": "card_declined"}))), declined(Decline::Generic));
        let funds = json!({"code": "card_declined", "decline_code": "insufficient_funds"});
        assert_eq!(of(402, error(funds)), declined(Decline::InsufficientFunds));
        let cvc = json!({"type": "card_error", "code": "incorrect_cvc"});
        assert_eq!(of(400, error(cvc)), declined(Decline::Incorrect));
        for status in [409, 424, 429, 500, 503] {
            assert!(matches!(of(status, json!({})), Err(PaymentError::Unclear(_))), "{status}");
        }
        for status in [400, 404] {
            assert!(matches!(of(status, json!({})), Err(PaymentError::Rejected(_))), "{status}");
        }
        for status in [401, 403, 302] {
            assert!(matches!(of(status, json!({})), Err(PaymentError::Refused(_))), "{status}");
        }
        // The outcome of the first call with the key is not reported.
        let used = of(400, error(json!({"type": "idempotency_error"})));
        assert!(matches!(used, Err(PaymentError::Unclear(_))));
        assert!(matches!(parse_response(200, b"<html>"), Err(PaymentError::Unclear(_))));
    }

    #[test]
    fn the_processors_message_is_not_repeated() {
        let body = json!({"error": {"message": "No such card: 4242424242424242"}}).to_string();
        let error = parse_response(400, body.as_bytes()).expect_err("refused").to_string();
        assert!(!error.contains("4242"), "{error}");
    }
}
