//! The monitored sites: monitor number n has an id that every process can
//! compute, and its own address on loopback, so that no two share the
//! concurrency limit of a host.

use std::net::{IpAddr, Ipv4Addr};
use wakeful_core::id::MonitorId;
use wakeful_core::monitors::Interval;
use wakeful_core::schedule::CheckSchedule;
use wakeful_core::time::Millis;

/// Any time works, as long as it is the same for all.
const MADE: Millis = Millis(1_763_199_000_000);

pub fn id(number: u32) -> MonitorId {
    let mut mixed = u64::from(number).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^= mixed >> 29;
    let mut random = [0; 10];
    random[2..].copy_from_slice(&mixed.to_be_bytes());
    // A millisecond each: ids sort in the order of their numbers, as if created
    // over time.
    MonitorId::new(Millis(MADE.0 + i64::from(number)), random)
}

/// The number of the monitor that has this id.
pub fn number(id: MonitorId) -> Option<u32> {
    let (high, _) = id.uuid().as_u64_pair();
    let made = i64::try_from(high >> 16).ok()?;
    u32::try_from(made - MADE.0).ok().filter(|number| self::id(*number) == id)
}

pub fn address(number: u32) -> IpAddr {
    let [_, a, b, c] = number.to_be_bytes();
    IpAddr::V4(Ipv4Addr::new(127, 1 + a, b, c))
}

/// The check times of a monitor, computed as in the service.
pub fn rhythm(number: u32, interval: Interval) -> CheckSchedule {
    CheckSchedule::new(id(number), interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_monitors_share_an_id_or_an_address() {
        let ids: std::collections::HashSet<_> = (0..70_000).map(id).collect();
        let addresses: std::collections::HashSet<_> = (0..70_000).map(address).collect();
        assert_eq!((ids.len(), addresses.len()), (70_000, 70_000));
    }

    #[test]
    fn the_number_of_a_monitor_is_part_of_its_id() {
        assert_eq!(number(id(12_345)), Some(12_345));
        assert_eq!(number(MonitorId::new(MADE, [1; 10])), None);
    }
}
