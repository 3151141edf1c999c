//! How Wakeful connects to third parties. `Net` is built once and shared; every
//! outgoing connection passes `Net::open` or its guard, and ends at a
//! `Deadline`.

pub(crate) mod buffered;
pub mod client_auth;
mod connection;
pub mod decode;
mod decode_turns;
pub(crate) mod dial;
pub(crate) mod dns_client;
pub mod error;
pub mod guard;
pub mod http;
mod http1;
pub(crate) mod http2_frames;
pub(crate) mod oauth;
mod proxy;
pub(crate) mod rdap;
mod resolv_conf;
pub mod resolve;
pub mod routes;
pub(crate) mod starttls;
pub mod tls;
mod tls_error;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::Instant;
use wakeful_core::evidence::HopEvidence;
use wakeful_core::heartbeat::Phases;
use wakeful_core::id::TeamId;
use wakeful_core::monitors::spec::{Host, Proxy};
use wakeful_core::observation::{Certificate, Contact, FaultKind};
use wakeful_core::reason::Reason;
use wakeful_core::secret::Secret;
use wakeful_core::time::Clock;

use crate::checks::http::HttpFacts;
use crate::checks::ping::Pinger;
use crate::notify::renderers::Renderers;
use buffered::{Buffers, PatternCache};
pub(crate) use connection::Stream;
pub(crate) use decode_turns::DecodeShare;
use decode_turns::DecodeTurns;
use dial::{DialOptions, NodeProxy};
use error::ProbeError;
use guard::{Guard, Policy};
use oauth::TokenCache;
use rdap::Rdap;
use resolve::{NameResolver, Resolved};
use tls::{Tls, TlsProfile};

/// How long an address may be silent before the next one is tried in parallel
/// (RFC 8305 recommends this value).
const CONNECTION_ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// A name may have any number of addresses; trying these is enough.
const MAX_ADDRESSES: usize = 8;

/// Everything that checks and deliveries need for outgoing connections.
pub struct Net {
    guard: Guard,
    names: Arc<NameResolver>,
    tls: Arc<Tls>,
    pinger: Pinger,
    clock: Arc<dyn Clock>,
    renderers: Renderers,
    decode_turns: Arc<DecodeTurns>,
    buffers: Buffers,
    patterns: PatternCache,
    tokens: TokenCache,
    rdap: Rdap,
    node_proxy: Option<Arc<NodeProxy>>,
}

impl Net {
    /// Reads the system's resolver configuration and trusted certificates. The
    /// guard blocks `own` in public mode.
    pub fn new(policy: Policy, own: Vec<SocketAddr>, clock: Arc<dyn Clock>) -> Self {
        Self::with(Guard::new(policy, own), NameResolver::from_system(), Tls::from_system(), clock)
    }

    /// With the given parts, for a private resolver or a private authority.
    pub fn with(guard: Guard, names: NameResolver, tls: Tls, clock: Arc<dyn Clock>) -> Self {
        Self::of(guard, Arc::new(names), Arc::new(tls), clock)
    }

    /// The same with another policy, for addresses that were not given by a team.
    #[must_use]
    pub fn with_policy(&self, policy: Policy) -> Self {
        let (names, tls) = (Arc::clone(&self.names), Arc::clone(&self.tls));
        Self::of(self.guard.with_policy(policy), names, tls, Arc::clone(&self.clock))
    }

    fn of(guard: Guard, names: Arc<NameResolver>, tls: Arc<Tls>, clock: Arc<dyn Clock>) -> Self {
        let (pinger, renderers) = (Pinger::default(), Renderers::default());
        Self {
            guard,
            names,
            tls,
            pinger,
            clock,
            renderers,
            decode_turns: Arc::default(),
            buffers: Buffers::default(),
            patterns: PatternCache::default(),
            tokens: TokenCache::default(),
            rdap: Rdap::default(),
            node_proxy: None,
        }
    }

    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    pub fn tls(&self) -> &Tls {
        &self.tls
    }

    pub(crate) fn pinger(&self) -> &Pinger {
        &self.pinger
    }

    /// Renders users' templates.
    pub fn renderers(&self) -> &Renderers {
        &self.renderers
    }

    /// For a check whose content is decoded or searched.
    pub(crate) fn decode_share(&self, team: TeamId) -> Arc<DecodeShare> {
        Arc::new(DecodeShare::new(Arc::clone(&self.decode_turns), team))
    }

    /// The bodies that checks may buffer at one time, in bytes.
    #[must_use]
    pub fn with_max_buffered_bytes(self, bytes: usize) -> Self {
        Self { buffers: Buffers::new(bytes), ..self }
    }

    pub(crate) fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    pub(crate) fn patterns(&self) -> &PatternCache {
        &self.patterns
    }

    /// The list of RDAP servers: a URL, or the path of a file.
    #[must_use]
    pub fn with_rdap_bootstrap(self, source: &str) -> Self {
        Self { rdap: Rdap::new(source), ..self }
    }

    /// The proxy for checks whose monitor has none. The policy is not applied to it, but to
    /// the targets.
    #[must_use]
    pub fn with_proxy(self, proxy: Option<Proxy>) -> Self {
        let net = |proxy| NodeProxy { proxy, net: self.with_policy(Policy::Private) };
        let node_proxy = proxy.map(net).map(Arc::new);
        Self { node_proxy, ..self }
    }

    pub(crate) fn rdap(&self) -> &Rdap {
        &self.rdap
    }

    pub(crate) fn tokens(&self) -> &TokenCache {
        &self.tokens
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// The TXT records of a name, from the system's resolvers.
    pub async fn texts(&self, name: &str, deadline: Deadline) -> Result<Vec<String>, ProbeError> {
        self.names.texts(name, deadline).await
    }

    /// Opens a connection to `host`, a name or an address, before the deadline.
    pub fn connect<'a>(
        &'a self,
        host: &'a str,
        port: u16,
        deadline: Deadline,
    ) -> BoxFuture<'a, Result<Connection, ProbeError>> {
        Box::pin(async move {
            let mut trace = Trace::default();
            let reached = deadline
                .limit(self.connect_to(Target::parse(host), port, deadline, &mut trace))
                .await;
            let stream = reached.unwrap_or_else(|| Err(trace.timed_out(deadline)))?;
            let Phases { resolve, connect, .. } = trace.phases;
            Ok(Connection { stream, resolve, connect: connect.unwrap_or_default() })
        })
    }

    /// Like `connect`, within the caller's time limit and recorded in its
    /// trace.
    pub(crate) async fn connect_to(
        &self,
        target: Target<'_>,
        port: u16,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<TcpStream, ProbeError> {
        if let Some(dial) = trace.dial.clone()
            && let Some(proxy) = &dial.proxy
        {
            return Box::pin(self.tunnel(&dial, proxy, target, port, deadline, trace)).await;
        }
        let only = self.only_address(target, port, trace)?;
        let found;
        let addrs: &[SocketAddr] = match &only {
            Some(addr) => std::slice::from_ref(addr),
            None => {
                found = self.addresses(target, port, deadline, trace).await?;
                &found
            }
        };
        trace.stage = Stage::Connecting;
        let began = Instant::now();
        trace.address = Some(addrs[0]);
        let (addr, stream) = self.open_any(addrs).await?;
        trace.address = Some(addr);
        add(&mut trace.phases.connect, began.elapsed());
        Ok(stream)
    }

    /// The address of a target that is one, unless something says how to connect to it.
    fn only_address(
        &self,
        target: Target<'_>,
        port: u16,
        trace: &Trace,
    ) -> Result<Option<SocketAddr>, ProbeError> {
        let (Target::Address(ip), None) = (target, &trace.dial) else { return Ok(None) };
        let addr = SocketAddr::new(ip, port);
        self.guard.check(addr)?;
        Ok(Some(addr))
    }

    async fn open_any(&self, addrs: &[SocketAddr]) -> Result<(SocketAddr, TcpStream), ProbeError> {
        match addrs[..] {
            [only] => self.open(only).await,
            _ => Box::pin(self.race(addrs)).await,
        }
    }

    /// The addresses of a target, all allowed by the policy, never empty.
    pub(crate) async fn addresses(
        &self,
        target: Target<'_>,
        port: u16,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<Vec<SocketAddr>, ProbeError> {
        match trace.dial.clone() {
            None => self.plain_addresses(target, port, deadline, trace).await,
            Some(dial) => {
                Box::pin(self.dialed_addresses(&dial, target, port, deadline, trace)).await
            }
        }
    }

    async fn plain_addresses(
        &self,
        target: Target<'_>,
        port: u16,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<Vec<SocketAddr>, ProbeError> {
        let name = match target {
            Target::Address(ip) => {
                let addr = SocketAddr::new(ip, port);
                self.guard.check(addr)?;
                return Ok(vec![addr]);
            }
            Target::Name(name) => name,
        };
        // Boxed, here and below, because each part of a check is moved several times before it
        // is polled: what not every check needs must not take space in all of them.
        self.resolved(name, port, Box::pin(self.names.lookup(name, deadline)), trace).await
    }

    /// What a lookup has found and the policy allows.
    async fn resolved(
        &self,
        name: &str,
        port: u16,
        lookup: impl Future<Output = Result<Resolved, ProbeError>>,
        trace: &mut Trace,
    ) -> Result<Vec<SocketAddr>, ProbeError> {
        self.guard.check_name(name)?;
        trace.stage = Stage::Resolving;
        let began = Instant::now();
        let found = lookup.await?;
        add(&mut trace.phases.resolve, began.elapsed());
        let addrs = found.addrs.iter().map(|ip| SocketAddr::new(*ip, port)).collect();
        let addrs = interleave(&self.guard.vet(name, addrs)?);
        trace.resolved.clone_from(&addrs);
        trace.ttl = found.ttl;
        Ok(addrs)
    }

    /// Tries the addresses in turn, each with a short head start on the next,
    /// and returns the first that connects.
    async fn race(&self, addrs: &[SocketAddr]) -> Result<(SocketAddr, TcpStream), ProbeError> {
        let mut waiting = addrs.iter().take(MAX_ADDRESSES);
        let mut running = FuturesUnordered::new();
        let mut last_failure: Option<ProbeError> = None;
        loop {
            if let Some(addr) = waiting.next() {
                running.push(self.open(*addr));
            }
            let more = waiting.len() > 0;
            tokio::select! {
                tried = running.next() => match tried {
                    Some(Ok(reached)) => return Ok(reached),
                    Some(Err(failure)) => last_failure = Some(failure.or_more_specific(last_failure)),
                    None => return Err(last_failure.unwrap_or_else(ProbeError::no_answer)),
                },
                () = tokio::time::sleep(CONNECTION_ATTEMPT_DELAY), if more => {}
            }
        }
    }

    /// A UDP socket that communicates with `addr` only.
    pub(crate) async fn datagrams(&self, addr: SocketAddr) -> Result<UdpSocket, ProbeError> {
        self.guard.check(addr)?;
        let any: IpAddr = match addr {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let bound = UdpSocket::bind((any, 0)).await;
        let failed = |error: std::io::Error| ProbeError::on_the_way_to(addr.ip(), &error);
        let socket = bound.map_err(failed)?;
        socket.connect(addr).await.map_err(failed)?;
        Ok(socket)
    }

    /// The only place where a TCP connection is opened.
    #[expect(clippy::disallowed_methods, reason = "the guard has been asked")]
    async fn open(&self, addr: SocketAddr) -> Result<(SocketAddr, TcpStream), ProbeError> {
        self.guard.check(addr)?;
        let stream = TcpStream::connect(addr).await;
        let failed = |error: std::io::Error| ProbeError::on_the_way_to(addr.ip(), &error);
        stream.map(|stream| (addr, stream)).map_err(failed)
    }
}

/// An open connection, and how long it took to open it.
#[derive(Debug)]
pub struct Connection {
    pub stream: TcpStream,
    /// `None` when the host was an address.
    pub resolve: Option<Duration>,
    pub connect: Duration,
}

/// The host to resolve or connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target<'a> {
    Name(&'a str),
    Address(IpAddr),
}

impl<'a> From<&'a Host> for Target<'a> {
    fn from(host: &'a Host) -> Self {
        match host {
            Host::Name(name) => Self::Name(name),
            Host::Address(ip) => Self::Address(*ip),
        }
    }
}

impl<'a> Target<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
        bare.parse().map_or(Self::Name(text), Self::Address)
    }
}

/// When an operation must have ended, and how long it was given.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    at: Instant,
    allowed: Duration,
}

impl Deadline {
    pub fn within(allowed: Duration) -> Self {
        Self { at: Instant::now() + allowed, allowed }
    }

    pub fn at(self) -> Instant {
        self.at
    }

    /// One of `parts` equal parts of the whole time.
    pub(crate) fn share(self, parts: u32) -> Duration {
        self.allowed / parts.max(1)
    }

    /// The result of the work, or `None` when the time is up first.
    pub(crate) async fn limit<T>(self, work: impl Future<Output = T>) -> Option<T> {
        tokio::time::timeout_at(self.at, work).await.ok()
    }

    /// The duration as text: `24 s`, `0.5 s`.
    pub(crate) fn span(self) -> String {
        format!("{} s", (self.allowed.as_secs_f64() * 10.0).round() / 10.0)
    }
}

/// What is known so far. It survives work that is canceled by the deadline.
#[derive(Default)]
pub(crate) struct Trace {
    /// Set if the body is decoded in turns.
    pub(crate) decode_share: Option<Arc<DecodeShare>>,
    pub(crate) phases: Phases,
    pub(crate) certificate: Option<Certificate>,
    pub(crate) stage: Stage,
    /// The addresses of the name; empty if the target is an address.
    pub(crate) resolved: Vec<SocketAddr>,
    /// Their time to live, in seconds.
    pub(crate) ttl: Option<u32>,
    /// The name server that a user has chosen; `None`: the system's.
    pub(crate) resolver: Option<SocketAddr>,
    /// The address connected to, or else the first that was tried.
    pub(crate) address: Option<SocketAddr>,
    pub(crate) tls: Option<Box<TlsTrace>>,
    /// The redirects that were followed.
    pub(crate) hops: Vec<HopEvidence>,
    pub(crate) http: Option<Box<HttpFacts>>,
    /// How to connect; `None` for most checks.
    pub(crate) dial: Option<Arc<DialOptions>>,
    /// How to secure connections; `None` for most checks.
    pub(crate) profile: Option<Arc<TlsProfile>>,
    /// The host and port of the proxy that was used.
    pub(crate) proxy: Option<String>,
    /// Credentials that were obtained during the check.
    pub(crate) secrets: Vec<Secret>,
    /// Time that was not spent on the target, but for example on a token.
    pub(crate) aside: Duration,
    /// What was said before a connection was encrypted.
    pub(crate) transcript: Vec<String>,
}

/// An established TLS session.
pub(crate) struct TlsTrace {
    pub(crate) version: Option<rustls::ProtocolVersion>,
    pub(crate) cipher: Option<rustls::CipherSuite>,
    pub(crate) alpn: Option<Vec<u8>>,
    pub(crate) leaf: Option<rustls::pki_types::CertificateDer<'static>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    #[default]
    Resolving,
    Connecting,
    /// Waiting for a proxy.
    Tunneling,
    /// Waiting for a token.
    Authorizing,
    Securing,
    Waiting,
    Reading,
    /// Waiting for memory, or for a turn to judge the response.
    Judging,
}

impl Trace {
    /// The meaning of a missed deadline, which depends on the stage.
    pub(crate) fn timed_out(&self, deadline: Deadline) -> ProbeError {
        let span = deadline.span();
        let (reason, message) = match self.stage {
            // The cause of the silence is unknown, so nothing is known about
            // the target.
            Stage::Resolving => {
                let message = format!("the name was not resolved within {span}");
                return ProbeError::fault(FaultKind::Network, message);
            }
            Stage::Tunneling => {
                let message = format!("the proxy did not open a connection within {span}");
                return ProbeError::fault(FaultKind::Network, message);
            }
            Stage::Authorizing => (Reason::Auth, format!("no token: no answer within {span}")),
            Stage::Judging => {
                let message = "the response was not judged in time: Wakeful is busy with others";
                return ProbeError::fault(FaultKind::Resources, message);
            }
            Stage::Connecting => (Reason::ConnectTimeout, format!("no answer within {span}")),
            Stage::Waiting if self.phases.connect.is_none() => {
                (Reason::NoReply, format!("no answer within {span}"))
            }
            Stage::Waiting => (Reason::TimeoutFirstByte, format!("no answer within {span}")),
            Stage::Securing => {
                (Reason::TlsTimeout, format!("TLS handshake not finished within {span}"))
            }
            Stage::Reading => (Reason::TimeoutBody, format!("response not complete within {span}")),
        };
        // A connection that opened proves that our network works, whatever came
        // after.
        match self.phases.connect {
            Some(_) => ProbeError::Down(Contact::Answered, reason, message),
            None => ProbeError::Down(Contact::Silence, reason, message),
        }
    }
}

/// Phases of several requests, as after a redirect, are added up.
pub(crate) fn add(phase: &mut Option<Duration>, span: Duration) {
    *phase = Some(phase.unwrap_or_default() + span);
}

/// Alternates between families, in the resolver's order within each.
fn interleave(addrs: &[SocketAddr]) -> Vec<SocketAddr> {
    let (first, second): (Vec<SocketAddr>, Vec<SocketAddr>) =
        addrs.iter().partition(|addr| addr.is_ipv6() == addrs[0].is_ipv6());
    let longest = first.len().max(second.len());
    (0..longest).flat_map(|i| [first.get(i), second.get(i)]).flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_alternate_in_the_resolvers_order() {
        let addrs = ["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1"].map(|a| a.parse().unwrap());
        let turns: Vec<String> = interleave(&addrs).iter().map(ToString::to_string).collect();
        assert_eq!(turns, ["[::1]:1", "1.1.1.1:1", "[::2]:1", "[::3]:1"]);
        assert!(interleave(&[]).is_empty());
    }

    #[test]
    fn a_host_is_a_name_or_an_address_with_or_without_brackets() {
        assert!(matches!(Target::parse("[::1]"), Target::Address(ip) if ip.is_loopback()));
        assert!(matches!(Target::parse("::1"), Target::Address(_)));
        assert!(matches!(Target::parse("127.0.0.1"), Target::Address(_)));
        assert!(matches!(Target::parse("one.example"), Target::Name("one.example")));
    }
}
