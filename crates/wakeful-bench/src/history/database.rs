//! The databases of the history benchmarks: a file, or a database on the server
//! that `scripts/with-postgres` started.

use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};
use tempfile::TempDir;
use wakeful_store::{Keyring, Location, Options, Store};

use crate::seed::{self, MonitorSet};
use crate::service::Service;
use crate::target::Target;
use crate::{Outcome, Run, nodes, site};

pub struct Database {
    pub name: &'static str,
    data: TempDir,
    /// `None` for a file in the folder.
    url: Option<String>,
}

impl Database {
    pub fn file() -> Outcome<Self> {
        Ok(Self { name: "SQLite", data: tempfile::tempdir()?, url: None })
    }

    /// `None` when there is no server.
    pub async fn server(part: &str) -> Outcome<Option<Self>> {
        let Ok(server) = std::env::var("WAKEFUL_TEST_POSTGRES") else { return Ok(None) };
        let url = Some(nodes::fresh(&server, part).await?);
        Ok(Some(Self { name: "PostgreSQL", data: tempfile::tempdir()?, url }))
    }

    pub async fn open(&self) -> Outcome<Store> {
        let keyring = Keyring::load_or_create(&self.data.path().join("master.key"))?;
        let location = match &self.url {
            None => Location::Sqlite(seed::database(self.data.path())),
            Some(url) => Location::parse(url)?,
        };
        Ok(Store::open(&Options { location, max_connections: 4 }, keyring).await?)
    }

    /// Connects to the server at another port of this machine.
    pub fn through(&mut self, port: u16) -> Outcome<u16> {
        let url = self.url.as_mut().ok_or("not on a server")?;
        let (start, rest) = url.rsplit_once(':').ok_or("no port")?;
        let (server, name) = rest.split_once('/').ok_or("no database")?;
        let server = server.parse()?;
        *url = format!("{start}:{port}/{name}");
        Ok(server)
    }

    /// A team with monitors that were up a moment ago; returns a token.
    pub async fn seed_monitors(
        &self,
        store: &Store,
        monitors_to_seed: &MonitorSet,
    ) -> Outcome<String> {
        let (team, token) = seed::sign_up(store).await?;
        for number in 0..monitors_to_seed.count {
            store
                .team(&seed::whole(team))
                .add_monitor(
                    &monitors_to_seed.monitor(team, number)?,
                    &seed::system(wakeful_core::time::Millis(0)),
                )
                .await?;
        }
        let now = crate::clock::wall_millis();
        let known =
            format!("update monitor_states set status = 'up', since = {now}, last_check = {now}");
        self.run(&[&known]).await?;
        Ok(token)
    }

    /// Copies the history of the first monitor to all others.
    pub async fn copy_history(&self, raw_from: i64) -> Outcome<()> {
        let first = match self.url {
            None => format!("x'{}'", site::id(0).uuid().simple()),
            Some(_) => format!("'{}'", site::id(0)),
        };
        self.run(&[
            // Day by day, as in reality: the rows of one monitor are far apart.
            &format!(
                "insert into rollups (monitor_id, grain, at, data)
                 select m.id, r.grain, r.at, r.data
                 from rollups r join monitors m on m.id <> {first}
                 where r.monitor_id = {first} order by r.at, m.id, r.grain"
            ),
            &format!(
                "insert into folds (monitor_id, revision, until)
                 select m.id, f.revision, f.until from monitors m join folds f on f.monitor_id = {first}
                 where m.id <> {first}"
            ),
            &format!(
                "insert into blocks (monitor_id, from_at, to_at, count, data)
                 select m.id, b.from_at, b.to_at, b.count, b.data
                 from blocks b join monitors m on m.id <> {first}
                 where b.monitor_id = {first} and b.to_at >= {raw_from}
                 order by b.from_at, m.id"
            ),
        ])
        .await?;
        // Both databases need statistics before they are queried.
        self.run(&["analyze"]).await?;
        self.vacuum().await
    }

    /// The periodic maintenance of each database.
    pub async fn vacuum(&self) -> Outcome<()> {
        match self.url {
            None => self.run(&["pragma wal_checkpoint(truncate)"]).await,
            Some(_) => {
                self.run(&["vacuum blocks, rollups, folds, heartbeats, monitor_states"]).await
            }
        }
    }

    /// Its size on disk, as reported by the system or the server.
    pub async fn bytes(&self) -> Outcome<u64> {
        let Some(url) = &self.url else {
            return Ok(std::fs::metadata(seed::database(self.data.path()))?.len());
        };
        let mut db = PgConnection::connect(url).await?;
        // Every relation of the database, including the catalog and its
        // statistics.
        let bytes: i64 = sqlx::query_scalar(
            "select sum(pg_total_relation_size(oid))::bigint from pg_class
             where relkind in ('r', 'm') and not relisshared",
        )
        .fetch_one(&mut db)
        .await?;
        db.close().await?;
        Ok(bytes.cast_unsigned())
    }

    pub async fn launch(self, run: &Run, target: &Target, token: String) -> Outcome<Service> {
        let url = self.url.unwrap_or_default();
        let variables = [("WAKEFUL_DATABASE_URL", url.as_str())];
        let variables = if url.is_empty() { &[][..] } else { &variables[..] };
        Service::launch_with(run, target, self.data, token, variables).await
    }

    async fn run(&self, statements: &[&str]) -> Outcome<()> {
        match &self.url {
            None => {
                let options = SqliteConnectOptions::new()
                    .filename(seed::database(self.data.path()))
                    .synchronous(SqliteSynchronous::Off);
                let mut db = SqliteConnection::connect_with(&options).await?;
                for sql in statements {
                    sqlx::query(AssertSqlSafe((*sql).to_owned())).execute(&mut db).await?;
                }
                db.close().await?;
            }
            Some(url) => {
                let mut db = PgConnection::connect(url).await?;
                for sql in statements {
                    sqlx::query(AssertSqlSafe((*sql).to_owned())).execute(&mut db).await?;
                }
                db.close().await?;
            }
        }
        Ok(())
    }
}
