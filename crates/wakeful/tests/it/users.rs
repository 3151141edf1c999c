//! `wakeful user`: the operator's commands for locked-out users, while the server runs.

use serde_json::json;
use wakeful_testkit::{DatabaseKind, User};

use crate::mfa::MfaUser;
use crate::process::Installation;

async fn user_commands_work_while_the_server_runs(kind: DatabaseKind) {
    let installation = Installation::new(kind).await;
    let server = installation.serve().await;
    let anonymous = server.anonymous();
    let ann = MfaUser::sign_up(&anonymous, "ann@example.com").await;
    let bob = User::sign_up(&anonymous, "bob@example.com").await;

    let listed = installation.run(&["user", "list"]).await.ok();
    let line =
        |email: &str| listed.lines().find(|line| line.starts_with(email)).unwrap().to_owned();
    assert!(line("ann@example.com").contains("\ton\t"), "{listed}");
    assert!(line("bob@example.com").contains(&format!("\t{}\t{}\toff\t", bob.team, bob.userid)));
    assert!(!listed.contains("argon2") && !listed.contains(&ann.secret), "{listed}");

    installation.run(&["user", "disable-mfa", "ANN@example.com"]).await.ok();
    let ann = ann.user.log_in(&anonymous).await;

    let output = installation.run(&["user", "reset-password", "ann@example.com"]).await.ok();
    let (_, token) = output.trim().rsplit_once("#tokenid=").unwrap();
    let new = "another horse 10";
    let body = json!({"email": ann.email, "password1": new, "password2": new, "tokenid": token});
    anonymous.post("password/update", &body).await.ok();
    anonymous.post("password/update", &body).await.refused(401, "bad_token");
    anonymous.post("login", &json!({"email": ann.email, "password": new})).await.ok();
    ann.client.get("users/me").await.refused(401, "not_authenticated");

    let why = installation.run(&["user", "delete", "bob@example.com"]).await.refused();
    assert!(why.contains("--yes"), "{why}");
    bob.client.get("users/me").await.ok();
    installation.run(&["user", "delete", "--yes", "bob@example.com"]).await.ok();
    bob.client.get("users/me").await.refused(401, "not_authenticated");
    let listed = installation.run(&["user", "list"]).await.ok();
    assert!(!listed.contains("bob@example.com"), "{listed}");

    for command in ["reset-password", "disable-mfa"] {
        let why = installation.run(&["user", command, "nobody@example.com"]).await.refused();
        assert!(why.contains("no such user"), "{why}");
    }
    let why = installation.run(&["user", "delete", "--yes", "nobody@example.com"]).await.refused();
    assert!(why.contains("no such user"), "{why}");
}

#[tokio::test]
async fn user_commands_work_while_the_server_runs_on_sqlite() {
    user_commands_work_while_the_server_runs(DatabaseKind::Sqlite).await;
}

#[tokio::test]
async fn user_commands_work_while_the_server_runs_on_postgres() {
    user_commands_work_while_the_server_runs(DatabaseKind::Postgres).await;
}
