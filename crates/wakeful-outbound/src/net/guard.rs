//! The egress guard: which addresses Wakeful may connect to on behalf of users.
//! It checks the socket address at connect time, so every protocol, every
//! redirect and every DNS answer passes here, however the address was written.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use url::{Host, Url};
use wakeful_core::Invalid;
use wakeful_core::monitors::hostname::{self, Hostname};
use wakeful_core::monitors::url::HttpUrl;

/// Where connections may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Also loopback and private networks: for operators who monitor their own
    /// systems.
    Private,
    /// Global addresses only: for operators who host other users.
    Public,
    /// Only these networks.
    List(Vec<IpNet>),
}

/// Blocked by policy. It says nothing about the target, up or down.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("blocked by this server's network policy: {target} {reason}")]
pub struct Denied {
    pub target: String,
    pub reason: &'static str,
}

impl Denied {
    fn new(target: impl Into<String>, reason: &'static str) -> Self {
        Self { target: target.into(), reason }
    }
}

#[derive(Clone, Debug)]
pub struct Guard {
    policy: Policy,
    own: Vec<SocketAddr>,
}

impl Guard {
    /// `own` are the addresses of this service, its database and its bus:
    /// blocked in public mode, wherever they are.
    pub fn new(policy: Policy, own: Vec<SocketAddr>) -> Self {
        Self { policy, own }
    }

    /// The same with another policy.
    #[must_use]
    pub fn with_policy(&self, policy: Policy) -> Self {
        Self { policy, own: self.own.clone() }
    }

    /// Whether names must be resolved here, because their addresses are checked.
    pub(crate) fn vets_addresses(&self) -> bool {
        self.policy != Policy::Private
    }

    /// Whether this address may be connected to.
    pub fn check(&self, addr: SocketAddr) -> Result<(), Denied> {
        let ip = addr.ip().to_canonical();
        if let Some(reason) = self.refusal(ip) {
            return Err(Denied::new(ip.to_string(), reason));
        }
        if self.policy == Policy::Public && self.own.iter().any(|own| covers(*own, ip, addr.port()))
        {
            return Err(Denied::new(ip.to_string(), "belongs to this service"));
        }
        Ok(())
    }

    /// Whether this name may be resolved. Its addresses are checked again, one
    /// by one.
    pub fn check_name(&self, name: &str) -> Result<(), Denied> {
        let plain = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        if matches!(plain.as_str(), "metadata" | "metadata.google.internal") {
            return Err(Denied::new(name, "is a cloud metadata service"));
        }
        let last_label = plain.rsplit('.').next().unwrap_or_default();
        if self.policy == Policy::Public && matches!(last_label, "localhost" | "local" | "internal")
        {
            return Err(Denied::new(name, "is a name in a private network"));
        }
        Ok(())
    }

    /// Refuses a host in a user's settings; the addresses of a name are checked when they
    /// are resolved.
    pub fn validate_host(&self, host: &Hostname, port: u16) -> Result<(), Invalid> {
        let allowed = match host.host() {
            hostname::Host::Name(name) => self.check_name(name),
            hostname::Host::Address(ip) => self.check(SocketAddr::new(*ip, port)),
        };
        allowed.map_err(|denied| Invalid::new(denied.to_string()))
    }

    /// Refuses a URL in a user's settings.
    pub fn validate_url(&self, url: &HttpUrl) -> Result<(), Invalid> {
        self.check_url(url.url()).map_err(|denied| Invalid::new(denied.to_string()))
    }

    /// Whether this URL may be fetched. Connections use the URL as parsed here.
    pub fn check_url(&self, url: &Url) -> Result<(), Denied> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Denied::new(format!("{}:", url.scheme()), "is neither http nor https"));
        }
        let port = url.port_or_known_default().unwrap_or_default();
        let host = url.host_str().unwrap_or_default();
        if port == 0 || host.is_empty() {
            return Err(Denied::new(host, "has no usable port or host"));
        }
        let has_userinfo = !url.username().is_empty() || url.password().is_some();
        if self.policy == Policy::Public && has_userinfo {
            return Err(Denied::new(host, "has a user name in its URL"));
        }
        match url.host() {
            Some(Host::Ipv4(ip)) => self.check(SocketAddr::new(ip.into(), port)),
            Some(Host::Ipv6(ip)) => self.check(SocketAddr::new(ip.into(), port)),
            _ => self.check_name(host),
        }
    }

    /// The addresses of `name` that may be connected to. In public mode one
    /// blocked address blocks the name: it is either a mistake or an attack.
    pub fn vet(&self, name: &str, mut addrs: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, Denied> {
        let mut denied = None;
        addrs.retain(|addr| match self.check(*addr) {
            Ok(()) => true,
            Err(why) => {
                denied = Some(why.reason);
                false
            }
        });
        match denied {
            // The address itself is not disclosed: names in a private network
            // stay private.
            Some(reason) if addrs.is_empty() || self.policy == Policy::Public => {
                Err(Denied::new(format!("the address of {name}"), reason))
            }
            _ => Ok(addrs),
        }
    }

    fn refusal(&self, ip: IpAddr) -> Option<&'static str> {
        let always = refused_always(ip).or_else(|| embedded_v4(ip).and_then(refused_embedded));
        always.or_else(|| match &self.policy {
            Policy::Private => None,
            Policy::Public => refused_in_public(ip),
            Policy::List(nets) => (!nets.iter().any(|net| net.contains(&ip)))
                .then_some("is not in an allowed network"),
        })
    }
}

/// A listener on the unspecified address is at every address of this machine.
fn covers(own: SocketAddr, ip: IpAddr, port: u16) -> bool {
    if own.port() != port {
        return false;
    }
    let listens_on = own.ip().to_canonical();
    listens_on == ip || (listens_on.is_unspecified() && is_local(ip))
}

/// Only an address of this machine can be bound.
fn is_local(ip: IpAddr) -> bool {
    std::net::UdpSocket::bind((ip, 0)).is_ok()
}

/// The IPv4 address that a transition mechanism would map this one to.
/// `to_canonical` has already unwrapped mapped addresses (`::ffff:0:0/96`).
fn embedded_v4(ip: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(v6) = ip else { return None };
    let o = v6.octets();
    match v6.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        // v4-compatible, and NAT64's well-known prefix (RFC 6052).
        [0, 0, 0, 0, 0, 0, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => {
            Some(Ipv4Addr::new(o[12], o[13], o[14], o[15]))
        }
        // NAT64's local prefix is a /48: the address is split around the eighth
        // octet.
        [0x64, 0xff9b, 1, ..] => Some(Ipv4Addr::new(o[6], o[7], o[9], o[10])),
        [0x2002, ..] => Some(Ipv4Addr::new(o[2], o[3], o[4], o[5])),
        // Teredo stores the client's address inverted (RFC 4380).
        [0x2001, 0, ..] => Some(Ipv4Addr::new(!o[12], !o[13], !o[14], !o[15])),
        _ => None,
    }
}

fn refused_embedded(v4: Ipv4Addr) -> Option<&'static str> {
    refused_always(IpAddr::V4(v4))
}

const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), bits)
}

const fn v6(head: [u16; 4], bits: u8) -> Ipv6Net {
    let [a, b, c, d] = head;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0), bits)
}

const METADATA: &str = "is a cloud metadata service";
const LINK_LOCAL: &str = "is link-local";
const MULTICAST: &str = "is multicast";
const NOT_A_HOST: &str = "is not a host address";
const LOOPBACK: &str = "is a loopback address";
const PRIVATE: &str = "is a private address";
const RESERVED: &str = "is reserved and not global";

/// The first match applies, so the more specific reason is listed first.
const V4_ALWAYS: [(Ipv4Net, &str); 8] = [
    (v4(169, 254, 169, 254, 32), METADATA),
    (v4(169, 254, 170, 2, 32), METADATA),
    (v4(100, 100, 100, 200, 32), METADATA),
    (v4(168, 63, 129, 16, 32), METADATA),
    (v4(0, 0, 0, 0, 8), NOT_A_HOST),
    (v4(169, 254, 0, 0, 16), LINK_LOCAL),
    (v4(224, 0, 0, 0, 4), MULTICAST),
    (v4(240, 0, 0, 0, 4), NOT_A_HOST),
];

const V4_PUBLIC: [(Ipv4Net, &str); 11] = [
    (v4(127, 0, 0, 0, 8), LOOPBACK),
    (v4(10, 0, 0, 0, 8), PRIVATE),
    (v4(172, 16, 0, 0, 12), PRIVATE),
    (v4(192, 168, 0, 0, 16), PRIVATE),
    (v4(100, 64, 0, 0, 10), PRIVATE),
    (v4(192, 0, 0, 0, 24), RESERVED),
    (v4(192, 0, 2, 0, 24), RESERVED),
    (v4(192, 88, 99, 0, 24), RESERVED),
    (v4(198, 18, 0, 0, 15), RESERVED),
    (v4(198, 51, 100, 0, 24), RESERVED),
    (v4(203, 0, 113, 0, 24), RESERVED),
];

const V6_ALWAYS: [(Ipv6Net, &str); 4] = [
    (Ipv6Net::new_assert(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), 128), METADATA),
    (Ipv6Net::new_assert(Ipv6Addr::UNSPECIFIED, 128), NOT_A_HOST),
    (v6([0xfe80, 0, 0, 0], 10), LINK_LOCAL),
    (v6([0xff00, 0, 0, 0], 8), MULTICAST),
];

const V6_PUBLIC: [(Ipv6Net, &str); 7] = [
    (Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128), LOOPBACK),
    (v6([0xfc00, 0, 0, 0], 7), PRIVATE),
    (v6([0xfec0, 0, 0, 0], 10), PRIVATE),
    (v6([0x2001, 0, 0, 0], 23), RESERVED),
    (v6([0x2001, 0xdb8, 0, 0], 32), RESERVED),
    (v6([0x2002, 0, 0, 0], 16), RESERVED),
    (v6([0x3fff, 0, 0, 0], 20), RESERVED),
];

/// All global unicast is in this range; `::/96`, `64:ff9b::/96`, `100::/64` and
/// `5f00::/16` are not.
const V6_GLOBAL: Ipv6Net = v6([0x2000, 0, 0, 0], 3);

fn refused_always(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => V4_ALWAYS.iter().find(|(net, _)| net.contains(&ip)).map(|row| row.1),
        IpAddr::V6(ip) => V6_ALWAYS.iter().find(|(net, _)| net.contains(&ip)).map(|row| row.1),
    }
}

fn refused_in_public(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => V4_PUBLIC.iter().find(|(net, _)| net.contains(&ip)).map(|row| row.1),
        IpAddr::V6(ip) => V6_PUBLIC
            .iter()
            .find(|(net, _)| net.contains(&ip))
            .map(|row| row.1)
            .or_else(|| (!V6_GLOBAL.contains(&ip)).then_some(RESERVED)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(policy: Policy) -> Guard {
        Guard::new(policy, Vec::new())
    }

    /// Hosts of a URL that all refer to this machine or its network.
    const SPELLINGS: [&str; 26] = [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0",
        "0.0.0.0",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:0:0:0:0:80ff:fffe]",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "169.254.169.254",
        "169.254.169.254:80",
        "[::ffff:a9fe:a9fe]",
        "example.com:pass@169.254.169.254",
        "169.254.169.254#.example.com",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
    ];

    #[test]
    fn in_public_mode_every_spelling_of_a_local_address_is_blocked() {
        for host in SPELLINGS {
            let url = Url::parse(&format!("http://{host}/")).unwrap();
            assert!(guard(Policy::Public).check_url(&url).is_err(), "{host} as {url}");
        }
    }

    #[test]
    fn in_public_mode_global_names_and_addresses_are_allowed() {
        for host in [
            "02.example.com",
            "1.1.1.1",
            "example.com:8443",
            "bücher.example",
            "[2606:4700::1111]",
            "[::ffff:1.1.1.1]",
            "internal.example.com",
        ] {
            let url = Url::parse(&format!("https://{host}/")).unwrap();
            assert_eq!(guard(Policy::Public).check_url(&url), Ok(()), "{host} as {url}");
        }
    }

    #[test]
    fn other_schemes_are_blocked_in_every_mode() {
        for text in ["file:///etc/passwd", "gopher://a/", "ftp://a/", "data:,x", "unix:/run/x"] {
            let url = Url::parse(text).unwrap();
            assert!(guard(Policy::Private).check_url(&url).is_err(), "{text}");
        }
    }

    #[test]
    fn special_addresses_are_blocked_in_every_mode() {
        let everything = vec!["0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap()];
        for policy in [Policy::Private, Policy::Public, Policy::List(everything)] {
            for ip in [
                "0.1.2.3",
                "169.254.1.1",
                "169.254.169.254",
                "169.254.170.2",
                "100.100.100.200",
                "168.63.129.16",
                "224.0.0.1",
                "255.255.255.255",
                "::",
                "fe80::1",
                "ff02::1",
                "fd00:ec2::254",
                "::ffff:169.254.169.254",
                "::169.254.169.254",
                "64:ff9b::a9fe:a9fe",
                "64:ff9b:1:a9fe:a9:fe00::",
                "2002:a9fe:a9fe::",
                "2001:0:0:0:0:0:5601:5601",
            ] {
                let addr = SocketAddr::new(ip.parse().unwrap(), 80);
                assert!(guard(policy.clone()).check(addr).is_err(), "{ip} under {policy:?}");
            }
            assert!(guard(policy).check_name("Metadata.Google.Internal.").is_err());
        }
    }

    #[test]
    fn in_public_mode_all_non_global_addresses_are_blocked() {
        for ip in [
            "127.9.9.9",
            "10.0.0.5",
            "172.31.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "198.19.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "::1",
            "::8.8.8.8",
            "64:ff9b::808:808",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2001:20::1",
            "3fff::1",
            "2002:808:808::1",
            "5f00::1",
            "fc00::1",
            "fec0::1",
        ] {
            let addr = SocketAddr::new(ip.parse().unwrap(), 80);
            assert!(guard(Policy::Public).check(addr).is_err(), "{ip}");
        }
    }

    #[test]
    fn in_private_mode_local_addresses_are_allowed() {
        for ip in ["127.0.0.1", "10.0.0.5", "::1", "fd12::1", "::ffff:192.168.0.1", "8.8.8.8"] {
            let addr = SocketAddr::new(ip.parse().unwrap(), 80);
            assert_eq!(guard(Policy::Private).check(addr), Ok(()), "{ip}");
        }
    }

    #[test]
    fn a_list_allows_only_its_networks() {
        let list = guard(Policy::List(vec!["10.1.0.0/16".parse().unwrap()]));
        let at = |ip: &str| list.check(SocketAddr::new(ip.parse().unwrap(), 80));
        assert_eq!(at("10.1.2.3"), Ok(()));
        assert_eq!(at("::ffff:10.1.2.3"), Ok(()));
        assert!(at("10.2.0.1").is_err());
        assert!(at("1.1.1.1").is_err());
    }

    #[test]
    fn in_public_mode_the_service_cannot_reach_itself() {
        let own = vec!["93.184.216.34:5432".parse().unwrap()];
        let public = Guard::new(Policy::Public, own.clone());
        assert!(public.check("93.184.216.34:5432".parse().unwrap()).is_err());
        assert!(public.check("[::ffff:93.184.216.34]:5432".parse().unwrap()).is_err());
        assert_eq!(public.check("93.184.216.34:443".parse().unwrap()), Ok(()));
        let private = Guard::new(Policy::Private, own);
        assert_eq!(private.check("93.184.216.34:5432".parse().unwrap()), Ok(()));
    }

    #[test]
    fn a_listener_on_the_unspecified_address_is_recognized_at_each_address() {
        let own = "0.0.0.0:8080".parse().unwrap();
        assert!(covers(own, Ipv4Addr::LOCALHOST.into(), 8080));
        assert!(!covers(own, Ipv4Addr::LOCALHOST.into(), 80));
        assert!(!covers(own, Ipv4Addr::new(1, 1, 1, 1).into(), 8080));
    }

    #[test]
    fn in_public_mode_one_blocked_address_blocks_the_name() {
        let both = vec!["93.184.216.34:80".parse().unwrap(), "127.0.0.1:80".parse().unwrap()];
        let denied = guard(Policy::Public).vet("two.example", both.clone()).unwrap_err();
        assert_eq!(
            denied.to_string(),
            "blocked by this server's network policy: the address of two.example is a loopback address"
        );
        assert_eq!(guard(Policy::Private).vet("two.example", both.clone()), Ok(both.clone()));
        let list = guard(Policy::List(vec!["127.0.0.0/8".parse().unwrap()]));
        assert_eq!(list.vet("two.example", both.clone()), Ok(both[1..].to_vec()));
    }
}
