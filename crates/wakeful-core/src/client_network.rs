//! The network of a client's address, used for rate limits and fair sharing: a
//! single IPv4 address, or the /64 of an IPv6 address, because a host is
//! usually assigned a whole /64. A customer of a provider can have many of them,
//! which form a site: an IPv4 /24 or an IPv6 /48.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Equal for two addresses of the same client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientNetwork {
    first: IpAddr,
    prefix_length: u32,
}

impl ClientNetwork {
    pub fn of(address: IpAddr) -> Self {
        Self::containing(address, Ipv4Addr::BITS, 64)
    }

    /// The site that the network is part of.
    pub fn site(self) -> Self {
        Self::containing(self.first, 24, 48)
    }

    fn containing(address: IpAddr, v4_prefix: u32, v6_prefix: u32) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => {
                let mask = u32::MAX << (Ipv4Addr::BITS - v4_prefix);
                let first = Ipv4Addr::from_bits(address.to_bits() & mask);
                Self { first: first.into(), prefix_length: v4_prefix }
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX << (Ipv6Addr::BITS - v6_prefix);
                let first = Ipv6Addr::from_bits(address.to_bits() & mask);
                Self { first: first.into(), prefix_length: v6_prefix }
            }
        }
    }
}

impl fmt::Display for ClientNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first {
            IpAddr::V4(address) if self.prefix_length == Ipv4Addr::BITS => address.fmt(f),
            first => write!(f, "{first}/{}", self.prefix_length),
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

    #[test]
    fn a_site_is_a_48_or_a_24() {
        let site = |address: &str| {
            ClientNetwork::of(address.parse().expect("an address")).site().to_string()
        };
        assert_eq!(site("9.9.9.9"), "9.9.9.0/24");
        assert_eq!(site("2001:db8:1:2:3:4:5:6"), "2001:db8:1::/48");
        assert_eq!(site("2001:db8:1:ffff::1"), "2001:db8:1::/48");
    }
}
