//! How a check reaches its target when it has options for that: over one address family, with a
//! resolver of its own, at another address, or through a proxy.

use std::net::SocketAddr;
use std::sync::Arc;
use wakeful_core::monitors::spec::{Host, Hostname, IpFamily, Proxy, Resolver, Spec};
use wakeful_core::reason::Reason;

use super::error::ProbeError;
use super::{Deadline, Net, Target, Trace};

pub(crate) struct DialOptions {
    /// `Both` is two checks, each over one of them.
    family: IpFamily,
    resolver: Option<SocketAddr>,
    connect_to: Option<Detour>,
    pub(super) proxy: Option<ProxyRoute>,
}

/// Who has chosen the proxy.
pub(super) enum ProxyRoute {
    /// A team: it passes the guard like any target.
    OfMonitor(Proxy),
    /// The operator: it may be anywhere.
    OfNode(Arc<NodeProxy>),
}

/// A proxy for all checks of this node.
pub(super) struct NodeProxy {
    pub(super) proxy: Proxy,
    /// Connects to the proxy only.
    pub(super) net: Net,
}

/// What is connected to instead of the target.
struct Detour {
    /// The target: a redirect may lead to another host.
    host: String,
    to: Host,
}

impl DialOptions {
    /// `None` if a check has none.
    pub(crate) fn of(net: &Net, spec: &Spec, family: IpFamily) -> Option<Arc<Self>> {
        let connect = spec.connect();
        let options = spec.http().and_then(|http| http.options.as_deref());
        let own = options.and_then(|options| options.proxy.clone()).map(ProxyRoute::OfMonitor);
        let proxy = own.or_else(|| net.node_proxy.clone().map(ProxyRoute::OfNode));
        if connect.is_none() && proxy.is_none() {
            return None;
        }
        let to = connect.and_then(|connect| connect.connect_to.as_ref()).map(Hostname::host);
        let host = spec.endpoint().map(|(host, _)| host);
        let resolver = connect.and_then(|connect| connect.resolver.as_ref());
        Some(Arc::new(Self {
            family,
            resolver: resolver.map(Resolver::address),
            connect_to: host.zip(to.cloned()).map(|(host, to)| Detour { host, to }),
            proxy,
        }))
    }

    /// The host to connect to.
    pub(super) fn target<'a>(&'a self, target: Target<'a>) -> Target<'a> {
        match &self.connect_to {
            Some(detour) if Target::parse(&detour.host) == target => (&detour.to).into(),
            _ => target,
        }
    }

    /// Whether the addresses of a name must be found here, and not by the proxy.
    pub(super) fn resolves(&self) -> bool {
        self.resolver.is_some() || self.family != IpFamily::Any
    }
}

impl Net {
    /// The addresses of a target, as these options say, all allowed by the policy, never empty.
    pub(super) async fn dialed_addresses(
        &self,
        dial: &DialOptions,
        target: Target<'_>,
        port: u16,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<Vec<SocketAddr>, ProbeError> {
        let target = dial.target(target);
        let mut addrs = match (target, dial.resolver) {
            (Target::Name(name), Some(resolver)) => {
                trace.resolver = Some(resolver);
                let lookup = self.lookup_at(resolver, name, dial.family, deadline);
                let found = self.resolved(name, port, lookup, trace).await?;
                if found.is_empty() {
                    return Err(no_address(name, dial.family));
                }
                found
            }
            _ => self.plain_addresses(target, port, deadline, trace).await?,
        };
        addrs.retain(|addr| match dial.family {
            IpFamily::V4 => addr.ip().to_canonical().is_ipv4(),
            IpFamily::V6 => addr.ip().to_canonical().is_ipv6(),
            IpFamily::Any | IpFamily::Both => true,
        });
        if addrs.is_empty() {
            let name = match target {
                Target::Name(name) => name.to_owned(),
                Target::Address(ip) => ip.to_string(),
            };
            return Err(no_address(&name, dial.family));
        }
        trace.resolved.retain(|addr| addrs.contains(addr));
        Ok(addrs)
    }
}

fn no_address(name: &str, family: IpFamily) -> ProbeError {
    let message = match family {
        IpFamily::V4 => format!("the name {name} has no IPv4 address"),
        IpFamily::V6 => format!("the name {name} has no IPv6 address"),
        IpFamily::Any | IpFamily::Both => format!("the name {name} has no address"),
    };
    ProbeError::answered(Reason::DnsNoAddress, message)
}
