//! An address of which two of five echo requests are lost. Nothing has this address: requests to
//! it are seen on the loopback device, and replies are sent in its name.

use socket2::{Domain, Protocol, Socket, Type};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

/// Of a documentation network.
pub(super) const LOSSY: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 5);
/// All packets of IPv4, as the system calls them.
const ETH_P_IP: u16 = 0x0800;
const ECHO_REQUEST: u8 = 8;
const ICMP: u8 = 1;
/// The change of the checksum when a request becomes a reply.
const TYPE_DIFFERENCE: u16 = 0x0800;

pub(super) struct LossyEcho {
    _tasks: JoinSet<()>,
}

impl LossyEcho {
    /// Needs the privileges of a network namespace of its own.
    pub(super) fn start() -> Self {
        let all_packets = Protocol::from(i32::from(ETH_P_IP.to_be()));
        let seen = Socket::new(Domain::PACKET, Type::DGRAM, Some(all_packets)).unwrap();
        seen.set_nonblocking(true).unwrap();
        // All that is needed of a datagram socket also holds for this one.
        let seen = UdpSocket::from_std(seen.into()).unwrap();
        let replies = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4)).unwrap();
        replies.set_header_included_v4(true).unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut buffer = [0; 2_048];
            let mut count = 0;
            while let Ok(length) = seen.recv(&mut buffer).await {
                let Some(reply) = reply(&mut buffer[..length]) else { continue };
                count += 1;
                if ![2, 4].contains(&(count % 5)) {
                    let to = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
                    replies.send_to(reply, &to.into()).unwrap();
                }
            }
        });
        Self { _tasks: tasks }
    }
}

/// The reply to a packet, if it is an echo request to the address.
fn reply(packet: &mut [u8]) -> Option<&[u8]> {
    let header = usize::from(packet.first()? & 0x0F) * 4;
    let is_request = *packet.get(9)? == ICMP
        && *packet.get(header)? == ECHO_REQUEST
        && packet.get(16..20)? == LOSSY.octets();
    if !is_request {
        return None;
    }
    packet[12..16].copy_from_slice(&LOSSY.octets());
    packet[16..20].copy_from_slice(&Ipv4Addr::LOCALHOST.octets());
    packet[header] = 0;
    let sum = packet.get_mut(header + 2..header + 4)?;
    let old = u16::from_be_bytes([sum[0], sum[1]]);
    let (new, carry) = old.overflowing_add(TYPE_DIFFERENCE);
    sum.copy_from_slice(&(new + u16::from(carry)).to_be_bytes());
    Some(packet)
}
