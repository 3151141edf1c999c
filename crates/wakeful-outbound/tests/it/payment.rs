//! The Stripe client against a server that loses responses: a call is repeated
//! with its key, so that the server recognizes it.

use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use wakeful_core::billing::{Card, CardNumber, CardSource, Cvc, Expiry};
use wakeful_core::secret::Secret;
use wakeful_outbound::payment::{PaymentError, Processor as _, Stripe};

use crate::servers::Today;

const MADE: &str = r#"{"id":"pm_1","card":{"last4":"4242","exp_month":12,"exp_year":2030},"billing_details":{"name":"Ann"}}"#;

fn card() -> CardSource {
    CardSource::Card(Card {
        name: "Ann".into(),
        number: CardNumber::parse(&Secret::new("4242424242424242")).unwrap(),
        expiry: Expiry::new(12, 2030),
        cvc: Cvc::parse(Secret::new("123")).unwrap(),
        zip: "12345".into(),
    })
}

/// Reads one request per entry, responds to each except the lost ones, and
/// returns the requests.
async fn server(answers: Vec<Option<String>>) -> (Stripe, JoinSet<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut requests = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            // The last field of the form is the zip code.
            while !request.ends_with(b"12345") {
                assert!(stream.read_buf(&mut request).await.unwrap() > 0, "a whole request");
            }
            requests.push(String::from_utf8(request).unwrap());
            if let Some(answer) = answer {
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
        requests
    });
    let stripe = Stripe::new(base, Secret::new("sk_test"), Secret::new(""), Arc::new(Today));
    (stripe, tasks)
}

fn answer(status: &str, body: &str) -> Option<String> {
    Some(format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    ))
}

fn key(request: &str) -> &str {
    let line = request.lines().find(|line| line.to_lowercase().starts_with("idempotency-key:"));
    line.unwrap().split_once(':').unwrap().1.trim()
}

#[tokio::test]
async fn a_call_with_a_lost_response_is_repeated_with_the_same_key() {
    let (stripe, mut tasks) = server(vec![None, answer("200 OK", MADE)]).await;
    let made = stripe.create("key-1", &card()).await.unwrap();
    assert_eq!((made.reference.as_str(), made.last4.as_str()), ("pm_1", "4242"));
    let requests = tasks.join_next().await.unwrap().unwrap();
    assert_eq!(requests.iter().map(|request| key(request)).collect::<Vec<_>>(), ["key-1", "key-1"]);
}

#[tokio::test]
async fn a_server_error_is_unclear_and_never_a_decline() {
    for status in ["500 Internal Server Error", "503 Service Unavailable", "409 Conflict"] {
        let (stripe, _tasks) = server(vec![answer(status, "{}")]).await;
        let unclear = stripe.create("k", &card()).await;
        assert!(matches!(unclear, Err(PaymentError::Unclear(_))), "{status}: {unclear:?}");
    }
    let (stripe, _tasks) = server(vec![None, None]).await;
    assert!(matches!(stripe.create("k", &card()).await, Err(PaymentError::Unclear(_))));
}
