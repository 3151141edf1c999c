//! `wakeful backup` beside a server that writes, and the way back.

use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wakeful_testkit::{Client, Engine, User};

use crate::durability::integrity;
use crate::home::{Home, Server};
use crate::mfa::Guarded;

/// Copies the folder's key: a backup is worth nothing without it.
fn hand_over_key(from: &Home, to: &Home) {
    std::fs::copy(from.data().join("master.key"), to.data().join("master.key")).unwrap();
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A home with one user, backed up.
async fn backed_up() -> (Home, Server, User, std::path::PathBuf) {
    let home = Home::new(Engine::Sqlite).await;
    let server = home.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let file = home.data().join("one.backup");
    home.run(&["backup", path(&file)]).await.ok();
    (home, server, ann, file)
}

#[tokio::test]
async fn a_backup_made_while_others_write_is_whole() {
    let home = Home::new(Engine::Sqlite).await.without_limits();
    let server = home.serve().await;
    let mut ann = Guarded::sign_up(&server.anonymous(), "ann@example.com").await;
    let running = Arc::new(AtomicBool::new(true));
    let writer = write_keys(ann.user.client.clone(), running.clone());
    let backups = async {
        let mut files = Vec::new();
        for count in 0..5 {
            let file = home.data().join(format!("{count}.backup"));
            let told = home.run(&["backup", path(&file)]).await.ok();
            assert!(told.contains("master.key"), "it says which key belongs to it: {told}");
            files.push(file);
        }
        running.store(false, Ordering::SeqCst);
        files
    };
    let (written, files) = tokio::join!(writer, backups);
    assert!(written > 5, "only {written} writes went on meanwhile");
    for file in &files {
        assert_eq!(integrity(file).await, "ok");
    }

    let other = Home::new(Engine::Sqlite).await;
    hand_over_key(&home, &other);
    other.run(&["restore", path(files.last().unwrap())]).await.ok();
    let restored = other.serve().await;
    assert_eq!(integrity(&other.file()).await, "ok");
    // The password, the sealed seed and the session all came along.
    ann.log_in(&restored.anonymous()).await;
    restored.anonymous().with_token(&ann.user.token).get("users/me").await.ok();
}

async fn write_keys(client: Client, running: Arc<AtomicBool>) -> usize {
    let mut written = 0;
    while running.load(Ordering::SeqCst) {
        client.post("integrations/apikey/save", &json!({"name": "x"})).await.ok();
        written += 1;
    }
    written
}

#[tokio::test]
async fn a_backup_never_overwrites_a_file() {
    let (home, _server, _ann, file) = backed_up().await;
    let before = std::fs::read(&file).unwrap();
    let why = home.run(&["backup", path(&file)]).await.refused();
    assert!(why.contains("exists already"), "{why}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[tokio::test]
async fn a_restore_is_refused_while_the_server_runs_or_nobody_said_yes() {
    let (home, server, ann, file) = backed_up().await;
    let why = home.run(&["restore", "--yes", path(&file)]).await.refused();
    assert!(why.starts_with("another wakeful is running on "), "{why}");
    ann.client.get("users/me").await.ok();
    server.stop().await;
    let why = home.run(&["restore", path(&file)]).await.refused();
    assert!(why.contains("--yes"), "{why}");
}

#[tokio::test]
async fn a_restore_of_rubbish_leaves_the_data_as_it_was() {
    let (home, server, ann, file) = backed_up().await;
    server.stop().await;
    let mut damaged = std::fs::read(&file).unwrap();
    let half = damaged.len() / 2;
    damaged[half..].fill(0x5a);
    for rubbish in [b"no database at all".to_vec(), Vec::new(), damaged] {
        let bad = home.data().join("bad.backup");
        std::fs::write(&bad, &rubbish).unwrap();
        let why = home.run(&["restore", "--yes", path(&bad)]).await.refused();
        assert!(why.contains("is not a sound Wakeful backup"), "{why}");
    }
    let missing = home.data().join("missing.backup");
    let why = home.run(&["restore", "--yes", path(&missing)]).await.refused();
    assert!(why.contains("missing.backup"), "{why}");
    let server = home.serve().await;
    ann.log_in(&server.anonymous()).await;
}

#[tokio::test]
async fn a_restore_brings_back_the_past_and_keeps_the_present_beside_it() {
    let (home, server, ann, file) = backed_up().await;
    User::sign_up(&server.anonymous(), "late@example.com").await;
    server.kill().await;
    let told = home.run(&["restore", "--yes", path(&file)]).await.ok();
    let users = home.run(&["user", "list"]).await.ok();
    assert!(users.contains("ann@example.com") && !users.contains("late@example.com"), "{users}");
    let server = home.serve().await;
    ann.log_in(&server.anonymous()).await;
    server.stop().await;

    // Back to what was there before, the last write before the crash included.
    let kept = home.data().join("wakeful.db.before-restore");
    assert!(told.contains(path(&kept)), "{told}");
    let again = home.data().join("again.backup");
    std::fs::copy(&kept, &again).unwrap();
    home.run(&["restore", "--yes", path(&again)]).await.ok();
    let users = home.run(&["user", "list"]).await.ok();
    assert!(users.contains("late@example.com"), "{users}");
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn backups_and_restored_databases_are_for_their_owner_alone() {
    let (home, server, _ann, file) = backed_up().await;
    assert_eq!(mode(&file), 0o600, "the backup");
    server.stop().await;
    // A copy that everybody may read, as `cp` or a download leaves it, and a file that
    // an interrupted restore left behind.
    set_mode(&file, 0o644);
    let left_behind = home.data().join("wakeful.db.restoring");
    std::fs::write(&left_behind, "half").unwrap();
    set_mode(&left_behind, 0o666);
    home.run(&["restore", "--yes", path(&file)]).await.ok();
    assert_eq!(mode(&home.file()), 0o600, "the restored database");
    assert_eq!(integrity(&home.file()).await, "ok");
    let server = home.serve().await;
    for entry in std::fs::read_dir(home.data()).unwrap() {
        let entry = entry.unwrap().path();
        if entry.is_file() && entry != file {
            assert_eq!(mode(&entry) & 0o077, 0, "{}", entry.display());
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn a_database_that_was_destroyed_can_be_restored() {
    let (home, mut server, ann, file) = backed_up().await;
    for log_is_left in [true, false] {
        if log_is_left {
            server.kill().await;
        } else {
            server.stop().await;
        }
        std::fs::write(home.file(), "overwritten by accident ".repeat(1000)).unwrap();
        home.run(&["restore", "--yes", path(&file)]).await.ok();
        server = home.serve().await;
        assert_eq!(integrity(&home.file()).await, "ok");
        ann.log_in(&server.anonymous()).await;
    }
}

#[tokio::test]
async fn a_backup_with_another_key_is_not_served() {
    let (home, server, _ann, file) = backed_up().await;
    server.stop().await;
    let other = Home::new(Engine::Sqlite).await;
    other.run(&["restore", path(&file)]).await.ok();
    let why = other.run(&["serve", "--listen", "127.0.0.1:0"]).await.refused();
    assert!(why.contains("key"), "{why}");
    hand_over_key(&home, &other);
    other.serve().await.stop().await;
}

#[tokio::test]
async fn postgres_is_left_to_its_own_tools() {
    let home = Home::new(Engine::Postgres).await;
    let why = home.run(&["backup", "x.backup"]).await.refused();
    assert!(why.contains("pg_dump"), "{why}");
    let why = home.run(&["restore", "x.backup"]).await.refused();
    assert!(why.contains("pg_restore"), "{why}");
}
