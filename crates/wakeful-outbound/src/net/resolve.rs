//! Resolves names to addresses with the system's resolvers and `/etc/hosts`,
//! with a small cache that respects the records' time to live. A name that does
//! not exist is the target's failure; resolvers that do not answer are ours.

use hickory_resolver::TokioResolver;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::observation::{Contact, FaultKind};
use wakeful_core::reason::Reason;

use super::Deadline;
use super::error::ProbeError;
use super::resolv_conf::{QUERY_TIMEOUT, ResolverSnapshot, SystemFiles};

/// Reserved before the deadline to find out who did not answer.
const DIAGNOSIS_TIME: Duration = Duration::from_secs(1);
/// How many aliases of a name are followed to find a loop.
const MAX_ALIASES: usize = 8;
const MAX_TTL: Duration = Duration::from_secs(300);
const MAX_CACHED_NAMES: usize = 10_000;
/// The most TXT records of a name that are read.
const MAX_TEXTS: usize = 64;

pub struct NameResolver {
    from: ResolverSource,
    cache: Mutex<HashMap<Box<str>, CachedAddresses>>,
}

enum ResolverSource {
    System(SystemFiles),
    Servers(Arc<ResolverSnapshot>),
}

struct CachedAddresses {
    addrs: Arc<[IpAddr]>,
    ttl: u32,
    until: Instant,
}

/// The addresses of a name.
pub(crate) struct Resolved {
    pub(crate) addrs: Arc<[IpAddr]>,
    /// The lowest time to live in the response, in seconds; `None` if no name server was asked.
    pub(crate) ttl: Option<u32>,
}

impl NameResolver {
    /// The resolvers of `/etc/resolv.conf` and the names of `/etc/hosts`.
    pub fn from_system() -> Self {
        let files = SystemFiles::new("/etc/resolv.conf".into(), "/etc/hosts".into());
        Self { from: ResolverSource::System(files), cache: Mutex::default() }
    }

    /// Only these resolvers.
    pub fn from_servers(servers: &[SocketAddr]) -> Self {
        let source = Arc::new(ResolverSnapshot::of_servers(servers));
        Self { from: ResolverSource::Servers(source), cache: Mutex::default() }
    }

    pub(crate) async fn lookup(
        &self,
        name: &str,
        deadline: Deadline,
    ) -> Result<Resolved, ProbeError> {
        if let Some(known) = self.cached_addresses(name) {
            return Ok(known);
        }
        let source = self.source();
        let static_addresses = source.static_addresses(name);
        if !static_addresses.is_empty() {
            return Ok(Resolved { addrs: static_addresses.into(), ttl: None });
        }
        let resolver = &source.resolver;
        let give_up_at = give_up_at(deadline);
        let asked = tokio::time::timeout_at(give_up_at, resolver.lookup_ip(name)).await;
        let error = match asked {
            Ok(Ok(found)) => {
                let ttl = found.as_lookup().answers().iter().map(|record| record.ttl).min();
                let addrs: Arc<[IpAddr]> = found.iter().collect();
                if addrs.is_empty() {
                    return Err(no_address(resolver, name, give_up_at).await);
                }
                self.cache_addresses(name, addrs.clone(), ttl.unwrap_or_default());
                return Ok(Resolved { addrs, ttl });
            }
            Ok(Err(error)) => error,
            Err(_) => NetError::Timeout,
        };
        match error {
            NetError::Dns(DnsError::NoRecordsFound(none))
                if none.response_code == ResponseCode::NoError =>
            {
                Err(no_address(resolver, name, give_up_at).await)
            }
            NetError::Dns(DnsError::NoRecordsFound(none)) => Err(refused(name, none.response_code)),
            NetError::Dns(DnsError::ResponseCode(code)) => Err(refused(name, code)),
            // Includes a name that cannot be queried at all.
            NetError::Proto(_) | NetError::Msg(_) | NetError::Message(_) => {
                Err(ProbeError::answered(
                    Reason::DnsServfail,
                    format!("{name} cannot be resolved: {error}"),
                ))
            }
            NetError::Timeout => Err(diagnose_timeout(resolver, name, deadline).await),
            other => Err(resolver_fault(&other)),
        }
    }

    /// The TXT records of a name; none if it has none or does not exist.
    pub(crate) async fn texts(
        &self,
        name: &str,
        deadline: Deadline,
    ) -> Result<Vec<String>, ProbeError> {
        let source = self.source();
        // A name with its root is not tried below the search domains of the system.
        let name = format!("{name}.");
        let asked = source.resolver.lookup(name.as_str(), RecordType::TXT);
        let error = match tokio::time::timeout_at(deadline.at(), asked).await {
            Ok(Ok(found)) => {
                let texts = found.answers().iter().filter_map(|record| match &record.data {
                    RData::TXT(text) => Some(text.txt_data.concat()),
                    _ => None,
                });
                let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
                return Ok(texts.take(MAX_TEXTS).map(text).collect());
            }
            Ok(Err(error)) => error,
            Err(_) => NetError::Timeout,
        };
        match error {
            NetError::Dns(DnsError::NoRecordsFound(none))
                if matches!(none.response_code, ResponseCode::NoError | ResponseCode::NXDomain) =>
            {
                Ok(Vec::new())
            }
            NetError::Dns(DnsError::NoRecordsFound(none)) => {
                Err(refused(&name, none.response_code))
            }
            other => Err(resolver_fault(&other)),
        }
    }

    fn source(&self) -> Arc<ResolverSnapshot> {
        let files = match &self.from {
            ResolverSource::Servers(source) => return source.clone(),
            ResolverSource::System(files) => files,
        };
        let (source, changed) = files.source();
        if changed {
            self.cache().clear();
        }
        source
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<Box<str>, CachedAddresses>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cached_addresses(&self, name: &str) -> Option<Resolved> {
        let cache = self.cache();
        let known = cache.get(name).filter(|cached| cached.until > Instant::now())?;
        Some(Resolved { addrs: known.addrs.clone(), ttl: Some(known.ttl) })
    }

    fn cache_addresses(&self, name: &str, addrs: Arc<[IpAddr]>, ttl: u32) {
        if ttl == 0 {
            return;
        }
        let now = Instant::now();
        let mut cache = self.cache();
        if cache.len() >= MAX_CACHED_NAMES {
            cache.retain(|_, cached| cached.until > now);
        }
        if cache.len() >= MAX_CACHED_NAMES {
            cache.clear();
        }
        let until = now + jittered_ttl(ttl);
        cache.insert(name.into(), CachedAddresses { addrs, ttl, until });
    }
}

/// A little less than the time to live, at random: names resolved together must
/// not all expire at the same moment.
fn jittered_ttl(ttl: u32) -> Duration {
    let ttl = Duration::from_secs(ttl.into()).min(MAX_TTL);
    let chance = getrandom::u32().unwrap_or_default() % 100;
    ttl.mul_f64(1.0 - f64::from(chance) / 1_000.0)
}

/// If the resolver answers another query, it works; then the name servers of
/// the target do not answer.
async fn diagnose_timeout(resolver: &TokioResolver, name: &str, deadline: Deadline) -> ProbeError {
    let known = resolver.lookup(".", RecordType::NS);
    // Not all of the remaining time: the result must be returned before the
    // deadline.
    let left = deadline.at().saturating_duration_since(Instant::now());
    match tokio::time::timeout(DIAGNOSIS_TIME.min(left.mul_f64(0.8)), known).await {
        Ok(Ok(_) | Err(NetError::Dns(_))) => ProbeError::Down(
            Contact::Silence,
            Reason::DnsServfail,
            format!("the name servers of {name} do not answer"),
        ),
        Ok(Err(error)) => resolver_fault(&error),
        Err(_) => resolver_fault(&NetError::Timeout),
    }
}

/// Before the deadline, with time left to find out who did not answer.
fn give_up_at(deadline: Deadline) -> Instant {
    let now = Instant::now();
    let left = deadline.at().saturating_duration_since(now);
    now + (QUERY_TIMEOUT * 2).min(left - DIAGNOSIS_TIME.min(left / 4))
}

pub(super) fn refused(name: &str, code: ResponseCode) -> ProbeError {
    match code {
        ResponseCode::NXDomain => {
            ProbeError::answered(Reason::DnsNxdomain, format!("the name {name} does not exist"))
        }
        // A resolver returns this when it failed, perhaps for lack of a
        // network.
        code => ProbeError::Down(
            Contact::Silence,
            if code == ResponseCode::Refused { Reason::DnsRefused } else { Reason::DnsServfail },
            format!("the name {name} cannot be resolved: {}", code.to_str()),
        ),
    }
}

/// A name without an address: it has none, or its aliases lead back to one of them. Most
/// resolvers fail at such a loop, and some return it.
async fn no_address(resolver: &TokioResolver, name: &str, until: Instant) -> ProbeError {
    let found = tokio::time::timeout_at(until, has_alias_loop(resolver, name)).await;
    if found.unwrap_or(false) {
        let message = format!("the aliases of {name} form a loop");
        return ProbeError::answered(Reason::DnsServfail, message);
    }
    ProbeError::answered(Reason::DnsNoAddress, format!("the name {name} has no address"))
}

async fn has_alias_loop(resolver: &TokioResolver, name: &str) -> bool {
    let Ok(mut name) = Name::from_str_relaxed(name) else { return false };
    name.set_fqdn(true);
    let mut followed: Vec<Name> = Vec::new();
    while followed.len() < MAX_ALIASES {
        let Ok(found) = resolver.lookup(name.clone(), RecordType::CNAME).await else {
            return false;
        };
        let alias = found.answers().iter().find_map(|record| match &record.data {
            RData::CNAME(alias) if record.name == name => Some(alias.0.clone()),
            _ => None,
        });
        let Some(alias) = alias else { return false };
        followed.push(std::mem::replace(&mut name, alias));
        if followed.contains(&name) {
            return true;
        }
    }
    false
}

fn resolver_fault(error: &NetError) -> ProbeError {
    if let NetError::Io(io) = error
        && let ProbeError::Fault(fault) = ProbeError::from_io(io)
        && fault.kind != FaultKind::Internal
    {
        return ProbeError::Fault(fault);
    }
    ProbeError::fault(FaultKind::Network, format!("our own name resolver does not answer: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_cached_a_little_less_than_its_time_to_live() {
        for _ in 0..100 {
            let ttl = jittered_ttl(60);
            assert!(ttl > Duration::from_secs(53) && ttl <= Duration::from_secs(60), "{ttl:?}");
        }
        assert!(jittered_ttl(u32::MAX) <= MAX_TTL);
    }

    #[test]
    fn resolving_leaves_time_to_find_out_who_did_not_answer() {
        let short = Deadline::within(Duration::from_secs(1));
        assert!(short.at() - give_up_at(short) >= Duration::from_millis(240));
        let long = Deadline::within(Duration::from_secs(30));
        assert!(long.at() - give_up_at(long) >= Duration::from_secs(25));
    }
}
