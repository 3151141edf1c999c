//! Wakeful as in production: the release binary, its own data folder, and
//! SQLite. Observed only from outside: /proc, its log, its API, and its
//! database.

use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use crate::seed::{self, MonitorSet};
use crate::target::Target;
use crate::{Outcome, Run, process};

/// How long a start may take before the benchmark gives up.
const START_TIMEOUT: Duration = Duration::from_secs(120);

pub struct Service {
    child: Child,
    pid: u32,
    base: String,
    client: reqwest::Client,
    token: String,
    warnings: Arc<Mutex<Vec<String>>>,
    data: TempDir,
    /// From the start of the process to its first response.
    pub listening: Duration,
    /// From the start of the process until all monitors were loaded.
    pub watching: Duration,
}

impl Service {
    /// Creates the monitors and starts the service with them.
    pub async fn start(run: &Run, target: &Target, monitors_to_seed: &MonitorSet) -> Outcome<Self> {
        Self::begin(run, target, monitors_to_seed, None).await
    }

    /// Like `start`, with all checks made by the probes of a region.
    pub async fn start_with_probes(
        run: &Run,
        target: &Target,
        monitors_to_seed: &MonitorSet,
        probe_region: &ProbeRegion<'_>,
    ) -> Outcome<Self> {
        Self::begin(run, target, monitors_to_seed, Some(probe_region)).await
    }

    async fn begin(
        run: &Run,
        target: &Target,
        monitors_to_seed: &MonitorSet,
        probe_region: Option<&ProbeRegion<'_>>,
    ) -> Outcome<Self> {
        let data = tempfile::tempdir()?;
        let token = seed::seed(data.path(), monitors_to_seed).await?;
        if let Some(probe_region) = probe_region {
            probe_region.place_all(data.path()).await?;
        }
        let variables = probe_region.map_or(&[][..], |probe_region| probe_region.variables);
        Self::launch_with(run, target, data, token, variables).await
    }

    /// Starts the service, of whatever version, with an empty folder, and signs up.
    pub async fn start_empty(run: &Run, target: &Target) -> Outcome<Self> {
        let mut service = Self::launch(run, target, tempfile::tempdir()?, String::new()).await?;
        let url = format!("{}/api/v1/signup", service.base);
        let body = json!({"email": "bench@example.com", "password": "a quiet night 7"});
        let request = service.client.post(url).header("content-type", "application/json");
        let answer = request.body(body.to_string()).send().await?.error_for_status()?;
        let answer: Value = serde_json::from_slice(&answer.bytes().await?)?;
        service.token = answer["token"].as_str().ok_or("no token")?.to_owned();
        Ok(service)
    }

    /// Starts the service with an existing folder.
    pub async fn launch(run: &Run, target: &Target, data: TempDir, token: String) -> Outcome<Self> {
        Self::launch_with(run, target, data, token, &[]).await
    }

    /// The same, with additional settings.
    pub async fn launch_with(
        run: &Run,
        target: &Target,
        data: TempDir,
        token: String,
        variables: &[(&str, &str)],
    ) -> Outcome<Self> {
        let listen = free_port()?;
        let client = reqwest::Client::builder().no_proxy().build()?;
        let base = format!("http://{listen}");
        let began = Instant::now();
        let mut child = Command::new(&run.wakeful)
            .arg("serve")
            .env("WAKEFUL_DATA", data.path())
            .env("WAKEFUL_LISTEN", listen.to_string())
            .env("WAKEFUL_LIMITS_API_CALLS_PER_MINUTE", "1000000")
            .env("WAKEFUL_LOG", "info")
            .env("SSL_CERT_FILE", target.authority())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let pid = child.id().ok_or("the service ended at once")?;
        let stderr = child.stderr.take().ok_or("no log")?;
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let (loaded, watching) = oneshot::channel();
        tokio::spawn(read_log(stderr, began, loaded, warnings.clone()));
        let listening = timeout(START_TIMEOUT, first_answer(&client, &base, began)).await?;
        let watching = timeout(START_TIMEOUT, watching).await??;
        Ok(Self { child, pid, base, client, token, warnings, data, listening, watching })
    }

    /// Where it listens.
    pub fn address(&self) -> Outcome<SocketAddr> {
        let address = self.base.strip_prefix("http://").ok_or("not an address")?;
        Ok(address.parse()?)
    }

    pub fn cpu(&self) -> Outcome<Duration> {
        process::cpu(self.pid)
    }

    pub fn resident(&self) -> Outcome<u64> {
        process::resident(self.pid)
    }

    /// Bytes in memory, shared pages counted in proportion.
    pub fn proportional(&self) -> Outcome<u64> {
        process::proportional(self.pid)
    }

    pub fn peak(&self) -> Outcome<u64> {
        process::peak(self.pid)
    }

    pub async fn get(&self, path: &str) -> Outcome<Vec<u8>> {
        let answer = self.open(path).await?;
        Ok(answer.bytes().await?.to_vec())
    }

    pub async fn get_json(&self, path: &str) -> Outcome<Value> {
        Ok(serde_json::from_slice(&self.get(path).await?)?)
    }

    /// A response whose body has not been read yet.
    pub async fn open(&self, path: &str) -> Outcome<reqwest::Response> {
        let request = self.client.get(format!("{}{path}", self.base)).bearer_auth(&self.token);
        Ok(request.send().await?.error_for_status()?)
    }

    pub async fn post(&self, path: &str, body: &Value) -> Outcome<Value> {
        self.post_as(&self.token, path, body).await
    }

    /// The same as another user.
    pub async fn post_as(&self, token: &str, path: &str, body: &Value) -> Outcome<Value> {
        let request = self.client.post(format!("{}/api/v1/{path}", self.base));
        let request = request.bearer_auth(token).header("content-type", "application/json");
        let answer = request.body(body.to_string()).send().await?.error_for_status()?;
        Ok(serde_json::from_slice(&answer.bytes().await?)?)
    }

    /// A request without credentials, to be sent.
    pub fn anonymous(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.get(format!("{}{path}", self.base))
    }

    /// How many heartbeats are in the database, and how many of them not up.
    pub async fn stored(&self) -> Outcome<(u64, u64)> {
        stored(self.data.path()).await
    }

    /// The number that this statement reads from the database.
    pub async fn count(&self, sql: &'static str) -> Outcome<usize> {
        let options = SqliteConnectOptions::new().filename(seed::database(self.data.path()));
        let mut db = SqliteConnection::connect_with(&options.read_only(true)).await?;
        let count: i64 = sqlx::query_scalar(sql).fetch_one(&mut db).await?;
        db.close().await?;
        Ok(usize::try_from(count)?)
    }

    /// The warnings in the service's log.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the service with SIGTERM and waits for it.
    pub async fn stop(self) -> Outcome<()> {
        self.leave().await.map(drop)
    }

    /// The same; returns the data folder, with which it can be started again.
    pub async fn leave(mut self) -> Outcome<(TempDir, String)> {
        for warning in self.warnings().iter().take(5) {
            println!("  warning in the log: {warning}");
        }
        Command::new("kill").arg(self.pid.to_string()).status().await?;
        timeout(Duration::from_secs(15), self.child.wait()).await??;
        Ok((self.data, self.token))
    }
}

/// The region that checks are made from, if not the service itself.
pub struct ProbeRegion<'a> {
    pub region: &'a str,
    pub variables: &'a [(&'a str, &'a str)],
}

impl ProbeRegion<'_> {
    async fn place_all(&self, data: &Path) -> Outcome<()> {
        let options = SqliteConnectOptions::new().filename(seed::database(data));
        let mut db = SqliteConnection::connect_with(&options).await?;
        sqlx::query("update monitors set regions = json_array($1)")
            .bind(self.region)
            .execute(&mut db)
            .await?;
        Ok(db.close().await?)
    }
}

async fn stored(data: &Path) -> Outcome<(u64, u64)> {
    let options = SqliteConnectOptions::new().filename(seed::database(data)).read_only(true);
    let mut db = SqliteConnection::connect_with(&options).await?;
    let (all, not_up): (i64, i64) =
        sqlx::query_as("select count(*), count(*) filter (where status <> 'up') from heartbeats")
            .fetch_one(&mut db)
            .await?;
    db.close().await?;
    Ok((all.cast_unsigned(), not_up.cast_unsigned()))
}

fn free_port() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

async fn first_answer(client: &reqwest::Client, base: &str, began: Instant) -> Duration {
    let url = format!("{base}/healthz");
    while client.get(&url).send().await.and_then(reqwest::Response::error_for_status).is_err() {
        sleep(Duration::from_millis(2)).await;
    }
    began.elapsed()
}

/// Reads the log: when all monitors were loaded, and every warning or error.
async fn read_log(
    log: ChildStderr,
    began: Instant,
    loaded: oneshot::Sender<Duration>,
    warnings: Arc<Mutex<Vec<String>>>,
) {
    let mut loaded = Some(loaded);
    let mut lines = BufReader::new(log).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        // Version 0.1 wrote "loaded in".
        if [" monitors in ", "loaded in"].iter().any(|text| line.contains(text))
            && let Some(loaded) = loaded.take()
        {
            let _ = loaded.send(began.elapsed());
        }
        if line.contains("WARN") || line.contains("ERROR") {
            warnings.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    }
}
