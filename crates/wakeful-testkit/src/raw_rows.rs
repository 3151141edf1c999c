//! Access to the raw rows, bypassing the store and its keys: what an attacker
//! with the database would see, and what a test counts.

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, SqliteConnection};

use crate::database::{Database, DatabaseKind};

/// One column of one table, as the database describes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    pub table: String,
    pub name: String,
    pub nullable: bool,
    bytes: bool,
}

const SQLITE_COLUMNS: &str =
    "select t.name, c.name, c.\"notnull\" = 0 and c.pk = 0, c.type = 'BLOB'
     from sqlite_master t
     join pragma_table_info(t.name) c
     where t.type = 'table' and t.name not like 'sqlite_%'
     order by 1, 2";

const POSTGRES_COLUMNS: &str = "select table_name::text, column_name::text,
            is_nullable = 'YES', data_type = 'bytea'
     from information_schema.columns
     where table_schema = 'public'
     order by 1, 2";

impl Database {
    /// Every column of every table, in order of their names.
    pub async fn columns(&self) -> Vec<Column> {
        let rows: Vec<(String, String, bool, bool)> = match self.kind() {
            DatabaseKind::Sqlite => {
                sqlx::query_as(SQLITE_COLUMNS).fetch_all(&mut self.sqlite().await).await
            }
            DatabaseKind::Postgres => {
                sqlx::query_as(POSTGRES_COLUMNS).fetch_all(&mut self.postgres().await).await
            }
        }
        .unwrap();
        let column = |(table, name, nullable, bytes)| Column { table, name, nullable, bytes };
        let mut columns: Vec<Column> = rows.into_iter().map(column).collect();
        columns.sort();
        columns
    }

    /// The single number that a statement returns.
    pub async fn number(&self, sql: &str) -> i64 {
        let sql = AssertSqlSafe(sql);
        match self.kind() {
            DatabaseKind::Sqlite => {
                sqlx::query_scalar(sql).fetch_one(&mut self.sqlite().await).await
            }
            DatabaseKind::Postgres => {
                sqlx::query_scalar(sql).fetch_one(&mut self.postgres().await).await
            }
        }
        .unwrap()
    }

    /// Runs a statement, as an attacker with write access could.
    pub async fn execute(&self, sql: &str) {
        let sql = AssertSqlSafe(sql);
        match self.kind() {
            DatabaseKind::Sqlite => {
                self.sqlite().await.execute(sql).await.unwrap();
            }
            DatabaseKind::Postgres => {
                self.postgres().await.execute(sql).await.unwrap();
            }
        }
    }

    pub async fn rows(&self, table: &str) -> i64 {
        self.number(&format!("select count(*) from {table}")).await
    }

    /// The tables that have rows of users or teams.
    pub async fn tables_with_accounts(&self) -> Vec<String> {
        let mut left = Vec::new();
        for column in self.columns().await {
            let owned = matches!(column.name.as_str(), "team_id" | "user_id");
            let owner = matches!(column.table.as_str(), "teams" | "users") && column.name == "id";
            if (owned || owner) && self.rows(&column.table).await > 0 {
                left.push(column.table);
            }
        }
        left.dedup();
        left
    }

    /// Whether these bytes are anywhere in the database, unencrypted.
    pub async fn contains_bytes(&self, bytes: &[u8]) -> bool {
        if self.kind() == DatabaseKind::Sqlite && self.files_contain(bytes) {
            return true;
        }
        let sql = AssertSqlSafe(self.search().await);
        let found: i64 = match self.kind() {
            DatabaseKind::Sqlite => {
                let query = sqlx::query_scalar(sql).bind(bytes);
                query.fetch_one(&mut self.sqlite().await).await
            }
            DatabaseKind::Postgres => {
                let query = sqlx::query_scalar(sql).bind(bytes);
                query.fetch_one(&mut self.postgres().await).await
            }
        }
        .unwrap();
        found > 0
    }

    /// A statement that counts the values in all tables that contain the bytes
    /// $1.
    async fn search(&self) -> String {
        let mut sums = Vec::new();
        for Column { table, name, bytes, .. } in self.columns().await {
            let position = match (self.kind(), bytes) {
                (DatabaseKind::Sqlite, _) => format!("instr(cast({name} as blob), $1)"),
                (DatabaseKind::Postgres, true) => format!("position($1 in {name})"),
                (DatabaseKind::Postgres, false) => {
                    format!("position($1 in convert_to({name}::text, 'UTF8'))")
                }
            };
            sums.push(format!("(select count(*) from {table} where {position} > 0)"));
        }
        format!("select {}", sums.join(" + "))
    }

    /// The files may still contain deleted rows.
    fn files_contain(&self, bytes: &[u8]) -> bool {
        let path = self.path();
        [path.clone(), format!("{path}-wal")].iter().any(|path| {
            let file = std::fs::read(path).unwrap_or_default();
            file.windows(bytes.len()).any(|window| window == bytes)
        })
    }

    /// Makes PostgreSQL end all connections to this database and accept no
    /// more.
    pub async fn refuse_connections(&self) {
        self.on_server("alter database {} with allow_connections false").await;
        self.on_server(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = '{}'",
        )
        .await;
    }

    /// Makes PostgreSQL accept connections to this database again.
    pub async fn accept_connections(&self) {
        self.on_server("alter database {} with allow_connections true").await;
    }

    async fn on_server(&self, sql: &str) {
        let (server, name) = self.url().rsplit_once('/').unwrap();
        let mut db = PgConnection::connect(&format!("{server}/postgres")).await.unwrap();
        db.execute(AssertSqlSafe(sql.replace("{}", name))).await.unwrap();
    }

    /// A separate connection for the test.
    pub async fn sqlite(&self) -> SqliteConnection {
        SqliteConnection::connect(self.url()).await.unwrap()
    }

    /// A separate connection for the test.
    pub async fn postgres(&self) -> PgConnection {
        PgConnection::connect(self.url()).await.unwrap()
    }
}

/// The single number that a statement returns on a separate PostgreSQL server.
pub async fn number(url: &str, sql: &str) -> i64 {
    let mut db = PgConnection::connect(url).await.unwrap();
    let number = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut db).await.unwrap();
    db.close().await.unwrap();
    number
}
