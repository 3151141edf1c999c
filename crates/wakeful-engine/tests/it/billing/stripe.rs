//! Tests of the Stripe processor against localstripe, which each test starts and stops:
//! cards, plans, off-session failures, removal, refunds and callbacks.

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use url::Url;
use wakeful_core::billing::{Card, CardNumber, CardSource, Cvc, Expiry, Money};
use wakeful_core::id::TeamId;
use wakeful_core::secret::Secret;
use wakeful_core::time::{Clock as _, Millis};
use wakeful_engine::billing::{self, Processor, Stripe};
use wakeful_outbound::payment::{Decline, Order, PaymentError};
use wakeful_testkit::{Client, DatabaseKind, Setup, TestClock, until, whole};

use super::{DAY, choose, invoiced, later, state};

const SECRET: &str = "whsec_of_the_test";

/// localstripe on its own port; it stops when this value is dropped.
struct Localstripe {
    url: String,
    _process: Child,
}

impl Localstripe {
    async fn start() -> Self {
        let program =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/venv/bin/localstripe");
        assert!(program.exists(), "localstripe is missing: run scripts/install-test-deps");
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let process = Command::new(program)
            .args(["--from-scratch", "--port", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        until("localstripe", || async {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.connect(([127, 0, 0, 1], port).into()).await.ok()
        })
        .await;
        Self { url: format!("http://127.0.0.1:{port}"), _process: process }
    }

    fn processor(&self, clock: Arc<TestClock>) -> Stripe {
        let base = Url::parse(&self.url).unwrap();
        Stripe::new(base, Secret::new("sk_test_12345"), Secret::new(SECRET), clock)
    }

    /// A response of localstripe itself.
    async fn get(&self, path: &str) -> Value {
        let client = Client::new(&self.url).with("authorization", "Bearer sk_test_12345");
        client.get(&format!("/v1/{path}")).await.json()
    }

    /// The charged amounts.
    async fn charged(&self) -> Vec<i64> {
        let list = self.get("payment_intents?limit=100").await;
        let intents = list["data"].as_array().unwrap().iter();
        let paid = intents.filter(|intent| intent["status"] == "succeeded");
        paid.map(|intent| intent["amount"].as_i64().unwrap()).collect()
    }
}

fn with_card(plan: &str, number: &str) -> Value {
    let mut body = choose(plan);
    body["cardNumber"] = json!(number);
    body
}

fn signature(seconds: i64, body: &str, secret: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{seconds}.{body}").as_bytes());
    let hex: String =
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={seconds},v1={hex}")
}

#[tokio::test]
async fn plans_are_paid_renewed_and_declined_at_stripe() {
    let stripe = Localstripe::start().await;
    let mut setup = Setup::on(DatabaseKind::Sqlite);
    setup.settings.billing.processor = Arc::new(stripe.processor(Arc::default()));
    let app = setup.start().await;
    let ann = app.sign_up("ann@example.com").await;

    for (number, code) in [
        ("4000000000000002", "card_declined"),
        ("4000002500003155", "authentication_required"),
        ("4000000000000341", "card_declined"),
    ] {
        ann.client.post("membership/save", &with_card("pro", number)).await.refused(402, code);
    }
    assert!(stripe.charged().await.is_empty());
    ann.client.post("membership/save", &with_card("pro", "4242424242424242")).await.ok();
    assert_eq!(stripe.charged().await, [2900]);

    let client = later(&app, &ann, DAY * 30).await;
    assert_eq!(stripe.charged().await, [2900, 2900]);
    assert_eq!(invoiced(&client).await, [2900, 2900]);

    // A card that can be saved and fails later, off-session.
    let fails = client.post("paymentmethod/save", &with_card("pro", "4000000000000341")).await.ok();
    let body = json!({"plan": "pro", "method": fails["methodid"]});
    client.post("membership/save", &body).await.ok();
    let client = later(&app, &ann, DAY * 31).await;
    assert_eq!(state(&client).await, "pro past_due");
    assert_eq!(stripe.charged().await.len(), 2);

    // A method that is deleted here is detached at Stripe.
    let team = app.store.team(&whole(TeamId::parse(&ann.team).unwrap()));
    for method in team.payment_methods().await.unwrap() {
        let path = format!("payment_methods/{}", method.reference);
        assert!(stripe.get(&path).await["customer"].is_string());
        let body = json!({"methodid": method.id.to_string()});
        client.post("paymentmethod/delete", &body).await.ok();
        assert!(stripe.get(&path).await["customer"].is_null());
    }
    client.post("paymentmethod/save", &json!({"token": "pm_card_visa"})).await.ok();
    client
        .post("paymentmethod/save", &json!({"token": "pm_nobody"}))
        .await
        .refused(402, "bad_card_token");
    app.stop().await;
}

#[tokio::test]
async fn a_callback_requires_a_valid_and_recent_signature() {
    let stripe = Localstripe::start().await;
    let mut setup = Setup::on(DatabaseKind::Sqlite);
    setup.settings.billing.processor = Arc::new(stripe.processor(Arc::default()));
    let app = setup.start().await;
    let ann = app.sign_up("ann@example.com").await;
    let body = with_card("pro", "4242424242424242");
    ann.client.post("paymentmethod/save", &body).await.ok();
    let team = app.store.team(&whole(TeamId::parse(&ann.team).unwrap()));
    let reference = team.payment_methods().await.unwrap().remove(0).reference;
    let event = json!({"type": "payment_method.detached",
        "data": {"object": {"id": reference}}})
    .to_string();
    let now = app.clock.now().0 / 1000;
    let call = async |signature: &str| {
        let caller = app.anonymous().with("stripe-signature", signature);
        caller.post("payment/callback/stripe", &serde_json::from_str(&event).unwrap()).await
    };
    for bad in [
        signature(now, &event, "whsec_of_another"),
        signature(now - 600, &event, SECRET),
        signature(now + 600, &event, SECRET),
        signature(now, "{}", SECRET),
        String::new(),
    ] {
        call(&bad).await.refused(400, "bad_signature");
    }
    assert_eq!(team.payment_methods().await.unwrap().len(), 1);
    call(&signature(now, &event, SECRET)).await.ok();
    assert!(team.payment_methods().await.unwrap().is_empty());
    // A repeated callback and one about an unknown object are accepted without effect.
    call(&signature(now, &event, SECRET)).await.ok();
    let other = json!({"type": "payment_intent.succeeded", "data": {"object": {}}}).to_string();
    let caller = app.anonymous().with("stripe-signature", &signature(now, &other, SECRET));
    caller.post("payment/callback/stripe", &serde_json::from_str(&other).unwrap()).await.ok();
    billing::run_due(&app.engine).await.unwrap();
    app.stop().await;
}

#[tokio::test]
async fn a_charge_is_found_again_and_refunded() {
    let app = Setup::on(DatabaseKind::Sqlite).start().await;
    let stripe = Localstripe::start().await;
    let processor = stripe.processor(Arc::default());
    let customer = processor.customer("k0", TeamId::new(Millis(1), [7; 10])).await.unwrap();
    let source = |number: &str| {
        CardSource::Card(Card {
            name: "Ann".into(),
            number: CardNumber::parse(&Secret::new(number)).unwrap(),
            expiry: Expiry::new(12, 2030),
            cvc: Cvc::parse(Secret::new("123")).unwrap(),
            zip: "12345".into(),
        })
    };
    let method = processor.create("k1", &source("4242424242424242")).await.unwrap();
    assert_eq!((method.last4.as_str(), method.expiry), ("4242", Expiry::new(12, 2030)));
    processor.attach("k1", &customer, &method.reference).await.unwrap();
    let order = Order {
        customer: customer.clone(),
        method: method.reference,
        amount: Money::cents(2900),
        description: "Wakeful Pro".into(),
    };
    assert_eq!(processor.find_charge("k2", &order).await, Ok(None));
    let charge = processor.charge("k2", &order).await.unwrap();
    assert_eq!(processor.find_charge("k2", &order).await, Ok(Some(charge.clone())));
    processor.refund("k2", &charge).await.unwrap();
    let refunds = stripe.get("refunds?limit=10").await;
    assert_eq!(refunds["data"][0]["amount"], 2900);

    let fails = processor.create("k3", &source("4000000000000341")).await.unwrap();
    processor.attach("k3", &customer, &fails.reference).await.unwrap();
    let order = Order { method: fails.reference, ..order };
    let declined = Err(PaymentError::Declined(Decline::Generic));
    assert_eq!(processor.charge("k4", &order).await, declined);
    assert!(processor.find_charge("k4", &order).await.is_err());
    assert_eq!(processor.customer_exists(&customer).await, Ok(true));
    processor.delete_customer(&customer).await.unwrap();
    assert_eq!(processor.customer_exists(&customer).await, Ok(false));
    let rejected = processor.charge("k5", &order).await;
    assert!(matches!(rejected, Err(PaymentError::Rejected(_))), "{rejected:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_customer_removed_at_stripe_is_recreated() {
    let stripe = Localstripe::start().await;
    let mut setup = Setup::on(DatabaseKind::Sqlite);
    setup.settings.billing.processor = Arc::new(stripe.processor(Arc::default()));
    let app = setup.start().await;
    let ann = app.sign_up("ann@example.com").await;
    ann.client.post("membership/save", &with_card("pro", "4242424242424242")).await.ok();
    let team = app.store.team(&whole(TeamId::parse(&ann.team).unwrap()));
    let customer = team.customer("stripe").await.unwrap().unwrap();
    stripe.processor(Arc::default()).delete_customer(&customer).await.unwrap();
    let held = ann.client.get("membership/get").await.ok()["membership"].clone();
    let saved = json!({"plan": "business", "method": held["methodid"]});
    ann.client.post("membership/save", &saved).await.refused(402, "method_gone");
    let body = with_card("business", "4242424242424242");
    ann.client.post("membership/save", &body).await.ok();
    assert_eq!(stripe.charged().await, [2900, 7000]);
    assert_ne!(team.customer("stripe").await.unwrap(), Some(customer));
    app.stop().await;
}
