//! Tests of the connection to a real NATS server: every kind of credentials, and reconnects.

use data_encoding::BASE64URL_NOPAD;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::time::timeout;
use wakeful_core::secret::Secret;
use wakeful_engine::bus::nats::{Nats, NatsSettings, connect};
use wakeful_testkit::{NatsServer, until};

async fn connected(settings: &NatsSettings) -> Nats {
    let nats = connect(settings, "wakeful-test").await.unwrap();
    until("a connection", || async { nats.is_connected().then_some(()) }).await;
    nats
}

/// Whether a published message arrives.
async fn carries(nats: &Nats) -> bool {
    let mut messages = nats.subscribe("wakeful.test").await.unwrap();
    nats.client().flush().await.unwrap();
    assert!(nats.publish("wakeful.test".into(), b"hello".to_vec()).await);
    let message = timeout(Duration::from_secs(5), messages.next()).await;
    message.is_ok_and(|message| message.is_some_and(|message| message.payload == "hello"))
}

async fn is_refused(settings: &NatsSettings) -> bool {
    let nats = connect(settings, "wakeful-test").await.unwrap();
    timeout(Duration::from_millis(700), async {
        let mut state = nats.connection();
        state.wait_for(|connected| *connected).await.unwrap();
    })
    .await
    .is_err()
}

#[tokio::test]
async fn the_client_reconnects_to_a_server_that_starts_late_or_restarts() {
    let mut server = NatsServer::start().await;
    server.kill().await;
    let nats = connect(&NatsSettings::at(server.url()), "wakeful-test").await.unwrap();
    assert!(!nats.is_connected());
    assert!(!nats.publish("wakeful.test".into(), Vec::new()).await, "nothing is buffered");
    let mut messages = nats.subscribe("wakeful.test").await.unwrap();
    for _ in 0..2 {
        server.start_again().await;
        until("a connection", || async { nats.is_connected().then_some(()) }).await;
        assert!(nats.server_version().is_some());
        nats.client().flush().await.unwrap();
        assert!(nats.publish("wakeful.test".into(), b"again".to_vec()).await);
        let message = timeout(Duration::from_secs(5), messages.next()).await.unwrap().unwrap();
        assert_eq!(message.payload, "again");
        server.kill().await;
        until("the loss to be noticed", || async { (!nats.is_connected()).then_some(()) }).await;
    }
}

#[tokio::test]
async fn a_correct_user_and_password_are_accepted_and_wrong_ones_refused() {
    let server = NatsServer::with("authorization { user: ann, password: hunter2 }").await;
    let with = |password: &str| NatsSettings {
        user: Some("ann".into()),
        password: Some(Secret::new(password)),
        ..NatsSettings::at(server.url())
    };
    assert!(carries(&connected(&with("hunter2")).await).await);
    let in_url = format!("nats://ann:hunter2@127.0.0.1:{}", server.port());
    assert!(carries(&connected(&NatsSettings::at(in_url)).await).await);
    assert!(is_refused(&with("hunter3")).await);
    assert!(is_refused(&NatsSettings::at(server.url())).await);
}

#[tokio::test]
async fn a_token_is_accepted() {
    let server = NatsServer::with("authorization { token: hunter2 }").await;
    let settings =
        NatsSettings { token: Some(Secret::new("hunter2")), ..NatsSettings::at(server.url()) };
    assert!(carries(&connected(&settings).await).await);
}

#[tokio::test]
async fn an_nkey_is_accepted_and_another_one_refused() {
    let pair = nkeys::KeyPair::new_user();
    let config = format!("authorization {{ users: [{{ nkey: {} }}] }}", pair.public_key());
    let server = NatsServer::with(&config).await;
    let with = |pair: &nkeys::KeyPair| NatsSettings {
        nkey: Some(Secret::new(pair.seed().unwrap())),
        ..NatsSettings::at(server.url())
    };
    assert!(carries(&connected(&with(&pair)).await).await);
    assert!(is_refused(&with(&nkeys::KeyPair::new_user())).await);
}

/// A claim as NATS writes it: a JSON Web Token that is signed with an nkey.
fn claim(by: &nkeys::KeyPair, about: &nkeys::KeyPair, name: &str, nats: &Value) -> String {
    let part = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let head = part(&json!({"typ": "JWT", "alg": "ed25519-nkey"}));
    let body = part(&json!({"jti": name, "iat": 1_700_000_000, "name": name,
        "iss": by.public_key(), "sub": about.public_key(), "nats": nats}));
    let signed = format!("{head}.{body}");
    let signature = BASE64URL_NOPAD.encode(&by.sign(signed.as_bytes()).unwrap());
    format!("{signed}.{signature}")
}

/// A credentials file in the format of `nsc`: the claim and the seed, each in its frame.
fn credentials(claim: &str, user: &nkeys::KeyPair) -> String {
    format!(
        "-----BEGIN NATS USER JWT-----\n{claim}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
        user.seed().unwrap()
    )
}

#[tokio::test]
async fn a_credentials_file_is_accepted_and_one_of_another_account_refused() {
    let (operator, account) = (nkeys::KeyPair::new_operator(), nkeys::KeyPair::new_account());
    let (user, stranger) = (nkeys::KeyPair::new_user(), nkeys::KeyPair::new_user());
    let no_limit = json!({"subs": -1, "data": -1, "payload": -1, "conn": -1, "leaf": -1,
        "imports": -1, "exports": -1, "wildcards": true});
    let trusted = claim(&operator, &operator, "op", &json!({"type": "operator", "version": 2}));
    let known = json!({"type": "account", "version": 2, "limits": no_limit});
    let known = claim(&operator, &account, "wakeful", &known);
    let config = format!(
        "operator: {trusted}\nresolver: MEMORY\nresolver_preload: {{ {}: {known} }}\n",
        account.public_key()
    );
    let server = NatsServer::with(&config).await;
    let folder = tempfile::tempdir().unwrap();
    let with = |name: &str, by: &nkeys::KeyPair, seed: &nkeys::KeyPair| {
        let may = json!({"type": "user", "version": 2, "pub": {}, "sub": {}, "subs": -1,
            "data": -1, "payload": -1});
        let path = folder.path().join(name);
        std::fs::write(&path, credentials(&claim(by, &user, name, &may), seed)).unwrap();
        NatsSettings { creds: Some(path), ..NatsSettings::at(server.url()) }
    };
    assert!(carries(&connected(&with("ours", &account, &user)).await).await);
    let other = nkeys::KeyPair::new_account();
    assert!(is_refused(&with("other", &other, &user)).await, "of an unknown account");
    assert!(is_refused(&with("stolen", &account, &stranger)).await, "without the user's seed");
    assert!(is_refused(&NatsSettings::at(server.url())).await, "without credentials");
}

#[tokio::test]
async fn a_missing_credentials_file_is_reported_by_the_name_of_its_setting() {
    let settings = NatsSettings {
        creds: Some(Path::new("/nowhere/user.creds").into()),
        ..NatsSettings::at("nats://127.0.0.1:4222")
    };
    let error = connect(&settings, "wakeful-test").await.err().unwrap();
    assert_eq!(error.to_string(), "nats.creds cannot be read");
}

#[tokio::test]
async fn a_trusted_certificate_is_accepted_and_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let trusted = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(path("cert.pem"), trusted.cert.pem()).unwrap();
    std::fs::write(path("key.pem"), trusted.signing_key.serialize_pem()).unwrap();
    let other = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(path("other.pem"), other.cert.pem()).unwrap();
    let config = format!(
        "tls {{ cert_file: \"{}\", key_file: \"{}\" }}",
        path("cert.pem").display(),
        path("key.pem").display()
    );
    let server = NatsServer::with(&config).await;
    let trusting =
        |name: &str| NatsSettings { ca: Some(path(name)), ..NatsSettings::at(server.url()) };
    assert!(carries(&connected(&trusting("cert.pem")).await).await);
    assert!(is_refused(&trusting("other.pem")).await);
    let open = NatsServer::start().await;
    let demanding = NatsSettings { ca: Some(path("cert.pem")), ..NatsSettings::at(open.url()) };
    assert!(is_refused(&demanding).await, "a server without encryption");
}
