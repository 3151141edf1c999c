//! `wakeful key`: the master key can be changed without losing an encrypted value,
//! wherever the change is interrupted, and a wrong key decrypts nothing.

use std::time::Instant;
use wakeful_testkit::DatabaseKind;

use crate::mfa::MfaUser;
use crate::process::Installation;

fn key_lines(installation: &Installation) -> usize {
    std::fs::read_to_string(installation.data().join("master.key")).unwrap().lines().count()
}

/// Starts a server and logs this user in with a code from their app.
async fn assert_opens(installation: &Installation, user: &mut MfaUser) {
    let server = installation.serve().await;
    user.log_in(&server.anonymous()).await;
    server.stop().await;
}

async fn totp_secrets_survive_a_key_rotation(kind: DatabaseKind) {
    let installation = Installation::new(kind).await;
    let server = installation.serve().await;
    let mut users = Vec::new();
    for name in ["ann", "bob", "cid"] {
        let email = format!("{name}@example.com");
        users.push(MfaUser::sign_up(&server.anonymous(), &email).await);
    }
    server.stop().await;
    let [ann, bob, cid] = users.as_mut_slice() else { unreachable!() };

    let old = std::fs::read_to_string(installation.data().join("master.key")).unwrap();
    let output = installation.run(&["key", "rotate"]).await.ok();
    assert!(output.contains("values again with the first key"), "{output}");
    assert_eq!(key_lines(&installation), 2);
    assert_opens(&installation, ann).await;

    installation.run(&["key", "prune"]).await.ok();
    assert_eq!(key_lines(&installation), 1);
    assert_opens(&installation, bob).await;

    // The old key alone is now a wrong key.
    let new = std::fs::read_to_string(installation.data().join("master.key")).unwrap();
    assert_ne!(old, new);
    std::fs::write(installation.data().join("master.key"), old.trim()).unwrap();
    for command in
        [&["serve", "--listen", "127.0.0.1:0"][..], &["user", "list"], &["key", "rotate"]]
    {
        let why = installation.run(command).await.refused();
        assert!(why.contains("key"), "{why}");
        assert!(!why.contains(old.trim()), "{why}");
    }
    std::fs::write(installation.data().join("master.key"), new).unwrap();
    assert_opens(&installation, cid).await;
}

#[tokio::test]
async fn totp_secrets_survive_a_key_rotation_on_sqlite() {
    totp_secrets_survive_a_key_rotation(DatabaseKind::Sqlite).await;
}

#[tokio::test]
async fn totp_secrets_survive_a_key_rotation_on_postgres() {
    totp_secrets_survive_a_key_rotation(DatabaseKind::Postgres).await;
}

#[tokio::test]
async fn a_killed_rotation_loses_no_totp_secret() {
    const KILLS: u32 = 12;
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let server = installation.serve().await;
    let mut ann = MfaUser::sign_up(&server.anonymous(), "ann@example.com").await;
    let mut bob = MfaUser::sign_up(&server.anonymous(), "bob@example.com").await;
    server.stop().await;
    let begun = Instant::now();
    installation.run(&["key", "rotate"]).await.ok();
    let takes = begun.elapsed();
    for kill in 0..KILLS {
        let command = if kill % 2 == 0 { "rotate" } else { "prune" };
        let mut child = installation.command(&["key", command]).spawn().unwrap();
        tokio::time::sleep(takes * kill / KILLS).await;
        child.kill().await.unwrap();
        installation.run(&["user", "list"]).await.ok();
    }
    assert_opens(&installation, &mut ann).await;
    installation.run(&["key", "rotate"]).await.ok();
    installation.run(&["key", "prune"]).await.ok();
    assert_eq!(key_lines(&installation), 1);
    assert_opens(&installation, &mut bob).await;
}

#[tokio::test]
async fn a_key_file_that_is_readable_by_others_or_invalid_is_rejected() {
    use std::os::unix::fs::PermissionsExt as _;
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    installation.run(&["migrate"]).await.ok();
    let file = installation.data().join("master.key");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let why = installation.run(&["serve", "--listen", "127.0.0.1:0"]).await.refused();
    assert!(why.contains("chmod 600"), "{why}");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(&file, "hunter2-is-no-key").unwrap();
    let why = installation.run(&["serve", "--listen", "127.0.0.1:0"]).await.refused();
    assert!(why.contains("32 bytes as base64") && !why.contains("hunter2"), "{why}");
}
