//! The migrations: the same on both databases, run once, and never on a database of
//! another version.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use std::collections::BTreeSet;
use std::path::Path;
use wakeful_store::{Store, StoreError};
use wakeful_testkit::{Database, DatabaseKind, both_databases, concurrently};

fn migrations(folder: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(folder);
    let files = std::fs::read_dir(folder).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn both_folders_have_files_of_the_same_names() {
    assert_eq!(migrations("sqlite"), migrations("postgres"));
    assert!(!migrations("sqlite").is_empty());
}

#[tokio::test]
async fn both_databases_get_the_same_tables_and_columns() {
    let mut columns_by_database = Vec::new();
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let database = Database::new(kind).await;
        database.open().await.close().await;
        let columns = database.columns().await.into_iter();
        let columns = columns.map(|column| (column.table, column.name, column.nullable));
        columns_by_database.push(columns.collect());
    }
    let [sqlite, postgres]: [BTreeSet<(String, String, bool)>; 2] =
        columns_by_database.try_into().unwrap();
    let only_one: Vec<_> = sqlite.symmetric_difference(&postgres).collect();
    assert_eq!(only_one, Vec::<&(String, String, bool)>::new());
    let tables: BTreeSet<&str> = sqlite.iter().map(|(table, ..)| table.as_str()).collect();
    for table in ["teams", "users", "sessions", "schema_migrations"] {
        assert!(tables.contains(table), "{tables:?}");
    }
}

both_databases! {
    async fn every_migration_runs_once_when_eight_nodes_start_together(setup: Setup) {
        let database = std::sync::Arc::new(setup.database().await);
        // Creates the key file first, so that they race only for the schema.
        database.keyring();
        let stores = concurrently((0..8).map(|_| database.clone()), |database| async move {
            Store::open(&database.options(), database.keyring()).await.map(|_| ())
        });
        for opened in stores.await {
            opened.unwrap();
        }
        let count = i64::try_from(migrations("sqlite").len()).unwrap();
        assert_eq!(database.rows("schema_migrations").await, count);
        assert_eq!(database.rows("meta").await, 1);
    }

    async fn what_a_node_of_an_earlier_version_writes_gets_the_columns_that_came_later(setup: Setup) {
        let is_sqlite = setup.database_kind == DatabaseKind::Sqlite;
        let database = setup.database().await;
        database.open().await.close().await;
        let id = |number: u8| {
            let digits = format!("{number:032x}");
            if is_sqlite { format!("x'{digits}'") } else { format!("'{digits}'") }
        };
        let bytes = |number: u8| {
            if is_sqlite { format!("x'{number:02x}'") } else { format!("'\\x{number:02x}'") }
        };
        let (team, other, old, new, nobody) = (id(1), id(2), id(3), id(4), id(0));
        for team in [&team, &other] {
            database.execute(&format!("insert into teams (id, created, modified) values ({team}, 7, 7)")).await;
        }
        database.execute(&format!(
            "insert into users (id, team_id, email, email_key, name, password_hash, created, modified)
             values ({old}, {team}, 'old@example.com', 'old@example.com', '', '', 7, 7)")).await;
        database.execute(&format!(
            "insert into users (id, team_id, email, email_key, name, password_hash, created, modified, managed_by)
             values ({new}, {team}, 'new@example.com', 'new@example.com', '', '', 7, 7, {nobody})")).await;
        let key = "insert into api_keys (id, digest, user_id, name, prefix, stands_for, created";
        database.execute(&format!(
            "{key}) values ({}, {}, {old}, 'key', 'wka_', {}, 7)", id(5), bytes(5), bytes(5))).await;
        database.execute(&format!(
            "{key}, team_id) values ({}, {}, {new}, 'key', 'wka_', {}, 7, {other})", id(6), bytes(6), bytes(6))).await;
        for (table, condition) in [
            ("members", format!("user_id = {old} and team_id = {team} and role = 'owner' and created = 7")),
            ("users", format!("id = {old} and managed_by = {team}")),
            ("users", format!("id = {new} and managed_by = {nobody}")),
            ("api_keys", format!("id = {} and team_id = {team} and scope = 'full'", id(5))),
            ("api_keys", format!("id = {} and team_id = {other}", id(6))),
        ] {
            let count = database.number(&format!("select count(*) from {table} where {condition}")).await;
            assert_eq!(count, 1, "{table}: {condition}");
        }
    }

    async fn a_database_of_a_newer_version_is_refused(setup: Setup) {
        let database = setup.database().await;
        database.open().await.close().await;
        database.execute("insert into schema_migrations (name, checksum) values ('9999_future', 'x')").await;
        let refused = Store::open(&database.options(), database.keyring()).await.err().unwrap();
        assert!(matches!(&refused, StoreError::Schema(why) if why.contains("9999_future")), "{refused}");
    }

    async fn a_migration_edited_after_it_ran_is_refused(setup: Setup) {
        let database = setup.database().await;
        database.open().await.close().await;
        database.execute("update schema_migrations set checksum = 'another'").await;
        let refused = Store::open(&database.options(), database.keyring()).await.err().unwrap();
        assert!(matches!(refused, StoreError::Schema(_)), "{refused}");
    }
}
