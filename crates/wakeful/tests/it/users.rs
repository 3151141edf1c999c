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

    for (email, said) in [
        ("ANN@example.com", "MFA turned off for ANN@example.com.\n"),
        ("bob@example.com", "MFA is off for bob@example.com already.\n"),
    ] {
        assert_eq!(installation.run(&["user", "disable-mfa", email]).await.ok(), said);
    }
    let ann = ann.user.log_in(&anonymous).await;

    let output = installation.run(&["user", "reset-password", "ann@example.com"]).await.ok();
    let (_, token) = output.trim().rsplit_once("#tokenid=").unwrap();
    let new = "another horse 10";
    let body = json!({"email": ann.email, "password1": new, "password2": new, "tokenid": token});
    anonymous.post("password/update", &body).await.ok();
    anonymous.post("password/update", &body).await.refused(401, "bad_token");
    anonymous.post("login", &json!({"email": ann.email, "password": new})).await.ok();
    ann.client.get("users/me").await.refused(401, "not_authenticated");

    installation.run(&["user", "suspend", "bob@example.com"]).await.ok();
    bob.client.get("users/me").await.refused(401, "not_authenticated");
    installation.run(&["user", "suspend", "--resume", "bob@example.com"]).await.ok();
    let bob = bob.log_in(&anonymous).await;
    installation.run(&["user", "verify", "bob@example.com"]).await.ok();
    assert_eq!(bob.client.get("users/me").await.ok()["email_verified"], true);
    administer(&installation, &bob).await;

    let why = installation.run(&["user", "delete", "bob@example.com"]).await.refused();
    assert!(why.contains("--yes"), "{why}");
    bob.client.get("users/me").await.ok();
    installation.run(&["user", "delete", "--yes", "bob@example.com"]).await.ok();
    bob.client.get("users/me").await.refused(401, "not_authenticated");
    let listed = installation.run(&["user", "list"]).await.ok();
    assert!(!listed.contains("bob@example.com"), "{listed}");

    for command in ["reset-password", "disable-mfa", "verify", "suspend"] {
        let why = installation.run(&["user", command, "nobody@example.com"]).await.refused();
        assert!(why.contains("no such user"), "{why}");
    }
    let why = installation.run(&["user", "delete", "--yes", "nobody@example.com"]).await.refused();
    assert!(why.contains("no such user"), "{why}");
}

/// `wakeful admin` and `wakeful team`, which the audit logs record.
async fn administer(installation: &Installation, bob: &User) {
    let listed = installation.run(&["admin", "list"]).await.ok();
    assert!(listed.contains("ann@example.com") && !listed.contains("bob@example.com"), "{listed}");
    let why = installation.run(&["admin", "revoke", "ann@example.com"]).await.refused();
    assert!(why.contains("nobody would administer"), "{why}");
    installation.run(&["admin", "grant", "bob@example.com"]).await.ok();
    installation.run(&["admin", "revoke", "ann@example.com"]).await.ok();
    let log = bob.client.get("admin/audit?limit=6").await.ok();
    let text = |entry: &serde_json::Value| {
        let [action, kind] = [&entry["action"], &entry["actor"]["kind"]];
        format!("{} by {}", action.as_str().unwrap(), kind.as_str().unwrap())
    };
    let entries: Vec<String> = log["entries"].as_array().unwrap().iter().map(text).collect();
    let expected = [
        "admin.revoke by operator",
        "admin.grant by operator",
        "member.verify by operator",
        "admin.resume by operator",
        "admin.suspend by operator",
        "password.link by operator",
    ];
    assert_eq!(entries, expected);
    installation.run(&["admin", "grant", "ann@example.com"]).await.ok();

    let listed = installation.run(&["team", "list"]).await.ok();
    let line = listed.lines().find(|line| line.starts_with(&bob.team)).unwrap();
    assert!(line.contains("\tbob\tnone\t1\t0\t") && line.ends_with("\tactive"), "{line}");
    let role = ["team", "role", &bob.team, "bob@example.com"];
    let why = installation.run(&[&role[..], &["viewer"]].concat()).await.refused();
    assert!(why.contains("no owner"), "{why}");
    let why = installation.run(&[&role[..], &["boss"]].concat()).await.refused();
    assert!(why.contains("must be one of"), "{why}");
    installation.run(&[&role[..], &["owner"]].concat()).await.ok();
}

#[tokio::test]
async fn user_commands_work_while_the_server_runs_on_sqlite() {
    user_commands_work_while_the_server_runs(DatabaseKind::Sqlite).await;
}

#[tokio::test]
async fn user_commands_work_while_the_server_runs_on_postgres() {
    user_commands_work_while_the_server_runs(DatabaseKind::Postgres).await;
}
