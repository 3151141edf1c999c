//! Connections through the proxy of a monitor or of this node: a tunnel by the CONNECT method of HTTP, also to
//! targets without TLS, or SOCKS 5 (RFC 1928). What goes wrong between us and the proxy says
//! nothing about the target; what the proxy says about the target does.

use data_encoding::BASE64;
use std::io;
use std::net::{IpAddr, SocketAddr};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;
use wakeful_core::monitors::spec::{Proxy, ProxyScheme};
use wakeful_core::observation::FaultKind;
use wakeful_core::one_line::one_line;
use wakeful_core::reason::Reason;
use wakeful_core::redact::{REDACTED, Redactor};

use super::dial::{DialOptions, ProxyRoute};
use super::error::ProbeError;
use super::{Deadline, Net, Stage, Target, Trace, add};

/// The longest head of a response to CONNECT.
const MAX_HEAD_BYTES: usize = 16_384;
const READ_BYTES: usize = 2_048;
/// How many addresses of a target a proxy is asked to connect to.
const MAX_ATTEMPTS: usize = 3;
const MAX_REASON_LENGTH: usize = 60;

/// What a proxy is asked to connect to.
enum Destination<'a> {
    Name(&'a str, u16),
    Address(SocketAddr),
}

impl Net {
    /// Opens a connection to the target through the proxy. If addresses are restricted, the
    /// proxy is given an address that was vetted, and never a name.
    pub(super) async fn tunnel(
        &self,
        dial: &DialOptions,
        route: &ProxyRoute,
        target: Target<'_>,
        port: u16,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<TcpStream, ProbeError> {
        let (proxy, net) = match route {
            ProxyRoute::OfMonitor(proxy) => (proxy, self),
            ProxyRoute::OfNode(node) => (&node.proxy, &node.net),
        };
        let by_name = !self.guard().vets_addresses() && !dial.resolves();
        let destinations = match dial.target(target) {
            Target::Name(name) if by_name => {
                self.guard().check_name(name)?;
                vec![Destination::Name(name, port)]
            }
            _ => {
                let addrs = self.dialed_addresses(dial, target, port, deadline, trace).await?;
                addrs.into_iter().take(MAX_ATTEMPTS).map(Destination::Address).collect()
            }
        };
        trace.proxy = Some(proxy.server());
        trace.stage = Stage::Tunneling;
        let began = Instant::now();
        let mut failure = ProbeError::no_answer();
        for destination in &destinations {
            let mut stream = net.reach(proxy, deadline).await?;
            let asked = match proxy.scheme {
                ProxyScheme::Http => connect(&mut stream, proxy, destination).await,
                ProxyScheme::Socks5 => socks5(&mut stream, proxy, destination).await,
            };
            match asked {
                Ok(()) => {
                    trace.address = match destination {
                        Destination::Address(addr) => Some(*addr),
                        Destination::Name(..) => None,
                    };
                    add(&mut trace.phases.connect, began.elapsed());
                    return Ok(stream);
                }
                Err(ProbeError::Fault(fault)) => return Err(ProbeError::Fault(fault)),
                Err(down) => failure = down,
            }
        }
        Err(failure)
    }

    /// Connects to the proxy itself, which passes the guard like any target.
    async fn reach(&self, proxy: &Proxy, deadline: Deadline) -> Result<TcpStream, ProbeError> {
        let mut trace = Trace::default();
        let addrs = self.plain_addresses(proxy.host().into(), proxy.port, deadline, &mut trace);
        let opened = match addrs.await {
            Ok(addrs) => self.open_any(&addrs).await.map(|(_, stream)| stream),
            Err(error) => Err(error),
        };
        opened.map_err(|error| match error {
            ProbeError::Down(_, _, why) => {
                let message = format!("the proxy {} cannot be reached: {why}", proxy.server());
                ProbeError::fault(FaultKind::Network, message)
            }
            ours => ours,
        })
    }
}

/// The CONNECT method (RFC 9110, section 9.3.6).
async fn connect(
    stream: &mut TcpStream,
    proxy: &Proxy,
    to: &Destination<'_>,
) -> Result<(), ProbeError> {
    let authority = match to {
        Destination::Name(name, port) => format!("{name}:{port}"),
        Destination::Address(addr) => addr.to_string(),
    };
    let password = proxy.password.expose();
    let pair = format!("{}:{password}", proxy.username);
    let login = match proxy.username.as_str() {
        "" => String::new(),
        _ => format!("Proxy-Authorization: Basic {}\r\n", BASE64.encode(pair.as_bytes())),
    };
    let request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{login}\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|error| broken(&error))?;
    let head = read_head(stream).await?;
    let line = head.lines().next().unwrap_or_default();
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5));
    let status: Option<u16> = status.and_then(|status| status.parse().ok());
    match status {
        Some(200..=299) => Ok(()),
        Some(407) => Err(refused_login()),
        // It has tried.
        Some(404 | 500..=599) => {
            let reason = line.split_once(' ').map_or("", |(_, rest)| rest);
            // It may repeat the login, and everybody in the team sees what it says.
            let hidden = Redactor::new([pair.as_str(), password]).hide(reason, REDACTED);
            Err(unreachable(&one_line(&hidden, MAX_REASON_LENGTH)))
        }
        Some(status) => {
            let message = format!("the proxy refuses to connect to the target: status {status}");
            Err(ProbeError::fault(FaultKind::Config, message))
        }
        None => Err(no_proxy()),
    }
}

/// The head of a response, and not a byte more: what follows is the target's.
async fn read_head(stream: &mut TcpStream) -> Result<String, ProbeError> {
    let mut head: Vec<u8> = Vec::new();
    let mut buffer = [0; READ_BYTES];
    loop {
        let count = stream.peek(&mut buffer).await.map_err(|error| broken(&error))?;
        if count == 0 {
            return Err(closed());
        }
        let before = head.len();
        head.extend_from_slice(&buffer[..count]);
        let end = head.windows(4).position(|part| part == b"\r\n\r\n").map(|at| at + 4);
        let used = end.map_or(count, |end| end - before);
        stream.read_exact(&mut buffer[..used]).await.map_err(|error| broken(&error))?;
        if let Some(end) = end {
            head.truncate(end);
            return Ok(String::from_utf8_lossy(&head).into_owned());
        }
        if head.len() >= MAX_HEAD_BYTES {
            return Err(no_proxy());
        }
    }
}

async fn socks5(
    stream: &mut TcpStream,
    proxy: &Proxy,
    to: &Destination<'_>,
) -> Result<(), ProbeError> {
    const NO_LOGIN: u8 = 0;
    const PASSWORD: u8 = 2;
    let has_user = !proxy.username.is_empty();
    let greeting: &[u8] = if has_user { &[5, 2, NO_LOGIN, PASSWORD] } else { &[5, 1, NO_LOGIN] };
    stream.write_all(greeting).await.map_err(|error| broken(&error))?;
    let mut chosen = [0; 2];
    stream.read_exact(&mut chosen).await.map_err(|error| broken(&error))?;
    match chosen {
        [5, NO_LOGIN] => {}
        [5, PASSWORD] if has_user => log_in(stream, proxy).await?,
        [5, 0xFF] => return Err(refused_login()),
        _ => return Err(no_proxy()),
    }
    let mut request = vec![5, 1, 0];
    match to {
        Destination::Address(addr) => {
            match addr.ip().to_canonical() {
                IpAddr::V4(ip) => {
                    request.push(1);
                    request.extend(ip.octets());
                }
                IpAddr::V6(ip) => {
                    request.push(4);
                    request.extend(ip.octets());
                }
            }
            request.extend(addr.port().to_be_bytes());
        }
        Destination::Name(name, port) => {
            let length = u8::try_from(name.len()).map_err(|_| no_proxy())?;
            request.extend([3, length]);
            request.extend(name.as_bytes());
            request.extend(port.to_be_bytes());
        }
    }
    stream.write_all(&request).await.map_err(|error| broken(&error))?;
    let mut reply = [0; 4];
    stream.read_exact(&mut reply).await.map_err(|error| broken(&error))?;
    let [version, code, _, kind] = reply;
    if version != 5 {
        return Err(no_proxy());
    }
    match code {
        0 => {}
        1 => return Err(unreachable("general failure")),
        3 => return Err(unreachable("network unreachable")),
        4 => return Err(unreachable("host unreachable")),
        5 => return Err(unreachable("connection refused")),
        6 => return Err(unreachable("no answer")),
        code => {
            let message = format!("the proxy refuses to connect to the target: code {code}");
            return Err(ProbeError::fault(FaultKind::Config, message));
        }
    }
    let mut length = [0; 1];
    let bound = match kind {
        1 => 4,
        4 => 16,
        3 => {
            stream.read_exact(&mut length).await.map_err(|error| broken(&error))?;
            usize::from(length[0])
        }
        _ => return Err(no_proxy()),
    };
    let mut rest = vec![0; bound + 2];
    stream.read_exact(&mut rest).await.map_err(|error| broken(&error))?;
    Ok(())
}

/// RFC 1929.
async fn log_in(stream: &mut TcpStream, proxy: &Proxy) -> Result<(), ProbeError> {
    let mut message = vec![1];
    for text in [proxy.username.as_str(), proxy.password.expose()] {
        message.push(u8::try_from(text.len()).map_err(|_| refused_login())?);
        message.extend(text.as_bytes());
    }
    stream.write_all(&message).await.map_err(|error| broken(&error))?;
    let mut answer = [0; 2];
    stream.read_exact(&mut answer).await.map_err(|error| broken(&error))?;
    if answer == [1, 0] { Ok(()) } else { Err(refused_login()) }
}

fn unreachable(why: &str) -> ProbeError {
    ProbeError::answered(Reason::Proxy, format!("the proxy cannot reach the target: {why}"))
}

fn refused_login() -> ProbeError {
    ProbeError::fault(FaultKind::Config, "the proxy refuses the login")
}

fn no_proxy() -> ProbeError {
    ProbeError::fault(FaultKind::Config, "the proxy does not respond like a proxy of this type")
}

fn closed() -> ProbeError {
    ProbeError::fault(FaultKind::Network, "the proxy closed the connection")
}

fn broken(error: &io::Error) -> ProbeError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => closed(),
        _ => {
            let why = ProbeError::from_io(error).message().to_owned();
            ProbeError::fault(
                FaultKind::Network,
                format!("the connection to the proxy failed: {why}"),
            )
        }
    }
}
