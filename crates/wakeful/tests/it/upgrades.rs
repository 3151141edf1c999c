//! The data of every earlier version is upgraded: nothing is lost, and `doctor` finds no
//! problems. `tests/upgrades/` has the data, created by `scripts/make-upgrade-fixture`.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use wakeful_testkit::{Client, DatabaseKind, PASSWORD, until};

use crate::process::{Installation, Server};

/// Their data has only what the oldest versions knew.
const OLDEST: [&str; 2] = ["0.1.0", "0.2.0"];

/// The folders with the data of earlier versions and this one, by version.
fn versions() -> BTreeMap<String, PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upgrades");
    let folders = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: PathBuf| (path.file_name().unwrap().to_str().unwrap().to_owned(), path);
    let versions: BTreeMap<_, _> = folders.map(named).collect();
    for version in ["0.1.0", env!("CARGO_PKG_VERSION")] {
        assert!(versions.contains_key(version), "{version}: run scripts/make-upgrade-fixture");
    }
    versions
}

/// An installation with the data of a version. Its heartbeats are never too old.
async fn installation_of(folder: &Path, kind: DatabaseKind) -> Installation {
    let installation = Installation::new(kind).await.set("HISTORY_RAW_DAYS", "36500");
    let copy = |name: &str| {
        let to = installation.data().join(name);
        fs::copy(folder.join(name), &to).unwrap();
        fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).unwrap();
    };
    // `doctor` requires a private folder.
    fs::set_permissions(installation.data(), fs::Permissions::from_mode(0o700)).unwrap();
    copy("master.key");
    match kind {
        DatabaseKind::Sqlite => copy("wakeful.db"),
        DatabaseKind::Postgres => {
            let dump = fs::read_to_string(folder.join("postgres.sql")).unwrap();
            installation.execute(&dump).await;
        }
    }
    installation
}

async fn migrations_of(file: &Path) -> Vec<String> {
    let mut db = SqliteConnectOptions::new().filename(file).connect().await.unwrap();
    let names = sqlx::query_scalar("select name from schema_migrations order by name")
        .fetch_all(&mut db)
        .await
        .unwrap();
    db.close().await.unwrap();
    names
}

/// What `make-upgrade-fixture` has created with every binary.
async fn assert_complete(server: &Server) -> Client {
    let login = serde_json::json!({"email": "ann@example.com", "password": PASSWORD});
    let token = server.anonymous().post("login", &login).await.ok();
    let ann = server.anonymous().with_token(token["token"].as_str().unwrap());
    // The only account administers the installation.
    let me = ann.get("users/me").await.ok();
    assert_eq!((&me["admin"], &me["role"]), (&true.into(), &"owner".into()));
    let members = ann.get("team/members").await.ok();
    let members = members["members"].as_array().unwrap();
    assert_eq!(members.len(), 1);
    assert_eq!((&members[0]["email"], &members[0]["role"]), (&me["email"], &"owner".into()));
    let keys = ann.get("integrations/apikeys").await.ok();
    let key = &keys["apikeys"][0];
    assert_eq!((&key["name"], &key["scope"]), (&"my script".into(), &"full".into()));
    assert_eq!(keys["apikeys"].as_array().unwrap().len(), 1);
    let monitors = ann.get("monitors").await.ok();
    let monitors = monitors["monitors"].as_array().unwrap();
    let find = |name: &str| monitors.iter().find(|monitor| monitor["name"] == name).unwrap();
    assert_eq!(find("nightly backup")["status"], "down");
    assert_eq!(find("site")["tags"], serde_json::json!(["prod", "eu"]));
    let id = find("nightly backup")["monitorid"].as_str().unwrap();
    // Without `from`, only the last 24 hours are listed.
    let since = "from=2026-01-01T00:00:00Z&limit=1000";
    let heartbeats = ann.get(&format!("monitor/{id}/heartbeats?{since}")).await.ok();
    let messages: Vec<&str> = heartbeats["heartbeats"]
        .as_array()
        .unwrap()
        .iter()
        .map(|heartbeat| heartbeat["message"].as_str().unwrap())
        .filter(|message| message.starts_with("it is"))
        .collect();
    assert_eq!(messages, ["it is down", "it is up", "it is down", "it is up", "it is up"]);
    let alerts = ann.get(&format!("monitor/{id}/alerts")).await.ok();
    assert_eq!(alerts["alerts"].as_array().unwrap().len(), 2, "{alerts}");
    let notifiers = ann.get("notifiers").await.ok();
    assert_eq!(notifiers["notifiers"][0]["webhook"]["url"], "http://127.0.0.1:9/hook");
    ann
}

/// What it has created with the later ones: a policy, a job, warnings, maintenance, a status page.
async fn assert_later_features(server: &Server, ann: &Client) {
    let only = async |list: &str| {
        let answer = ann.get(list).await.ok();
        assert_eq!(answer[list].as_array().unwrap().len(), 1, "{answer}");
        answer[list][0].clone()
    };
    let policy = only("policies").await;
    assert_eq!(policy["steps"][1]["after"], 3_600, "{policy}");
    assert_eq!(only("maintenances").await["rrule"], "FREQ=WEEKLY;BYDAY=MO");
    assert_eq!(only("statuspages").await["subscribers"], 1);

    let monitors = ann.get("monitors").await.ok();
    let monitors = monitors["monitors"].as_array().unwrap();
    let find = |name: &str| monitors.iter().find(|monitor| monitor["name"] == name).unwrap();
    assert_eq!(find("search")["health"], "degraded");
    assert_eq!(find("search")["slo"]["target"], 99.5);
    assert_eq!(find("queue")["assertions"][0]["property"], "$.depth");
    assert_eq!(find("queue")["degraded"]["slow"], 800);
    let job = find("weekly report");
    assert_eq!((&job["status"], &job["api"]["schedule"]), (&"down".into(), &"0 6 * * 1".into()));
    let pings = format!("monitor/{}/pings", job["monitorid"].as_str().unwrap());
    let pings = ann.get(&pings).await.ok();
    let kinds: Vec<_> =
        pings["pings"].as_array().unwrap().iter().map(|ping| &ping["type"]).collect();
    assert_eq!(kinds, ["fail", "success", "start"]);

    let alerts = ann.get("alerts").await.ok();
    let alerts = alerts["alerts"].as_array().unwrap();
    let newest = |name: &str| alerts.iter().find(|alert| alert["monitor"]["name"] == name).unwrap();
    assert_eq!(newest("nightly backup")["status"], "acknowledged");
    assert_eq!(newest("search")["kind"], "degraded");
    let escalated = newest("weekly report");
    assert_eq!(
        (&escalated["status"], &escalated["policyid"]),
        (&"open".into(), &policy["policyid"])
    );

    let visitor = server.anonymous().with("accept", "text/html");
    until("the status page", || async {
        let page = visitor.get("/status/acme").await;
        let incident = ["Backups are late", "We are looking into it.", "The disk is full."];
        incident.iter().all(|text| page.text.contains(text)).then_some(())
    })
    .await;
}

async fn every_version_is_upgraded(kind: DatabaseKind) {
    for (version, folder) in versions() {
        let installation = installation_of(&folder, kind).await;
        let server = installation.serve().await;
        let ann = assert_complete(&server).await;
        if !OLDEST.contains(&version.as_str()) {
            assert_later_features(&server, &ann).await;
        }
        // Old heartbeats are compacted after the start; until then, `doctor` complains.
        until("a clean doctor", || async {
            let doctor = installation.run(&["doctor"]).await;
            (doctor.code == Some(0)).then_some(())
        })
        .await;
        server.stop().await;
        let report = installation.run(&["doctor"]).await.ok();
        assert!(report.ends_with("No problems found.\n"), "{version}: {report}");
    }
}

#[tokio::test]
async fn every_version_is_upgraded_on_sqlite() {
    every_version_is_upgraded(DatabaseKind::Sqlite).await;
}

#[tokio::test]
async fn every_version_is_upgraded_on_postgres() {
    every_version_is_upgraded(DatabaseKind::Postgres).await;
}

#[tokio::test]
async fn with_several_accounts_nobody_administers_an_upgraded_installation() {
    let installation = installation_of(&versions()["0.1.0"], DatabaseKind::Sqlite).await;
    let second = "insert into users (id, team_id, email, email_key, name, password_hash, created, modified)
        select x'0123456789abcdef0123456789abcdef', team_id, 'bob@example.com', 'bob@example.com', '', '', 0, 0
        from users";
    installation.execute(second).await;
    let server = installation.serve().await;
    let login = serde_json::json!({"email": "ann@example.com", "password": PASSWORD});
    let token = server.anonymous().post("login", &login).await.ok();
    let ann = server.anonymous().with_token(token["token"].as_str().unwrap());
    assert_eq!(ann.get("users/me").await.ok()["admin"], false);
    ann.get("admin/overview").await.refused(403, "forbidden");
    installation.run(&["admin", "grant", "ann@example.com"]).await.ok();
    ann.get("admin/overview").await.ok();
    server.stop().await;
    let log = installation.log();
    assert!(log.contains("`wakeful admin grant EMAIL`"), "{log}");
}

#[tokio::test]
async fn an_upgrade_backs_up_the_database_first() {
    let folder = &versions()["0.1.0"];
    let old = migrations_of(&folder.join("wakeful.db")).await;
    let installation = installation_of(folder, DatabaseKind::Sqlite).await;
    let backup =
        |version| PathBuf::from(format!("{}.before-{version}", installation.file().display()));
    let (ours, others) = (backup(env!("CARGO_PKG_VERSION")), ["0.0.9", "restore"].map(backup));
    for other in &others {
        fs::write(other, "old").unwrap();
    }
    installation.run(&["migrate"]).await.ok();
    let new = migrations_of(&installation.file()).await;
    assert!(new.len() > old.len(), "{old:?}");
    assert_eq!(migrations_of(&ours).await, old);
    assert_eq!(fs::metadata(&ours).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(others.each_ref().map(|other| other.exists()), [false, true]);

    // Nothing is upgraded, so nothing is backed up.
    fs::remove_file(&ours).unwrap();
    installation.run(&["migrate"]).await.ok();
    assert!(!ours.exists());
}

#[tokio::test]
async fn an_interrupted_upgrade_does_not_replace_its_backup() {
    let folder = &versions()["0.1.0"];
    let old = migrations_of(&folder.join("wakeful.db")).await;
    let installation = installation_of(folder, DatabaseKind::Sqlite).await;
    installation.run(&["migrate"]).await.ok();
    // As if the process had been killed before the last migration.
    installation
        .execute(
            "delete from schema_migrations where name = (select max(name) from schema_migrations)",
        )
        .await;
    let _fails_because_the_tables_exist = installation.run(&["migrate"]).await;
    let ours = format!("{}.before-{}", installation.file().display(), env!("CARGO_PKG_VERSION"));
    assert_eq!(migrations_of(Path::new(&ours)).await, old);
}

#[tokio::test]
async fn a_database_is_not_upgraded_if_its_backup_fails() {
    let folder = &versions()["0.1.0"];
    let installation = installation_of(folder, DatabaseKind::Sqlite).await;
    let ours = format!("{}.before-{}", installation.file().display(), env!("CARGO_PKG_VERSION"));
    // A folder that is not empty cannot be replaced by a file.
    fs::create_dir_all(Path::new(&ours).join("full")).unwrap();
    let old = migrations_of(&installation.file()).await;
    let why = installation.run(&["migrate"]).await.refused();
    assert!(why.starts_with("the database was not upgraded because its backup failed: "), "{why}");
    assert!(why.ends_with("or set database.backup_before_upgrade to false"), "{why}");
    assert_eq!(migrations_of(&installation.file()).await, old);
    let without = installation.set("DATABASE_BACKUP_BEFORE_UPGRADE", "false");
    without.run(&["migrate"]).await.ok();
    assert!(migrations_of(&without.file()).await.len() > old.len());
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused_in_one_sentence() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let installation = Installation::new(kind).await;
        installation.run(&["migrate"]).await.ok();
        installation
            .execute("insert into schema_migrations (name, checksum) values ('9999_future', 'x')")
            .await;
        let why = installation.run(&["serve", "--listen", "127.0.0.1:0"]).await.refused();
        let sentence = "the database has the migration 9999_future, which this version does not know: start the newer version";
        assert!(why.ends_with(sentence), "{why}");
    }
}
