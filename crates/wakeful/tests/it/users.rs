//! `wakeful user`: what the operator does for somebody who is locked out, while
//! the server runs.

use serde_json::json;
use wakeful_testkit::{Engine, User};

use crate::home::Home;
use crate::mfa::Guarded;

async fn an_operator_helps_beside_a_running_server(engine: Engine) {
    let home = Home::new(engine).await;
    let server = home.serve().await;
    let anonymous = server.anonymous();
    let ann = Guarded::sign_up(&anonymous, "ann@example.com").await;
    let bob = User::sign_up(&anonymous, "bob@example.com").await;

    let listed = home.run(&["user", "list"]).await.ok();
    let line =
        |email: &str| listed.lines().find(|line| line.starts_with(email)).unwrap().to_owned();
    assert!(line("ann@example.com").contains("\ton\t"), "{listed}");
    assert!(line("bob@example.com").contains(&format!("\t{}\t{}\toff\t", bob.team, bob.userid)));
    assert!(!listed.contains("argon2") && !listed.contains(&ann.secret), "{listed}");

    home.run(&["user", "disable-mfa", "ANN@example.com"]).await.ok();
    let ann = ann.user.log_in(&anonymous).await;

    let told = home.run(&["user", "reset-password", "ann@example.com"]).await.ok();
    let (_, token) = told.trim().rsplit_once("#tokenid=").unwrap();
    let new = "another horse 10";
    let body = json!({"email": ann.email, "password1": new, "password2": new, "tokenid": token});
    anonymous.post("password/update", &body).await.ok();
    anonymous.post("password/update", &body).await.refused(401, "bad_token");
    anonymous.post("login", &json!({"email": ann.email, "password": new})).await.ok();
    ann.client.get("users/me").await.refused(401, "not_authenticated");

    let why = home.run(&["user", "delete", "bob@example.com"]).await.refused();
    assert!(why.contains("--yes"), "{why}");
    bob.client.get("users/me").await.ok();
    home.run(&["user", "delete", "--yes", "bob@example.com"]).await.ok();
    bob.client.get("users/me").await.refused(401, "not_authenticated");
    let listed = home.run(&["user", "list"]).await.ok();
    assert!(!listed.contains("bob@example.com"), "{listed}");

    for command in ["reset-password", "disable-mfa"] {
        let why = home.run(&["user", command, "nobody@example.com"]).await.refused();
        assert!(why.contains("no such user"), "{why}");
    }
    let why = home.run(&["user", "delete", "--yes", "nobody@example.com"]).await.refused();
    assert!(why.contains("no such user"), "{why}");
}

#[tokio::test]
async fn an_operator_helps_beside_a_running_server_on_sqlite() {
    an_operator_helps_beside_a_running_server(Engine::Sqlite).await;
}

#[tokio::test]
async fn an_operator_helps_beside_a_running_server_on_postgres() {
    an_operator_helps_beside_a_running_server(Engine::Postgres).await;
}
