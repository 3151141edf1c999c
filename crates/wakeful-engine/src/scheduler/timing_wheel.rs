//! A hierarchical timing wheel: millions of items that expire at a millisecond, at the cost
//! of a push each. It has six levels of 64 slots. A slot is as long as the whole level below
//! it, and is emptied into that level when its time begins.

const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
const LEVELS: usize = 6;
/// Two years: later items wait in the last slot and are inserted again. One slot less than
/// the whole wheel, because otherwise they would be in the current slot.
const HORIZON: u64 = (SLOTS as u64 - 1) << (SLOT_BITS * (LEVELS as u32 - 1));
/// A slot whose memory is for no more items than this retains it.
const MAX_SPARE: usize = 8;

pub(super) struct TimingWheel<T> {
    now: u64,
    /// Items inserted for a time in the past.
    late: Vec<T>,
    levels: [Level<T>; LEVELS],
}

struct Level<T> {
    /// One bit for each slot that is not empty.
    occupied: u64,
    slots: [Vec<(u64, T)>; SLOTS],
    /// When the first item of each slot expires or is inserted again.
    earliest: [u64; SLOTS],
}

impl<T> TimingWheel<T> {
    pub(super) fn new(now: u64) -> Self {
        let level = || Level {
            occupied: 0,
            slots: std::array::from_fn(|_| Vec::new()),
            earliest: [u64::MAX; SLOTS],
        };
        Self { now, late: Vec::new(), levels: std::array::from_fn(|_| level()) }
    }

    pub(super) fn insert(&mut self, at: u64, item: T) {
        if at <= self.now {
            self.late.push(item);
            return;
        }
        let reached = at.min(self.now.saturating_add(HORIZON));
        // The highest group of bits in which the two times differ.
        let level = ((self.now ^ reached).ilog2() / SLOT_BITS).min(LEVELS as u32 - 1) as usize;
        let slot = slot(reached, level);
        let level = &mut self.levels[level];
        level.slots[slot].push((at, item));
        level.earliest[slot] = level.earliest[slot].min(reached);
        level.occupied |= 1 << slot;
    }

    /// Removes all items that are due at `now`.
    pub(super) fn expire(&mut self, now: u64, due: &mut Vec<T>) {
        due.append(&mut self.late);
        while let Some((at, level, slot)) = self.first().filter(|(at, ..)| *at <= now) {
            self.now = self.now.max(at);
            let of_level = &mut self.levels[level];
            of_level.occupied &= !(1 << slot);
            of_level.earliest[slot] = u64::MAX;
            let mut items = std::mem::take(&mut of_level.slots[slot]);
            for (at, item) in items.drain(..) {
                if at <= self.now { due.push(item) } else { self.insert(at, item) }
            }
            let emptied = &mut self.levels[level].slots[slot];
            if emptied.is_empty() && items.capacity() <= MAX_SPARE {
                *emptied = items;
            }
        }
        self.now = self.now.max(now);
    }

    /// When the next item expires. Emptying a slot is no reason to wake up; it can wait
    /// until then.
    pub(super) fn next(&self) -> Option<u64> {
        if self.late.is_empty() {
            self.first().map(|(_, level, slot)| self.levels[level].earliest[slot])
        } else {
            Some(self.now)
        }
    }

    /// The slot that is emptied next, and when.
    fn first(&self) -> Option<(u64, usize, usize)> {
        // A lower level is always due before a higher one: it lies within the
        // higher one's current slot, which was emptied when it began.
        let level = self.levels.iter().position(|level| level.occupied != 0)?;
        let current = slot(self.now, level);
        let ahead = self.levels[level].occupied.rotate_right(current as u32).trailing_zeros();
        let slot = (current + ahead as usize) % SLOTS;
        let length = 1_u64 << (SLOT_BITS * level as u32);
        let turn = length << SLOT_BITS;
        let start = self.now - self.now % turn + slot as u64 * length;
        // Only the last level can hold a slot of its next turn.
        let at = if slot < current { start + turn } else { start };
        Some((at, level, slot))
    }
}

fn slot(at: u64, level: usize) -> usize {
    ((at >> (SLOT_BITS * level as u32)) as usize) % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1_790_000_000_123;

    /// Runs from wake to wake and records when each item expired.
    fn run(mut wheel: TimingWheel<u64>, until: u64) -> Vec<(u64, u64)> {
        let mut expired = Vec::new();
        while let Some(at) = wheel.next().filter(|at| *at <= until) {
            let mut due = Vec::new();
            wheel.expire(at, &mut due);
            expired.extend(due.into_iter().map(|item| (item, at)));
        }
        expired
    }

    /// Times of every size, spread by a fixed pattern.
    fn times() -> impl Iterator<Item = u64> {
        (0..5_000_u64).map(|n| {
            let mixed = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            START + (mixed >> (28 + n % 36))
        })
    }

    #[test]
    fn each_item_expires_at_its_millisecond_and_once() {
        let mut wheel = TimingWheel::new(START);
        let mut all: Vec<u64> = times().collect();
        for at in &all {
            wheel.insert(*at, *at);
        }
        let mut expired: Vec<u64> = run(wheel, u64::MAX)
            .into_iter()
            .map(|(item, at)| {
                assert_eq!(item, at.max(START), "expired at {at}");
                item
            })
            .collect();
        expired.sort_unstable();
        all.sort_unstable();
        assert_eq!(expired, all);
    }

    #[test]
    fn it_wakes_only_when_something_expires() {
        let mut wheel = TimingWheel::new(START);
        for at in times().filter(|at| *at > START) {
            wheel.insert(at, at);
        }
        while let Some(at) = wheel.next().filter(|at| *at < START + HORIZON) {
            let mut due = Vec::new();
            wheel.expire(at, &mut due);
            assert!(!due.is_empty(), "nothing expired at {at}");
        }
    }

    #[test]
    fn a_late_expiry_returns_all_that_was_due_and_nothing_else() {
        let mut wheel = TimingWheel::new(START);
        for at in times() {
            wheel.insert(at, at);
        }
        let mut due = Vec::new();
        wheel.expire(START + 86_400_000, &mut due);
        let expected = times().filter(|at| *at <= START + 86_400_000).count();
        assert_eq!(due.len(), expected);
        assert!(due.iter().all(|at| *at <= START + 86_400_000));
        assert!(wheel.next().is_some_and(|at| at > START + 86_400_000));
    }

    #[test]
    fn items_inserted_while_running_keep_their_time() {
        let mut wheel = TimingWheel::new(START);
        wheel.insert(START + 10, 0);
        let (mut now, mut count) = (START, 0);
        while count < 10_000 {
            now = wheel.next().expect("one is always there");
            let mut due = Vec::new();
            wheel.expire(now, &mut due);
            for round in due {
                count += 1;
                assert_eq!(now, START + 10 + round * 977);
                wheel.insert(now + 977, round + 1);
            }
        }
        assert_eq!(now, START + 10 + 9_999 * 977);
    }

    #[test]
    fn past_items_expire_at_once_and_distant_ones_in_time() {
        let mut wheel = TimingWheel::new(START);
        wheel.insert(START - 5, 1);
        assert_eq!(wheel.next(), Some(START));
        let far = START + 3 * HORIZON + 17;
        wheel.insert(far, 2);
        let expired = run(wheel, u64::MAX);
        assert_eq!(expired, [(1, START), (2, far)]);
    }
}
