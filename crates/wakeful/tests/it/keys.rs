//! `wakeful key`: the master key is changed without a sealed value being lost,
//! wherever the change is interrupted, and a wrong key opens nothing.

use std::time::Instant;
use wakeful_testkit::Engine;

use crate::home::Home;
use crate::mfa::Guarded;

fn key_lines(home: &Home) -> usize {
    std::fs::read_to_string(home.data().join("master.key")).unwrap().lines().count()
}

/// Starts a server and logs this user in with a code of their app.
async fn assert_opens(home: &Home, user: &mut Guarded) {
    let server = home.serve().await;
    user.log_in(&server.anonymous()).await;
    server.stop().await;
}

async fn second_factors_outlive_their_key(engine: Engine) {
    let home = Home::new(engine).await;
    let server = home.serve().await;
    let mut users = Vec::new();
    for name in ["ann", "bob", "cid"] {
        let email = format!("{name}@example.com");
        users.push(Guarded::sign_up(&server.anonymous(), &email).await);
    }
    server.stop().await;
    let [ann, bob, cid] = users.as_mut_slice() else { unreachable!() };

    let old = std::fs::read_to_string(home.data().join("master.key")).unwrap();
    let told = home.run(&["key", "rotate"]).await.ok();
    assert!(told.contains("values were sealed anew"), "{told}");
    assert_eq!(key_lines(&home), 2);
    assert_opens(&home, ann).await;

    home.run(&["key", "prune"]).await.ok();
    assert_eq!(key_lines(&home), 1);
    assert_opens(&home, bob).await;

    // The old key alone is a wrong key now.
    let new = std::fs::read_to_string(home.data().join("master.key")).unwrap();
    assert_ne!(old, new);
    std::fs::write(home.data().join("master.key"), old.trim()).unwrap();
    for command in
        [&["serve", "--listen", "127.0.0.1:0"][..], &["user", "list"], &["key", "rotate"]]
    {
        let why = home.run(command).await.refused();
        assert!(why.contains("key"), "{why}");
        assert!(!why.contains(old.trim()), "{why}");
    }
    std::fs::write(home.data().join("master.key"), new).unwrap();
    assert_opens(&home, cid).await;
}

#[tokio::test]
async fn second_factors_outlive_their_key_on_sqlite() {
    second_factors_outlive_their_key(Engine::Sqlite).await;
}

#[tokio::test]
async fn second_factors_outlive_their_key_on_postgres() {
    second_factors_outlive_their_key(Engine::Postgres).await;
}

#[tokio::test]
async fn a_killed_rotation_loses_no_seed() {
    const KILLS: u32 = 12;
    let home = Home::new(Engine::Sqlite).await;
    let server = home.serve().await;
    let mut ann = Guarded::sign_up(&server.anonymous(), "ann@example.com").await;
    let mut bob = Guarded::sign_up(&server.anonymous(), "bob@example.com").await;
    server.stop().await;
    let begun = Instant::now();
    home.run(&["key", "rotate"]).await.ok();
    let takes = begun.elapsed();
    for kill in 0..KILLS {
        let command = if kill % 2 == 0 { "rotate" } else { "prune" };
        let mut child = home.command(&["key", command]).spawn().unwrap();
        tokio::time::sleep(takes * kill / KILLS).await;
        child.kill().await.unwrap();
        home.run(&["user", "list"]).await.ok();
    }
    assert_opens(&home, &mut ann).await;
    home.run(&["key", "rotate"]).await.ok();
    home.run(&["key", "prune"]).await.ok();
    assert_eq!(key_lines(&home), 1);
    assert_opens(&home, &mut bob).await;
}

#[tokio::test]
async fn a_key_file_that_others_can_read_or_that_is_none_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new(Engine::Sqlite).await;
    home.run(&["migrate"]).await.ok();
    let file = home.data().join("master.key");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let why = home.run(&["serve", "--listen", "127.0.0.1:0"]).await.refused();
    assert!(why.contains("chmod 600"), "{why}");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(&file, "hunter2-is-no-key").unwrap();
    let why = home.run(&["serve", "--listen", "127.0.0.1:0"]).await.refused();
    assert!(why.contains("32 bytes as base64") && !why.contains("hunter2"), "{why}");
}
