//! The command line: settings shown and checked, completions that their shells
//! can read, and wrong settings refused in a sentence without a secret.

use std::process::Stdio;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use wakeful_testkit::Engine;

use crate::home::Home;

const SECRET: &str = "s3cret-Sentinel";

#[tokio::test]
async fn the_printed_default_settings_are_accepted_and_are_the_defaults() {
    let home = Home::new(Engine::Sqlite).await;
    let file = home.data().join("wakeful.toml");
    std::fs::write(&file, home.run(&["config", "default"]).await.ok()).unwrap();
    let with = home.run(&["config", "check", "--config", file.to_str().unwrap()]).await.ok();
    let without = home.run(&["config", "check"]).await.ok();
    let values = |report: &str| -> Vec<String> {
        report.lines().map(|line| line.split(" # ").next().unwrap().trim().to_owned()).collect()
    };
    assert_eq!(values(&with), values(&without));
    assert!(with.contains("wakeful.toml") && !without.contains("wakeful.toml"), "{with}");
}

#[tokio::test]
async fn the_check_shows_settings_and_hides_secrets() {
    let home = Home::new(Engine::Sqlite)
        .await
        .set("MAIL_PASSWORD", SECRET)
        .set("SERVER_METRICS_TOKEN", SECRET)
        .set("DATABASE_URL", &format!("postgres://ann:{SECRET}@db.example.com/wakeful"));
    let report = home.run(&["config", "check"]).await.ok();
    assert!(report.contains("db.example.com"), "{report}");
    assert!(!report.contains(SECRET), "{report}");
}

#[tokio::test]
async fn the_check_says_which_egress_mode_is_in_effect_and_why() {
    for (name, value, summary) in [
        ("SERVER_PUBLIC_URL", "https://wakeful.example.com", "public (because server.public_url"),
        ("SERVER_TRUSTED_PROXIES", "127.0.0.1", "public (because server.trusted_proxies"),
        ("LISTEN", "0.0.0.0:8080", "public (because sign-up is open"),
        ("LISTEN", "127.0.0.1:8080", "private (because the listener is loopback"),
        ("NETWORK_EGRESS", "public", "public (from WAKEFUL_NETWORK_EGRESS"),
        ("NETWORK_EGRESS", "10.0.0.0/8", "limited to a list of networks (from"),
    ] {
        let home = Home::new(Engine::Sqlite).await.set(name, value);
        let report = home.run(&["config", "check"]).await.ok();
        assert!(report.contains("# the settings are valid\n"), "{report}");
        let last = report.lines().last().unwrap();
        assert!(last.starts_with(&format!("# egress is {summary}")), "{name} {value}: {last}");
    }
}

#[tokio::test]
async fn a_wrong_setting_stops_every_command_with_one_sentence() {
    for (name, value, names) in [
        ("LISTEN", "everywhere", "server.listen"),
        ("MAIL_PORT", "0", "mail.port"),
        ("DATABASE_URL", &format!("mysql://ann:{SECRET}@host/db")[..], "database.url"),
        ("SECRETS_MASTER_KEY", SECRET, "secrets.master_key"),
        ("SERVER_METRICS_TOKEN", &format!("{SECRET} with spaces")[..], "server.metrics_token"),
        ("MAIL_PASWORD", SECRET, "WAKEFUL_MAIL_PASSWORD"),
        ("LOG", "loud", "WAKEFUL_LOG"),
        ("CONFIG", "/no/such/file.toml", "/no/such/file.toml"),
    ] {
        let home = Home::new(Engine::Sqlite).await.set(name, value);
        for command in [&["serve"][..], &["migrate"], &["config", "check"]] {
            let why = home.run(command).await.refused();
            assert!(why.contains(names), "{name}: {why}");
            assert!(!why.contains(SECRET), "{name}: {why}");
        }
    }
}

#[tokio::test]
async fn a_database_or_port_that_cannot_be_had_is_told_without_the_password() {
    let nowhere = format!("postgres://ann:{SECRET}@127.0.0.1:1/wakeful");
    let home = Home::new(Engine::Sqlite).await.set("DATABASE_URL", &nowhere);
    let why = home.run(&["migrate"]).await.refused();
    assert!(!why.contains(SECRET), "{why}");

    let home = Home::new(Engine::Sqlite).await;
    let server = home.serve().await;
    let taken = server.url.strip_prefix("http://").unwrap();
    let other = Home::new(Engine::Sqlite).await;
    let why = other.run(&["serve", "--listen", taken]).await.refused();
    assert!(why.contains("server.listen") && why.contains(taken), "{why}");
}

/// The commands that need an installation, and make none.
const LOOKING: [&[&str]; 10] = [
    &["doctor"],
    &["nodes"],
    &["user", "list"],
    &["user", "reset-password", "ann@example.com"],
    &["membership", "set", "ann@example.com", "none"],
    &["cluster", "revoke", "probe-1"],
    &["key", "rotate"],
    &["key", "prune"],
    &["migrate", "--to", "sqlite:/nowhere/copy.db"],
    &["backup", "/nowhere/copy.backup"],
];

#[tokio::test]
async fn a_command_that_is_sent_to_the_wrong_place_says_so_and_makes_nothing() {
    let home = Home::new(Engine::Sqlite).await;
    let typo = home.data().join("typo");
    for command in LOOKING {
        let mut arguments = command.to_vec();
        arguments.extend(["--data", typo.to_str().unwrap()]);
        let why = home.run(&arguments).await.refused();
        let missing = format!("there is no database at {}", typo.join("wakeful.db").display());
        assert!(why.starts_with(&missing), "{command:?}: {why}");
        assert!(!typo.exists(), "{command:?} has made it");
    }
}

#[tokio::test]
async fn an_empty_postgres_stays_empty_and_a_missing_key_is_not_made_up() {
    let home = Home::new(Engine::Postgres).await;
    let key = home.data().join("master.key");
    let tables = "select count(*) from information_schema.tables
                  where table_schema not in ('pg_catalog', 'information_schema')";
    for command in &LOOKING[..9] {
        let why = home.run(command).await.refused();
        assert!(why.starts_with("the database that database.url names is empty"), "{why}");
        assert_eq!((home.number(tables).await, key.exists()), (0, false), "{command:?}");
    }
    home.serve().await.stop().await;
    std::fs::remove_file(&key).unwrap();
    for command in &LOOKING[..9] {
        let why = home.run(command).await.refused();
        assert!(why.starts_with("the master key") && !key.exists(), "{command:?}: {why}");
    }
}

#[tokio::test]
async fn completions_are_scripts_that_their_shells_read() {
    let home = Home::new(Engine::Sqlite).await;
    // Most machines have only the first; the others are read where they are installed.
    for (shell, reads) in
        [("bash", Some("bash")), ("zsh", Some("zsh")), ("fish", Some("fish")), ("powershell", None)]
    {
        let script = home.run(&["completions", shell]).await.ok();
        for word in ["serve", "migrate", "backup", "restore", "completions"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
        let Some(program) = reads else { continue };
        match parse(program, &script).await {
            Some(good) => assert!(good, "{program} cannot read its script"),
            None => assert_ne!(program, "bash", "bash is missing"),
        }
    }
}

/// Whether the shell can read the script; nothing when there is no such shell.
async fn parse(shell: &str, script: &str) -> Option<bool> {
    let command = Command::new(shell).args(["-n"]).stdin(Stdio::piped()).spawn();
    let mut child = command.ok()?;
    child.stdin.take()?.write_all(script.as_bytes()).await.unwrap();
    Some(child.wait().await.unwrap().success())
}
