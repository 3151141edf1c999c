//! The Stripe client against a peer that loses answers: a call is made again
//! with its key, so that the peer can tell it from another.

use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use wakeful_core::billing::{Card, CardNumber, Cvc, Expiry, Source};
use wakeful_core::secret::Secret;
use wakeful_outbound::payment::{PaymentError, Processor as _, Stripe};

use crate::peer::Today;

const MADE: &str = r#"{"id":"pm_1","card":{"last4":"4242","exp_month":12,"exp_year":2030},"billing_details":{"name":"Ann"}}"#;

fn card() -> Source {
    Source::Card(Card {
        name: "Ann".into(),
        number: CardNumber::parse(&Secret::new("4242424242424242")).unwrap(),
        expiry: Expiry::new(12, 2030),
        cvc: Cvc::parse(Secret::new("123")).unwrap(),
        zip: "12345".into(),
    })
}

/// Reads so many requests, answers each but those that are lost, and gives
/// back what was asked.
async fn peer(answers: Vec<Option<String>>) -> (Stripe, JoinSet<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            // The last field of the form is the zip code.
            while !request.ends_with(b"12345") {
                assert!(stream.read_buf(&mut request).await.unwrap() > 0, "a whole request");
            }
            asked.push(String::from_utf8(request).unwrap());
            if let Some(answer) = answer {
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
        asked
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
async fn a_lost_answer_is_asked_for_again_with_the_same_key() {
    let (stripe, mut tasks) = peer(vec![None, answer("200 OK", MADE)]).await;
    let made = stripe.create("key-1", &card()).await.unwrap();
    assert_eq!((made.reference.as_str(), made.last4.as_str()), ("pm_1", "4242"));
    let asked = tasks.join_next().await.unwrap().unwrap();
    assert_eq!(asked.iter().map(|request| key(request)).collect::<Vec<_>>(), ["key-1", "key-1"]);
}

#[tokio::test]
async fn what_is_no_answer_is_unclear_and_never_a_decline() {
    for status in ["500 Internal Server Error", "503 Service Unavailable", "409 Conflict"] {
        let (stripe, _tasks) = peer(vec![answer(status, "{}")]).await;
        let unclear = stripe.create("k", &card()).await;
        assert!(matches!(unclear, Err(PaymentError::Unclear(_))), "{status}: {unclear:?}");
    }
    let (stripe, _tasks) = peer(vec![None, None]).await;
    assert!(matches!(stripe.create("k", &card()).await, Err(PaymentError::Unclear(_))));
}
