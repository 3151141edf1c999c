//! The registries of domains, queried by RDAP over HTTP. A registry gets at most one query per
//! second from this process, for which the teams take turns, and its responses are cached:
//! registrations change rarely.

use bytes::Bytes;
use http::header::{ACCEPT, HeaderValue, LOCATION, USER_AGENT};
use http::{HeaderMap, Method};
use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout_at};
use url::Url;
use wakeful_core::domain::{Registration, Registries};
use wakeful_core::id::TeamId;
use wakeful_core::observation::FaultKind;

use super::error::ProbeError;
use super::http::{Reply, Request, fetch_by};
use super::tls::Trust;
use super::{Deadline, Net, Trace};
use crate::fair_queue::{Bounds, FairQueue};

const IANA: &str = "https://data.iana.org/rdap/dns.json";
const MAX_BOOTSTRAP_BYTES: usize = 2 << 20;
const MAX_RESPONSE_BYTES: usize = 1 << 20;
const BOOTSTRAP_TIMEOUT: Duration = Duration::from_secs(10);
const BOOTSTRAP_LIFE: Duration = Duration::from_secs(7 * 86_400);
/// When the list could not be read.
const BOOTSTRAP_RETRY_INTERVAL: Duration = Duration::from_secs(600);
const QUERY_INTERVAL: Duration = Duration::from_secs(1);
/// Who waits to query one registry. More queries of one team could not be made even before the
/// deadline of a check with the longest timeout, 300 s.
const QUERIES: Bounds =
    Bounds { running: 1, waiting: 4_096, waiting_per_key: 300, share: |_free| 1 };
const ANSWER_LIFE: Duration = Duration::from_secs(12 * 3_600);
/// Shorter than the time until a check that failed is repeated: that must ask the registry again.
const NOT_FOUND_LIFE: Duration = Duration::from_secs(5);
const MAX_ANSWERS: usize = 10_000;
const MAX_REGISTRIES: usize = 2_000;
const MAX_REDIRECTS: usize = 3;
const USER_AGENT_VALUE: &str = concat!("Wakeful/", env!("CARGO_PKG_VERSION"));

/// What a registry knows about a name.
#[derive(Clone, Debug)]
pub(crate) enum RdapAnswer {
    Found(Arc<Registration>),
    NotFound,
}

pub(crate) struct Rdap {
    bootstrap: Bootstrap,
    registries: tokio::sync::Mutex<Option<(Arc<Registries>, Instant)>>,
    /// By host.
    queues: Mutex<HashMap<String, Arc<RegistryQueue>>>,
    answers: Mutex<HashMap<(String, String), (RdapAnswer, Instant)>>,
}

/// The queries of one registry.
struct RegistryQueue {
    turns: FairQueue<TeamId>,
    /// When it may be queried again.
    next: Mutex<Instant>,
}

impl RegistryQueue {
    fn new() -> Self {
        Self { turns: FairQueue::new(QUERIES), next: Mutex::new(Instant::now()) }
    }

    /// Until when this must be remembered.
    fn in_use_until(&self) -> Instant {
        let next = *lock(&self.next);
        if self.turns.is_unused() { next } else { next.max(Instant::now() + QUERY_INTERVAL) }
    }

    /// Waits for the turn of a team. `None` if too many of its queries are waiting.
    async fn turn(&self, team: TeamId) -> Option<()> {
        let _turn = self.turns.turn(team).await.ok()?;
        let at = *lock(&self.next);
        sleep_until(at).await;
        *lock(&self.next) = Instant::now() + QUERY_INTERVAL;
        Some(())
    }
}

/// Where the list of registries is.
enum Bootstrap {
    Url(Url),
    File(PathBuf),
}

impl Default for Rdap {
    fn default() -> Self {
        Self::new(IANA)
    }
}

impl Rdap {
    /// A URL, or the path of a file.
    pub(super) fn new(bootstrap: &str) -> Self {
        let is_url = ["http://", "https://"].iter().any(|scheme| bootstrap.starts_with(scheme));
        let url = bootstrap.parse().ok().filter(|_| is_url);
        let bootstrap = url.map_or_else(|| Bootstrap::File(bootstrap.into()), Bootstrap::Url);
        Self {
            bootstrap,
            registries: tokio::sync::Mutex::default(),
            queues: Mutex::default(),
            answers: Mutex::default(),
        }
    }

    /// The servers of all zones; those of large zones if the list cannot be read.
    pub(crate) async fn registries(
        &self,
        net: &Net,
        deadline: Deadline,
        trace: &Trace,
    ) -> Arc<Registries> {
        let mut cached = self.registries.lock().await;
        if let Some((registries, until)) = &*cached
            && *until > Instant::now()
        {
            return Arc::clone(registries);
        }
        let read = match &self.bootstrap {
            Bootstrap::File(path) => read_file(path.clone()).await,
            Bootstrap::Url(url) => {
                let left = deadline.at().saturating_duration_since(Instant::now());
                let within = Deadline::within(BOOTSTRAP_TIMEOUT.min(left / 2));
                let reply = get(net, trace, url.clone(), MAX_BOOTSTRAP_BYTES, within).await.ok();
                reply.and_then(|reply| Registries::read(&reply.body))
            }
        };
        let life = if read.is_some() { BOOTSTRAP_LIFE } else { BOOTSTRAP_RETRY_INTERVAL };
        // An old list is better than a short one.
        let old = cached.take().map(|(registries, _)| registries);
        let registries = match read {
            Some(read) => Arc::new(read),
            None => {
                tracing::warn!("reading the list of RDAP servers failed, retrying in 10 min");
                old.unwrap_or_else(|| Arc::new(Registries::known()))
            }
        };
        *cached = Some((Arc::clone(&registries), Instant::now() + life));
        registries
    }

    /// What the registry knows about a name. The time that the query waits for its turn is not
    /// the registry's.
    pub(crate) async fn query(
        &self,
        net: &Net,
        server: &Url,
        name: &str,
        team: TeamId,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<RdapAnswer, ProbeError> {
        let key = (server.to_string(), name.to_owned());
        if let Some((answer, until)) = lock(&self.answers).get(&key)
            && *until > Instant::now()
        {
            return Ok(answer.clone());
        }
        let url = domain_url(server, name)
            .ok_or_else(|| ProbeError::fault(FaultKind::Config, "this name cannot be queried"))?;
        let left = deadline.at().saturating_duration_since(Instant::now());
        // Not all of the time: the result must be returned before the deadline.
        let limit = Deadline::within(left.mul_f64(0.9));
        let began = Instant::now();
        self.turn(server, team, limit).await?;
        trace.aside += began.elapsed();
        let reply = get(net, trace, url.clone(), MAX_RESPONSE_BYTES, limit).await;
        let reply = reply.map_err(|error| match error {
            ProbeError::Down(_, _, why) => unavailable(server, &why),
            ours => ours,
        })?;
        trace.transcript.push(format!("C: GET {url}"));
        trace.transcript.push(format!("S: {}", reply.status.as_u16()));
        let (answer, life) = match reply.status.as_u16() {
            200 => {
                let registration = Registration::read(&reply.body)
                    .ok_or_else(|| unavailable(server, "its response is not valid"))?;
                (RdapAnswer::Found(Arc::new(registration)), ANSWER_LIFE)
            }
            404 => (RdapAnswer::NotFound, NOT_FOUND_LIFE),
            status => return Err(unavailable(server, &format!("status {status}"))),
        };
        let mut answers = lock(&self.answers);
        make_room(&mut answers, MAX_ANSWERS, |(_, until)| *until);
        answers.insert(key, (answer.clone(), Instant::now() + life));
        Ok(answer)
    }

    /// Waits for the turn of this query at the registry.
    async fn turn(&self, server: &Url, team: TeamId, deadline: Deadline) -> Result<(), ProbeError> {
        let turn = async { self.queue(server.host_str()?)?.turn(team).await };
        let turn = timeout_at(deadline.at(), turn).await;
        turn.ok().flatten().ok_or_else(|| {
            let message = "too many domains of this registry are to be checked at this time";
            ProbeError::fault(FaultKind::Resources, message)
        })
    }

    /// `None` if too many are in use: those must not be forgotten.
    fn queue(&self, host: &str) -> Option<Arc<RegistryQueue>> {
        let mut queues = lock(&self.queues);
        if let Some(queue) = queues.get(host) {
            return Some(Arc::clone(queue));
        }
        remove_expired(&mut queues, MAX_REGISTRIES, |queue| queue.in_use_until());
        if queues.len() >= MAX_REGISTRIES {
            return None;
        }
        let queue = Arc::new(RegistryQueue::new());
        queues.insert(host.to_owned(), Arc::clone(&queue));
        Some(queue)
    }
}

async fn read_file(path: PathBuf) -> Option<Registries> {
    let length = tokio::fs::metadata(&path).await.ok()?.len();
    if length > MAX_BOOTSTRAP_BYTES as u64 {
        return None;
    }
    Registries::read(&tokio::fs::read(&path).await.ok()?)
}

/// The response to a request, after a few redirects. Each of them passes the guard.
async fn get(
    net: &Net,
    trace: &Trace,
    url: Url,
    cap: usize,
    deadline: Deadline,
) -> Result<Reply, ProbeError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/rdap+json, application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static(USER_AGENT_VALUE));
    let (method, body, trust) = (Method::GET, Bytes::new(), Trust::Required);
    let mut request = Request { method, url, headers, body, trust };
    for _ in 0..=MAX_REDIRECTS {
        let reply = fetch_by(net, trace.dial.clone(), &request, cap, deadline).await?;
        let location = reply.headers.get(LOCATION).and_then(|value| value.to_str().ok());
        let next = location.and_then(|location| request.url.join(location).ok());
        match next.filter(|_| reply.status.is_redirection()) {
            Some(next) => request.url = next,
            None => return Ok(reply),
        }
    }
    Err(ProbeError::fault(FaultKind::Network, "the registry redirects too often"))
}

/// `<base>domain/<name>`.
fn domain_url(server: &Url, name: &str) -> Option<Url> {
    let mut base = server.clone();
    if !base.path().ends_with('/') {
        base.set_path(&format!("{}/", base.path()));
    }
    base.join(&format!("domain/{name}")).ok()
}

fn unavailable(server: &Url, why: &str) -> ProbeError {
    let host = server.host_str().unwrap_or_default();
    ProbeError::fault(
        FaultKind::Network,
        format!("the registry {host} gives no information: {why}"),
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what has expired from a full map.
fn remove_expired<K: Eq + Hash, V>(
    map: &mut HashMap<K, V>,
    max: usize,
    until: impl Fn(&V) -> Instant,
) {
    if map.len() >= max {
        let now = Instant::now();
        map.retain(|_, value| until(value) > now);
    }
}

/// Removes what has expired, or all, from a full map.
fn make_room<K: Eq + Hash, V>(map: &mut HashMap<K, V>, max: usize, until: impl Fn(&V) -> Instant) {
    remove_expired(map, max, until);
    if map.len() >= max {
        map.clear();
    }
}
