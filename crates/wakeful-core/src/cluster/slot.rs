//! How a cluster distributes monitors: they are hashed into slots by their ids,
//! and each node holds its fair share of the slots. Every grant of a slot
//! increments its epoch, and a result is only accepted under the current epoch:
//! if two nodes believe they hold a slot, one of them is rejected.

use std::time::Duration;

use crate::id::MonitorId;

/// The number of slots. Stored data depends on it.
pub const SLOT_COUNT: u16 = 1_024;

/// A node that has not renewed its lease for this long loses its slots. An
/// operator may configure another duration.
pub const LEASE_DURATION: Duration = Duration::from_secs(15);
/// How often a node renews its lease within that time.
pub const RENEWALS_PER_LEASE: u32 = 3;

/// A part of all monitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(u16);

impl Slot {
    /// The slot of a monitor: ten random bits of its id, none of which are used
    /// to distribute the monitors of a node across its cores.
    pub fn of(id: MonitorId) -> Self {
        let (_, low) = id.uuid().as_u64_pair();
        Self(u16::try_from((low >> 8) % u64::from(SLOT_COUNT)).unwrap_or(0))
    }

    pub fn new(number: i64) -> Option<Self> {
        u16::try_from(number).ok().filter(|number| *number < SLOT_COUNT).map(Self)
    }

    pub fn all() -> impl Iterator<Item = Self> {
        (0..SLOT_COUNT).map(Self)
    }

    pub fn number(self) -> u16 {
        self.0
    }
}

/// A slot as granted: writes under an older epoch are rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Grant {
    pub slot: Slot,
    pub epoch: i64,
}

/// The step that brings a node closer to its fair share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rebalance {
    Stay,
    /// Take up to this many unassigned slots.
    Take(usize),
    /// Release this many slots.
    Release(usize),
}

/// The step from the number of slots a node holds to its share of `slots` among
/// `live` nodes. Shares are rounded up, so that together they cover all slots.
pub fn balance(slots: usize, held: usize, live: usize) -> Rebalance {
    let share = slots.div_ceil(live.max(1));
    match held.cmp(&share) {
        std::cmp::Ordering::Less => Rebalance::Take(share - held),
        std::cmp::Ordering::Equal => Rebalance::Stay,
        std::cmp::Ordering::Greater => Rebalance::Release(held - share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Millis;

    #[test]
    fn the_slot_of_a_monitor_follows_from_its_id() {
        let id = MonitorId::parse("01890000-0000-7000-8000-00000007ff00").expect("an id");
        assert_eq!(Slot::of(id).number(), 1_023);
        let id = MonitorId::parse("01890000-0000-7000-8000-0000000401ff").expect("an id");
        assert_eq!(Slot::of(id).number(), 1);
    }

    #[test]
    fn ids_are_spread_evenly_over_the_slots() {
        let mut counts = vec![0_u32; SLOT_COUNT.into()];
        for number in 0..102_400_u64 {
            let mut random = [0; 10];
            let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
            random[2..].copy_from_slice(&mixed);
            let id = MonitorId::new(Millis(1_794_735_000_000), random);
            counts[usize::from(Slot::of(id).number())] += 1;
        }
        assert!(counts.iter().all(|count| (50..200).contains(count)), "{counts:?}");
    }

    #[test]
    fn numbers_beyond_the_last_slot_are_rejected() {
        assert_eq!(Slot::new(1_023).map(Slot::number), Some(1_023));
        assert_eq!(Slot::new(1_024), None);
        assert_eq!(Slot::new(-1), None);
        assert_eq!(Slot::all().count(), 1_024);
    }

    #[test]
    fn every_node_reaches_its_share_and_stays_there() {
        assert_eq!(balance(1_024, 0, 0), Rebalance::Take(1_024));
        assert_eq!(balance(1_024, 0, 1), Rebalance::Take(1_024));
        assert_eq!(balance(1_024, 1_024, 1), Rebalance::Stay);
        assert_eq!(balance(1_024, 1_024, 2), Rebalance::Release(512));
        assert_eq!(balance(1_024, 340, 3), Rebalance::Take(2));
        assert_eq!(balance(1_024, 342, 3), Rebalance::Stay);
        for live in 1..40_usize {
            let share = 1_024_usize.div_ceil(live);
            assert!(share * live >= 1_024);
            assert_eq!(balance(1_024, share, live), Rebalance::Stay);
        }
    }
}
