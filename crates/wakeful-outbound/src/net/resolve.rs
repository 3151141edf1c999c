//! From names to addresses, by the system's resolvers and `/etc/hosts`, with a
//! small cache that keeps to the records' time to live. A name that does not
//! exist is the target's trouble; resolvers that do not answer are ours.

use hickory_resolver::TokioResolver;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::RecordType;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::observation::{Evidence, FaultKind};

use super::Deadline;
use super::source::{Files, PATIENCE, Source};
use super::trouble::Trouble;

/// Kept back from the deadline to find out whose silence it was.
const DOUBT: Duration = Duration::from_secs(1);
const LONGEST_TTL: Duration = Duration::from_secs(300);
const MOST_NAMES: usize = 10_000;

pub struct Names {
    from: From,
    cache: Mutex<HashMap<Box<str>, Known>>,
}

enum From {
    System(Files),
    Servers(Arc<Source>),
}

struct Known {
    addrs: Arc<[IpAddr]>,
    until: Instant,
}

impl Names {
    /// The resolvers of `/etc/resolv.conf` and the names of `/etc/hosts`.
    pub fn from_system() -> Self {
        let files = Files::new("/etc/resolv.conf".into(), "/etc/hosts".into());
        Self { from: From::System(files), cache: Mutex::default() }
    }

    /// These resolvers and no others.
    pub fn from_servers(servers: &[SocketAddr]) -> Self {
        let source = Arc::new(Source::of_servers(servers));
        Self { from: From::Servers(source), cache: Mutex::default() }
    }

    pub(crate) async fn lookup(&self, name: &str, by: Deadline) -> Result<Arc<[IpAddr]>, Trouble> {
        if let Some(addrs) = self.remembered(name) {
            return Ok(addrs);
        }
        let source = self.source();
        let fixed = source.fixed(name);
        if !fixed.is_empty() {
            return Ok(fixed.into());
        }
        let resolver = &source.resolver;
        let asked = tokio::time::timeout_at(give_up_at(by), resolver.lookup_ip(name)).await;
        let error = match asked {
            Ok(Ok(found)) => {
                let ttl = found.as_lookup().answers().iter().map(|record| record.ttl).min();
                let addrs: Arc<[IpAddr]> = found.iter().collect();
                if addrs.is_empty() {
                    return Err(no_address(name));
                }
                self.remember(name, addrs.clone(), ttl.unwrap_or_default());
                return Ok(addrs);
            }
            Ok(Err(error)) => error,
            Err(_) => NetError::Timeout,
        };
        match error {
            NetError::Dns(DnsError::NoRecordsFound(none)) => Err(refused(name, none.response_code)),
            NetError::Dns(DnsError::ResponseCode(code)) => Err(refused(name, code)),
            // Includes a name that cannot be asked for at all.
            NetError::Proto(_) | NetError::Msg(_) | NetError::Message(_) => {
                Err(Trouble::answered(format!("{name} cannot be resolved: {error}")))
            }
            NetError::Timeout => Err(whose_silence(resolver, name, by).await),
            other => Err(ours(&other)),
        }
    }

    fn source(&self) -> Arc<Source> {
        let files = match &self.from {
            From::Servers(source) => return source.clone(),
            From::System(files) => files,
        };
        let (source, changed) = files.source();
        if changed {
            self.cache().clear();
        }
        source
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<Box<str>, Known>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remembered(&self, name: &str) -> Option<Arc<[IpAddr]>> {
        let cache = self.cache();
        cache.get(name).filter(|known| known.until > Instant::now()).map(|k| k.addrs.clone())
    }

    fn remember(&self, name: &str, addrs: Arc<[IpAddr]>, ttl: u32) {
        if ttl == 0 {
            return;
        }
        let now = Instant::now();
        let mut cache = self.cache();
        if cache.len() >= MOST_NAMES {
            cache.retain(|_, known| known.until > now);
        }
        if cache.len() >= MOST_NAMES {
            cache.clear();
        }
        cache.insert(name.into(), Known { addrs, until: now + keep_for(ttl) });
    }
}

/// A little less than the time to live, by chance: names learnt together must
/// not all be asked for again in one moment.
fn keep_for(ttl: u32) -> Duration {
    let ttl = Duration::from_secs(ttl.into()).min(LONGEST_TTL);
    let chance = getrandom::u32().unwrap_or_default() % 100;
    ttl.mul_f64(1.0 - f64::from(chance) / 1_000.0)
}

/// A resolver that answers another question is well; then it is the name
/// servers of the target that do not answer.
async fn whose_silence(resolver: &TokioResolver, name: &str, by: Deadline) -> Trouble {
    let known = resolver.lookup(".", RecordType::NS);
    // Not all that is left: the answer must be given before the deadline.
    let left = by.at().saturating_duration_since(Instant::now());
    match tokio::time::timeout(DOUBT.min(left.mul_f64(0.8)), known).await {
        Ok(Ok(_) | Err(NetError::Dns(_))) => {
            Trouble::Down(Evidence::Silence, format!("the name servers of {name} do not answer"))
        }
        Ok(Err(error)) => ours(&error),
        Err(_) => ours(&NetError::Timeout),
    }
}

/// Before the deadline, with time left to ask whose silence it was.
fn give_up_at(by: Deadline) -> Instant {
    let now = Instant::now();
    let left = by.at().saturating_duration_since(now);
    now + (PATIENCE * 2).min(left - DOUBT.min(left / 4))
}

fn refused(name: &str, code: ResponseCode) -> Trouble {
    match code {
        ResponseCode::NXDomain => Trouble::answered(format!("the name {name} does not exist")),
        ResponseCode::NoError => no_address(name),
        // A resolver answers this when it got nowhere, perhaps for lack of a network.
        code => Trouble::Down(
            Evidence::Silence,
            format!("the name {name} cannot be resolved: {}", code.to_str()),
        ),
    }
}

fn no_address(name: &str) -> Trouble {
    Trouble::answered(format!("the name {name} has no address"))
}

fn ours(error: &NetError) -> Trouble {
    if let NetError::Io(io) = error
        && let Trouble::Ours(fault) = Trouble::from_io(io)
        && fault.kind != FaultKind::Internal
    {
        return Trouble::Ours(fault);
    }
    Trouble::ours(FaultKind::Network, format!("our own name resolver does not answer: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_kept_a_little_less_than_its_time_to_live() {
        for _ in 0..100 {
            let kept = keep_for(60);
            assert!(kept > Duration::from_secs(53) && kept <= Duration::from_secs(60), "{kept:?}");
        }
        assert!(keep_for(u32::MAX) <= LONGEST_TTL);
    }

    #[test]
    fn a_name_leaves_time_to_ask_whose_silence_it_was() {
        let short = Deadline::within(Duration::from_secs(1));
        assert!(short.at() - give_up_at(short) >= Duration::from_millis(240));
        let long = Deadline::within(Duration::from_secs(30));
        assert!(long.at() - give_up_at(long) >= Duration::from_secs(25));
    }
}
