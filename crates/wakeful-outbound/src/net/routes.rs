//! The routes of this machine, from the tables of the kernel. A connection that fails because no
//! route leads to its target says nothing about that target.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const UP: u32 = 0x1;
const REJECT: u32 = 0x200;

/// A route that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route<'t> {
    pub to: IpNet,
    /// Unspecified if none is needed.
    pub router: IpAddr,
    pub iface: &'t str,
}

impl Route<'_> {
    pub fn is_default(&self) -> bool {
        self.to.prefix_len() == 0
    }
}

/// The routes in `/proc/net/route`.
/// `Iface Destination Gateway Flags … Mask …`, one route per line, in hex.
pub fn v4_routes(table: &str) -> impl Iterator<Item = Route<'_>> {
    table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let hex = |index: usize| u32::from_str_radix(fields.get(index)?, 16).ok();
        // The kernel prints an address as a number in native byte order.
        let address = |index: usize| Some(Ipv4Addr::from(hex(index)?.to_ne_bytes()));
        let to = IpNet::V4(Ipv4Net::with_netmask(address(1)?, address(7)?).ok()?);
        let (router, iface) = (IpAddr::V4(address(2)?), *fields.first()?);
        is_usable(hex(3)?).then_some(Route { to, router, iface })
    })
}

/// The routes in `/proc/net/ipv6_route`, among them those to our own addresses.
/// `destination length source length gateway metric references use flags iface`.
pub fn v6_routes(table: &str) -> impl Iterator<Item = Route<'_>> {
    table.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let hex = |index: usize| u128::from_str_radix(fields.get(index)?, 16).ok();
        let length = u8::try_from(hex(1)?).ok()?;
        let to = IpNet::V6(Ipv6Net::new(Ipv6Addr::from(hex(0)?), length).ok()?);
        let (router, iface) = (IpAddr::V6(Ipv6Addr::from(hex(4)?)), *fields.get(9)?);
        is_usable(u32::try_from(hex(8)?).ok()?).then_some(Route { to, router, iface })
    })
}

fn is_usable(flags: u32) -> bool {
    flags & UP != 0 && flags & REJECT == 0
}

/// What this machine lacks, if that is why an address was not reached.
pub(super) fn missing_network(error: &io::Error, to: IpAddr) -> Option<&'static str> {
    let errno = error.raw_os_error().filter(|errno| may_lack_network(*errno))?;
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let v4 = read("/proc/net/route");
    let v6 = read("/proc/net/ipv6_route").unwrap_or_default();
    explain(errno, to, v4.as_deref(), &v6)
}

/// EADDRNOTAVAIL is also what is returned if IPv6 is disabled.
fn may_lack_network(errno: i32) -> bool {
    matches!(errno, libc::EAFNOSUPPORT | libc::ENETUNREACH | libc::EADDRNOTAVAIL)
}

/// `v4` is `None` where the tables cannot be read: the routes are then unknown.
fn explain(errno: i32, to: IpAddr, v4: Option<&str>, v6: &str) -> Option<&'static str> {
    let to = to.to_canonical();
    let lacks_family = errno == libc::EAFNOSUPPORT;
    if !may_lack_network(errno) || (!lacks_family && leads_to(to, v4?, v6)) {
        return None;
    }
    let (has_v4, has_v6) = (
        v4.is_some_and(|table| v4_routes(table).any(|route| route.is_default())),
        v6_routes(v6).any(|route| route.is_default()),
    );
    let is_offline = !lacks_family && !to.is_loopback() && !has_v4 && !has_v6;
    Some(match to {
        _ if is_offline => "our own network is down: this node has no default route",
        IpAddr::V4(_) => "this node has no IPv4 network",
        IpAddr::V6(_) => "this node has no IPv6 network",
    })
}

fn leads_to(to: IpAddr, v4: &str, v6: &str) -> bool {
    match to {
        // Its routes are in another table.
        IpAddr::V4(ip) if ip.is_loopback() => true,
        IpAddr::V4(_) => v4_routes(v4).any(|route| route.to.contains(&to)),
        IpAddr::V6(_) => v6_routes(v6).any(|route| route.to.contains(&to)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\t…\n";
    const V4_DEFAULT: &str = "eth0\t00000000\t0102000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n";
    const V4_LAN: &str = "eth0\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";

    /// A line of the table for IPv6.
    fn v6(to: &str, length: u8, flags: u32, iface: &str) -> String {
        let to = u128::from(to.parse::<Ipv6Addr>().unwrap());
        let zeros = "0".repeat(32);
        format!("{to:032x} {length:02x} {zeros} 00 {zeros} 00000400 1 0 {flags:08x} {iface}\n")
    }

    #[test]
    fn routes_are_read_from_the_tables_of_the_kernel() {
        let table = format!("{HEADER}{V4_DEFAULT}{V4_LAN}");
        let routes: Vec<Route<'_>> = v4_routes(&table).collect();
        let described = routes.iter().map(|route| {
            format!("{} via {} dev {} {}", route.to, route.router, route.iface, route.is_default())
        });
        assert_eq!(
            described.collect::<Vec<_>>(),
            ["0.0.0.0/0 via 10.0.2.1 dev eth0 true", "10.0.2.0/24 via 0.0.0.0 dev eth0 false"]
        );
        assert_eq!(v4_routes(HEADER).count(), 0);
        let unreachable = v6("::", 0, 0x0020_0200, "lo");
        assert_eq!(v6_routes(&unreachable).count(), 0);
        let table = format!("{}{unreachable}", v6("::", 0, 3, "eth0"));
        let ifaces: Vec<&str> = v6_routes(&table).map(|route| route.iface).collect();
        assert_eq!(ifaces, ["eth0"]);
    }

    #[test]
    fn a_missing_network_is_ours_and_a_missing_route_to_one_target_is_not() {
        const NO_V4: Option<&str> = Some("this node has no IPv4 network");
        const NO_V6: Option<&str> = Some("this node has no IPv6 network");
        const OFFLINE: Option<&str> =
            Some("our own network is down: this node has no default route");
        let v4_only = (format!("{HEADER}{V4_DEFAULT}"), v6("::", 0, 0x0020_0200, "lo"));
        let v6_only = (HEADER.to_owned(), v6("::", 0, 3, "eth0"));
        let both = (v4_only.0.clone(), v6_only.1.clone());
        let loopback = v6("::1", 128, 0x8020_0001, "lo");
        let lan =
            (format!("{HEADER}{V4_LAN}"), format!("{loopback}{}", v6("fd00::", 64, 1, "eth0")));
        let with_loopback = (v4_only.0.clone(), loopback);
        let (unreachable, none, no_address) =
            (libc::ENETUNREACH, libc::EAFNOSUPPORT, libc::EADDRNOTAVAIL);
        for (errno, to, tables, expected) in [
            (unreachable, "2001:db8::1", &v4_only, NO_V6),
            (no_address, "2001:db8::1", &v4_only, NO_V6),
            (none, "2001:db8::1", &v4_only, NO_V6),
            (none, "2001:db8::1", &both, NO_V6),
            (unreachable, "2001:db8::1", &both, None),
            (no_address, "2001:db8::1", &both, None),
            (libc::EHOSTUNREACH, "2001:db8::1", &v4_only, None),
            (libc::ETIMEDOUT, "2001:db8::1", &v4_only, None),
            (unreachable, "192.0.2.1", &v6_only, NO_V4),
            (unreachable, "::ffff:192.0.2.1", &v6_only, NO_V4),
            (unreachable, "192.0.2.1", &v4_only, None),
            (no_address, "192.0.2.1", &v4_only, None),
            // On a link, without a way beyond it.
            (no_address, "10.0.2.7", &lan, None),
            (unreachable, "fd00::7", &lan, None),
            (unreachable, "192.0.2.1", &lan, OFFLINE),
            (unreachable, "2001:db8::1", &lan, OFFLINE),
            // Out of ports.
            (no_address, "127.0.0.1", &lan, None),
            (no_address, "::1", &lan, None),
            (no_address, "::1", &with_loopback, None),
            // IPv6 is disabled.
            (no_address, "::1", &v4_only, NO_V6),
            (no_address, "::1", &(HEADER.to_owned(), String::new()), NO_V6),
        ] {
            let (v4, v6) = tables;
            let found = explain(errno, to.parse().unwrap(), Some(v4), v6);
            assert_eq!(found, expected, "{errno} {to} {tables:?}");
        }
        let to = "2001:db8::1".parse().unwrap();
        assert_eq!(explain(unreachable, to, None, ""), None, "the tables cannot be read");
        assert_eq!(explain(none, to, None, ""), NO_V6);
    }
}
