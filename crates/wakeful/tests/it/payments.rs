//! One charge and one invoice, whatever comes between them: the process is
//! killed when the money has moved and the books do not know, or the
//! processor's answer gets lost, says nothing or comes late.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Child;
use tokio::task::JoinSet;
use wakeful_testkit::{Client, Engine, User, both_engines, until};

use crate::cards::localstripe;
use crate::home::{Home, Server};

const KEY: &str = "sk_test_12345";

/// What becomes of the answer to a charge that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Lost,
    Says500,
    /// Later than anybody waits.
    Late,
}

/// localstripe behind a door that keeps idempotency keys as Stripe does, refuses
/// what Stripe refuses, and spoils one answer.
struct Bank {
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

impl Bank {
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

    fn settings(&self, home: Home) -> Home {
        home.set("BILLING_PROCESSOR", "stripe")
            .set("BILLING_STRIPE_KEY", KEY)
            .set("BILLING_STRIPE_URL", &self.url)
    }

    /// The amounts that moved, as localstripe itself says.
    async fn moved(&self) -> Vec<i64> {
        let client = Client::new(&self.behind).with("authorization", &format!("Bearer {KEY}"));
        let list = client.get("/v1/payment_intents?limit=100").await.json();
        let paid = list["data"].as_array().unwrap().iter();
        let paid = paid.filter(|intent| intent["status"] == "succeeded");
        paid.map(|intent| intent["amount"].as_i64().unwrap()).collect()
    }

    fn is_spoilt(&self) -> bool {
        self.inner.lock().unwrap().fault.is_none()
    }
}

struct Asked {
    line: String,
    headers: HashMap<String, String>,
    body: String,
}

impl Asked {
    /// What Stripe would miss and localstripe does not ask for.
    fn lacks(&self) -> Option<&'static str> {
        if !self.headers.contains_key("stripe-version") {
            return Some("the version would be the account's own");
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
        return stream.write_all(&told(400, &error.to_string())).await;
    }
    let mut answer = forward(&asked, target).await;
    let charge = asked.line.starts_with("POST /v1/payment_intents ");
    let fault = if charge { inner.lock().unwrap().fault.take() } else { None };
    if fault == Some(Fault::Says500) {
        answer = told(500, "{}");
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

async fn read(stream: &mut TcpStream) -> std::io::Result<Asked> {
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

fn whole(bytes: &[u8]) -> Option<Asked> {
    let text = std::str::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let line = lines.next()?.to_owned();
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length").map_or(0, |text| text.parse().unwrap());
    (body.len() >= length).then(|| Asked { line, headers, body: body.to_owned() })
}

async fn forward(asked: &Asked, target: &str) -> Vec<u8> {
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
    told(status, &answer.text().await.unwrap())
}

fn told(status: u16, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} Told\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

fn choice() -> Value {
    json!({"plan": "pro", "method": "new", "cardholderName": "Ann", "expiryMonth": 12,
        "expiryYear": 2040, "cardNumber": "4242424242424242", "cvc": 123, "zipCode": "12345"})
}

/// Asks for a plan and does not mind how it goes.
async fn choose(server: &Server, ann: &User) {
    let url = format!("{}/api/v1/membership/save", server.url);
    let request = reqwest::Client::new().post(url).bearer_auth(&ann.token).json(&choice());
    let _ = request.send().await;
}

/// Once the team has its plan, the money has moved once and the books say so.
async fn paid_once(server: &Server, ann: &User, bank: &Bank) {
    let client = server.anonymous().with_token(&ann.token);
    until("the plan", || async {
        let held = client.get("membership/get").await.ok()["membership"].clone();
        (held["plan"]["planid"] == "pro" && held["payment_under_way"] == false).then_some(())
    })
    .await;
    assert_eq!(bank.moved().await, [2900]);
    let listed = client.get("membership/invoices").await.ok();
    let invoices = listed["invoices"].as_array().unwrap();
    assert_eq!(invoices.len(), 1, "{listed}");
    assert_eq!((&invoices[0]["amount"], &invoices[0]["state"]), (&json!(2900), &json!("paid")));
}

async fn is_paid_once_with(fault: Fault, engine: Engine) {
    let bank = Bank::open(Some(fault)).await;
    let home = bank.settings(Home::new(engine).await);
    let server = home.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    choose(&server, &ann).await;
    assert!(bank.is_spoilt(), "an answer was spoilt");
    paid_once(&server, &ann, &bank).await;
    server.stop().await;
}

both_engines! {
    async fn a_kill_between_charge_and_commit_is_one_charge_and_one_invoice(setup: Setup) {
        let bank = Bank::open(None).await;
        let home = bank.settings(Home::new(setup.engine).await).dying_at("after-charge", 1);
        let mut server = home.serve().await;
        let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
        choose(&server, &ann).await;
        until("the death", || async { bank.moved().await.first().copied() }).await;
        assert!(server.is_dead(), "it dies when the money has moved");
        assert_eq!(home.number("select count(*) from invoices").await, 0);
        if setup.engine == Engine::Postgres {
            // A node that may not be alone waits for the lease: two minutes later.
            home.execute("update payment_attempts set lease_until = 0").await;
        }
        let home = home.living();
        let server = home.serve().await;
        paid_once(&server, &ann, &bank).await;
        server.stop().await;
    }

    async fn a_lost_answer_is_one_charge_and_one_invoice(setup: Setup) {
        is_paid_once_with(Fault::Lost, setup.engine).await;
    }

    async fn an_answer_that_says_500_is_one_charge_and_one_invoice(setup: Setup) {
        is_paid_once_with(Fault::Says500, setup.engine).await;
    }

    async fn a_late_answer_is_one_charge_and_one_invoice(setup: Setup) {
        is_paid_once_with(Fault::Late, setup.engine).await;
    }
}
