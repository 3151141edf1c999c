//! Who watches what when there are several nodes: monitors are dealt into
//! slots by their ids, and each node holds its fair share of the slots. Every
//! grant of a slot raises its epoch; a result is only taken under the epoch of
//! the day, so that of two nodes that believe to hold a slot one is refused.

use std::time::Duration;

use crate::id::MonitorId;

/// How many slots there are. It is part of what the database holds.
pub const SLOTS: u16 = 1_024;

/// A node that has not been heard of for so long has lost its slots, unless an
/// operator has chosen another span.
pub const LEASE: Duration = Duration::from_secs(15);
/// How often within that time a node says that it lives.
pub const RENEWALS: u32 = 3;

/// One part of all monitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(u16);

impl Slot {
    /// The slot of a monitor: ten random bits of its id, and none of those by
    /// which a node deals its monitors to its cores.
    pub fn of(id: MonitorId) -> Self {
        let (_, low) = id.uuid().as_u64_pair();
        Self(u16::try_from((low >> 8) % u64::from(SLOTS)).unwrap_or(0))
    }

    pub fn new(number: i64) -> Option<Self> {
        u16::try_from(number).ok().filter(|number| *number < SLOTS).map(Self)
    }

    pub fn all() -> impl Iterator<Item = Self> {
        (0..SLOTS).map(Self)
    }

    pub fn number(self) -> u16 {
        self.0
    }
}

/// A slot as it was granted: what is written under an older epoch is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Grant {
    pub slot: Slot,
    pub epoch: i64,
}

/// What a node does to come to its fair share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Stay,
    /// Take up to so many that nobody holds.
    Take(usize),
    /// Give so many back.
    Release(usize),
}

/// The way from what a node holds to its share of `slots` among `live` nodes.
/// Shares are rounded up, so that together they are never too few.
pub fn balance(slots: usize, held: usize, live: usize) -> Move {
    let share = slots.div_ceil(live.max(1));
    match held.cmp(&share) {
        std::cmp::Ordering::Less => Move::Take(share - held),
        std::cmp::Ordering::Equal => Move::Stay,
        std::cmp::Ordering::Greater => Move::Release(held - share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Millis;

    #[test]
    fn a_monitor_has_the_slot_that_its_id_says() {
        let id = MonitorId::parse("01890000-0000-7000-8000-00000007ff00").expect("an id");
        assert_eq!(Slot::of(id).number(), 1_023);
        let id = MonitorId::parse("01890000-0000-7000-8000-0000000401ff").expect("an id");
        assert_eq!(Slot::of(id).number(), 1);
    }

    #[test]
    fn ids_fall_into_all_slots_alike() {
        let mut counts = vec![0_u32; SLOTS.into()];
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
    fn numbers_beyond_the_last_slot_are_none() {
        assert_eq!(Slot::new(1_023).map(Slot::number), Some(1_023));
        assert_eq!(Slot::new(1_024), None);
        assert_eq!(Slot::new(-1), None);
        assert_eq!(Slot::all().count(), 1_024);
    }

    #[test]
    fn every_node_comes_to_its_share_and_stays_there() {
        assert_eq!(balance(1_024, 0, 0), Move::Take(1_024));
        assert_eq!(balance(1_024, 0, 1), Move::Take(1_024));
        assert_eq!(balance(1_024, 1_024, 1), Move::Stay);
        assert_eq!(balance(1_024, 1_024, 2), Move::Release(512));
        assert_eq!(balance(1_024, 340, 3), Move::Take(2));
        assert_eq!(balance(1_024, 342, 3), Move::Stay);
        for live in 1..40_usize {
            let share = 1_024_usize.div_ceil(live);
            assert!(share * live >= 1_024);
            assert_eq!(balance(1_024, share, live), Move::Stay);
        }
    }
}
