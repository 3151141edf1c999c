//! The network of a client's address, used for rate limits and fair sharing: a
//! single IPv4 address, or the /64 of an IPv6 address, because a host is
//! usually assigned a whole /64.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Equal for two addresses of the same client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientNetwork(IpAddr);

const HOST_BITS: u32 = 64;

impl ClientNetwork {
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() >> HOST_BITS << HOST_BITS;
                Self(IpAddr::V6(Ipv6Addr::from_bits(network)))
            }
            v4 => Self(v4),
        }
    }
}

impl fmt::Display for ClientNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(address) => address.fmt(f),
            IpAddr::V6(network) => write!(f, "{network}/64"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(address: &str) -> String {
        ClientNetwork::of(address.parse().expect("an address")).to_string()
    }

    #[test]
    fn an_ipv6_client_is_a_64_and_an_ipv4_client_a_single_address() {
        for (address, expected) in [
            ("9.9.9.9", "9.9.9.9"),
            ("::ffff:9.9.9.9", "9.9.9.9"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
            ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
            ("::1", "::/64"),
        ] {
            assert_eq!(network(address), expected, "{address}");
        }
    }
}
