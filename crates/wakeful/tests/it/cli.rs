//! The command line: printing and checking settings, shell completions, and errors in
//! settings, which are one sentence without secrets.

use std::process::Stdio;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use wakeful_testkit::DatabaseKind;

use crate::process::Installation;

const SECRET: &str = "s3cret-Sentinel";

#[tokio::test]
async fn the_printed_default_settings_are_accepted_and_are_the_defaults() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let file = installation.data().join("wakeful.toml");
    std::fs::write(&file, installation.run(&["config", "default"]).await.ok()).unwrap();
    let with =
        installation.run(&["config", "check", "--config", file.to_str().unwrap()]).await.ok();
    let without = installation.run(&["config", "check"]).await.ok();
    let values = |report: &str| -> Vec<String> {
        report.lines().map(|line| line.split(" # ").next().unwrap().trim().to_owned()).collect()
    };
    assert_eq!(values(&with), values(&without));
    assert!(with.contains("wakeful.toml") && !without.contains("wakeful.toml"), "{with}");
}

#[tokio::test]
async fn the_check_shows_settings_and_hides_secrets() {
    let installation = Installation::new(DatabaseKind::Sqlite)
        .await
        .set("MAIL_PASSWORD", SECRET)
        .set("SERVER_METRICS_TOKEN", SECRET)
        .set("DATABASE_URL", &format!("postgres://ann:{SECRET}@db.example.com/wakeful"));
    let report = installation.run(&["config", "check"]).await.ok();
    assert!(report.contains("db.example.com"), "{report}");
    assert!(!report.contains(SECRET), "{report}");
}

#[tokio::test]
async fn the_check_shows_the_effective_egress_mode_and_the_reason() {
    for (name, value, summary) in [
        ("SERVER_PUBLIC_URL", "https://wakeful.example.com", "public (because server.public_url"),
        ("SERVER_TRUSTED_PROXIES", "127.0.0.1", "public (because server.trusted_proxies"),
        ("LISTEN", "0.0.0.0:8080", "public (because sign-up is open"),
        ("LISTEN", "127.0.0.1:8080", "private (because the listener is loopback"),
        ("NETWORK_EGRESS", "public", "public (from WAKEFUL_NETWORK_EGRESS"),
        ("NETWORK_EGRESS", "10.0.0.0/8", "limited to a list of networks (from"),
    ] {
        let installation = Installation::new(DatabaseKind::Sqlite).await.set(name, value);
        let report = installation.run(&["config", "check"]).await.ok();
        assert!(report.contains("# the settings are valid\n"), "{report}");
        let last = report.lines().last().unwrap();
        assert!(last.starts_with(&format!("# egress is {summary}")), "{name} {value}: {last}");
    }
}

#[tokio::test]
async fn an_invalid_setting_stops_every_command_with_one_sentence() {
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
        let installation = Installation::new(DatabaseKind::Sqlite).await.set(name, value);
        for command in [&["serve"][..], &["migrate"], &["config", "check"]] {
            let why = installation.run(command).await.refused();
            assert!(why.contains(names), "{name}: {why}");
            assert!(!why.contains(SECRET), "{name}: {why}");
        }
    }
}

#[tokio::test]
async fn an_unavailable_database_or_port_is_reported_without_the_password() {
    let nowhere = format!("postgres://ann:{SECRET}@127.0.0.1:1/wakeful");
    let installation = Installation::new(DatabaseKind::Sqlite).await.set("DATABASE_URL", &nowhere);
    let why = installation.run(&["migrate"]).await.refused();
    assert!(!why.contains(SECRET), "{why}");
    assert!(why.ends_with("check the PostgreSQL server 127.0.0.1:1 and database.url"), "{why}");

    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let server = installation.serve().await;
    let taken = server.url.strip_prefix("http://").unwrap();
    let other = Installation::new(DatabaseKind::Sqlite).await;
    let why = other.run(&["serve", "--listen", taken]).await.refused();
    assert!(why.contains("server.listen") && why.contains(taken), "{why}");
    assert!(why.ends_with("choose another address with --listen"), "{why}");
    let why = other.run(&["probe"]).await.refused();
    assert!(why.contains("probe.region") && why.contains("--region"), "{why}");
}

/// The commands that require an installation and never create one.
const READ_ONLY_COMMANDS: [&[&str]; 12] = [
    &["doctor"],
    &["audit", "verify"],
    &["audit", "export"],
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
async fn a_command_in_the_wrong_folder_fails_and_creates_nothing() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let typo = installation.data().join("typo");
    for command in READ_ONLY_COMMANDS {
        let mut arguments = command.to_vec();
        arguments.extend(["--data", typo.to_str().unwrap()]);
        let why = installation.run(&arguments).await.refused();
        let missing = format!("there is no database at {}", typo.join("wakeful.db").display());
        assert!(why.starts_with(&missing), "{command:?}: {why}");
        assert!(!typo.exists(), "{command:?} created it");
    }
}

#[tokio::test]
async fn an_empty_postgres_remains_empty_and_a_missing_key_is_not_created() {
    let installation = Installation::new(DatabaseKind::Postgres).await;
    let key = installation.data().join("master.key");
    let tables = "select count(*) from information_schema.tables
                  where table_schema not in ('pg_catalog', 'information_schema')";
    for command in &READ_ONLY_COMMANDS[..11] {
        let why = installation.run(command).await.refused();
        assert!(why.starts_with("the database in database.url is empty"), "{why}");
        assert_eq!((installation.number(tables).await, key.exists()), (0, false), "{command:?}");
    }
    installation.serve().await.stop().await;
    std::fs::remove_file(&key).unwrap();
    for command in &READ_ONLY_COMMANDS[..11] {
        let why = installation.run(command).await.refused();
        assert!(why.starts_with("the master key") && !key.exists(), "{command:?}: {why}");
    }
}

#[tokio::test]
async fn commands_about_nodes_and_probes_say_what_cannot_be_known() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    installation.run(&["migrate"]).await.ok();
    let nodes = installation.run(&["nodes"]).await.ok();
    let expected = "With SQLite there are no nodes: one process does everything.";
    assert_eq!(nodes.lines().last(), Some(expected));
    let revoke = ["cluster", "revoke", "probe-1"];
    let output = installation.run(&revoke).await.ok();
    assert!(output.contains("may be one that no probe has"), "{output}");
    assert_eq!(installation.run(&revoke).await.ok(), "Probe probe-1 is revoked already.\n");
}

#[tokio::test]
async fn shells_can_parse_their_completion_scripts() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    // Most machines have only bash; the others are tested if they are installed.
    for (shell, reads) in
        [("bash", Some("bash")), ("zsh", Some("zsh")), ("fish", Some("fish")), ("powershell", None)]
    {
        let script = installation.run(&["completions", shell]).await.ok();
        for word in ["serve", "migrate", "backup", "restore", "completions"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
        let Some(program) = reads else { continue };
        match parse(program, &script).await {
            Some(good) => assert!(good, "{program} cannot parse its script"),
            None => assert_ne!(program, "bash", "bash is missing"),
        }
    }
}

#[tokio::test]
async fn a_command_whose_output_nobody_reads_ends_without_a_message() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = installation.command(&["completions", "bash"]);
    let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().await.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// Whether the shell can parse the script; `None` if the shell is not installed.
async fn parse(shell: &str, script: &str) -> Option<bool> {
    let command = Command::new(shell).args(["-n"]).stdin(Stdio::piped()).spawn();
    let mut child = command.ok()?;
    child.stdin.take()?.write_all(script.as_bytes()).await.unwrap();
    Some(child.wait().await.unwrap().success())
}

#[tokio::test]
async fn the_health_check_asks_the_running_service() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let server = installation.serve().await;
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let check = ["healthcheck", "--listen", &address];
    let ready = ["healthcheck", "--ready", "--listen", &address];
    for arguments in [&check[..], &ready] {
        let done = installation.run(arguments).await;
        assert_eq!((done.code, done.stdout.as_str(), done.stderr.as_str()), (Some(0), "", ""));
    }
    server.stop().await;
    for arguments in [&check[..], &ready] {
        let done = installation.run(arguments).await;
        assert_eq!(done.code, Some(1), "{done:?}");
        let sentence = format!("wakeful: cannot reach {address}: ");
        assert!(done.stderr.starts_with(&sentence) && done.stderr.lines().count() == 1, "{done:?}");
    }
    let invalid = installation.run(&["healthcheck", "--listen", "everywhere"]).await;
    assert_eq!(invalid.code, Some(1), "{invalid:?}");
}

#[tokio::test]
async fn the_health_check_does_not_wait_for_a_service_that_hangs() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let begun = std::time::Instant::now();
    let done = installation.run(&["healthcheck", "--listen", &address]).await;
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stderr.contains("did not respond within 3 seconds"), "{done:?}");
    assert!(begun.elapsed() < std::time::Duration::from_secs(10));
}
