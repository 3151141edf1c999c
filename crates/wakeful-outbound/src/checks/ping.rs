//! Ping: up when an ICMP echo reply arrives. A check may send several echoes, to measure how many
//! are lost and how much their times differ. One socket per family serves all
//! concurrent checks; a reply is matched by the token it carries, which the
//! kernel, unlike identifier and sequence, never rewrites.

use socket2::{Domain, Protocol, Socket, Type};
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::sync::{OnceCell, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use wakeful_core::assert::{Found, Source};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::monitors::spec::{Echoes, PingSpec};
use wakeful_core::observation::{Contact, FaultKind};

use super::TargetAnswer;
use crate::net::error::ProbeError;
use crate::net::{Deadline, Net, Stage, Trace};

/// An echo may get lost; another is sent after this, or after a third of the
/// available time.
const RESEND_INTERVAL: Duration = Duration::from_secs(1);
/// How long before the deadline several echoes are given up, so that their loss is returned.
const RESULT_MARGIN: Duration = Duration::from_millis(10);
/// Receive buffer for replies, in bytes: many thousands of them. The system may
/// grant less.
const RECV_BUFFER_BYTES: usize = 4 << 20;
/// How many replies are read before other tasks get their turn.
const READ_BATCH: usize = 64;

const NOT_ALLOWED_MESSAGE: &str = "Wakeful is not allowed to ping: run \
    `sysctl -w net.ipv4.ping_group_range=\"0 2147483647\"`, or grant the binary the capability with \
    `setcap cap_net_raw+ep`";

pub(super) async fn check(
    net: &Net,
    spec: &PingSpec,
    deadline: Deadline,
    trace: &mut Trace,
) -> Result<TargetAnswer, ProbeError> {
    let addrs = net.addresses(spec.hostname.host().into(), 0, deadline, trace).await?;
    trace.stage = Stage::Waiting;
    let resend_interval = deadline.share(3).min(RESEND_INTERVAL);
    let addrs = one_of_each_family(&addrs);
    if spec.echoes != Echoes::default() {
        return several(net, &spec.echoes, &addrs, deadline, trace).await;
    }
    let (from, took) = net.pinger().echo(net, &addrs, resend_interval).await?;
    trace.phases.first_byte = Some(took);
    trace.address = Some(SocketAddr::new(from, 0));
    let message = format!("{from} answered");
    Ok(TargetAnswer { load_time: Some(took), ..TargetAnswer::up(message) })
}

/// Several echoes: up when at least one returns.
async fn several(
    net: &Net,
    echoes: &Echoes,
    addrs: &[SocketAddr],
    deadline: Deadline,
    trace: &mut Trace,
) -> Result<TargetAnswer, ProbeError> {
    let (mut worst, mut lost) = (None, None);
    // If there is another family, it gets half of the time.
    let share = deadline.share(u32::try_from(addrs.len()).unwrap_or(1));
    let last = deadline.at() - RESULT_MARGIN;
    for (place, addr) in addrs.iter().enumerate() {
        net.guard().check(*addr)?;
        let is_last = place + 1 == addrs.len();
        let until = if is_last { last } else { last.min(Instant::now() + share) };
        let facts = match net.pinger().echoes(*addr, echoes, until).await {
            Ok(facts) => facts,
            Err(failure) => {
                worst = Some(failure.or_more_specific(worst));
                continue;
            }
        };
        let Some(EchoTimes { mean, .. }) = facts.times else {
            lost = Some(Box::new(facts));
            continue;
        };
        trace.phases.first_byte = Some(mean);
        trace.address = Some(*addr);
        let message =
            if facts.loss > 0.0 { "some echoes were lost" } else { "all echoes returned" };
        return Ok(TargetAnswer {
            load_time: Some(mean),
            ping: Some(Box::new(facts)),
            ..TargetAnswer::up(message)
        });
    }
    let Some(lost) = lost else { return Err(worst.unwrap_or_else(ProbeError::no_answer)) };
    let is_out_of_time = Instant::now() >= last;
    let silence = if is_out_of_time { trace.timed_out(deadline) } else { ProbeError::no_answer() };
    match silence.or_more_specific(worst) {
        ProbeError::Down(contact @ Contact::Silence, reason, message) => {
            let down = TargetAnswer::down(reason, message);
            Ok(TargetAnswer { contact, measured: false, ping: Some(lost), ..down })
        }
        failure => Err(failure),
    }
}

/// What several echoes have shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PingFacts {
    /// Percent.
    pub(super) loss: f64,
    /// `None` if no echo returned.
    times: Option<EchoTimes>,
}

/// Of the echoes that returned.
#[derive(Clone, Copy, Debug, PartialEq)]
struct EchoTimes {
    /// Milliseconds: the mean difference between neighboring echoes.
    jitter: f64,
    mean: Duration,
    min: Duration,
    max: Duration,
}

impl PingFacts {
    /// Of the times of the echoes that returned, in the order of sending.
    fn of(sent: u8, times: &[Duration]) -> Self {
        let returned = u32::try_from(times.len()).unwrap_or(u32::MAX);
        let lost = u32::from(sent).saturating_sub(returned);
        Self { loss: f64::from(lost) * 100.0 / f64::from(sent), times: EchoTimes::of(times) }
    }

    pub(super) fn jitter(&self) -> Option<f64> {
        self.times.map(|times| times.jitter)
    }

    pub(super) fn find(&self, source: Source, property: &str) -> Found<'_> {
        let millis = |span: Duration| span.as_micros() as f64 / 1e3;
        Found::number(match (source, property) {
            (Source::Loss, _) => Some(self.loss),
            (Source::Jitter, _) => self.jitter().map(|jitter| (jitter * 1e3).round() / 1e3),
            (_, "min") => self.times.map(|times| millis(times.min)),
            (_, "max") => self.times.map(|times| millis(times.max)),
            _ => None,
        })
    }
}

impl EchoTimes {
    fn of(times: &[Duration]) -> Option<Self> {
        let (min, max) = (times.iter().min()?, times.iter().max()?);
        let returned = u32::try_from(times.len()).unwrap_or(u32::MAX);
        let differences: f64 =
            times.windows(2).map(|pair| pair[1].abs_diff(pair[0]).as_secs_f64() * 1e3).sum();
        Some(Self {
            jitter: if returned > 1 { differences / f64::from(returned - 1) } else { 0.0 },
            mean: times.iter().sum::<Duration>() / returned,
            min: *min,
            max: *max,
        })
    }
}

fn one_of_each_family(addrs: &[SocketAddr]) -> Vec<SocketAddr> {
    let other = addrs.iter().find(|addr| addr.is_ipv6() != addrs[0].is_ipv6());
    addrs.first().into_iter().chain(other).copied().collect()
}

/// The sockets for echoes, opened on first use.
#[derive(Default)]
pub(crate) struct Pinger {
    v4: OnceCell<Family>,
    v6: OnceCell<Family>,
}

impl Pinger {
    /// Sends echoes to the addresses in turn until one of them responds; the
    /// caller sets the time limit.
    async fn echo(
        &self,
        net: &Net,
        addrs: &[SocketAddr],
        resend_interval: Duration,
    ) -> Result<(IpAddr, Duration), ProbeError> {
        let mut worst: Option<ProbeError> = None;
        let mut sent = PendingEchoes::default();
        for round in 0.. {
            let addr = addrs[round % addrs.len()];
            net.guard().check(addr)?;
            match self.send(addr, Echoes::default().size).await {
                Ok(echo) => sent.0.push(echo),
                Err(failure) => worst = Some(failure.or_more_specific(worst)),
            }
            if sent.0.is_empty() {
                // Another address may work; when none is left, this is the
                // result.
                if round + 1 < addrs.len() {
                    continue;
                } else {
                    return Err(worst.unwrap_or_else(ProbeError::no_answer));
                }
            }
            if let Ok(answered) = tokio::time::timeout(resend_interval, sent.first()).await {
                return Ok(answered);
            }
        }
        Err(ProbeError::no_answer())
    }

    /// Sends several echoes to one address, and waits for them for as long as the time allows.
    async fn echoes(
        &self,
        addr: SocketAddr,
        echoes: &Echoes,
        end: Instant,
    ) -> Result<PingFacts, ProbeError> {
        let within = end.saturating_duration_since(Instant::now());
        // They must not take more than half of the time, so that the last one can return.
        let spacing = echoes.spacing().min(within / 2 / u32::from(echoes.count));
        let mut sent = Vec::with_capacity(echoes.count.into());
        for place in 0..echoes.count {
            if place > 0 {
                tokio::time::sleep(spacing).await;
            }
            sent.push(self.send(addr, echoes.size).await?);
        }
        let mut times = Vec::with_capacity(sent.len());
        for echo in &mut sent {
            // An echo that takes much longer than the others before it is lost.
            let longest = times.iter().max().copied().unwrap_or(within);
            let patience = (longest * 4).max(RESEND_INTERVAL);
            let until = end.min(Instant::now() + patience);
            if let Ok(Ok(at)) = tokio::time::timeout_at(until, &mut echo.back).await {
                times.push(at.duration_since(echo.sent));
            }
        }
        Ok(PingFacts::of(echoes.count, &times))
    }

    async fn send(&self, addr: SocketAddr, size: u16) -> Result<Echo, ProbeError> {
        let (family, domain) = match addr {
            SocketAddr::V4(_) => (&self.v4, Domain::IPV4),
            SocketAddr::V6(_) => (&self.v6, Domain::IPV6),
        };
        // A failure is not cached: the privilege may be granted while we run.
        let family = family.get_or_try_init(|| async { Family::open(domain, addr.ip()) }).await?;
        family.send(addr, size).await
    }
}

/// An echo in flight.
struct Echo {
    to: IpAddr,
    sent: Instant,
    token: u128,
    back: oneshot::Receiver<Instant>,
    waiting: Arc<Waiters>,
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.waiting.lock().remove(&self.token);
    }
}

#[derive(Default)]
struct PendingEchoes(Vec<Echo>);

impl PendingEchoes {
    /// The first of these to return.
    async fn first(&mut self) -> (IpAddr, Duration) {
        std::future::poll_fn(|context| {
            for echo in &mut self.0 {
                if let std::task::Poll::Ready(Ok(at)) =
                    std::pin::Pin::new(&mut echo.back).poll(context)
                {
                    return std::task::Poll::Ready((echo.to, at.duration_since(echo.sent)));
                }
            }
            std::task::Poll::Pending
        })
        .await
    }
}

/// Pending tokens, each with its waiter and the address the reply must come
/// from.
#[derive(Default)]
struct Waiters(Mutex<HashMap<u128, (IpAddr, oneshot::Sender<Instant>)>>);

impl Waiters {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u128, (IpAddr, oneshot::Sender<Instant>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, from: IpAddr, token: u128, at: Instant) {
        let mut waiting = self.lock();
        if waiting.get(&token).is_some_and(|(expected, _)| *expected == from)
            && let Some((_, waiter)) = waiting.remove(&token)
        {
            // It may have just stopped waiting.
            let _ = waiter.send(at);
        }
    }
}

struct Family {
    socket: Arc<UdpSocket>,
    waiting: Arc<Waiters>,
    domain: Domain,
    tokens: Tokens,
    /// Reads replies; ends when the family is dropped.
    _reader: JoinSet<()>,
}

impl Family {
    /// An unprivileged socket where the system allows it, otherwise a raw one; first used for
    /// this address.
    fn open(domain: Domain, to: IpAddr) -> Result<Self, ProbeError> {
        let protocol = if domain == Domain::IPV4 { Protocol::ICMPV4 } else { Protocol::ICMPV6 };
        let socket = Socket::new(domain, Type::DGRAM, Some(protocol))
            .or_else(|_| raw(domain, protocol))
            .map_err(|error| not_opened(to, &error))?;
        // If the buffer overflows, replies are lost and a healthy target
        // appears silent.
        let _ = socket.set_recv_buffer_size(RECV_BUFFER_BYTES);
        let socket = into_tokio(socket).map_err(|error| ProbeError::from_io(&error))?;
        let socket = Arc::new(socket);
        let waiting = Arc::new(Waiters::default());
        let mut reader = JoinSet::new();
        reader.spawn(read_replies(socket.clone(), waiting.clone(), domain));
        Ok(Self { socket, waiting, domain, tokens: Tokens::new()?, _reader: reader })
    }

    async fn send(&self, to: SocketAddr, size: u16) -> Result<Echo, ProbeError> {
        let token = self.tokens.next();
        let (waiter, back) = oneshot::channel();
        self.waiting.lock().insert(token, (to.ip(), waiter));
        let sent = Instant::now();
        let echo = Echo { to: to.ip(), sent, token, back, waiting: self.waiting.clone() };
        let packet = request(self.domain, token, size);
        let sending = self.socket.send_to(&packet, to).await;
        sending.map_err(|error| ProbeError::on_the_way_to(to.ip(), &error))?;
        Ok(echo)
    }
}

/// Random numbers that cannot be predicted.
struct Tokens {
    key: RandomState,
    count: AtomicU64,
}

impl Tokens {
    fn new() -> Result<Self, ProbeError> {
        let first = getrandom::u64()
            .map_err(|error| ProbeError::fault(FaultKind::Internal, error.to_string()))?;
        Ok(Self { key: RandomState::new(), count: AtomicU64::new(first) })
    }

    fn next(&self) -> u128 {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        u128::from(self.key.hash_one(count)) << 64 | u128::from(count)
    }
}

/// A raw socket receives every ICMP packet of the machine, on loopback also our
/// own requests; on Linux the kernel filters out all but echo replies.
fn raw(domain: Domain, protocol: Protocol) -> io::Result<Socket> {
    let socket = Socket::new(domain, Type::RAW, Some(protocol))?;
    #[cfg(target_os = "linux")]
    if domain == Domain::IPV4 {
        use libc::{BPF_B, BPF_IND, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_LDX, BPF_MSH, BPF_RET};
        use socket2::SockFilter;
        let code = |code: u32| code as u16;
        socket.attach_filter(&[
            SockFilter::new(code(BPF_LDX | BPF_B | BPF_MSH), 0, 0, 0), // length of the IP header
            SockFilter::new(code(BPF_LD | BPF_B | BPF_IND), 0, 0, 0),  // ICMP type after it
            SockFilter::new(code(BPF_JMP | BPF_JEQ | BPF_K), 0, 1, 0), // an echo reply?
            SockFilter::new(code(BPF_RET | BPF_K), 0, 0, u32::MAX),    // all of it
            SockFilter::new(code(BPF_RET | BPF_K), 0, 0, 0),           // drop it
        ])?;
    }
    Ok(socket)
}

fn not_opened(to: IpAddr, error: &io::Error) -> ProbeError {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            ProbeError::fault(FaultKind::Permission, NOT_ALLOWED_MESSAGE)
        }
        _ => ProbeError::on_the_way_to(to, error),
    }
}

/// All that tokio needs of a datagram socket also holds for an ICMP socket.
fn into_tokio(socket: Socket) -> io::Result<UdpSocket> {
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket.into())
}

async fn read_replies(socket: Arc<UdpSocket>, waiting: Arc<Waiters>, domain: Domain) {
    let mut buffer = [0; 2_048];
    loop {
        if socket.readable().await.is_err() {
            return;
        }
        for _ in 0..READ_BATCH {
            match socket.try_recv_from(&mut buffer) {
                Ok((length, from)) => {
                    let at = Instant::now();
                    if let Some(token) = token_of(domain, &buffer[..length]) {
                        waiting.answer(from.ip(), token, at);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // Errors of earlier echoes surface here; their waiters keep
                // waiting.
                Err(error) => {
                    tracing::debug!(error = %ErrorChain(&error), "reading from an ICMP socket failed, continuing");
                }
            }
        }
        tokio::task::yield_now().await;
    }
}

/// An echo request that carries the token. The identifier is the token's start;
/// unprivileged sockets replace it with their own. Zeros follow, up to the size.
fn request(domain: Domain, token: u128, size: u16) -> Vec<u8> {
    let token = token.to_be_bytes();
    let mut packet = vec![0; 8 + usize::from(size).max(token.len())];
    packet[0] = if domain == Domain::IPV4 { 8 } else { 128 };
    packet[4..8].copy_from_slice(&token[..4]);
    packet[8..24].copy_from_slice(&token);
    if domain == Domain::IPV4 {
        let sum = checksum(&packet);
        packet[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    // For ICMPv6 the kernel computes the checksum: it covers addresses unknown
    // here.
    packet
}

/// The token of an echo reply; `None` for any other packet.
fn token_of(domain: Domain, packet: &[u8]) -> Option<u128> {
    let (reply, icmp) = match domain {
        Domain::IPV4 => (0, without_ip_header(packet)?),
        _ => (129, packet),
    };
    let is_reply = *icmp.first()? == reply && *icmp.get(1)? == 0;
    let token = icmp.get(8..24)?.try_into().ok()?;
    is_reply.then(|| u128::from_be_bytes(token))
}

/// Raw sockets include the IPv4 header, unprivileged ones do not. An echo reply
/// begins with 0, which is not an IP version.
fn without_ip_header(packet: &[u8]) -> Option<&[u8]> {
    let first = *packet.first()?;
    match first >> 4 {
        4 => packet.get(usize::from(first & 0x0F) * 4..),
        _ => Some(packet),
    }
}

/// RFC 1071.
fn checksum(packet: &[u8]) -> u16 {
    let words = packet.chunks(2).map(|pair| {
        u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or_default()]))
    });
    let mut sum: u32 = words.sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: u128 = 0x0123_4567_89ab_cdef_0011_2233_4455_6677;

    #[test]
    fn the_checksum_of_a_request_is_valid() {
        assert_eq!(checksum(&request(Domain::IPV4, TOKEN, 16)), 0);
        assert_eq!(checksum(&request(Domain::IPV4, TOKEN, 1_400)), 0);
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    #[test]
    fn a_reply_gives_its_token_with_and_without_an_ip_header() {
        let mut reply = request(Domain::IPV4, TOKEN, 16);
        reply[0] = 0;
        assert_eq!(token_of(Domain::IPV4, &reply), Some(TOKEN));
        let with_header = [&[0x45; 20][..], &reply].concat();
        assert_eq!(token_of(Domain::IPV4, &with_header), Some(TOKEN));
        reply[0] = 129;
        assert_eq!(token_of(Domain::IPV6, &reply), Some(TOKEN));
    }

    #[test]
    fn other_packets_have_no_token() {
        let request = request(Domain::IPV4, TOKEN, 16);
        assert_eq!(token_of(Domain::IPV4, &request), None, "our own request on loopback");
        assert_eq!(token_of(Domain::IPV6, &request), None);
        for length in 0..24 {
            let mut short = request[..length].to_vec();
            short.iter_mut().take(1).for_each(|byte| *byte = 0);
            assert_eq!(token_of(Domain::IPV4, &short), None, "{length}");
        }
        assert_eq!(token_of(Domain::IPV4, &[0x4F; 24]), None, "a header longer than the packet");
    }

    #[test]
    fn loss_and_jitter_follow_from_the_echoes_that_returned() {
        let times = [10, 14, 12].map(Duration::from_millis);
        let facts = PingFacts::of(5, &times);
        assert_eq!((facts.loss, facts.jitter()), (40.0, Some(3.0)));
        assert_eq!(facts.times.map(|times| times.mean), Some(Duration::from_millis(12)));
        let one = PingFacts::of(4, &times[..1]);
        assert_eq!((one.loss, one.jitter()), (75.0, Some(0.0)));
        let none = PingFacts::of(4, &[]);
        assert_eq!((none.loss, none.jitter()), (100.0, None));
    }

    #[test]
    fn a_reply_from_another_address_is_ignored() {
        let waiting = Waiters::default();
        let (waiter, mut back) = oneshot::channel();
        let (asked, other) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        waiting.lock().insert(TOKEN, (asked, waiter));
        waiting.answer(other, TOKEN, Instant::now());
        assert!(back.try_recv().is_err());
        waiting.answer(asked, TOKEN, Instant::now());
        assert!(back.try_recv().is_ok());
    }
}
