//! `wakeful backup` while the server writes, and `wakeful restore`.

use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wakeful_testkit::{Client, DatabaseKind, User};

use crate::durability::integrity;
use crate::mfa::MfaUser;
use crate::process::{Installation, Server};

/// Copies the master key, without which a backup cannot be restored.
fn copy_key(from: &Installation, to: &Installation) {
    std::fs::copy(from.data().join("master.key"), to.data().join("master.key")).unwrap();
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// An installation with one user and a backup.
async fn backed_up() -> (Installation, Server, User, std::path::PathBuf) {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let file = installation.data().join("one.backup");
    installation.run(&["backup", path(&file)]).await.ok();
    (installation, server, ann, file)
}

#[tokio::test]
async fn a_backup_made_during_writes_is_complete() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let server = installation.serve().await;
    let mut ann = MfaUser::sign_up(&server.anonymous(), "ann@example.com").await;
    let running = Arc::new(AtomicBool::new(true));
    let writer = write_monitors(ann.user.client.clone(), running.clone());
    let backups = async {
        let mut files = Vec::new();
        for count in 0..5 {
            let file = installation.data().join(format!("{count}.backup"));
            let output = installation.run(&["backup", path(&file)]).await.ok();
            assert!(output.contains("master.key"), "the message names the key: {output}");
            files.push(file);
        }
        running.store(false, Ordering::SeqCst);
        files
    };
    let (written, files) = tokio::join!(writer, backups);
    assert!(written > 5, "only {written} writes meanwhile");
    for file in &files {
        assert_eq!(integrity(file).await, "ok");
    }

    let other = Installation::new(DatabaseKind::Sqlite).await;
    copy_key(&installation, &other);
    other.run(&["restore", path(files.last().unwrap())]).await.ok();
    let restored = other.serve().await;
    assert_eq!(integrity(&other.file()).await, "ok");
    // The backup contains the password, the encrypted TOTP secret and the session.
    ann.log_in(&restored.anonymous()).await;
    restored.anonymous().with_token(&ann.user.token).get("users/me").await.ok();
}

async fn write_monitors(client: Client, running: Arc<AtomicBool>) -> usize {
    let mut written = 0;
    while running.load(Ordering::SeqCst) {
        let body = json!({"type": "api", "name": "x", "heartbeat_interval": 86400,
            "isactive": false, "upside_down_mode": false});
        client.post("monitor/save", &body).await.ok();
        written += 1;
    }
    written
}

#[tokio::test]
async fn a_backup_never_overwrites_a_file() {
    let (installation, _server, _ann, file) = backed_up().await;
    let before = std::fs::read(&file).unwrap();
    let why = installation.run(&["backup", path(&file)]).await.refused();
    assert!(why.contains("already exists"), "{why}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let nowhere = installation.data().join("nowhere");
    let why = installation.run(&["backup", path(&nowhere.join("x.backup"))]).await.refused();
    let expected = format!("the folder {} does not exist: create it first", nowhere.display());
    assert_eq!(why, expected);
}

#[tokio::test]
async fn a_restore_is_rejected_while_the_server_runs_or_without_confirmation() {
    let (installation, server, ann, file) = backed_up().await;
    let why = installation.run(&["restore", "--yes", path(&file)]).await.refused();
    assert!(why.starts_with("another wakeful is running on "), "{why}");
    ann.client.get("users/me").await.ok();
    server.stop().await;
    let why = installation.run(&["restore", path(&file)]).await.refused();
    assert!(why.contains("--yes"), "{why}");
}

#[tokio::test]
async fn a_restore_of_an_invalid_file_changes_nothing() {
    let (installation, server, ann, file) = backed_up().await;
    server.stop().await;
    let mut damaged = std::fs::read(&file).unwrap();
    let half = damaged.len() / 2;
    damaged[half..].fill(0x5a);
    for rubbish in [b"no database at all".to_vec(), Vec::new(), damaged] {
        let bad = installation.data().join("bad.backup");
        std::fs::write(&bad, &rubbish).unwrap();
        let why = installation.run(&["restore", "--yes", path(&bad)]).await.refused();
        assert!(why.contains("is not a valid Wakeful backup"), "{why}");
    }
    let missing = installation.data().join("missing.backup");
    let why = installation.run(&["restore", "--yes", path(&missing)]).await.refused();
    assert!(why.contains("missing.backup"), "{why}");
    let server = installation.serve().await;
    ann.log_in(&server.anonymous()).await;
}

#[tokio::test]
async fn a_restore_retains_the_replaced_database() {
    let (installation, server, ann, file) = backed_up().await;
    User::sign_up(&server.anonymous(), "late@example.com").await;
    server.kill().await;
    let output = installation.run(&["restore", "--yes", path(&file)]).await.ok();
    let users = installation.run(&["user", "list"]).await.ok();
    assert!(users.contains("ann@example.com") && !users.contains("late@example.com"), "{users}");
    let server = installation.serve().await;
    ann.log_in(&server.anonymous()).await;
    server.stop().await;

    // Back to the previous database, including the last write before the crash.
    let previous = installation.data().join("wakeful.db.before-restore");
    assert!(output.contains(path(&previous)), "{output}");
    let again = installation.data().join("again.backup");
    std::fs::copy(&previous, &again).unwrap();
    installation.run(&["restore", "--yes", path(&again)]).await.ok();
    let users = installation.run(&["user", "list"]).await.ok();
    assert!(users.contains("late@example.com"), "{users}");
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn backups_and_restored_databases_are_readable_by_their_owner_only() {
    let (installation, server, _ann, file) = backed_up().await;
    assert_eq!(mode(&file), 0o600, "the backup");
    server.stop().await;
    // A world-readable copy, as from `cp` or a download, and the remains of an interrupted
    // restore.
    set_mode(&file, 0o644);
    let left_behind = installation.data().join("wakeful.db.restoring");
    std::fs::write(&left_behind, "half").unwrap();
    set_mode(&left_behind, 0o666);
    installation.run(&["restore", "--yes", path(&file)]).await.ok();
    assert_eq!(mode(&installation.file()), 0o600, "the restored database");
    assert_eq!(integrity(&installation.file()).await, "ok");
    let server = installation.serve().await;
    for entry in std::fs::read_dir(installation.data()).unwrap() {
        let entry = entry.unwrap().path();
        if entry.is_file() && entry != file {
            assert_eq!(mode(&entry) & 0o077, 0, "{}", entry.display());
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn a_destroyed_database_can_be_restored() {
    let (installation, mut server, ann, file) = backed_up().await;
    for log_is_left in [true, false] {
        if log_is_left {
            server.kill().await;
        } else {
            server.stop().await;
        }
        std::fs::write(installation.file(), "overwritten by accident ".repeat(1000)).unwrap();
        installation.run(&["restore", "--yes", path(&file)]).await.ok();
        server = installation.serve().await;
        assert_eq!(integrity(&installation.file()).await, "ok");
        ann.log_in(&server.anonymous()).await;
    }
}

#[tokio::test]
async fn a_backup_with_another_key_is_not_served() {
    let (installation, server, _ann, file) = backed_up().await;
    server.stop().await;
    let other = Installation::new(DatabaseKind::Sqlite).await;
    let output = other.run(&["restore", path(&file)]).await.ok();
    let key = other.data().join("master.key");
    assert!(output.contains("Copy the master key") && output.contains(path(&key)), "{output}");
    let why = other.run(&["serve", "--listen", "127.0.0.1:0"]).await.refused();
    assert!(why.contains("key"), "{why}");
    copy_key(&installation, &other);
    other.serve().await.stop().await;
}

#[tokio::test]
async fn backup_and_restore_reject_postgres() {
    let installation = Installation::new(DatabaseKind::Postgres).await;
    let why = installation.run(&["backup", "x.backup"]).await.refused();
    assert!(why.contains("pg_dump"), "{why}");
    let why = installation.run(&["restore", "x.backup"]).await.refused();
    assert!(why.contains("pg_restore"), "{why}");
}
