//! There is one charge and one invoice even if the process is killed between charge and
//! commit, or if the processor's response is lost, an error, or late.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Child;
use tokio::task::JoinSet;
use wakeful_testkit::{Client, DatabaseKind, User, both_databases, until};

use crate::cards::localstripe;
use crate::process::{Installation, Server};

const KEY: &str = "sk_test_12345";

/// The fault in the response to a successful charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Lost,
    Says500,
    /// Later than the client's timeout.
    Late,
}

/// A proxy for localstripe that handles idempotency keys like Stripe, rejects requests
/// that Stripe rejects, and injects one fault.
struct StripeProxy {
    url: String,
    behind: String,
    inner: Arc<Mutex<Inner>>,
    _process: Child,
    _tasks: JoinSet<()>,
}

#[derive(Default)]
struct Inner {
    answers: HashMap<String, Vec<u8>>,
    fault: Option<Fault>,
}

impl StripeProxy {
    async fn open(fault: Option<Fault>) -> Self {
        let (process, behind) = localstripe().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let inner = Arc::new(Mutex::new(Inner { fault, ..Inner::default() }));
        let mut tasks = JoinSet::new();
        let (shared, target) = (inner.clone(), behind.clone());
        tasks.spawn(async move {
            let mut serving = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (inner, target) = (shared.clone(), target.clone());
                serving.spawn(async move { drop(serve(stream, &target, &inner).await) });
            }
        });
        Self { url, behind, inner, _process: process, _tasks: tasks }
    }

    fn settings(&self, installation: Installation) -> Installation {
        installation
            .set("BILLING_PROCESSOR", "stripe")
            .set("BILLING_STRIPE_KEY", KEY)
            .set("BILLING_STRIPE_URL", &self.url)
    }

    /// The charged amounts, according to localstripe.
    async fn moved(&self) -> Vec<i64> {
        let client = Client::new(&self.behind).with("authorization", &format!("Bearer {KEY}"));
        let list = client.get("/v1/payment_intents?limit=100").await.json();
        let paid = list["data"].as_array().unwrap().iter();
        let paid = paid.filter(|intent| intent["status"] == "succeeded");
        paid.map(|intent| intent["amount"].as_i64().unwrap()).collect()
    }

    fn has_failed_once(&self) -> bool {
        self.inner.lock().unwrap().fault.is_none()
    }
}

struct ProxiedRequest {
    line: String,
    headers: HashMap<String, String>,
    body: String,
}

impl ProxiedRequest {
    /// What Stripe requires and this request lacks; localstripe does not check it.
    fn lacks(&self) -> Option<&'static str> {
        if !self.headers.contains_key("stripe-version") {
            return Some("the API version is missing");
        }
        let opens = ["POST /v1/setup_intents ", "POST /v1/payment_intents "];
        let opens = opens.iter().any(|line| self.line.starts_with(line));
        let cards_only = self.body.contains("payment_method_types%5B%5D=card");
        (opens && !cards_only)
            .then_some("a return_url must be specified: this intent takes methods that redirect")
    }
}

async fn serve(mut stream: TcpStream, target: &str, inner: &Mutex<Inner>) -> std::io::Result<()> {
    let asked = read(&mut stream).await?;
    let key = asked.headers.get("idempotency-key").cloned();
    let known = key.as_ref().and_then(|key| inner.lock().unwrap().answers.get(key).cloned());
    if let Some(answer) = known {
        return stream.write_all(&answer).await;
    }
    if let Some(wrong) = asked.lacks() {
        let error = json!({"error": {"type": "invalid_request_error", "message": wrong}});
        return stream.write_all(&http_response(400, &error.to_string())).await;
    }
    let mut answer = forward(&asked, target).await;
    let charge = asked.line.starts_with("POST /v1/payment_intents ");
    let fault = if charge { inner.lock().unwrap().fault.take() } else { None };
    if fault == Some(Fault::Says500) {
        answer = http_response(500, "{}");
    }
    if let Some(key) = key {
        inner.lock().unwrap().answers.insert(key, answer.clone());
    }
    match fault {
        Some(Fault::Lost) => return Ok(()),
        Some(Fault::Late) => tokio::time::sleep(Duration::from_secs(30)).await,
        Some(Fault::Says500) | None => {}
    }
    stream.write_all(&answer).await
}

async fn read(stream: &mut TcpStream) -> std::io::Result<ProxiedRequest> {
    let mut bytes = Vec::new();
    loop {
        if let Some(asked) = whole(&bytes) {
            return Ok(asked);
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn whole(bytes: &[u8]) -> Option<ProxiedRequest> {
    let text = std::str::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let line = lines.next()?.to_owned();
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length").map_or(0, |text| text.parse().unwrap());
    (body.len() >= length).then(|| ProxiedRequest { line, headers, body: body.to_owned() })
}

async fn forward(asked: &ProxiedRequest, target: &str) -> Vec<u8> {
    let mut parts = asked.line.split(' ');
    let method = parts.next().unwrap().parse().unwrap();
    let url = format!("{target}{}", parts.next().unwrap());
    let mut request = reqwest::Client::new().request(method, url).body(asked.body.clone());
    for name in ["authorization", "content-type"] {
        if let Some(value) = asked.headers.get(name) {
            request = request.header(name, value);
        }
    }
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    http_response(status, &answer.text().await.unwrap())
}

fn http_response(status: u16, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} Proxied\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

fn choice() -> Value {
    json!({"plan": "pro", "method": "new", "cardholderName": "Ann", "expiryMonth": 12,
        "expiryYear": 2040, "cardNumber": "4242424242424242", "cvc": 123, "zipCode": "12345"})
}

/// Requests a plan and ignores the result.
async fn choose(server: &Server, ann: &User) {
    let url = format!("{}/api/v1/membership/save", server.url);
    let request = reqwest::Client::new().post(url).bearer_auth(&ann.token).json(&choice());
    let _ = request.send().await;
}

/// Waits until the team has its plan and asserts that there is one charge and one invoice.
async fn paid_once(server: &Server, ann: &User, stripe: &StripeProxy) {
    let client = server.anonymous().with_token(&ann.token);
    until("the plan", || async {
        let held = client.get("membership/get").await.ok()["membership"].clone();
        (held["plan"]["planid"] == "pro" && held["payment_under_way"] == false).then_some(())
    })
    .await;
    assert_eq!(stripe.moved().await, [2900]);
    let listed = client.get("membership/invoices").await.ok();
    let invoices = listed["invoices"].as_array().unwrap();
    assert_eq!(invoices.len(), 1, "{listed}");
    assert_eq!((&invoices[0]["amount"], &invoices[0]["state"]), (&json!(2900), &json!("paid")));
}

async fn is_paid_once_with(fault: Fault, kind: DatabaseKind) {
    let stripe = StripeProxy::open(Some(fault)).await;
    let installation = stripe.settings(Installation::new(kind).await);
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    choose(&server, &ann).await;
    assert!(stripe.has_failed_once(), "the fault was injected");
    paid_once(&server, &ann, &stripe).await;
    server.stop().await;
}

both_databases! {
    async fn a_kill_between_charge_and_commit_leads_to_one_charge_and_one_invoice(setup: Setup) {
        let stripe = StripeProxy::open(None).await;
        let installation = stripe.settings(Installation::new(setup.database_kind).await).with_failpoint("after-charge", 1);
        let mut server = installation.serve().await;
        let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
        choose(&server, &ann).await;
        until("the charge", || async { stripe.moved().await.first().copied() }).await;
        assert!(server.is_dead(), "it dies after the charge");
        assert_eq!(installation.number("select count(*) from invoices").await, 0);
        if setup.database_kind == DatabaseKind::Postgres {
            // A node that may not be the only one waits for the lease: two minutes.
            installation.execute("update payment_attempts set lease_until = 0").await;
        }
        let installation = installation.without_failpoint();
        let server = installation.serve().await;
        paid_once(&server, &ann, &stripe).await;
        server.stop().await;
    }

    async fn a_lost_response_leads_to_one_charge_and_one_invoice(setup: Setup) {
        is_paid_once_with(Fault::Lost, setup.database_kind).await;
    }

    async fn a_response_with_status_500_leads_to_one_charge_and_one_invoice(setup: Setup) {
        is_paid_once_with(Fault::Says500, setup.database_kind).await;
    }

    async fn a_late_response_leads_to_one_charge_and_one_invoice(setup: Setup) {
        is_paid_once_with(Fault::Late, setup.database_kind).await;
    }
}
