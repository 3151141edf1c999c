//! The sources of name resolution: the resolvers of `/etc/resolv.conf` and the
//! names of `/etc/hosts`, read again when the files change, as they do when a
//! machine moves to another network.

use hickory_resolver::config::{
    LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::{Hosts, TokioResolver};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;
use wakeful_core::error_chain::ErrorChain;

/// For one query to one resolver.
pub(super) const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
/// How often the files are checked, at most.
const REREAD_INTERVAL: Duration = Duration::from_secs(5);

/// Resolvers and static names at one point in time.
pub(super) struct ResolverSnapshot {
    pub(super) resolver: TokioResolver,
    hosts: Hosts,
}

impl ResolverSnapshot {
    /// These resolvers, and no static names except `localhost`.
    pub(super) fn of_servers(servers: &[SocketAddr]) -> Self {
        let servers = servers.iter().copied().map(by_udp_and_tcp).collect();
        let config = ResolverConfig::from_parts(None, Vec::new(), servers);
        Self::new(config, ResolverOpts::default(), Hosts::default())
    }

    fn new(config: ResolverConfig, mut options: ResolverOpts, hosts: Hosts) -> Self {
        options.timeout = QUERY_TIMEOUT;
        options.attempts = 1;
        options.cache_size = 0;
        options.ip_strategy = LookupIpStrategy::Ipv6AndIpv4;
        options.use_hosts_file = ResolveHosts::Never;
        let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let resolver = builder
            .with_options(options)
            .build()
            .expect("a resolver without TLS needs nothing that can fail");
        Self { resolver, hosts }
    }

    /// The addresses of a name that needs no resolver.
    pub(super) fn static_addresses(&self, name: &str) -> Vec<IpAddr> {
        let Ok(asked) = Name::from_str_relaxed(name) else { return Vec::new() };
        let found: Vec<IpAddr> = [RecordType::AAAA, RecordType::A]
            .into_iter()
            .filter_map(|kind| self.hosts.lookup_static_host(&Query::query(asked.clone(), kind)))
            .flat_map(|found| {
                found.answers().iter().filter_map(|r| r.data.ip_addr()).collect::<Vec<_>>()
            })
            .collect();
        // RFC 6761, section 6.3.
        if found.is_empty() && asked.is_localhost() {
            vec![Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()]
        } else {
            found
        }
    }
}

fn by_udp_and_tcp(server: SocketAddr) -> NameServerConfig {
    let mut config = NameServerConfig::udp_and_tcp(server.ip());
    for connection in &mut config.connections {
        connection.port = server.port();
    }
    config
}

/// The files of the system, and their content when they were last read.
pub(super) struct SystemFiles {
    resolv_conf: PathBuf,
    hosts: PathBuf,
    read: Mutex<LastRead>,
}

struct LastRead {
    source: Arc<ResolverSnapshot>,
    stamps: Stamps,
    checked: Instant,
}

/// When each file was modified; `None` if it does not exist.
type Stamps = [Option<SystemTime>; 2];

impl SystemFiles {
    pub(super) fn new(resolv_conf: PathBuf, hosts: PathBuf) -> Self {
        let stamps = stamps(&resolv_conf, &hosts);
        let source = Arc::new(read(&resolv_conf, &hosts));
        let read = Mutex::new(LastRead { source, stamps, checked: Instant::now() });
        Self { resolv_conf, hosts, read }
    }

    /// The current content of the files, and whether it has changed.
    pub(super) fn source(&self) -> (Arc<ResolverSnapshot>, bool) {
        let mut last = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if now.duration_since(last.checked) < REREAD_INTERVAL {
            return (last.source.clone(), false);
        }
        last.checked = now;
        let stamps = stamps(&self.resolv_conf, &self.hosts);
        let changed = stamps != last.stamps;
        if changed {
            last.stamps = stamps;
            last.source = Arc::new(read(&self.resolv_conf, &self.hosts));
        }
        (last.source.clone(), changed)
    }
}

fn stamps(resolv_conf: &Path, hosts: &Path) -> Stamps {
    [resolv_conf, hosts].map(|path| std::fs::metadata(path).and_then(|file| file.modified()).ok())
}

/// A file that names no resolver means the one on this machine, as for the C
/// library.
fn read(resolv_conf: &Path, hosts: &Path) -> ResolverSnapshot {
    let mut fixed = Hosts::default();
    if let Err(error) = std::fs::File::open(hosts).and_then(|file| fixed.read_hosts_conf(file)) {
        tracing::debug!(error = %ErrorChain(&error), "reading {} failed, ignoring it", hosts.display());
    }
    let text = std::fs::read(resolv_conf).unwrap_or_default();
    match hickory_resolver::system_conf::parse_resolv_conf(text) {
        Ok((config, options)) => ResolverSnapshot::new(config, options, fixed),
        Err(error) => {
            tracing::warn!(error = %ErrorChain(&error), "no resolver in {}, using 127.0.0.1", resolv_conf.display());
            let own =
                ResolverSnapshot::of_servers(&[SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 53)]);
            ResolverSnapshot { hosts: fixed, ..own }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_changed_file_is_read_again_after_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let (resolv_conf, hosts) = (folder.path().join("resolv.conf"), folder.path().join("hosts"));
        std::fs::write(&resolv_conf, "nameserver 127.0.0.1\n").unwrap();
        std::fs::write(&hosts, "10.0.0.1 box # here\n::5 Box\n").unwrap();
        let files = SystemFiles::new(resolv_conf, hosts.clone());
        let (source, changed) = files.source();
        let box_is_at: [IpAddr; 2] = ["::5".parse().unwrap(), "10.0.0.1".parse().unwrap()];
        assert_eq!((source.static_addresses("box"), changed), (box_is_at.to_vec(), false));
        assert_eq!(source.static_addresses("BOX."), box_is_at);

        std::fs::remove_file(&hosts).unwrap();
        assert!(!files.source().1, "not checked again so soon");
        tokio::time::advance(REREAD_INTERVAL).await;
        let (source, changed) = files.source();
        assert_eq!((source.static_addresses("box"), changed), (Vec::new(), true));
        assert!(!files.source().1, "reported once");
    }

    #[tokio::test]
    async fn localhost_needs_neither_file_nor_resolver() {
        let source =
            SystemFiles::new("/nowhere/resolv.conf".into(), "/nowhere/hosts".into()).source().0;
        for name in ["localhost", "LocalHost.", "a.localhost"] {
            assert!(source.static_addresses(name).iter().all(IpAddr::is_loopback), "{name}");
            assert_eq!(source.static_addresses(name).len(), 2, "{name}");
        }
        assert!(source.static_addresses("localhost.example").is_empty());
    }
}
