//! A name server by UDP whose answers depend on the name.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

const HEADER: usize = 12;
const TTL: u32 = 1;
const TYPE_A: u16 = 1;
const TYPE_CNAME: u16 = 5;
const TYPE_AAAA: u16 = 28;

/// The answer to a query.
pub enum DnsReply {
    Silence,
    /// Without records.
    Code(u8),
    /// The addresses of the family that was asked for.
    Addresses(Vec<IpAddr>),
    /// The same, after a while.
    Late(Duration, Vec<IpAddr>),
    /// A chain of aliases, each the alias of the one before, and a code.
    Aliases(Vec<&'static str>, u8),
}

pub struct NameServer {
    _tasks: JoinSet<()>,
}

impl NameServer {
    pub const NXDOMAIN: u8 = 3;
    pub const SERVFAIL: u8 = 2;
    pub const REFUSED: u8 = 5;

    /// `answer` is given the name without the final dot.
    pub async fn start(
        address: SocketAddr,
        answer: impl Fn(&str) -> DnsReply + Send + 'static,
    ) -> Self {
        let socket = Arc::new(UdpSocket::bind(address).await.unwrap());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut query = [0; 512];
            let mut late = JoinSet::new();
            while let Ok((length, from)) = socket.recv_from(&mut query).await {
                let Some((reply, delay)) = reply(&query[..length], &answer) else { continue };
                let socket = socket.clone();
                // A client that is gone needs no answer.
                let send = async move { drop(socket.send_to(&reply, from).await) };
                if delay.is_zero() {
                    send.await;
                } else {
                    late.spawn(async move {
                        tokio::time::sleep(delay).await;
                        send.await;
                    });
                }
                while late.try_join_next().is_some() {}
            }
        });
        Self { _tasks: tasks }
    }
}

/// The reply, and when it is sent.
fn reply(query: &[u8], answer: &impl Fn(&str) -> DnsReply) -> Option<(Vec<u8>, Duration)> {
    let (name, end) = name_at(query, HEADER)?;
    let kind = u16::from_be_bytes(query.get(end..end + 2)?.try_into().ok()?);
    let question = query.get(HEADER..end + 4)?;
    let mut records = Vec::new();
    // A pointer to the question.
    let mut owner = vec![0xc0, u8::try_from(HEADER).unwrap()];
    let (delay, answer) = match answer(&name) {
        DnsReply::Late(delay, addresses) => (delay, DnsReply::Addresses(addresses)),
        answer => (Duration::ZERO, answer),
    };
    let code = match answer {
        DnsReply::Silence => return None,
        DnsReply::Code(code) => code,
        DnsReply::Addresses(addresses) | DnsReply::Late(_, addresses) => {
            for address in addresses {
                let (of, data) = match address {
                    IpAddr::V4(ip) => (TYPE_A, ip.octets().to_vec()),
                    IpAddr::V6(ip) => (TYPE_AAAA, ip.octets().to_vec()),
                };
                if of == kind {
                    records.push(record(&owner, of, &data));
                }
            }
            0
        }
        DnsReply::Aliases(names, code) => {
            for name in names {
                let target = encoded(name);
                records.push(record(&owner, TYPE_CNAME, &target));
                owner = target;
            }
            code
        }
    };
    let mut bytes = query.get(..2)?.to_vec();
    bytes.extend([0x81, 0x80 | code, 0, 1, 0, u8::try_from(records.len()).unwrap(), 0, 0, 0, 0]);
    bytes.extend(question);
    bytes.extend(records.concat());
    Some((bytes, delay))
}

/// A name and where it ends.
fn name_at(query: &[u8], mut at: usize) -> Option<(String, usize)> {
    let mut labels = Vec::new();
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            return Some((labels.join("."), at));
        }
        let label = query.get(at..at + length)?;
        labels.push(String::from_utf8_lossy(label).to_ascii_lowercase());
        at += length;
    }
}

fn encoded(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.split('.') {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend(label.as_bytes());
    }
    bytes.push(0);
    bytes
}

fn record(owner: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = owner.to_vec();
    bytes.extend(kind.to_be_bytes());
    bytes.extend([0, 1]);
    bytes.extend(TTL.to_be_bytes());
    bytes.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    bytes.extend(data);
    bytes
}
